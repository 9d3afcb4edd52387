"""What people look for by name, and do not find: `lsmod | grep nvidia` and nothing below it."""

import re

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import UnlistedVendor, UnloadedModule, Variable
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.values import says
from rigup.machine.texts import Text

_GREP = r" *\| *(?:sudo )?[ez]?grep(?P<options>(?: +-{1,2}[\w=-]{1,20}){0,4}) +(?P<wish>'[^'\n]{1,100}'|\"[^\"\n]{1,100}\"|[^\s|'\"]{1,60})[ \t]*$"
_MODULES = r"^[^\n|]{0,80}\blsmod" + _GREP
_BUS = r"^[^\n|]{0,80}\blspci(?: +-{1,2}[\w=:-]{1,20}){0,4}" + _GREP
_VARIABLES = r"^[^\n|]{0,80}\b(?:env|printenv|export -p|set)" + _GREP
_ASSIGNED = lazy_regex(r"(?:declare -x |export )?([A-Za-z_]\w{0,80})=")
_PROMPT = lazy_regex(r"(?:\([^)\n]{1,40}\) ?)?(?:[\w.-]{1,40}@[\w.-]{1,60}[^\n$#]{0,80})?[$#%] ?\S|(?:PS )?[A-Z]:\\[^\n>]{0,100}>")
_OF_GPUS = (  # variables that decide how a program finds its GPU
    "CUDA_VISIBLE_DEVICES",
    "NVIDIA_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "HSA_OVERRIDE_GFX_VERSION",
    "LD_LIBRARY_PATH",
    "CUDA_HOME",
    "CUDA_DEVICE_ORDER",
    "ROCM_PATH",
    "ZE_AFFINITY_MASK",
    "ONEAPI_DEVICE_SELECTOR",
    "NCCL_SOCKET_IFNAME",
    "PYTORCH_CUDA_ALLOC_CONF",
)
_DEVICE = lazy_regex(r"[ \t]{0,8}(?:[0-9a-fA-F]{4}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7] |\t|--$|[ \t]+(?:Subsystem|Kernel|DeviceName)")
_MAKERS = {"nvidia": "nvidia", "10de": "nvidia", "amd": "amd", "radeon": "amd", "1002": "amd", "ati": "amd"}
_CLASSES = ("vga", "3d", "display", "vga compatible", "3d controller")  # with a maker: what neither finds is not there
_ROW = lazy_regex(r"[ \t]{0,8}[a-z][\w-]{1,60} +\d{3,10} +\d{1,6}(?:[ \t]|$)")
_COUNTS = lazy_regex(r" -[a-zA-Z]{0,6}c")  # grep -c prints how many there are
_NUMBER = lazy_regex(r"(?:\n[^\n$#>]{1,80}){0,2}\n[ \t]{0,8}(\d{1,4})[ \t]*(?:\n|\Z)")  # behind what the commands before it printed
_NAMES = ("nvidia", "amdgpu", "nouveau")
_MOST_LINES = 200


@reads(UnloadedModule, marks=("lsmod | grep", "lsmod |grep", "lsmod|grep", "lsmod | egrep"))
def grepped_modules(text: Text) -> Statements:
    """Each such question, with the rows below it as its answer."""
    for hit in text.each(_MODULES):
        words = re.split(r"\\?\|", hit["wish"].strip("'\"").lower())
        answer = _answer(text.body, hit.match.end(), _ROW)
        if _COUNTS.search(hit["options"]):
            number = _NUMBER.match(text.body, hit.match.end())
            answer = [] if number and number[1] == "0" else None
        for name in _NAMES:
            asked = any(word.strip("^$ ") and name.startswith(word.strip("^$ ")) for word in words)
            if asked and answer is not None and not any(line.split()[0].startswith(name) for line in answer):
                yield hit.states(UnloadedModule, name=name)


@reads(UnlistedVendor, marks=("lspci | grep", "lspci |grep", "lspci|grep", "lspci -nn | grep", "lspci -k | grep", "lspci -nnk | grep"))
def grepped_bus(text: Text) -> Statements:
    """`lspci | grep -i nvidia` and no device below it. Without -i the maker is written NVIDIA there."""
    for hit in text.each(_BUS):
        words = [word.strip("^$ ") for word in re.split(r"\\?\|", hit["wish"].strip("'\""))]
        makers = {_MAKERS.get(word.lower().partition("/")[0]) for word in words if word.lower() not in _CLASSES}
        blind = words[0] != "NVIDIA" and "i" not in hit["options"]
        answer = _answer(text.body, hit.match.end(), _DEVICE)
        if None not in makers and not blind and answer == []:
            for maker in sorted(filter(None, makers)):
                yield hit.states(UnlistedVendor, vendor=maker)


@reads(
    marks=("env | grep", "env |grep", "env|grep", "env | egrep", "set | grep", "export -p | grep"),
    adds=(Variable,),
    process="shell",
    rank=-1,
)
def grepped_variables(text: Text) -> Statements:
    """`env | grep CUDA` and the next prompt below it: what was asked for is not set there."""
    for hit in text.each(_VARIABLES):
        blind = "v" in hit["options"] or "^" in hit["wish"] or "$" in hit["wish"]
        words = [re.escape(word) for word in re.split(r"\\?\|", hit["wish"].strip("'\"")) if word]
        flags = re.IGNORECASE if "i" in hit["options"] else 0
        shown = _assigned(text.body, hit.match.end())
        if blind or shown is None:
            continue
        for name in _OF_GPUS:
            if name not in shown and any(re.search(word, name, flags) for word in words):
                yield hit.states(Variable, name=name, value=None)


_OF_A_SCRIPT = r"^[^\n]{0,80}?[$#%] ?(?:cat|e?grep|head|tail|less|sed)\b(?:'[^'\n]{1,100}'|\"[^\"\n]{1,100}\"|[^\n|;>'\"]){0,120}? (?P<file>[\w][\w./-]{0,80}\.(?:sbatch|slurm|batch|job|sh))[ \t]*$"
_EXPORTED = lazy_regex(r"[ \t]{0,8}(?:\d{1,4}[:-])?export ([A-Za-z_]\w{0,80})=([^\s#;]{0,200})")


@reads(marks=("\nexport ", ":export "), adds=(Variable,), process="shell", rank=-1)
def variables_of_a_script(text: Text) -> Statements:
    """`cat ft.sbatch`, and what the script sets, up to the next prompt."""
    for hit in text.each(_OF_A_SCRIPT):
        start = hit.match.end() + 1
        for line in text.body[start:].split("\n", _MOST_LINES)[:_MOST_LINES]:
            if _PROMPT.match(line.strip()) and not line.lstrip().startswith("#"):
                break
            if found := _EXPORTED.match(line):
                yield from says(text, Variable, start, name=found[1], value=found[2].strip("'\""), file=hit["file"])
            start += len(line) + 1


def _assigned(body: str, start: int) -> set[str] | None:
    """The names that were listed, up to the next prompt; None where something else comes, or nothing more."""
    names = set()
    for line in body[start:].split("\n", _MOST_LINES)[1:_MOST_LINES]:
        if row := _ASSIGNED.match(line):
            names.add(row[1])
        elif line.strip():
            return names if _PROMPT.match(line.strip()) else None
    return None


def _answer(body: str, start: int, row: re.Pattern[str]) -> list[str] | None:
    """Rows up to what is none; None where the text ends with the question: then the answer may be elsewhere."""
    rows: list[str] = []
    for line in body[start:].split("\n", _MOST_LINES)[1:_MOST_LINES]:
        if row.match(line):
            rows.append(line)
        elif line.strip():
            return rows
    return rows or None
