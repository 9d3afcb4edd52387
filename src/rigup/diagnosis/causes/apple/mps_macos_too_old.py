"""macOS is older than what this torch asks for."""

import re

from rigup.diagnosis.causes.apple.requirements import ARM, behind
from rigup.diagnosis.causes.grounds import ids_in
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge.apple import highest_of, is_older, mps_minimum, mps_torch_for, next_mps_minimum
from rigup.knowledge.cuda import version_key
from rigup.knowledge.wheels import wheels
from rigup.machine.kinds import Platform, PythonEnv, Symptom, Torch

_OF_MLX = ("mlx", "mlx-metal", "mlx-lm", "mlx-vlm", "mlx-whisper")
_NEWEST = "99"  # stands for whatever the table has last


@rule("mps-macos-too-old")
def system_older_than_the_build_asks(
    torch: Torch = one(mps_built=True, mps_available=False), platform: Platform = one(system="macos")
) -> Verdict:
    """Built in, not offered, and the table knows the lowest system for this release."""
    minimum = mps_minimum(torch.version)
    return minimum is not None and is_older(platform.version, minimum) and {"minimum": minimum}


@rule("mps-macos-too-old")
def system_older_than_the_message_says(symptom: Symptom = seen(tag="apple-wants"), platform: Platform = one(system="macos")) -> Verdict:
    """The message names a version, and the system is below it."""
    want = str(symptom.get("want"))
    return is_older(platform.version, want) and {"minimum": want}


@rule("mps-macos-too-old")
def system_older_than_the_installed_build(
    env: PythonEnv, platform: Platform = one(system="macos", architecture=ARM), torch: Torch = one(hip=None, cuda=None)
) -> Verdict:
    """A torch for Apple's chips in an environment of a system that it does not serve."""
    minimum = mps_minimum(torch.version)
    ours = env.get("machine", ARM) == ARM and torch.get("platform", "macos").startswith("macos")
    old = minimum is not None and is_older(platform.version, minimum)
    return ours and old and not torch.get("mps_available") and {"minimum": minimum}


@rule("mps-macos-too-old", "likely")
def message_of_an_old_system(
    symptom: Symptom = seen("mps-wants-newer-macos"),
    platform: Platform | None = one(system="macos"),
    box: Symptom | None = seen("sandbox-variable-named", "sandbox-named", "sandbox-option-named"),
) -> Verdict:
    """Only the message is there; mostly it says the truth."""
    return box is None and (platform is None or not platform.knows("version")) and {"minimum": symptom.get("want")}


@rule("mps-macos-too-old", "likely")
def message_names_an_older_minimum(
    symptom: Symptom = seen("mps-wants-newer-macos"), platform: Platform = one(system="macos"), torch: Torch | None = None
) -> Verdict:
    """Releases that raised their minimum went on to name the one before."""
    minimum = behind(symptom, platform, torch)
    return minimum is not None and {"minimum": minimum}


@text_rule("mps-macos-too-old", "likely")
def mlx_has_no_wheel_for_this_system(
    symptom: Symptom = seen("pip-no-version", "pip-no-distribution"), platform: Platform = one(system="macos")
) -> Verdict:
    """MLX is made for newer systems: pip finds none."""
    name = str(symptom.get("name")).lower().replace("_", "-")
    wanted = sorted((row.macos for row in wheels("mlx") if row.macos), key=version_key)
    older = name in _OF_MLX and bool(wanted) and is_older(platform.version, wanted[0])
    return older and {"minimum": wanted[0], "have": platform.version}


@text_rule("mps-macos-too-old", "likely")
def refused_wheel_is_for_a_newer_macos(symptom: Symptom = seen("wheel-tag-refused"), platform: Platform = one(system="macos")) -> Verdict:
    """`macosx_13_0_arm64` in a wheel's name, and an older system."""
    match = re.match(r"macosx_(\d{2})_(\d{1,2})_", str(symptom.get("os")))
    want = f"{match[1]}.{match[2]}" if match and int(match[1]) > 11 else ""
    return bool(want) and is_older(platform.version, want) and {"minimum": want}


@mends("mps-macos-too-old")
def system_and_torch_that_agree(knew: Params, platform: Platform | None = one(system="macos"), torch: Torch | None = None) -> Params:
    """The least macOS that is asked for, by the table where no message names it; or the newest torch whose MPS this macOS has."""
    have = str(platform.get("version") or "") if platform else ""
    release = str(torch.get("version")) if torch is not None and torch.knows("version") else ""
    asked = str(knew.get("minimum") or "")
    own = mps_minimum(release) if release else next_mps_minimum(have) if have else None
    minimum = asked or own or mps_minimum(_NEWEST)
    ours = bool(release) or any(name.startswith("mps-") for name in ids_in(knew))
    older = mps_torch_for(have) if ours and not knew.get("half") and have and (not asked or is_older(have, asked)) else None
    return {"minimum": minimum, "fitting": f"torch=={highest_of(older)}.*" if older else None}
