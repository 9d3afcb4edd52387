"""The machine and its worlds: system, processor, memory."""

from rigup.machine.facts import MACHINE, Fact


class Platform(Fact, scope=MACHINE):
    """The running kernel and what it runs on."""

    system: str  # linux, macos, windows
    release: str  # of the kernel, as uname -r; on Windows the build
    version: str  # macOS 14.4, Windows 10.0.22631
    architecture: str  # x86_64, aarch64, arm64 (Apple)
    wsl: int | None  # 1 or 2; None: not in WSL
    hypervisor: str | None
    secure_boot: bool
    mok: list[str]  # keys that the machine's owner has enrolled, by their common names


class Distribution(Fact):
    """The user space of a world."""

    id: str
    version: str
    name: str
    glibc: str | None
    immutable: str | None  # ostree, nixos, steamos, microos: its system is no place for packages; None: it is


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
    commit_limit: int  # Windows: what all programs together may ask for, page file included
    commit_free: int


class SharedMemory(Fact):
    """/dev/shm of a world."""

    total: int
    free: int


class ContainerEngine(Fact, keys=("name",), scope=MACHINE):
    """What starts containers."""

    name: str  # docker, podman
    flavour: str  # engine, desktop, snap
    rootless: bool
    runtimes: list[str]  # that are configured beside its own
    default_runtime: str


class DeviceRules(Fact):
    """What the control group of a container lets through."""

    allowed: list[str]  # c 195:* rwm


class Jetson(Fact, scope=MACHINE):
    """That the machine is one of NVIDIA's modules, and what tells it."""

    l4t: str  # release of its system
    kernel: str
    model: str
    prompt: str  # a name that people give such machines


class NetInterface(Fact, keys=("name",), scope=MACHINE):
    """A network interface."""

    name: str
    up: bool
    hardware: bool  # a card, or a bond of cards
    link: str  # ethernet, infiniband
    speed: int  # Mbit/s
    constraint: str | None  # what a node must have, in the cluster's own words
    partition: str | None


class RdmaPort(Fact, keys=("device", "port"), scope=MACHINE):
    """A port of an adapter that reads and writes the memory of other machines: InfiniBand, Omni-Path or RoCE."""

    device: str  # mlx5_0
    port: int
    link: str  # InfiniBand, Ethernet
    state: str  # ACTIVE, INIT, DOWN
    rate: str  # 400 Gb/sec (4X NDR)


class PeerMemory(Fact, keys=("client",), scope=MACHINE):
    """Whose memory RDMA adapters read without the processor: nvidia-peermem, nv_mem, amdkfd."""

    client: str


class GraphicsSwitch(Fact, keys=("tool",), scope=MACHINE):
    """A laptop's tool that gives the discrete card to the system or takes it away."""

    tool: str  # prime-select, envycontrol, supergfxctl, system76-power, optimus-manager, bbswitch, udev
    mode: str  # integrated, hybrid, nvidia
