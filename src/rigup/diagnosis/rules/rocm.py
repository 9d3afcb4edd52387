"""AMD chips: who has code for them, and what an override makes of them."""

import re

from rigup.diagnosis.rule import Every, Verdict, lacks, one, rule, seen, wordings
from rigup.diagnosis.rules.access import COMPUTING
from rigup.knowledge.chips import gfx_base, gfx_of_decimal, isa_order, runs_on
from rigup.knowledge.lifecycle import ended
from rigup.knowledge.rocm import gfx_family, override_facts, override_for
from rigup.knowledge.torch_builds import build, builds
from rigup.machine.kinds import Gpu, KernelLibrary, Platform, Symptom, Toolkit, Torch, Variable

OVERRIDE = "HSA_OVERRIDE_GFX_VERSION"
MASKS = ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL")
REFUSED = wordings(tag="ollama-refuses-chip")
NO_CODE = wordings(tag="no-code-for-amd-chip")
_COMPUTING = ("", *COMPUTING)  # "" is a unit whose name the text does not tell


def left(isa: str) -> bool:
    """ROCm once had the chip, has left it, and no sibling's code runs on it."""
    return ended(isa) is not None and override_for(isa) is None


def helps(isa: str, value: str | None) -> bool:
    """Whether that override is one that is known to help the chip."""
    row = override_for(isa)
    return bool(row and value) and value in (row.value, *(other.value for other in row.alternatives))  # type: ignore[union-attr]


def fits(isa: str, value: str | None) -> bool:
    """Under that override the chip is itself, or one whose code it runs."""
    return bool(value) and (gfx_of_decimal(value or "") == gfx_base(isa) or helps(isa, value))


def harms(isa: str, value: str | None) -> bool:
    """The override names a chip of another kind, or one that is known to break this one."""
    other, row = gfx_of_decimal(value or ""), override_facts(isa)
    if other is None or not isa_order(isa) or fits(isa, value):
        return False
    return isa_order(other)[:1] != isa_order(isa)[:1] or bool(row and (value in row.bad_values or row.value is None))


def inside_a_processor(isa: str) -> bool:
    """No card has that chip, only graphics in processors."""
    row = gfx_family(isa)
    return bool(row and row.integrated)


def spared(error: Symptom, served: Symptom | None) -> bool:
    """A processor's graphics are left out while the server computes on a card: as it should be."""
    return error.id in REFUSED and served is not None and inside_a_processor(str(error.get("gfx")))


# -- libraries without code for the chip
@rule("gfx-not-in-rocblas")
def library_has_no_kernels(
    error: Symptom = seen(tag="ollama-refuses-chip"), served: Symptom | None = seen("ollama-computes-on-rocm", "ollama-amdgpu-supported"),
    statement: Symptom | None = seen("override-value-told"), torch: Torch | None = None, override: Variable | None = one(name=OVERRIDE), unit: Symptom | None = seen("service-unit-named"),
) -> Verdict:  # fmt: skip
    """It says for which chip it looked in vain."""
    gfx = str(error.get("gfx"))
    excused = spared(error, served) or foreign(error, torch) or meant_elsewhere(error, statement, override, unit)
    return not left(gfx) and not excused and {"gfx": gfx}


def meant_elsewhere(error: Symptom, symptom: Symptom | None, override: Variable | None, unit: Symptom | None) -> bool:
    """A service or a container looks for the card's own chip, though an override that helps is set somewhere."""
    value = (override.get("value") if override else None) or (symptom.get("value") if symptom else None)
    served = unit is not None or error.place.kind in ("service", "unit", "container")
    return served and helps(str(error.get("gfx")), value)


def foreign(error: Symptom, torch: Torch | None) -> bool:
    """The files are those of a ROCm of another major release than torch was built for."""
    folder, mine = re.search(r"/rocm-(\d{1,2})\.", str(error.get("path"))), (torch and torch.get("hip")) or ""
    return bool(folder and mine) and folder[1] != mine.partition(".")[0]  # type: ignore[index]


@rule("gfx-not-in-rocblas", strength="likely")
def library_on_windows_is_of_another_release(error: Symptom = seen("rocblas-file-unreadable")) -> Verdict:
    """The file is there, since it looks no further, and cannot be read: people copy them from other releases."""
    return {"gfx": error.get("gfx")}


@rule("gfx-not-in-rocblas", strength="likely")
def library_of_old_names_no_chip(
    _error: Symptom = seen("rocblas-without-library"), card: Gpu | None = one(vendor="amd"), named: Symptom | None = seen("rocblas-without-arch"), torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """Older releases do not say for which chip they looked in vain."""
    isa = (card and card.get("isa")) or ""
    return named is None and not foreign(_error, torch) and not left(isa) and {"gfx": isa or None}


@rule("rocm-dropped-arch", strength="likely")
def library_of_old_names_no_old_chip(
    card: Gpu = one(vendor="amd"), _error: Symptom = seen("rocblas-without-library")
) -> Verdict:
    """The same, and the card is one that ROCm has left."""
    return left(card.isa) and {"gfx": card.isa}


@rule("gfx-not-in-rocblas", strength="likely")
def installed_library_has_no_kernels(
    library: KernelLibrary = one(name="rocblas", owner=("ollama", "torch")), card: Gpu = one(vendor="amd"),
    override: Variable | None = one(name=OVERRIDE), other: Gpu | None = one(vendor="amd", integrated=False), torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """Graphics in the processor beside a card of its own are not meant."""
    excused = (
        bool(override and override.get("value"))
        or bool(card.get("integrated") and other)
        or bool(torch and torch.get("available"))
    )
    return not excused and not runs_on(card.isa, library.code) and not left(card.isa) and {"gfx": card.isa}


@rule("rocm-dropped-arch")
def once_had_kernels(error: Symptom = seen(tag="ollama-refuses-chip")) -> Verdict:
    """Older releases had the chip."""
    return left(str(error.get("gfx"))) and {"gfx": error.get("gfx")}


@rule("rocm-dropped-arch", strength="likely")
def once_had_code(
    card: Gpu = one(vendor="amd"), _error: Symptom = seen("segfault-in-hip", "ggml-no-function", tag="no-code-for-amd-chip"), listed: Symptom | None = seen("code-objects-listed"),
) -> Verdict:  # fmt: skip
    """No code for a chip that older releases had; where a program's own targets are listed, it is that program's."""
    return listed is None and left(card.isa) and {"gfx": card.isa}


@rule("rocm-dropped-arch", strength="likely")
def crash_on_an_old_chip(
    card: Gpu = one(vendor="amd"), _error: Symptom = seen("segmentation-fault", "segmentation-fault-signal"), torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """A program ends on the first kernel; that ROCm is in use, its own list or a torch for it shows."""
    used = card.knows("shown_isa") or bool(torch and torch.get("hip"))
    return used and left(card.isa) and {"gfx": card.isa}


def _for_amd(torch: Torch) -> bool:
    """It says so, or its code is of AMD's chips."""
    return bool(torch.hip) if torch.knows("hip") else any(code.startswith("gfx") for code in torch.get("code") or ())


@rule("rocm-dropped-arch")
def build_without_an_old_chip(
    torch: Torch, card: Gpu = one(vendor="amd"), other: Gpu | None = one(vendor="amd", integrated=False)
) -> Verdict:
    """This torch was compiled after ROCm had left the chip."""
    excused = card.get("integrated") and other
    if excused or not _for_amd(torch) or not torch.code:
        return False
    return left(card.isa) and not runs_on(card.isa, torch.code) and {"gfx": card.isa}


@rule("gfx-not-in-torch-wheel")
def build_without_the_chip(
    torch: Torch, card: Gpu = one(vendor="amd"), override: Variable | None = one(name=OVERRIDE, at="shell container"),
    other: Gpu | None = one(vendor="amd", integrated=False), statement: Symptom | None = seen("override-value-told"), guest: Platform | None = one(wsl=2),
    computes: Symptom | None = seen("tensor-on-its-device"), error: Symptom | None = seen("segmentation-fault", "segmentation-fault-signal", tag="no-code-for-amd-chip"),
) -> Verdict:  # fmt: skip
    """Neither the chip's own code nor, by an override, a sibling's. What torch does not even list fails before any code is looked for; what has computed had code."""
    overridden = bool(override and override.get("value")) or bool(statement and helps(card.isa, statement.get("value")))
    overridden = overridden or (computes is not None and error is None)
    unlisted = torch.get("available") is False and (guest is not None or torch.get("own_hsa") is True)
    if (card.get("integrated") and other) or overridden or unlisted or not _for_amd(torch) or not torch.code:
        return False
    return not left(card.isa) and not runs_on(card.isa, torch.code) and {"gfx": card.isa}


def wheels_have(isa: str, torch: Torch | None) -> bool:
    """This torch has code for the chip; where it tells neither its code nor its release, every ROCm wheel has."""
    if torch is not None and torch.get("code"):
        return runs_on(isa, torch.code)
    mine = build(torch.version) if torch is not None and torch.knows("version") and torch.version else None
    rows = [mine] if mine else [row for row in builds() if row.rocm and row.code]
    return bool(isa and rows) and all(row.rocm and runs_on(isa, row.code) for row in rows)


@rule("gfx-not-in-torch-wheel", strength="likely")
def function_is_not_there(error: Symptom = seen(tag="no-code-for-amd-chip"), card: Gpu | None = one(vendor="amd"), override: Variable | None = one(name=OVERRIDE, at="shell container"), shown: Symptom | None = seen(tag="anothers"),
                          named: Symptom | None = seen("torch-named"), program: Symptom | None = seen("ggml-device-failed", "ggml-finds-devices", "ggml-has-no-code-for-amds-card", "hip-program-named", "hip-program-no-function", "hip-program-tells-no-function", "image-for-instinct-named", "julia-of-amd-shown", "hip-names-its-own-source", "rocblas-solution-without-code", "rocblas-passes-on-that-there-is-no-code"), torch: Torch | None = None) -> Verdict:  # fmt: skip
    """HIP found no code for the device, in a program that is torch's."""
    if program or (shown and not named and not (torch and torch.knows("version"))):
        return False
    isa = (card and card.get("isa")) or ""
    had = bool(isa) and wheels_have(isa, torch)
    overridden = bool(override and isa and helps(isa, override.get("value")))
    return not had and not overridden and not left(isa) and {"gfx": isa or None, "why": error.id}


@rule("gfx-not-in-torch-wheel", strength="likely")
def no_code_objects_in_torch(torch: Torch, error: Symptom = seen("hip-no-code-objects")) -> Verdict:
    """HIP's own log names the chip, and the program is torch."""
    return bool(torch.hip) and {"gfx": error.get("gfx"), "why": error.id}


@rule("binary-arch-missing", strength="likely")
def no_code_objects_in_a_program(
    error: Symptom = seen("hip-no-code-objects"), torch: Torch | None = None, symptom: Symptom | None = seen(tag="no-code-for-amd-chip"), own: Symptom | None = seen("ggml-finds-devices"),
) -> Verdict:  # fmt: skip
    """The same in a program of its own: nothing speaks of torch, or the program names itself."""
    return (symptom is None or own is not None) and not (torch and torch.get("hip")) and {"gfx": error.get("gfx")}


@rule("gfx-not-in-torch-wheel", strength="likely")
def crash_on_an_unlisted_chip(
    card: Gpu = one(vendor="amd"), _error: Symptom = seen("segfault-in-hip"),
    override: Variable | None = one(name=OVERRIDE, at="shell container"), discrete: Gpu | None = one(vendor="amd", integrated=False),
) -> Verdict:  # fmt: skip
    """HIP crashes on a chip for which nobody builds; beside a card a processor's graphics are not meant."""
    intended = not (card.get("integrated") and discrete)
    return intended and override is None and override_for(card.isa) is not None and {"gfx": card.isa}


# -- overrides
@rule("wrong-hsa-override")
def runtime_shows_a_foreign_chip(override: Variable = one(name=OVERRIDE), card: Gpu = one(vendor="amd")) -> Verdict:
    """What the runtime shows is what the override says, and not what the card is."""
    shown = gfx_base(card.shown_isa)
    return (
        shown != gfx_base(card.isa)
        and gfx_of_decimal(override.value or "") == shown
        and not helps(card.isa, override.value)
    )


@rule("wrong-hsa-override")
def override_of_another_kind(override: Variable = one(name=OVERRIDE), card: Gpu = one(vendor="amd"),
                             other: Gpu | None = one(vendor="amd", integrated=False), mask: Variable | None = one(name=MASKS[:2], at="shell container")) -> Verdict:  # fmt: skip
    """A processor's graphics may suffer for the card that the override is meant for; a mask may hide any card but the one that it names."""
    intended = card.knows("integrated") and other and other.knows("isa") and fits(other.isa, override.value)
    hidden = mask is not None and bool(mask.get("value")) and card.get("uuid", "") not in str(mask.value).split(",")
    return not intended and not hidden and harms(card.isa, override.value)


@rule("wrong-hsa-override")
def override_cannot_be_read(override: Variable = one(name=OVERRIDE)) -> Verdict:
    """Three numbers with dots; anything else leaves no GPU at all."""
    value = str(override.value or "")
    intended = any(letter.isdigit() for letter in value) and "$" not in value
    quoted = override.place.kind in ("service", "unit") and gfx_of_decimal(bare(value)) is not None
    return intended and gfx_of_decimal(value) is None and not quoted


@rule("wrong-hsa-override")
def override_of_a_kernel_is_empty(
    override: Variable = one(name=OVERRIDE, at="kernel"), _card: Gpu = one(vendor="amd")
) -> Verdict:
    """A kernel.json cannot take a variable away: left empty it is still defined, and read as a version."""
    return override.value == ""


@rule("wrong-hsa-override", strength="likely")
def shown_chip_contradicts_the_name(card: Gpu = one(vendor="amd")) -> Verdict:
    """Another generation than the card's name means: something pretends."""
    shown, real = gfx_base(card.shown_isa), gfx_base(card.isa)
    another = inside_a_processor(shown) and not inside_a_processor(real)  # nobody overrides to those: a second device
    return not another and isa_order(shown)[:1] != isa_order(real)[:1] and bool(shown and real)


@rule("mixed-gfx-single-override")
def helps_one_and_harms_another(
    override: Variable = one(name=OVERRIDE), needy: Gpu = one(vendor="amd"), harmed: Gpu = one(vendor="amd"),
    mask: Variable | None = one(name=MASKS[:2], at="shell container"),
) -> Verdict:  # fmt: skip
    """The plain variable renames every card: the one that it suits, and one of another kind; one that is hidden does not mind."""
    value = override.value
    foreign = gfx_of_decimal(value or "") != gfx_base(needy.isa) or harmed.get("integrated") is False
    mixed = fits(needy.isa, value) and foreign and harms(harmed.isa, value)
    hidden = mask is not None and bool(mask.get("value"))
    return mixed and not hidden and {"value": value, "severity": "warning" if harmed.get("integrated") else "error"}


# -- services
@rule("override-not-in-service")
def set_in_the_shell_only(
    missing: Every[Variable] = lacks(Variable, at="service unit", name=OVERRIDE), elsewhere: Variable = one(at="shell", name=OVERRIDE),
    card: Gpu | None = one(vendor="amd"), unit_variable: Variable | None = one(at="service unit"), vulkan: Symptom | None = seen("ggml-vulkan-named", at="service unit"),
) -> Verdict:  # fmt: skip
    """A service does not read a shell's files. One that nobody needs is not missed; nor one of a unit that is not there, or that computes by Vulkan."""
    name = missing.place.process.partition(":")[2]
    wanted = bool(elsewhere.value) and (card is None or helps(card.get("isa") or "", elsewhere.value))
    free = vulkan is not None and service_of(vulkan.place.process) == (name or "ollama")
    ours = not free and name in _COMPUTING and (bool(name) or unit_variable is not None)
    return wanted and ours and {"service": name or "ollama", "value": elsewhere.value, "name": OVERRIDE}


@rule("override-not-in-service")
def runs_without_what_is_configured(running: Variable = one(at="service", name=OVERRIDE, value=None), elsewhere: Variable = one(at="shell unit", name=OVERRIDE),
                                    card: Gpu | None = one(vendor="amd")) -> Verdict:  # fmt: skip
    """The server's own line shows the variable empty."""
    wanted = bool(elsewhere.value) and (card is None or helps(card.get("isa") or "", elsewhere.value))
    return wanted and {"service": service_of(running.place.process), "value": elsewhere.value, "name": OVERRIDE}


@rule("override-not-in-service", strength="likely")
def refused_though_a_sibling_is_listed(
    error: Symptom = seen(tag="ollama-refuses-chip"), override: Variable | None = one(at="service", name=OVERRIDE),
    served: Symptom | None = seen("ollama-computes-on-rocm", "ollama-amdgpu-supported"), platform: Platform | None = None, statement: Symptom | None = seen("override-value-told", "override-set-told-in-capitals"),
    shell: Variable | None = one(at="shell", name=OVERRIDE),
) -> Verdict:  # fmt: skip
    """With the override in force the server would not have looked at the list; on Windows there is none."""
    row = override_for(str(error.get("gfx")))
    listed = str(error.get("listed") or "").replace(":true", "").split()
    windows = "\\" in str(error.get("library")) or bool(platform and platform.get("system") == "windows")
    boxed = error.place.world.startswith("container") and override is None  # no unit starts it there
    useful = row is not None and row.sibling in listed and not windows and not boxed
    unset = (override is None or not override.get("value")) and not spared(error, served)
    is_named = useful and unset and (override is not None or statement is not None or shell is not None)
    wrote = str(shell.get("value") or "") if shell is not None else ""
    value = wrote if gfx_of_decimal(wrote) in listed else row and row.value
    return is_named and {"service": service_of(error.place.process), "value": value, "name": OVERRIDE}


@rule("override-not-in-service")
def quotes_went_into_the_value(override: Variable = one(at="service unit", name=OVERRIDE), card: Gpu | None = one(vendor="amd")) -> Verdict:  # fmt: skip
    """Quotes within quotes reach the server, which cannot read the value: it is set and not in force."""
    value = str(override.value or "")
    intended = bare(value)
    wanted = gfx_of_decimal(intended) is not None and (card is None or helps(card.get("isa") or "", intended))
    return (
        intended != value
        and wanted
        and {"service": service_of(override.place.process), "value": intended, "name": OVERRIDE}
    )


def bare(value: str) -> str:
    """Without the quotes that went into it."""
    return value.strip("\\\"' ")


def service_of(process: str) -> str:
    """The unit of a process; of a server that tells none the one that its installer makes."""
    return process.partition(":")[2] or "ollama"


# -- two devices where one is meant
@rule("igpu-visible-beside-dgpu")
def integrated_one_fails(error: Symptom = seen("ggml-device-failed"), igpu: Gpu = one(integrated=True, vendor="amd"),
                         dgpu: Gpu = one(integrated=False, vendor="amd")) -> Verdict:  # fmt: skip
    """The device that failed is the processor's own."""
    return str(error.get("index")) == str(igpu.runtime_index) and {
        "device": dgpu.get("runtime_index", 0),
        "severity": "error",
    }


@rule("igpu-visible-beside-dgpu", strength="likely")
def integrated_one_is_looked_up(
    error: Symptom = seen("rocblas-without-arch"), dgpu: Gpu = one(integrated=False, vendor="amd")
) -> Verdict:
    """The chip without kernels is one that only processors have, and a card is there that is another."""
    gfx = str(error.get("gfx"))
    return inside_a_processor(gfx) and dgpu.isa != gfx and {"device": dgpu.get("runtime_index", 0), "severity": "error"}


@rule("igpu-visible-beside-dgpu", strength="likely")
def integrated_one_is_used(buffer: Symptom = seen("ggml-buffer-on-device"), igpu: Gpu = one(integrated=True, vendor="amd"),
                           dgpu: Gpu = one(integrated=False, vendor="amd")) -> Verdict:  # fmt: skip
    """A part of the work lies on the slow one."""
    return str(buffer.get("index")) == str(igpu.runtime_index) and {"device": dgpu.get("runtime_index", 0)}


@rule("igpu-visible-beside-dgpu", strength="likely")
def both_are_offered(
    _missing: Every[Variable] = lacks(Variable, at="shell", name=MASKS), igpu: Gpu = one(integrated=True, vendor="amd"),
    dgpu: Gpu = one(integrated=False, vendor="amd"), torch: Torch | None = None, rocm: Toolkit | None = one(name="rocm"),
) -> Verdict:  # fmt: skip
    """Both are nodes of the kernel's compute driver, and ROCm is in use."""
    used = rocm is not None or bool(torch and torch.get("hip"))
    return (
        used
        and igpu.kfd_node is not None
        and dgpu.kfd_node is not None
        and {"device": max(dgpu.kfd_node - 1, 0) if dgpu.kfd_node < igpu.kfd_node else 1}
    )
