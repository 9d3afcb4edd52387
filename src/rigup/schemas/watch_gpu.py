"""A GPU at one moment, as `rigup watch --json` tells it."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from rigup.schemas.shared import BoundDriver

GpuState = Literal["active", "asleep", "lost", "error"]
PowerScope = Literal["board", "socket", "gpu"]
LinkKind = Literal["nvlink", "xgmi"]
Throttle = Literal["power", "temperature", "current", "hardware", "external", "reliability", "sync", "other"]


class Utilisation(Struct, frozen=True, kw_only=True):
    """Shares of time, 0 to 1.

    Attributes:
        gpu: something ran.
        memory: the memory controller was busy; not how full the memory is.
        encoder: the video encoder.
        decoder: the video decoder.
        media: all video engines.
        compute: compute engines.
        copy: copy engines.
        tensor: matrix units.
        sm: multiprocessors.

    """

    gpu: float | UnsetType = UNSET
    memory: float | UnsetType = UNSET
    encoder: float | UnsetType = UNSET
    decoder: float | UnsetType = UNSET
    media: float | UnsetType = UNSET
    compute: float | UnsetType = UNSET
    copy: float | UnsetType = UNSET
    tensor: float | UnsetType = UNSET
    sm: float | UnsetType = UNSET


class GpuMemory(Struct, frozen=True, kw_only=True):
    """One kind of memory, in bytes.

    Attributes:
        total: all of it.
        used: by programs; does not hold what is reserved.
        reserved: by driver and firmware.
        free: for programs.

    """

    total: int | UnsetType = UNSET
    used: int | UnsetType = UNSET
    reserved: int | UnsetType = UNSET
    free: int | UnsetType = UNSET


class GpuMemories(Struct, frozen=True, kw_only=True):
    """Memory by kind.

    Attributes:
        vram: of its own.
        gtt: main memory that it may take beside its own.
        unified: shared with the processor as its only one.
        visible_vram: the part of vram that the processor can address.

    """

    vram: GpuMemory | UnsetType = UNSET
    gtt: GpuMemory | UnsetType = UNSET
    unified: GpuMemory | UnsetType = UNSET
    visible_vram: GpuMemory | UnsetType = UNSET


class Temperature(Struct, frozen=True, kw_only=True):
    """Degrees Celsius.

    Attributes:
        edge: of the chip at its edge, or as a whole.
        junction: of its hottest spot.
        memory: of the memory.
        limit: at which it slows down.

    """

    edge: float | UnsetType = UNSET
    junction: float | UnsetType = UNSET
    memory: float | UnsetType = UNSET
    limit: float | UnsetType = UNSET


class Power(Struct, frozen=True, kw_only=True):
    """Watts.

    Attributes:
        draw: now.
        limit: the limit in force.
        limit_default: as it was made.
        limit_max: the highest that can be set.
        scope: what `draw` is the power of.

    """

    draw: float | UnsetType = UNSET
    limit: float | UnsetType = UNSET
    limit_default: float | UnsetType = UNSET
    limit_max: float | UnsetType = UNSET
    scope: PowerScope | UnsetType = UNSET


class Clock(Struct, frozen=True, kw_only=True):
    """Hertz.

    Attributes:
        graphics: of the compute units; of several the highest.
        memory: of the memory.
        media: of the video engines.
        soc: of what is around them.

    """

    graphics: float | UnsetType = UNSET
    memory: float | UnsetType = UNSET
    media: float | UnsetType = UNSET
    soc: float | UnsetType = UNSET


class Fan(Struct, frozen=True, kw_only=True):
    """The fan.

    Attributes:
        rpm: turns a minute.
        speed: share of its most, 0 to 1.

    """

    rpm: float | UnsetType = UNSET
    speed: float | UnsetType = UNSET


class Voltage(Struct, frozen=True, kw_only=True):
    """Volts.

    Attributes:
        graphics: of the compute units.

    """

    graphics: float | UnsetType = UNSET


class Pcie(Struct, frozen=True, kw_only=True):
    """The link to the host.

    Attributes:
        width: lanes in use.
        width_max: lanes that the card has.
        speed: transfers a second of a lane now.
        speed_max: that the card can.
        rx: bytes a second received by the GPU.
        tx: bytes a second sent by the GPU.
        replays: packets that were sent again, since the driver was loaded.

    """

    width: int | UnsetType = UNSET
    width_max: int | UnsetType = UNSET
    speed: float | UnsetType = UNSET
    speed_max: float | UnsetType = UNSET
    rx: float | UnsetType = UNSET
    tx: float | UnsetType = UNSET
    replays: int | UnsetType = UNSET


class Link(Struct, frozen=True, kw_only=True):
    """A link to another GPU.

    Attributes:
        kind: whose.
        index: its number.
        rx: bytes received since the driver was loaded.
        tx: bytes sent since then.
        up: whether it is trained.

    """

    kind: LinkKind
    index: int
    rx: int | UnsetType = UNSET
    tx: int | UnsetType = UNSET
    up: bool | UnsetType = UNSET


class ThrottleRaw(Struct, frozen=True, kw_only=True):
    """Throttle reasons as the hardware gives them.

    Attributes:
        source: which register or call.
        value: a set of bits.

    """

    source: str
    value: int


class Xid(Struct, frozen=True, kw_only=True):
    """An error that NVIDIA's driver told of.

    Attributes:
        code: its number.
        time: when it was heard of, in seconds of Unix time.

    """

    code: int
    time: float


class ErrorCount(Struct, frozen=True, kw_only=True):
    """Errors of one block of a chip since the driver was loaded.

    Attributes:
        corrected: that did no harm.
        uncorrected: that did.

    """

    corrected: int
    uncorrected: int


class GpuErrors(Struct, frozen=True, kw_only=True):
    """Errors of the hardware.

    Attributes:
        ecc_corrected: of memory, since the driver was loaded.
        ecc_uncorrected: likewise.
        retired: pages or rows of memory that are used no more.
        remap_pending: whether rows wait for a reset to be replaced.
        xid: heard of since the watch began.
        ras: by block.

    """

    ecc_corrected: int | UnsetType = UNSET
    ecc_uncorrected: int | UnsetType = UNSET
    retired: int | UnsetType = UNSET
    remap_pending: bool | UnsetType = UNSET
    xid: list[Xid] | UnsetType = UNSET
    ras: dict[str, ErrorCount] | UnsetType = UNSET


class Partition(Struct, frozen=True, kw_only=True):
    """A part of a GPU that is used like one.

    Attributes:
        name: as processes name it ("gi1/ci0", "xcp0").
        uuid: as its maker gives it.
        profile: its size ("1g.10gb", "SPX").
        memory: of its own.
        utilisation: shares of time.

    """

    name: str
    uuid: str | UnsetType = UNSET
    profile: str | UnsetType = UNSET
    memory: GpuMemory | UnsetType = UNSET
    utilisation: Utilisation | UnsetType = UNSET


class WatchedGpu(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A GPU at one moment. What the hardware does not give is left out and named in `not_available`.

    Attributes:
        index: its position in the order of PCI addresses.
        vendor: who made the chip.
        name: as its maker sells it.
        isa: what the chip is ("sm_86", "gfx1103").
        pci_address: on the bus; its identity.
        integrated: whether it shares the system's memory as its only memory.
        driver: the kernel driver bound to it.
        uuid: as its maker gives it.
        state: asleep: suspended, so that nothing else was read; lost: was there and answers no more.
        because: why it is in that state; left out where it is active.
        utilisation: shares of time.
        memory: by kind.
        temperature: of its sensors.
        power: draw and limits.
        energy: joules since the driver was loaded.
        clock: now.
        clock_max: the highest.
        fan: the fan.
        voltage: of the chip.
        pcie: the link to the host.
        links: to other GPUs.
        throttle: what slows it down, sorted; empty: known, and nothing does.
        throttle_raw: the same as the hardware gives it.
        errors: of the hardware.
        partitions: parts of it.
        source: where each value is from, by dotted path.
        not_available: dotted paths of the values that it does not give.

    """

    index: int
    vendor: str | UnsetType = UNSET
    name: str | UnsetType = UNSET
    isa: str | UnsetType = UNSET
    pci_address: str | UnsetType = UNSET
    integrated: bool | UnsetType = UNSET
    driver: BoundDriver | UnsetType = UNSET
    uuid: str | UnsetType = UNSET
    state: GpuState
    because: str | UnsetType = UNSET
    utilisation: Utilisation = Utilisation()
    memory: GpuMemories = GpuMemories()
    temperature: Temperature = Temperature()
    power: Power = Power()
    energy: float | UnsetType = UNSET
    clock: Clock = Clock()
    clock_max: Clock = Clock()
    fan: Fan = Fan()
    voltage: Voltage = Voltage()
    pcie: Pcie = Pcie()
    links: list[Link] | UnsetType = UNSET
    throttle: list[Throttle] | UnsetType = UNSET
    throttle_raw: ThrottleRaw | UnsetType = UNSET
    errors: GpuErrors = GpuErrors()
    partitions: list[Partition] | UnsetType = UNSET
    source: dict[str, str]
    not_available: list[str]
