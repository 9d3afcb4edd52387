"""A backend that is no part of torch, whose tensors really lie elsewhere: a device in Python."""

import sys
import unittest
from pathlib import Path

import torch

from rigup.torch import DifferentDevices, device, devices, memory, same_device, synchronize, to, try_gpu, where

sys.path.insert(0, str(Path(__file__).parent))
import pretend_device
from made_up import raises

THERE = torch.device("cpu")
if pretend_device.register("elsewhere"):
    THERE = torch.device("elsewhere", 0)


def needs_it():
    if THERE.type == "cpu":
        raise unittest.SkipTest("this torch has no door for backends in Python")


def test_it_is_listed_and_chosen():
    needs_it()
    assert [facts.kind for facts in devices()] == ["elsewhere", "cpu"]
    assert device() == device("gpu") == device("elsewhere") == device("elsewhere:0") == try_gpu() == THERE


def test_everything_moves_there_and_back():
    needs_it()
    given = {"x": torch.arange(3.0), "rest": (torch.ones(1), "text")}
    moved = to(given, "elsewhere")
    assert moved["x"].device == moved["rest"][0].device == THERE
    assert to(moved, THERE) is moved
    assert to(moved, "cpu")["x"].tolist() == [0, 1, 2]


def test_a_model_is_moved_and_computes_there():
    needs_it()
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3))
    x = torch.randn(5, 3)
    model.eval()
    expected = model(x).detach()
    assert set(where(to(model, "gpu"))) == {THERE}
    got = model(to(x, "gpu"))
    assert same_device(model, got) == THERE
    assert torch.equal(to(got.detach(), "cpu"), expected)


def test_the_gpu_is_where_the_rest_should_go():
    needs_it()
    model, x = torch.nn.Linear(300, 3), torch.ones(1, device="elsewhere")
    with raises(DifferentDevices, "x is on elsewhere:0", "model is on cpu (weight, bias)", "model.to('elsewhere:0')"):
        same_device(model, x)


def test_what_it_does_not_tell_is_none_and_waiting_works():
    needs_it()
    assert memory("elsewhere").total is None
    synchronize("elsewhere")
    synchronize()
