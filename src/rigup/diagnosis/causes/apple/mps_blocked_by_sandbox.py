"""The process may not reach the GPU: most likely a sandbox."""

from rigup.diagnosis.causes.apple.requirements import ARM, behind
from rigup.diagnosis.rule import Verdict, one, rule, seen, text_rule
from rigup.knowledge.apple import is_older, mps_minimum
from rigup.machine.kinds import Platform, PythonEnv, Symptom, Torch, Variable


@rule("mps-blocked-by-sandbox", "likely")
def message_asks_for_what_is_there(
    symptom: Symptom = seen(tag="apple-wants"),
    platform: Platform = one(system="macos"),
    env: PythonEnv | None = None,
    torch: Torch | None = None,
) -> Verdict:
    """It names a version, and the system has it: something else hides the device."""
    want = str(symptom.get("want"))
    native = (env is None or env.get("machine", ARM) == ARM) and platform.get("architecture", ARM) == ARM
    fulfilled = not is_older(platform.version, want) and not platform.version.startswith("10.")
    return native and fulfilled and behind(symptom, platform, torch) is None and {"want": want}


@rule("mps-blocked-by-sandbox", "likely")
def sandbox_and_no_device(
    _box: Symptom = seen("sandbox-named"), torch: Torch = one(mps_available=False), platform: Platform = one(system="macos")
) -> Verdict:
    """The text speaks of a sandbox, and the system is new enough."""
    minimum = mps_minimum(torch.version) if torch.knows("version") else None
    return minimum is None or not is_older(platform.version, minimum)


@rule("mps-blocked-by-sandbox")
def sandbox_variable_and_no_device(
    box: Variable = one(name=("CODEX_SANDBOX", "APP_SANDBOX_CONTAINER_ID", "SANDBOX_RUNTIME")), torch: Torch = one(mps_available=False)
) -> Verdict:
    """The process runs in a sandbox, and says so itself."""
    return bool(box.value) and {"seen": torch.mps_available}


@rule("mps-blocked-by-sandbox", "likely")
def sandbox_variable_and_the_message(
    _box: Symptom = seen("sandbox-variable-named", "sandbox-named"),
    symptom: Symptom = seen(tag="apple-wants"),
    platform: Platform | None = one(system="macos"),
) -> Verdict:
    """The variable stands in the text, and nothing shows that the system is old."""
    known = platform is not None and platform.knows("version")
    return not (known and platform and is_older(platform.version, str(symptom.get("want")))) and {"want": symptom.get("want")}


@rule("mps-blocked-by-sandbox", "possible")
def built_new_enough_and_not_offered(
    torch: Torch = one(mps_built=True, mps_available=False),
    platform: Platform = one(system="macos", architecture=ARM),
    env: PythonEnv | None = None,
) -> Verdict:
    """All that torch asks for is there."""
    minimum = mps_minimum(torch.version)
    native = env is None or env.get("machine", ARM) == ARM
    return native and minimum is not None and not is_older(platform.version, minimum) and {"want": minimum}


@text_rule("mps-blocked-by-sandbox", "likely")
def sandbox_is_named_and_the_device_is_not_offered(
    _box: Symptom = seen("sandbox-variable-named", "sandbox-option-named"),
    torch: Torch = one(mps_built=True, mps_available=False),
    platform: Platform | None = one(system="macos"),
) -> Verdict:
    """The build has it, and a tool that shuts programs in is at work."""
    minimum = mps_minimum(torch.version) if torch.knows("version") and torch.version else None
    old = minimum and platform is not None and platform.knows("version") and is_older(platform.version, minimum)
    return not old


def is_elsewhere(platform: Platform | None) -> bool:
    """Whether the platform is known and no Mac."""
    return platform is not None and platform.get("system") in ("linux", "windows")
