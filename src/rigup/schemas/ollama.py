"""`rigup ollama --json`: what ollama's service really runs with, and what became of a change of its settings."""

from typing import Literal

from msgspec import Struct

from rigup.schemas.shared import Finding
from rigup.schemas.taken import DryRun, Ended


class Setting(Struct, frozen=True, kw_only=True):
    """A variable, at the three places where it can stand.

    Attributes:
        name: of the variable.
        configured: what the service's unit or a file of it gives; None where none does.
        source: the file that gives it; None for none.
        running: what the running server has; None where it has none, or where nobody could see.
        shell: what a login shell has, which a service never sees; None for nothing.
        state: in-force, not-taken-over (the server was not restarted, or another file wins), shell-only, running-only, or
            unknown where nobody could see what the server runs with.

    """

    name: str
    configured: str | None
    source: str | None
    running: str | None
    shell: str | None
    state: Literal["in-force", "not-taken-over", "shell-only", "running-only", "unknown"]


class Computes(Struct, frozen=True, kw_only=True):
    """A device on which the server's log says that it computes.

    Attributes:
        library: cpu, cuda, rocm, vulkan, metal …
        name: as the log names it.
        compute: the architecture that it names; "" for none.
        total: bytes that it counts on; None where it names none.
        available: bytes of them that it saw free; None where it names none.

    """

    library: str
    name: str
    compute: str
    total: int | None
    available: int | None


class Folder(Struct, frozen=True, kw_only=True):
    """Where models lie.

    Attributes:
        path: the folder; None where nobody knows whose it is.
        decided_by: the variable's name, or default.
        free: bytes on its disk; None where nobody could see.

    """

    path: str | None
    decided_by: Literal["OLLAMA_MODELS", "default"]
    free: int | None


class Planned(Struct, frozen=True, kw_only=True):
    """What `rigup fit` reckons for a model with the server's own settings.

    Attributes:
        context: tokens of all sequences together.
        total: bytes that it takes.
        layers: all of them, the output counted as one.
        gpu_layers: those of them for which devices have room.
        device_total: bytes that the devices take with these.
        needed: bytes that the devices would take with all of them.
        free: bytes of the devices that are free when nothing of ollama is loaded; None where nobody knows.

    """

    context: int
    total: int
    layers: int
    gpu_layers: int
    device_total: int
    needed: int
    free: int | None


class Loaded(Struct, frozen=True, kw_only=True):
    """A model that the server holds in memory now.

    Attributes:
        name: as ollama names it.
        size: as it prints it ("6.6 GB").
        on_gpu: percent of it on devices.
        context: tokens; None where this release does not tell.
        planned: what fit reckons; None where its file cannot be read.
        why: why the split is as it is, as a sentence; "" where all of it is on devices.

    """

    name: str
    size: str
    on_gpu: int
    context: int | None
    planned: Planned | None
    why: str


class Integrated(Struct, frozen=True, kw_only=True):
    """Graphics in the processor, whose memory is a part of the system's.

    Attributes:
        name: of it.
        carved_out: bytes that the firmware set aside for it; None where nobody knows.
        mappable: bytes of the system's memory that it may map besides; None where nobody knows.
        counted: bytes on which ollama counts by its log; None where that names none.
        usable: bytes of which a program that counts right makes use; None where nobody knows.

    """

    name: str
    carved_out: int | None
    mappable: int | None
    counted: int | None
    usable: int | None


class OllamaDoctor(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.ollama-doctor/1"):
    """What ollama runs with here, and what keeps it from the GPU.

    Attributes:
        verdict: healthy, degraded, broken, unknown; absent where there is no ollama.
        manager: what starts it: systemd, launchd, windows; none where it was started by hand or nothing tells.
        version: of the program; None where it could not be asked.
        running: whether the server runs; None where nobody could see.
        user: whom the service runs as; None for nobody known.
        settings: variables that decide what it does.
        devices: those on which its log says that it computes; empty where no log could be read.
        models: where models lie.
        loaded: models in memory.
        integrated: graphics in the processor.
        findings: the doctor's, as far as they touch ollama.
        unseen: what could not be looked at and what would show it, as sentences.

    """

    verdict: Literal["healthy", "degraded", "broken", "unknown", "absent"]
    manager: Literal["systemd", "launchd", "windows", "none"]
    version: str | None
    running: bool | None
    user: str | None
    settings: list[Setting]
    devices: list[Computes]
    models: Folder
    loaded: list[Loaded]
    integrated: list[Integrated]
    findings: list[Finding]
    unseen: list[str]


class OllamaSettings(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.ollama-configure/1"):
    """What the service would be given; nothing was changed.

    Attributes:
        verdict: nothing where it is given all of it already; by-hand where rigup does not write it on this system.
        variables: all that the drop-in gives, by name.
        by_hand: what to type or do on this system, a line each; empty where steps are rigup's to take.

    """

    verdict: Literal["nothing", "by-hand"]
    variables: dict[str, str]
    by_hand: list[str]


class ConfigureDryRun(DryRun, frozen=True, kw_only=True, tag_field="schema", tag="rigup.ollama-configure/1"):
    """What `rigup ollama configure` would run; nothing was changed."""


class ConfigureEnded(Ended, frozen=True, kw_only=True, tag_field="schema", tag="rigup.ollama-configure/1"):
    """How the run ended."""
