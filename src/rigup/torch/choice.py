"""Choose a device: the best one, or by request."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Union

import torch

from .facts import DeviceError, DeviceFacts
from .listing import backend_of, gpus, listed

if TYPE_CHECKING:
    from .ranks import Rank

Wish = Union[str, int, torch.device, None]
CHOSEN: set[torch.device] = set()  # what the program was given, for `synchronize`


def device(wish: Wish = None) -> torch.device:
    """Choose the device for a wish; without one the best device.

    Args:
        wish: None: the best device that there is: of the GPUs that this torch has code for the one with most
            multiprocessors, those that share the system's memory last; the CPU where there is no such GPU.
            `"cuda:1"`, `"mps"`, `"cpu"`, also as a `torch.device`: as torch names them; without an index the best
            of them. `1`: the second GPU. `"gpu"`: the best GPU, never the CPU. `"nvidia"`, `"amd"`, `"intel"`,
            `"apple"`: by the maker, also `"amd:1"`. `"rocm"`, `"directml"`: by the backend. `"most-free"`: the GPU
            with most free memory, for which each is asked, and so a little of each is occupied.

            Where a choice is left among several, each of a node's processes gets its own: by the local rank that
            torchrun, Slurm or MPI tells it. One that sees a single device, or was bound to its own, takes that.

    Returns:
        A `torch.device` with an index, but for the CPU, which has none.

    Raises:
        DeviceError: there is no such device; the text lists those that there are.

    """
    found = _found(wish)
    CHOSEN.add(found)
    return found


def _found(wish: Wish) -> torch.device:
    if isinstance(wish, torch.device):
        return _exactly(wish)
    if wish is None or wish == "best":
        return _best()
    if isinstance(wish, str):
        return _by_word(wish)
    if isinstance(wish, bool):
        raise DeviceError(f"{wish!r} names no device. {listed()}")
    try:
        index = operator.index(wish)
    except TypeError as error:
        raise DeviceError(f"{wish!r} names no device. {listed()}") from error
    return _nth(gpus(), index, f"GPU {index}")


def try_gpu(i: int = 0) -> torch.device:
    """Return GPU `i`, counted from 0, if it is there and this torch has code for it; the CPU otherwise."""
    found = gpus()
    return found[i].device if 0 <= i < len(found) and _usable(found[i]) else torch.device("cpu")


def try_all_gpus() -> list[torch.device]:
    """Return all GPUs that this torch has code for; `[device(type="cpu")]` where there is none."""
    return [facts.device for facts in gpus() if _usable(facts)] or [torch.device("cpu")]


def _usable(facts: DeviceFacts) -> bool:
    return facts.has_code is not False


def _best() -> torch.device:
    """The best of all."""
    found = [facts for facts in gpus() if _usable(facts)]
    same = [facts for facts in found if facts.kind == found[0].kind]
    return _own(same) if same else torch.device("cpu")


def _own(found: list[DeviceFacts]) -> torch.device:
    """The best of some devices; each of a node's processes gets its own."""
    usable = [facts for facts in found if _usable(facts)]
    if len(usable) < 2:
        return _first(found)
    from .ranks import local_rank

    rank = local_rank()
    if rank is None or rank.bound:
        return _first(found)
    if rank.number < len(usable):
        return usable[rank.number].device
    raise DeviceError(_too_many(rank, len(usable)))


def _too_many(rank: Rank, count: int) -> str:
    template = "There is no device for {0}={1} here: this process sees {2}. {3} Start at most {2} processes on a node, or name a device."
    return template.format(rank.variable, rank.number, count, listed())


def _first(found: list[DeviceFacts]) -> torch.device:
    """The best of some devices. Backends are in order of preference."""
    return max(found, key=lambda facts: (_usable(facts), not facts.integrated, *_strength(facts))).device


def _strength(facts: DeviceFacts) -> tuple[int, int, int]:
    return facts.multiprocessors or 0, facts.memory_total or 0, -(facts.device.index or 0)


def _by_word(wish: str) -> torch.device:
    word, colon, index = wish.strip().lower().partition(":")
    if not word or (colon and not index.isdecimal()):
        raise DeviceError(f"{wish!r} names no device. {listed()}")
    if word == "most-free":
        return _most_free()
    found = [facts for facts in gpus() if word == "gpu" or word in (facts.device.type, facts.kind, facts.vendor)]
    if word == "cpu" or not found:
        return _other(word + colon + index)
    return _nth(found, int(index), wish) if colon else _own(found)


def _nth(found: list[DeviceFacts], index: int, called: str) -> torch.device:
    if not 0 <= index < len(found):
        raise DeviceError(f"There is no {called} here. {listed()}")
    return found[index].device


def _most_free() -> torch.device:
    """The device with most free memory; a backend without that count has 0 free."""
    found = [facts.device for facts in gpus() if _usable(facts)]
    if not found:
        return torch.device("cpu")
    return max(found, key=lambda gpu: backend_of(gpu).memory(gpu.index or 0).free or 0)


def _exactly(wanted: torch.device) -> torch.device:
    """The device itself, after a check that it exists."""
    found = [facts for facts in gpus() if facts.device.type == wanted.type]
    if not found:
        return _other(str(wanted))
    return _own(found) if wanted.index is None else _nth(found, wanted.index, str(wanted))


def _other(wish: str) -> torch.device:
    """A device that is none of the known backends', such as `meta`, if a tensor can be made on it."""
    try:
        return torch.empty(0, device=wish).device
    except (RuntimeError, AssertionError, ImportError, ValueError, OverflowError) as error:
        raise DeviceError(f"There is no device {wish!r} here. {listed()}") from error
