"""A framework for CUDA on a machine of AMD's."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.pasted.heard import OURS, ROCM, TORCH_GOES
from rigup.diagnosis.rules.rocm import left
from rigup.diagnosis.rules.told import Told
from rigup.machine.kinds import Driver, Gpu, Package, Platform, Symptom, Torch

_NVIDIA_NAMED = ("nvidia-tx-named", "nvidia-geforce-named")
_WHEELS = ("nvidia-wheels-listed", "nvidia-wheels-come-along", "nvidia-wheels-are-fetched", "pip-fetches-plain-torch")


def _for_rocm(torch: Torch | None) -> bool:
    return torch is not None and bool(torch.get("hip") or "rocm" in str(torch.get("version") or ""))


def _of_nvidia(name: str) -> bool:
    return re.fullmatch(r"nvidia-[a-z-]{3,30}-cu\d{2}", name) is not None


@rule("cuda-torch-on-amd", "likely")
def installer_puts_torch_of_rocm_away(
    said: Symptom = seen("torch-of-rocm-put-away"), other: Gpu | None = one(vendor="nvidia")
) -> Verdict:
    """A build of another kind takes the place of ROCm's; where a card of NVIDIA's is shown, that is meant."""
    return other is None and said.values()


@rule("cuda-torch-on-amd", "likely")
def it_looks_for_nvidia_in_a_persons_words(
    card: Gpu = one(vendor="amd"), said: Symptom = seen("nvidia-driver-missing-told", "torch-driver-too-old"), other: Gpu | None = one(vendor="nvidia"),
    torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """Only a torch for NVIDIA looks for that driver."""
    return other is None and card.get("vendor") == "amd" and not (torch and torch.get("hip")) and {"said": said.id}


@rule("cuda-torch-on-amd", "likely")
def a_driver_is_compared_that_nobody_has(
    card: Gpu = one(vendor="amd"), said: Symptom = seen("cuda-driver-insufficient"), nvidia: Symptom | None = seen(*_NVIDIA_NAMED),
    other: Gpu | None = one(vendor="nvidia"), driver: Driver | None = one(vendor="nvidia"), torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """CUDA says so as well where there is no driver at all, and on AMD's there is none."""
    ours = other is None and driver is None and nvidia is None and card.get("vendor") == "amd"
    return ours and not (torch and torch.get("hip")) and {"said": said.id}


@rule("cuda-torch-on-amd", "possible")
def web_ui_cannot_use_a_radeon(
    said: Symptom = seen("webui-torch-no-gpu"), _named: Symptom = seen("amd-radeon-named", "amd-rx-named", "amd-xt-named", "radeon-in-words"),
    nvidia: Symptom | None = seen(*_NVIDIA_NAMED), other: Gpu | None = one(vendor="nvidia"), torch: Torch | None = None, works: Symptom | None = seen("works-told"),
) -> Verdict:  # fmt: skip
    """Launchers bring NVIDIA's torch unless they are told otherwise; what it would say of itself nobody shows."""
    told = torch is not None and (torch.get("hip") or "+cpu" in str(torch.get("version") or ""))
    return works is None and nvidia is None and other is None and not told and {"said": said.id}


@rule("cuda-torch-on-amd", "possible")
def another_makers_torch_was_installed(
    card: Gpu = one(vendor="amd"), said: Symptom = seen("cuda-torch-told"), _rocm: Symptom = seen(*ROCM), other: Gpu | None = one(vendor="nvidia"),
    torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """A person says which torch was installed."""
    return other is None and card.get("vendor") == "amd" and not (torch and torch.get("hip")) and {"said": said.id}


@rule("cuda-torch-on-amd", "likely")
def it_looks_for_nvidia_where_rocm_is_named(
    _error: Symptom = seen("torch-found-no-driver", "torch-driver-too-old"), named: Symptom = seen(*OURS), nvidia: Symptom | None = seen("nvidia-tx-named", "nvidia-geforce-named"),
    other: Gpu | None = one(vendor="nvidia"), torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """The text speaks of ROCm and of no card of NVIDIA's."""
    return nvidia is None and other is None and not (torch and torch.get("hip")) and {"said": named.id}


@rule("cuda-torch-on-amd", "possible")
def program_finds_no_gpu(
    said: Symptom = seen("webui-finds-no-gpu", "vllm-unspecified-platform"), card: Gpu = one(vendor="amd", integrated=False), torch: Torch | None = None,
    other: Gpu | None = one(vendor="nvidia"), platform: Platform | None = None, works: Symptom | None = seen("works-told"),
) -> Verdict:  # fmt: skip
    """Unless somebody chose ROCm's index, pip brings the torch that is NVIDIA's."""
    told = torch is not None and (torch.get("hip") or "+cpu" in str(torch.get("version") or ""))
    windows = platform is not None and bool(platform.get("system") == "windows" or platform.get("wsl"))
    return (
        works is None
        and other is None
        and not told
        and not windows
        and card.get("vendor") == "amd"
        and {"said": said.id}
    )


@rule("cuda-torch-on-amd", "likely")
def wheels_of_another_maker_are_listed(
    listed: Symptom = seen(*_WHEELS), card: Gpu = one(vendor="amd", integrated=False), other: Gpu | None = one(vendor="nvidia"),
    torch: Torch | None = None, replaced: Symptom | None = seen("rocm-torch-installed"),
) -> Verdict:  # fmt: skip
    """CUDA's libraries beside torch, on a machine of AMD's."""
    return (
        other is None
        and replaced is None
        and not _for_rocm(torch)
        and card.get("vendor") == "amd"
        and {"said": listed.id}
    )


@rule("cuda-torch-on-amd", "likely")
def wheels_of_another_maker_come_where_amd_is_named(
    listed: Symptom = seen(*_WHEELS), _named: Symptom = seen(*OURS[-2:], "amd-rx-named", "amd-xt-named"), nvidia: Symptom | None = seen(*_NVIDIA_NAMED),
    other: Gpu | None = one(vendor="nvidia"), inner: Gpu | None = one(vendor="amd", integrated=True), torch: Torch | None = None,
    driver: Driver | None = one(vendor="nvidia"), replaced: Symptom | None = seen("rocm-torch-installed"),
) -> Verdict:  # fmt: skip
    """The same where words tell whose card it is; what a processor brings beside an NVIDIA card is not meant."""
    clear = nvidia is None and other is None and driver is None and inner is None and replaced is None
    return clear and not _for_rocm(torch) and {"said": listed.id}


@rule("cuda-torch-on-amd", "likely")
def wheels_of_cuda_beside_amds_node(
    listed: Symptom = seen(*_WHEELS), node: Symptom = seen("kfd-node-listed"), nvidia: Symptom | None = seen(*_NVIDIA_NAMED), other: Gpu | None = one(vendor="nvidia"),
    driver: Driver | None = one(vendor="nvidia"), torch: Torch | None = None, replaced: Symptom | None = seen("rocm-torch-installed"),
) -> Verdict:  # fmt: skip
    """The same where the node of AMD's compute driver tells whose card it is."""
    clear = nvidia is None and other is None and driver is None and replaced is None
    return clear and not _for_rocm(torch) and {"said": listed.id, "why": node.id}


@rule("cuda-torch-on-amd", "likely")
def torch_that_is_there_satisfies_pip(
    said: Symptom = seen("pip-keeps-plain-torch", "pip-fetches-plain-torch"), index: Symptom = seen("rocm-index-asked"), replaced: Symptom | None = seen("rocm-torch-installed"),
    other: Gpu | None = one(vendor="nvidia"), platform: Platform | None = None, torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """ROCm's index was asked, and pip keeps the torch of PyPI that is there, or, where it asks both, fetches a newer one."""
    linux = platform is None or platform.get("system") in (None, "linux")
    clear = replaced is None and other is None and linux and not _for_rocm(torch)
    return clear and {"said": said.id, "index": index.id}


@rule("cuda-torch-on-amd", "possible")
def program_reaches_no_cuda(
    said: Symptom = seen("webui-reaches-no-cuda"), card: Gpu = one(vendor="amd"), torch: Torch | None = None, other: Gpu | None = one(vendor="nvidia"),
    works: Symptom | None = seen("works-told"),
) -> Verdict:  # fmt: skip
    """Forge installs NVIDIA's torch on every system unless told otherwise."""
    told = torch is not None and (torch.get("hip") or "+cpu" in str(torch.get("version") or ""))
    return works is None and other is None and not told and card.get("vendor") == "amd" and {"said": said.id}


@rule("cuda-torch-on-amd", "likely")
def torch_is_told_to_be_of_cuda(
    said: Symptom = seen("torch-is-of-cuda-told"), other: Gpu | None = one(vendor="nvidia"), torch: Torch | None = None
) -> Verdict:
    """A person looked at the torch of a machine that is to compute with ROCm."""
    return other is None and not (torch and torch.get("hip")) and {"said": said.id}


@rule("cuda-torch-on-amd", "possible")
def program_for_rocm_chose_the_processor(
    said: Symptom = seen("invokeai-on-cpu"), _rocm: Symptom = seen(*ROCM), other: Gpu | None = one(vendor="nvidia"), torch: Torch | None = None,
    works: Symptom | None = seen("works-told"), old: Gpu | None = one(vendor="amd"),
) -> Verdict:  # fmt: skip
    """It was installed for ROCm, and its torch finds no GPU."""
    told = torch is not None and (torch.get("hip") or torch.get("cuda"))
    return (
        other is None and not told and works is None and not (old and left(old.get("isa") or "")) and {"said": said.id}
    )


@rule("cuda-torch-on-amd", "likely")
def rocm_build_goes_and_nvidias_comes(
    gone: Symptom = seen(*TORCH_GOES), new: Package | None = one(manager="pip", name="torch"), brought: Package | None = one(name=Told(_of_nvidia)),
    card: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """pip takes ROCm's torch away and brings PyPI's, which comes with NVIDIA's packages."""
    local = str(new.version).partition("+")[2] if new else ""
    plain = brought is not None if not local else local.startswith("cu")
    return card is None and str(gone.local).startswith("rocm") and plain and "rocm" not in local and {"have": gone.old}


@rule("cuda-torch-on-amd", "likely")
def rocm_build_goes_and_nvidias_driver_is_missed(
    gone: Symptom = seen(*TORCH_GOES), _error: Symptom = seen("torch-found-no-driver"), card: Gpu | None = one(vendor="nvidia")
) -> Verdict:  # fmt: skip
    """The torch that came in ROCm's place asks for NVIDIA's driver."""
    return card is None and str(gone.local).startswith("rocm") and {"have": gone.old}


@rule("cuda-torch-on-amd", "likely")
def build_for_nvidia_where_amds_tool_answers(
    torch: Torch, card: Gpu = one(vendor="amd", seen_by=("amd-smi", "rocm-smi", "rocminfo")), other: Gpu | None = one(vendor="nvidia")
) -> Verdict:  # fmt: skip
    """Who asks AMD's tool for the card means to compute on it."""
    return (
        other is None
        and bool(torch.cuda)
        and torch.get("hip") is None
        and torch.get("available") is not True
        and bool(card.vendor)
    )


@rule("cuda-torch-on-amd", "likely")
def distributions_package_for_nvidia(
    package: Symptom = seen("arch-torch-package"), card: Gpu = one(vendor="amd"), other: Gpu | None = one(vendor="nvidia")
) -> Verdict:  # fmt: skip
    """Arch has a package of torch for each maker, and this one is for NVIDIA's cards."""
    return other is None and package.get("flavour") == "-cuda" and card.get("integrated") is not True


@rule("cuda-torch-on-amd", "likely")
def torch_for_nvidia_in_an_image_for_rocm(
    torch: Torch, image: Symptom = seen("rocm-image-composed", "rocm-image-run"), other: Gpu | None = one(vendor="nvidia"), nvidia: Symptom | None = seen("nvidia-tx-named", "nvidia-geforce-named")
) -> Verdict:  # fmt: skip
    """The image is called one for ROCm, and the torch in it is a build for NVIDIA's cards."""
    ours = bool(torch.get("cuda")) and torch.get("hip") is None and torch.get("available") is not True
    return ours and other is None and nvidia is None and {"image": image.get("image")}


@rule("cuda-torch-on-amd", "likely")
def starter_finds_amds_toolkit_and_torch_is_for_nvidia(
    torch: Torch, said: Symptom = seen("sdnext-finds-amds-toolkit"), other: Gpu | None = one(vendor="nvidia"), zluda: Symptom | None = seen("zluda-asked-for", "zluda-in-words")
) -> Verdict:  # fmt: skip
    """The program itself chose ROCm, and another build stands there; by ZLUDA that is meant."""
    ours = bool(torch.get("cuda")) and torch.get("hip") is None and torch.get("available") is not True
    return ours and other is None and zluda is None and {"said": said.id}


@rule("cuda-torch-on-amd", "possible")
def program_for_directml_looks_for_nvidia(
    _error: Symptom = seen("torch-found-no-driver"), where: Symptom = seen("directml-spoken-of", "folder-of-a-program-for-amds-cards"), platform: Platform = one(system="windows"),
    nvidia: Symptom | None = seen(*_NVIDIA_NAMED), card: Gpu | None = one(vendor=("nvidia", "intel")), torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """Who installs a program for DirectML has a card of another maker, mostly AMD; a torch for CUDA came with it."""
    cpu = torch is not None and ("+cpu" in str(torch.get("version")) or bool(torch.get("hip")))
    return nvidia is None and card is None and not cpu and not platform.get("wsl") and {"said": where.id}
