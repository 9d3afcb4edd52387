"""This torch is built for NVIDIA, and the machine has an AMD card."""

import re

from rigup.diagnosis.causes.rocm.torch_builds import amd_holes, serves, torch_holes, variant_of, without_a_gpu
from rigup.diagnosis.causes.rocm.who_computes import who_computes_where
from rigup.diagnosis.rule import Params, Passes, Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge.amd_ways import newest_for_rocm, newest_of
from rigup.knowledge.directml import newest_directml
from rigup.knowledge.torch_builds import TorchBuild, newest_build
from rigup.machine.kinds import Gpu, Package, Platform, Symptom, Toolkit, Torch, Variable

_AMD_ONLY = ("HSA_", "ROCR_", "HIP_", "MIOPEN_", "ROCM_", "PYTORCH_HIP_", "PYTORCH_ROCM_", "TORCH_BLAS_PREFER_HIPBLASLT", "AMD_")


@rule("cuda-torch-on-amd")
def build_for_the_other_maker(
    torch: Torch,
    card: Gpu = one(vendor="amd"),
    other: Gpu | None = one(vendor="nvidia"),
    rocm: Toolkit | None = one(name="rocm"),
    error: Symptom | None = seen(tag="rocm-stack-no-nvidia"),
    zluda: Symptom | None = seen("zluda-asked-for", "zluda-in-words"),
) -> Verdict:
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
def it_looks_for_nvidia(
    card: Gpu = one(vendor="amd"),
    _error: Symptom = seen(tag="rocm-stack-no-nvidia"),
    other: Gpu | None = one(vendor="nvidia"),
    torch: Torch | None = None,
    hosted: Symptom | None = seen(tag="hosted-notebook"),
) -> Verdict:
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
    _error: Symptom = seen(tag="rocm-stack-no-nvidia"),
    _named: Symptom = seen(tag="rocm-stack-amd-named"),
    nvidia: Symptom | None = seen(tag="nvidia-card-spoken-of"),
    other: Gpu | None = one(vendor="nvidia"),
    torch: Torch | None = None,
    hosted: Symptom | None = seen(tag="hosted-notebook"),
) -> Verdict:
    """The text speaks of AMD's cards and of nobody else's."""
    return nvidia is None and other is None and hosted is None and not (torch and torch.get("hip"))


@rule("cuda-torch-on-amd", strength="likely")
def it_looks_for_nvidia_where_rocm_was_asked_for(
    index: Symptom = seen("index-url-of-torch", "pip-single-index"),
    _error: Symptom = seen(tag="rocm-stack-no-nvidia"),
    nvidia: Symptom | None = seen(tag="nvidia-card-spoken-of"),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:
    """Somebody installed from an index of ROCm's builds, and the torch that runs is another."""
    return nvidia is None and other is None and "rocm" in str(index.get("index"))


@text_rule("cuda-torch-on-amd", "likely")
def installer_puts_torch_of_rocm_away(
    symptom: Symptom = seen("torch-of-rocm-put-away"), other: Gpu | None = one(vendor="nvidia")
) -> Verdict:
    """A build of another kind takes the place of ROCm's; where a card of NVIDIA's is shown, that is meant."""
    return other is None and symptom.values()


def for_rocm(torch: Torch | None) -> bool:
    """Whether torch is a build for ROCm."""
    return torch is not None and bool(torch.get("hip") or "rocm" in str(torch.get("version") or ""))


@text_rule("cuda-torch-on-amd", "likely")
def torch_that_is_there_satisfies_pip(
    symptom: Symptom = seen("pip-keeps-plain-torch", "pip-fetches-plain-torch"),
    index: Symptom = seen("rocm-index-asked"),
    replaced: Symptom | None = seen("rocm-torch-installed"),
    other: Gpu | None = one(vendor="nvidia"),
    platform: Platform | None = None,
    torch: Torch | None = None,
) -> Verdict:
    """ROCm's index was asked, and pip keeps the torch of PyPI that is there, or, where it asks both, fetches a newer one."""
    linux = platform is None or platform.get("system") in (None, "linux")
    clear = replaced is None and other is None and linux and not for_rocm(torch)
    return clear and {"said": symptom.id, "index": index.id}


def _of_nvidia(name: str) -> bool:
    return re.fullmatch(r"nvidia-[a-z-]{3,30}-cu\d{2}", name) is not None


@text_rule("cuda-torch-on-amd", "likely")
def rocm_build_goes_and_nvidias_comes(
    gone: Symptom = seen(tag="torch-replaced"),
    new: Package | None = one(manager="pip", name="torch"),
    brought: Package | None = one(name=Passes(_of_nvidia)),
    card: Gpu | None = one(vendor="nvidia"),
) -> Verdict:
    """pip takes ROCm's torch away and brings PyPI's, which comes with NVIDIA's packages."""
    local = str(new.version).partition("+")[2] if new else ""
    plain = brought is not None if not local else local.startswith("cu")
    return card is None and str(gone.local).startswith("rocm") and plain and "rocm" not in local and {"have": gone.old}


mends("cuda-torch-on-amd")(who_computes_where)


def _on_windows(isa: str, directml: bool) -> Params:
    """AMD's own builds; a program that was made for DirectML gets that."""
    pinned = newest_directml()
    holes = {} if directml else amd_holes(isa, "windows")
    return holes or ({"pinned": pinned.packages} if pinned else {})


def _before(gone: Symptom | None) -> TorchBuild | None:
    """The build for ROCm that a message says was there."""
    if gone is None:
        return None
    version = str(gone.get("have") or f"{gone.get('old')}+{gone.get('local')}")
    release, _, variant = version.partition("+")
    return newest_of(variant, release) if variant.startswith("rocm") else None


def _of_index(index: Symptom | None) -> TorchBuild | None:
    """The newest build on an index that somebody named."""
    variant = variant_of(index)
    return newest_of(variant) if variant.startswith("rocm") else None


@mends("cuda-torch-on-amd")
def build_for_this_maker(
    knew: Params,
    gone: Symptom | None = seen("pip-replaced-torch-for-rocm", tag="amd-index-gone"),
    index: Symptom | None = seen(tag="torch-index-asked"),
    directml: Symptom | None = seen("directml-spoken-of", "directml-in-words", "sdnext-directml-device", "directml-option"),
) -> Params:
    """The one that was there before, or that somebody asked for, if it has the chip; else the newest that has it.

    Of several messages the one that tells the build stands first.
    """
    isa, system = str(knew.get("isa") or ""), str(knew.get("system"))
    if system == "windows":
        return _on_windows(isa, directml is not None)
    before = _before(gone) or _of_index(index)
    newest = newest_build(isa) if isa else newest_for_rocm()
    chosen = before if before and serves(isa, before.code) else newest
    if chosen is None or not chosen.rocm:
        return amd_holes(isa, system) or {"chip": isa or None, **without_a_gpu(system)}
    return {**torch_holes(chosen), "kept": f"torch=={chosen.torch}+{chosen.variant}"}
