"""`rigup verify --json`: what an environment was proven to compute, on every device."""

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from rigup.schemas.shared import Environment, Finding, SeenDevice, Skipped


class Check(Struct, frozen=True, kw_only=True):
    """One check of one device. Without `passed` it could not be judged.

    Attributes:
        framework: which one was checked; left out where no framework lists the device.
        device: as the framework calls it ("cuda:0", "cpu").
        name: of the check.
        passed: whether what was measured is what was expected.
        measured: what came out, in the form of that check.
        expected: what ought to come out, in the same form.
        seconds: that it took.
        because: why it failed, or why it cannot be judged.

    """

    framework: str | UnsetType = UNSET
    device: str | UnsetType = UNSET
    name: str
    passed: bool | UnsetType = UNSET
    measured: Any | UnsetType = UNSET
    expected: Any | UnsetType = UNSET
    seconds: float
    because: str | UnsetType = UNSET


class CheckedDevice(SeenDevice, frozen=True, kw_only=True):
    """A device with what was checked on it; the processor has a name, checks and a state alone.

    Attributes:
        index: its position among the machine's devices; left out for the processor.
        properties: what the framework tells of it, in the framework's own words.
        checks: in the order in which they were made; empty where nothing was tried.

    """

    index: int | UnsetType = UNSET
    properties: dict[str, Any] | UnsetType = UNSET
    checks: list[Check]


class Framework(Struct, frozen=True, kw_only=True):
    """A framework, or a package with compiled code beside one, as a whole.

    Attributes:
        name: of its package.
        imported: whether it could be imported.
        listed: whether it listed its devices.
        version: as it tells it.
        import_seconds: that the import took.
        build: what it tells of its build.
        exit_status: of the process that used it, where that is not 0.
        because: how it ended before its time, as a sentence.
        said: its last word then; "" for none.

    """

    name: str
    imported: bool
    listed: bool
    version: str | UnsetType = UNSET
    import_seconds: float | UnsetType = UNSET
    build: Any | UnsetType = UNSET
    exit_status: int | UnsetType = UNSET
    because: str | UnsetType = UNSET
    said: str | UnsetType = UNSET


class NotCovered(Struct, frozen=True, kw_only=True):
    """Something that was not tried, or could not be judged.

    Attributes:
        what: the check, the framework, or a word for what is tried otherwise.
        because: why, as a sentence.
        device: as the framework calls it; "" where no framework lists it.
        framework: which one.

    """

    what: str
    because: str
    device: str | UnsetType = UNSET
    framework: str | UnsetType = UNSET


class Diagnosis(Struct, frozen=True, kw_only=True):
    """What the doctor finds, where a verification failed.

    Attributes:
        findings: root causes first.
        skipped: what could not be judged.
        unexplained: ids of symptoms that no finding accounts for.

    """

    findings: list[Finding]
    skipped: list[Skipped]
    unexplained: list[str]


class Verify(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.verify/1"):
    """What an environment was proven to compute.

    Attributes:
        verdict: verified where something was proven and nothing failed.
        mode: how much was tried.
        environment: which one.
        packages: exact versions of those that the proof stands on, by name.
        frameworks: those of the environment.
        companions: packages with compiled code beside them.
        devices: the machine's, those that only a framework lists, and the processor where it was checked.
        not_covered: what was not tried; empty where nothing was measured at all.
        diagnosis: what the doctor finds, where it failed.
        record: the file in which the proof is kept; left out where none was kept.
        seconds: that all of it took.

    """

    verdict: Literal["verified", "failed", "nothing-to-verify"]
    mode: Literal["quick", "full"]
    environment: Environment
    packages: dict[str, str]
    frameworks: list[Framework]
    companions: list[Framework]
    devices: list[CheckedDevice]
    not_covered: list[NotCovered]
    diagnosis: Diagnosis | UnsetType = UNSET
    record: str | UnsetType = UNSET
    seconds: float
