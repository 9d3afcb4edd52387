"""How people write down in which order a tool counts the cards: a line that names it, and numbered names below."""

from rigup.knowledge.gpus import one_gpu
from rigup.machine.kinds import Gpu
from rigup.machine.reader import Statements, reads
from rigup.machine.texts import Text

_SIGNS = r"[#> \t*/-]{0,10}"
_ROW = (
    _SIGNS
    + r"(?:GPU ?|cuda:|device )?\[?\d{1,2}\]?[ \t]?(?:[.:)=-]|->|=>)?[ \t]{1,4}(?:NVIDIA|GeForce|RTX|GTX|GT|Tesla|Quadro|TITAN|Titan)[\w ().+-]{1,60}"
)
_LIST = r"\n(?P<rows>(?:" + _ROW + r"[ \t]*(?:\n|\Z)){2,16})"
_NAMED = r"(?:'s)?(?: (?:order|numbering|list|ids?|indices|index|shows|says|lists|gives|output|sees|reports|enumerates)){0,2}[ \t`*]{0,4}:?[ \t*]{0,4}"
_TOOL = r"^" + _SIGNS + r"(?:(?:in|from|order of|order in) )?`?nvidia-smi(?: -L)?`?" + _NAMED + _LIST
_PROGRAM = (
    r"^" + _SIGNS + r"(?:(?:in|from|order of|order in) )?`?(?:[Pp]y[Tt]orch|torch|CUDA|cuda|deviceQuery|torch\.cuda)`?" + _NAMED + _LIST
)
_ONE = (
    r"^" + _SIGNS + r"(?:GPU ?|cuda:|device )?\[?(?P<index>\d{1,2})\]?[ \t]?(?:[.:)=-]|->|=>)?[ \t]{1,4}(?P<name>[A-Z][^\n]{2,62}?)[ \t]*$"
)


@reads(adds=(Gpu,), marks=("nvidia-smi", "orch", "CUDA", "cuda", "deviceQuery"), rank=-1)
def order_written_down(text: Text) -> Statements:
    """`# nvidia-smi order` and below it `# 0. GT 1030`."""
    for form, field in ((_TOOL, "nvml_index"), (_PROGRAM, "runtime_index")):
        if hit := text.first(form):
            for entry in text.each(_ONE):
                inside = hit.match.start("rows") <= entry.start < hit.match.end("rows")
                row = one_gpu(entry["name"]) if inside else None
                if row and row.vendor == "nvidia":
                    yield entry.states(Gpu, vendor="nvidia", name=row.name, **{field: int(entry["index"])})
