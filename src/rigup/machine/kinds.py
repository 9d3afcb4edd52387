"""The kinds of facts and their fields. Sizes are bytes, versions strings, names the field's own.

A field annotated `| None` may be known to be absent; any field may be unknown.
"""

from typing import Any

from rigup.machine.facts import MACHINE, PROCESS, Fact, Reading, Subject
from rigup.machine.names import same_name


class Platform(Fact, scope=MACHINE):
    """The running kernel and what it runs on."""

    system: str  # linux, macos, windows
    release: str  # of the kernel, as uname -r; on Windows the build
    version: str  # macOS 14.4, Windows 10.0.22631
    architecture: str  # x86_64, aarch64, arm64 (Apple)
    wsl: int | None  # 1 or 2; None: not in WSL
    hypervisor: str | None
    secure_boot: bool


class Distribution(Fact):
    """The user space of a world."""

    id: str
    version: str
    name: str
    glibc: str | None


class World(Fact):
    """What kind of world this is."""

    container: str | None  # docker, podman, apptainer, lxc, kubernetes …; None: the host itself
    gpu_requested: bool  # the engine was asked for GPUs


class Cpu(Fact, scope=MACHINE):
    """The processor."""

    model: str
    flags: list[str]
    cores: int


class Memory(Fact, scope=MACHINE):
    """Main memory."""

    total: int
    available: int


class PciDevice(Fact, keys=("address",), scope=MACHINE):
    """A device on the bus; only displays and accelerators are kept."""

    address: str  # 0000:01:00.0
    vendor_id: str  # 10de
    device_id: str
    revision: str
    subsystem: str  # vendor:device
    class_code: str  # 0300
    name: str
    driver: str | None  # bound kernel driver
    modules: list[str]
    power: str  # active, suspended


class Gpu(Fact, keys=("pci_address", "uuid", "nvml_index", "runtime_index", "kfd_node"), scope=MACHINE,
          title=("pci_address", "name", "uuid", "nvml_index", "runtime_index", "kfd_node", "isa")):
    """An accelerator: what the chip is, never what an override pretends."""

    pci_address: str
    uuid: str
    nvml_index: int  # as nvidia-smi counts
    runtime_index: int  # as CUDA, HIP or Vulkan counts in the program that spoke
    kfd_node: int
    vendor: str
    name: str
    pci_id: str  # 10de:2204
    isa: str
    shown_isa: str  # what a runtime says it is: an override may speak
    integrated: bool
    driver: str | None  # bound kernel driver
    power: str
    vram: int
    gtt: int
    unified: int
    memory_used: int
    compute_mode: str
    mig: bool
    partitions: list[dict[str, Any]]
    ecc_errors: int
    seen_by: str  # a tool or runtime that listed it as usable

    def alike(self, name: str, one: Any, two: Any) -> bool:
        """A card's name is written in many ways."""
        return same_name(str(one), str(two)) if name == "name" else bool(one == two)

    def prefers(self, name: str, new: Reading, held: Reading) -> bool:
        """Of two spellings of one name the fuller counts."""
        if name == "name" and same_name(str(new.value), str(held.value)) and new.rank == held.rank:
            return len(str(new.value)) > len(str(held.value))
        return super().prefers(name, new, held)

    def contradicts(self, other: Fact) -> bool:
        """Two makers or two models are two cards, whatever an index says."""
        named = self.knows("name") and other.knows("name")
        makers = self.knows("vendor") and other.knows("vendor")
        return (
            super().contradicts(other)
            or (makers and self.fields["vendor"].value != other.fields["vendor"].value)
            or (named and not same_name(self.fields["name"].value, other.fields["name"].value)
                and not (self.knows("pci_address") and other.knows("pci_address")))
        )


class Driver(Fact, keys=("vendor",), scope=MACHINE):
    """The GPU driver in force: of the loaded kernel module, or of Windows in a WSL."""

    vendor: str
    version: str
    cuda: str | None  # the CUDA version that it shows
    branch: str
    flavour: str  # open, proprietary


class KernelModule(Fact, keys=("name",), scope=MACHINE):
    """A kernel module by name."""

    name: str
    loaded: bool
    version: str
    built_for: list[str]  # kernels for which a module file is there
    blacklisted: bool


class ModuleParameter(Fact, keys=("module", "name"), scope=MACHINE, title=("name",)):
    """A parameter of a kernel module: as running, as configured."""

    module: str
    name: str
    running: str
    configured: str


class DriverLibrary(Fact, keys=("soname",)):
    """A user-space library of a GPU driver as installed in a world."""

    soname: str
    version: str
    path: str


class DeviceNode(Fact, keys=("path",)):
    """A device file."""

    path: str
    mode: str  # as ls prints it: crw-rw----
    owner: str
    group: str


class Account(Fact, scope=PROCESS):
    """Who runs the work."""

    user: str
    uid: int
    groups: list[str]  # in force in this session
    assigned: list[str]  # in the group file: counts from the next login on


class Variable(Fact, keys=("name",), scope=PROCESS):
    """An environment variable; a value of None is known not to be set."""

    name: str
    value: str | None


class PythonEnv(Fact, keys=("prefix",)):
    """A Python environment."""

    prefix: str
    kind: str  # venv, conda, system
    version: str
    machine: str  # the architecture of the interpreter
    active: bool


class Package(Fact, keys=("env", "name"), title=("name",)):
    """An installed distribution of a Python environment."""

    env: str
    name: str  # normalised: lower case, dashes
    version: str
    build: str  # conda's build string
    manager: str  # pip, conda


class Torch(Fact, keys=("env",)):
    """The torch of an environment, as its files or its own report tell."""

    env: str
    version: str
    cuda: str | None
    hip: str | None
    code: list[str]  # what it is compiled for: sm_86, compute_90, gfx1100
    available: bool
    devices: int
    mps_built: bool
    executable: str


class JupyterKernel(Fact, keys=("name",)):
    """A notebook kernel."""

    name: str
    python: str
    prefix: str


class Service(Fact, keys=("name",)):
    """A system service."""

    name: str
    user: str
    running: bool


class LoaderEntry(Fact, keys=("soname",)):
    """What the loader's cache gives for a name."""

    soname: str
    path: str


class JobRequest(Fact, scope=PROCESS):
    """What a batch script asks of the scheduler."""

    gpus: int | None  # for the whole job
    gpus_per_node: int | None
    gpus_per_task: int | None
    nodes: int | None
    tasks: int | None
    tasks_per_node: int | None


class Symptom(Fact, scope=PROCESS):
    """What a program said, by a row of the signature table; the named groups are its fields."""

    id: str
    about: Fact | None = None  # the fact that the message states, if it does
    spread: str = PROCESS  # how far it holds

    @property
    def subject(self) -> Subject:
        """A message about a card is about that card."""
        return self.about.subject if self.about else Subject()
