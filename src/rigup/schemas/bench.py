"""`rigup bench --json`: how fast each device is, beside its data sheet, others, and its own past."""

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType, field

from rigup.schemas.shared import Environment, Facts, SeenDevice, Severity
from rigup.schemas.verify import Verify


class Sample(Struct, frozen=True, kw_only=True):
    """One size of a sweep.

    Attributes:
        size: of the matrices.
        rate: what was reached, in the figure's unit.

    """

    size: int
    rate: float


class Elsewhere(Struct, frozen=True, kw_only=True):
    """What somebody else measured of the same.

    Attributes:
        rate: in the figure's unit.
        conditions: under which it was measured.
        source: who says so.

    """

    rate: float
    conditions: str
    source: str


class Figure(Struct, frozen=True, kw_only=True):
    """One figure; rates and seconds are in its unit. Of a figure of a table the samples are left out.

    Attributes:
        name: what was measured ("matmul", "memory-copy", "launch", "decode" …).
        type: of the numbers ("float32"), or the model of tokens.
        unit: "FLOP/s", "B/s", "s", "image/s" or "token/s".
        framework: with which it was measured.
        device: as that calls it.
        median: of all samples.
        best: of them.
        worst: of them.
        quartiles: between which the middle half lies.
        spread: how far that reaches, as a share of the median.
        samples: how many there are.
        drift: how much longer the second half took than the first, as a share.
        seconds: that one took, as the median.
        size: of the matrices, or bytes that were moved, or tokens.
        sweep: the sizes that were tried before.
        steady: whether the median tells much.
        unsteady: why it tells little: "spread", "best", "drift".
        peak: what the data sheet tells, in the same unit.
        share_of_peak: the median as a share of that.
        peak_source: the data sheet.
        implausible: whether the figure is beyond what any clock explains.
        others: what others measured.
        conditions: under which a figure of a table was measured.
        source: of a figure of a table.
        of: which table it is of ("measured", "data-sheet").

    """

    name: str
    type: str | UnsetType = UNSET
    unit: str
    framework: str | UnsetType = UNSET
    device: str | UnsetType = UNSET
    median: float
    best: float
    worst: float | UnsetType = UNSET
    quartiles: list[float] | UnsetType = UNSET
    spread: float | UnsetType = UNSET
    samples: int | UnsetType = UNSET
    drift: float | UnsetType = UNSET
    seconds: float | UnsetType = UNSET
    size: int | UnsetType = UNSET
    sweep: list[Sample] | UnsetType = UNSET
    steady: bool | UnsetType = UNSET
    unsteady: list[str] | UnsetType = UNSET
    peak: float | UnsetType = UNSET
    share_of_peak: float | UnsetType = UNSET
    peak_source: str | UnsetType = UNSET
    implausible: bool | UnsetType = UNSET
    others: list[Elsewhere] | UnsetType = UNSET
    conditions: str | UnsetType = UNSET
    source: str | UnsetType = UNSET
    of: str | UnsetType = UNSET


class Failed(Struct, frozen=True, kw_only=True):
    """A measurement, or a whole framework, that failed.

    Attributes:
        check: its name.
        because: what it said, or how it ended.

    """

    check: str
    because: str


class Readings(Struct, frozen=True, kw_only=True):
    """A sensor over the time of the measurements.

    Attributes:
        least: of the readings.
        median: of them.
        most: of them.

    """

    least: float
    median: float
    most: float


class Watched(Struct, frozen=True, kw_only=True):
    """What was watched meanwhile; a sensor that cannot be read is left out.

    Attributes:
        samples: how often it was looked at.
        clock_mhz: of the device, in MHz.
        memory_clock_mhz: of its memory, in MHz.
        temperature_c: in degrees Celsius.
        power_w: in watts.
        held_back: the share of the time for which it was held back, by what did so.

    """

    samples: int
    clock_mhz: Readings | UnsetType = UNSET
    memory_clock_mhz: Readings | UnsetType = UNSET
    temperature_c: Readings | UnsetType = UNSET
    power_w: Readings | UnsetType = UNSET
    held_back: dict[str, float] | UnsetType = UNSET


class MeasuredDevice(SeenDevice, frozen=True, kw_only=True):
    """A device with its figures; `vendor` "cpu" is the processor.

    Attributes:
        index: its position among the machine's devices; left out for the processor.
        results: the figures.
        failed: measurements that failed.
        cut: names of measurements for which there was no time.
        watched: what its sensors told meanwhile.

    """

    index: int | UnsetType = UNSET
    results: list[Figure]
    failed: list[Failed] | UnsetType = UNSET
    cut: list[str] | UnsetType = UNSET
    watched: Watched | UnsetType = UNSET


class Ill(Struct, frozen=True, kw_only=True):
    """A finding of the doctor.

    Attributes:
        cause: its id.
        severity: how bad it is.
        title: one line.

    """

    cause: str
    severity: Severity
    title: str


class Health(Struct, frozen=True, kw_only=True):
    """What the doctor says of the machine: a figure of one that is ill tells of the illness.

    Attributes:
        verdict: healthy, degraded, broken or unknown.
        findings: root causes first.

    """

    verdict: Literal["healthy", "degraded", "broken", "unknown"]
    findings: list[Ill]


class Drop(Struct, frozen=True, kw_only=True):
    """A figure that is lower than this machine reached before, by more than spread explains.

    Attributes:
        device: its name; None where it has none.
        name: of the figure.
        type: of the figure; None where it has none.
        was: the best median before, in the figure's unit.
        is_: the median now.
        unit: of both.
        lost: the share that is lost.

    """

    device: str | None
    name: str
    type: str | None
    was: float
    is_: float = field(name="is")
    unit: str
    lost: float


class ComparedFigure(Struct, frozen=True, kw_only=True):
    """A figure that both sides have, by its median.

    Attributes:
        device: here; None where it has no name.
        other: the device there.
        name: of the figure.
        type: of the figure; None where it has none.
        unit: of both.
        here: the median here.
        there: the median there.
        times: how many times as good it is here.
        of: which table the other is of ("measured", "data-sheet"), of a card of the tables.
        conditions: under which the other was measured.
        source: of the other.
        steady: whether the median here tells much.
        size: of the matrices, or bytes, here.

    """

    device: str | None
    other: str | None
    name: str
    type: str | None
    unit: str
    here: float
    there: float
    times: float
    of: str | UnsetType = UNSET
    conditions: str | UnsetType = UNSET
    source: str | UnsetType = UNSET
    steady: bool | UnsetType = UNSET
    size: int | UnsetType = UNSET


class Compared(Struct, frozen=True, kw_only=True):
    """What the run is set beside.

    Attributes:
        with_: the other, as it was named.
        figures: those that both have.

    """

    with_: str = field(name="with")
    figures: list[ComparedFigure]


class Bench(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.bench/1"):
    """How fast each device is.

    Attributes:
        mode: how much was measured.
        environment: in which it was measured.
        packages: exact versions of those that a figure depends on, by name.
        machine: facts that a figure depends on: lists of the doctor's `machine`, by name.
        devices: those that were measured.
        failed: frameworks that list nothing.
        doctor: what the doctor says of the machine.
        busy_cores: how many cores others kept busy before; left out where the system does not tell.
        verify: the proof of the environment, where that was asked for.
        drops: figures that are lower than they were here before.
        recorded_at: when, ISO 8601 in UTC.
        rigup: the version of rigup that measured.
        seconds: that all of it took.
        record: the file in which it is kept; left out where it is not.
        compared: what it was set beside, where that was asked for.

    """

    mode: Literal["quick", "full"]
    environment: Environment
    packages: dict[str, str]
    machine: dict[str, Facts]
    devices: list[MeasuredDevice]
    failed: list[Failed]
    doctor: Health
    busy_cores: float | UnsetType = UNSET
    verify: Verify | UnsetType = UNSET
    drops: list[Drop]
    recorded_at: str
    rigup: str
    seconds: float
    record: str | UnsetType = UNSET
    compared: Compared | UnsetType = UNSET


class BenchList(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.bench-list/1"):
    """What there is to compare with.

    Attributes:
        runs: earlier runs of this machine as the release that made them wrote them, the oldest first.
        machines: names of machines whose runs are kept here.
        measured: names of devices that others measured.

    """

    runs: list[dict[str, Any]]
    machines: list[str]
    measured: list[str]
