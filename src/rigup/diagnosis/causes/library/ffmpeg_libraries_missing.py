"""torchcodec finds no shared libraries of FFmpeg that it takes."""

from rigup.diagnosis.causes.framework.torch_torchvision_mismatch import belongs_to
from rigup.diagnosis.rule import Params, Verdict, mends, one, seen, text_rule
from rigup.knowledge.package_managers import package_manager
from rigup.machine.kinds import Distribution, Package, Platform, Symptom

_OF_FAMILIES = {"debian": "ffmpeg", "fedora": "ffmpeg-free", "suse": "ffmpeg-7"}
_SURE = "7.1.1"  # a release of FFmpeg that every torchcodec since 0.1 takes
_NEWER = "8"  # the first that older ones do not take


@text_rule("ffmpeg-libraries-missing", "likely")
def none_of_its_libraries_can_be_loaded(
    symptom: Symptom = seen("libtorchcodec-not-loaded"),
    symbol: Symptom | None = seen("torchcodec-misses-a-symbol"),
    torch: Package | None = one(name=("torch", "pytorch")),
    codec: Package | None = one(name="torchcodec"),
) -> Verdict:
    """Where it belongs to the torch that is there, and what it needs of that is found."""
    fits = torch is None or codec is None or belongs_to(codec, torch)
    return symbol is None and fits and {"said": symptom.id, "takes": symptom.get("takes")}


@mends("ffmpeg-libraries-missing")
def whoever_has_them_there(
    knew: Params,
    platform: Platform | None = None,
    system: Distribution | None = None,
    conda: Symptom | None = seen(tag="conda-shown"),
    conda_env: Package | None = one(manager="conda"),
    venv: Symptom | None = seen(tag="venv-shown"),
) -> Params:
    """conda's for an environment of conda; else those of the distribution, of winget or of Homebrew, of a release that torchcodec takes."""
    old = _NEWER not in str(knew.get("takes") or "")
    if venv is None and (conda or conda_env):
        return {"of_conda": f"ffmpeg<{_NEWER}" if old else "ffmpeg=7.*"}
    name = str(platform.get("system")) if platform else ""
    if name == "windows":
        return {"winget": _SURE}
    if name == "macos":
        arm = platform is not None and platform.get("architecture") != "x86_64"
        return {"formula": "ffmpeg@7", "folder": ("/opt/homebrew" if arm else "/usr/local") + "/opt/ffmpeg@7/lib"}
    manager = package_manager(str(system.get("id"))) if system is not None and system.get("id") else None
    return {"packages": _OF_FAMILIES.get(manager.family)} if manager is not None else {}
