"""What is measured of torch: which devices there are, and which checks are made on each."""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterator

import torch
from rigup_probe_torch_behaviour import copies, dropout, gradients_held, mixed_precision
from rigup_probe_torch_compiled import compiled
from rigup_probe_torch_constructors import made_with
from rigup_probe_torch_kernels import compiled_kernel, toolkit_kernel
from rigup_probe_torch_memory import copy_host, copy_peer, evidence, memory
from rigup_probe_torch_numbers import product, small_tensors, types_of
from rigup_probe_torch_optimizers import optimizers
from rigup_probe_torch_random import numbers
from rigup_probe_torch_repeated import repeated
from rigup_probe_torch_tables import FURTHER, TABLES, in_one_thread, table
from rigup_probe_torch_tools import training_tools
from rigup_probe_torch_training import training, training_step

try:
    import torch_directml
except (ImportError, OSError):
    torch_directml = None

Device = Dict[str, Any]
Check = Callable[[Device], Any]


def about() -> dict[str, Any]:
    """The build. What an environment sets as the default for programs is taken back: it would change what is measured."""
    _usual()
    version = torch.version
    build = {name: getattr(version, name, None) for name in ("cuda", "hip", "xpu", "git_version")}
    build["cudnn"] = _cudnn()
    build["code"] = torch.cuda.get_arch_list() if torch.cuda.is_available() else []
    return {"version": torch.__version__, "build": build, "threads": torch.get_num_threads()}


def _usual() -> None:
    """As torch starts by itself."""
    torch.set_default_dtype(torch.float32)
    torch.set_grad_enabled(True)
    torch.set_flush_denormal(False)
    if torch.are_deterministic_algorithms_enabled():  # asked first: to set it imports the compiler, a second of a processor
        torch.use_deterministic_algorithms(False)
    if hasattr(torch, "set_default_device"):
        torch.set_default_device(None)


def _cudnn() -> Any:
    """Its version, or why it cannot be used: that is for the convolution to fail of."""
    try:
        return torch.backends.cudnn.version() if torch.backends.cudnn.is_available() else None
    except RuntimeError as error:
        return str(error)[:300]


def devices() -> list[Any]:
    """All that torch lists, the CPU last."""
    return [*_cuda(), *_xpu(), *_mps(), *_directml(), *_further(), {"id": "cpu", "type": "cpu", "vendor": ""}]


def _cuda() -> Iterator[Device]:
    vendor = "amd" if torch.version.hip else "nvidia"
    for index in range(torch.cuda.device_count() if torch.cuda.is_available() else 0):
        properties = _properties(torch.cuda.get_device_properties(index))
        gfx = str(properties.get("gcnArchName", "")).split(":")[0]
        isa = gfx if vendor == "amd" else "sm_" + str(properties.get("major")) + str(properties.get("minor"))
        shown = {"index": index, "vendor": vendor, "isa": isa, "name": properties.get("name"), "properties": properties}
        yield dict(shown, id="cuda:" + str(index), type="cuda", pci_address=_address(properties))


def _xpu() -> Iterator[Device]:
    available = hasattr(torch, "xpu") and torch.xpu.is_available()
    for index in range(torch.xpu.device_count() if available else 0):
        properties = _properties(torch.xpu.get_device_properties(index))
        shown = {"index": index, "vendor": "intel", "name": properties.get("name"), "properties": properties}
        yield dict(shown, id="xpu:" + str(index), type="xpu")


def _mps() -> Iterator[Device]:
    if torch.backends.mps.is_available():
        yield {"id": "mps:0", "type": "mps", "index": 0, "vendor": "apple"}


def _directml() -> Iterator[Device]:
    available = torch_directml is not None and torch_directml.is_available()
    for index in range(torch_directml.device_count() if available else 0):
        name = torch_directml.device_name(index).strip("\0 ")
        yield {"id": "privateuseone:" + str(index), "type": "privateuseone", "index": index, "name": name}


def _further() -> Iterator[Device]:
    """A backend that is no part of torch and has given itself a name."""
    name = torch._C._get_privateuse1_backend_name()
    module: Any = getattr(torch, name, None)
    available = name != "privateuseone" and hasattr(module, "device_count") and module.is_available()
    for index in range(module.device_count() if available else 0):
        yield {"id": name + ":" + str(index), "type": name, "index": index, "vendor": ""}


def _properties(properties: Any) -> dict[str, Any]:
    """All that a runtime tells of a device."""
    found = {name: getattr(properties, name, None) for name in dir(properties) if not name.startswith("_")}
    plain = {name: value if isinstance(value, (int, float)) else str(value) for name, value in found.items()}
    return {name: plain[name] for name, value in found.items() if value is not None and not callable(value)}


def _address(properties: dict[str, Any]) -> Any:
    """`0000:01:00.0`, where this torch tells it."""
    if "pci_bus_id" not in properties:
        return None
    return "{:04x}:{:02x}:{:02x}.0".format(properties.get("pci_domain_id", 0), properties["pci_bus_id"], properties["pci_device_id"])


def checks(device: Device, full: bool) -> Iterator[tuple[str, Check]]:
    """What is measured on a device, the simplest first: a later one that crashes leaves the others on record."""
    yield "small-tensors", small_tensors
    yield "copy-host", copy_host
    yield "copies", in_one_thread(copies)
    for name in types_of(device):
        yield "matmul-" + name, product(name, full)
    if device["type"] == "cpu":
        yield "matmul-float8", product("float8", full)
    else:
        yield "evidence", evidence
        yield "compiled-kernel", compiled_kernel
        yield from (("copy-" + other["id"], copy_peer(other)) for other in _others(device))
    yield from ((name, table(name, full)) for name in TABLES)
    for check in (repeated, dropout, optimizers, mixed_precision, made_with, training_tools, gradients_held):
        yield check.__name__.replace("_", "-"), in_one_thread(check)
    yield from (("random", numbers), ("training-step", training_step))
    yield from ((name, table(name, full)) for name in FURTHER)
    yield from (("memory", memory(full)), ("compile", in_one_thread(compiled(full))))
    if full:
        yield from (("toolkit-kernel", toolkit_kernel),) if device["type"] == "cuda" else ()
        yield "training", training


def _others(device: Device) -> list[Any]:
    return [other for other in devices() if other["type"] == device["type"] and other["id"] != device["id"]]
