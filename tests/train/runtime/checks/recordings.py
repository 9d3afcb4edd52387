"""Recording, its history, what it calls the bottleneck, and the resumable loader."""

import functools
import operator
import os
import tempfile
import warnings
from pathlib import Path
from unittest import mock

import torch
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from rigup.train import Checkpoints, Recording, ResumableLoader
from rigup.train.runtime import recording
from rigup.train.runtime.allocation import Allocation
from rigup.train.runtime.bottleneck import Totals, bottleneck
from rigup.train.runtime.checkpoints import CheckpointError
from rigup.train.runtime.history import run_folder
from rigup.train.runtime.recording import size_of
from rigup.train.runtime.stopping import Stop


def refusal(kind_of_error, call, *given):
    """The text of the error that a call ends with."""
    try:
        call(*given)
    except kind_of_error as error:
        return str(error)
    raise AssertionError("nothing was refused")


def opened(folder, **parts):
    with Checkpoints(folder, **parts):
        pass


def kind(**given):
    return bottleneck(Totals(**{"steps": 10, "seconds": 10.0, **given}))


def test_the_bottleneck_is_named_with_what_to_change():
    assert kind().kind == "compute"
    assert bottleneck(Totals()).kind == "unknown"
    few = kind(wait=4.0, workers=0, cpus=8)
    assert few.kind == "data-loader"
    assert "40%" in few.sentence
    assert "num_workers=2" in few.sentence
    assert "--cpus-per-task" in kind(wait=4.0, workers=8, cpus=8).sentence
    assert kind(wait=0.5).kind == "compute"
    assert kind(communication=5.0).kind == "communication"
    assert kind(communication=5.0, wait=9.0).kind == "data-loader"
    assert kind(idle=5.0, on_gpu=True).kind == "device-idle"
    assert kind(idle=5.0).kind == "compute"
    assert kind(busy=0.2, on_gpu=True).kind == "small-steps"
    assert "larger batch" in kind(on_gpu=True, busy=0.9, memory_peak=1, memory_total=10).sentence
    unused = kind(gpus_asked=4, gpus_used=1, on_gpu=True, wait=9.0)
    assert unused.kind == "unused-gpus"
    assert "3 of the 4" in unused.sentence
    assert "CPU" in kind(gpus_asked=4, gpus_used=0).sentence
    assert kind(gpus_asked=4, gpus_used=4).kind == "compute"


def test_waiting_for_data_is_told_from_computing_and_from_pauses():
    now = 0.0

    def clock():
        return now

    def passes(seconds):
        nonlocal now
        now += seconds

    def slowly(count):
        for _number in range(count):
            passes(2.0)
            yield torch.zeros(5, 2)

    with tempfile.TemporaryDirectory() as folder, mock.patch.object(recording, "_clock", clock):
        with Recording(folder) as waiting:
            for _batch in waiting.steps(slowly(5)):
                passes(0.5)
            passes(30.0)
        totals = waiting.totals
        assert (totals.steps, totals.samples, totals.wait, totals.seconds) == (5, 25, 10.0, 12.5)
        assert waiting.bottleneck.kind == "data-loader"
        with Recording(folder) as computing:
            for _batch in computing.steps([torch.zeros(5, 2)] * 5):
                passes(2.0)
        assert (computing.bottleneck.kind, computing.totals.wait, computing.totals.seconds) == ("compute", 0.0, 10.0)


def test_a_history_that_cannot_be_written_is_warned_of_once_and_the_training_goes_on():
    with tempfile.NamedTemporaryFile() as file, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with Recording(file.name + "/below") as warned:
            for _batch in warned.steps([torch.zeros(1)] * 3):
                pass
        assert warned.totals.steps == 3
        assert len(caught) == 1
        assert "RIGUP_TRAIN_HISTORY" in str(caught[0].message)


def test_where_a_history_lies():
    job = Allocation("srun", job="77")
    assert run_folder(job, {"XDG_STATE_HOME": "/s"}) == Path("/s/rigup/training/slurm-77")
    assert run_folder(job, {"XDG_STATE_HOME": "/s", "SLURM_STEP_ID": "2"}).name == "slurm-77.2"
    assert run_folder(job, {"RIGUP_TRAIN_HISTORY": "/r"}) == Path("/r")
    assert run_folder(job, {"XDG_STATE_HOME": "relative"}).is_absolute()


def test_sizes_of_batches():
    assert size_of(torch.zeros(3, 2)) == size_of([torch.zeros(3)]) == size_of({"x": (torch.zeros(3),)}) == 3
    assert size_of(torch.zeros(())) == 1
    assert size_of(None) == size_of([]) == size_of("text") == 0


def test_the_loader_reads_in_the_order_of_a_distributed_sampler():
    for count, world, shuffle in [(61, 1, True), (61, 4, True), (10, 3, False), (2, 5, True)]:
        data = TensorDataset(torch.arange(count))
        for rank in range(world):
            loader = ResumableLoader(data, 4, shuffle=shuffle, seed=5, rank=rank, world_size=world)
            sampler = DistributedSampler(data, world, rank, shuffle=shuffle, seed=5)
            for epoch in range(2):
                sampler.set_epoch(epoch)
                wanted = [x.tolist() for (x,) in DataLoader(data, 4, sampler=sampler)]
                assert [x.tolist() for (x,) in loader] == wanted
                assert len(loader) == len(wanted)


def test_the_loader_goes_on_where_it_was_also_with_other_ranks():
    data = TensorDataset(torch.arange(48))
    first = [ResumableLoader(data, 4, shuffle=True, rank=rank, world_size=2) for rank in range(2)]
    read = [next(zip(loader, range(1), strict=False))[0][0].tolist() for loader in first]
    alone = ResumableLoader(data, 8, shuffle=True)
    alone.load_state_dict(first[0].state_dict())
    rest = [x.tolist() for (x,) in alone]
    assert sorted(functools.reduce(operator.iadd, read + rest, [])) == list(range(48))
    assert len(rest) == 5
    for other, words in [
        (ResumableLoader(data, 8), "shuffle"),
        (ResumableLoader(data, 6, shuffle=True), "Take as many"),
        (ResumableLoader(data, 8, shuffle=True, seed=1), "seed"),
    ]:
        assert words in refusal(ValueError, other.load_state_dict, first[0].state_dict())


def test_a_pass_that_was_left_early_counts_as_over_and_a_finished_one_is_not_read_twice():
    loader = ResumableLoader(TensorDataset(torch.arange(8)), 4)
    next(iter(loader))
    assert len(list(loader)) == 2
    assert loader.epoch == 2
    for _batch in loader:
        state = loader.state_dict()
    again = ResumableLoader(TensorDataset(torch.arange(8)), 4)
    again.load_state_dict(state)
    assert again.epoch == 3
    assert len(list(again)) == 2


def test_checkpoints_that_do_not_fit_are_refused_and_the_old_one_stays_whole():
    model = torch.nn.Linear(2, 2)
    with tempfile.TemporaryDirectory() as folder:
        with Checkpoints(folder, model=model) as checkpoints:
            checkpoints.save()
            assert not checkpoints.exact
        whole = (Path(folder) / "checkpoint.pt").read_bytes()

        assert "the same parts" in refusal(CheckpointError, lambda: opened(folder, model=model, other=model))
        assert (Path(folder) / "checkpoint.pt").read_bytes() == whole
        (Path(folder) / "checkpoint.pt").write_bytes(whole[:100])
        assert "Move it away" in refusal(CheckpointError, lambda: opened(folder, model=model))
        assert [name for name in os.listdir(folder) if name.endswith(".part")] == []


def test_signals_are_given_back():
    import signal

    before = signal.getsignal(signal.SIGUSR1)
    stop = Stop()
    stop.start()
    os.kill(os.getpid(), signal.SIGUSR1)
    assert stop.agreed() == (signal.SIGUSR1, False)
    stop.close()
    assert signal.getsignal(signal.SIGUSR1) is before
