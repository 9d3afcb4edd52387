"""ROCm's libraries and the builds that stand on them: of one release, for this maker, whole."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.library import missed_and_there
from rigup.diagnosis.rules.rocm import left
from rigup.knowledge import wsl
from rigup.knowledge.chips import runs_on
from rigup.knowledge.rocm_libraries import keeps_its_number
from rigup.machine.kinds import (
    ContainerEngine,
    Gpu,
    KernelLibrary,
    ModuleParameter,
    PathLibrary,
    Platform,
    SearchPath,
    Symptom,
    Toolkit,
    Torch,
    Variable,
    World,
)

_MIB, _PAGE = 1 << 20, 4096  # bytes of the units that the kernel's parameters have
_HIP = "libamdhip64"  # its number is ROCm's own
_NUMBERED = (_HIP, "librocblas", "libMIOpen", "libhipblas")
_AMD_ONLY = (
    "HSA_",
    "ROCR_",
    "HIP_",
    "MIOPEN_",
    "ROCM_",
    "PYTORCH_HIP_",
    "PYTORCH_ROCM_",
    "TORCH_BLAS_PREFER_HIPBLASLT",
    "AMD_",
)
_MASKS = ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL")


def _major(version: str | None) -> str:
    return str(version or "").partition(".")[0]


def numbered(error: Symptom) -> bool:
    """A library whose number tells the release of ROCm, so that another number means another release."""
    return error.get("lib") in _NUMBERED


def of_its_own_release(error: Symptom, torch: Torch | None) -> bool:
    """HIP's library is asked for by the number of the very ROCm that torch's own version names."""
    mine = re.search(r"\+rocm(\d{1,2})\.", str(torch.get("version") or "")) if torch else None
    return mine is not None and error.get("lib") == _HIP and mine[1] == error.get("want")


@rule("rocm-abi-mismatch")
def library_of_another_major(torch: Torch, error: Symptom = seen("rocm-library-not-loaded")) -> Verdict:
    """Something was built for another ROCm than torch."""
    return (
        error.get("lib") == _HIP
        and bool(torch.hip)
        and _major(torch.hip) != error.get("want")
        and {"have": _major(torch.hip)}
    )


@rule("rocm-abi-mismatch", strength="likely")
def library_of_another_release(
    rocm: Toolkit = one(name="rocm"), error: Symptom = seen("rocm-library-not-loaded"), torch: Torch | None = None
) -> Verdict:
    """Something was built for another ROCm than is installed."""
    unlike = error.get("lib") == _HIP and _major(rocm.version) != error.get("want")
    return unlike and not (torch and torch.get("hip")) and {"have": _major(rocm.version)}


@rule("rocm-abi-mismatch", strength="likely")
def program_was_linked_with_another_release(
    error: Symptom = seen("program-not-linked-with-rocm"), rocm: Toolkit = one(name="rocm")
) -> Verdict:
    """A program of the system, which no environment's torch concerns, was built for another ROCm than is installed."""
    return _major(rocm.version) != error.want and {"have": _major(rocm.version)}


@rule("rocm-abi-mismatch", strength="likely")
def another_rocm_stands_first(
    torch: Torch, rocm: Toolkit = one(name="rocm"), library: PathLibrary = one(), path: SearchPath = one(variable="LD_LIBRARY_PATH")
) -> Verdict:  # fmt: skip
    """A wheel brings its own ROCm, and the variable leads to one of another major before it."""
    held = library.soname.startswith((_HIP, "librocblas")) and library.folder == path.path
    is_elsewhere = path.path.startswith(rocm.path.rstrip("/") + "/") and _major(torch.get("hip")) not in (
        "",
        _major(rocm.version),
    )
    return held and is_elsewhere and not torch.get("available") and {"have": _major(torch.hip), "folder": path.path}


@rule("rocm-abi-mismatch", strength="likely")
def library_is_not_there(error: Symptom = seen("rocm-library-not-loaded"), own: Symptom | None = seen("torch-import-lacks-library"), part: Symptom | None = seen("torch-c-part-imported"), built: Symptom | None = seen("wheel-runpath-told"),
                         named: Symptom | None = seen(tag="rocm-stack-wheels"), torch: Torch | None = None, rocm: Toolkit | None = one(name="rocm"), in_environment: Symptom | None = seen("rocm-library-lies-in-the-environment"), night: Symptom | None = seen(tag="builds-of-a-night")) -> Verdict:  # fmt: skip
    """An extension wants a library of some ROCm; what is there is not told."""
    is_known = error.get("lib") == _HIP and bool((torch and torch.get("hip")) or rocm)
    bundled = (named is not None and keeps_its_number(str(error.get("lib")))) or (
        (part is not None or (night is not None and rocm is None)) and not numbered(error)
    )
    return (
        not is_known
        and not bundled
        and not (part is not None and of_its_own_release(error, torch))
        and not missed_and_there(error, in_environment)
        and built is None
        and not (own and str(own.get("lib")).startswith(str(error.get("lib"))))
    )


@rule("rocm-abi-mismatch", strength="likely")
def kernels_of_another_rocblas(
    error: Symptom = seen("rocblas-loads-from-system"), library: KernelLibrary | None = one(name="rocblas")
) -> Verdict:
    """A file that is there and cannot be read was written for another rocBLAS than the one that runs."""
    named = re.search(r"gfx[0-9a-f]{3,4}(?![0-9a-f])", str(error.path))
    absent = library is not None and named is not None and named[0] not in (library.get("code") or ())
    return not absent


@rule("rocm-dropped-arch", strength="likely")
def library_that_a_program_brings_left_the_chip(
    library: KernelLibrary = one(name="rocblas", owner=("ollama", "torch")), card: Gpu = one(vendor="amd"), other: Gpu | None = one(vendor="amd", integrated=False),
    override: Variable | None = one(name="HSA_OVERRIDE_GFX_VERSION"),
) -> Verdict:  # fmt: skip
    """Its rocBLAS is from after ROCm had left the chip, though torch itself may still have code for it."""
    intended = not (card.get("integrated") and other) and not (override and override.get("value"))
    return intended and left(card.isa) and not runs_on(card.isa, library.code) and {"gfx": card.isa}


@rule("rocm-dropped-arch", "likely")
def server_holds_the_chip_for_too_old(
    symptom: Symptom = seen("ollama-amdgpu-too-old", "ollama-says-too-old-with-its-number"), other: Gpu | None = one(vendor="nvidia"), served: Symptom | None = seen("ollama-computes-on-rocm", "ollama-amdgpu-supported"),
) -> Verdict:  # fmt: skip
    """The server's own word; an old one beside the card that it computes on is left out by right."""
    has_discrete = served is not None or (other is not None and bool(other.get("vram")))
    return {**symptom.values(), **({"severity": "note"} if has_discrete else {})}


@rule("rocm-abi-mismatch", "possible")
def server_waits_for_rocm_in_vain(
    symptom: Symptom = seen("ollama-waits-for-rocm-in-vain"),
    other: Gpu | None = one(vendor="nvidia"), own: Gpu | None = one(vendor="amd"),
) -> Verdict:  # fmt: skip
    """The search for ROCm's devices does not end; beside another maker's card alone there are none to find."""
    return (other is None or own is not None) and symptom.values()


@rule("broken-wheel-missing-library", strength="likely")
def torch_itself_lacks_a_library(
    error: Symptom = seen("torch-import-lacks-library", "torch-typed-import-lacks-library"), torch: Torch | None = None,
    system: Symptom | None = seen("rocm-package-of-a-library"),
) -> Verdict:  # fmt: skip
    """Its own import fails on a library that the wheel does not bring."""
    lib = str(error.get("lib"))
    want = lib.partition(".so.")[2].partition(".")[0]
    other = lib.startswith(_HIP) and bool(torch and torch.get("hip")) and _major(torch.hip) != want  # type: ignore[union-attr]
    installed = system is not None and lib.startswith(f"lib{system.name}.so.") and want != str(system.major)
    return not (other or installed) and {"lib": lib}


@rule("broken-wheel-missing-library", strength="likely")
def wheel_brings_none_of_it(
    error: Symptom = seen("rocm-library-not-loaded"), _named: Symptom = seen(tag="rocm-stack-wheels")
) -> Verdict:
    """A wheel for ROCm brings ROCm's libraries; this one never had another number, so it was left out."""
    lib = str(error.get("lib"))
    return keeps_its_number(lib) and {"lib": lib}


@rule("broken-wheel-missing-library", strength="likely")
def wheel_looks_elsewhere(
    error: Symptom = seen("rocm-library-not-loaded"), _built: Symptom = seen("wheel-runpath-told")
) -> Verdict:
    """What is in the wheel looks for its libraries where they lay when it was built."""
    return {"lib": error.get("lib")}


@rule("wsl-rocm-release-not-supported", strength="possible")
def runtime_sees_wsl_and_no_card(
    _platform: Platform = one(wsl=2), _wsl: Symptom = seen("wsl-detected"), _error: Symptom = seen("hsa-out-of-resources", "hsa-init-failed", "wsl-no-adapter"),
    torch: Torch = one(), card: Gpu | None = one(vendor="amd"), refused: Symptom | None = seen("wsl-gpu-unsupported"),
) -> Verdict:  # fmt: skip
    """Nobody has shown a card, which may be none; that torch was installed for one tells that it is missed."""
    return bool(torch.get("hip")) and not torch.get("available") and card is None and refused is None


@rule("cuda-torch-on-amd")
def build_for_the_other_maker(torch: Torch, card: Gpu = one(vendor="amd"), other: Gpu | None = one(vendor="nvidia"),
                              rocm: Toolkit | None = one(name="rocm"), error: Symptom | None = seen(tag="rocm-stack-no-nvidia"),
                              zluda: Symptom | None = seen("zluda-asked-for", "zluda-in-words")) -> Verdict:  # fmt: skip
    """Graphics in a processor count only where somebody wanted to compute on them; who asks ROCm's tools for them does. ZLUDA wants that build."""
    intended = card.get("integrated") is False or rocm is not None or error is not None or card.knows("shown_isa")
    return (
        intended
        and other is None
        and zluda is None
        and bool(torch.cuda)
        and torch.get("hip") is None
        and torch.get("available") is not True
    )


@rule("cuda-torch-on-amd")
def it_looks_for_nvidia(card: Gpu = one(vendor="amd"), _error: Symptom = seen(tag="rocm-stack-no-nvidia"), other: Gpu | None = one(vendor="nvidia"),
                        torch: Torch | None = None, hosted: Symptom | None = seen(tag="hosted-notebook")) -> Verdict:  # fmt: skip
    """A torch that asks for NVIDIA's driver on a machine of AMD's, and not in a notebook that somebody else hosts."""
    return other is None and hosted is None and not (torch and torch.get("hip")) and card.get("vendor") == "amd"


@rule("cuda-torch-on-amd", strength="likely")
def it_looks_for_nvidia_among_amds_variables(
    wish: Variable, _error: Symptom = seen(tag="rocm-stack-no-nvidia"), other: Gpu | None = one(vendor="nvidia")
) -> Verdict:
    """Somebody set what only ROCm reads."""
    return other is None and wish.name.startswith(_AMD_ONLY) and bool(wish.get("value"))


@rule("cuda-torch-on-amd", strength="likely")
def it_looks_for_nvidia_where_amd_is_named(
    _error: Symptom = seen(tag="rocm-stack-no-nvidia"), _named: Symptom = seen(tag="rocm-stack-amd-named"), nvidia: Symptom | None = seen(tag="nvidia-card-spoken-of"),
    other: Gpu | None = one(vendor="nvidia"), torch: Torch | None = None, hosted: Symptom | None = seen(tag="hosted-notebook"),
) -> Verdict:  # fmt: skip
    """The text speaks of AMD's cards and of nobody else's."""
    return nvidia is None and other is None and hosted is None and not (torch and torch.get("hip"))


@rule("cuda-torch-on-amd", strength="likely")
def it_looks_for_nvidia_where_rocm_was_asked_for(
    index: Symptom = seen("index-url-of-torch", "pip-single-index"), _error: Symptom = seen(tag="rocm-stack-no-nvidia"),
    nvidia: Symptom | None = seen(tag="nvidia-card-spoken-of"), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """Somebody installed from an index of ROCm's builds, and the torch that runs is another."""
    return nvidia is None and other is None and "rocm" in str(index.get("index"))


@rule("container-without-gpu")
def no_kfd_at_a_prompt_inside(
    _error: Symptom = seen("kfd-not-there"), _prompt: Symptom = seen("container-root-prompt")
) -> Verdict:
    """The machine's name is a container's number, and the node was not passed in."""
    return {"vendor": "amd"}


@rule("render-group-missing", strength="possible")
def server_saw_what_rocblas_does_not(
    error: Symptom = seen("rocblas-no-devices"), mask: Variable | None = one(name=_MASKS), world: World | None = None
) -> Verdict:  # fmt: skip
    """The server found the card in sysfs, which everybody may read; the library could not open it."""
    inside = error.place.world.startswith("container") or bool(world and world.get("container"))
    return not inside and not (mask and mask.get("value")) and {"said": error.id}


@rule("container-render-group-mismatch", strength="possible")
def server_inside_saw_what_rocblas_does_not(
    error: Symptom = seen("rocblas-no-devices"), mask: Variable | None = one(name=_MASKS), world: World | None = None
) -> Verdict:  # fmt: skip
    """The same in a container."""
    inside = error.place.world.startswith("container") or bool(world and world.get("container"))
    return inside and not (mask and mask.get("value")) and {"said": error.id}


@rule("docker-flavour-without-gpu", strength="likely")
def desktop_engine_has_no_amdgpu(
    engine: ContainerEngine = one(flavour=("desktop", "snap")), symptom: Symptom = seen("hip-no-device", "hip-log-no-device", "torch-no-cuda-gpus", "rock-module-not-loaded"),
    platform: Platform | None = one(system=("windows", "macos")), asked: Symptom | None = seen("nvidia-tx-named", "nvidia-geforce-named"),
) -> Verdict:  # fmt: skip
    """On Linux it runs its containers in a virtual machine, which has none of the host's cards."""
    return platform is None and asked is None and {"flavour": engine.flavour, "said": symptom.id}


@rule("igpu-vram-counted-without-gtt", strength="possible")
def planner_sees_little_of_an_integrated_gpu(
    symptom: Symptom = seen("llama-does-not-fit"), gpu: Gpu = one(vendor="amd", integrated=True), other: Gpu | None = one(integrated=False)
) -> Verdict:  # fmt: skip
    """It does not fit what the program counts as free; what the GPU may map besides is no part of that."""
    free, wanted = int(symptom.get("free") or 0), int(symptom.get("wanted") or 0)
    mapped = gpu.get("gtt")
    return other is None and free < wanted and (mapped is None or free * _MIB < 0.7 * mapped) and {"free": free}


@rule("igpu-vram-counted-without-gtt", strength="likely")
def carve_out_was_counted_and_more_could_be_mapped(
    symptom: Symptom = seen("ollama-compute"), carved: Symptom = seen("amdgpu-vram-ready"), mapped: Symptom = seen("amdgpu-gtt-ready"), gpu: Gpu = one(vendor="amd", integrated=True),
    other: Gpu | None = one(vendor="amd", integrated=False),
) -> Verdict:  # fmt: skip
    """The kernel lets it map more than the carve-out that the program counts; beside another card the lines may be of that one."""
    total, _, unit = str(symptom.get("total") or "").partition(" ")
    number = float(total) * (1 if unit.startswith("G") else 1 / 1024) if total.replace(".", "", 1).isdigit() else 0.0
    vram, gtt = int(carved.get("mib") or 0), int(mapped.get("mib") or 0)
    alone = other is None and gpu.get("vendor") == "amd"
    return alone and vram > 0 and abs(number * 1024 - vram) < 0.05 * vram and gtt > vram


@rule("pip-index-url-hides-pypi")
def asked_one_index_for_all(index: Symptom = seen("pip-single-index", "index-url-of-torch"),
                            missing: Symptom = seen("pip-no-match-for-plain-package", "uv-no-match-on-single-index")) -> Verdict:  # fmt: skip
    """An index of torch's builds has nothing else."""
    return {"index": index.get("index"), "package": missing.get("package")}


@rule("garbage-output-on-gfx", strength="possible")
def not_numbers_where_amd_is_named(
    error: Symptom = seen("image-of-nans", "image-cast-invalid"), _named: Symptom = seen(tag="rocm-stack-amd-named"), nvidia: Symptom | None = seen(tag="nvidia-card-spoken-of"),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The same where only words tell the card."""
    return nvidia is None and other is None and {"said": error.id}


@rule("garbage-output-on-gfx", strength="possible")
def not_numbers(
    error: Symptom = seen("image-of-nans", "image-cast-invalid"),
    card: Gpu = one(vendor="amd"),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:
    """The same words come of a model in too low a precision; a computation against the processor's settles it."""
    return other is None and bool(error.id) and card.get("vendor") == "amd"


# -- what the runtime itself counts
def _found(card: Gpu) -> bool:
    return card.get("seen_by") is not None or card.knows("shown_isa")


@rule("wsl-gpu-not-supported", "likely")
def rocminfo_lists_the_processor_only(
    card: Gpu = one(vendor="amd"), _wsl: Symptom = seen("wsl-detected"), _only: Symptom = seen("rocminfo-processor-only"),
) -> Verdict:  # fmt: skip
    """ROCm's runtime speaks to Windows and leaves this card out."""
    return not _found(card) and (wsl.chip_without_wsl(card.isa) or card.get("integrated") is True)


@rule("wsl-gpu-not-supported", "possible")
def rocminfo_lists_no_card(
    card: Gpu = one(vendor="amd"), _wsl: Symptom = seen("wsl-detected"), _only: Symptom = seen("rocminfo-processor-only"),
) -> Verdict:  # fmt: skip
    """The same with a card that newer releases have."""
    return not _found(card)


@rule("apu-gtt-limit-not-applied", "likely")
def limit_set_in_a_way_that_is_given_up(
    _said: Symptom = seen("amdgpu-gttsize-deprecated"), limit: ModuleParameter | None = one(module=("ttm", "amdttm"), name="pages_limit"),
) -> Verdict:  # fmt: skip
    """The kernel says so; where the way that it names is taken besides, that is in force."""
    return limit is None or not limit.get("configured") or limit.get("running") not in (None, limit.get("configured"))


@rule("apu-gtt-limit-not-applied", "likely")
def runtime_has_less_than_was_wished(
    wish: ModuleParameter = one(module=("amdgpu", "ttm", "amdttm"), name=("gttsize", "pages_limit")), pool: Symptom = seen("rocminfo-gpu-pool"),
    works: Symptom | None = seen("works-told"),
) -> Verdict:  # fmt: skip
    """The runtime's pool is much smaller than what the kernel's line asks for."""
    wished = _bytes(wish)
    return works is None and wished > 1.3 * int(pool.get("kib") or 0) * 1024 and {"name": wish.name}


def _bytes(wish: ModuleParameter) -> int:
    configured = str(wish.get("configured") or "")
    return int(configured) * (_MIB if wish.name == "gttsize" else _PAGE) if configured.isdigit() else 0


# -- two masks
@rule("double-visibility-mask")
def second_mask_names_what_the_first_took(
    outer: Variable = one(name="ROCR_VISIBLE_DEVICES"),
    inner: Variable = one(name=_MASKS[1:]),
) -> Verdict:
    """The second counts what the first has left, from nought."""
    if not outer.value or not inner.value:
        return False
    count = len([part for part in str(outer.value).split(",") if part.strip()])
    return any(part.strip().isdigit() and int(part) >= count for part in str(inner.value).split(",")) and {
        "name": inner.name
    }
