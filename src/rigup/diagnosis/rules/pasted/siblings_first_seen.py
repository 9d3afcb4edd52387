"""What stands beside messages that are known: a module that may not load, who holds a Radeon's memory, wheels that an index lists, and a WSL below an old Windows.

Each rule holds a message against what a command beside it shows; alone, neither would decide.
"""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.driver import NO_CUDA, SILENT
from rigup.diagnosis.rules.memory import OUT
from rigup.knowledge import wsl
from rigup.machine.kinds import Gpu, JobRequest, KernelModule, Launch, Platform, PythonEnv, Symptom

_OUT = ("hip-out-of-memory-plain", "cuda-out-of-memory-plain", "cuda-out-of-memory-constant", "ggml-out-of-memory")
_MUCH = 4 * 2**30
_WSL = (1, 2)


# -- the kernel's module
@rule("amdgpu-not-loaded", "likely")
def node_cannot_be_handed_in_as_the_module_is_barred(
    said: Symptom = seen("docker-no-kfd"), _barred: KernelModule = one(name="amdgpu", blacklisted=True),
    loaded: KernelModule | None = one(name="amdgpu", loaded=True),
) -> Verdict:  # fmt: skip
    """An engine finds no /dev/kfd on its host, and there a list keeps amdgpu from loading."""
    return loaded is None and {"said": said.id}


# -- results
@rule("garbage-output-on-gfx", "likely")
def long_range_is_lost_and_short_range_is_not(
    said: Symptom = seen("one-short-format-alone-gives-no-numbers"), card: Gpu = one(vendor="amd"), other: Gpu | None = one(vendor="nvidia")
) -> Verdict:  # fmt: skip
    """bfloat16 has the range of float32: what float16 can hold it does not lose, unless a kernel of the card computes wrongly."""
    return other is None and {"said": said.id, "gfx": card.get("isa")}


# -- memory
@rule("gpu-memory-held-by-others", "likely")
def rocm_smi_names_the_holder(
    holder: Symptom = seen("rocm-smi-lists-holder"), said: Symptom = seen(*_OUT), full: Symptom | None = seen(*OUT)
) -> Verdict:
    """The list names a process with gigabytes, and another program gets none; a message with figures knows better."""
    return full is None and int(holder.bytes) > _MUCH and {"said": said.id, "severity": "error"}


# -- ranks
@rule("slurm-ntasks-mismatch", "likely")
def each_node_starts_from_rank_nought(want: Launch, job: JobRequest = one(launcher="srun")) -> Verdict:
    """A job of several nodes tells srun no tasks, so it starts one on each; what those start takes the same numbers twice."""
    told, nodes = want.ranks, job.get("nodes") or 1
    untold = not job.get("tasks") and not job.get("tasks_per_node")
    doubled = len(set(told)) > 1 and all(told.count(rank) == nodes for rank in told)
    return nodes > 1 and untold and doubled and want.world > len(set(told)) and {"world": want.world, "nodes": nodes}


# -- wheels
@rule("python-version-without-wheels", "likely")
def index_lists_wheels_for_other_pythons(
    said: Symptom = seen("pip-no-version"), listed: Symptom = seen("wheels-listed-by-python"), typed: Symptom | None = seen("pip-asked-by-a-named-python"),
    python: PythonEnv | None = None,
) -> Verdict:  # fmt: skip
    """Somebody lists the package's files, and none of them is for the Python that pip was asked by."""
    named = (typed.get("python") or typed.get("pip") or typed.get("py")) if typed else None
    version = named or (python.get("version") if python else None)
    same = re.sub(r"[-_.]+", "-", str(listed.name)).lower() == re.sub(r"[-_.]+", "-", str(said.name)).lower()
    tag = "cp" + "".join(str(version).split(".")[:2])
    fits = "abi3" in str(listed.listed) or tag in re.findall(r"cp3\d{1,2}", str(listed.listed))
    return bool(version) and same and not fits and {"name": said.name, "have": version}


# -- Windows and its Linux
@rule("wsl-gpu-in-tcc-mode", "likely")
def a_card_computes_only_where_windows_starts_a_wsl(
    typed: Symptom = seen("wsl-command-typed"), card: Gpu = one(driver_model="TCC"), platform: Platform | None = one(wsl=_WSL)
) -> Verdict:  # fmt: skip
    """Windows's own list has such a card, and a command asks a WSL for its GPUs."""
    return platform is None and card.get("vendor", "nvidia") == "nvidia" and {"said": typed.id}


@rule("wsl-windows-too-old", "likely")
def windows_is_old_and_a_linux_shell_finds_no_driver(
    platform: Platform = one(system="windows"), shell: Symptom = seen("prompt-of-a-linux-shell"), said: Symptom = seen(*SILENT, *NO_CUDA),
    far: Symptom | None = seen("ssh-typed"),
) -> Verdict:  # fmt: skip
    """Windows tells its version, and below it stands the prompt of a Linux: its own, where nobody went to another machine."""
    old = wsl.too_old(platform.version, None) is not None
    return old and far is None and {"minimum": "Windows build " + wsl.minimum()[0], "said": said.id, "where": shell.id}  # fmt: skip
