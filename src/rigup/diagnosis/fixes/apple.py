"""What mends a Mac: the macOS that torch asks for or the torch that this one has, a Python of its own kind, less memory."""

from rigup.diagnosis.fixes.amd_told import ids_in
from rigup.diagnosis.rule import Params, mends, one, seen
from rigup.knowledge.apple import highest_of, is_older, mps_minimum, mps_torch_for, next_mps_minimum
from rigup.knowledge.torch_builds import builds
from rigup.language import _
from rigup.machine.kinds import Platform, PythonEnv, Symptom, Torch

_NEWEST = "99"  # stands for whatever the table has last


@mends("mps-macos-too-old")
def system_and_torch_that_agree(
    knew: Params, platform: Platform | None = one(system="macos"), torch: Torch | None = None
) -> Params:
    """The least macOS that is asked for, by the table where no message names it; or the newest torch whose MPS this macOS has."""
    have = str(platform.get("version") or "") if platform else ""
    release = str(torch.get("version")) if torch is not None and torch.knows("version") else ""
    asked = str(knew.get("minimum") or "")
    own = mps_minimum(release) if release else next_mps_minimum(have) if have else None
    minimum = asked or own or mps_minimum(_NEWEST)
    ours = bool(release) or any(name.startswith("mps-") for name in ids_in(knew))
    older = (
        mps_torch_for(have) if ours and not knew.get("half") and have and (not asked or is_older(have, asked)) else None
    )
    return {"minimum": minimum, "fitting": f"torch=={highest_of(older)}.*" if older else None}


@mends("mps-x86-python-under-rosetta")
def python_of_its_own_kind(python: PythonEnv | None = None, conda: Symptom | None = seen("conda-folder-shown", "conda-environments-folder-shown", "conda-base-prompt", "conda-in-words")) -> Params:  # fmt: skip
    """conda makes one where it is told the kind, and is the first way of who has it; the Python stays where torch has wheels for it."""
    newest = next(iter(builds("macos", "arm64")), None)
    releases = [release for release in newest.python if not release.endswith("t")] if newest else []
    have = ".".join(str(python.get("version") or "").split(".")[:2]) if python is not None else ""
    middle = releases[len(releases) // 2] if releases else None  # other packages have not the newest yet
    release = have if have in releases else middle
    shown = conda is not None or (python is not None and python.get("kind") == "conda")
    return {"of_conda": release if shown else None, "python": None if shown else release, "machine": "arm64"}


@mends("mps-op-not-implemented")
def where_the_variable_is_set(notebook: Symptom | None = seen("notebook-cell-shown", "jupyter-named")) -> Params:
    """A notebook's kernel has its own environment: what a shell exports later never reaches it."""
    return {"cell": "1" if notebook is not None else None, "shell": None if notebook is not None else "1"}


@mends("mps-oom-watermark")
def what_to_shrink(
    symptom: Symptom | None = seen("mps-out-of-memory", "metal-out-of-memory"), mlx: Symptom | None = seen("mlx-command-failed", "mlx-in-words"), torch: Torch | None = None,
) -> Params:  # fmt: skip
    """More is held by others, or by this program itself; MLX has options of its own."""
    if mlx is not None and torch is None:
        return {
            "how": _(
                "a model of 4 bits (mlx-community has them) or a smaller one; for training --batch-size 1, fewer --num-layers, a shorter --max-seq-length and --grad-checkpoint"
            )
        }
    mine, others = (_bytes(symptom.get(name, "") if symptom else "") for name in ("allocated", "beside"))
    closing, shrinking = (
        _("close other programs, then a smaller batch or model"),
        _("half precision (torch_dtype=torch.float16), a smaller batch, input or model"),
    )
    return {"how": closing if others > mine else shrinking}


_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def _bytes(size: str) -> float:
    """`7.42 GB`."""
    number, _gap, unit = size.partition(" ")
    return float(number) * _UNITS.get(unit[:1], 1) if number.replace(".", "", 1).isdigit() else 0.0
