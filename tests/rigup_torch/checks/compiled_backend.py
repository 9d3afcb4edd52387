"""A backend that is compiled, as a vendor's is: `backend.cpp`, whose memory is the host's.

It takes a C++ compiler and some ten seconds, so it is tried only where RIGUP_COMPILE_BACKEND is set.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from types import ModuleType

import torch

from rigup.torch import DifferentDevices, device, devices, memory, same_device, synchronize, to, where

sys.path.insert(0, str(Path(__file__).parent))
from made_up import raises

SOURCE = Path(__file__).parents[1] / "backend.cpp"
NAME = "compiled"
BUILT = []


def build(folder):
    """The shared library; what the compiler says where it cannot."""
    from torch.utils.cpp_extension import include_paths, library_paths

    library = str(Path(folder) / "backend.so")
    plain = ["-O0", "-fPIC", "-shared", "-w", f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}"]
    found = [*("-I" + path for path in include_paths()), *("-L" + path for path in library_paths())]
    for standard in ("-std=c++17", "-std=c++20"):
        argv = ["g++", standard, *plain, *found, str(SOURCE), "-o", library, "-ltorch_cpu", "-lc10"]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return library
    raise AssertionError(done.stderr[-3000:])


def backend():
    """Build and register it, once."""
    if not os.environ.get("RIGUP_COMPILE_BACKEND") or not shutil.which("g++"):
        raise unittest.SkipTest("RIGUP_COMPILE_BACKEND is not set, or there is no g++")
    if not BUILT:
        with tempfile.TemporaryDirectory() as folder:
            torch.utils.rename_privateuse1_backend(NAME)
            torch.ops.load_library(build(folder))
        module = ModuleType("torch." + NAME)
        answers = {"is_available": True, "device_count": 1, "current_device": 0, "_is_in_bad_fork": False}
        for name, value in answers.items():
            setattr(module, name, lambda value=value: value)
        module.manual_seed_all = lambda _seed: None
        torch._register_device_module(NAME, module)
        BUILT.append(torch.device(NAME, 0))
    return BUILT[0]


def test_it_is_listed_and_chosen():
    target = backend()
    assert [facts.kind for facts in devices()] == [NAME, "cpu"]
    assert device() == device("gpu") == device(NAME) == target


def test_values_survive_the_way_there_and_back():
    target = backend()
    given = {"x": torch.arange(12.0).reshape(3, 4).t(), "n": [torch.tensor(7)]}
    moved = to(given, NAME)
    assert moved["x"].device == moved["n"][0].device == target
    assert to(moved, NAME) is moved
    assert torch.equal(to(moved, "cpu")["x"], given["x"])


def test_a_model_computes_there():
    target = backend()
    model = torch.nn.Linear(3, 2)
    x = torch.randn(5, 3)
    expected = model(x).detach()
    to(model, "gpu")
    assert set(where(model)) == {target}
    with raises(DifferentDevices, f"model is on {NAME}:0", "x is on cpu"):
        same_device(model, x)
    assert torch.allclose(model(to(x, "gpu")).detach().cpu(), expected)


def test_memory_is_unknown_and_waiting_works():
    backend()
    assert memory(NAME).total is None
    synchronize(NAME)
