"""What AMD's programs print of a machine that does not fit, where their message alone does not decide."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.memory import GIB, OUT, Figures
from rigup.diagnosis.rules.rocm import OVERRIDE, fits, inside_a_processor, left
from rigup.diagnosis.rules.told import RIGHT
from rigup.machine.kinds import Account, DeviceNode, Gpu, PciDevice, Platform, Symptom, Torch, Variable

_AMD = "1002"
_NONE = ("hip-no-device", "hip-log-no-device", "hip-init-failed", "torch-no-cuda-gpus", "hsa-out-of-resources", "rock-module-not-loaded")  # fmt: skip
_SERVED = ("ollama-computes-on-rocm", "ollama-amdgpu-supported")
_GROUPS = ("render", "video")


# -- rights
@rule("render-group-missing", "likely")
def amds_tool_is_refused_to_an_account(said: Symptom = seen("amdsmi-not-permitted"), who: Account = one()) -> Verdict:
    """Whoever asks is in neither of the groups that own AMD's nodes."""
    plain = bool(who.groups) and who.get("uid") != 0 and not inside(who)
    return plain and not any(group in who.groups for group in _GROUPS) and {"said": said.id, "group": "render"}


@rule("render-group-missing", "possible")
def amds_tool_is_refused(
    said: Symptom = seen("amdsmi-not-permitted"),
    change: Symptom | None = seen("amdsmi-was-to-set"),
    works: Torch | None = one(available=True),
) -> Verdict:
    """Nothing is told of who asks. To change a setting is for root alone, whatever the groups."""
    return change is None and works is None and said.values()


@rule("render-group-missing", "possible")
def program_finds_no_device_of_rocms(
    said: Symptom = seen("ggml-finds-no-device-for-rocm"), node: DeviceNode | None = None, who: Account | None = None,
    platform: Platform | None = one(system="windows"), wsl: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """Nothing else is told: mostly the account may not open the nodes."""
    return node is None and who is None and platform is None and wsl is None and not inside(said) and {"said": said.id}


@rule("render-group-missing", "possible")
def vulkan_finds_the_processor_beside_a_card(
    said: Symptom = seen("vulkan-draws-by-the-processor-alone"), card: Gpu = one(vendor=("amd", "intel"))
) -> Verdict:
    """A card is there, and Mesa does not get at it."""
    return not inside(said) and {"said": said.id, "name": card.get("name")}


# -- the card
@rule("no-gpu-present", "likely")
def no_radeon_on_the_bus(
    said: Symptom = seen("radeontop-finds-no-radeon"), error: Symptom = seen(*_NONE), card: PciDevice | None = one(vendor_id=_AMD), gpu: Gpu | None = one(vendor="amd"),
) -> Verdict:  # fmt: skip
    """radeontop goes through the bus, and a program was to compute on a Radeon."""
    return card is None and gpu is None and not inside(said) and {"said": error.id, "severity": "error"}


@rule("vm-passthrough-misconfigured", "likely")
def card_is_kept_for_guests(
    card: PciDevice = one(vendor_id=_AMD, driver="vfio-pci"), error: Symptom = seen(*_NONE), other: PciDevice | None = one(vendor_id=_AMD, driver="amdgpu"),
) -> Verdict:  # fmt: skip
    """The host holds it ready for a guest, and a program on the host is to compute on it."""
    return other is None and not inside(error) and {"said": error.id, "address": card.get("address")}


@rule("wrong-hsa-override", "likely")
def card_hangs_under_an_override(
    said: Symptom = seen("hsa-hang-exception"), override: Variable = one(name=OVERRIDE), card: Gpu = one(vendor="amd")
) -> Verdict:
    """The value is none of those that the chip is known to run under."""
    value, isa = override.get("value"), card.get("isa") or ""
    return bool(isa and value) and not fits(isa, value) and {"said": said.id, "value": value}


@rule("amdgpu-not-loaded", "likely")
def monitors_find_no_amdgpu(
    said: Symptom = seen("monitors-miss-amds-driver"), card: Gpu | None = one(vendor="amd"), other: Gpu | None = one(vendor="nvidia"), named: Symptom | None = seen("nvidia-geforce-named"),
) -> Verdict:  # fmt: skip
    """They say themselves that there may be no such card: beside another maker's there is none."""
    return (card is not None or (other is None and named is None)) and said.values()


@rule("amdgpu-not-loaded", "possible")
def starter_finds_no_agent(
    said: Symptom = seen("sdnext-finds-no-agent"), card: Gpu | None = one(vendor="amd"), other: Gpu | None = one(vendor="nvidia"), named: Symptom | None = seen("nvidia-geforce-named"),
) -> Verdict:  # fmt: skip
    """It asks ROCm whenever its tools are there, whoever made the card."""
    return (card is not None or (other is None and named is None)) and said.values()


# -- code for the chip
@rule("binary-arch-missing", "likely")
def compiler_is_older_than_the_chip(
    said: Symptom = seen("clang-knows-no-such-chip"), torch: Torch | None = None, named: Symptom | None = seen("torch-named", "miopen-named", "miopen-build-failed"),
) -> Verdict:  # fmt: skip
    """A program is to be built for a chip that ROCm's compiler has not heard of."""
    return named is None and torch is None and {"said": said.id, "gfx": said.get("gfx") or said.get("gfx2")}


@rule("gfx-not-in-torch-wheel", "likely")
def torchs_compiler_is_older_than_the_chip(
    said: Symptom = seen("clang-knows-no-such-chip"),
    named: Symptom = seen("torch-named", "miopen-named", "miopen-build-failed"),
) -> Verdict:
    """torch's own MIOpen compiles at run time, by a compiler that has not heard of the chip."""
    gfx = str(said.get("gfx") or said.get("gfx2"))
    return not left(gfx) and {"gfx": gfx, "said": said.id, "why": named.id}


@rule("binary-arch-missing", "likely")
def program_of_ones_own_has_no_code(
    said: Symptom = seen("hip-names-its-own-source"),
    torch: Torch | None = None,
    named: Symptom | None = seen("torch-named"),
) -> Verdict:
    """The message names the source file that called HIP, and it is none of torch's."""
    own = not any(part in str(said.get("file")) for part in ("aten/", "c10/", "pytorch"))
    return own and torch is None and named is None and {"said": said.id}


# -- libraries
@rule("cuda-torch-on-amd", "likely")
def installer_puts_torch_of_rocm_away(
    said: Symptom = seen("torch-of-rocm-put-away"), other: Gpu | None = one(vendor="nvidia")
) -> Verdict:
    """A build of another kind takes the place of ROCm's; where a card of NVIDIA's is shown, that is meant."""
    return other is None and said.values()


@rule("windows-runtime-dll-missing", "likely")
def library_of_hips_does_not_load(
    said: Symptom = seen("python-misses-hips-library"),
    other: Gpu | None = one(vendor="nvidia"),
    own: Gpu | None = one(vendor="amd"),
) -> Verdict:
    """A program that tries one library after the other goes on to that of another maker's card."""
    return (other is None or own is not None) and said.values()


@rule("rocm-abi-mismatch", "likely")
def collectives_miss_a_symbol(
    said: Symptom = seen("rocr-misses-a-symbol"), right: Symptom | None = seen(RIGHT)
) -> Verdict:
    """RCCL does without what an older runtime lacks, where its test ends well."""
    return right is None and said.values()


@rule("rocm-abi-mismatch", "likely")
def program_misses_a_call_of_hips(
    said: Symptom = seen("hashcat-misses-a-call-of-hip"),
    named: Symptom | None = seen("nvidia-geforce-named"),
    own: Gpu | None = one(vendor="amd"),
) -> Verdict:
    """The library is of another release than the program wants; beside another maker's card alone it is not used."""
    return (named is None or own is not None) and said.values()


@rule("cpu-only-torch", "likely")
def runtime_of_models_offers_no_rocm(
    said: Symptom = seen("onnxruntime-offers-no-rocm"), card: Gpu | None = one(vendor="amd"), named: Symptom | None = seen("amd-radeon-named", "amd-rx-named", "instinct-named-by-number", "rocm-named-in-lower-case"),
) -> Verdict:  # fmt: skip
    """Programs name every provider that there is; that one for ROCm is missing tells where a card of AMD's is meant."""
    meant = card is not None or named is not None
    return meant and {**said.values(), "framework": "onnxruntime", "packages": "onnxruntime-rocm"}


@rule("rocm-abi-mismatch", "possible")
def two_compilers_in_one_process(
    said: Symptom = seen("llvm-registered-twice"), card: Gpu | None = one(vendor="amd"), hip: Torch | None = None,
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """LLVM came in twice: ROCm's comgr, and that of another release or program."""
    ours = card is not None or bool(hip and hip.get("hip"))
    return ours and other is None and {"said": said.id}


@rule("binary-arch-missing", "likely")
def programs_bundle_lacks_the_chip(
    said: Symptom = seen("bundle-without-the-chip"), dgpu: Gpu | None = one(vendor="amd", integrated=False)
) -> Verdict:
    """HIP's log names a library that is none of torch's; a processor's graphics beside a card are left out by right."""
    gfx, path = str(said.get("gfx")), str(said.get("path"))
    meant = not (inside_a_processor(gfx) and dgpu is not None)
    return meant and "/torch/" not in path and "torch_hip" not in path and {"gfx": gfx, "said": said.id}


# -- containers
@rule("container-toolkit-missing", "possible")
def no_node_has_gpus_to_hand_out(
    said: Symptom = seen("pods-without-amds-resource", "pod-without-gpu-resource"),
    has: Symptom | None = seen("node-has-gpus-to-hand-out"),
) -> Verdict:
    """The scheduler says the same of nodes that have none and of nodes whose GPUs are all in use."""
    return has is None and said.values()


@rule("container-without-gpu", "possible")
def program_finds_no_device_inside(said: Symptom = seen("ggml-finds-no-device-for-rocm", at="container")) -> Verdict:
    """Nothing else is told: mostly the nodes were not handed in."""
    return {"vendor": "amd", "said": said.id}


@rule("container-without-gpu")
def trace_finds_no_node_inside(_said: Symptom = seen("kfd-not-there-by-a-trace", at="container")) -> Verdict:
    """The node was not handed in."""
    return {"vendor": "amd"}


@rule("amdgpu-not-loaded", "likely")
def trace_finds_no_node(
    said: Symptom = seen("kfd-not-there-by-a-trace"), box: Symptom | None = seen("container-root-prompt"), wsl: Platform | None = one(wsl=(1, 2)),
    served: Symptom | None = seen("kfd-added-device", "kfd-did-not-add-the-device"), other: Symptom | None = seen("nvidias-node-opened-by-a-trace"), nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """No driver has made it. Programs for any maker's card try it first, and go on to NVIDIA's."""
    elsewhere = other is not None or nvidia is not None
    return not elsewhere and box is None and wsl is None and served is None and not inside(said) and {"said": said.id}


@rule("container-without-gpu", "likely")
def trace_finds_no_node_for_root_of_a_container(
    said: Symptom = seen("kfd-not-there-by-a-trace"), _box: Symptom = seen("container-root-prompt")
) -> Verdict:
    """The prompt is that of a container."""
    return {"vendor": "amd", "said": said.id}


@rule("container-without-gpu", "likely")
def nvidias_option_for_an_image_of_rocms(
    said: Symptom = seen("docker-no-device-driver"), image: Symptom = seen("rocm-image-composed", "rocm-image-run"), nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """GPUs are asked for in a way that only NVIDIA's toolkit serves; a Radeon's nodes are handed in by name."""
    return nvidia is None and {
        "vendor": "amd",
        "option": "--device=/dev/kfd --device=/dev/dri",
        "said": said.id,
        "image": image.get("image"),
    }


# -- memory
@rule("gpu-memory-held-by-others", "likely")
def radeon_is_full_before_the_work(
    said: Symptom = seen("hip-out-of-memory-plain", "cuda-out-of-memory-plain", "cuda-out-of-memory-constant", "ggml-out-of-memory"), shown: Symptom = seen("rocm-smi-tells-used-memory"),
    inner: Gpu | None = one(vendor="amd", integrated=True), full: Symptom | None = seen(*OUT),
) -> Verdict:  # fmt: skip
    """rocm-smi shows a card of its own that is nearly full."""
    total, used = int(shown.total), int(shown.used)
    return (
        inner is None
        and full is None
        and total >= 4 * GIB
        and used > 0.8 * total
        and {"said": said.id, "severity": "error"}
    )


@rule("oom-model-too-large", "likely")
def hip_tells_that_the_whole_card_would_not_do(said: Symptom = seen("hip-log-tells-what-was-wanted")) -> Verdict:
    """One piece is wanted that is larger than all there is."""
    return int(said.wanted) > int(said.total) and {"said": said.id}


@rule("oom-model-too-large", "possible")
def hip_tells_that_too_little_is_free(said: Symptom = seen("hip-log-tells-what-was-wanted")) -> Verdict:
    """The card would do, and what is free does not; whose the rest is, the line does not tell."""
    return int(said.free) < int(said.wanted) <= int(said.total) and {"said": said.id}


# -- memory that processor and GPU share
@rule("apu-vram-carveout-vs-gtt", "possible")
def shared_memory_is_full_beside_the_work(
    said: Symptom = seen(*OUT),
    inner: Gpu = one(vendor="amd", integrated=True),
    card: Gpu | None = one(integrated=False),
) -> Verdict:
    """Graphics in a processor: what neither is free nor torch's is the system's own, or lies in the pool that torch does not use."""
    return card is None and bool(inner.integrated) and Figures(said).taken and {"said": said.id, "severity": "error"}


@rule("igpu-vram-counted-without-gtt", "likely")
def launcher_counts_the_carve_out_alone(
    said: Symptom = seen("koboldcpp-counts-a-carve-out"), card: Gpu | None = one(integrated=False)
) -> Verdict:
    """It takes what the firmware set aside for all that the graphics have; beside a card that does not matter."""
    return card is None and said.values()


@rule("igpu-vram-counted-without-gtt", "likely")
def server_takes_little_memory_for_a_sign(
    said: Symptom = seen("ollama-takes-it-for-graphics"),
    served: Symptom | None = seen(*_SERVED),
    card: Gpu | None = one(integrated=False),
) -> Verdict:
    """It asks only for what the firmware set aside, and leaves out what has less than a gigabyte."""
    return served is None and card is None and {"said": said.id, "total": said.get("total")}
