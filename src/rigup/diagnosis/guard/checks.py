"""How one sees that a way to mend has worked."""

from msgspec import structs

from rigup.diagnosis.findings import Finding
from rigup.diagnosis.guard.pythons import as_in_a_cell, asked_in_the_project, made_by, own_python
from rigup.diagnosis.guard.setting import Setting
from rigup.knowledge.checks import check_of_program, check_that_shows, checks_of, code_that_asks, lists_cards_by
from rigup.knowledge.patterns import lazy_regex
from rigup.steps import Step, StepError, make, parse, step_kinds

_OF_LINUX = ("sh", "mokutil", "ls", "lspci", "lsmod", "modinfo", "journalctl", "id", "df", "dkms", "systemctl", "rocminfo", "grep")

_OF_CUDA = "device=cuda"
_OF_THE_PROCESSOR = (
    "get-build-without",
    "get-build-for-older-processors",
    "compile-for-processor",
    "run-where-the-processor-has",
)  # a card is none of its matter
_OF_LLAMA = lazy_regex(r"(?:(?P<root>[^\n]*?)build[\w.-]*(?P<sep>[\\/])bin[\\/]|[^\n]*[\\/])?(?P<name>(?:Release[\\/])?llama-[\w.-]+)")

# What shows the card alone: what failed on it is then done again.
_OF_THE_CARD = ("see-groups", "see-cards", "see-amd-cards", "see-cards-inside", "see-amd-cards-inside", "see-cdi", "see-key")

# Words in the parameters of steps that only one maker's software has.
_SPEAK_OF = {
    "amd": ("rocm", "amdgpu", "/dev/kfd", "hsa_override", "hip_visible", "rocr_visible", "gfx"),
    "intel": ("/xpu", "level-zero", "intel-opencl"),
    "nvidia": ("/cu", "nvidia", "--gpus"),
}


def check(steps: list[Step], finding: Finding, setting: Setting, fill: dict[str, str]) -> Step:
    """The step that shows it; what the table names for the cause, the place and what the way does."""
    holes = {**fill, **{name: value for step in steps for name, value in step.params.items()}}
    kinds = [step.kind for step in steps]
    folder = next(filter(None, map(build_folder, steps)), "")
    vendor = _vendor(steps, setting)
    setting = setting._replace(python=_python_of(steps) or setting.python)
    for row in checks_of(finding.cause, finding.row.family, vendor, setting.system, setting.inside, kinds, setting.programs):
        spec = _of_maker(_of_processor(_of_service(row, finding), holes), vendor)
        try:
            kind, params = _of_framework(*parse(spec, holes), kinds, setting)
            itself = "" if {*kinds} & {*_OF_THE_PROCESSOR} else check_of_program(setting.programs, kind, finding.row.family)
            kind, params = (itself, {}) if itself else (kind, params)
            if "module" in params:  # no package's module has a dash in its name
                params = {**params, "module": params["module"].replace("-", "_")}
            step = make(kind, params, setting.world, setting.wsl)
        except (KeyError, StepError):
            continue
        if setting.system in ("windows", "macos") and any(argv[0] in _OF_LINUX for argv in step.commands):
            continue
        if setting.listing and lists_cards_by(kind) in setting.listing:
            continue  # it is shown to do so already
        if made := made_by(steps, setting):  # what failed is left as it is: the new environment is asked
            asked = tuple((*made, *argv[1:]) if argv[0] == "python" else argv for argv in step.commands)
            return structs.replace(step, commands=asked)
        asked = own_python(asked_in_the_project(step.commands, setting), setting)
        step = structs.replace(step, commands=as_in_a_cell(asked, setting))
        return step if any(step_kinds()[name].typed_otherwise for name in kinds) else _again(step, finding, folder)
    raise StepError(finding.cause)


def _python_of(steps: list[Step]) -> str:
    """The interpreter of the environment into which the way installs, where that is one of its own."""
    return next((path for step in steps if "/" in (path := step.params.get("python", ""))), "")


def _of_service(spec: str, finding: Finding) -> str:
    """A service has no torch to compute with: its own log tells."""
    kind, _colon, service = finding.place.process.partition(":")
    return f"see-journal service={service}" if kind == "service" and spec.startswith(("see-torch", "see-message-gone")) else spec


def _of_processor(spec: str, holes: dict[str, str]) -> str:
    """A build for the processor computes on no card."""
    return "see-import" if spec.startswith("see-torch") and holes.get("index", "").endswith("/cpu") else spec


def _of_maker(spec: str, vendor: str) -> str:
    """torch is asked for the device of the card's maker, whatever row speaks of it."""
    if _OF_CUDA not in spec:
        return spec
    from rigup.diagnosis.states import TORCH_DEVICES

    return spec.replace(_OF_CUDA, f"device={TORCH_DEVICES.get(vendor, 'cuda')}")


def _of_framework(kind: str, params: dict[str, str], kinds: list[str], setting: Setting) -> tuple[str, dict[str, str]]:
    """What asks torch, or nothing but the program, of a person who uses another framework: that one is asked."""
    code = code_that_asks(setting.framework) if setting.framework else ""
    installs = kind == "see-run" and any(
        name.startswith(("install-", "get-", "rebuild-")) and name not in _OF_THE_PROCESSOR for name in kinds
    )
    asks = kind in ("see-torch", "see-import") or installs
    return (check_that_shows(setting.framework), {"code": code}) if code and asks else (kind, params)


def build_folder(step: Step) -> str:
    """The folder into which a step compiles llama.cpp; "" for any other step."""
    if not step.kind.startswith("compile-") or step.params.get("program") != "llama.cpp":
        return ""
    return step.params.get("folder") or ("build-vulkan" if step.kind == "compile-for-vulkan" else "build")


def _rebuilt(argv: tuple[str, ...], folder: str) -> tuple[str, ...]:
    """A program of llama.cpp in the folder into which the way compiles it, whatever build was started before."""
    match = _OF_LLAMA.fullmatch(argv[0]) if folder else None
    if match is None:
        return argv
    root = "" if "/" in folder else match["root"] if match["root"] is not None else "./"
    return (f"{root}{folder}{match['sep'] or '/'}bin{match['sep'] or '/'}{match['name']}", *argv[1:])


def _again(step: Step, finding: Finding, folder: str) -> Step:
    """With the command that failed: instead of words on it, or behind what shows the card alone."""
    known = {argv[0] for argv in step.commands}
    failed = tuple(_rebuilt(argv, folder) for argv in finding.failed if argv[0].rpartition("/")[2] not in known)
    if failed and step.kind in ("see-run", "see-layers"):
        return structs.replace(make("see-again", {}) if step.kind == "see-run" else step, commands=failed[:1])
    if failed and step.kind in _OF_THE_CARD:
        return structs.replace(step, title=f"{step.title}; {make('then-again', {}).title}", commands=(*step.commands, *failed))
    return step


def _vendor(steps: list[Step], setting: Setting) -> str:
    """Of what the way installs, sets or hands in, else of the cards; no other maker's are in a Mac of today."""
    known = setting.vendor or ("apple" if setting.system == "macos" else "")
    spoken = " ".join(value for step in steps for name, value in step.params.items() if name not in ("former", "kernel")).lower()
    return next((vendor for vendor, words in _SPEAK_OF.items() if any(word in spoken for word in words)), known)
