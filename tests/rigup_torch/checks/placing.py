"""Which tensor sits where, on the CPU and on `meta`."""

import sys
from pathlib import Path

import torch

from rigup.torch import DeviceError, DifferentDevices, same_device, where

sys.path.insert(0, str(Path(__file__).parent))
from made_up import raises

CPU, META = torch.device("cpu"), torch.device("meta")


def norm():
    return torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.BatchNorm1d(2, device="meta"))


def caught(call):
    try:
        call()
    except DifferentDevices as error:
        return error
    raise AssertionError("no error was raised")


def test_a_module_tells_its_parameters_and_buffers():
    found = where(norm())
    assert list(found) == [META, CPU] or list(found) == [CPU, META]
    assert found[CPU].parameters == ("0.weight", "0.bias")
    assert found[CPU].bytes == 4 * (8 + 2)
    assert found[META].buffers == ("1.running_mean", "1.running_var", "1.num_batches_tracked")


def test_memory_that_two_share_counts_once():
    x = torch.ones(10)
    assert where([x, x.view(2, 5)])[CPU].bytes == 40


def test_containers_tell_how_one_gets_at_each():
    found = where({"x": [torch.ones(1), torch.ones(1, device="meta")], "model": norm()})
    assert found[CPU].tensors == ("['x'][0]",)
    assert found[META].tensors == ("['x'][1]",)
    assert "['model'].0.weight" in found[CPU].parameters
    assert where({"none": 3}) == {}


def test_what_contains_itself_is_told_once():
    given = [torch.ones(1)]
    given.append(given)
    assert where(given)[CPU].tensors == ("[0]",)


def test_one_device_is_returned():
    model, x = torch.nn.Linear(2, 2), torch.ones(2)
    assert same_device(model, {"x": x}, n=3) == CPU


def test_the_error_names_things_as_the_line_does():
    model, batch = torch.nn.Linear(2, 2, device="meta"), {"x": torch.ones(1)}
    error = caught(lambda: same_device(model, batch["x"]))
    text = str(error)
    assert "model is on meta (weight, bias)" in text, text
    assert "batch['x'] is on cpu" in text, text
    assert list(error.placements) == ["model", "batch['x']"]


def test_the_line_to_add_moves_what_is_elsewhere():
    model, batch = torch.nn.Linear(2, 2), {"x": torch.ones(1, device="meta"), "y": torch.ones(3, device="meta")}
    line = "from rigup.torch import to_empty\nbatch = to_empty(batch, 'cpu')  # then give it values"
    assert caught(lambda: same_device(model, batch)).line == line
    big = torch.ones(1000, device="meta")  # nothing is moved to where it would lose its values
    assert "big = to_empty(big, 'cpu')" in caught(lambda: same_device(model, big)).line


def test_keywords_name_what_they_are_given():
    error = caught(lambda: same_device(a=torch.ones(9), b=torch.ones(1, device="meta")))
    assert list(error.placements) == ["a", "b"]
    assert "moved = to_empty(torch.ones(1, device='meta'), 'cpu')" in error.line


def test_arguments_whose_names_cannot_be_seen_are_counted():
    given = [torch.ones(9), torch.ones(1, device="meta")]
    assert "argument 2" in str(caught(lambda: same_device(*given)))
    hidden = "same_device(a, b)"
    with raises(DifferentDevices, "argument 1 is on cpu", "argument 2 is on meta"):
        eval(hidden, {"same_device": same_device, "a": given[0], "b": given[1]})


def test_two_alike_in_one_line_are_told_apart():
    x, y = torch.ones(9), torch.ones(1, device="meta")
    error = caught(lambda: same_device(x, y, x))
    assert list(error.placements) == ["x (argument 1)", "y", "x (argument 3)"]


def test_a_module_in_two_places_is_told_by_its_parts():
    model = norm()
    text = str(caught(lambda: same_device(model)))
    assert "0.weight, 0.bias" in text
    assert "1.weight, 1.bias, 1.running_mean" in text


def test_without_tensors_there_is_no_device():
    with raises(DeviceError, "no tensor"):
        same_device([1, 2])


def test_long_lists_are_cut():
    model = torch.nn.Sequential(*(torch.nn.Linear(1, 1) for _ in range(10)))
    text = str(where(model)[CPU])
    assert text.endswith("and 14 more")
