"""The limit of the GPU's memory was not raised."""

from rigup.diagnosis.causes.hardware.graphics_memory import MIB, pages_to_allow
from rigup.diagnosis.causes.hardware.memory_figures import Figures
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge.gtt import PAGE
from rigup.machine.kinds import DeadLine, Gpu, KernelModule, ModuleParameter, Symptom

NO_PARAMETERS_OF_AMDGPU = ("gtt_size", "gtt", "gttsize_mb", "pages_limit", "vram_size")
_PAGE = 4096


@rule("apu-gtt-limit-not-applied", "likely")
def limit_is_not_in_force_as_people_say(
    symptom: Symptom = seen("gtt-not-set-in-words"), wish: Symptom = seen("gtt-limit-named", "gtt-pages-named", "gtt-size-named")
) -> Verdict:
    """The parameter stands in the text, and somebody sees that it did not help."""
    return {"said": symptom.id, "wish": wish.id}


def _auto(name: str, running: str) -> bool:
    return name == "gttsize" and running == "-1"


@rule("apu-gtt-limit-not-applied")
def wished_and_not_in_force(limit: ModuleParameter = one(module=("ttm", "amdttm", "amdgpu"), name=("pages_limit", "gttsize"))) -> Verdict:
    """The configured limit is not the one that runs."""
    wished, running = limit.configured, limit.running
    return wished.isdigit() and running.lstrip("-").isdigit() and int(wished) != int(running) and not _auto(limit.name, running)


@rule("apu-gtt-limit-not-applied")
def no_such_parameter(
    wish: ModuleParameter = one(module="amdgpu", name=NO_PARAMETERS_OF_AMDGPU),
    refused: Symptom | None = seen(tag="device-out-of-memory taken-refused torch-out-of-memory"),
) -> Verdict:
    """amdgpu has no parameter of this name, and ignores it: what fails for want of memory fails by that."""
    ignored = not wish.knows("running") and bool(wish.configured)
    return ignored and {"name": wish.name, **({"severity": "error"} if refused is not None else {})}


@rule("apu-gtt-limit-not-applied")
def wished_and_the_ceiling_is_lower(
    gpu: Gpu = one(integrated=True, vendor="amd"), limit: ModuleParameter = one(module=("ttm", "amdttm"), name="pages_limit")
) -> Verdict:
    """More pages were configured than the GPU may map."""
    wished = limit.configured
    return wished.isdigit() and int(wished) * PAGE > 1.1 * gpu.gtt


@rule("apu-gtt-limit-not-applied", "likely")
def line_that_nobody_reads(
    line: DeadLine = one(module=("amdgpu", "ttm", "amdttm")), limit: ModuleParameter | None = one(name="pages_limit")
) -> Verdict:
    """The line lacks its keyword, so that it sets nothing; where another line is in force, that is no harm."""
    wished = limit.get("configured") if limit else None
    in_force = bool(wished) and limit is not None and limit.get("running") == wished
    return line.name in ("pages_limit", "gttsize", "page_pool_size") and not in_force and {"name": line.name}


@rule("apu-gtt-limit-not-applied", "likely")
def limit_set_in_a_way_that_is_given_up(
    _said: Symptom = seen("amdgpu-gttsize-deprecated"), limit: ModuleParameter | None = one(module=("ttm", "amdttm"), name="pages_limit")
) -> Verdict:
    """The kernel says so; where the way that it names is taken besides, that is in force."""
    return limit is None or not limit.get("configured") or limit.get("running") not in (None, limit.get("configured"))


def _bytes(wish: ModuleParameter) -> int:
    configured = str(wish.get("configured") or "")
    return int(configured) * (MIB if wish.name == "gttsize" else _PAGE) if configured.isdigit() else 0


@rule("apu-gtt-limit-not-applied", "likely")
def runtime_has_less_than_was_wished(
    wish: ModuleParameter = one(module=("amdgpu", "ttm", "amdttm"), name=("gttsize", "pages_limit")),
    pool: Symptom = seen("rocminfo-gpu-pool"),
    works: Symptom | None = seen("works-told"),
) -> Verdict:
    """The runtime's pool is much smaller than what the kernel's line asks for."""
    wished = _bytes(wish)
    return works is None and wished > 1.3 * int(pool.get("kib") or 0) * 1024 and {"name": wish.name}


@text_rule("apu-gtt-limit-not-applied", "likely")
def kernel_maps_less_than_was_wished(
    wish: ModuleParameter = one(module=("amdgpu", "ttm", "amdttm"), name=("gttsize", "pages_limit")),
    mapped: Symptom = seen("amdgpu-gtt-ready"),
) -> Verdict:
    """The kernel's log has another size than the configured one: it was not taken up, or the boot loader not written anew."""
    configured = str(wish.get("configured") or "")
    wished = int(configured) * (MIB if wish.name == "gttsize" else _PAGE) if configured.isdigit() else 0
    return wished > 1.2 * int(mapped.get("mib") or 0) * MIB and {"name": wish.name}


@text_rule("apu-gtt-limit-not-applied", "likely")
def limit_of_a_module_that_is_not_loaded(
    wish: ModuleParameter = one(module=("ttm", "amdttm"), name="pages_limit"),
    loaded: KernelModule = one(name=("ttm", "amdttm"), loaded=True),
    same: ModuleParameter | None = one(module=("ttm", "amdttm"), name="pages_limit"),
    gpu: Gpu | None = one(vendor="amd"),
) -> Verdict:
    """AMD's own driver brings amdttm, the kernel's has ttm: a limit of the other one is not read."""
    alone = same is None or same.module == wish.module
    low = gpu is None or not gpu.knows("gtt") or int(wish.configured or 0) * _PAGE > 1.1 * gpu.gtt
    return alone and low and bool(wish.get("configured")) and wish.module != loaded.name and {"name": wish.name}


@text_rule("apu-gtt-limit-not-applied", "likely")
def graphics_map_less_than_was_wished(
    wish: ModuleParameter = one(module=("ttm", "amdttm"), name="pages_limit"),
    gpu: Gpu = one(vendor="amd"),
    card: Gpu | None = one(integrated=False),
) -> Verdict:
    """More pages were configured than the graphics may map; that they are a processor's, the wish tells."""
    wished = str(wish.configured or "")
    return card is None and wished.isdigit() and int(wished) * _PAGE > 1.2 * gpu.gtt > 0 and {"name": wish.name}


@text_rule("apu-gtt-limit-not-applied", "likely")
def mapped_total_is_less_than_was_wished(
    wish: ModuleParameter = one(module=("amdgpu", "ttm", "amdttm"), name=("gttsize", "pages_limit")), gpu: Gpu = one(vendor="amd")
) -> Verdict:
    """sysfs has another total than the one that the kernel's line or a file of modprobe's asks for."""
    configured = str(wish.get("configured") or "")
    wished = int(configured) * (MIB if wish.name == "gttsize" else _PAGE) if configured.isdigit() else 0
    return wished > 1.2 * gpu.gtt and {"name": wish.name}


@text_rule("apu-gtt-limit-not-applied", "likely")
def runtime_sees_less_than_was_wished(
    wish: ModuleParameter = one(module=("ttm", "amdttm"), name="pages_limit"),
    symptom: Symptom = seen("torch-out-of-memory-figures"),
    _hip: Symptom = seen("torch-out-of-memory", runtime="HIP"),
    card: Gpu | None = one(vendor="amd", integrated=False),
    named: Symptom | None = seen("amd-rx-named", "amd-xt-named"),
) -> Verdict:
    """The runtime's total is what the graphics may map; the line asks for much more, which only who shares memory does."""
    wished, total = str(wish.get("configured") or ""), Figures(symptom).total or 0
    alone = card is None and named is None
    return alone and wished.isdigit() and int(wished) * _PAGE > 1.3 * total > 0 and {"name": wish.name}


mends("apu-gtt-limit-not-applied")(pages_to_allow)


@mends("apu-gtt-limit-not-applied")
def pages_that_were_wished(wish: ModuleParameter = one(module="amdgpu", name=NO_PARAMETERS_OF_AMDGPU)) -> Params:
    """What was given to a parameter that is not there is in MiB, as that of the real one."""
    in_mib = str(wish.configured).isdigit() and wish.name != "pages_limit"
    return {"pages": int(wish.configured) * 2**20 // PAGE} if in_mib else {}


@mends("apu-gtt-limit-not-applied")
def limit_that_nobody_can_reckon(knew: Params) -> Params:
    """How much it is to be is then left to the reader."""
    return {"unknown": None if knew.get("pages") else "ttm"}
