"""AMD's causes by what short pastes show: rows of the kernel's log, answers of one command, two results side by side."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.pasted.amd_told import OURS, SPOKEN_OF
from rigup.diagnosis.rules.rocm import MASKS, OVERRIDE, left
from rigup.diagnosis.rules.rocm_stack import numbered
from rigup.knowledge.chips import runs_on
from rigup.knowledge.driver_faults import firmware_fault
from rigup.knowledge.rocm import override_for
from rigup.machine.kinds import (
    Account,
    DeviceNode,
    DkmsBuild,
    Gpu,
    KernelLibrary,
    KernelModule,
    PciDevice,
    Platform,
    Symptom,
    Torch,
    Variable,
)

_AMD = "1002"
_NO_DEVICE = (
    "hsa-out-of-resources",
    "hsa-init-failed",
    "hsa-call-failed-by-number",
    "hip-no-device",
    "torch-no-cuda-gpus",
    "kfd-not-there",
    "rock-module-not-loaded",
    "hip-init-failed",
)
_DENIED = ("kfd-permission-denied", "kfd-permission-denied-errno", "kfd-group-not-held", "device-node-refused-below")
_NO_CODE = ("hip-invalid-device-function", "hip-no-binary", "hip-no-kernel-image", "hip-kernel-image-invalid")


# -- the module, and what the kernel takes
@rule("amdgpu-not-loaded", "likely")
def module_is_kept_from_loading(
    said: Symptom = seen(*_NO_DEVICE), module: KernelModule = one(name="amdgpu", blacklisted=True), loaded: KernelModule | None = one(name="amdgpu", loaded=True),
    nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """A file of modprobe's forbids it."""
    return loaded is None and nvidia is None and bool(module.blacklisted) and {"said": said.id}


@rule("kernel-module-not-built", "likely")
def dkms_has_amdgpu_for_no_kernel(
    _added: Symptom = seen("dkms-added-only", module="amdgpu"), said: Symptom = seen("hsa-kernel-too-old", *_NO_DEVICE), built: DkmsBuild | None = one(module="amdgpu"),
    loaded: KernelModule | None = one(name="amdgpu", loaded=True), nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """DKMS knows the module and has built it for no kernel; the kernel's own, if any, is too old for what wants to compute."""
    silent = loaded is None or said.id == "hsa-kernel-too-old"
    return built is None and nvidia is None and silent and not inside(said) and {"kernel": None, "said": said.id}


@rule("kernel-module-not-built", "likely")
def dkms_has_it_for_no_kernel_and_says_why(
    added: Symptom = seen("dkms-added-only"), said: Symptom = seen("dkms-headers-missing", "dkms-build-failed-unnamed", "kernel-build-folder-missing"),
    built: DkmsBuild | None = None, loaded: KernelModule | None = one(name=("amdgpu", "nvidia"), loaded=True),
) -> Verdict:  # fmt: skip
    """The list has the module for no kernel, and what failed stands beside it."""
    return built is None and loaded is None and {"kernel": said.get("kernel"), "module": added.get("module")}


@rule("kernel-module-not-built", "possible")
def kernels_own_amdgpu_may_not_do(
    _added: Symptom = seen("dkms-added-only", module="amdgpu"), said: Symptom = seen(*_NO_DEVICE), _loaded: KernelModule = one(name="amdgpu", loaded=True),
    built: DkmsBuild | None = one(module="amdgpu"), nvidia: Gpu | None = one(vendor="nvidia"), denied: Symptom | None = seen(*_DENIED),
) -> Verdict:  # fmt: skip
    """The same where the kernel's own module runs: it may do, and then something else is wrong."""
    return built is None and nvidia is None and denied is None and not inside(said) and {"kernel": None}


@rule("kernel-module-not-built", "possible")
def kernels_own_amdgpu_is_too_old(
    said: Symptom = seen("hsa-kernel-too-old"), built: DkmsBuild | None = one(module="amdgpu")
) -> Verdict:
    """The runtime asks for a newer module than the one that runs, and no other was built."""
    return built is None and {"kernel": None, "said": said.id}


@rule("kfd-gpu-not-supported", "likely")
def kfd_has_no_node_of_a_chip_it_never_had(
    chip: Symptom = seen("kfd-never-had-the-chip"), said: Symptom = seen("kfd-lists-no-gpu")
) -> Verdict:
    """The kernel lists the processor alone, and the card is of the first architecture."""
    return {"chip": chip.get("chip"), "said": said.id}


@rule("kfd-gpu-not-supported", "likely")
def refused_card_of_its_own(
    said: Symptom = seen("kfd-asic-not-supported"), card: Gpu = one(vendor="amd", integrated=False), served: Symptom | None = seen("kfd-added-device"),
) -> Verdict:  # fmt: skip
    """Beside another maker's card: what is refused is no processor's graphics, but a card that is meant for computing."""
    return served is None and {"chip": card.get("name"), "said": said.id}


@rule("kfd-gpu-not-supported", "possible")
def one_of_two_is_refused(
    said: Symptom = seen("kfd-device-unknown"), _served: Symptom = seen("kfd-added-device"), other: Gpu | None = one(vendor="nvidia")
) -> Verdict:  # fmt: skip
    """The kernel takes one card and refuses the other, which may only draw."""
    return other is None and {"chip": said.get("device"), "severity": "warning"}


@rule("pcie-atomics-missing", "likely")
def a_cards_own_lines_show_them_off(
    card: PciDevice = one(vendor_id=_AMD, atomics=False), gpu: Gpu = one(vendor="amd", integrated=False)
) -> Verdict:
    """An excerpt that does not show the driver; amdgpu asks for atomics at every start."""
    return not card.knows("driver") and gpu.get("pci_address") == card.address


@rule("vm-without-gpu-passthrough", "likely")
def made_up_display_and_no_amdgpu(
    _shown: Symptom = seen("made-up-display-virtualbox", "made-up-display-vmware", "made-up-display-qxl", "virtual-display", "virtual-display-by-name"),
    said: Symptom = seen("rocm-smi-amdgpu-not-found", "amd-smi-no-driver", "hsa-out-of-resources", "hip-init-failed", "hip-no-device"),
    gpu: Gpu | None = None, card: PciDevice | None = one(vendor_id=(_AMD, "10de")),
) -> Verdict:  # fmt: skip
    """The only display is one that a hypervisor makes up, and AMD's tools find nothing."""
    return gpu is None and card is None and {"said": said.id}


@rule("rocminfo-builtin-module", "likely")
def opencl_lists_the_card_all_the_same(
    said: Symptom = seen("rock-module-not-loaded", "rocm-smi-amdgpu-not-found", "amd-smi-no-driver"), shown: Symptom = seen("clinfo-lists-a-radeon"),
) -> Verdict:  # fmt: skip
    """ROCm's OpenCL reaches a card by the very module that its other tools do not find."""
    return not inside(said) and {"said": said.id, "shown": shown.id}


# -- firmware
@rule("amd-firmware-regression", "likely")
def faults_with_firmware_known_bad(
    shown: Symptom = seen("firmware-package-shown"), fault: Symptom = seen("gpu-memory-access-fault", "amdgpu-ring-timeout", "gpu-hang-told"), card: Gpu = one(vendor="amd"),
) -> Verdict:  # fmt: skip
    """The package that is asked for is on the list for this chip."""
    bad = firmware_fault(package=str(shown.get("version")), isa=card.isa)
    return bad and {"firmware": shown.get("version"), "said": fault.id}


@rule("amd-firmware-regression", "possible")
def faults_after_new_firmware(
    _new: Symptom = seen("firmware-upgrade-logged"), fault: Symptom = seen("gpu-memory-access-fault", "amdgpu-ring-timeout", "gpu-hang-told"),
    nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """Somebody shows what the package manager did, beside a fault that firmware may cause."""
    return nvidia is None and {"said": fault.id}


# -- rights and containers
@rule("container-render-group-mismatch", "possible")
def group_is_a_number_there(
    node: DeviceNode = one(path="/dev/kfd"), who: Account | None = None, opened: Symptom | None = seen("radeon-listed-inside")
) -> Verdict:  # fmt: skip
    """A listing shows the number of a group that has no name there: the host's, seen from a container. What lists the chip there has opened the node."""
    return who is None and opened is None and node.group.isdigit() and node.mode[8:9] != "w" and {"group": node.group}


@rule("container-without-gpu", "possible")
def node_is_commented_out(
    _line: Symptom = seen("compose-kfd-commented"), ended: Symptom = seen("container-exited", *_NO_DEVICE), given: Symptom | None = seen("kfd-handed-in"),
) -> Verdict:  # fmt: skip
    """The line that would pass the node on is a comment, and what runs inside ends."""
    return given is None and {"vendor": "amd", "said": ended.id}


@rule("render-group-missing", "possible")
def a_render_node_was_refused(
    error: Symptom = seen("render-node-permission-denied"), other: Gpu | None = one(vendor="nvidia"), card: Gpu | None = one(vendor=("amd", "intel")),
) -> Verdict:  # fmt: skip
    """No card is told; NVIDIA's drivers do not compute by that node."""
    return other is None and card is None and not inside(error) and {"said": error.id}


@rule("container-render-group-mismatch", "likely")
def node_that_was_handed_in_was_refused(
    error: Symptom = seen("device-node-refused-below"), given: Symptom | None = seen("kfd-handed-in")
) -> Verdict:
    """The same where a container was given the node."""
    return (given is not None or inside(error)) and {"said": error.id}


@rule("render-group-missing", "likely")
def node_that_a_program_opened_was_refused(
    error: Symptom = seen("device-node-refused-below"), boxed: Symptom | None = seen("kfd-handed-in", *SPOKEN_OF), platform: Platform | None = one(wsl=2), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The program names the node, and a few lines below the system's refusal."""
    outside = boxed is None and platform is None and not inside(error)
    return outside and (other is None or error.get("node") == "kfd") and {"said": error.id}


@rule("render-group-missing", "likely")
def runtime_lists_the_card_for_root_alone(
    error: Symptom = seen("hsa-out-of-resources", "hip-init-failed", "hip-no-device", "hip-log-no-device", "torch-no-cuda-gpus", *_DENIED[:2]),
    root: Symptom = seen("rocminfo-with-sudo-lists"), boxed: Symptom | None = seen(*SPOKEN_OF), mask: Variable | None = one(name=MASKS),
    nvidia: Gpu | None = one(vendor="nvidia"), own: Symptom | None = seen("rocminfo-without-sudo"),
) -> Verdict:  # fmt: skip
    """A person's program finds no GPU; rocminfo, asked with root's rights, lists it."""
    outside = boxed is None and not inside(error)
    return outside and mask is None and nvidia is None and own is None and {"said": error.id, "works": root.id}


@rule("render-group-missing", "likely")
def torch_finds_none_and_the_runtime_lists_it_for_root(
    torch: Torch = one(available=False), root: Symptom = seen("rocminfo-with-sudo-lists", "rocminfo-with-sudo-answers"), boxed: Symptom | None = seen(*SPOKEN_OF),
    mask: Variable | None = one(name=MASKS), nvidia: Gpu | None = one(vendor="nvidia"), own: Symptom | None = seen("rocminfo-without-sudo"),
) -> Verdict:  # fmt: skip
    """The same of a torch for ROCm."""
    return (
        boxed is None
        and mask is None
        and nvidia is None
        and own is None
        and bool(torch.get("hip"))
        and {"works": root.id}
    )


@rule("render-group-missing", "likely")
def torch_finds_none_for_an_account_without_the_groups(
    torch: Torch = one(available=False), who: Account = one(at="shell"), node: DeviceNode | None = one(path="/dev/kfd"), boxed: Symptom | None = seen(*SPOKEN_OF),
    mask: Variable | None = one(name=MASKS), nvidia: Gpu | None = one(vendor="nvidia"), platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """A torch for ROCm and an account in none of the groups to which distributions give the nodes."""
    own = who.get("uid") == 0 or {"root", "video", "render"} & set(who.groups)
    elsewhere = boxed is not None or bool(platform and (platform.get("wsl") or platform.get("system") == "windows"))
    clear = node is None and mask is None and nvidia is None and not elsewhere
    return clear and not own and bool(torch.get("hip")) and {"user": who.get("user")}


@rule("render-group-missing", "likely")
def torch_for_rocm_finds_it_for_root(
    said: Symptom = seen("torch-finds-it-for-root"), torch: Torch | None = None, named: Symptom | None = seen(*OURS), nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The same question, asked by a person and by root."""
    rocm = named is not None or (torch is not None and bool(torch.get("hip")))
    return rocm and nvidia is None and {"said": said.id}


# -- code for the chip
@rule("gfx-not-in-rocblas", "likely")
def listed_library_has_no_kernels(
    library: KernelLibrary = one(name="rocblas", owner="shown"), card: Gpu = one(vendor="amd"), override: Variable | None = one(name=OVERRIDE),
    torch: Torch | None = one(available=True),
) -> Verdict:  # fmt: skip
    """Somebody lists the files of the installed library, and the card's are not among them."""
    overridden = override is not None and bool(override.get("value"))
    return not overridden and torch is None and not runs_on(card.isa, library.code) and not left(card.isa) and {"gfx": card.isa}  # fmt: skip


@rule("rocm-dropped-arch", "likely")
def listed_library_has_left_the_chip(
    library: KernelLibrary = one(name="rocblas", owner="shown"), card: Gpu = one(vendor="amd"), other: Gpu | None = one(vendor="amd", integrated=False)
) -> Verdict:  # fmt: skip
    """The same of a chip that older releases had."""
    excused = card.get("integrated") and other
    return not excused and left(card.isa) and not runs_on(card.isa, library.code) and {"gfx": card.isa}


@rule("rocm-dropped-arch", "likely")
def bundle_has_left_the_chip(said: Symptom = seen("rocblas-loads-from-bundle"), card: Gpu = one(vendor="amd")) -> Verdict:  # fmt: skip
    """A program's own rocBLAS has no files that it could load, and the chip is one that ROCm has left."""
    return left(card.isa) and {"gfx": card.isa, "said": said.id}


@rule("igpu-visible-beside-dgpu", "likely")
def listed_graphics_have_no_code(
    error: Symptom = seen(*_NO_CODE), igpu: Gpu = one(vendor="amd", integrated=True), dgpu: Gpu = one(vendor="amd", integrated=False),
    mask: Variable | None = one(name=MASKS[:2]),
) -> Verdict:  # fmt: skip
    """torch lists both as its devices; the card needs no override."""
    listed = igpu.knows("runtime_index") and dgpu.knows("runtime_index") and override_for(dgpu.isa) is None
    return (
        listed
        and mask is None
        and not left(dgpu.isa)
        and {"device": dgpu.runtime_index, "severity": "error", "said": error.id}
    )


@rule("igpu-visible-beside-dgpu", "likely")
def server_computes_on_both(
    igpu: Gpu = one(vendor="amd", integrated=True), dgpu: Gpu = one(vendor="amd", integrated=False), listed: Symptom = seen("ollama-computes-on-rocm"),
    mask: Variable | None = one(name=MASKS[:2]),
) -> Verdict:  # fmt: skip
    """ollama's own list of what it computes on has the processor's graphics too."""
    both = igpu.knows("shown_isa") and dgpu.knows("shown_isa") and listed.get("gfx") == igpu.shown_isa
    return both and mask is None and {"device": 0 if dgpu.get("runtime_index") is None else dgpu.runtime_index}


@rule("double-visibility-mask", "likely")
def both_masks_name_the_same_variable(
    outer: Variable = one(name="ROCR_VISIBLE_DEVICES"), inner: Variable = one(name=MASKS[1:3]), said: Symptom = seen("torch-no-cuda-gpus", "hip-no-device"),
) -> Verdict:  # fmt: skip
    """`$SLURM_LOCALID` in both: all but the first process see nothing."""
    same = str(outer.value).startswith("$") and outer.value == inner.value
    return same and {"name": inner.name, "said": said.id}


@rule("broken-wheel-missing-library", "likely")
def torchs_own_part_lacks_a_library(
    error: Symptom = seen("rocm-library-not-loaded"),
    _own: Symptom = seen("torch-c-part-imported"),
    torch: Torch | None = None,
) -> Verdict:
    """torch's compiled part is what fails to load, and the library is one that its wheel should bring."""
    lib = str(error.get("lib"))
    return torch is None and not numbered(error) and {"lib": lib}


# -- wrong results
_BAD = (
    "one-sign-over-and-over",
    "one-letter-over-and-over",
    "number-signs-after-words",
    "double-stars-over-and-over",
    "exclamation-marks-over-and-over",
    "question-marks-over-and-over",
    "unknown-tokens-over-and-over",
    "loss-not-a-number-again",
    "product-of-ones-is-nought",
)


@rule("garbage-output-on-gfx", "possible")
def output_is_no_output(
    said: Symptom = seen(*_BAD), card: Gpu | None = one(vendor="amd"), named: Symptom | None = seen(*OURS, "amd-radeon-named"), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """A model prints one sign over and over, or what is computed is no number; on another maker's it may be the model."""
    return other is None and (card is not None or named is not None) and {"said": said.id}


@rule("garbage-output-on-gfx", "likely")
def results_differ_side_by_side(
    said: Symptom = seen("results-side-by-side"), card: Gpu | None = one(vendor="amd"), rocm: Symptom | None = seen(*OURS), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The same expression on the card and on the processor, and their results are not near each other."""
    gpu, cpu = _number(said.get("gpu")), _number(said.get("cpu"))
    apart = abs(gpu - cpu) > 0.05 * max(abs(gpu), abs(cpu))
    return other is None and (card is not None or rocm is not None) and apart and {"said": said.id}


@rule("garbage-output-on-gfx", "likely")
def difference_is_not_small(
    said: Symptom = seen("difference-from-processor", "comparison-failed-not-a-number"), card: Gpu | None = one(vendor="amd"), rocm: Symptom | None = seen(*OURS),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """Somebody took the difference, and it is no rounding."""
    off = said.get("off")
    wrong = off in ("nan", "inf") or _number(off) > 1
    return other is None and (card is not None or rocm is not None) and wrong and {"said": said.id}


def _number(text: str | None) -> float:
    try:
        return float(text or 0)
    except ValueError:
        return 0.0
