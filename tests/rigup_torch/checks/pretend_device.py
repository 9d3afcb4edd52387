"""A device that is none of torch's own, in Python: its tensors keep their values on the CPU, and say that they do not.

Needs a torch whose door for further backends opens to Python (it did not yet in 2.4).
"""

import torch
from torch.utils._pytree import tree_map

try:
    from torch.utils.backend_registration import _setup_privateuseone_for_python_backend as opened
except ImportError:
    opened = None

LIBRARIES = []  # what is registered lasts as long as these
REFUSED = []  # dtypes that the device does not have
LARGEST = [None]  # numbers that it has room for; None: as many as there are
_NAME = ["privateuseone"]


class Pretended(torch.Tensor):
    """A tensor whose values are a tensor of the CPU."""

    @staticmethod
    def __new__(cls, values):
        if values.dtype in REFUSED:
            raise TypeError(f"This device has no {str(values.dtype).partition('.')[2]}")
        if LARGEST[0] is not None and values.numel() > LARGEST[0]:
            raise torch.OutOfMemoryError("The device is out of memory")
        tensor = torch.Tensor._make_wrapper_subclass(
            cls, values.shape, strides=values.stride(), dtype=values.dtype, device=torch.device(_NAME[0], 0)
        )
        tensor.values_here = values
        return tensor

    @classmethod
    def __torch_dispatch__(cls, called, kinds, given=(), named=None):
        return computed(called, given, named or {})

    def __repr__(self, **_named):
        return f"Pretended({self.values_here})"


def computed(called, given, named):
    """The same on the CPU; new tensors are this device's, but where somebody asks for another."""
    wanted = named.get("device")
    leaves = wanted is not None and torch.device(wanted).type != _NAME[0]
    plain = {name: torch.device("cpu") if name == "device" else value for name, value in named.items()}
    plain.pop("pin_memory", None)
    result = called(*tree_map(without, given), **tree_map(without, plain))
    if called is torch.ops.aten.copy_.default or called._schema.is_mutable:
        return given[0] if isinstance(given[0], torch.Tensor) else result
    return result if leaves else tree_map(within, result)


def without(value):
    if isinstance(value, Pretended):
        return value.values_here
    return torch.device("cpu") if isinstance(value, torch.device) else value


def within(value):
    return Pretended(value) if isinstance(value, torch.Tensor) and not isinstance(value, Pretended) else value


def register(name):
    """Open the door under a name; whether this torch has it."""
    if opened is None:
        return False
    _NAME[0] = name
    opened(rename=name)
    library = torch.library.Library("aten", "IMPL")
    LIBRARIES.append(library)

    def empty(size, *given, **named):
        return Pretended(torch.empty(size, dtype=named.get("dtype")))

    def strided(size, stride, **named):
        return Pretended(torch.empty_strided(size, stride, dtype=named.get("dtype")))

    def copy(source, target, non_blocking=False):
        without(target).copy_(without(source))
        return target

    library.impl("empty.memory_format", empty, "PrivateUse1")
    library.impl("empty_strided", strided, "PrivateUse1")
    library.impl("_copy_from", copy, "PrivateUse1")
    return True
