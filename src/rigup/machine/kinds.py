"""The kinds of facts and their fields. Sizes are bytes, versions strings, names the field's own.

A field annotated `| None` may be known to be absent; any field may be unknown.
"""

from typing import TYPE_CHECKING, Any

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
    atomics: bool  # the device may send PCIe atomics: the whole path to it routes them
    bars: list[int]  # sizes of its windows into memory


class Gpu(
    Fact,
    keys=("pci_address", "uuid", "nvml_index", "runtime_index", "kfd_node", "adapter"),
    scope=MACHINE,
    title=("pci_address", "name", "uuid", "nvml_index", "runtime_index", "kfd_node", "isa"),
):
    """An accelerator: what the chip is, never what an override pretends."""

    pci_address: str
    uuid: str
    nvml_index: int  # as its maker's smi counts
    runtime_index: int  # as CUDA, HIP or Vulkan counts in the program that spoke
    kfd_node: int
    adapter: int  # as a list counts that knows none of these: Windows' adapters
    vendor: str
    name: str
    pci_id: str  # 10de:2204
    revision: str  # of the PCI device: c1
    subsystem: str  # vendor:device of the board
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
    persistence: bool
    driver_model: str  # Windows: WDDM, TCC, MCDM
    fabric: str  # state of NVSwitch's fabric: Completed, In Progress …
    recovery: str  # what the driver asks for: None, Reset, Reboot, Drain …
    remap_pending: bool  # a row waits for a reset to be replaced
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
        """Two makers or two models are two cards, whatever an index says; one address is one card."""
        for key in ("pci_address", "uuid"):
            if self.knows(key) and other.knows(key):
                return bool(self.fields[key].value != other.fields[key].value)
        named = self.knows("name") and other.knows("name")
        makers = self.knows("vendor") and other.knows("vendor")
        return (
            super().contradicts(other)
            or (makers and self.fields["vendor"].value != other.fields["vendor"].value)
            or (named and not same_name(self.fields["name"].value, other.fields["name"].value))
            or (
                self.knows("pci_id")
                and other.knows("pci_id")
                and self.fields["pci_id"].value != other.fields["pci_id"].value
            )
        )


class CardCount(Fact, keys=("vendor",), scope=MACHINE):
    """All cards of one maker that anybody saw on a machine, together: for rules that count."""

    vendor: str
    count: int
    uuids: list[str]
    usable: int  # that some tool or runtime listed
    mig: bool  # some are cut into MIG devices


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
    built_in: bool  # part of the kernel itself

    def absorb(self, fields: dict[str, Reading]) -> None:
        """Each folder tells of its own kernels; they add up."""
        held, new = self.fields.get("built_for"), fields.get("built_for")
        if held and new and held.value != new.value:
            both = Reading(sorted({*held.value, *new.value}), held.where, max(held.rank, new.rank))
            self.fields["built_for"], fields = both, {**fields, "built_for": both}
        super().absorb(fields)


class UnloadedModule(Fact, keys=("name",), scope=MACHINE):
    """A module that somebody looked for by name among the loaded ones, in vain."""

    name: str


class UnlistedVendor(Fact, keys=("vendor",), scope=MACHINE):
    """A maker whose cards somebody looked for on the bus by name, in vain."""

    vendor: str  # nvidia, amd


class GraphicsSwitch(Fact, keys=("tool",), scope=MACHINE):
    """A laptop's tool that gives the discrete card to the system or takes it away."""

    tool: str  # prime-select, envycontrol, supergfxctl, system76-power, optimus-manager, bbswitch, udev
    mode: str  # integrated, hybrid, nvidia


class ModuleParameter(Fact, keys=("module", "name"), scope=MACHINE, title=("name",)):
    """A parameter of a kernel module: as running, as configured."""

    module: str
    name: str
    running: str
    configured: str


class KernelParameter(Fact, keys=("name",), scope=MACHINE):
    """A word of the kernel's command line: iommu=pt, nomodeset."""

    name: str
    running: str  # this boot's
    configured: str  # the boot loader's, for the next one


class DeadLine(Fact, keys=("path", "text"), scope=MACHINE, title=("text",)):
    """A line of a configuration file that its reader ignores."""

    path: str
    text: str
    module: str
    name: str
    because: str  # no-keyword


class DkmsTree(Fact, keys=("module", "version"), scope=MACHINE, title=("module", "version")):
    """A module that DKMS is to build."""

    module: str
    version: str
    registered: bool
    source: str | None  # folder with its dkms.conf


class DkmsBuild(Fact, keys=("module", "version", "kernel"), scope=MACHINE, title=("module", "version", "kernel")):
    """What DKMS made of a module for one kernel."""

    module: str
    version: str
    kernel: str
    status: str  # added, built, installed


class Kernel(Fact, keys=("release",), scope=MACHINE):
    """A kernel that is installed."""

    release: str
    headers: bool  # what is needed to build modules for it is there


class KfdNode(Fact, keys=("node",), scope=MACHINE):
    """A GPU as amdkfd lists it: a whole card, or one partition of it."""

    node: int
    pci_address: str
    pci_id: str
    isa: str
    vram: int
    gpu_id: int  # 0: not usable by this process
    unique_id: str
    is_cpu_too: bool  # one node holds processor and GPU: an APU


class DrmCard(Fact, keys=("card",), scope=MACHINE):
    """A card of the kernel's graphics layer."""

    card: int
    pci_address: str
    vram: int
    gtt: int


class DriverLibrary(Fact, keys=("soname", "path")):
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
    acl: bool  # single people may open it besides


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


class Group(Fact, keys=("name",)):
    """A group of the group file; its members count from their next login on."""

    name: str
    gid: int
    members: list[str]


class HomeFolder(Fact, keys=("path",)):
    """A folder of the person who asks, in which environments and settings are looked for. Never another's home."""

    path: str
    role: str  # home, work


class Folder(Fact, keys=("path",)):
    """A folder and whose it is."""

    path: str
    owner: str


class SearchPath(Fact, keys=("path", "variable"), scope=PROCESS, title=("path",)):
    """A folder in which a process's loader looks before all others."""

    path: str
    variable: str


class PathLibrary(Fact, keys=("path",)):
    """A library that lies in a folder of a search path, or among a toolkit's stubs or compatibility libraries."""

    path: str
    folder: str
    soname: str
    version: str
    stub: bool  # it can be linked against, and does not work
    compat: bool  # NVIDIA's forward compatibility package


class PythonEnv(Fact, keys=("prefix",)):
    """A Python environment."""

    prefix: str
    kind: str  # venv, conda, system, user
    base: str  # where its interpreter comes from
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
    mps_available: bool
    xpu_available: bool
    executable: str
    platform: str  # linux-x86_64, linux-aarch64, macos-arm64, windows-x86_64: what it was built for
    own_hsa: bool  # it brings an HSA runtime of its own


class SystemPackage(Fact, keys=("name",)):
    """A package of the distribution (dpkg, rpm, pacman) that has to do with GPUs."""

    name: str
    version: str
    state: str  # installed, removed (its configuration stays), broken (half installed)
    manager: str  # dpkg, rpm, pacman


class Toolkit(Fact, keys=("name", "path")):
    """A toolkit on the disk: CUDA as nvcc tells its version, ROCm as its folder does."""

    name: str  # cuda, rocm
    version: str
    path: str


class TensorFlow(Fact, keys=("env",)):
    """The TensorFlow of an environment, as its files or its own answers tell."""

    env: str
    version: str
    built_with_cuda: bool
    gpus: int  # that it sees


class KernelLibrary(Fact, keys=("path",)):
    """A folder of compiled kernels that a mathematical library of ROCm loads from."""

    path: str
    name: str  # rocblas, hipblaslt
    code: list[str]  # targets that it has files for
    owner: str  # rocm, torch, ollama: whose it is


class Jetson(Fact, scope=MACHINE):
    """That the machine is one of NVIDIA's modules, and what tells it."""

    l4t: str  # release of its system
    kernel: str
    model: str
    prompt: str  # a name that people give such machines


class SharedMemory(Fact):
    """/dev/shm of a world."""

    total: int
    free: int


class ContainerEngine(Fact, keys=("name",), scope=MACHINE):
    """What starts containers."""

    name: str  # docker, podman
    flavour: str  # engine, desktop, snap
    rootless: bool


class DeviceRules(Fact):
    """What the control group of a container lets through."""

    allowed: list[str]  # c 195:* rwm


class JupyterKernel(Fact, keys=("name", "path"), title=("name",)):
    """A notebook kernel."""

    name: str
    path: str  # of its kernel.json
    shown: str  # the name that the menu shows
    python: str
    prefix: str


class Service(Fact, keys=("name",)):
    """A system service."""

    name: str
    user: str
    groups: list[str]  # supplementary ones that its unit gives it
    command: str
    running: bool
    enabled: bool
    version: str


class UnitFile(Fact, keys=("unit", "path"), title=("path",)):
    """A file that a service's unit takes variables from."""

    unit: str
    path: str


class FileVariable(Fact, keys=("path", "name"), title=("name",)):
    """A variable in such a file."""

    path: str
    name: str
    value: str


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
    asked: bool  # any GPU is asked for, in whatever way
    given: list[int]  # GPUs that its nodes got, each
    constraint: str  # features that its nodes must have
    partition: str
    name: str
    binding: str  # how GPUs are bound to tasks: none, closest, single:1 …
    launcher: str  # what starts the work inside: srun, torchrun, python …
    interactive: bool  # a shell on a node, not a batch script


class Launch(Fact, scope=PROCESS):
    """What a program that starts one process a device was told, and what it says of its ranks."""

    framework: str  # lightning, torchrun, accelerate …
    accelerator: str
    devices: int  # on each node
    nodes: int
    visible: int  # devices that one process was given
    world: int  # processes that it counts on
    ranks: list[int]  # that announced themselves, each time that one did


class Mask(Fact, scope=PROCESS):
    """A program's own setting of a variable that hides devices."""

    variable: str
    value: str
    after: str  # what had touched the device before it


class NetInterface(Fact, keys=("name",), scope=MACHINE):
    """A network interface."""

    name: str
    up: bool
    constraint: str | None  # what a node must have, in the cluster's own words
    partition: str | None


class Symptom(Fact, scope=PROCESS):
    """What a program said, by a row of the signature table; the named groups are its fields."""

    id: str
    about: Fact | None = None  # the fact that the message states, if it does
    spread: str = PROCESS  # how far it holds

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """The named groups of the row's pattern."""

    @property
    def subject(self) -> Subject:
        """A message about a card is about that card."""
        return self.about.subject if self.about else Subject()
