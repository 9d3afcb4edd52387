"""Which device is chosen, on machines of our own making."""

import os
import sys
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import torch

from rigup.torch import DeviceError, device, devices, memory, synchronize, try_all_gpus, try_gpu

sys.path.insert(0, str(Path(__file__).parent))
from made_up import APU, ARC, BIG, CARD, GIB, OLD, SMALL, cards, raises

CPU = torch.device("cpu")


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
        assert (
            device() == device("cuda") == device("nvidia") == device("gpu") == device(torch.device("cuda")) == cuda(1)
        )


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
        told = memory("cuda:1")
        assert (told.free, told.total, told.allocated, told.reserved, told.peak) == (11 * GIB, 12 * GIB, 5, 7, 6)
    assert device("most-free") == CPU


def test_each_rank_of_torchrun_gets_its_own_card():
    with cards(BIG, BIG), patch.dict(os.environ, LOCAL_RANK="1"):
        assert device() == cuda(1)
    with cards(BIG), patch.dict(os.environ, LOCAL_RANK="1"):
        assert device() == cuda(0)  # the launcher has hidden the others
    with cards(BIG, BIG), patch.dict(os.environ, LOCAL_RANK="2"), raises(DeviceError, "LOCAL_RANK=2"):
        device()
    with patch.dict(os.environ, LOCAL_RANK="1"):
        assert device() == CPU


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
        told = memory()
        assert (told.total, told.free, told.allocated, told.reserved) == (20 * GIB, 17 * GIB, 2 * GIB, 3 * GIB)
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
