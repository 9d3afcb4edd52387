"""The cuDNN that is loaded is older than the one that the build was made with."""

import re

from rigup.diagnosis.causes.library.cuda_packages import LIBRARY_PATH, jax_brings_its_own
from rigup.diagnosis.rule import Every, Params, Verdict, every, mends, one, rule, seen, text_rule
from rigup.knowledge.cuda import version_key
from rigup.machine.kinds import Package, Symptom, Torch, Variable


def _dotted(version: str) -> str:
    """As releases are written: `8, 6, 0` and `8600` are 8.6.0; from the ninth on the number has five digits."""
    if version.isdigit() and len(version) > 3:
        major, rest = divmod(int(version), 10_000 if len(version) > 4 else 1_000)
        return f"{major}.{rest // 100}.{rest % 100}"
    return re.sub(r",\s*", ".", version)


@rule("cudnn-version-incompatible")
def cudnn_older_than_built_for(
    symptom: Symptom = seen("cudnn-differs-from-built", "cudnn-differs-in-caffe2", "cudnn-older-than-compiled"),
) -> Verdict:
    """The message gives both; nothing tells by which way it came."""
    return {"built": _dotted(symptom.built), "found": _dotted(symptom.found)}


@rule("cudnn-version-incompatible", "likely")
def parts_of_two_cudnns(_said: Symptom = seen("cudnn-parts-differ")) -> Verdict:
    """cuDNN's own parts are of two versions."""
    return True


@rule("cudnn-version-incompatible")
def jax_wants_a_newer_cudnn(symptom: Symptom = seen("jax-library-older")) -> Verdict:
    """jax compares what it was built against with what it finds."""
    return symptom.library == "cuDNN" and {"built": symptom.built, "found": symptom.found}


@text_rule("cudnn-version-incompatible", "likely")
def tensorrt_loads_an_older_cudnn(symptom: Symptom = seen("tensorrt-loads-another-cudnn")) -> Verdict:
    """It says so of a newer one too, with which it works."""
    return version_key(symptom.found) < version_key(symptom.built) and {"built": symptom.built, "found": symptom.found}


@text_rule("cudnn-version-incompatible", "likely")
def paddle_loads_an_older_cudnn(
    built: Symptom = seen("paddle-built-with-cudnn"), loaded: Symptom = seen("paddle-loads-a-cudnn")
) -> Verdict:
    """It tells what it was built with, and what the loader gave it: a newer one serves, an older one does not."""
    was, found = version_key(str(built.built))[:2], version_key(str(loaded.found))[:2]
    return found < was and {"built": built.built, "found": loaded.found}


def _is_loaded(wheel: Package, found: str) -> bool:
    """Whether a wheel of cuDNN is of the very release that was loaded: then no path brought another one."""
    return str(wheel.name).startswith("nvidia-cudnn-cu") and bool(found) and f"{wheel.get('version')}.".startswith(f"{found}.")


mends("cudnn-version-incompatible")(jax_brings_its_own)


@mends("cudnn-version-incompatible")
def the_cudnn_that_it_was_built_with(
    knew: Params,
    torch: Torch | None = None,
    path: Variable | None = one(name=LIBRARY_PATH),
    own: Symptom | None = seen("cudnn-parts-differ", tag="library-places-torchs"),
) -> Params:
    """torch brings its own, which is found again when the variable is gone; other programs live on the system's, or on a package's."""
    release = _dotted(str(knew.get("built") or ""))
    cuda = str(torch.get("cuda") or "").partition(".")[0] if torch else ""
    extra = str(knew.get("jax") or "")
    if torch is not None and extra:  # torch holds its own release at one, and takes a newer one of the same major
        cuda = cuda or extra.partition("[cuda")[2].rstrip("]")
    package = f"nvidia-cudnn-cu{cuda}=={release}.*" if cuda and "." in release else None
    pinned = torch is not None and bool(extra and package)
    stray = LIBRARY_PATH if own is not None or path is not None or (torch is not None and not pinned) else None
    return {
        **({"jax": None} if pinned else {}),
        "stray": stray,
        "package": package,
        "system": release if "." in release and not own and not knew.get("jax") else None,
    }


@mends("cudnn-version-incompatible")
def wheel_that_is_loaded(knew: Params, wheels: Every[Package] = every(Package)) -> Params:
    """Of the release that was loaded: no path brought another one, and the wheel itself is exchanged."""
    release = _dotted(str(knew.get("built") or ""))
    mine = next((wheel for wheel in wheels if _is_loaded(wheel, str(knew.get("found") or ""))), None)
    if mine is None or "." not in release:
        return {}
    return {"package": f"{mine.name}=={'.'.join(release.split('.')[:2])}.*", "stray": None, "system": None}
