"""What mends a chip that nobody has code for: a sibling's code, another build, another way to the card."""

import re

from rigup.diagnosis.causes.grounds import symptoms_in
from rigup.diagnosis.causes.rocm.ollama import of_ollama
from rigup.diagnosis.causes.rocm.torch_builds import amd_holes, torch_holes, without_a_gpu
from rigup.diagnosis.causes.rocm.who_computes import boxed
from rigup.diagnosis.causes.rocm_chips import inside_a_processor
from rigup.diagnosis.causes.rocm_overrides import OVERRIDE
from rigup.diagnosis.causes.services import service_of
from rigup.diagnosis.rule import Params, one, seen
from rigup.knowledge.amd_ways import community_build, last_rocm_for, newest_for_rocm, setting
from rigup.knowledge.chips import runs_on
from rigup.knowledge.cuda import version_key
from rigup.knowledge.program_builds import of_then, program_of
from rigup.knowledge.rocm import override_facts, override_for
from rigup.knowledge.torch_builds import build, newest_build
from rigup.machine.kinds import Gpu, Symptom, Torch


def _code_of(torch: Torch) -> list[str]:
    """The chips that the torch which is there was compiled for, by its own list or by its release; [] where nobody knows."""
    known = None if torch.get("code") else build(str(torch.get("version") or ""))
    code = torch.get("code") or (known.code if known is not None and known.rocm and not known.extrapolated else ())
    return [target for target in code if target.startswith("gfx")]


def _server(knew: Params) -> str:
    """The unit of the server that spoke."""
    spoke = next((symptom for symptom in symptoms_in(knew) if of_ollama(symptom)), None)
    return service_of(spoke.place.process) if spoke else ""


def override_that_helps(
    knew: Params,
    torch: Torch | None = None,
    own: Symptom | None = seen("llama-cpp-of-ones-own-build"),
    built: Symptom | None = seen("targets-of-a-build-shown"),
    former: Symptom | None = seen("llama-cpp-before-the-renaming"),
) -> Params:
    """A sibling's code, where the chip is known to run it, set where the program reads it; HIP on Windows reads no such variable."""
    isa, system = str(knew.get("isa") or ""), knew.get("system")
    row = override_for(isa)
    if row is None or system == "windows" or row.shun or knew.get("heeds") is False:
        return {}
    code = _code_of(torch) if knew.get("by_torch") and torch is not None else []
    if code and row.sibling and not runs_on(row.sibling, code):
        return {}
    holes: Params = {"value": row.value, "sibling": row.sibling}
    if boxed(knew):
        return holes | {"container": f"-e {OVERRIDE}={row.value}"}
    if service := _server(knew):
        return holes | {"service": service, "name": OVERRIDE}
    program = program_of(str(knew.get("program") or "")) if own or built else None
    program = of_then(program, [former.id] if former else []) if program else None
    targets = re.findall(r"gfx\w{3,4}", str(built.get("code"))) if built else []
    if program and program.option_amd and row.sibling and not runs_on(row.sibling, targets):
        tried = OVERRIDE if former and not built else None  # which of the chips of a family it was compiled for, nobody tells
        root = f"{own.get('root')}/" if own and own.get("root") else ""
        option = program.option_amd.format(gfx=row.sibling)
        return holes | {"tried": tried, "of_own_build": OVERRIDE, "own_build": option, "built_in": f"{root}build-{row.sibling}"}
    native = newest_build(isa) if knew.get("by_torch") else None
    return holes | {"later" if native and not row.safe else "variable": OVERRIDE}


def _of_the_system(knew: Params) -> bool:
    return knew.get("system") == "linux" and knew.get("program") in (None, "TensorFlow", "llama.cpp")


def build_that_has_it(knew: Params) -> Params:
    """For torch the newest build with the chip's code, by AMD where PyTorch has none; for others one of somebody's own."""
    isa, system, torch = str(knew.get("isa") or ""), str(knew.get("system")), knew.get("by_torch")
    if not torch:
        return {"chip": isa or None, "last": last_rocm_for(isa) if _of_the_system(knew) else None}
    build = None if system == "windows" else newest_build(isa) if isa else newest_for_rocm()
    holes = torch_holes(build) if build and build.rocm else {}
    own = amd_holes(isa, system) if not (holes and isa) else {}
    address = "" if holes or own or system == "windows" else community_build(isa)
    chip = None if holes or own or address else isa or None
    return {**holes, **own, "chip": chip, "community": address or None, "built_for": isa if address else None, **without_a_gpu(system)}


def way_around_rocm(knew: Params) -> Params:
    """Vulkan where the program has it: no library needs code for the chip there."""
    if knew.get("by_torch") or knew.get("package_of"):
        return {"backend": None}
    name, windows = knew.get("vulkan"), knew.get("system") == "windows"
    box = boxed(knew) and not windows
    since, have = str(knew.get("since") or ""), str(knew.get("release_there") or "")
    old = bool(name and since) and (not have or version_key(have) < version_key(since))
    unit = "" if windows or box or not name else knew.get("service") or "ollama"
    own = bool(knew.get("vulkan_build")) and not box
    first = "updated" if old else "vulkan"  # a release from before it has to go first
    return {
        **dict.fromkeys(f"{state}_{part}" for state in ("updated", "vulkan") for part in ("option", "service", "variable")),
        f"{first}_option": f"-e {name}={knew.get('vulkan_value')}" if name and box else None,
        f"{first}_service": unit or None,
        f"{first}_variable": name if name and not unit and not box else None,
        "backend": None if name or own else knew.get("backend") or "Vulkan",
        "vulkan_build": knew.get("vulkan_build") if own and not windows else None,
        "built_for_windows": knew.get("program") if own and windows else None,
        "set_of": knew.get("isa") if windows else None,
        **({"chip": None} if windows else {}),
    }


def chip_that_is_better_hidden(knew: Params, discrete: Gpu | None = one(vendor="amd", integrated=False)) -> Params:
    """The few units of a desktop processor's graphics crash under a sibling's code, and would be no faster than the processor."""
    isa, windows = str(knew.get("isa") or ""), knew.get("system") == "windows"
    row = override_facts(isa)
    unknown = inside_a_processor(isa) and row is None and newest_build(isa) is None
    if not (unknown or (row and row.shun)):
        return {}
    mask = setting("mask-on-windows" if windows else "mask-on-linux")
    index = discrete.get("runtime_index", 0) if discrete else mask.value
    return {"mask": mask.name, "shown": str(index), "set_of": None, "chip": None}
