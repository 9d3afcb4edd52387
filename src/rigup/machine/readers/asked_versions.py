"""Answers to short questions, where question and answer were cut apart or stand in an unusual form: versions, process rows, memory's block."""

import re
from collections.abc import Iterator

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import Gpu, Package, TensorFlow, Torch
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.packages import kept
from rigup.machine.readers.values import Draft, says, size
from rigup.machine.texts import Text

_LOCAL = r"\+(?:cu\d{2,3}|cpu|rocm\d[\d.]{0,6}|xpu)"
_FULL = r"\d\.\d{1,2}\.\d{1,2}(?:\.post\d)?"
_ALONE = (
    r"^[ \t(]{0,4}['\"]?(?P<version>"
    + _FULL
    + _LOCAL
    + r")['\"]?[,\t ]{1,4}(?:(?:None|['\"]?\d{1,2}\.\d['\"]?)[,\t ]{1,4}){0,2}(?P<available>True|False)\)?[ \t]*$"
)


@reads(marks=("+cu1", "+cu9", "+cpu", "+rocm"), adds=(Torch,), rank=-1)
def version_and_truth(text: Text) -> Statements:
    """`2.9.0+cu130 False`: what somebody printed of torch, the question cut off."""
    if hit := text.first(_ALONE):
        yield hit.states(Torch, version=hit["version"], available=hit["available"] == "True")


_NAMES = r"torch|torchvision|torchaudio|xformers|triton|tensorflow|jax|jaxlib|onnxruntime|numpy|transformers|bitsandbytes|vllm"
_QUESTION = (
    r"^[^\n]{0,120}?(?P<asked>\b(?:"
    + _NAMES
    + r")\.__version__(?:[ ,;)]{1,6}(?:print\()?(?:"
    + _NAMES
    + r")\.__version__){0,5})[\"';) ]{0,6}[ \t]*\n(?P<answer>[^\n]{3,200}(?:\n[^\n]{3,60}){0,5})"
)
_VALUE = lazy_regex(r"(?<![\w.])(\d{1,2}\.\d{1,2}(?:\.\d{1,2})?(?:\.post\d|rc\d|a0)?(?:\+[a-z]{2,4}[\d.]{0,6})?)(?![\w.])")


@reads(marks=("orchvision.__version__", "orchaudio.__version__", "formers.__version__"), adds=(Package,), rank=-1)
def versions_asked_for(text: Text) -> Statements:
    """`>>> torch.__version__, torchvision.__version__` and the values in the same order below."""
    for hit in text.each(_QUESTION):
        names = re.findall(r"(\w+)\.__version__", hit["asked"])
        lines = hit["answer"].split("\n")
        values = _VALUE.findall(lines[0]) if len(names) == len(_VALUE.findall(lines[0])) else []
        for name, value in zip(names, values, strict=True) if len(values) == len(names) else ():
            if known := kept(name):
                yield from says(text, Package, hit.start, name=known, version=value, manager="pip")


_SHOWN = r"\bpip[\d.]{0,5} show (?P<name>torch|torchvision|torchaudio|tensorflow|xformers|jaxlib)\b[^\n]{0,60}\n(?:Name: [^\n]{1,60}\n)?Version: (?P<version>\d[\w.+]{2,30})[ \t]*$"


@reads(marks=("show torch", "show tensorflow", "show xformers", "show jaxlib"), adds=(Package, Torch), rank=-1)
def version_cut_out_of_show(text: Text) -> Statements:
    """`pip show torch | grep Version` and its one line."""
    for hit in text.each(_SHOWN):
        yield from says(text, Package, hit.start, name=hit["name"], version=hit["version"], manager="pip")


_COUNTED = r"list_(?:physical|logical)_devices\((?:['\"]GPU['\"])?\)[)\"' ]{0,3}(?:[:=>-]{1,3} ?| )\[(?P<all>[^\]\n]{0,400})\][ \t]*$"


@reads(marks=("_devices('GPU')", '_devices("GPU")'), adds=(TensorFlow,), rank=-1)
def tensorflow_devices_on_one_line(text: Text) -> Statements:
    """`tf.config.list_physical_devices('GPU') -> []`."""
    if hit := text.first(_COUNTED):
        yield hit.states(TensorFlow, gpus=hit["all"].count(":GPU:"))


_BANNER = r"\bPython-3\.\d{1,2}\.\d{1,2} torch-(?P<version>" + _FULL + r"(?:" + _LOCAL + r")?) (?P<device>CPU|CUDA:\d)"


@reads(marks=(" torch-",), adds=(Torch,), rank=-1)
def ultralytics_banner(text: Text) -> Statements:
    """`Ultralytics 8.2.0 Python-3.11.5 torch-2.3.0+cpu CPU (…)`: the build, and the device that it runs on."""
    if hit := text.first(_BANNER):
        refused = "Invalid CUDA" in text.body and "+cpu" in hit["version"]  # else it runs where it was meant to
        availability = {"available": not refused} if refused or hit["device"] != "CPU" else {}
        yield hit.states(Torch, version=hit["version"], **availability)


_CHECKS = r"^OS {10,24}\S[^\n]{0,120}\n(?:[A-Z][\w ]{1,15} {4,24}\S[^\n]{0,160}\n){2,12}?CUDA {10,24}(?P<cuda>None|\d{1,2}\.\d)[ \t]*$"


@reads(marks=("\nCUDA  ",), adds=(Torch,), rank=-1)
def ultralytics_checks(text: Text) -> Statements:
    """`yolo checks`: its line `CUDA` names torch's toolkit where torch sees a card, and None where it sees none."""
    if hit := text.first(_CHECKS):
        toolkit = {} if hit["cuda"] == "None" else {"cuda": hit["cuda"]}
        yield hit.states(Torch, available=bool(toolkit), **toolkit)


_SELF = r"^[ \t>*•-]{0,8}torch\.version\.(?P<what>cuda|hip)[ \t]{0,4}(?:[:=]{1,2}|->|=>)[ \t]{0,6}['\"]?(?P<value>None|\d{1,2}\.\d[\w.-]{0,30})['\"]?[ \t]*$"
_SEES = r"^[ \t>*•-]{0,8}(?:torch )?(?:cuda|CUDA)(?: is)?[ _](?:is_)?available(?:\(\))?[ \t]{0,4}(?:[?:=]{1,2}|->|=>)?[ \t]{1,6}(?P<value>True|False|true|false|no|yes)[ \t.,]*$"
_LENGTH = r"len\(tf\.config\.(?:experimental\.)?list_physical_devices\(['\"]GPU['\"]\)\)\)?[ \t]*\n(?:Out ?\[\d{1,4}\]: ?)?(?P<count>\d{1,2})[ \t]*$"


@reads(marks=("torch.version.", "uda available", "UDA available", "uda is available", "uda_available"), adds=(Torch,), rank=-2)
def torch_of_itself(text: Text) -> Statements:
    """`torch.version.cuda: None`, `cuda available False`: a question and its answer on one line."""
    for hit in text.each(_SELF):
        yield hit.states(Torch, **{hit["what"]: None if hit["value"] == "None" else hit["value"]})
    if hit_ := text.first(_SEES):
        yield hit_.states(Torch, available=hit_["value"].lower() in ("true", "yes"))


@reads(marks=("list_physical_devices",), adds=(TensorFlow,), rank=-1)
def tensorflow_devices_counted(text: Text) -> Statements:
    """`len(tf.config.list_physical_devices('GPU'))` and the number below."""
    if hit := text.first(_LENGTH):
        yield hit.states(TensorFlow, gpus=int(hit["count"]))


_PROCESS = r"^[ \t]{0,4}[|│] {1,8}(?P<index>\d{1,2}) {1,8}(?:(?:N/A|\d{1,3}) {1,8}){0,2}(?P<pid>\d{1,8}) {1,8}(?:C\+G|C|G|M\+C) {1,6}[^\n|│]{2,90}? {1,40}(?:\d{1,7}MiB|N/A) [|│]"


@reads(marks=("MiB |", "MiB │"), adds=(Gpu,), rank=-3)
def card_of_a_process(text: Text) -> Statements:
    """`|    0   N/A  N/A      1830      G   /usr/lib/xorg/Xorg    35MiB |`: nvidia-smi lists it on a card that it sees."""
    if text.first(r"^[ \t]{0,4}[|│] {1,6}\d{1,2} {1,4}(?:NVIDIA|Tesla|Quadro|GeForce|TITAN|RTX|GRID)"):
        return
    for index in sorted({int(hit["index"]) for hit in text.each(_PROCESS)})[:16]:
        hit = text.first(_PROCESS)
        if hit:
            yield hit.states(Gpu, vendor="nvidia", nvml_index=index, seen_by="nvidia-smi")


_BLOCK = (
    r"^[ \t]{0,8}FB Memory Usage[ \t]*\n(?P<rows>(?:[ \t]{1,16}(?:Total|Reserved|Used|Free) {1,40}: {1,4}\d{1,7} MiB[ \t]*(?:\n|\Z)){2,4})"
)
_SMALL_HEAD = r"^(?:GPU [0-9A-Fa-f]{8}:|[ \t]{0,8}Product Name)"


@reads(marks=("FB Memory Usage",), adds=(Gpu,), rank=-2)
def memory_block(text: Text) -> Statements:
    """The block of memory out of `nvidia-smi -q`, without the card's head: of one card that nobody names."""
    blocks = list(text.each(_BLOCK))
    if len(blocks) != 1 or text.first(_SMALL_HEAD):
        return
    rows = dict(re.findall(r"(\w+) {1,40}: {1,4}(\d{1,7}) MiB", blocks[0]["rows"]))
    draft = Draft(text, Gpu, blocks[0].start)
    draft.add("vendor", "nvidia")
    draft.add("seen_by", "nvidia-smi")
    draft.add("vram", size(rows.get("Total", ""), "m"))
    draft.add("memory_used", size(rows.get("Used", ""), "m"))
    yield from draft.facts("vendor", "seen_by")


_TABLE = r"^[ \t]{0,8}[│┃|] {1,4}(?P<name>[a-zA-Z][\w.-]{1,40}) {1,40}[│┃|] {1,4}(?P<version>\d[\w.+]{1,30}) {1,40}[│┃|]"


@reads(marks=("│ torch", "┃ torch", "| torch", "│ tensorflow", "| tensorflow", "│ nvidia-", "| nvidia-"), adds=(Package,), rank=-2)
def packages_in_a_table(text: Text) -> Iterator[Package]:
    """`│ torch │ 2.0.1+cpu │`: a list that was drawn as a table."""
    for hit in text.each(_TABLE):
        if known := kept(hit["name"]):
            yield from says(text, Package, hit.start, name=known, version=hit["version"], manager="pip")
