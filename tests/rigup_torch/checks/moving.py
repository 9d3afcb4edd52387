"""Everything to one device: the CPU, and `meta`, which takes tensors without their values."""

import collections
import dataclasses
import random
import sys
from pathlib import Path
from typing import NamedTuple

import torch

from rigup.torch import DeviceError, seed_everything, to

sys.path.insert(0, str(Path(__file__).parent))
from made_up import raises

META = torch.device("meta")


class Pair(NamedTuple):
    x: object
    y: object


@dataclasses.dataclass(frozen=True)
class Batch:
    x: torch.Tensor
    names: list
    size: int = dataclasses.field(init=False, default=3)


class Record:
    """As tokenizers give it: it moves itself."""

    def __init__(self):
        self.went = []

    def to(self, device):
        self.went.append(device)
        return self


def on(obj):
    return obj.device.type


def test_nested_containers_keep_their_types():
    given = {"a": [torch.ones(2), (torch.zeros(1), "text")], "b": Pair(torch.ones(1), None), "n": 3}
    moved = to(given, "meta")
    assert on(moved["a"][0]) == on(moved["a"][1][0]) == on(moved["b"].x) == "meta"
    assert type(moved["b"]) is Pair
    assert (moved["a"][1][1], moved["n"]) == ("text", 3)
    assert on(given["a"][0]) == "cpu"


def test_what_is_in_place_comes_back_itself():
    given = {"a": [torch.ones(2), (torch.zeros(1), "text")], "b": Pair(torch.ones(1), None)}
    assert to(given, "cpu") is given
    assert to(given["a"][0], torch.device("cpu", 0)) is given["a"][0]
    assert to("text", "cpu") == "text"
    model = torch.nn.Linear(2, 2)
    held = [id(parameter) for parameter in model.parameters()]
    assert to(model, "cpu") is model
    assert [id(parameter) for parameter in model.parameters()] == held


def test_other_mappings_and_sequences():
    counted = collections.defaultdict(list, x=[torch.ones(1)])
    moved = to(counted, "meta")
    assert on(moved["x"][0]) == "meta"
    assert moved["new"] == []
    assert on(counted["x"][0]) == "cpu"
    assert list(to(collections.OrderedDict(b=torch.ones(1), a=torch.ones(1)), "meta")) == ["b", "a"]
    assert on(to(collections.UserDict(x=torch.ones(1)), "meta")["x"]) == "meta"
    assert {on(tensor) for tensor in to({torch.ones(1), torch.ones(1)}, "meta")} == {"meta"}


def test_dataclasses_are_copied_whole():
    given = Batch(torch.ones(2), ["a"])
    object.__setattr__(given, "size", 7)
    moved = to(given, "meta")
    assert (type(moved), on(moved.x), moved.names, moved.size) == (Batch, "meta", ["a"], 7)
    assert on(given.x) == "cpu"


def test_what_moves_itself_is_asked_to():
    given = Record()
    assert to([given], "meta")[0] is given
    assert given.went == [META]
    packed = torch.nn.utils.rnn.pack_sequence([torch.ones(3), torch.ones(2)])
    assert to(packed, "meta").data.device == META


def test_results_of_torch_that_are_tuples_with_names():
    found = torch.ones(3, 2).max(dim=0)
    moved = to(found, "meta")
    assert on(moved.values) == on(moved.indices) == "meta"


def test_a_tensor_in_several_places_is_copied_once():
    x = torch.ones(3)
    first, inner = to([x, {"again": x}], "meta")
    assert first is inner["again"]


def test_a_parameter_stays_one():
    moved = to(torch.nn.Parameter(torch.ones(2), requires_grad=False), "meta")
    assert isinstance(moved, torch.nn.Parameter)
    assert not moved.requires_grad
    assert to(torch.nn.Parameter(torch.ones(2)), "meta").is_leaf


def test_gradients_flow_through_a_moved_tensor():
    x = torch.ones(2, requires_grad=True)
    assert to(x * 2, "meta").grad_fn is not None


def test_a_module_is_moved_in_place_with_its_buffers():
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    assert to({"model": model}, "meta")["model"] is model
    assert {on(tensor) for tensor in [*model.parameters(), *model.buffers()]} == {"meta"}


def test_what_has_no_values_cannot_be_moved():
    with raises(DeviceError, "to_empty", "cpu"):
        to([torch.empty(2, device="meta")], "cpu")
    with raises(DeviceError, "to_empty"):
        to(torch.nn.Linear(2, 2, device="meta"), "cpu")


def test_a_container_that_contains_itself_is_told():
    given = [torch.ones(1)]
    given.append(given)
    with raises(DeviceError, "list contains itself"):
        to(given, "meta")
    shared = [torch.ones(1)]
    assert to([shared, shared], "cpu")[0] is shared


def test_a_device_that_is_not_there_is_told():
    with raises(DeviceError, "torch lists"):
        to(torch.ones(1), "cuda:5")


def test_ten_thousand_tensors_in_place_are_not_copied():
    given = {"many": [torch.empty(1) for _ in range(10_000)]}
    assert to(given, "cpu") is given


def test_seeds_make_all_numbers_the_same():
    drawn = [(seed_everything(7), random.random(), torch.rand(2).tolist(), normal()) for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert torch.rand(2).tolist() != (seed_everything(8), torch.rand(2).tolist())[1]


def test_a_seed_out_of_range_is_told():
    for seed in (-1, 2**32):
        with raises(ValueError, str(seed)):
            seed_everything(seed)


def test_deterministic_algorithms_are_asked_for():
    try:
        seed_everything(0, deterministic=True)
        assert torch.are_deterministic_algorithms_enabled()
    finally:
        torch.use_deterministic_algorithms(False)


def normal():
    try:
        import numpy as np
    except ImportError:
        return 0.0
    return float(np.random.standard_normal())
