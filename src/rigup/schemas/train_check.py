"""`rigup train check --json`: what would go wrong with a training script under its batch script."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from rigup.schemas.container import Edit
from rigup.schemas.shared import Severity


class Quote(Struct, frozen=True, kw_only=True):
    """A line that a finding is told from.

    Attributes:
        file: as it was given, or its path from the script's folder.
        line: its number, from 1.
        text: the line.

    """

    file: str
    line: int
    text: str


class TrainFix(Struct, frozen=True, kw_only=True):
    """What mends a finding.

    Attributes:
        title: a sentence.
        lines: exact lines, or parts of them, of which one or all are to be written.
        edit: the change that makes it so; left out where it needs judgement.

    """

    title: str
    lines: list[str]
    edit: Edit | UnsetType = UNSET


class TrainFinding(Struct, frozen=True, kw_only=True):
    """Something that fails, is silently wrong, or wastes GPUs, hours or results.

    Attributes:
        cause: its id.
        severity: error where it cannot work or is silently wrong; warning where it wastes; note for what is worth knowing.
        file: where the change belongs.
        line: its line, from 1.
        title: a sentence.
        meaning: what it means and how it shows.
        evidence: lines that it is told from, its own first.
        fixes: what mends it.
        source: who says so.

    """

    cause: str
    severity: Severity
    file: str
    line: int
    title: str
    meaning: str
    evidence: list[Quote]
    fixes: list[TrainFix]
    source: str


class Start(Struct, frozen=True, kw_only=True):
    """How a script is started, as far as it can be told; what is not known is left out.

    Attributes:
        by: the programs in front of the script, the outermost first.
        line: of the command, in the batch script.
        nodes: on which it runs.
        tasks_per_node: copies that are started on a node.
        ranks_per_node: ranks on a node.
        gpus_per_node: GPUs that are asked for on a node.

    """

    by: list[str]
    line: int
    nodes: int | UnsetType = UNSET
    tasks_per_node: int | UnsetType = UNSET
    ranks_per_node: int | UnsetType = UNSET
    gpus_per_node: int | UnsetType = UNSET


class TrainCheck(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.train-check/1"):
    """What would go wrong with a training script under its batch script.

    Attributes:
        verdict: fails where there is an error, wastes where there are warnings alone, else clean.
        script: the training script.
        batch: the batch script; None where none was given.
        starts: each way in which the batch script starts it; none where it does not start it as far as can be seen.
        findings: errors first, then in the order of files and lines.
        fixed: how many of them were mended in the files.

    """

    verdict: Literal["clean", "wastes", "fails"]
    script: str
    batch: str | None
    starts: list[Start]
    findings: list[TrainFinding]
    fixed: int
