"""`rigup plan --json`: what should be there, and the steps that lead to it."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType, field

from rigup.schemas.shared import DeviceState, Hardware, Step


class Place(Struct, frozen=True, kw_only=True):
    """The environment that is planned for.

    Attributes:
        manager: what holds it.
        path: its folder, or the name of its image.
        python: the version of its Python, major and minor.
        system: the operating system that it is on ("linux", "windows", "macos").
        channels: of conda, in the order in which they are asked.
        installed: names of the packages that it holds already.
        image: the container image beneath, where it is one.

    """

    manager: str
    path: str
    python: str
    system: str
    channels: list[str]
    installed: list[str]
    image: str | UnsetType = UNSET


class Package(Struct, frozen=True, kw_only=True):
    """A package of the set that a resolver found; what nobody told is left out.

    Attributes:
        name: in its canonical form.
        version: exact, with its local part.
        index: the index that it is bound to.
        url: where its file lies.
        sha256: of the file.
        size: bytes of the file.
        disk: bytes on the disk of what it becomes.
        sources: bytes of the Python files among that.
        built: whether it is built where it is installed, for there is no wheel.

    """

    name: str
    version: str
    index: str | UnsetType = UNSET
    url: str | UnsetType = UNSET
    sha256: str | UnsetType = UNSET
    size: int | UnsetType = UNSET
    disk: int | UnsetType = UNSET
    sources: int | UnsetType = UNSET
    built: bool | UnsetType = UNSET


class Resolution(Struct, frozen=True, kw_only=True):
    """The whole set of packages, as a resolver found it.

    Attributes:
        by: the resolver and its version; None where nobody was there to ask.
        whole: whether every package of the set is known, with its file.
        because: what of it is not resolved, and why, as sentences.
        refused: the resolver's own words where it says that the set cannot be had; else None.
        packages: the set, by name.

    """

    by: str | None
    whole: bool
    because: list[str]
    refused: str | None
    packages: list[Package]


class Change(Struct, frozen=True, kw_only=True):
    """What must change outside the environment.

    Attributes:
        change: what ("nvidia-driver", "windows-driver", "amdgpu", "rocm", "kernel", "groups", "container-toolkit", "os" …).
        from_: what is there; None for nothing.
        to: what is to be there.
        why: one sentence.

    """

    change: str
    from_: str | None = field(name="from")
    to: str
    why: str


class ServedDevice(Hardware, frozen=True, kw_only=True):
    """A device, and whether the plan serves it.

    Attributes:
        index: its position among the machine's devices.
        served: whether the environment will compute on it.
        state: on-trial where that takes an override or a build that nobody has tried.
        because: why, as a sentence.

    """

    index: int
    served: bool
    state: DeviceState
    because: str


class TurnedDown(Struct, frozen=True, kw_only=True):
    """Builds that were not taken.

    Attributes:
        candidate: one build, or a range of them.
        because: why, as a sentence.
        source: the table or rule that says so; "" for none.

    """

    candidate: str
    because: str
    source: str


class Mended(Struct, frozen=True, kw_only=True):
    """A finding of the doctor that steps of the plan mend.

    Attributes:
        cause: its id.
        title: one line.
        steps: ids of the steps that mend it.

    """

    cause: str
    title: str
    steps: list[str]


class Cost(Struct, frozen=True, kw_only=True):
    """What is still to be paid.

    Attributes:
        download_bytes: what comes over the network, as far as the tables know it.
        disk_bytes: what it becomes on the disk.
        exact: whether all of it was measured.
        not_counted: names of what nobody has measured.
        restarts: how many.
        root: whether a step needs root.
        link: the speed that was given, in bits a second; None where nobody said.
        seconds: that the download takes on that link; None without one.

    """

    download_bytes: int
    disk_bytes: int
    exact: bool
    not_counted: list[str]
    restarts: int
    root: bool
    link: int | None
    seconds: int | None


class Plan(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.plan/1"):
    """What should be there, and the steps that lead to it.

    Attributes:
        verdict: ready where nothing is left to do, possible where the steps lead there, else impossible.
        wish: what was asked for, as understood.
        environment: what is planned for.
        packages: exact versions by name, extras in the name; a package with an extra stands under its plain name too.
        requirements: what was asked for beside, which the tables do not know.
        resolution: the whole set; None where no resolver was asked.
        indexes: URLs in the order in which they are asked.
        variables: that the environment needs, with their values.
        system: what must change outside the environment.
        devices: each with whether it is served, also where the wish is impossible.
        turned_down: newest first.
        mends: findings of the doctor that the steps mend.
        smallest_change: what would make the whole wish possible, as a sentence; None where nothing is known or needed.
        others: plans for devices that this one leaves out, in environments of their own.
        warnings: what a person ought to know before, as sentences.
        assumed: what was not known and was taken for granted, as sentences.
        cost: what is still to be paid.
        steps: in the order in which they are taken.

    """

    verdict: Literal["ready", "possible", "impossible"]
    wish: list[str]
    environment: Place
    packages: dict[str, str]
    requirements: list[str]
    resolution: Resolution | None
    indexes: list[str]
    variables: dict[str, str]
    system: list[Change]
    devices: list[ServedDevice]
    turned_down: list[TurnedDown]
    mends: list[Mended]
    smallest_change: str | None
    others: "list[Plan]"
    warnings: list[str]
    assumed: list[str]
    cost: Cost
    steps: list[Step]


class NotUnderstood(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.plan/1"):
    """What is said of a machine that was told in words which lack something: nothing is promised.

    Attributes:
        verdict: always impossible.
        wish: what was asked for, as it was given.
        smallest_change: what has to be told, as a sentence.
        packages: always empty.
        requirements: always empty.
        indexes: always empty.
        variables: always empty.
        system: always empty.
        devices: always empty.
        turned_down: always empty.
        steps: always empty.

    """

    verdict: Literal["impossible"] = "impossible"
    wish: list[str]
    smallest_change: str
    packages: dict[str, str] = {}
    requirements: list[str] = []
    indexes: list[str] = []
    variables: dict[str, str] = {}
    system: list[Change] = []
    devices: list[ServedDevice] = []
    turned_down: list[TurnedDown] = []
    steps: list[Step] = []
