"""The lines that errors tell to add: each is compiled and run where the failing call stands, and mends it.

What is elsewhere lies on a device in Python, which a tensor can really be moved to and from.
"""

import collections
import dataclasses
import sys
import unittest
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import torch

from rigup.torch import DeviceError, DifferentDevices, device, same_device, to, to_empty

sys.path.insert(0, str(Path(__file__).parent))
import pretend_device
from made_up import raises

THERE = "elsewhere:0" if pretend_device.register("elsewhere") else None


class Pair(NamedTuple):
    x: object
    y: object


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: torch.Tensor


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(2, 2)
        self.weight = torch.nn.Parameter(torch.ones(2))
        self.mask = torch.ones(2)


def elsewhere(size=1):
    if THERE is None:
        raise unittest.SkipTest("this torch has no door for backends in Python")
    return torch.ones(size).to(THERE)


def mended(call, expected, **names):
    """Run the lines that the error of a call tells, and then the call; a source that linecache knows."""
    import linecache

    name = f"<program {call}>"
    linecache.cache[name] = (len(call), None, [call + "\n"], name)
    names = {"same_device": same_device, "torch": torch, **names}
    try:
        exec(compile(call, name, "exec"), names)
    except DifferentDevices as error:
        line = error.line
    else:
        raise AssertionError(f"{call} raised nothing")
    assert expected in line, line
    exec(compile(line, "<lines>", "exec"), names)
    return lambda: exec(compile(call, name, "exec"), names)


def test_a_tensor_goes_to_the_gpu():
    x, y = torch.ones(3), elsewhere()
    mended("same_device(x, y)", "x = x.to('elsewhere:0')", x=x, y=y)()


def test_a_module_goes_in_place():
    mended("same_device(model, y)", "model.to('elsewhere:0')", model=torch.nn.Linear(2, 2), y=elsewhere())()
    models = {"a": torch.nn.Linear(2, 2)}
    mended("same_device(models['a'], y)", "models['a'].to('elsewhere:0')", models=models, y=elsewhere())()


def test_a_batch_goes_by_the_import_that_it_needs():
    batch = {"x": [torch.ones(1)], "n": 3}
    mended("same_device(batch, y)", "from rigup.torch import to\nbatch = to(batch, 'elsewhere:0')", batch=batch, y=elsewhere())()


def test_what_takes_items_is_given_one():
    names = {"batch": {"x": torch.ones(1)}, "items": [torch.ones(1)], "one": SimpleNamespace(x=torch.ones(1)), "y": elsewhere()}
    mended("same_device(batch['x'], y)", "batch['x'] = batch['x'].to('elsewhere:0')", **names)()
    mended("same_device(items[0], y)", "items[0] = items[0].to('elsewhere:0')", **names)()
    mended("same_device(one.x, y)", "one.x = one.x.to('elsewhere:0')", **names)()


def test_what_takes_no_items_is_moved_whole():
    names = {"pair": Pair(torch.ones(1), 2), "frozen": Frozen(torch.ones(1)), "two": (torch.ones(1), 2), "y": elsewhere()}
    mended("same_device(pair.x, y)", "pair = to(pair, 'elsewhere:0')", **names)()
    mended("same_device(frozen.x, y)", "frozen = to(frozen, 'elsewhere:0')", **names)()
    mended("same_device(two[0], y)", "two = to(two, 'elsewhere:0')", **names)()
    nested = {"a": [(torch.ones(1),)]}
    mended("same_device(nested['a'][0][0], y)", "nested['a'][0] = to(nested['a'][0], 'elsewhere:0')", nested=nested, y=elsewhere())()


def test_a_parameter_goes_with_its_module():
    net = Net()
    mended("same_device(net.weight, y)", "net.to('elsewhere:0')", net=net, y=elsewhere())()
    mended("same_device(net.inner.weight, y)", "net.inner.to('elsewhere:0')", net=Net(), y=elsewhere())()
    mended("same_device(net.mask, y)", "net.mask = net.mask.to('elsewhere:0')", net=Net(), y=elsewhere())()
    weight = torch.nn.Parameter(torch.ones(2))
    mended("same_device(weight, y)", "weight = to(weight, 'elsewhere:0')", weight=weight, y=elsewhere())()


def test_an_optimizer_and_a_deque_go_by_to():
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    mended("same_device(optimizer, y)", "optimizer = to(optimizer, 'elsewhere:0')", optimizer=optimizer, y=elsewhere())()
    queue = collections.deque([torch.ones(1)])
    mended("same_device(queue, y)", "queue = to(queue, 'elsewhere:0')", queue=queue, y=elsewhere())()


def test_what_has_no_name_gets_one():
    for call in ("same_device(torch.ones(2) * 2, y)", "same_device(a=torch.ones(2), b=y)", "same_device(net().inner.weight, y)"):
        mended(call, "moved = to(", y=elsewhere(), net=Net)


def test_what_cannot_be_seen_is_a_comment():
    given = [torch.ones(1), elsewhere()]
    line = mended("same_device(*given)", "# argument 1", given=given)
    with raises(DifferentDevices, "argument 2 is on elsewhere:0"):
        line()


def test_what_is_on_meta_gets_room_and_never_loses_values():
    names = {"x": torch.ones(1000, device="meta"), "model": torch.nn.Linear(2, 2)}
    mended("same_device(model, x)", "x = to_empty(x, 'cpu')", **names)()
    names = {"model": torch.nn.Linear(20, 20, device="meta"), "x": torch.ones(2)}
    mended("same_device(model, x)", "to_empty(model, 'cpu')", **names)()


def test_the_lines_for_what_has_no_values_run():
    model = torch.nn.Linear(2, 2, device="meta")
    try:
        to(model, "cpu")
    except DeviceError as error:
        text = str(error)
    assert "float32 tensor model.weight of shape (2, 2) is on meta" in text, text
    lines = "\n".join(line.strip() for line in text.splitlines() if line.startswith("  "))
    names = {"model": model}
    exec(compile(lines, "<lines>", "exec"), names)
    assert same_device(names["model"]) == device("cpu")
    assert names["to_empty"] is to_empty


def test_what_a_device_refuses_is_named():
    batch = {"x": [torch.ones(2, 3, dtype=torch.float64)]}
    pretend_device.REFUSED.append(torch.float64)
    try:
        elsewhere()
        with raises(DeviceError, "float64 tensor batch['x'][0] of shape (2, 3)", "elsewhere:0", "has no float64", ".float()"):
            to(batch, "elsewhere")
        model = torch.nn.Linear(2, 2).double()
        with raises(DeviceError, "Linear model", "elsewhere:0", ".float()"):
            to(model, "elsewhere")
    finally:
        pretend_device.REFUSED.clear()


def test_no_room_is_told_as_torch_tells_it():
    import rigup.torch

    kind = getattr(torch, "OutOfMemoryError", torch.cuda.OutOfMemoryError)
    x = torch.ones(2_000_000)
    elsewhere()
    pretend_device.LARGEST[0] = 1_000_000
    try:
        for caught in (DeviceError, kind, rigup.torch.OutOfDeviceMemory):
            with raises(caught, "float32 tensor x of shape (2000000,)", "elsewhere:0", "smaller batch"):
                to(x, "elsewhere")
    finally:
        pretend_device.LARGEST[0] = None
