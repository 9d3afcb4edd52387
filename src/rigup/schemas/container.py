"""`rigup container --json`: the command that starts a container, and what is wrong with files that describe one."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType, field

from rigup.schemas.plan import ServedDevice
from rigup.schemas.shared import Severity, Step


class From(Struct, frozen=True, kw_only=True):
    """A value that is not written down.

    Attributes:
        from_: the variable of the caller that holds it.

    """

    from_: str = field(name="from")


class Reason(Struct, frozen=True, kw_only=True):
    """Why something stands in a command.

    Attributes:
        part: words of the command.
        why: a sentence.
        source: who says so.

    """

    part: list[str]
    why: str
    source: str


class Warned(Struct, frozen=True, kw_only=True):
    """What a person ought to know before the command is run.

    Attributes:
        cause: its id, as `rigup explain` takes it, or one that containers alone have.
        text: a sentence.

    """

    cause: str
    text: str


class Written(Struct, frozen=True, kw_only=True):
    """A file.

    Attributes:
        path: where it is to lie, from the working folder.
        text: what stands in it.

    """

    path: str
    text: str


class Contains(Struct, frozen=True, kw_only=True):
    """What is in an image, as far as its name and the tables tell.

    Attributes:
        cuda: the release of CUDA.
        rocm: the release of ROCm.
        torch: the release of torch.
        python: the version of its Python.
        isas: architectures that it has code for.

    """

    cuda: str | UnsetType = UNSET
    rocm: str | UnsetType = UNSET
    torch: str | UnsetType = UNSET
    python: str | UnsetType = UNSET
    isas: list[str] | UnsetType = UNSET


class Container(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.container/1"):
    """The command that starts a container on a machine.

    Attributes:
        verdict: ready where the command works as it is, possible after the steps, else impossible.
        engine: what runs it.
        image: as it stands in the command.
        image_contains: what is in it.
        argv: the command, each word its own; where there are files, what starts that which they hold.
        exports: variables that are set for the engine itself, in front of the command.
        environment: variables of the program that are seen to, as it finds them.
        files: that hold the container, where a file was asked for.
        because: why each option is there that depends on the machine.
        warnings: what a person ought to know before.
        devices: each device of the machine with whether it is served.
        steps: what makes a possible command work, in order.

    """

    verdict: Literal["ready", "possible", "impossible"]
    engine: str
    image: str
    image_contains: Contains
    argv: list[str]
    exports: dict[str, str | From]
    environment: dict[str, str | From]
    files: list[Written]
    because: list[Reason]
    warnings: list[Warned]
    devices: list[ServedDevice]
    steps: list[Step]


class Edit(Struct, frozen=True, kw_only=True):
    """A change of a file.

    Attributes:
        line: the first and the last line that it replaces, from 1.
        text: what comes in their place; None takes them away.

    """

    line: list[int]
    text: str | None


class LintFix(Struct, frozen=True, kw_only=True):
    """What mends a finding.

    Attributes:
        title: a sentence.
        edit: the change that makes it so; left out where it needs judgement.

    """

    title: str
    edit: Edit | UnsetType = UNSET


class LintFinding(Struct, frozen=True, kw_only=True):
    """Something in a file that fails, works worse or opens the machine.

    Attributes:
        cause: the id of its rule.
        severity: error where the build or the work fails, or a secret leaves; warning where it works worse; note for what is worth knowing.
        file: the file it is in.
        line: the first and the last line, from 1.
        title: a sentence.
        evidence: what stands in the file, and rows of tables.
        fixes: what mends it.

    """

    cause: str
    severity: Severity
    file: str
    line: list[int]
    title: str
    evidence: list[str]
    fixes: list[LintFix]


class ContainerLint(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.container-lint/1"):
    """What is wrong with files that describe containers.

    Attributes:
        files: that were read.
        findings: in the order of the files and lines.
        fixed: how many of them were mended in the files.

    """

    files: list[str]
    findings: list[LintFinding]
    fixed: int
