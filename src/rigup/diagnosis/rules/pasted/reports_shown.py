"""What pieces of reports and listings show: a build that took another's place, packages for another driver, a list of displays without a card."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import closed
from rigup.diagnosis.rules.access import inside as from_inside
from rigup.diagnosis.rules.driver import NO_CUDA
from rigup.diagnosis.rules.program import MASKS
from rigup.diagnosis.rules.told import Told
from rigup.knowledge.apple import is_older, mps_minimum
from rigup.knowledge.chips import age_beside, why_not
from rigup.knowledge.cuda import driver_carries, driver_minimum, version_key
from rigup.knowledge.torch_builds import variant_for_pypi
from rigup.machine.kinds import (
    Account,
    DeviceNode,
    Driver,
    Gpu,
    Jetson,
    Mask,
    Package,
    PciDevice,
    Platform,
    Symptom,
    SystemPackage,
    TensorFlow,
    Torch,
    Variable,
    World,
)

_GOES = ("pip-found-torch-installed", "pip-uninstalls-torch", "pip-uninstalled-torch", "uv-removes-torch")
_MEMORY = (
    "cuda-out-of-memory-plain",
    "cuda-out-of-memory-constant",
    "torch-out-of-memory",
    "torch-out-of-memory-figures",
)
_HIDES_ALL = ("", "-1")


def _of_nvidia(name: str) -> bool:
    return re.fullmatch(r"nvidia-[a-z-]{3,30}-cu\d{2}", name) is not None


def _of_a_major(name: str) -> bool:
    return re.fullmatch(r"jax-cuda1\d-(?:plugin|pjrt)|cupy-cuda1\dx?|nvidia-cuda-runtime-cu1\d", name) is not None


# -- one build in another's place
@rule("cuda-torch-on-amd", "likely")
def rocm_build_goes_and_nvidias_comes(
    gone: Symptom = seen(*_GOES), new: Package | None = one(manager="pip", name="torch"), brought: Package | None = one(name=Told(_of_nvidia)),
    card: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """pip takes ROCm's torch away and brings PyPI's, which comes with NVIDIA's packages."""
    local = str(new.version).partition("+")[2] if new else ""
    plain = brought is not None if not local else local.startswith("cu")
    return card is None and str(gone.local).startswith("rocm") and plain and "rocm" not in local and {"have": gone.old}


@rule("cuda-torch-on-amd", "likely")
def rocm_build_goes_and_nvidias_driver_is_missed(
    gone: Symptom = seen(*_GOES), _error: Symptom = seen("torch-found-no-driver"), card: Gpu | None = one(vendor="nvidia")
) -> Verdict:  # fmt: skip
    """The torch that came in ROCm's place asks for NVIDIA's driver."""
    return card is None and str(gone.local).startswith("rocm") and {"have": gone.old}


@rule("cpu-only-torch", "likely")
def build_for_a_gpu_goes_and_the_processors_comes(
    gone: Symptom = seen(*_GOES), new: Package = one(manager="pip", name="torch"), platform: Platform | None = None,
    asked: Symptom | None = seen("pip-single-index", "index-url-of-torch"),
) -> Verdict:  # fmt: skip
    """Who had a build for a GPU means to use one; on Windows PyPI's is for the processor."""
    release, _, local = str(new.version).partition("+")
    windows = platform is not None and platform.get("system") == "windows" and not platform.get("wsl")
    plain = not local and windows and variant_for_pypi(release, "windows") == "cpu"
    wanted = asked is not None and "/whl/cpu" in str(asked.index)
    return (local == "cpu" or plain) and not wanted and {"have": gone.old, "other": new.version}


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


@rule("cpu-only-torch", "likely")
def installed_from_the_index_for_processors(
    index: Symptom = seen("index-url-of-torch", "pip-single-index", "requirements-name-an-index"), torch: Torch = one(available=False),
    gpu: Gpu | None = one(vendor=("nvidia", "amd")), driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The index that is named has builds for the processor alone; a card or its driver is shown beside it."""
    for_cpu = str(index.index).rstrip("/").endswith("/whl/cpu")
    return for_cpu and bool(gpu or driver) and not torch.get("cuda") and not torch.get("hip")


@rule("cuda-torch-on-amd", "likely")
def distributions_package_for_nvidia(
    package: Symptom = seen("arch-torch-package"), card: Gpu = one(vendor="amd"), other: Gpu | None = one(vendor="nvidia")
) -> Verdict:  # fmt: skip
    """Arch has a package of torch for each maker, and this one is for NVIDIA's cards."""
    return other is None and package.get("flavour") == "-cuda" and card.get("integrated") is not True


@rule("cpu-only-torch", "likely")
def distributions_package_for_processors(
    package: Symptom = seen("arch-torch-package"), card: Gpu = one(vendor=("nvidia", "amd")), torch: Torch = one(available=False)
) -> Verdict:  # fmt: skip
    """The plain one is for processors."""
    return not package.get("flavour") and card.get("integrated") is not True and torch.available is False


@rule("cpu-only-torch", "likely")
def pypis_wheel_for_arm_servers(
    torch: Torch = one(available=False), gpu: Gpu = one(vendor="nvidia"), platform: Platform = one(architecture=("aarch64", "arm64")), jetson: Jetson | None = None,
) -> Verdict:  # fmt: skip
    """For long PyPI had only builds for the processor there; the table knows until when."""
    plain = "+" not in torch.version and not torch.get("cuda") and platform.get("system") != "macos"
    return jetson is None and plain and variant_for_pypi(torch.version, "linux", "aarch64") == "cpu" and bool(gpu.vendor)  # fmt: skip


# -- builds and the driver, the card, the devices that were counted
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


@rule("cpu-only-torch", "likely")
def accelerate_was_set_up_for_gpus(_kind: Symptom = seen("accelerate-configured-for-gpus"), torch: Torch = one(available=False), platform: Platform | None = one(system="macos")) -> Verdict:  # fmt: skip
    """Its own configuration counts on GPUs, and the torch beside it is a build for the processor."""
    none = torch.knows("cuda", "hip") and torch.cuda is None and torch.hip is None
    return platform is None and none and "+xpu" not in str(torch.get("version"))


@rule("gpu-arch-older-than-wheel", "likely")
def the_warnings_first_line_and_an_older_card(
    _said: Symptom = seen("card-and-its-capability-cut"), gpu: Gpu = one(vendor="nvidia"), torch: Torch = one()
) -> Verdict:  # fmt: skip
    """torch names a card and its capability so only where it warns; what it warns of was cut off."""
    code = list(torch.get("code") or [])
    return bool(code) and age_beside(why_not(gpu.isa, code), code) == "older-chip"


@rule("gpu-arch-newer-than-wheel", "likely")
def capability_above_what_the_build_has(_said: Symptom = seen("capability-asked"), gpu: Gpu = one(vendor="nvidia"), torch: Torch = one()) -> Verdict:  # fmt: skip
    """Somebody asked for the capability, and for what torch was built for: a question that one has after a failure."""
    code = list(torch.get("code") or [])
    return bool(code) and age_beside(why_not(gpu.isa, code), code) == "newer-chip"


@rule("cuda-visible-devices-wrong", "likely")
def program_hides_all_and_counts_none(mask: Mask, tensorflow: TensorFlow | None = one(gpus=0), torch: Torch | None = one(available=False)) -> Verdict:  # fmt: skip
    """A program sets the mask to nothing and then asks for its GPUs."""
    return mask.value in _HIDES_ALL and _counts_none(tensorflow, torch) and {"name": mask.variable, "value": mask.value}


@rule("cuda-visible-devices-wrong", "likely")
def shell_hides_all_and_counts_none(
    mask: Variable = one(name=MASKS, value=_HIDES_ALL), tensorflow: TensorFlow | None = one(gpus=0), torch: Torch | None = one(available=False),
    job: Variable | None = one(name="SLURM_JOB_ID"), meant: Symptom | None = seen("mask-emptied-for-one-command"),
) -> Verdict:  # fmt: skip
    """The variable is there and names no device, and a framework finds none; in a job the scheduler sets it so."""
    return (
        job is None and meant is None and _counts_none(tensorflow, torch) and {"name": mask.name, "value": mask.value}
    )


def _counts_none(tensorflow: TensorFlow | None, torch: Torch | None) -> bool:
    """Asked for its GPUs it says none, and it is a build that could have some."""
    if tensorflow is not None:
        return tensorflow.get("built_with_cuda") is not False
    return torch is not None and not (torch.knows("cuda") and not torch.get("cuda") and not torch.get("hip"))


# -- packages
@rule("pip-cuda-mix", "likely")
def library_of_another_major_than_torch_asks(told: Symptom = seen("pip-check-nvidia-package")) -> Verdict:
    """pip says that torch asks for one major of a library, and another is there: its file has another name."""
    apart = version_key(told.want)[:1] != version_key(told.have)[:1]
    return apart and {"one": told.package}


@rule("cuda-runtime-library-missing", "likely")
def tensorflow_for_gpus_misses_one(
    said: Symptom = seen("tf-library-not-loaded", "tf-library-not-dlopened"), package: Package = one(name="tensorflow-gpu"), works: TensorFlow | None = one(gpus=Told(bool)),
) -> Verdict:  # fmt: skip
    """Who installed the package for GPUs wants one, and a library of CUDA is not found."""
    return works is None and bool(package.version) and {"lib": said.lib, "program": "tensorflow"}


# -- memory
@rule("gpu-memory-held-by-others", "likely")
def used_by_no_process_that_is_listed(
    _none: Symptom = seen("compute-processes-none-listed"), gpu: Gpu = one(vendor="nvidia", seen_by="nvidia-smi"), said: Symptom = seen(*_MEMORY),
    platform: Platform | None = None, split: Gpu | None = one(mig=True),
) -> Verdict:  # fmt: skip
    """Most of the card is in use, the driver lists no process of this place, and a program gets no memory."""
    windows = platform is not None and (platform.get("wsl") or platform.get("system") == "windows")
    return not windows and split is None and gpu.memory_used > gpu.vram / 2 and {"said": said.id, "severity": "error"}


@rule("gpu-memory-held-by-others", "likely")
def used_by_nobody_in_the_long_report(
    _none: Symptom = seen("long-report-lists-no-process"), gpu: Gpu = one(vendor="nvidia", seen_by="nvidia-smi"), platform: Platform | None = None,
    split: Gpu | None = one(mig=True), box: World | None = one(at="container"),
) -> Verdict:  # fmt: skip
    """Most of the card is in use, and the same report knows of no process. On Windows and in a container it never does."""
    windows = platform is not None and (platform.get("wsl") or platform.get("system") == "windows")
    return not windows and box is None and split is None and gpu.memory_used > gpu.vram / 2


# -- which displays there are
@rule("no-gpu-present", "likely")
def a_virtual_display_is_all(
    shown: Symptom = seen("system-summary-virtual-display"), _wanted: Symptom = seen(*NO_CUDA, "nvidia-smi-not-installed"), gpu: Gpu | None = None,
    card: PciDevice | None = one(vendor_id="10de"), hypervisor: Platform | None = one(hypervisor=Told(bool)),
) -> Verdict:  # fmt: skip
    """A summary of the system names the display of a virtual machine or of a server's board, and no card."""
    return gpu is None and card is None and hypervisor is None and {"severity": "error", "name": shown.name}


@rule("nvidia-driver-missing", "likely")
def shell_offers_the_tool_and_a_card_is_named(
    said: Symptom = seen("nvidia-tool-offered-by-the-shell"), card: Gpu = one(vendor="nvidia"), driver: Driver | None = one(vendor="nvidia"),
    package: SystemPackage | None = one(state="installed"), platform: Platform | None = None, box: World | None = one(at="container"),
) -> Verdict:  # fmt: skip
    """Ubuntu's shell would have to install the package that every driver comes with; somebody names his card."""
    elsewhere = from_inside(said) or box is not None or (platform is not None and platform.get("wsl"))
    ours = package is not None and "nvidia" in package.name
    return driver is None and not ours and not elsewhere and not card.get("seen_by") and card.get("driver") is None


@rule("render-group-missing", "likely")
def sycl_is_asked_where_the_node_is_closed(
    who: Account, node: DeviceNode, _asked: Symptom = seen("sycl-asked"), other: Gpu | None = one(vendor="nvidia"),
    works: Gpu | None = one(vendor="intel", seen_by=Told(bool)),
) -> Verdict:  # fmt: skip
    """Intel's lister was asked and lists no GPU, and the render node opens for a group that this account is not in."""
    ours = "/renderD" in node.path and not from_inside(node) and not from_inside(who)
    return other is None and works is None and ours and closed(node, who)


# -- Macs
@rule("mps-macos-too-old", "likely")
def not_offered_below_what_the_release_asks(torch: Torch = one(mps_available=False), platform: Platform = one(system="macos")) -> Verdict:  # fmt: skip
    """Nobody asked whether it is built in, which it is in all releases that the table knows."""
    minimum = mps_minimum(torch.version)
    old = minimum is not None and is_older(platform.version, minimum)
    intel = str(torch.get("platform") or "").endswith("x86_64") or platform.version.startswith("10.16")
    return old and not intel and {"minimum": minimum}


# -- the fabric
@rule("fabric-manager-not-running", "likely")
def manager_is_asked_and_is_not_active(
    _asked: Symptom = seen("fabric-manager-asked-inactive"), gpu: Gpu = one(vendor="nvidia", seen_by="nvidia-smi"), torch: Torch = one(available=False)
) -> Verdict:  # fmt: skip
    """Modules on a board, the service that joins them not active, and CUDA that does not start."""
    return any(word in gpu.name for word in ("SXM", "HGX", "B200", "B300")) and torch.available is False
