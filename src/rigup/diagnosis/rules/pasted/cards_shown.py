"""What rows and single answers tell, where the report around them was cut away: cards, their memory, their numbers and their driver."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import closed
from rigup.diagnosis.rules.access import inside as from_inside
from rigup.diagnosis.rules.driver import NO_CUDA, NVIDIA, SILENT, inside, same_version
from rigup.diagnosis.rules.program import CUDA_MASK, chosen
from rigup.knowledge.cuda import cuda_of_driver, version_key
from rigup.knowledge.gpus import driver_branch_for, open_module
from rigup.machine.kinds import (
    Account,
    DeviceNode,
    Driver,
    DriverLibrary,
    Gpu,
    KernelModule,
    PciDevice,
    Platform,
    Symptom,
    SystemPackage,
    Torch,
    Variable,
    World,
)

_LEFT_OUT = "nvidia-smi-no-devices"
_NO_DEVICE = (
    "torch-no-cuda-gpus",
    "cuda-no-device",
    "cuda-no-device-constant",
    "program-finds-no-visible-gpu",
    "program-finds-no-cuda-devices",
)
_SYSTEM = ("/usr/lib", "/lib/", "/usr/lib64", "/lib64/")


# -- numbers
@rule("cuda-device-order-differs", "likely")
def its_first_is_another_than_the_lists(
    gpu: Gpu, other: Gpu, order: Variable | None = one(name="CUDA_DEVICE_ORDER"), mask: Variable | None = one(name=CUDA_MASK),
    box: World | None = one(at="container"),
) -> Verdict:  # fmt: skip
    """A program's card of some number, and the one that nvidia-smi lists under it: two unlike cards."""
    if gpu is other or (order and order.value == "PCI_BUS_ID") or box is not None:
        return False
    number, listed = gpu.runtime_index, gpu.nvml_index
    mine = chosen(mask.value or "") if mask is not None and mask.get("value") else []
    if mine:
        number = int(mine[number]) if number < len(mine) and mine[number].isdigit() else listed
    return number != listed and other.nvml_index == number and gpu.name != other.name


# -- the card's driver
@rule("nouveau-bound", "likely")
def nouveau_has_the_card_as_a_report_says(
    card: Gpu = one(vendor="nvidia", driver="nouveau"), _wish: Symptom = seen(*SILENT, *NO_CUDA, "nvidia-smi-not-installed", "cuda-false-in-words", "program-finds-no-cuda"),
) -> Verdict:  # fmt: skip
    """inxi, lshw and their kin tell which driver has the card; CUDA was wanted."""
    return bool(card.driver)


@rule("nouveau-bound", "likely")
def nouveau_has_the_card_and_torch_sees_none(
    card: Gpu = one(vendor="nvidia", driver="nouveau"), torch: Torch = one(available=False)
) -> Verdict:
    """The same, where torch reports that it sees none."""
    return bool(card.driver) and torch.available is False


@rule("nouveau-bound", "likely")
def nouveau_is_loaded_and_cuda_is_missed(
    _nouveau: KernelModule = one(name="nouveau", loaded=True), _wish: Symptom = seen(*NO_CUDA), loaded: KernelModule | None = one(name="nvidia", loaded=True),
    works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"), compute: Gpu | None = one(vendor="amd", integrated=False),
) -> Verdict:  # fmt: skip
    """Of the two modules the one without CUDA is in the kernel, and a program finds none."""
    return loaded is None and works is None and compute is None


@rule("nouveau-bound", "likely")
def nouveau_draws_and_cuda_is_missed(
    _draws: Symptom = seen("opengl-by-nouveau", "nouveau-in-use"), _wish: Symptom = seen(*SILENT, *NO_CUDA, "nvidia-smi-not-installed", "nvidia-smi-no-devices")
) -> Verdict:  # fmt: skip
    """The desktop's own answer names the driver that draws it."""
    return True


@rule("nova-core-bound")
def nova_is_loaded_and_the_driver_is_silent(
    _nova: KernelModule = one(name="nova_core", loaded=True), smi: Symptom = seen(*SILENT, _LEFT_OUT), loaded: KernelModule | None = one(name="nvidia", loaded=True)
) -> Verdict:  # fmt: skip
    """Of the two modules the one that does not compute is in the kernel."""
    return loaded is None and not inside(smi)


@rule("gpu-needs-legacy-driver", "likely")
def package_has_dropped_the_card(
    package: SystemPackage = one(state="installed"), gpu: Gpu = one(vendor="nvidia"), _said: Symptom = seen(_LEFT_OUT, *SILENT), driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """A list of packages has a later branch than the last one that drives the card; the driver finds nothing."""
    last = driver_branch_for(gpu.isa)
    version = package.get("version", "").rpartition(":")[2]
    ours = package.name.startswith(("nvidia-driver", "nvidia-utils", "nvidia-dkms", "nvidia-open", "nvidia-kernel", "akmod-nvidia", "linux-nvidia")) or package.name in ("nvidia", "nvidia-lts")  # fmt: skip
    later = bool(last) and version[:1].isdigit() and version_key(version)[:1] > version_key(last or "")
    return ours and later and driver is None and not gpu.get("seen_by") and {"branch": last}


@rule("open-module-on-pre-turing-gpu", "likely")
def open_module_of_a_report_finds_nothing(
    gpu: Gpu = one(vendor="nvidia"), package: SystemPackage = one(state="installed"), _said: Symptom = seen(_LEFT_OUT)
) -> Verdict:
    """The open module is installed, the driver answers, and leaves out a card from before GSP."""
    ours = "nvidia" in package.name and "open" in package.name.split("-")
    return ours and open_module(gpu.isa) == "impossible" and not gpu.get("seen_by") and {"branch": driver_branch_for(gpu.isa)}  # fmt: skip


@rule("nvml-driver-library-mismatch", "likely")
def loaded_module_and_installed_library_differ(
    module: KernelModule = one(name="nvidia", loaded=True), library: DriverLibrary = one(soname="libcuda.so.1"), other: DriverLibrary | None = one(soname="libnvidia-ml.so.1"),
    told: Symptom | None = seen("cuda-803", "cuda-803-constant", "cuda-803-driver-api", "cuda-803-by-number"),
) -> Verdict:  # fmt: skip
    """A link in the system's own folder leads to another version than the loaded module's: an upgrade without a restart."""
    ours = library.path.startswith(_SYSTEM) and not inside(library) and other is None
    return (
        ours
        and told is None
        and not same_version(module.version, library.version)
        and {"library_version": library.version}
    )


@rule("nvidia-driver-missing", "likely")
def card_on_the_bus_and_no_tool(
    card: PciDevice = one(vendor_id=NVIDIA), said: Symptom = seen("nvidia-smi-not-installed"), module: KernelModule | None = one(name=("nvidia", "nouveau", "nova_core")),
    package: SystemPackage | None = one(state="installed"), platform: Platform | None = None, torch: Torch | None = one(available=True),
) -> Verdict:  # fmt: skip
    """The bus has the card, nobody says what drives it, and the driver's own tool is not installed."""
    unknown = not card.knows("driver") and str(card.get("class_code", "03")).startswith("03")
    ours = package is not None and "nvidia" in package.name
    return unknown and module is None and not ours and torch is None and not inside(said) and not (platform and platform.get("wsl"))  # fmt: skip


@rule("nvidia-driver-missing", "likely")
def card_that_nobody_claims(
    card: Gpu = one(vendor="nvidia", driver=None), module: KernelModule | None = one(name=("nvidia", "nouveau", "nova_core")), package: SystemPackage | None = one(state="installed"),
    wish: Symptom = seen("torch-found-no-driver", *_NO_DEVICE, "nvidia-smi-not-installed", "ollama-finds-no-gpu", "tf-no-driver-in-kernel"),
) -> Verdict:  # fmt: skip
    """A report shows that no driver has the card, and what wants it finds none."""
    unclaimed = card.knows("driver") and card.driver is None and not card.get("seen_by")
    return unclaimed and module is None and package is None and not from_inside(wish)


@rule("nvidia-driver-missing", "likely")
def installer_offers_one_and_there_is_no_tool(
    _offers: Symptom = seen("ubuntu-drivers-offers"), said: Symptom = seen("nvidia-smi-not-installed", "torch-found-no-driver"), module: KernelModule | None = one(name="nvidia", loaded=True),
) -> Verdict:  # fmt: skip
    """Ubuntu's tool lists drivers for the card, and none is there."""
    return module is None and not inside(said)


# -- who may
@rule("device-node-permissions", "likely")
def works_for_root_alone(
    _silent: Symptom = seen("nvidia-smi-refused-without-sudo"),
    module: KernelModule | None = one(name="nvidia", loaded=False),
) -> Verdict:
    """nvidia-smi fails, and the same under sudo answers."""
    return module is None


@rule("device-node-permissions", "possible")
def closed_nodes_and_torch_sees_none(node: DeviceNode = one(path=("/dev/nvidia0", "/dev/nvidiactl")), torch: Torch = one(available=False), who: Account | None = None) -> Verdict:  # fmt: skip
    """NVIDIA's nodes open for all unless somebody changed that; torch sees no card, and whose it is nobody shows."""
    stranger = who is None or closed(node, who)
    return stranger and node.mode[8:9] != "w" and not node.get("acl") and torch.available is False


# -- memory
@rule("gpu-memory-held-by-others", "likely")
def other_process_is_listed_and_there_is_no_room(
    holder: Symptom = seen("nvidia-smi-lists-holder"), said: Symptom = seen("cuda-out-of-memory-plain", "cuda-out-of-memory-constant"),
    full: Symptom | None = seen("torch-out-of-memory-figures", "torch-out-of-memory"),
) -> Verdict:  # fmt: skip
    """The driver's list names a process with gigabytes, and another program gets none."""
    return (
        full is None
        and int(holder.get("mib") or holder.get("mib2") or "0") > 4000
        and {"said": said.id, "severity": "error"}
    )


@rule("gpu-memory-held-by-others", "likely")
def little_is_left_when_tensorflow_starts(
    made: Symptom = seen("tf-device-with-little-memory"),
    gpu: Gpu = one(vendor="nvidia"),
    split: Gpu | None = one(mig=True),
) -> Verdict:
    """TensorFlow takes what is free: a few hundred megabytes of a large card are what others left."""
    left = int(made.mib) * 2**20
    return split is None and gpu.memory_used > 0.8 * gpu.vram and left < 0.15 * gpu.vram


@rule("gpu-memory-held-by-others", "likely")
def used_by_nobody_in_the_rows(
    none: Symptom = seen("nvidia-smi-none-running"), gpu: Gpu = one(vendor="nvidia"), platform: Platform | None = None, split: Gpu | None = one(mig=True),
    box: Symptom | None = seen("container-commands-shown"),
) -> Verdict:  # fmt: skip
    """Most of a card is used, and the driver knows of no process there. On Windows, in a WSL and in a container it never does."""
    listed = not gpu.get("driver_model") and not (
        platform and (platform.get("wsl") or platform.get("system") == "windows")
    )
    return (
        listed
        and box is None
        and not from_inside(none)
        and split is None
        and gpu.memory_used > gpu.vram / 4
        and gpu.memory_used > 2**30
    )


@rule("compute-mode-exclusive", "likely")
def mode_lets_nobody_in(
    gpu: Gpu = one(compute_mode="Prohibited"), _said: Symptom = seen(*_NO_DEVICE, *NO_CUDA)
) -> Verdict:
    """The card's mode forbids every program, and a program finds no card."""
    return {"barred": gpu.get("name") or "NVIDIA"}


@rule("cuda-compat-libs-on-unsupported-gpu", "likely")
def table_shows_more_than_the_driver_carries(
    gpu: Gpu = one(vendor="nvidia"), driver: Driver = one(vendor="nvidia"), torch: Torch = one(available=False)
) -> Verdict:
    """nvidia-smi prints what libcuda carries: more than its branch does comes from a compatibility package."""
    carried = cuda_of_driver(driver.version)
    more = bool(carried) and version_key(driver.cuda) > version_key(carried or "0")
    windows = gpu.get("driver_model") is not None  # no such package there
    return more and not windows and "GeForce" in gpu.name and torch.available is False


@rule("gpu-memory-ecc-error", "likely")
def block_of_errors_without_its_card(
    _said: Symptom = seen("nvidia-smi-volatile-uncorrected", "nvidia-smi-rows-pending"), told: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi")
) -> Verdict:  # fmt: skip
    """A block of nvidia-smi's long report counts what could not be corrected; the card above it was cut off."""
    return told is None


@rule("fabric-manager-not-running", "likely")
def block_of_the_fabric_without_its_card(
    _said: Symptom = seen("fabric-state-waits"), told: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi")
) -> Verdict:
    """As above: the card has not joined the fabric."""
    return told is None


@rule("gpu-fell-off-bus", "possible")
def bus_error_and_a_crash_dump(
    _bus: Symptom = seen("pci-fatal-error"), _dump: Symptom = seen("nvrm-crash-dump")
) -> Verdict:
    """The bus reports a fatal error of the card, and the driver writes a dump of it."""
    return True
