"""Who holds a card, and how much of its memory."""

import re

from rigup.diagnosis.causes.memory_sizes import size
from rigup.diagnosis.rule import Every, Params, every, one, seen
from rigup.machine.kinds import Gpu, GpuProcess, Platform, Symptom

FULL = 0.3  # share of a card that is left where others have taken it
LEFT = 1 << 29  # bytes; less than any card that TensorFlow takes has
HOLDERS = ("other-process-holds-memory", "nvidia-smi-lists-holder", "fuser-lists-who-has-the-card-open", "rocm-smi-lists-holder")


def node_that_is_held(
    knew: Params,
    card: Gpu | None = one(vendor="amd"),
    platform: Platform | None = one(system=("windows", "macos")),
    symptom: Symptom | None = seen("hip-out-of-memory-plain", "rocm-allocation-failed"),
    wsl: Platform | None = one(wsl=(1, 2)),
) -> Params:
    """Who has opened it: AMD's cards share one node, NVIDIA's have one each; Windows has none, and WSL none of theirs."""
    if platform is not None or wsl is not None:
        return {"node": None, "index": None}
    if card is not None or symptom is not None:
        return {"node": "/dev/kfd", "index": None}
    return {"node": f"/dev/nvidia{knew.get('index') or 0}", "index": knew.get("index")}


def _bytes_held(holder: Symptom) -> float:
    return size(str(holder.get("held") or f"{holder.get('mib') or holder.get('mib2') or 0} MiB")) or 0.0


def process_that_is_named(knew: Params, holders: Every[Symptom] = every(Symptom, id=HOLDERS)) -> Params:
    """The one that holds most, where messages and lists give figures; where a card's node can be asked, so can it."""
    pids = [
        (_bytes_held(holder), str(holder.get("pid") or holder.get("pid2"))) for holder in holders if holder.get("pid") or holder.get("pid2")
    ]
    return {"pid": max(pids)[1], "node": None} if pids and knew.get("node") else {}


def is_mostly_taken(gpu: Gpu) -> bool:
    """Whether more than four fifths of a card's memory are in use."""
    used, whole = gpu.get("memory_used"), gpu.get("vram")
    return bool(used and whole) and used > 0.8 * whole


_CHILDREN = ("VLLM::", "sglang::", "ray::")  # what servers start, and never goes on alone by intention
_OWN_WAYS = {"kernel": r"\bipykernel", "comfyui": r"(?i)\bcomfyui\S*[ /]main\.py\b"}


def name_of(process: GpuProcess) -> str | None:
    """Of what the command runs, or as the driver names it; a Python is told by its script or module."""
    words = str(process.get("command") or process.get("name") or "").split()
    if not words:
        return None
    python = re.match(r"python[\d.]*$", words[0].rpartition("/")[2])
    script = [word for word in words[1:] if not word.startswith("-")] if python else []
    return (script[0] if script else words[0]).rpartition("/")[2] or None


def way_to_end(process: GpuProcess) -> Params:
    """By its program's own means where that has some; what `ps` has told is not asked again."""
    pid, command, name = str(process.pid), str(process.get("command") or ""), name_of(process) or ""
    if process.get("parent") == 1 and command.startswith(_CHILDREN):
        return {"orphan": pid, "unknown": None}
    asked = {"unknown": None if command else pid}
    if "ollama" in name:
        return {"ollama": name, **asked}
    if own := next((way for way, form in _OWN_WAYS.items() if re.search(form, command)), ""):
        return {**asked, own: pid}
    return {**asked, "shown" if command and process.get("owner") else "unknown": pid}  # whose it is decides who may end it
