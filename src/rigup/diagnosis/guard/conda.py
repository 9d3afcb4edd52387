"""torch where conda installed it: a second one that pip lays over it goes at conda's next solve, or breaks the first."""

from rigup.diagnosis.guard.setting import Setting
from rigup.knowledge.chips import runs_on
from rigup.knowledge.conda_forge import CondaBuild, channel, conda_builds, conda_has, conda_specs
from rigup.knowledge.cuda import version_key
from rigup.steps import Step, StepError, make

_BY_PIP = ("install-torch", "install-torch-with-audio")
_OF_AN_ENDED_CHANNEL = ("pytorch-cuda", "pytorch-mutex")  # of the channel pytorch, which gets no releases any more


def torch_by_conda(steps: list[Step], setting: Setting) -> list[Step]:
    """The build of conda-forge in the place of a wheel; where there is none, conda's own goes first."""
    if not setting.conda_torch or setting.project:
        return steps
    return [by_conda for step in steps for by_conda in (_by_conda(step, setting) if step.kind in _BY_PIP else [step])]


def _by_conda(step: Step, setting: Setting) -> list[Step]:
    if "/whl/cu" not in step.params["index"]:
        return [step]
    ended = any(name in setting.conda_torch for name in _OF_AN_ENDED_CHANNEL)
    build = None if ended else _build(step.params["torch"], setting)
    try:
        if build is not None:
            wanted = [*conda_specs("torch", build), *_companions(build, setting, step)]
            return [make("install-from-channel", {"packages": ", ".join(wanted), "channel": channel()})]
        return [make("remove-with-conda", {"packages": ", ".join(setting.conda_torch)}), step]
    except StepError:
        return [step]


def _build(release: str, setting: Setting) -> CondaBuild | None:
    """The oldest that is not older than the release, has code for the cards, and whose CUDA the driver carries."""
    system = "windows" if setting.system == "windows" else "linux"
    fitting = [
        row
        for row in conda_builds("torch", system, setting.machine)
        if row.cuda
        and version_key(row.version)[:2] >= version_key(release)[:2]
        and all(runs_on(isa, row.code) for isa in setting.isas)
        and (not setting.carries or version_key(row.cuda)[0] <= version_key(setting.carries)[0])
    ]
    return min(fitting, key=lambda row: (version_key(row.version)[:2], version_key(row.cuda)), default=None)


def _companions(build: CondaBuild, setting: Setting, step: Step) -> list[str]:
    """Those that are there, at the release that belongs to torch's, where that is built."""
    same = version_key(build.version)[:2] == version_key(step.params["torch"])[:2]
    there = [name for name in ("torchvision", "torchaudio") if name in setting.conda_torch]
    return [f"{name}={wanted}" if same and (wanted := step.params.get(name)) and conda_has(name, wanted) else name for name in there]
