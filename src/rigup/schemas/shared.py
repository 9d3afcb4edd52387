"""What several answers have in common: devices, steps, evidence, differences.

An attribute that may be UNSET is left out of the answer where nobody knows it; None is known absence.
"""

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

Argv = tuple[str, ...]
"""A program and its arguments."""

Facts = list[dict[str, Any]]
"""Facts of one kind: the fields that are known, and `place`, through whose eyes it was seen."""

DeviceState = Literal["verified", "expected", "on-trial", "no"]
DeviceUse = Literal["computes", "none"]
StepPlace = Literal["here", "host-of-container", "windows-host", "every-node", "every-gpu-node", "by-hand"]
StepState = Literal["satisfied", "needed", "blocked"]
Severity = Literal["error", "warning", "note"]
Confidence = Literal["certain", "likely", "possible"]


class Memory(Struct, frozen=True, kw_only=True):
    """The memory of a device by kind, in bytes, in total; a kind that it does not have is left out.

    Attributes:
        vram: memory of its own.
        gtt: the part of the main memory that it may take beside its own.
        unified: the memory that it shares with the processor as its only one.

    """

    vram: int | UnsetType = UNSET
    gtt: int | UnsetType = UNSET
    unified: int | UnsetType = UNSET


class BoundDriver(Struct, frozen=True, kw_only=True):
    """The kernel driver that a device is bound to.

    Attributes:
        name: of the kernel module ("nvidia", "amdgpu").
        version: of the driver.
        shown_cuda: the CUDA version that it shows, where it shows one.

    """

    name: str | UnsetType = UNSET
    version: str | UnsetType = UNSET
    shown_cuda: str | UnsetType = UNSET


class Hardware(Struct, frozen=True, kw_only=True):
    """What a device is.

    Attributes:
        vendor: who made the chip ("nvidia", "amd", "apple", "intel", "microsoft", "hygon" …), by its ids.
        name: as its maker sells it ("NVIDIA GeForce RTX 3090").
        isa: what the chip is ("sm_86", "gfx90a"), never what an override pretends.
        pci_id: vendor and device ("10de:2204").
        pci_address: on the bus ("0000:01:00.0").
        integrated: whether it shares the system's memory as its only memory.
        memory: its memory by kind, in bytes.

    """

    vendor: str | UnsetType = UNSET
    name: str | UnsetType = UNSET
    isa: str | UnsetType = UNSET
    pci_id: str | UnsetType = UNSET
    pci_address: str | UnsetType = UNSET
    integrated: bool | UnsetType = UNSET
    memory: Memory | UnsetType = UNSET


class Lack(Struct, frozen=True, kw_only=True):
    """Something that a device cannot do.

    Attributes:
        id: a word for programs.
        text: a sentence.
        source: who says so.

    """

    id: str
    text: str
    source: str


class NewestTorch(Struct, frozen=True, kw_only=True):
    """The newest build of torch that has code for a device.

    Attributes:
        version: with its local part ("2.9.1+cu126").
        source: the table, or what the table cites.

    """

    version: str
    source: str


class Limits(Struct, frozen=True, kw_only=True):
    """What a device cannot do; `rigup doctor --devices` tells it.

    Attributes:
        lacks: each with its source; empty where the tables know of none.
        newest_torch: left out where none is known to run.

    """

    lacks: list[Lack]
    newest_torch: NewestTorch | UnsetType = UNSET


class SeenDevice(Hardware, frozen=True, kw_only=True):
    """A device as it was seen on a machine.

    Attributes:
        uuid: as its maker's tool names it.
        power: the state of its power management ("active", "suspended").
        driver: the kernel driver bound to it.
        partitions: parts of a device (MIG, CPX), each with `name` and what else is known; None where there is no telling how many.
        state: whether it will work.
        because: why, as a sentence.
        next: what to do next; "" for nothing.
        use: computes where what was given shows a program computing on it; none where torch's builds are made for other chips; else left out.
        limits: what it cannot do, where that was asked for.

    """

    uuid: str | UnsetType = UNSET
    power: str | UnsetType = UNSET
    driver: BoundDriver | UnsetType = UNSET
    partitions: list[dict[str, Any]] | UnsetType | None = UNSET
    state: DeviceState | UnsetType = UNSET
    because: str | UnsetType = UNSET
    next: str | UnsetType = UNSET
    use: DeviceUse | UnsetType = UNSET
    limits: Limits | UnsetType = UNSET


class Device(SeenDevice, frozen=True, kw_only=True):
    """An accelerator of a machine.

    Attributes:
        index: its position in the order of PCI addresses, integrated ones included; without addresses in the order of the source, and of a pasted text as its tool numbers them.
        state: whether it will work.
        because: why, as a sentence.
        next: what to do next; "" for nothing.

    """

    index: int
    state: DeviceState
    because: str
    next: str


class Step(Struct, frozen=True, kw_only=True):
    """One change.

    Attributes:
        kind: what is done, a word for programs.
        id: the kind and its parameters: the same for the same change, whoever asks for it.
        params: what the kind needs to know, by name.
        title: what is done, as a sentence.
        because: why, or why it cannot be taken; "" where that goes without saying.
        commands: what is run, each a program with its arguments; empty for what is done by hand.
        where: on which machine it is done.
        root: whether it needs root, or an administrator, and the account that was seen is neither.
        network: whether it needs a network.
        restart: whether it counts from the next start on.
        tag: how much it risks.
        state: whether it is needed, where that is known.
        undo: the commands that take it back; None where it cannot be taken back.
        undo_because: why it cannot be taken back; "" where it can.
        writes: files that it creates or changes.

    """

    kind: str
    id: str
    params: dict[str, str]
    title: str
    because: str
    commands: tuple[Argv, ...]
    where: StepPlace
    root: bool
    network: bool
    restart: bool
    tag: Literal["safe", "caution", "destructive"]
    state: StepState | UnsetType = UNSET
    undo: tuple[Argv, ...] | None
    undo_because: str
    writes: tuple[str, ...]


class FixCheck(Struct, frozen=True, kw_only=True):
    """How to see that something worked; it changes nothing.

    Attributes:
        title: what is seen then.
        commands: that show it; none where a look is enough.
        where: as of a step.

    """

    title: str
    commands: list[Argv]
    where: StepPlace


class Fix(Struct, frozen=True, kw_only=True):
    """One way to mend a finding.

    Attributes:
        title: of all its steps.
        steps: in the order in which they are taken.
        check: how to see that it worked.
        used_by: packages that also use what the fix replaces.

    """

    title: str
    steps: list[Step]
    check: FixCheck
    used_by: list[str] | UnsetType = UNSET


class Evidence(Struct, frozen=True, kw_only=True):
    """Something that was seen, on which a finding stands.

    Attributes:
        fact: what it is about ("symptom ID", "Torch.version", "no KIND").
        value: the text that stands in the source; None for an absence.
        source: the file, command or path; for a row of a table `knowledge/TABLE`.
        line: the number of the line in the source, from 1; None where there are no lines.

    """

    fact: str
    value: str | None
    source: str
    line: int | None


class Finding(Struct, frozen=True, kw_only=True):
    """A cause of what does not work.

    Attributes:
        cause: its id, as `rigup explain` takes it.
        severity: error where the work cannot run, warning where it runs worse than it could, note for what is worth knowing.
        title: one line.
        subject: the device, environment, service, container or node that it is about; "machine" for the machine.
        place: through whose eyes it was seen ("container", "service:ollama"); "" where nothing tells.
        confidence: how sure it is.
        guess: whether the words of a text alone tell it, and no rule.
        because: what it means, as sentences.
        make_sure: how to recognise it, where it is no more than possible; else "".
        in_vain: what is often tried and does not help; "" for nothing.
        evidence: what was seen.
        explains: ids of the symptoms and causes that are folded under it.
        mends: what mends it, as sentences, where there are no steps; else "".
        fixes: ways to mend it, the one that needs least first.
        past: whether a pasted text shows it, and a later state that refutes it; left out where it stands.

    """

    cause: str
    severity: Severity
    title: str
    subject: str
    place: str
    confidence: Confidence
    guess: bool
    because: str
    make_sure: str
    in_vain: str
    evidence: list[Evidence]
    explains: list[str]
    mends: str
    fixes: list[Fix]
    past: bool | UnsetType = UNSET


class Skipped(Struct, frozen=True, kw_only=True):
    """What could not be judged, because something is not known.

    Attributes:
        unknown: the field that nobody has seen ("Torch.version").
        because: why it is not known.
        would_decide: ids of the causes that it would decide.
        would_tell: commands or files that would tell it.
        would_explain: one of these causes would account for a message that nothing accounts for; true also where no message was read.

    """

    unknown: str
    because: str
    would_decide: list[str]
    would_tell: list[str]
    would_explain: bool = True


class Difference(Struct, frozen=True, kw_only=True):
    """One thing that is not as it was, or not as elsewhere.

    Attributes:
        id: what it is about: kind, subject and place in one line.
        kind: the kind of fact.
        subject: which of them; "" where there is only one.
        field: what of it; "" where the subject itself is gone or new.
        before: the value, for lists what only this side has; None: not there.
        after: likewise.
        change: whether it is another value, or not there on one side.
        place: where; "" is the machine itself.
        text: a sentence without a full stop.
        echo_of: `id` of the difference that this one follows from; None where it stands for itself.
        unbuilt: for another kernel, modules that were built for the one before and are not for this one.
        suspect_for: ids of the causes that were found and that it may account for.

    """

    id: str
    kind: str
    subject: str
    field: str
    before: Any
    after: Any
    change: Literal["changed", "gone", "new"]
    place: str
    text: str
    echo_of: str | None
    unbuilt: list[str]
    suspect_for: list[str]


class Environment(Struct, frozen=True, kw_only=True):
    """The environment that something was measured in.

    Attributes:
        prefix: its folder.
        interpreter: its Python, as a path.
        python: the version of its Python.

    """

    prefix: str
    interpreter: str
    python: str
