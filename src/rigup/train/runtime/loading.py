"""A data loader that goes on at the very batch at which a training was ended."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, Sampler


class ResumableLoader:
    """Batches of a dataset in an order that its seed, the epoch and the rank decide; each rank reads its own part.

    It takes the place of `DataLoader` with `DistributedSampler`, in whose order it reads, and needs no `set_epoch`:
    each pass is the next epoch. Its state is the epoch and the batches that the program was given, whatever workers
    had read ahead. What a dataset draws at random in a worker depends on seed, epoch and index alone, so that it is
    the same after a resume; without workers it is drawn from the program's own generators, which Checkpoints keeps.

    Args:
        dataset: with a length.
        batch_size: of each rank.
        shuffle: whether each epoch has an order of its own.
        seed: the same on all ranks.
        drop_last: leave out the last batch where it is smaller.
        rank: of this process; by default torch.distributed's, where that is started.
        world_size: the number of processes; by default torch.distributed's.
        options: what DataLoader takes besides: num_workers, pin_memory, collate_fn and so on.

    """

    def __init__(
        self,
        dataset: Dataset[Any],
        batch_size: int = 1,
        *,
        shuffle: bool = False,
        seed: int = 0,
        drop_last: bool = False,
        rank: int | None = None,
        world_size: int | None = None,
        **options: Any,
    ) -> None:
        if isinstance(dataset, IterableDataset):
            raise TypeError(
                "An IterableDataset has no order to go on in: a training on it cannot resume exactly. Give a dataset with a length."
            )
        self.dataset, self.batch_size, self.shuffle, self.seed, self.drop_last = (dataset, batch_size, shuffle, seed, drop_last)
        self.num_workers = int(options.get("num_workers", 0))
        self._rank, self._world = rank, world_size
        self.epoch = self.batches = 0
        self._resuming = False
        # DataLoader draws a number at each start, which must not come from the program's own generator: a resume starts once more.
        options.setdefault("generator", torch.Generator().manual_seed(seed))
        read = _Seeded(dataset, seed) if self.num_workers else dataset
        self._loader: DataLoader[Any] = DataLoader(read, batch_size, sampler=_Order(self), drop_last=drop_last, **options)

    def place(self) -> tuple[int, int]:
        """Rank and number of ranks."""
        started = torch.distributed.is_available() and torch.distributed.is_initialized()
        rank = self._rank if self._rank is not None else torch.distributed.get_rank() if started else 0
        return rank, self._world or (torch.distributed.get_world_size() if started else 1)

    def indices(self) -> list[int]:
        """What this rank reads in the whole epoch: as many as every other, for which the first are read again."""
        count = len(self.dataset)
        order = list(range(count))
        if self.shuffle:
            generator = torch.Generator().manual_seed(self.seed + self.epoch)
            order = torch.randperm(count, generator=generator, device="cpu").tolist()
        rank, world = self.place()
        lacking = -count % world
        order += (order * (lacking // max(1, count) + 1))[:lacking]
        return order[rank::world]

    def __len__(self) -> int:
        count = -(-len(self.dataset) // self.place()[1])
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)

    def __iter__(self) -> Iterator[Any]:
        """The rest of the epoch after a resume, else a whole one; one that was left before its end counts as over."""
        if self.batches and not self._resuming:
            self.set_epoch(self.epoch + 1)
        self._resuming = False
        for batch in self._loader:
            self.batches += 1
            yield batch
        self.set_epoch(self.epoch + 1)

    def set_epoch(self, epoch: int) -> None:
        """Begin an epoch; the one that is already begun goes on."""
        if epoch != self.epoch:
            self.epoch, self.batches, self._resuming = epoch, 0, False

    def state_dict(self) -> dict[str, int | bool]:
        """Where it is, for all ranks alike: they take as many batches."""
        over = self.batches >= len(self)
        return {
            "epoch": self.epoch + over,
            "batches": 0 if over else self.batches,
            "batch_size": self.batch_size,
            "world_size": self.place()[1],
            "seed": self.seed,
            "shuffle": self.shuffle,
            "length": len(self.dataset),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on there. Raises ValueError, saying why, where it would not be exact."""
        for name in ("seed", "shuffle", "length"):
            mine = len(self.dataset) if name == "length" else getattr(self, name)
            if state[name] != mine:
                template = "The checkpoint was written with {0}={1} of the data loader, and here it is {2}: the order would be another. Give it {0}={1}, or start anew."
                raise ValueError(template.format(name, state[name], mine))
        read, now = state["batches"] * state["batch_size"] * state["world_size"], self.batch_size * self.place()[1]
        if read % now:
            template = "The checkpoint was written after {0} samples of the epoch, which {1} in a step do not reach: {2} ranks with batches of {3}. Take as many samples in a step as then ({4})."
            raise ValueError(template.format(read, now, self.place()[1], self.batch_size, state["batch_size"] * state["world_size"]))
        self.epoch, self.batches, self._resuming = int(state["epoch"]), read // now, True


class _Order(Sampler[Any]):  # type: ignore[misc,unused-ignore]
    """What the loader has yet to read; with workers each index tells its epoch, for they live longer than one."""

    def __init__(self, loader: ResumableLoader) -> None:
        self._of = loader

    def __iter__(self) -> Iterator[Any]:
        rest = self._of.indices()[self._of.batches * self._of.batch_size :]
        return iter([(self._of.epoch, index) for index in rest] if self._of.num_workers else rest)

    def __len__(self) -> int:
        return len(self._of.indices())


class _Seeded(Dataset[Any]):  # type: ignore[misc,unused-ignore]
    """A dataset whose random numbers depend on the sample alone, and not on which worker reads it, and after what."""

    def __init__(self, dataset: Dataset[Any], seed: int) -> None:
        self._dataset, self._seed = dataset, seed

    def __getitem__(self, place: tuple[int, int]) -> Any:
        epoch, index = place
        number = (self._seed * 1_000_003 + epoch) * 1_000_003 + index
        torch.default_generator.manual_seed(number % (1 << 63))
        random.seed(number)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(number % (1 << 32))
        return self._dataset[index]
