"""Which device is chosen, on machines of our own making."""

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from unittest.mock import patch

import torch

from rigup.torch import DeviceError, choice, device, devices, memory, running, synchronize, to, try_all_gpus, try_gpu
from rigup.torch.moving import _in_full

sys.path.insert(0, str(Path(__file__).parent))
from made_up import APU, ARC, BIG, CARD, GIB, OLD, SMALL, cards, raises

CPU = torch.device("cpu")


STARTERS = ("LOCAL_", "OMPI_", "MV2_", "MVP_", "MPI_", "PMI_", "PALS_", "JSM_", "FLUX_", "SLURM_")


@contextmanager
def variables(**changed):
    """The variables of whoever started this process, and of nobody else."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(STARTERS)}
    with patch.dict(os.environ, {**kept, **changed}, clear=True):
        yield


def cuda(index):
    return torch.device("cuda", index)


def test_without_a_gpu_the_cpu_is_chosen():
    assert device() == device("cpu") == try_gpu() == CPU
    assert try_all_gpus() == [CPU]
    assert device("cpu").index is None
    assert device(" CPU:0 ") == CPU


def test_the_cpu_is_listed_last_with_its_memory():
    last = devices()[-1]
    assert (last.device, last.kind, last.is_gpu) == (CPU, "cpu", False)
    assert last.memory_total == memory("cpu").total > memory("cpu").free > 0


def test_a_wish_that_is_not_there_names_what_is():
    for wish in ("no such", "cuda", "cuda:1", "nvidia", "gpu", "mps:7", 0, torch.device("cuda:0")):
        with raises(DeviceError, "torch lists: cpu"):
            device(wish)
    for wish in ("", "cuda:", "cpu:-1"):
        with raises(DeviceError, "names no device"):
            device(wish)


def test_the_strongest_card_is_the_best():
    with cards(SMALL, BIG):
        assert device() == device("cuda") == device("nvidia") == device("gpu") == device(torch.device("cuda")) == cuda(1)


def test_of_equals_the_first_is_taken():
    with cards(BIG, BIG):
        assert device() == cuda(0)


def test_an_index_is_kept():
    with cards(SMALL, BIG):
        assert device("cuda:0") == device(0) == device(cuda(0)) == device("nvidia:0") == cuda(0)
        with raises(DeviceError, "cuda:2", "NVIDIA GeForce RTX 3060", "sm_86"):
            device("cuda:2")


def test_a_card_without_code_is_never_chosen_by_itself():
    with cards(OLD):
        assert device() == try_gpu() == CPU
        assert devices()[0].has_code is False
        assert device("cuda:0") == cuda(0)  # who names it shall have it
    with cards(OLD, SMALL):
        assert device() == cuda(1)
        assert [try_gpu(0), try_gpu(1), try_gpu(2)] == [CPU, cuda(1), CPU]
        assert try_all_gpus() == [cuda(1)]


def test_a_build_that_tells_no_list_is_trusted():
    with cards(BIG, code=()):
        assert devices()[0].has_code is None
        assert device() == cuda(0)


def test_ptx_serves_what_is_newer():
    with cards({**BIG, "major": 12, "minor": 0}, code=("sm_90", "compute_90")):
        assert devices()[0].has_code is True


def test_on_rocm_cards_are_amds_and_integrated_ones_come_last():
    with cards(APU, CARD, code=("gfx1100", "gfx1103"), hip="6.4.43482"):
        first, second, _cpu = devices()
        assert (first.kind, first.vendor, first.isa, first.integrated) == ("rocm", "amd", "gfx1103", True)
        assert (second.isa, second.integrated, second.has_code) == ("gfx1100", False, True)
        assert device() == device("amd") == device("rocm") == cuda(1)
        with raises(DeviceError, "nvidia"):
            device("nvidia")


def test_the_most_free_card_is_asked_for():
    with cards(BIG, SMALL, free=(2 * GIB, 11 * GIB)):
        assert device("most-free") == cuda(1)
        found = memory("cuda:1")
        assert (found.free, found.total, found.allocated, found.reserved, found.peak) == (11 * GIB, 12 * GIB, 5, 7, 6)
    assert device("most-free") == CPU


def test_each_rank_of_torchrun_gets_its_own_card():
    with cards(BIG, BIG), variables(LOCAL_RANK="1"):
        assert device() == device("gpu") == device("cuda") == device("nvidia") == device(torch.device("cuda")) == cuda(1)
        assert device("cuda:0") == cuda(0)
    with cards(BIG), variables(LOCAL_RANK="1"):
        assert device() == cuda(0)  # the launcher has hidden the others
    with cards(BIG, BIG), variables(LOCAL_RANK="2"), raises(DeviceError, "LOCAL_RANK=2", "sees 2", "at most 2"):
        device()
    with variables(LOCAL_RANK="1"):
        assert device() == CPU


def test_each_starter_tells_the_rank_by_its_own_variable():
    environments = (
        {"LOCAL_RANK": "1", "SLURM_LOCALID": "0"},
        {"OMPI_COMM_WORLD_LOCAL_RANK": "1", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"},
        {"MPI_LOCALRANKID": "1", "MPI_LOCALNRANKS": "2"},
        {"PMI_LOCAL_RANK": "1"},
        {"MV2_COMM_WORLD_LOCAL_RANK": "1"},
        {"MVP_COMM_WORLD_LOCAL_RANK": "1"},
        {"LOCAL_RANK": "-1", "SLURM_LOCALID": "1", "SLURM_NTASKS": "2"},
        {"SLURM_LOCALID": "1", "SLURM_STEP_TASKS_PER_NODE": "2(x3)"},
        {"PALS_LOCAL_RANKID": "1"},
    )
    with cards(BIG, BIG):
        for environment in environments:
            with variables(**environment):
                assert device() == cuda(1), environment


def test_who_is_alone_on_its_node_takes_the_best():
    environments = (
        {"SLURM_LOCALID": "0", "SLURM_STEP_TASKS_PER_NODE": "1(x4)"},
        {"SLURM_LOCALID": "0", "SLURM_NTASKS": "1"},
        {"OMPI_COMM_WORLD_LOCAL_RANK": "0", "OMPI_COMM_WORLD_LOCAL_SIZE": "1"},
        {"LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1"},
        {},
    )
    with cards(SMALL, BIG):
        for environment in environments:
            with variables(**environment):
                assert device() == cuda(1), environment
        with variables(LOCAL_RANK="0", LOCAL_WORLD_SIZE="2"):
            assert device() == cuda(0)


def test_a_task_that_slurm_bound_to_its_own_cards_takes_the_best_of_them():
    own = ({"SLURM_GPUS_PER_TASK": "2"}, {"SLURM_TRES_PER_TASK": "cpu=4,gres/gpu=2"}, {"SLURM_GPU_BIND": "per_task:2"})
    for environment in own:
        with cards(SMALL, BIG), variables(SLURM_LOCALID="3", SLURM_STEP_TASKS_PER_NODE="4", **environment):
            assert device() == cuda(1), environment
    with cards(BIG), variables(SLURM_LOCALID="3", SLURM_STEP_TASKS_PER_NODE="4"):
        assert device() == cuda(0)
    with cards(SMALL, BIG), variables(LOCAL_RANK="0", LOCAL_WORLD_SIZE="2", SLURM_GPUS_PER_TASK="2", SLURM_LOCALID="0"):
        assert device() == cuda(0)  # torchrun's processes share what the task was given


def test_what_is_no_name_of_a_device_is_told():
    for wish in (3.5, [], True, b"cuda", "cuda:99999999999999999999", object(), 10**30, -1, "no such:0", "cpu:1:2"):
        with raises(DeviceError, "torch lists: cpu", "Name one of these"):
            device(wish)
        with raises(DeviceError, "torch lists: cpu"):
            to(torch.ones(1), wish)


def test_a_device_of_torch_means_the_same_as_its_name():
    wishes = ("cuda", torch.device("cuda"), "gpu", "cuda:1", torch.device("cuda:1"))
    with cards(SMALL, BIG), patch.object(torch, "empty", lambda *_size, device: SimpleNamespace(device=device)):
        assert [_in_full(wish) for wish in wishes] == [cuda(1)] * 5


def test_a_driver_that_does_not_answer_is_told():
    def fails(_index):
        raise RuntimeError("the driver is gone")

    with cards(BIG), patch.object(torch.cuda, "get_device_properties", fails), raises(DeviceError, "cuda:0", "gone", "doctor"):
        device()
    with cards(BIG), patch.object(torch.cuda, "mem_get_info", fails), raises(DeviceError, "cuda:0", "gone", "doctor"):
        memory("cuda:0")
    with cards(BIG), patch.object(torch.cuda, "synchronize", fails), raises(DeviceError, "cuda:0", "gone", "CUDA_LAUNCH_BLOCKING"):
        synchronize("cuda:0")


def test_intels_are_xpu():
    if not hasattr(torch, "xpu"):
        raise AssertionError("torch has had xpu since 2.4")
    with cards(ARC, backend=torch.xpu, free=(3 * GIB,)):
        assert device() == device("intel") == device("xpu") == torch.device("xpu", 0)
        assert (devices()[0].multiprocessors, devices()[0].memory_total) == (20, 12 * GIB)
        assert memory("xpu:0").free == 3 * GIB


def test_an_apple_chip_has_one():
    with (
        patch.object(torch.backends.mps, "is_available", lambda: True),
        patch.object(torch.mps, "driver_allocated_memory", lambda: 3 * GIB),
        patch.object(torch.mps, "current_allocated_memory", lambda: 2 * GIB),
        patch.object(torch.mps, "recommended_max_memory", lambda: 20 * GIB, create=True),
    ):
        assert device() == device("apple") == device("mps") == torch.device("mps", 0)
        found = memory()
        assert (found.total, found.free, found.allocated, found.reserved) == (20 * GIB, 17 * GIB, 2 * GIB, 3 * GIB)
        assert devices()[0].integrated is True


def test_directml_lists_its_adapters():
    with patch.dict(sys.modules, torch_directml=directml("NVIDIA GeForce RTX 3060", "AMD Radeon RX 6600\0\0")):
        first, second, _cpu = devices()
        assert (first.kind, first.vendor, second.vendor) == ("directml", "nvidia", "amd")
        assert second.name == "AMD Radeon RX 6600"
        assert device("directml") == torch.device("privateuseone", 0)
        assert device("amd") == torch.device("privateuseone", 1)
        assert memory("amd").total is None


def test_a_directml_without_adapters_counts_as_none():
    with patch.dict(sys.modules, torch_directml=directml()):
        assert device() == CPU


def test_waiting_for_the_cpu_is_done_at_once():
    synchronize()
    synchronize("cpu")


def test_a_card_is_waited_for():
    waited = []
    with cards(SMALL, BIG), patch.object(torch.cuda, "synchronize", waited.append):
        synchronize("cuda:0")
        synchronize("gpu")
        synchronize()  # no card is in use
    assert waited == [0, 1]


def test_the_device_that_was_chosen_is_waited_for_and_so_is_every_other_that_is_used():
    waited, current = [], SimpleNamespace(device=cuda(0))
    with (
        cards(SMALL, BIG, SMALL, SMALL, touched=(3,)),
        patch.object(torch.cuda, "is_initialized", lambda: True),
        patch.object(torch.cuda, "synchronize", waited.append),
        patch.object(torch, "empty", lambda *_size, device: current if device == "cuda" else SimpleNamespace(device=CPU)),
        patch.object(running, "CHOSEN", set()) as chosen,
        patch.object(choice, "CHOSEN", chosen),
    ):
        synchronize()
        assert waited == [0, 3]  # the current one, and one that was touched
        assert device() == cuda(1)
        waited.clear()
        synchronize()
    assert waited == [0, 1, 3]


def test_meta_is_a_device_without_memory():
    assert device("meta") == device(torch.device("meta")) == torch.device("meta")
    with raises(DeviceError, "meta"):
        memory("meta")


def directml(*names):
    module = ModuleType("torch_directml")
    module.is_available = lambda: bool(names)
    module.device_count = lambda: len(names)
    module.device_name = lambda index: names[index]
    return module
