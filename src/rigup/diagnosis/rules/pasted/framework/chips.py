"""A framework's own code and the chip: one too new for the wheel, one too old for it, and the driver between them."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.compiled_for import left_behind, newer_than_most, refused
from rigup.diagnosis.rules.driver import NO_CUDA, SILENT
from rigup.diagnosis.rules.pasted.reckoned import age_of_code, is_of_cuda
from rigup.diagnosis.rules.told import MACS, OTHER_ACCELERATORS, Told
from rigup.knowledge.chips import age_beside, why_not
from rigup.knowledge.cuda import cuda_of_driver, driver_carries, driver_minimum, version_key
from rigup.knowledge.framework_cuda import came_after, cuda_of_package
from rigup.knowledge.gpus import one_gpu
from rigup.knowledge.torch_builds import builds
from rigup.machine.kinds import Driver, Gpu, Package, Platform, Symptom, TensorFlow, Toolkit, Torch, Variable, World

_NO_IMAGE_ELSEWHERE = (
    "no-kernel-image-in-library", "ggml-no-kernel-image", "ggml-archs", "own-words-no-kernel-image", "runtime-call-no-kernel-image",
    "source-file-no-kernel-image", "bitsandbytes-symbol-not-found", "no-kernel-image-in-compiled-module",
    "no-kernel-image-by-another-programs-check", "no-kernel-image-by-name-and-number",
)  # fmt: skip
_UNKNOWN_CARD = ("nvvm-knows-no-such-card", "paddle-knows-no-such-card")
_NO_CODE = (
    "tf-runtime-start-image-invalid", "cuda-library-call-failed", "no-kernel-image", "device-function-invalid", "ptx-invalid",
    "no-kernel-image-by-another-programs-check",
    "tf-blas-launch-failed",
)  # fmt: skip
_FRAMEWORKS = (
    "tensorflow", "mxnet-cu", "dgl-cu", "jaxlib", "paddlepaddle-gpu", "cupy-cuda", "onnxruntime-gpu", "cudf-cu", "cuml-cu", "rmm-cu", "pylibraft-cu",
)  # fmt: skip
_LIST = "TORCH_CUDA_ARCH_LIST"
_OWN = "torchs-own-call-has-no-code"


def _beside(said: Symptom, isa: str) -> str:
    code = re.findall(r"(?:sm|compute)_\d{2,3}", str(said.code))
    return age_beside(why_not(isa, code), code) or ""


def _isa(card: Symptom) -> str:
    row = one_gpu(str(card.name))
    return (row.isa or "") if row and row.vendor == "nvidia" else ""


def _code_of(torch: Torch) -> list[str]:
    """All that the builds of a release have; one from before the table has what the oldest CUDA in it has, at most."""
    release, cuda = str(torch.get("version") or "").partition("+")[0], torch.get("cuda")
    known = [row for row in builds() if row.code and row.cuda]
    mine = [row for row in known if row.torch == release]
    if release and not mine and version_key(release) < min(version_key(row.torch) for row in known):
        cuda = cuda or min((row.cuda for row in known), key=version_key)
        mine = known
    return sorted({code for row in mine if cuda in (None, row.cuda) for code in row.code})


def _age(isa: str, torch: Torch) -> str:
    """Whether the card lies before or after what this torch was built for; "" where it is served, or nobody knows."""
    if not isa or torch.get("hip"):
        return ""
    code = list(torch.get("code") or []) or _code_of(torch)
    return (age_beside(why_not(isa, code), code) or "") if code else ""


def _has_a_cuda(name: str) -> bool:
    return name.startswith(_FRAMEWORKS)


def _release(told: str) -> tuple[int, int]:
    """`10.2` and `10020` alike."""
    if told.isdigit():
        return int(told) // 1000, int(told) % 1000 // 10
    return (*version_key(told), 0, 0)[0], (*version_key(told), 0, 0)[1]


def _of_a_major(name: str) -> bool:
    return re.fullmatch(r"jax-cuda1\d-(?:plugin|pjrt)|cupy-cuda1\dx?|nvidia-cuda-runtime-cu1\d", name) is not None


# -- gpu-arch-newer-than-wheel
@rule("gpu-arch-newer-than-wheel", "likely")
def newer_card_on_a_line(
    card: Symptom = seen("graphics-card-on-a-line"), _said: Symptom = seen("no-kernel-image"), torch: Torch = one(),
    known: Gpu | None = None, library: Symptom | None = seen(*_NO_IMAGE_ELSEWHERE),
) -> Verdict:  # fmt: skip
    """The same for a card that came after the build."""
    return known is None and library is None and _age(_isa(card), torch) == "newer-chip"


@rule("gpu-arch-newer-than-wheel", "likely")
def card_came_after_the_release(
    gpu: Gpu = one(vendor="nvidia"), _said: Symptom = seen("no-kernel-image", "cudnn-call-failed-on-the-device", "cublas-call-failed-on-the-device"), torch: Torch = one(),
    works: Torch | None = one(available=False), library: Symptom | None = seen(*_NO_IMAGE_ELSEWHERE),
) -> Verdict:  # fmt: skip
    """No build of that release, or of that CUDA, has code for the card; what it compiles from PTX fails in cuDNN."""
    return works is None and library is None and _age(gpu.isa, torch) == "newer-chip"


@rule("gpu-arch-newer-than-wheel", "likely")
def card_is_not_among_the_code(
    said: Symptom = seen(
        "card-not-among-torchs-code", "capability-beside-the-code-list", "capability-above-the-code-list"
    ),
    gpu: Gpu = one(vendor="nvidia"),
) -> Verdict:
    """A list of what torch was built for, and the capability beside it."""
    return _beside(said, gpu.isa) == "newer-chip"


@rule("gpu-arch-newer-than-wheel", "likely")
def refused_card_is_newer(
    gpu: Gpu = one(vendor="nvidia"), said: Symptom = seen("torch-cannot-serve-card-cut")
) -> Verdict:
    """The sentence is cut off; what today's builds serve tells on which side the card lies."""
    return gpu.isa == said.isa and refused(said) == "newer-chip"


@rule("gpu-arch-newer-than-wheel", "likely")
def toolkit_is_older_than_the_card(said: Symptom = seen(*_UNKNOWN_CARD)) -> Verdict:
    """And come to know new ones with new releases."""
    return not left_behind(f"sm_{said.arch}") and {"isa": f"sm_{said.arch}"}


@rule("gpu-arch-newer-than-wheel", "likely")
def framework_is_older_than_the_card(
    package: Package = one(name=Told(_has_a_cuda)), gpu: Gpu = one(vendor="nvidia"), said: Symptom = seen(*_NO_CODE)
) -> Verdict:
    """The CUDA that the release was built with does not know the card."""
    cuda = cuda_of_package(package.name, str(package.get("version") or ""))
    return bool(cuda) and came_after(gpu.isa, str(cuda)) and {"said": said.id, "have": package.get("version")}


@rule("gpu-arch-newer-than-wheel", "likely")
def tensorflow_is_older_than_the_card(
    answered: TensorFlow = one(), gpu: Gpu = one(vendor="nvidia"), said: Symptom = seen(*_NO_CODE)
) -> Verdict:
    """The same where TensorFlow itself told its release."""
    cuda = cuda_of_package("tensorflow-gpu", str(answered.version))
    return bool(cuda) and came_after(gpu.isa, str(cuda)) and {"said": said.id, "have": answered.version}


@rule("gpu-arch-newer-than-wheel", "likely")
def release_on_a_line_is_older_than_the_card(
    release: Symptom = seen("tensorflow-release-on-a-line"),
    gpu: Gpu = one(vendor="nvidia"),
    said: Symptom = seen(*_NO_CODE),
) -> Verdict:
    """Somebody names TensorFlow's release among what he has."""
    cuda = cuda_of_package("tensorflow-gpu", str(release.version))
    return bool(cuda) and came_after(gpu.isa, str(cuda)) and {"said": said.id, "have": release.version}


@rule("gpu-arch-newer-than-wheel", "likely")
def capability_above_what_the_build_has(_said: Symptom = seen("capability-asked"), gpu: Gpu = one(vendor="nvidia"), torch: Torch = one()) -> Verdict:  # fmt: skip
    """Somebody asked for the capability, and for what torch was built for: a question that one has after a failure."""
    code = list(torch.get("code") or [])
    return bool(code) and age_beside(why_not(gpu.isa, code), code) == "newer-chip"


@rule("gpu-arch-newer-than-wheel")
def head_line_shows_code_below_the_card(said: Symptom = seen("sdnext-device-and-its-code")) -> Verdict:
    """The last of what torch was built for, and the card's capability beside it."""
    return int(said.major) > int(said.code[:-1])


@rule("gpu-arch-newer-than-wheel", "possible")
def first_tensor_finds_no_image(
    _said: Symptom = seen("no-image-for-the-first-tensor"), gpu: Gpu | None = one(vendor="nvidia"), older: Symptom | None = seen("older-generation-named"),
    torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """It is torch itself that has no code; which card there is, nobody tells, and most that miss it are new."""
    return gpu is None and older is None and not (torch is not None and torch.get("code"))


@rule("gpu-arch-newer-than-wheel", "likely")
def torch_was_compiled_for_older_cards(
    asked: Variable = one(name=_LIST), gpu: Gpu = one(vendor="nvidia"), said: Symptom = seen(_OWN)
) -> Verdict:
    """The list that somebody gave to his own build of torch ends below the card, and a call of torch itself fails."""
    return age_of_code(asked, gpu) == "newer-chip" and {"said": said.id}


# -- gpu-arch-older-than-wheel
@rule("gpu-arch-older-than-wheel", "likely")
def older_card_on_a_line(
    card: Symptom = seen("graphics-card-on-a-line"), _said: Symptom = seen("no-kernel-image"), torch: Torch = one(),
    known: Gpu | None = None, library: Symptom | None = seen(*_NO_IMAGE_ELSEWHERE),
) -> Verdict:  # fmt: skip
    """Somebody names his card beside torch's version, and torch has no code for it."""
    return known is None and library is None and _age(_isa(card), torch) == "older-chip"


@rule("gpu-arch-older-than-wheel", "likely")
def card_is_below_the_code(
    said: Symptom = seen(
        "card-not-among-torchs-code", "capability-beside-the-code-list", "capability-above-the-code-list"
    ),
    gpu: Gpu = one(vendor="nvidia"),
) -> Verdict:
    """The same from the other side."""
    return _beside(said, gpu.isa) == "older-chip"


@rule("gpu-arch-older-than-wheel", "likely")
def torch_says_so_of_some_card(
    said: Symptom = seen("torch-dropped-some-card"), amd: Gpu | None = one(vendor="amd"), hip: Torch | None = one(hip=Told(bool)),
) -> Verdict:  # fmt: skip
    """The sentence alone. A build for AMD compares numbers of another maker's scale, and goes on."""
    return amd is None and hip is None and {"said": said.id}


@rule("gpu-arch-older-than-wheel", "likely")
def refused_card_is_older(
    gpu: Gpu = one(vendor="nvidia"), said: Symptom = seen("torch-cannot-serve-card-cut")
) -> Verdict:
    """The same for a card that no build of today serves."""
    return gpu.isa == said.isa and refused(said) == "older-chip"


@rule("gpu-arch-older-than-wheel", "likely")
def toolkit_has_dropped_the_card(said: Symptom = seen(*_UNKNOWN_CARD)) -> Verdict:
    """Toolkits drop cards from below."""
    return left_behind(f"sm_{said.arch}") and {"isa": f"sm_{said.arch}"}


@rule("gpu-arch-older-than-wheel", "likely")
def the_warnings_first_line_and_an_older_card(
    _said: Symptom = seen("card-and-its-capability-cut"), gpu: Gpu = one(vendor="nvidia"), torch: Torch = one()
) -> Verdict:  # fmt: skip
    """torch names a card and its capability so only where it warns; what it warns of was cut off."""
    code = list(torch.get("code") or [])
    return bool(code) and age_beside(why_not(gpu.isa, code), code) == "older-chip"


@rule("gpu-arch-older-than-wheel", "likely")
def torch_was_compiled_for_newer_cards(
    asked: Variable = one(name=_LIST), gpu: Gpu = one(vendor="nvidia"), said: Symptom = seen(_OWN)
) -> Verdict:
    """The same with a list that begins above it."""
    return age_of_code(asked, gpu) == "older-chip" and {"said": said.id}


@rule("gpu-arch-older-than-wheel", "likely")
def hashcat_cannot_compile_for_an_outdated_card(
    card: Symptom = seen("hashcat-calls-the-card-outdated"), failed: Symptom = seen("hashcat-cannot-compile")
) -> Verdict:
    """What compiles its kernels has dropped the card."""
    return {"capability": card.capability, "said": failed.id}


@rule("gpu-arch-older-than-wheel", "likely")
def cudnn_does_not_serve_the_card(
    _said: Symptom = seen("cudnn-of-another-architecture"), gpu: Gpu | None = one(vendor="nvidia")
) -> Verdict:
    """cuDNN answers so of a card that is below what it was made for."""
    return gpu is None or not gpu.knows("isa") or not newer_than_most(gpu.isa)


# -- driver-too-old-for-wheel
@rule("driver-too-old-for-wheel", "likely")
def carried_cuda_is_below_the_builds(
    driver: Driver = one(vendor="nvidia"), torch: Torch = one(cuda=Told(bool)), table: Gpu | None = one(seen_by="torch"),
) -> Verdict:  # fmt: skip
    """What the driver carries was asked of the driver itself; its own version nobody shows."""
    if driver.knows("version") or torch.get("available") or table:
        return False
    carried, wanted = version_key(str(driver.cuda)), version_key(str(torch.cuda))
    below = carried[0] < wanted[0] if wanted[0] >= 11 else carried[:2] < wanted[:2]
    return below and {"have": f"CUDA {driver.cuda}", "cuda": torch.cuda, "branch": driver_minimum(str(torch.cuda))}


@rule("driver-too-old-for-wheel", "likely")
def packages_of_a_newer_cuda(
    package: Package = one(name=Told(is_of_cuda)), driver: Driver = one(vendor="nvidia"), answered: TensorFlow | None = None,
    works: Torch | None = one(available=True), torch: Torch | None = one(cuda=Told(bool)),
) -> Verdict:  # fmt: skip
    """The CUDA of an environment is told by the package of its runtime alone."""
    runtime = package.name.startswith("nvidia-cuda-runtime") and works is None and torch is None and answered is None
    cuda = ".".join(str(package.version).split(".")[:2])
    if not runtime or driver_carries(driver.version, cuda) is not False:
        return False
    return {"have": driver.version, "cuda": cuda, "branch": driver_minimum(cuda)}


@rule("driver-too-old-for-wheel", "likely")
def framework_wants_more_than_the_driver_carries(
    package: Package = one(name=Told(_has_a_cuda)), driver: Driver = one(vendor="nvidia"), platform: Platform | None = None,
    torch: Torch | None = one(available=True), found: TensorFlow | None = one(gpus=Told(bool)),
) -> Verdict:  # fmt: skip
    """The release, or the package's own name, tells for which CUDA it was built."""
    system = "windows" if platform is not None and platform.get("system") == "windows" else "linux"
    cuda = cuda_of_package(package.name, str(package.get("version") or ""))
    if torch or found or not cuda or driver_carries(driver.version, cuda, system) is not False:
        return False
    return {"have": driver.version, "cuda": cuda, "branch": driver_minimum(cuda, system)}


@rule("driver-too-old-for-wheel", "likely")
def runtime_of_a_newer_major_than_the_drivers(
    said: Symptom = seen(
        "driver-api-beside-runtime",
        "cuda-driver-beside-runtime",
        "darknet-runtime-beside-driver",
        "julia-runtime-beside-driver",
        "gromacs-driver-beside-runtime",
    ),
) -> Verdict:
    """Both versions stand in one line; within one major from 11 on the difference is harmless."""
    carries, wants = _release(str(said.carries)), _release(str(said.wants))
    apart = carries[0] < wants[0] or (carries < wants and wants[0] < 11)
    return carries[0] > 0 and apart and {"have": said.carries, "cuda": said.wants}


@rule("driver-too-old-for-wheel", "likely")
def program_asks_for_a_later_driver(
    said: Symptom = seen("program-wants-a-driver"), driver: Driver = one(vendor="nvidia")
) -> Verdict:
    """The program names the first driver that it works with, and an earlier one is there."""
    return version_key(driver.version) < version_key(said.wanted) and {"needs": said.wanted, "have": driver.version}


@rule("driver-too-old-for-wheel", "possible")
def program_is_refused_for_its_driver(
    said: Symptom = seen("installation-failed-for-its-wants"), driver: Driver | None = one(vendor="nvidia")
) -> Verdict:
    """It failed, and names the first driver that it works with; which one is there nobody tells."""
    return driver is None and {"said": said.id}


@rule("driver-too-old-for-wheel", "possible")
def toolkit_beside_the_wheel_is_of_older_drivers(
    torch: Torch = one(available=False), toolkit: Toolkit = one(name="cuda"), driver: Driver | None = None, card: Gpu | None = None, world: World | None = None,
    guest: Platform | None = one(wsl=(1, 2)), other: Symptom | None = seen(*SILENT, *NO_CUDA, *OTHER_ACCELERATORS, *MACS),
) -> Verdict:  # fmt: skip
    """Toolkit and driver mostly come together; what the wheel was built with wants a newer driver than the toolkit does."""
    if not torch.get("cuda") or any(known is not None for known in (driver, card, world, guest, other)):
        return False
    wanted, had = driver_minimum(str(torch.cuda)), driver_minimum(str(toolkit.version))
    return bool(wanted and had) and version_key(str(wanted)) > version_key(str(had)) and {"cuda": torch.cuda}


@rule("driver-too-old-for-wheel", "likely")
def plugin_of_a_newer_major(
    package: Package = one(name=Told(_of_a_major)), driver: Driver = one(vendor="nvidia"), works: Torch | None = one(available=True),
    torch: Torch | None = one(cuda=Told(bool)),
) -> Verdict:  # fmt: skip
    """The name of jax's plugin, or of CuPy's wheel, tells its major of CUDA."""
    major = re.search(r"cuda(1\d)", package.name)
    if major is None or works or torch or driver_carries(driver.version, major[1] + ".0") is not False:
        return False
    return {"have": driver.version, "cuda": major[1], "branch": driver_minimum(major[1] + ".0")}


@rule("driver-too-old-for-wheel", "likely")
def driver_does_not_take_what_xla_compiled(
    said: Symptom = seen("xla-finds-no-kernel-image"), card: Gpu | None = one(vendor="nvidia"), driver: Driver | None = one(vendor="nvidia")
) -> Verdict:  # fmt: skip
    """XLA compiles for the card that it finds: the image is there, and of a newer CUDA than the driver's."""
    old = card is not None and card.knows("isa") and left_behind(card.isa)
    have = driver.get("version") if driver is not None else None
    return not old and {"said": said.id, **({"have": have} if have else {})}


@rule("driver-too-old-for-wheel", "possible")
def driver_refuses_what_triton_compiled(
    _said: Symptom = seen("triton-image-is-invalid"), brought: Symptom | None = seen("triton-brings-a-ptxas"), driver: Driver | None = one(vendor="nvidia"),
    amd: Gpu | None = one(vendor="amd"), torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """Triton brings a ptxas of its own, mostly newer than the driver; with the older one of a toolkit the same kernel loads."""
    wanted = str((brought.get("cuda") if brought else torch.get("cuda") if torch else "") or "")
    if amd is not None or driver is None:
        return amd is None
    carried = str(driver.get("cuda") or cuda_of_driver(driver.version) or "")
    older = bool(carried and wanted) and version_key(carried) < version_key(wanted)
    return older and {"have": driver.version, "cuda": wanted}
