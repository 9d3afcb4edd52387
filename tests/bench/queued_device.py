"""Two devices in Python that work as a GPU does: a launch returns at once, and the device is busy for a while after.

Each device has a queue. A call's values are made at once on the CPU; the time that the device takes for it, by its
rates below, is put at the end of its queue, and whoever waits for the device or reads from it sleeps until then. So
whoever does not wait for the right device sees launches only. Needs a torch whose door for further backends opens to
Python.
"""

import contextlib
import time
import types

import torch
from torch.utils._pytree import tree_flatten, tree_map

COUNT = 2
FLOPS, BYTES = (2e9, 1e9), (2e9, 1e9)  # a second, of each device: far less than any CPU reaches
NAME = ["privateuseone"]
LIBRARIES = []  # what is registered lasts as long as these
_free_at = [0.0] * COUNT
_current = [0]


class Queued(torch.Tensor):
    """A tensor whose values are a tensor of the CPU."""

    @staticmethod
    def __new__(cls, values, index):
        device = torch.device(NAME[0], index)
        tensor = torch.Tensor._make_wrapper_subclass(cls, values.shape, strides=values.stride(), dtype=values.dtype, device=device)
        tensor.values_here, tensor.index = values, index
        return tensor

    @classmethod
    def __torch_dispatch__(cls, called, kinds, given=(), named=None):
        return computed(called, given, named or {})


def busy(index, seconds):
    """The device gets more to do."""
    _free_at[index] = max(_free_at[index], time.perf_counter()) + seconds


def done(index):
    """Sleep until the device has nothing to do."""
    while (left := _free_at[index] - time.perf_counter()) > 0:
        time.sleep(left)


def computed(called, given, named):
    """The same on the CPU, in the time of the device."""
    here = [leaf for leaf in tree_flatten((given, named))[0] if isinstance(leaf, Queued)]
    wanted = named.get("device")
    leaves = wanted is not None and torch.device(wanted).type != NAME[0]
    index = here[0].index if here else (torch.device(wanted).index or 0)
    plain = {name: torch.device("cpu") if name == "device" else value for name, value in named.items()}
    plain.pop("pin_memory", None)
    result = called(*tree_map(without, given), **tree_map(without, plain))
    busy(index, seconds(called, here, index))
    if leaves or called is torch.ops.aten._local_scalar_dense.default:
        done(index)
        return result
    if called._schema.is_mutable:
        return named.get("out", given[0])
    return tree_map(lambda value: within(value, index), result)


def seconds(called, here, index):
    """What the device takes: for a product by its operations, else by the bytes that are moved."""
    if called._schema.name.startswith("aten::mm"):
        a, b = here[:2]
        return 2.0 * a.shape[0] * a.shape[1] * b.shape[1] / FLOPS[index]
    return sum(tensor.numel() * tensor.element_size() for tensor in here) / BYTES[index]


def without(value):
    if isinstance(value, Queued):
        return value.values_here
    return torch.device("cpu") if isinstance(value, torch.device) else value


def within(value, index):
    return Queued(value, index) if isinstance(value, torch.Tensor) and not isinstance(value, Queued) else value


def copy(source, target, non_blocking=False):
    """Between the host and a device, or between two; whatever ends on the host is waited for."""
    without(target).copy_(without(source))
    size = target.numel() * target.element_size()
    for tensor in (source, target):
        if isinstance(tensor, Queued):
            busy(tensor.index, size / BYTES[tensor.index])
    if not isinstance(target, Queued):
        done(source.index)
    return target


def module(ways):
    """What the backend tells of itself. `ways`: how it waits: for a device, for the current one, or not at all."""
    namespace = types.SimpleNamespace(
        is_available=lambda: True,
        device_count=lambda: COUNT,
        current_device=lambda: _current[0],
        is_initialized=lambda: True,
        _is_in_bad_fork=lambda: False,
        manual_seed_all=lambda _seed: None,
    )
    if ways == "by device":
        namespace.synchronize = lambda device=None: done(_current[0] if device is None else torch.device(device).index)
    if ways == "the current one":
        namespace.synchronize, namespace.device = (lambda: done(_current[0])), block
    return namespace


@contextlib.contextmanager
def block(device):
    """A block in which a device is the current one."""
    before, _current[0] = _current[0], torch.device(device).index
    try:
        yield
    finally:
        _current[0] = before


def register(name, ways):
    """Open the door under a name; "" keeps the name that the door has."""
    from torch.utils.backend_registration import _setup_privateuseone_for_python_backend as opened

    NAME[0] = name or "privateuseone"
    opened(rename=name or None, backend_module=module(ways), device_guard=Guard())
    library = torch.library.Library("aten", "IMPL")
    LIBRARIES.append(library)

    def index_of(device):
        return (torch.device(device).index if device is not None else None) or 0

    def empty(size, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None):
        return Queued(torch.empty(size, dtype=dtype), index_of(device))

    def strided(size, stride, dtype=None, layout=None, device=None, pin_memory=None):
        return Queued(torch.empty_strided(size, stride, dtype=dtype), index_of(device))

    library.impl("empty.memory_format", empty, "PrivateUse1")
    library.impl("empty_strided", strided, "PrivateUse1")
    library.impl("_copy_from", copy, "PrivateUse1")


class Guard(torch._C._acc.DeviceGuard):
    """Which device is meant, for torch's own calls."""

    def type_(self):
        return torch._C._autograd.DeviceType.PrivateUse1
