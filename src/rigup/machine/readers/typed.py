"""Variables as people set them in what they paste: a shell's line, PowerShell's, a program's, an engine's option."""

import re
from collections.abc import Iterator

from rigup.machine.kinds import Account, Variable
from rigup.machine.reader import Statements, reads
from rigup.machine.texts import Hit, Text

# Variables that decide how a GPU is found; their names tell that a text speaks of them.
_MARKS = (
    "HSA_OVERRIDE_GFX_VERSION",
    "_VISIBLE_DEVICES",
    "LD_LIBRARY_PATH",
    "CUDA_HOME",
    "CUDA_DEVICE_ORDER",
    "HSA_ENABLE_",
    "GPU_DEVICE_ORDINAL",
    "NCCL_",
    "PYTORCH_",
    "JAX_PLATFORM",
    "TORCH_BLAS_PREFER",
    "ROCM_PATH",
    "MIOPEN_",
    "HSA_XNACK",
    "TORCH_CUDA_ARCH_LIST",
)
_NAME = r"(?P<name>(?:HSA|HIP|ROCR|CUDA|ROCM|NCCL|RCCL|PYTORCH|TORCH|JAX|MIOPEN|GPU|NVIDIA|AMD|OLLAMA|LD)_[A-Z0-9_]{2,60})"
_VALUE = r"[\"']?(?P<value>[^\s\"'#;`\\]{0,400})[\"']?"
_PROMPT = r"^(?:[> \t]{0,4}[^\n$#>%]{0,100}[$#>%❯➜›] ?|[ \t>*-]{0,6}(?:(?:[\w./~-]{1,80}:)?(?:\d{1,4}: {0,4})?)?)"  # or what grep puts before a line of a file
_DEVICES = r"(?P<value>(?:\d{1,2}|GPU-)[\w,-]{0,120})"  # some: who hides all in a program means to
_FORMS = (
    _PROMPT + r"(?:export|declare -x|set -x|setenv|set -gx|sudo|env) {1,4}" + _NAME + r"[ =]" + _VALUE,  # a shell's own line
    r"(?:^|[>\s])set {1,4}\"?" + _NAME + r"=" + _VALUE,  # cmd
    r"(?:^|[>\s])setx {1,4}\"?" + _NAME + r" " + _VALUE,  # cmd, for good
    r"\$env:" + _NAME + r" ?= ?" + _VALUE,  # PowerShell
    r"os\.environ\[[\"']" + _NAME + r"[\"']\] ?= ?[\"'](?P<value>[^\"'\n]{0,200})[\"']",
    r"os\.(?:putenv|environ\.setdefault)\([\"']" + _NAME + r"[\"'], ?[\"'](?P<value>[^\"'\n]{0,200})[\"']\)",
    r"^[ \t]{0,12}ENV " + _NAME + r"[ =]" + _VALUE,  # a Dockerfile
    r"\bSys\.setenv\([\"']?" + _NAME + r"[\"']? ?= ?[\"']?" + _DEVICES,  # R
    r"\bENV\[\"" + _NAME + r"\"\](?: ?= ?|\n)\"" + _DEVICES + r"\"",  # Julia
    r"\bos\.(?:environ(?:\.get)?[\[(]|getenv\()[\"']" + _NAME + r"[\"'][\])]\)?\n[\"']" + _DEVICES + r"[\"']",  # asked of Python
    r"\b[sS]etenv\([\"']" + _NAME + r"[\"'], ?[\"']" + _DEVICES + r"[\"']",  # C, Go, MATLAB
    r"\bprocess\.env\.(?:" + _NAME + r") ?= ?[\"']" + _DEVICES + r"[\"']",  # Node
    r"[\"']" + _NAME + r"[\"'] ?: ?[\"']" + _DEVICES + r"[\"']",  # a setting of an editor, or a program's table
    r"^[ \t]{0,40}(?:- )?name: [\"']?" + _NAME + r"[\"']?[ \t]*\n[ \t]{0,40}value: [\"']?" + _VALUE,  # a cluster's manifest
)
_BEFORE = _PROMPT + r"(?P<all>(?:[A-Z][A-Z0-9_]{2,60}=\S{0,400} {1,4}){1,12})(?=[\w./~])"  # before a command
_OPTION = r"(?: -e| --env)[ =]" + _NAME + r"=" + _VALUE
_ARCHES = "TORCH_CUDA_ARCH_LIST"
_CODE = r"\d{1,2}\.\d[af]?(?:\+PTX)?"


@reads(marks=_MARKS, adds=(Variable,), process="shell")
def typed_variables(text: Text) -> Statements:
    """`export HSA_OVERRIDE_GFX_VERSION=10.3.0` and its kin."""
    for form in _FORMS:
        for hit in text.each(form):
            if hit["name"] != _ARCHES:
                yield hit.states(Variable, **hit.found())
    for hit in text.each(_BEFORE):
        for match in re.finditer(_NAME + "=" + _VALUE, hit["all"]):
            if match["name"] != _ARCHES:
                yield hit.states(Variable, name=match["name"], value=match["value"])
    for hit in text.each(r"^[^\n]{0,100}\b(?:docker|podman|nerdctl)\b[^\n]{0,40} run\b[^\n]{0,1500}"):
        yield from _options(hit)
    for hit in text.each(r"^(?:[^\n$#>%]{0,100}[$#>%❯➜] ?)?unset (?P<name>[A-Z_]{3,60})[ \t]*$"):
        yield hit.states(Variable, name=hit["name"], value=None)


def _options(command: Hit) -> Iterator[Variable]:
    """`-e NAME=value`: what a container's programs get."""
    for match in re.finditer(_OPTION, command.match[0]):
        variable = command.states(Variable, name=match["name"], value=match["value"])
        variable.place = variable.place._replace(world=variable.place.world or "container", process="")
        yield variable


@reads(marks=(_ARCHES,), adds=(Variable,), process="shell")
def architectures_asked_of_a_build(text: Text) -> Statements:
    """`TORCH_CUDA_ARCH_LIST="7.5;8.6+PTX" pip install .`: a list has spaces and semicolons in it; where several were tried, none counts."""
    hits = list(
        text.each(_ARCHES + r"[\"'\]]{0,3}(?: ?[=,] ?| )[\"']?(?P<value>" + _CODE + r"(?:[ ;,]{1,2}" + _CODE + r"){0,20})\b(?![;,])")
    )
    if len({hit["value"] for hit in hits}) == 1:
        yield hits[0].states(Variable, name=_ARCHES, value=hits[0]["value"])


@reads(marks=("roups\n", "groups "), adds=(Account,), process="shell")
def group_names(text: Text) -> Statements:
    """`groups` and the line that it printed: names alone, the person's own before a colon."""
    for hit in text.each(r"^(?:[^\n$#>%]{0,100}[$#>%❯➜] {0,3})groups[ \t]*\n(?P<names>[a-z_\[][^\n:]{1,500})$"):
        yield hit.states(Account, groups=re.findall(r"[\w.-]+", hit["names"]))
    for hit in text.each(r"^(?:[^\n$#>%]{0,100}[$#>%❯➜] {0,3})groups (?P<user>[\w.-]{1,32})[ \t]*\n(?P=user) : (?P<names>[^\n:]{1,500})$"):
        yield hit.states(Account, user=hit["user"], groups=re.findall(r"[\w.-]+", hit["names"]))
