"""Containers without GPUs, steps that nobody waits for."""

import re
from collections.abc import Iterator, Mapping

from rigup.knowledge.gpu_words import gpu_in_words
from rigup.train.check.case import Case
from rigup.train.check.found import Change, Found
from rigup.train.check.rules import rule
from rigup.train.check.shell.words import UNKNOWN

_OF_TORCHRUN = ("RANK", "LOCAL_RANK", "WORLD_SIZE")
_OF_TASKS = ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID")
_HOST = re.compile(r"(?:tcp://)?(?P<host>[A-Za-z0-9][\w.-]*|\[?::1\]?)(?::(?P<port>\d+|" + UNKNOWN + r"))?/?")
_OF_CONTAINERS = re.compile(r"apptainer|singularity", re.IGNORECASE)
_PROGRAM = re.compile(r"(?:apptainer|singularity)(?:[-_]?(?:ce|pro))?", re.IGNORECASE)
_ADDRESSES = ("master-addr", "rdzv-endpoint", "main-process-ip", "master-address")


@rule
def container(case: Case) -> Iterator[Found]:
    """container-without-gpu."""
    layer = case.launch.layer("container") if case.launch else None
    if layer is None or case.launch is None or case.job is None or not case.job.asks_gpu or not case.can_use_gpu or case.on_cpu:
        return
    vendor = _vendor(case, " ".join(word.text for word in layer.words))
    line = case.batch_line(layer.line)
    if layer.name in ("apptainer", "singularity"):
        given = _gpu_flags(case, {option.name for option in layer.options}, layer.command.variables)
        right = "rocm" if vendor == "amd" else "nv"
        if (given and (not vendor or right in given)) or (not given and _by_module(case)):
            return
        verb = layer.words[1].raw
        fixed = line.replace(f" {verb}", f" {verb} --{right}", 1) if not given else re.sub(r"--(?:nv|nvccli|rocm)\b", f"--{right}", line)
    else:
        if any(option.name in ("gpus", "device", "runtime") for option in layer.options) or layer.words[1].text == "exec":
            return
        fixed = line.replace(" run", " run --device=/dev/kfd --device=/dev/dri" if vendor == "amd" else " run --gpus all", 1)
    change = (
        Change(file=case.batch, first=layer.line, last=layer.line, lines=(fixed,))
        if layer.command.file == case.batch and fixed != line
        else None
    )
    yield Found(
        cause="container-without-gpu", severity="error", file=layer.command.file, line=layer.line, fixes=(fixed.strip(),), change=change
    )


def _gpu_flags(case: Case, options: set[str], variables: Mapping[str, object]) -> set[str]:
    given = {"nv" if name == "nvccli" else name for name in options & {"nv", "nvccli", "rocm"}}
    names = {name for name, value, *_rest in case.variable_settings() if value not in ("", "0")} | set(variables)
    for prefix in ("APPTAINER", "SINGULARITY"):
        given |= {flag.lower() for flag in ("NV", "ROCM") if f"{prefix}_{flag}" in names} | (
            {"nv"} if f"{prefix}_NVCCLI" in names else set()
        )
    return given


def _by_module(case: Case) -> bool:
    """A module of the site sets up how containers run, in a way that cannot be seen; one with the program alone does not."""
    names = [word.text.split("/")[0] for command in case.shell.commands if command.name in ("module", "ml") for word in command.words[1:]]
    return any(_OF_CONTAINERS.search(name) and not _PROGRAM.fullmatch(name) for name in names)


def _vendor(case: Case, words: str) -> str:
    """Whose GPUs the job gets; "" where nobody can tell."""
    if case.gpu_model:
        found = gpu_in_words(case.gpu_model)
        return found[0].vendor if found is not None else ""
    if re.search(r"rocm|hip", words, re.IGNORECASE):
        return "amd"
    return "nvidia" if re.search(r"cuda|cu1\d|nvidia|ngc|nvcr", words, re.IGNORECASE) else ""


@rule
def background_step(case: Case) -> Iterator[Found]:
    """background-step-without-wait."""
    if case.launch is None or not case.launch.command.background:
        return
    command = case.launch.command
    after = [each for each in case.shell.commands if each.order > command.order and not (each.background and each.words == command.words)]
    if any(each.name == "wait" for each in after) or any(_lasts(each.name) and not each.background for each in after):
        return
    if case.launches and any(each.command.order > command.order and not each.command.background for each in case.launches):
        return
    last = max((each.last for each in case.shell.commands), default=command.last)
    end = max(last, len(case.batch_text.rstrip("\n").split("\n")))
    yield Found(
        cause="background-step-without-wait",
        severity="error",
        file=command.file,
        line=command.line,
        fixes=("wait",),
        change=Change(file=case.batch, first=end + 1, last=end, lines=("wait",)),
    )


def _lasts(name: str) -> bool:
    return name in (
        "srun",
        "python",
        "python3",
        "torchrun",
        "mpirun",
        "sleep",
        "tail",
        "watch",
        "until",
        "while",
        "bash",
        "sh",
    ) or name.startswith("python")
