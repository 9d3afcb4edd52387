"""The frozen `machine` of --json, rendered from facts in the shape of `rigup.schemas.machine`."""

from typing import Any

from rigup.machine import kinds
from rigup.machine.facts import Fact
from rigup.machine.kinds import Driver, Gpu, KernelModule, PciDevice, Symptom
from rigup.machine.names import CUT, same_name
from rigup.machine.store import Facts

_ASIDE: tuple[type[Fact], ...] = (Gpu, PciDevice, Symptom)
Device = dict[str, Any]


def inventory(facts: Facts) -> dict[str, Any]:
    """The machine as data: devices first, then every other fact by kind. What is unknown is left out."""
    shown: dict[str, Any] = {}
    if (devices := accelerators(facts)) is not None:
        shown["accelerators"] = devices
    shown["displays"] = displays(facts)
    if units := npus(facts):
        shown["npus"] = units
    shown["drivers"] = [driver.values() for driver in facts.of(Driver)]
    for fact in facts.all():
        if not isinstance(fact, _ASIDE) and not isinstance(fact, Driver):
            shown.setdefault(list_name(type(fact)), []).append({**fact.values(), "place": str(fact.place)})
    return shown


def accelerators(facts: Facts) -> list[Device] | None:
    """Devices in PCI address order, or as the maker's tool counts them where not all addresses are known or a text tells all numbers; None where nobody looked and none is known."""
    from rigup.knowledge.gpus import is_display_only

    known = [gpu for gpu in facts.of(Gpu) if not _phantom(gpu, facts) and not _stands_in(gpu, facts)]
    gpus = [gpu for gpu in known if not is_display_only(*_ids(gpu))]
    looked = any(look.kind in (Gpu, PciDevice) and look.coverage == "whole" for look in facts.looks)
    if not gpus and not looked:
        return None
    counted = all(gpu.knows("nvml_index") for gpu in gpus) and not all(gpu.knows("pci_address") for gpu in gpus)
    address = "~" if counted else None
    ordered = sorted(gpus, key=lambda gpu: (gpu.place.node, address or gpu.get("pci_address", "~"), gpu.get("nvml_index", 0)))
    told = [gpu.get("nvml_index") for gpu in ordered] if facts.pasted else []
    numbers = told if None not in told and len(set(told)) == len(ordered) else range(len(ordered))  # a part of a list keeps its numbers
    return [_device(number, gpu, facts) for number, gpu in zip(numbers, ordered, strict=True)]


def _phantom(gpu: Gpu, facts: Facts) -> bool:
    """A statement about some card that nobody could name, where cards are known; or about any of several that are listed."""
    if gpu.keyed():
        return False
    if gpu.get("name"):
        listed = (other.get("name") for other in facts.of(Gpu) if other.keyed())
        return sum(bool(name) and same_name(str(gpu.name), str(name)) for name in listed) > 1
    return any(other is not gpu and (other.keyed() or other.knows("name")) for other in facts.of(Gpu))


def _stands_in(gpu: Gpu, facts: Facts) -> bool:
    """What WSL shows on its bus is a stand-in for a card that the maker's tool may name."""
    if gpu.get("vendor") != "microsoft":
        return False
    return bool({other.get("vendor") for other in facts.of(Gpu)} - {None, "microsoft"})


def _ids(gpu: Gpu) -> tuple[str, str]:
    vendor, _, device = str(gpu.get("pci_id", ":")).partition(":")
    return vendor, device


def _device(index: int, gpu: Gpu, facts: Facts) -> Device:
    plain = {name: gpu.get(name) for name in ("vendor", "name", "isa", "pci_id", "pci_address", "integrated", "uuid", "power")}
    if plain["name"]:
        plain["name"] = plain["name"].removesuffix(CUT).rstrip()  # a table had no room for the rest
    memory = {kind: gpu.get(kind) for kind in ("vram", "gtt", "unified") if gpu.get(kind) is not None}
    device: Device = {"index": index, **{name: value for name, value in plain.items() if value is not None}}
    if memory:
        device["memory"] = memory
    if driver := _driver(gpu, facts):
        device["driver"] = driver
    if gpu.knows("partitions"):
        device["partitions"] = gpu.partitions
    return device


def _driver(gpu: Gpu, facts: Facts) -> Device:
    """The kernel driver bound to a card and its version, as far as known."""
    driver = next((d for d in facts.of(Driver) if d.get("vendor") == gpu.get("vendor") and d.place.meet(gpu.place)), None)
    name = gpu.get("driver") or next((m.name for m in facts.of(KernelModule) if driver and m.get("name") == driver.get("vendor")), None)
    module = next((m for m in facts.of(KernelModule) if name and m.get("name") == name), None)
    version = (driver and driver.get("version")) or (module and module.get("version"))
    parts = {"name": name, "version": version, "shown_cuda": driver and driver.get("cuda")}
    return {key: value for key, value in parts.items() if value is not None}


def displays(facts: Facts) -> list[Device]:
    """Management and virtual displays: no accelerators."""
    from rigup.knowledge.gpus import is_display_only

    devices = [device for device in facts.of(PciDevice) if device.knows("vendor_id", "device_id")]
    return [d.values() for d in devices if is_display_only(d.fields["vendor_id"].value, d.fields["device_id"].value)]


def npus(facts: Facts) -> list[Device]:
    """Processing accelerators that are no GPUs."""
    cards = {gpu.get("pci_address") for gpu in facts.of(Gpu)}
    devices = [device for device in facts.of(PciDevice) if str(device.get("class_code", "")).startswith("12")]
    return [device.values() for device in devices if device.get("address") not in cards]


# How the list of a kind is called; `schemas/machine.py` has a field for each.
LISTS: dict[type[Fact], str] = {
    kinds.Account: "accounts",
    kinds.CardState: "card_states",
    kinds.CardCount: "card_counts",
    kinds.CdiSpec: "cdi_specs",
    kinds.ContainerEngine: "container_engines",
    kinds.ContainerToolkit: "container_toolkits",
    kinds.Cpu: "cpus",
    kinds.DeadLine: "dead_lines",
    kinds.DeviceNode: "device_nodes",
    kinds.DeviceRules: "device_rules",
    kinds.DiskSpace: "disk_spaces",
    kinds.Distribution: "distributions",
    kinds.DkmsBuild: "dkms_builds",
    kinds.DkmsTree: "dkms_trees",
    kinds.DriverLibrary: "driver_libraries",
    kinds.DrmCard: "drm_cards",
    kinds.FileVariable: "file_variables",
    kinds.Firmware: "firmware",
    kinds.Folder: "folders",
    kinds.GpuProcess: "gpu_processes",
    kinds.GraphicsSwitch: "graphics_switches",
    kinds.Group: "groups",
    kinds.HomeFolder: "home_folders",
    kinds.HostedNotebook: "hosted_notebooks",
    kinds.Jetson: "jetsons",
    kinds.JobRequest: "job_requests",
    kinds.JupyterFolder: "jupyter_folders",
    kinds.JupyterKernel: "jupyter_kernels",
    kinds.KernelLibrary: "kernel_libraries",
    kinds.KernelModule: "kernel_modules",
    kinds.KernelParameter: "kernel_parameters",
    kinds.Kernel: "kernels",
    kinds.KfdNode: "kfd_nodes",
    kinds.Launch: "launches",
    kinds.LoaderEntry: "loader_entries",
    kinds.Mask: "masks",
    kinds.Memory: "memories",
    kinds.ModuleParameter: "module_parameters",
    kinds.NetInterface: "net_interfaces",
    kinds.NextBoot: "next_boots",
    kinds.PackageSource: "package_sources",
    kinds.Package: "packages",
    kinds.PathLibrary: "path_libraries",
    kinds.PeerMemory: "peer_memories",
    kinds.Platform: "platforms",
    kinds.Proof: "proofs",
    kinds.ProvenPackage: "proven_packages",
    kinds.PythonEnv: "python_envs",
    kinds.RdmaPort: "rdma_ports",
    kinds.SearchPath: "search_paths",
    kinds.Service: "services",
    kinds.SharedMemory: "shared_memories",
    kinds.SlurmNode: "slurm_nodes",
    kinds.SlurmSetting: "slurm_settings",
    kinds.StateFolder: "state_folders",
    kinds.SystemPackage: "system_packages",
    kinds.TensorFlow: "tensorflows",
    kinds.Toolkit: "toolkits",
    kinds.Torch: "torches",
    kinds.UnitFile: "unit_files",
    kinds.UnlistedVendor: "unlisted_vendors",
    kinds.UnloadedModule: "unloaded_modules",
    kinds.Variable: "variables",
    kinds.VulkanDriver: "vulkan_drivers",
    kinds.World: "worlds",
}


def list_name(kind: type[Fact]) -> str:
    """How the list of a kind is called; of a kind that another package brings by its class: `NpuCore` is `npu_core`."""
    own = "".join("_" + letter.lower() if letter.isupper() else letter for letter in kind.__name__).strip("_")
    return LISTS.get(kind, own)
