"""What stands on torch and has to change with it: torchaudio, and packages that were compiled for the torch that goes."""

from msgspec import structs

from rigup.diagnosis.guard.setting import Setting
from rigup.knowledge.amd_ways import audio_of_amd
from rigup.knowledge.chips import runs_on
from rigup.knowledge.cuda import version_key
from rigup.knowledge.numpy_ceilings import numpy_below
from rigup.knowledge.patterns import lazy_regex
from rigup.knowledge.pythons import pythons
from rigup.knowledge.torch_builds import Companions, TorchBuild, builds, companions, index_url
from rigup.language import _
from rigup.steps import Step, make

_EXCHANGES = lazy_regex(r" --force-reinstall\b| --upgrade\b| uninstall |\w[=<>~]=?\d")
_OF_AMD = lazy_regex(r"\btorch\[[\w-]+\]==(\S+?)(?=,|$)")
_TORCH_ASKED = lazy_regex(r"torch(?:\[[\w-]+\])?==(\d[\w.+]*)")
_ONE_TORCH = lazy_regex(r"torch==(\d[\d.]*)(?:\+\w+)?")
_IPEX = "intel-extension-for-pytorch"
_TORCHS = ("install-torch", "install-torch-with-audio")


def of_the_python_that_is_there(steps: list[Step], setting: Setting) -> list[Step]:
    """A release that has no wheel for this Python is nothing that pip could find: the last before it that has one, of the same kind."""
    if not setting.release_of_python or any(step.kind == "new-environment" for step in steps):
        return steps
    return [_for_the_python(step, setting) if step.kind == "install-torch" else step for step in steps]


def _for_the_python(step: Step, setting: Setting) -> Step:
    variant, named = step.params["index"].rpartition("/")[2], version_key(step.params["torch"])
    kind = variant.rstrip("0123456789.")
    of_kind = [row for row in builds(setting.system or "linux", setting.machine or "x86_64") if row.variant.startswith(kind) and row.python]
    there = next((row for row in of_kind if (row.torch, row.variant) == (step.params["torch"], variant)), None)
    if there is None or setting.release_of_python in there.python:
        return step
    fitting = [
        row
        for row in of_kind
        if version_key(row.torch) < named
        and setting.release_of_python in row.python
        and all(not row.code or runs_on(chip, row.code) for chip in (setting.chips if kind == "rocm" else setting.isas))
        and not (row.cuda and setting.carries and version_key(row.cuda) > version_key(setting.carries))
    ]
    last = max(fitting, key=lambda row: (version_key(row.torch), row.variant == variant), default=None)
    friends = companions(last.torch) if last else None
    if last is None or friends is None or not friends.torchvision:
        return step
    named_anew = {"torch": last.torch, "torchvision": friends.torchvision, "index": index_url(last.variant)}
    return structs.replace(make("install-torch", named_anew), where=step.where)


def beside_the_distributions_own(steps: list[Step], setting: Setting) -> list[Step]:
    """The distribution's Python takes nothing from pip, and a second torch over its package breaks both: an environment of its own, with a Python that has the wheels."""
    if not setting.packaged_torch or setting.owner in ("venv", "conda") or any(step.kind == "new-environment" for step in steps):
        return steps
    named = [match for step in steps for argv in step.commands for word in argv if (match := _TORCH_ASKED.match(word))]
    if not named:
        return steps
    known = pythons("torch", named[0][1].partition("+")[0], setting.system or "linux")
    return [make("new-environment", {"python": known[0]}), *steps] if known else steps


def with_the_audio_that_is_there(steps: list[Step], setting: Setting) -> list[Step]:
    """torchaudio is made for one release of torch as torchvision is: where it is installed it comes along.

    It ended before torch did: who needs it gets the newest torch that has one of its own.
    """
    if "torchaudio" not in setting.on_torch:
        return steps
    changed = [_with_audio(step, setting) for step in steps]
    was = next((step.params["torch"] for step in steps if step.kind == "install-torch"), "")
    now = next((step for step in changed if step.kind == "install-torch-with-audio"), None)
    return [_kept(step, now) if now is not None and now.params["torch"] != was else step for step in changed]


def _kept(step: Step, torch: Step) -> Step:
    """What is held in later installations is the build that was chosen in the end."""
    if step.kind != "keep-package" or not step.params["package"].startswith("torch=="):
        return step
    build = f"torch=={torch.params['torch']}+{torch.params['index'].rpartition('/')[2]}"
    return structs.replace(make("keep-package", {"package": build}), where=step.where)


def _own(torch: str) -> Companions | None:
    """The companions of a release that has a torchaudio of its own."""
    friends = companions(torch)
    kept = friends is not None and not friends.extrapolated and friends.torchaudio and not friends.torchaudio_note
    return friends if kept else None


def _with_amds_audio(step: Step) -> Step:
    packages, index = step.params["packages"], step.params["index"]
    torch = _OF_AMD.search(packages)
    audio = audio_of_amd(torch[1], index) if torch and "torchaudio" not in packages else ""
    both = make(step.kind, {**step.params, "packages": f"{packages}, {audio}"}) if audio else step
    return structs.replace(both, where=step.where)


def _with_audio(step: Step, setting: Setting) -> Step:
    if step.kind == "install-from-index":
        return _with_amds_audio(step)
    if step.kind != "install-torch" or "torchvision" not in step.params:
        return step
    torch, index = step.params["torch"], step.params["index"]
    friends = _own(torch)
    if friends is None and (other := _newest_with_audio(index.rpartition("/")[2], setting)) is not None:
        torch, index, friends = other.torch, index_url(other.variant), companions(other.torch)
    if friends is None:
        return step
    vision = friends.torchvision if torch != step.params["torch"] else step.params["torchvision"]
    named = {"torch": torch, "torchvision": vision, "torchaudio": friends.torchaudio, "index": index}
    return structs.replace(make("install-torch-with-audio", named), where=step.where)


def _newest_with_audio(variant: str, setting: Setting) -> TorchBuild | None:
    """Of the same CUDA, which the driver is known to carry, or of any ROCm; with code for the cards that are there."""
    rocm, chips = variant.startswith("rocm"), setting.chips or setting.isas
    same = (
        build
        for build in builds(setting.system or "linux", setting.machine or "x86_64")
        if (build.variant.startswith("rocm") if rocm else build.variant == variant)
    )
    return next((build for build in same if _own(build.torch) and all(runs_on(chip, build.code) for chip in chips)), None)


def without_what_was_compiled_for_it(steps: list[Step], setting: Setting) -> list[Step]:
    """What is compiled for one release of torch fails beside another, and torch does without: xformers, and Intel's extension, whose work torch took over."""
    if not any(step.kind in _TORCHS for step in steps):
        return steps
    xpu = any(step.kind in _TORCHS and step.params["index"].endswith("/xpu") for step in steps)
    kinds = {"xformers": "remove-compiled-for-torch", **({_IPEX: "remove-extension-of-intel"} if xpu else {})}
    return [*steps, *(make(kind, {"packages": name}) for name, kind in kinds.items() if name in setting.on_torch)]


def beside_the_numpy_it_was_compiled_for(steps: list[Step], setting: Setting) -> list[Step]:
    """torchvision asks for any NumPy, and pip brings the newest: an old torch takes no arrays of NumPy 2."""
    python = next((step.params["python"] for step in steps if step.kind == "new-environment"), setting.release_of_python)
    return [_with_numpy(step, setting.system or "linux", python) for step in steps]


def _with_numpy(step: Step, system: str, python: str) -> Step:
    asked = {match[1] for argv in step.commands if "pip" in argv for word in argv if (match := _ONE_TORCH.fullmatch(word))}
    torch = asked.pop() if len(asked) == 1 else ""
    likely = [python] if python else [own for row in builds(system) if row.torch == torch for own in row.python]
    below = next(filter(None, (numpy_below("torch", torch, system, own) for own in likely)), "")
    if not below:
        return step
    commands = tuple((*argv, f"numpy<{below}") if "pip" in argv and "install" in argv else argv for argv in step.commands)
    title = _("{way}, with NumPy below {below}, for which it was compiled").format(way=step.title, below=below)
    return structs.replace(step, title=title, commands=commands)


def seen_by_a_kernel_anew(steps: list[Step], setting: Setting) -> list[Step]:
    """A notebook's kernel goes on with what it has imported, whatever pip puts in its place."""
    exchanged = any("pip" in argv and _EXCHANGES.search(" ".join(argv)) for step in steps for argv in step.commands)
    return [*steps, make("restart-notebook", {})] if setting.cells and exchanged else steps
