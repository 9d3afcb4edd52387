"""What is asked of a Slurm scheduler, and what the launcher inside the job was told.

`#SBATCH` lines, `srun`, `sbatch` and `salloc` as typed, lists of such options, `scontrol show job`, the
job's own SLURM_* variables; Lightning's and torchrun's numbers, and what their ranks say of themselves.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Any

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import JobRequest, Launch, Variable
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.job_variables import number
from rigup.machine.readers.values import Draft
from rigup.machine.texts import Hit, Text

_SHORT = {"N": "nodes", "n": "ntasks", "c": "cpus-per-task", "G": "gpus", "C": "constraint", "p": "partition", "J": "job-name"}
# Options that take a value, as far as one must be told from the program behind them.
_VALUED = lazy_regex(
    r"(?:nodes|n?tasks(?:-per-\w{3,6})?|gpus(?:-per-\w{4,6})?|gres|gpu-bind|accel-bind|constraint|partition|job-name|time|account|qos|"
    r"mem(?:-per-\w{3,4})?|cpus-per-\w{3,4}|nodelist|exclude|output|error|chdir|export|mail-\w{4}|hint|distribution|mpi|jobid|"
    r"reservation|signal|begin|dependency|licenses|tres-per-\w{3,6}|cpu-bind|container-\w{4,8}|input|threads-per-core|array|comment)"
)
_GRES = lazy_regex(r"(?:gres[:/])?gpu(?::(?P<model>[A-Za-z][\w.-]{0,40}))?(?:[:=](?P<count>\d{1,4}))?(?:\([^)]{0,40}\))?")


def _gres(value: str) -> int | None:
    """`gpu:a100:4,shard:2`: the GPUs of a list of generic resources; `gpu` alone is one."""
    matches = [part for part in (_GRES.fullmatch(item) for item in value.split(",")) if part]
    return sum(int(part["count"] or 1) for part in matches) if matches else None


def _single_task(value: str) -> int | None:
    """One task a GPU binds one GPU to each task."""
    return 1 if value == "1" else None


def _nearest(letters: str) -> str | None:
    """srun's older option: a `g` binds each task to the GPUs closest to its processors."""
    return "closest" if re.fullmatch(r"[a-z]{0,3}g[a-z]{0,3}", letters) else None


_OPTIONS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "nodes": ("nodes", number),
    "ntasks": ("tasks", number),
    "tasks": ("tasks", number),
    "ntasks-per-node": ("tasks_per_node", number),
    "tasks-per-node": ("tasks_per_node", number),
    "cpus-per-task": ("cpus_per_task", number),
    "gpus": ("gpus", number),
    "gpus-per-node": ("gpus_per_node", number),
    "gpus-per-task": ("gpus_per_task", number),
    "ntasks-per-gpu": ("gpus_per_task", _single_task),
    "gres": ("gpus_per_node", _gres),
    "gpu-bind": ("binding", str),
    "accel-bind": ("binding", _nearest),
    "constraint": ("constraint", str),
    "tres-per-task": ("gpus_per_task", _gres),
    "tres-per-node": ("gpus_per_node", _gres),
    "partition": ("partition", str),
    "job-name": ("name", str),
}
_ASKS = lazy_regex(r"gpus?(?:-per-\w{4,6})?|gres|ntasks-per-gpu|tres-per-\w{4,6}")


def options(words: list[str]) -> Iterator[tuple[str, str]]:
    """Long names and values of a command's options, up to the program that it runs."""
    left = list(words)
    while left and left[0].startswith("-") and left[0] not in ("-", "--"):
        word = left.pop(0)
        name, equals, value = word.lstrip("-").partition("=")
        if not word.startswith("--"):
            name, value, equals = _SHORT.get(word[1:2], word[1:2]), word[2:].lstrip("="), "=" if word[2:] else ""
        valued = bool(_VALUED.fullmatch(name)) or (not word.startswith("--") and name not in ("l", "u", "v", "Q", "K", "k", "s", "Z"))
        if not equals and valued and left and not left[0].startswith("--"):
            value = left.pop(0)
        yield name.lower(), value.strip("\"'")


def _words(line: str) -> list[str]:
    return line.partition(" #")[0].replace("\\\n", " ").split()[:200]


def _request(text: Text, at: int, line: str, script: str = "") -> Iterator[JobRequest]:
    draft = Draft(text, JobRequest, at)
    draft.add("script", script or None)
    for name, value in options(_words(line)):
        if name in _OPTIONS:
            field, convert = _OPTIONS[name]
            draft.add(field, convert(value) if value else None)
            draft.add("request", f"--{name}={value}" if field == "gpus_per_node" and convert(value) else None)
        if _ASKS.fullmatch(name) and ("gpu" in name or "gpu" in value):
            draft.add("asked", not re.fullmatch(r"(?:\S{0,60}:)?0", value))
        if name == "pty":
            draft.add("interactive", True)
    yield from draft.facts("script")


_MORE = r"(?:[^\n]{0,500}\\\n){0,12}[^\n]{0,1000}"  # a line and those that continue it
_ROOT = r"(?:[\w.-]{1,40}@[^\n#$]{1,160}#(?=[ \t]))?"  # root's prompt, and no remark
_TYPED = r"^" + _ROOT + r"[^\n#]{0,200}?(?:^|[\s;&|(`$])(?P<command>srun|sbatch|salloc)[ \t]{1,8}(?P<options>-" + _MORE + ")"
_ASKS_A_NODE = lazy_regex(
    r"(?:\$\(|`)[^\n]{0,10}srun [^\n]{0,200}\b(?:hostname|ip addr|ip a|getent|dig|nslookup)\b"
)  # `$(srun … hostname -I)`: a question
_COMMANDS = ("srun ", "sbatch ", "salloc ")
_STARTS = (
    ("ssh", r"^[^\n#]{0,120}\b(?:ssh|pdsh|clush|parallel-ssh)[ \t]"),
    ("srun", r"^" + _ROOT + r"[^\n#]{0,120}\bsrun\b"),
    ("torchrun", r"^[^\n#]{0,200}\b(?:torchrun\b|torch\.distributed\.(?:run|launch)\b)"),
    ("accelerate", r"^[^\n#]{0,200}\baccelerate launch\b"),
    ("deepspeed", r"^[ \t]{0,8}deepspeed\b"),
    ("mpirun", r"^[^\n#]{0,120}\bmpi(?:run|exec)\b"),
    ("python", r"^[ \t]{0,8}(?:(?:time|exec|nohup|[A-Z_]{2,40}=\S{1,100})[ \t]{1,4}){0,4}(?:\S{0,200}/)?python[\d.]{0,5}[ \t]"),
)


class _Scripts:
    """Which of a text's batch scripts a spot lies in: each but the first begins with its own first line."""

    def __init__(self, text: Text, header: list[Hit]) -> None:
        heads = [hit.start for hit in text.each(r"^#! ?/[^\n]{1,100}sh\b")] if header else []
        self.text, self.heads, self.any = text, heads[1:], bool(header)

    def named(self, at: int) -> str:
        """The text's name and a number; empty where there is no script at all."""
        return f"{self.text.source}:{bisect_right(self.heads, at)}" if self.any else ""

    def first(self, form: str, script: str) -> Hit | None:
        """The first place of a form in one script."""
        return next((hit for hit in self.text.each(form) if self.named(hit.start) == script), None)


@reads(adds=(JobRequest,), marks=("#SBATCH", "srun ", "sbatch ", "salloc "))
def batch_script(text: Text) -> Statements:
    """The header of a batch script, and srun, sbatch and salloc as they were typed."""
    header = list(text.each(r"^[ \t]{0,4}#SBATCH[ \t]{1,8}(?P<options>-[^\n]{0,1000})"))
    scripts = _Scripts(text, header)
    for line in header:
        yield from _request(text, line.start, line["options"], scripts.named(line.start))
    for line in text.near(
        _TYPED, sorted(spot for command in _COMMANDS for spot in text.spots(command)), lines=12, most=500
    ):  # what submits or opens a shell stands outside any script
        if _ASKS_A_NODE.search(line.match[0]):
            continue
        inside = scripts.named(line.start) if line["command"] == "srun" else ""
        yield from _request(text, line.match.start("command"), line["options"], inside)
        if line["command"] == "salloc":
            yield line.states(JobRequest, interactive=True)
    if header:
        yield from _whole_scripts(scripts, header)
    elif text.first(r"(?:^|[\s;&|$])srun[ \t](?![^\n]{0,200}--pty)[^\n]{0,400}\bpython"):
        yield from _starts(scripts, "")


def _whole_scripts(scripts: _Scripts, header: list[Hit]) -> Iterator[JobRequest]:
    """From its first line to a command: what such a script does not ask for, the job does not get."""
    for script, at in {scripts.named(line.start): line.start for line in reversed(header)}.items():
        yield from _starts(scripts, script)
        whole = _is_from_its_first_line(scripts.text.body[:at]) and scripts.first(r"^[ \t]{0,8}[A-Za-z./~$][^\n]{2,500}$", script)
        if whole and not scripts.first(_ANY_GPU, script):
            draft = Draft(scripts.text, JobRequest, at)
            draft.add("script", script)
            draft.add("asked", False, rank=-1)
            yield from draft.facts()


def _is_from_its_first_line(above: str) -> bool:
    """Whether nothing but comments stands between `#!` and the first option, and no command printed a part of the file alone."""
    lines = above.splitlines()
    while lines and not lines[-1].startswith("#!"):
        if lines.pop().lstrip()[:1] not in ("", "#"):
            return False
    return bool(lines) and not (len(lines) > 1 and _OF_A_PART.search(lines[-2]))


_OF_A_PART = lazy_regex(r"(?:^|[\s|])(?:head|tail|grep|sed|awk)[ \t]")
_ANY_GPU = r"(?:--gpus|--gres|[ \t]-G[ \t\d]|gpus[_-]per|--exclusive|--ntasks-per-gpu|--tres-per)"


def _starts(scripts: _Scripts, script: str) -> Iterator[JobRequest]:
    """The outermost launcher: what srun starts is its task, whatever that starts again."""
    for name, form in _STARTS:
        if hit := scripts.first(form, script):
            yield hit.states(JobRequest, launcher=name, **({"script": script} if script else {}))
            return


@reads(adds=(JobRequest,), marks=("--gpus-per-task", "--gpus-per-node", "--ntasks-per-node", "--gres"))
def option_lines(text: Text) -> Statements:
    """Options alone, a line each or several: what a wrapper hands on. What continues a command is that command's."""
    for line in text.each(r"^[ \t]{0,8}(?P<options>--?[A-Za-z][^\n]{1,500})$"):
        if not text.body[max(line.start - 20, 0) : line.start].rstrip().endswith("\\"):
            yield from _request(text, line.start, line["options"])


_SHOWN: dict[str, tuple[str, Callable[[str], Any]]] = {
    "NumNodes": ("nodes", number),
    "NumTasks": ("tasks", number),
    "Partition": ("partition", str),
    "JobName": ("name", str),
    "Features": ("constraint", str),
    "TresPerNode": ("gpus_per_node", _gres),
    "TresPerTask": ("gpus_per_task", _gres),
    "TresPerJob": ("gpus", _gres),
    "Gres": ("gpus_per_node", _gres),
}


@reads(adds=(JobRequest,), marks=("JobId=", "NumCPUs=", "CPU_IDs="))
def shown_job(text: Text) -> Statements:
    """`scontrol show job`: of one job; a list of several does not tell whose program this is."""
    jobs = list(text.each(r"^[ \t]{0,8}JobId=\d{1,12}\b"))
    if len(jobs) > 1:
        return
    fields = {hit["key"]: hit for hit in text.each(r"(?<!\S)(?P<key>[A-Z][A-Za-z/:]{2,30})=(?P<value>[^\s]{0,400})")}
    for key, (field, convert) in _SHOWN.items():
        value = convert(fields[key]["value"]) if key in fields and fields[key]["value"] not in ("", "(null)") else None
        if value is not None:
            yield fields[key].states(JobRequest, **{field: value})
    if hit := text.first(r"NtasksPerN:B:S:C=(?P<tasks_per_node>[1-9]\d{0,4}):"):
        yield hit.states(JobRequest, tasks_per_node=int(hit["tasks_per_node"]))
    yield from _allocation(text)


def _allocation(text: Text) -> Iterator[JobRequest]:
    """Whether there is any GPU among the job's resources, and what each node gave (`scontrol show job -d`)."""
    tres = text.first(r"(?<!\S)(?:Req|Alloc)?TRES=(?P<value>[^\s]{0,400})")
    if tres:
        held = text.first(r"gres[/:]gpu|GRES=gpu|TresPer\w{3,6}=[^\s]{0,200}gpu")
        yield (held or tres).states(JobRequest, asked=held is not None)
    allocations = list(text.each(r"^[ \t]{0,8}Nodes=(?P<nodes>\S{1,200})[^\n]{0,300}\bGRES=(?P<gres>gpu[^\s]{0,200})"))
    counts = [count for hit in allocations for count in [_gres(re.sub(r"\([^)]*\)", "", hit["gres"]))] * _nodes_in(hit["nodes"]) if count]
    if counts:
        yield allocations[0].states(JobRequest, given=counts)


def _nodes_in(names: str) -> int:
    """node[01-03,07] is four nodes."""
    inner = re.search(r"\[([\d,-]{1,200})\]", names)
    if not inner:
        return 1
    spans = [part.partition("-") for part in inner[1].split(",") if part]
    return min(sum(int(last or first) - int(first) + 1 for first, _, last in spans if first.isdigit()), 1000)


_QUOTED = r"[\"']?(?:=|: ?)[\"']?(?P<value>[^\n\"']{0,400}?)[\"']?,?[ \t}]*$"
_IN_JOB = r"^[ \t{]{0,8}[\"']?(?P<name>SLURMD?_[A-Z0-9_]{2,60})" + _QUOTED
_MASKS = r"^[ \t{]{0,8}[\"']?(?P<name>(?:CUDA|ROCR|HIP)_VISIBLE_DEVICES)" + _QUOTED


@reads(adds=(Variable, JobRequest), marks=("SLURM_", "_VISIBLE_DEVICES"), process="shell", rank=0)
def variables_of_the_job(text: Text) -> Statements:
    """`env | grep SLURM`, or os.environ as Python prints it. Where all of a job's variables stand, one of GPUs would too."""
    hits = [*text.near(_IN_JOB, text.spots("SLURM_"), most=500), *text.near(_MASKS, text.spots("_VISIBLE_DEVICES"))]
    names = {hit["name"] for hit in hits}
    for hit in hits:
        yield hit.states(Variable, name=hit["name"], value=hit["value"].strip())
    listed = names & {"SLURM_JOB_ID", "SLURM_JOBID"} and names & {"SLURM_JOB_NODELIST", "SLURM_NODELIST"} and len(names) > _LISTED
    if listed and not any("GPU" in name or "VISIBLE" in name for name in names):
        draft = Draft(text, JobRequest, hits[0].start)
        draft.add("asked", False, rank=-1)
        yield from draft.facts()


_LISTED = 8  # variables of a job, before they count as all


# -- the launcher inside
_TRAINER = r"\b(?:Trainer|Fabric)\((?P<inside>[^()]{0,2000}(?:\([^()]{0,300}\)[^()]{0,1000}){0,10})"
_INSIDE = {
    "devices": r"\b(?:devices|gpus)\s{0,4}=\s{0,4}(?P<value>\d{1,4}|\[[\d, ]{1,200}\])",
    "nodes": r"\bnum_nodes\s{0,4}=\s{0,4}(?P<value>\d{1,5})\b",
    "accelerator": r"\baccelerator\s{0,4}=\s{0,4}[\"'](?P<value>\w{2,12})[\"']",
}


def _count(value: str) -> int:
    """`2`, or `[0, 1]`."""
    return len(re.findall(r"\d+", value)) if value.startswith("[") else int(value)


@reads(adds=(Launch,), marks=("Trainer(", "Fabric("))
def trainer(text: Text) -> Statements:
    """`Trainer(devices=2, num_nodes=2, accelerator="gpu")`."""
    ours = text.first(r"^[ \t]{0,8}(?:from|import) (?:pytorch_lightning|lightning)\b") is not None  # others have a Trainer too
    for hit in text.each(_TRAINER):
        draft = Draft(text, Launch, hit.start)
        draft.add("framework", "lightning")
        for field, form in _INSIDE.items():
            if match := re.search(form, hit["inside"]):
                value = match["value"]
                draft.add(field, value if field == "accelerator" else _count(value), hit.match.start("inside") + match.start())
        yield from draft.facts() if ours else draft.facts("framework")


_FLAGS = (
    ("lightning", "devices", r"(?:--?|\s)(?:trainer\.)?(?:devices|gpus)[= ](?P<value>\d{1,4})(?=\s|$)"),
    ("lightning", "nodes", r"(?:--?|\s)(?:trainer\.)?num[_-]nodes[= ](?P<value>\d{1,5})(?=\s|$)"),
    ("torchrun", "devices", r"--nproc[_-]per[_-]node[= ](?P<value>\d{1,4})(?=\s|$)"),
    ("torchrun", "nodes", r"--nnodes[= ](?P<value>\d{1,5})(?=\s|$)"),
    ("accelerate", "nodes", r"--num[_-]machines[= ](?P<value>\d{1,5})(?=\s|$)"),
)


_FLAGGED = ("devices=", "devices ", "--gpus", "num-nodes", "num_nodes", "nproc_per_node", "nproc-per-node", "gpus=", "machines")
_STARTED = r"^[^\n#]{0,300}?\b(?P<program>python[\d.]{0,5}|torchrun|torch\.distributed\.(?:run|launch)|lightning|accelerate)[ \t]" + _MORE


@reads(adds=(Launch,), marks=_FLAGGED)
def launch_flags(text: Text) -> Statements:
    """`python train.py --num-nodes 2 --gpus 4`, `trainer.devices=4`, `torchrun --nproc_per_node=8`."""
    for line in text.near(_STARTED, sorted(spot for mark in _FLAGGED for spot in text.spots(mark)), lines=8):
        for framework, field, form in _FLAGS:
            words = line.match[0][line.match.end("program") - line.start :]  # what stands before is srun's
            if match := re.search(form, words):
                draft = Draft(text, Launch, line.match.end("program") + match.start())
                draft.add("framework", framework, rank=-1)
                draft.add(field, int(match["value"]))
                yield from draft.facts("framework")


_ASKED_FOR = r"You requested (?:GPUs|gpus?|XPUs?|xpu): ?\[(?P<asked>[\d, ]{0,600})\](?:(?:\\n|\s){0,40}But your machine only has: ?\[(?P<seen>[\d, ]{0,600})\])?"
_RANK = r"GLOBAL_RANK: ?(?P<rank>\d{1,5}), MEMBER: ?\d{1,5}/(?P<world>\d{1,5})"


@reads(
    adds=(Launch,), marks=("You requested ", "GLOBAL_RANK:", "LOCAL_RANK:", "Trainer already configured", "pytorch_lightning", "lightning/")
)
def lightning_says(text: Text) -> Statements:
    """Its complaint about devices, and the ranks that announce themselves."""
    for hit in text.each(_ASKED_FOR):
        known = {"visible": len(re.findall(r"\d+", hit["seen"]))} if hit.match["seen"] is not None else {}
        yield hit.states(Launch, framework="lightning", devices=len(re.findall(r"\d+", hit["asked"])), **known)
    announced = list(text.near(_RANK, text.spots("GLOBAL_RANK:"), most=5000))
    if announced:
        ranks = [int(hit["rank"]) for hit in announced]
        ranks += sorted({int(hit["rank"]) for hit in text.each(r"LOCAL_RANK: (?P<rank>[1-9]\d?) - CUDA")} - set(ranks))
        yield announced[0].states(Launch, framework="lightning", world=int(announced[0]["world"]), ranks=ranks)
    for hit in text.each(r"LOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES: \[(?P<seen>[^\]\n]{1,400})\]"):
        yield hit.states(Launch, framework="lightning", visible=hit["seen"].count(",") + 1)
