"""NVIDIA's driver as lists of packages, a folder's listing and people's own words tell of it, where no report does."""

import re

from rigup.diagnosis.rule import Every, Verdict, every, one, rule, seen, wordings
from rigup.diagnosis.rules.access import closed, inside
from rigup.diagnosis.rules.driver import NVIDIA, same_version
from rigup.knowledge.cuda import version_key
from rigup.knowledge.driver_choice import branch_left_for
from rigup.knowledge.gpu_words import gpu_in_words
from rigup.knowledge.gpus import driver_branch_for, open_module
from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import (
    Account,
    DeviceNode,
    DkmsBuild,
    Driver,
    DriverLibrary,
    Gpu,
    GraphicsSwitch,
    Kernel,
    KernelModule,
    PathLibrary,
    PciDevice,
    Platform,
    SearchPath,
    Symptom,
    SystemPackage,
    Torch,
)

_AMD = "1002"
_AMD_SILENT = wordings(tag="amd-driver-silent")
_OPEN = lazy_regex(r"(?:.*-)?nvidia-(?:.*-)?open(?:-.*)?")


@rule("open-module-on-pre-turing-gpu", "likely")
def open_package_for_an_old_card(
    package: SystemPackage = one(state="installed"), gpu: Gpu = one(vendor="nvidia"), driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """A list of packages has the open module, and no driver works on a chip without GSP."""
    unused = driver is None and not gpu.get("seen_by") and gpu.get("driver") != "nvidia"
    mine = _OPEN.fullmatch(package.name) and open_module(gpu.isa) == "impossible"
    return bool(mine) and unused and not inside(package) and {"branch": driver_branch_for(gpu.isa)}


@rule("open-module-on-pre-turing-gpu", "likely")
def open_module_for_an_old_card_as_people_say(
    statement: Symptom = seen("open-driver-in-words"), _refused: Symptom = seen("card-refused-in-words", "nvidia-smi-no-devices", "nvidia-smi-cannot-communicate"),
    gpu: Gpu = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """A person names the open module, a card from before GSP, and that the one refuses the other."""
    known = gpu if gpu.get("isa") else None
    unused = not gpu.get("seen_by") and known is not None and open_module(known.isa) == "impossible"
    return unused and {"said": statement.id, "branch": driver_branch_for(gpu.isa)}


@rule("device-node-permissions", "possible")
def closed_node_and_nobody_says_for_whom(
    symptom: Symptom = seen(tag="driver-told-unused"), node: DeviceNode = one(), account: Account | None = None
) -> Verdict:
    """NVIDIA's nodes open for all unless somebody changed that; a program finds no GPU, and whose it is nobody shows."""
    ours = re.fullmatch(r"/dev/nvidia(?:ctl|-uvm|\d{1,3})", node.path)
    stranger = account is None or closed(node, account)
    return bool(ours) and stranger and node.mode[8:9] != "w" and not node.get("acl") and {"said": symptom.id}


@rule("kernel-module-not-built", "likely")
def dkms_has_it_for_no_kernel(
    symptom: Symptom = seen("dkms-added-only"), wish: Symptom = seen(tag="nvidia-driver-silent amd-driver-silent"), built: DkmsBuild | None = None,
    loaded: KernelModule | None = one(name=("nvidia", "amdgpu"), loaded=True),
) -> Verdict:  # fmt: skip
    """DKMS knows the module and has built it for no kernel at all; the driver that needs it is silent."""
    mine = (symptom.module == "amdgpu") == (wish.id in _AMD_SILENT)
    return mine and built is None and loaded is None and not inside(wish) and {"kernel": None}


@rule("kernel-module-not-built")
def dkms_has_it_for_no_kernel_and_nobody_has_the_card(
    symptom: Symptom = seen("dkms-added-only"), card: PciDevice = one(vendor_id=(NVIDIA, _AMD), driver=None), built: DkmsBuild | None = None,
    loaded: KernelModule | None = one(name=("nvidia", "amdgpu"), loaded=True),
) -> Verdict:  # fmt: skip
    """As above, where the bus shows a card without a driver."""
    mine = (symptom.module == "amdgpu") == (card.vendor_id == _AMD)
    return mine and built is None and loaded is None and {"kernel": None}


@rule("device-node-permissions", "likely")
def mode_is_no_mode(node: DeviceNode) -> Verdict:
    """A mode given in decimal, as in `NVreg_DeviceFileMode=666`: its bits lie askew, and the owner may not read."""
    ours = re.fullmatch(r"/dev/nvidia(?:ctl|-uvm|\d{1,3})", node.path)
    return bool(ours) and node.mode[1:2] != "r" and {"node": node.path}


@rule("kernel-module-not-built", "likely")
def failed_build_was_of_our_module(
    failed: Symptom = seen("dkms-build-failed-unnamed"), ours: Symptom = seen("dkms-builds-our-module"), loaded: KernelModule | None = one(name=("nvidia", "amdgpu"), loaded=True),
) -> Verdict:  # fmt: skip
    """The line that fails names no module; the command above it builds in our module's folder."""
    return loaded is None and {"kernel": failed.get("kernel"), "module": ours.module}


@rule("kernel-module-not-built", "likely")
def libraries_without_any_module(
    platform: Platform, _card: PciDevice = one(vendor_id=NVIDIA, driver=None), library: DriverLibrary = one(soname="libnvidia-ml.so.1"),
    kernels: Every[Kernel] = every(Kernel), modules: Every[KernelModule] = every(KernelModule, name="nvidia"),
) -> Verdict:  # fmt: skip
    """The driver's libraries are installed, the running kernel's folder was looked through, and no kernel has a module."""
    looked = any(kernel.release == platform.release for kernel in kernels)
    has_module = any(module.get("built_for") or module.get("loaded") for module in modules)
    ours = library.knows("version") and not inside(library) and not platform.get("wsl")
    return looked and not has_module and ours and {"kernel": platform.release}


@rule("libcuda-differs-from-kernel-driver", "likely")
def path_leads_to_another_libcuda(
    library: PathLibrary = one(stub=False), folder: SearchPath = one(), module: KernelModule = one(name="nvidia"), platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """A folder of the search path holds a libcuda that does not belong to the module; a newer one may be meant."""
    newer = bool(library.get("compat")) and version_key(library.version) > version_key(module.version)
    mine = (
        library.soname.startswith("libcuda.so.")
        and "." in library.version
        and folder.path == library.folder
        and not (platform and platform.get("wsl"))
    )
    return mine and not newer and not same_version(module.version, library.version) and {"path": library.path}


@rule("gpu-needs-legacy-driver", "likely")
def card_is_older_than_the_catalogue(
    gpu: Gpu = one(vendor="nvidia", driver=None), driver: Driver = one(vendor="nvidia"), statement: Symptom | None = seen("nvrm-legacy-gpu")
) -> Verdict:  # fmt: skip
    """The card's name tells a generation that only an older branch drives; no table has its ids any more."""
    known = None if gpu.get("isa") else gpu_in_words(gpu.name)
    last = branch_left_for(known[0].isa or "") if known else None
    later = bool(last) and version_key(driver.version)[:1] > version_key(last or "")
    return later and statement is None and not gpu.get("seen_by") and {"branch": last}


@rule("nvidia-module-not-loaded", "possible")
def setup_tool_gets_no_answer(
    symptom: Symptom = seen("nvidia-xconfig-no-answer"), driver: Driver | None = one(vendor="nvidia"), module: KernelModule | None = one(name=("nvidia", "nouveau")),
    card: PciDevice | None = one(vendor_id=NVIDIA),
) -> Verdict:  # fmt: skip
    """NVIDIA's own tool of setup asks the driver, and gets nothing."""
    return driver is None and module is None and card is None and not inside(symptom)


@rule("cuda-compat-libs-on-unsupported-gpu", "likely")
def compatibility_library_comes_first(
    library: PathLibrary = one(compat=True), folder: SearchPath = one(), module: KernelModule = one(name="nvidia"), gpu: Gpu = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """A libcuda newer than the driver is on the search path; only cards of data centres may use one."""
    newer = version_key(library.version) > version_key(module.version) and library.soname.startswith("libcuda.so")
    return newer and folder.path == library.folder and "GeForce" in gpu.name and {"path": library.path}


@rule("nvidia-module-not-loaded", "possible")
def switcher_loads_no_driver(
    symptom: Symptom = seen("bumblebee-loads-no-driver", "optimus-manager-loads-no-module"), driver: Driver | None = one(vendor="nvidia"), module: KernelModule | None = one(name=("nvidia", "nouveau"), loaded=True),
    why: Symptom | None = seen("bbswitch-off", "bbswitch-card-off", "dkms-build-failed", "bumblebee-module-not-made", "modprobe-module-not-found"),
) -> Verdict:  # fmt: skip
    """The service of a laptop with two cards asked for the module of the second, and did not get it."""
    return driver is None and module is None and why is None and not inside(symptom)


# -- people's words
@rule("nouveau-bound", "possible")
def nouveau_as_people_say(
    symptom: Symptom = seen("nouveau-in-words"), wish: Symptom = seen("nvidia-not-loaded-in-words", "driver-installed-in-words", tag="nvidia-driver-silent"),
    unsigned: Symptom | None = seen("module-unsigned-in-words", "module-keys-rejected-in-words"), driver: Driver | None = one(vendor="nvidia"), card: PciDevice | None = one(vendor_id=NVIDIA),
    module: KernelModule | None = one(name="nvidia", loaded=True),
) -> Verdict:  # fmt: skip
    """NVIDIA's driver does not come up, and the person names what came up instead."""
    shown = any(other is not None for other in (unsigned, driver, card, module))
    return not shown and {"said": symptom.id, "wish": wish.id}


@rule("secure-boot-module-unsigned", "possible")
def unsigned_as_people_say(
    symptom: Symptom = seen("module-unsigned-in-words", "module-keys-rejected-in-words"),
    wish: Symptom = seen(
        "nvidia-not-loaded-in-words", "module-keys-rejected-in-words", "nouveau-in-words", tag="nvidia-driver-silent"
    ),
    driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:
    """The person says that the module has no signature which the kernel takes, and that it is not loaded."""
    return driver is None and {"said": symptom.id, "wish": wish.id}


@rule("nvidia-module-not-loaded", "possible")
def not_loaded_as_people_say(
    symptom: Symptom = seen("nvidia-not-loaded-in-words"), driver: Driver | None = one(vendor="nvidia"), card: PciDevice | None = one(vendor_id=NVIDIA),
    module: KernelModule | None = one(name=("nvidia", "nouveau")), other: Symptom | None = seen("nouveau-in-words", "module-unsigned-in-words"),
) -> Verdict:  # fmt: skip
    """Nothing but the person's words; what the module met is not shown."""
    return all(shown is None for shown in (driver, card, module, other)) and not inside(symptom)


@rule("hybrid-laptop-gpu-powered-off", "possible")
def integrated_as_people_say(
    symptom: Symptom = seen("integrated-mode-in-words"), gone: Symptom = seen(tag="driver-told-gone"), switch: GraphicsSwitch | None = None,
    card: PciDevice | None = one(vendor_id=NVIDIA), driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """A tool was told to use the processor's graphics alone, and the card is not found."""
    return (
        switch is None
        and card is None
        and driver is None
        and {"tool": symptom.get("tool", "").lower(), "gone": gone.id}
    )


@rule("proprietary-module-on-open-only-gpu", "likely")
def open_package_was_not_installed(
    symptom: Symptom = seen("open-package-missing-told"), gpu: Gpu | None = one(vendor="nvidia"), named: Symptom | None = seen(tag="newest-generation"),
) -> Verdict:  # fmt: skip
    """A card that only the open module drives, and somebody who says that it was not installed."""
    isa = gpu.get("isa") if gpu else None
    wanted = open_module(isa) == "only" if isa else named is not None
    return wanted and not (gpu and gpu.get("seen_by")) and {"said": symptom.id}


@rule("proprietary-module-on-open-only-gpu", "possible")
def closed_package_and_a_black_screen(
    symptom: Symptom = seen("closed-package-told"), _trouble: Symptom = seen("black-screen-told", tag="nvidia-driver-silent"), named: Symptom = seen(tag="newest-generation"),
    older: Symptom | None = seen("older-generation-named"),
) -> Verdict:  # fmt: skip
    """The closed module was installed for a card that only the open one drives, and there is no picture."""
    return older is None and {"said": symptom.id, "named": named.id}


@rule("bios-bar-settings", "likely")
def board_does_not_start_and_has_no_such_option(
    symptom: Symptom = seen("above-4g-missing-told"), sign: Symptom = seen("board-beeps-told", "board-does-not-start-with-the-card-told", "firmware-not-reached-with-the-card-told", "board-does-not-post-with-the-card-told", "nvidia-smi-no-devices", tag="nvidia-driver-silent"),
) -> Verdict:  # fmt: skip
    """A card with a large window on a board whose firmware was not let map it."""
    return {"said": symptom.id, "sign": sign.id}


@rule("uvm-broken-after-suspend", "possible")
def compute_is_lost_after_sleep_as_people_say(
    symptom: Symptom = seen(tag="resumed-without-gpu"), gsp: Symptom | None = seen("xid-119", "xid-119-told", "gsp-rpc-timeout", "gsp-silent", "gpu-fallen-off", "xid-79"),
    silent: Symptom | None = seen(tag="nvidia-driver-silent"), card: Gpu | None = one(vendor="amd"), platform: Platform | None = one(system=("windows", "macos")),
) -> Verdict:  # fmt: skip
    """Programs compute on the processor after the machine slept, and nobody says that the driver is gone."""
    return gsp is None and silent is None and card is None and platform is None and {"said": symptom.id}


@rule("uvm-hmm-init-failure", "likely")
def open_module_and_cuda_is_not_initialised(
    error: Symptom = seen("cuinit-returns-3", "cuinit-not-initialised", "cuda-not-initialized"), statement: Symptom = seen("open-driver-in-words", "open-kernel-modules-told"),
    forked: Symptom | None = seen("fork-told", "several-processes-told"),
) -> Verdict:  # fmt: skip
    """The open module manages memory by a part of the kernel that some kernels have changed under it."""
    return forked is None and {"said": error.id, "module": statement.id}


@rule("mig-device-misaddressed", "likely")
def parts_are_counted_like_cards(
    error: Symptom = seen("cuda-invalid-ordinal", "lightning-devices-missing"), statement: Symptom = seen("mig-told")
) -> Verdict:
    """A process sees one part only, so that numbers above 0 lead nowhere."""
    return {"said": error.id, "told": statement.id}


@rule("no-gpu-present", "likely")
def another_makers_card_is_to_be_emulated(
    symptom: Symptom = seen("nvidia-emulation-wished-told"), own: Symptom = seen("intel-drawing-chip-named"), card: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """Somebody has a chip that only draws, and asks for an NVIDIA card made up by a program."""
    return card is None and {"said": symptom.id, "own": own.id, "severity": "error"}


@rule("gpu-arch-newer-than-wheel", "possible")
def no_image_for_the_newest_generation(
    symptom: Symptom = seen("no-kernel-image"), named: Symptom = seen(tag="newest-generation"), torch: Torch | None = None, gpu: Gpu | None = one(vendor="nvidia"),
    library: Symptom | None = seen("no-kernel-image-in-library", "ggml-no-kernel-image", "ggml-archs"), older: Symptom | None = seen("older-generation-named"),
) -> Verdict:  # fmt: skip
    """As with a card that a tool lists, where only the person's words tell of its generation, and of no other."""
    unknown = torch is None or not torch.knows("code")
    return unknown and gpu is None and library is None and older is None and {"said": symptom.id, "named": named.id}
