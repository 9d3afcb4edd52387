"""What people typed and were answered: Python prompts, version lines, `echo` of a variable."""

import re

from rigup.knowledge.chips import isa_of_capability
from rigup.machine.kinds import Cpu, Driver, Gpu, Platform, PythonEnv, TensorFlow, Toolkit, Torch, Variable
from rigup.machine.reader import Statements, reads
from rigup.machine.texts import Hit, Text

# An answer follows on the next line, after Out[1]:, or as a comment behind the question.
_ANSWER = r"[^\n#]{0,40}?(?:[ \t]*(?:#|=>|->|→)[ \t]*|[ \t]*\n(?:[ \t]*\n)?[ \t]*(?:Out ?\[\d{1,4}\]: ?)?`{0,3})"
_VERSION = r"v?(?P<value>\d{1,4}\.\d{1,3}(?:\.\d{1,3})?(?:\.?(?:dev|post|rc|a|b)\d{0,8})?(?:\+[\w.]{1,40})?)"
_VARIANT = r"[ \t]*(?:\([^)\n]{0,60}\))?[ \t]*$"


def _answers(text: Text, question: str, answer: str) -> list[Hit]:
    return list(text.each(question + _ANSWER + answer))


def _truth(word: str) -> bool:
    return word.lower() == "true"


@reads(adds=(Torch, Gpu), marks=("torch.",), rank=0)
def torch_answers(text: Text) -> Statements:
    """`>>> torch.cuda.is_available()` and its like, with what came back."""
    for hit in _answers(text, r"torch\.__version__", r"['\"]?" + _VERSION + r"['\"]?[ \t]*(?:$|#)"):
        yield hit.states(Torch, version=hit["value"])
    for hit in _answers(text, r"torch\.cuda\.is_available\(\)", r"(?P<value>[Tt]rue|[Ff]alse)\b"):
        yield hit.states(Torch, available=_truth(hit["value"]))
    for hit in text.each(r"^[ \t>*-]{0,6}torch\.cuda\.is_available\(\)[ \t]{0,4}[:=]{1,2}[ \t]{1,4}(?P<value>True|False)[ \t]*$"):
        yield hit.states(Torch, available=_truth(hit["value"]))
    for toolkit in ("cuda", "hip"):
        for hit in _answers(text, r"torch\.version\." + toolkit, r"['\"]?(?P<value>None|\d{1,2}\.\d[\w.+-]{0,20})['\"]?[ \t]*(?:$|#)"):
            yield hit.states(Torch, **{toolkit: None if hit["value"] == "None" else hit["value"]})
    for hit in _answers(text, r"torch\.cuda\.get_arch_list\(\)", r"\[(?P<value>[^\]\n]{0,400})\]"):
        yield hit.states(Torch, code=re.findall(r"\w+", hit["value"]))
    for hit in _answers(text, r"torch\.cuda\.device_count\(\)", r"(?P<value>\d{1,3})[ \t]*(?:$|#)"):
        yield hit.states(Torch, devices=int(hit["value"]))
    for hit in _answers(text, r"torch\.cuda\.get_device_name\([^)\n]{0,20}\)", r"['\"](?P<value>[^'\"\n]{3,80})['\"]"):
        yield hit.states(Gpu, name=hit["value"])
    for hit in _answers(text, r"torch\.cuda\.get_device_capability\([^)\n]{0,20}\)", r"\((?P<major>\d{1,2}), ?(?P<minor>\d)\)"):
        yield hit.states(Gpu, vendor="nvidia", isa=f"sm_{hit['major']}{hit['minor']}")


@reads(adds=(TensorFlow,), marks=("tf.", "ensorFlow", "ensorflow"), rank=0)
def tensorflow_answers(text: Text) -> Statements:
    """`tf.test.is_built_with_cuda()` and its like."""
    for hit in _answers(
        text,
        r"tf\.(?:test\.is_buil[dt]_with_cuda\(\)|sysconfig\.get_build_info\(\)\[['\"]is_cuda_build['\"]\])",
        r"(?P<value>[Tt]rue|[Ff]alse)\b",
    ):
        yield hit.states(TensorFlow, built_with_cuda=_truth(hit["value"]))
    for hit in _answers(text, r"tf\.(?:__version__|version\.VERSION)", r"['\"]?" + _VERSION + r"['\"]?[ \t]*(?:$|#)"):
        yield hit.states(TensorFlow, version=hit["value"])
    for hit in _answers(text, r"tf\.config\.(?:experimental\.)?list_physical_devices\(['\"]GPU['\"]\)", r"(?P<value>\[[^\n]{0,400})"):
        yield hit.states(TensorFlow, gpus=hit["value"].count("PhysicalDevice("))
    if asked := text.first(r"^[ \t>*-]{0,6}(?:Is )?GPUs?(?: is)? [Aa]vailable[ \t:?]{1,6}\[\][ \t]*$"):
        yield asked.states(TensorFlow, gpus=0)
    for hit in text.each(r"^[ \t>*-]{0,6}[Tt]ensor[Ff]low(?:[ -][Vv]ersion)?[ \t]{0,20}[:=]{0,2}[ \t]{1,20}" + _VERSION + _VARIANT):
        yield hit.states(TensorFlow, version=hit["value"])


@reads(
    adds=(Torch,),
    marks=(
        "orch version",
        "orch_version",
        " torch-",
        "torch:",
        "Torch:",
        "torch)",
        "+cu",
        "+cpu",
        "+rocm",
        "torch ",
        "Torch ",
        "arch list",
        "arch_list",
    ),
    rank=0,
)
def torch_version_lines(text: Text) -> Statements:
    """`PyTorch: 2.8.0+cu128`, `torch version 2.0.1+cpu`: a line that says nothing else."""
    for hit in text.each(
        r"^[ \t>*|-]{0,6}(?:[Pp]y)?[Tt]orch(?:[ _-][Vv]ersion)?[ \t|]{0,20}[:=]{0,2}[ \t|]{1,20}" + _VERSION + r"[ \t|]*" + _VARIANT
    ):
        yield hit.states(Torch, version=hit["value"])
    for hit in text.each(
        r"\bPython-\d\.\d{1,2}\.\d{1,3} torch-(?P<value>\d{1,4}\.\d{1,3}\.\d{1,3}(?:\+[\w.]{1,40})?)(?:[ \t]|$)"
    ):  # ultralytics' head line
        yield hit.states(Torch, version=hit["value"])
    for hit in text.each(r"^[ \t>*-]{0,6}CUDA \((?:via|used by|in|from) (?:py)?torch\)[: \t]{1,6}" + _VERSION):
        yield hit.states(Torch, cuda=hit["value"])
    for hit in text.each(
        r"(?:\A\s{0,20}|^[ \t]{0,4}[-*] )(?P<value>\d\.\d{1,2}\.\d{1,2}(?:\.dev\d{8})?\+(?:cu\d{2,3}|cpu|rocm[\d.]{1,6}))(?:\s{0,20}\Z|[ \t]*$)"
    ):
        yield hit.states(Torch, version=hit["value"])
    # what a script prints first, and what it calls the list of its own code
    for hit in text.each(
        r"^[^\n]{0,120}\bpython[\d.]{0,4}(?:\.exe)? [^\n]{1,160}\n(?P<value>\d\.\d{1,2}\.\d{1,2}\+(?:cu\d{2,3}|cpu|rocm[\d.]{1,6}))[ \t]*$"
    ):
        yield hit.states(Torch, version=hit["value"])
    for hit in text.each(r"^[ \t]{0,4}(?:supported )?arch(?:itecture)?s?(?:[ _]list)?[ \t]?[:=][ \t]{0,4}\[(?P<value>[^\]\n]{4,400})\]"):
        if code := re.findall(r"(?:sm|compute)_\d{2,3}[af]?|gfx[0-9a-f]{3,4}", hit["value"]):
            yield hit.states(Torch, code=code)


@reads(adds=(Gpu, Driver), marks=("apability ", "apability: ", "river: ", "river version", "river Version", "river ="), rank=0)
def card_and_driver_lines(text: Text) -> Statements:
    """`GPU: NVIDIA GeForce GTX 1050 (compute capability 6.1)`, `Driver: 550.163.01`."""
    card = r"^[ \t>*|-]{0,6}GPU[ \t\w]{0,12}[:=][ \t]{0,20}(?:\d{1,2} ?x ?)?(?P<name>[^\n(]{3,60}?)[ \t]{0,4}\((?:compute )?capability[: ]{1,3}(?P<capability>\d{1,2}\.\d)\)"
    for hit in text.each(card):
        if isa := isa_of_capability(hit["capability"]):
            yield hit.states(Gpu, vendor="nvidia", name=hit["name"], isa=isa)
    for hit in text.each(
        r"^[ \t>*|-]{0,6}(?:NVIDIA |Nvidia |nvidia )?[Dd]river(?: [Vv]ersion)?[ \t]{0,10}[:=][ \t]{0,20}(?P<version>\d{3}\.\d{2,3}(?:\.\d{2})?)[ \t]*$"
    ):
        yield hit.states(Driver, vendor="nvidia", version=hit["version"])


@reads(adds=(PythonEnv,), marks=("ython ",), rank=0)
def python_banner(text: Text) -> Statements:
    """The banner of an interpreter, or `python --version`."""
    banner = r"^Python (?P<version>\d\.\d{1,2}\.\d{1,3})[^\n]{0,120}(?:\n\[|\[(?:GCC|Clang|MSC))[^\n]{0,120}\bon (?:linux|win32|darwin)"
    for hit in text.each(banner):
        yield hit.states(PythonEnv, version=hit["version"])
    for hit in text.each(
        r"^[^\n]{0,120}[Pp]ython[\d.]{0,5}(?:\.exe)? +(?:--version|-V|-VV)[ \t]*(?:\n[ \t]*)?Python (?P<version>\d\.\d{1,2}\.\d{1,3})"
    ):
        yield hit.states(PythonEnv, version=hit["version"])
    for hit in text.each(
        r"^[ \t>*|-]{0,6}Python(?: [Vv]ersion)?[ \t]{0,10}[:=]?[ \t]{1,20}(?P<version>\d\.\d{1,2}(?:\.\d{1,3})?)" + _VARIANT
    ):
        yield hit.states(PythonEnv, version=hit["version"])


@reads(adds=(Variable,), marks=("echo $", 'echo "$', "printenv ", "echo %"), process="shell", rank=0)
def echoed(text: Text) -> Statements:
    """`echo $LD_LIBRARY_PATH` and the line that it printed."""
    for hit in text.each(
        r"(?:[$#>%] ?|^)(?:echo \"?\$\{?|printenv |echo %)(?P<name>[A-Za-z_]\w{2,60})[}%\"]{0,2}[ \t]*\n(?P<value>[^\n]{0,4000})"
    ):
        value = hit["value"].strip()
        prompt = re.match(r"(?:\([^)\n]{1,40}\) ?)?(?:\S{1,60}[$#>] |\$ |[A-Z]:\\[^>\n]{0,200}>)", value)
        yield hit.states(Variable, name=hit["name"], value=None if not value or prompt else value)


@reads(
    adds=(Platform,),
    marks=(
        "\\site-packages\\",
        ":\\Users\\",
        ":\\Windows\\",
        "PS C:\\",
        "PS D:\\",
        "PS E:\\",
        'File "',
        "Driver-Model",
        "TCC/WDDM",
        "_Time_20",
    ),
    rank=0,
)
def windows_signs(text: Text) -> Statements:
    """What only Windows prints: paths on a drive, nvidia-smi's column of driver models, a time zone's name in nvcc's."""
    signs = (
        r"(?:File \"|^)[A-Za-z]:\\[^\n\"<>|]{0,300}\\site-packages\\",
        r"^[ \t]{1,8}File \"[A-Za-z]:\\[^\n\"<>|]{1,300}\.pyw?\", line \d",
        r"^(?:\([^)\n]{1,60}\) ?)?(?:PS )?[A-Za-z]:\\[^\n>]{0,200}>",
        r"^\| +GPU +Name +(?:TCC/WDDM|Driver-Model)",
        r"^Built on \w{3}_\w{3}[^\n]{0,40}_(?:Standard|Daylight|Summer)_Time_20\d\d",
    )
    if hit := next((found for sign in signs if (found := text.first(sign))), None):
        yield hit.states(Platform, system="windows")


@reads(adds=(Cpu,), marks=("Flags: ",), rank=0)
def lscpu_flags(text: Text) -> Statements:
    """lscpu's lines of which processor it is, and what that can do; collect_env ends with the same."""
    for hit in text.each(r"^[> \t]*Model name: {1,40}(?P<model>[^\s][^\n]{2,80}?)[ \r]{0,4}$"):
        yield hit.states(Cpu, model=hit["model"])
    for hit in text.each(r"^[> \t]*Flags: {1,40}(?P<flags>fpu [a-z0-9_ ]{40,6000})$"):
        yield hit.states(Cpu, flags=hit["flags"].split())


_FORM = (
    r"^(?:#{2,5} |[-*] \**|\*\*|(?=[^\n:]{10,60}: \S))(?P<key>Tensor[Ff]low [Vv]ersion|OS [Pp]latform and [Dd]istribution|Python [Vv]ersion|GPU model and memory|CUDA/cuDNN version)"
    r"[^\n:]{0,40}?(?:\**:\**[ \t]{1,4}|[ \t]*\n\s{0,4})(?P<value>[^\s#_*][^\n]{0,200})"
)


@reads(
    adds=(TensorFlow, Platform, PythonEnv, Gpu, Toolkit),
    marks=("GPU model and memory", "OS Platform and Distribution", "OS platform and distribution"),
    rank=0,
)
def issue_form(text: Text) -> Statements:
    """TensorFlow's form for reports: a heading and its answer below, or `- OS Platform and Distribution: Windows 10`."""
    answers = {hit["key"].lower(): hit for hit in reversed(list(text.each(_FORM)))}
    version = r"(?<![\d.])(\d{1,2}\.\d{1,2}(?:\.\d{1,3})?)"
    if (hit := answers.get("tensorflow version")) and (found := re.findall(version, hit["value"])):
        yield hit.states(TensorFlow, version=found[-1])
    if (hit := answers.get("python version")) and (found := re.findall(version, hit["value"])):
        yield hit.states(PythonEnv, version=found[0])
    hit = answers.get("os platform and distribution")
    if (
        hit
        and re.search(r"(?i)windows|\bwin ?(?:10|11|7|8)\b(?!.{0,40}(?:WSL|Linux|Ubuntu))", hit["value"])
        and not re.search(r"(?i)\bWSL|Linux|Ubuntu", hit["value"])
    ):
        yield hit.states(Platform, system="windows")
    if (hit := answers.get("gpu model and memory")) and re.search(
        r"(?i)nvidia|geforce|(?<![a-z])(?:RTX|GTX|Tesla|Quadro|GRID)(?![a-z])|\b[1-5]0[5-9]0 ?ti\b", hit["value"]
    ):
        yield hit.states(Gpu, vendor="nvidia")
    if (hit := answers.get("cuda/cudnn version")) and (
        release := re.match(r"(?:CUDA[^\d\n]{0,40}|Cuda compilation tools, release )?v?(\d{1,2}\.\d{1,2})\b", hit["value"])
    ):
        yield hit.states(Toolkit, name="cuda", version=release[1])
