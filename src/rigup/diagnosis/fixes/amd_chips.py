"""What mends a chip that nobody has code for: a sibling's code, another build, another way to the card."""

from rigup.diagnosis.fixes.amd_told import boxed, symptoms_in
from rigup.diagnosis.rule import Params, mends, one, seen
from rigup.diagnosis.rules.rocm import OVERRIDE, harms, inside_a_processor, service_of
from rigup.knowledge.amd_ways import last_rocm_for, newest_for_rocm, setting, torch_of_amd
from rigup.knowledge.chips import gfx_of_decimal, runs_on
from rigup.knowledge.rocm import gfx_family, override_facts, override_for
from rigup.knowledge.torch_builds import TorchBuild, build, builds, companions, index_url, newest_build
from rigup.machine.kinds import Gpu, Symptom, Torch, Variable

_CHIPS = ("gfx-not-in-rocblas", "gfx-not-in-torch-wheel", "rocm-dropped-arch")
_NEEDS_NO_GPU = "cpu"


def torch_holes(build: TorchBuild | None) -> Params:
    """What the step that installs torch is filled with."""
    companion_versions = companions(build.torch) if build else None
    if build is None:
        return {}
    return {
        "torch": build.torch,
        "index": index_url(build.variant),
        "torchvision": companion_versions and companion_versions.torchvision,
    }


def amd_holes(isa: str, system: str) -> Params:
    """The same of AMD's own index."""
    own = torch_of_amd(isa, system)
    return {"packages": own.packages, "index_of_amd": own.address} if own else {}


@mends("gfx-not-in-torch-wheel")
def it_is_torch() -> Params:
    """Whatever else is named: the cause is torch's own."""
    return {"by_torch": "torch", "backend": None}


@mends(*_CHIPS)
def override_that_helps(knew: Params, torch: Torch | None = None) -> Params:
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
    native = newest_build(isa) if knew.get("by_torch") else None
    return holes | {"later" if native and not row.safe else "variable": OVERRIDE}


def _code_of(torch: Torch) -> list[str]:
    """The chips that the torch which is there was compiled for, by its own list or by its release; [] where nobody knows."""
    known = None if torch.get("code") else build(str(torch.get("version") or ""))
    code = torch.get("code") or (known.code if known is not None and known.rocm and not known.extrapolated else ())
    return [target for target in code if target.startswith("gfx")]


def _server(knew: Params) -> str:
    """The unit of the server that spoke."""
    spoke = next(
        (
            symptom
            for symptom in symptoms_in(knew)
            if str(symptom.id).startswith("ollama-") and symptom.id != "ollama-named"
        ),
        None,
    )
    return service_of(spoke.place.process) if spoke else ""


@mends(*_CHIPS)
def build_that_has_it(knew: Params) -> Params:
    """For torch the newest build with the chip's code, by AMD where PyTorch has none; for others one of somebody's own."""
    isa, system, torch = str(knew.get("isa") or ""), str(knew.get("system")), knew.get("by_torch")
    if not torch:
        return {"chip": isa or None, "last": last_rocm_for(isa) if _of_the_system(knew) else None}
    build = None if system == "windows" else newest_build(isa) if isa else newest_for_rocm()
    holes = torch_holes(build) if build and build.rocm else {}
    own = amd_holes(isa, system) if not (holes and isa) else {}
    return {**holes, **own, "chip": None if holes or own else isa or None, **without_a_gpu(system)}


def _of_the_system(knew: Params) -> bool:
    return knew.get("system") == "linux" and knew.get("program") in (None, "TensorFlow", "llama.cpp")


def without_a_gpu(system: str) -> Params:
    """The build for the processor, which any machine runs."""
    newest = next((row for row in builds(system) if row.variant == _NEEDS_NO_GPU), None)
    holes = torch_holes(newest)
    return {"cpu_torch": holes.get("torch"), "cpu_index": holes.get("index"), "cpu_vision": holes.get("torchvision")}


@mends(*_CHIPS)
def way_around_rocm(knew: Params) -> Params:
    """Vulkan where the program has it: no library needs code for the chip there."""
    if knew.get("by_torch") or knew.get("package_of"):
        return {"backend": None}
    name, windows = knew.get("vulkan"), knew.get("system") == "windows"
    box = boxed(knew) and not windows
    unit = "" if windows or box or not name else knew.get("service") or "ollama"
    return {
        "vulkan_option": f"-e {name}={knew.get('vulkan_value')}" if name and box else None,
        "backend": None if name else knew.get("backend") or "Vulkan", "vulkan_service": unit or None,
        "vulkan_variable": name if name and not unit and not box else None, "set_of": knew.get("isa") if windows else None, **({"chip": None} if windows else {}),
    }  # fmt: skip


@mends("gfx-not-in-rocblas")
def files_that_zluda_reads(knew: Params, _named: Symptom = seen("zluda-asked-for", "zluda-in-words")) -> Params:
    """ZLUDA runs a torch for NVIDIA over the HIP SDK's libraries: these have to know the chip, and the torch stays."""
    return {**dict.fromkeys(("torch", "packages", "backend", "chip", "cpu_torch")), "set_of": knew.get("isa")}


@mends(*_CHIPS)
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


# -- overrides
@mends("wrong-hsa-override")
def where_the_override_is_written(knew: Params) -> Params:
    """A notebook kernel's own file alone sets what is wrong there; anything else may be set anywhere."""
    override = knew.get("override")
    if isinstance(override, Variable) and override.place.kind == "kernel":
        return {"kernel_file": override.fields["value"].where.source, "wrong": None}
    return {"wrong": OVERRIDE}


@mends("wrong-hsa-override")
def override_that_was_meant(knew: Params, override: Variable | None = one(name=OVERRIDE)) -> Params:
    """A chip that needs one gets the right one; any other is itself when nothing is set."""
    if knew.get("kernel_file"):
        return {}
    isa, system = str(knew.get("isa") or ""), knew.get("system")
    row = override_for(isa)
    needs = row is not None and not row.shun and newest_build(isa) is None and system != "windows"
    written = str((override.get("value") if override else None) or knew.get("value") or "")
    decimal = decimal_meant(written)
    spelt = decimal is not None and gfx_of_decimal(written) is None
    if needs and row:
        return {"right": row.value, "name": OVERRIDE}
    return {"right": _siblings(decimal), "name": OVERRIDE} if spelt and not isa else {}


def _siblings(value: str | None) -> str | None:
    """Who writes the chip's own name means what lets its code run."""
    row = override_for(gfx_of_decimal(value or "") or "")
    return row.value if row else value


def decimal_meant(value: str) -> str | None:
    """The form that the runtime reads ("10.3.0") of a chip's name, or of a value in quotes or without its last part."""
    plain = value.strip("\\\"'` ").lower()
    if gfx_of_decimal(plain) is not None:
        return plain
    if plain.count(".") == 1 and gfx_of_decimal(plain + ".0") is not None:
        return plain + ".0"
    row = gfx_family(plain if plain.startswith("gfx") else "gfx" + plain.replace(".", ""))
    return row.decimal if row else None


@mends("override-not-in-service")
def value_that_the_runtime_reads(
    knew: Params, written: Variable | None = one(name=OVERRIDE), statement: Symptom | None = seen("override-value-told")
) -> Params:
    """As the runtime reads it, whatever was written; the chip's own one where none was, or one that breaks it."""
    isa = str(knew.get("isa") or "")
    row = override_for(isa)
    wrote = str(knew.get("value") or (written and written.get("value")) or (statement and statement.get("value")) or "")
    value = decimal_meant(wrote)
    if gfx_of_decimal(wrote.strip("\\\"'")) is None:
        value = _siblings(value)
    if row and (value is None or harms(isa, value) or gfx_of_decimal(value) == isa):
        value = row.value
    return {"value": value, "service": knew.get("service") or "ollama", "name": OVERRIDE}
