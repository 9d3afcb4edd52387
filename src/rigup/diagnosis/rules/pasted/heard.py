"""Symptoms that say the same to several rules, by what they say together."""

from rigup.diagnosis.rules.directml import DIRECTML_USED
from rigup.diagnosis.rules.driver import NO_CUDA, SILENT
from rigup.diagnosis.rules.told import OTHER_ACCELERATORS

KFD_DENIED = (
    "kfd-permission-denied",
    "kfd-permission-denied-errno",
    "kfd-group-not-held",
    "kfd-group-check-failed",
    "device-node-refused-below",
)
KFD_REFUSED = (*KFD_DENIED, "rock-module-not-loaded")
ROCM = ("rocm-named", "rocm-named-in-lower-case", "rocm-named-with-a-capital", "rocm-named-with-two-capitals")
OURS = (*ROCM, "gfx-named", "amd-gpu-named", "amd-gpu-named-in-small-letters")
OF_AMDS = (*OURS, "amd-radeon-named", "amd-rx-named", "form-says-amd")
HIP_FINDS_NONE = (
    "hip-no-device",
    "hip-log-no-device",
    "hip-init-failed",
    "torch-no-cuda-gpus",
    "hsa-out-of-resources",
    "hsa-init-failed",
    "hsa-call-failed-by-number",
)
AMDGPU_LACKS_FIRMWARE = ("amdgpu-block-without-its-file", "amdgpu-refuses-without-firmware")
AMDGPU_NOT_UP = ("amdgpu-block-not-started", "amdgpu-security-processor-silent", "amdgpu-power-processor-not-up")
AMDGPU_NOT_BACK = ("amdgpu-block-not-resumed", "amdgpu-power-processor-silent", "amdgpu-rings-do-not-answer", "amdgpu-reset-in-vain", "amdgpu-recovery-failed", "amdgpu-ring-reset-in-vain", "amdgpu-registers-not-reached")  # fmt: skip
AMDGPU_SCHEDULER_SILENT = ("mes-no-answer", "mes-no-response")
GUESTS_SPOKEN_OF = ("guest-in-words", "guest-named-in-words", "virtual-machine-in-words", "passthrough-in-words", "passed-through-in-words", "virsh-in-words", "hypervisor-detected", "virtualisation-detected")  # fmt: skip
ROCM_FINDS_NONE = (*HIP_FINDS_NONE, "rock-module-not-loaded")
AMD_PROGRAMS_FIND_NONE = (*ROCM_FINDS_NONE, "kfd-not-there")
HIP_HAS_NO_CODE = (
    "hip-invalid-device-function",
    "hip-no-binary",
    "hip-no-kernel-image",
    "hip-kernel-image-invalid",
    "hip-shared-object-failed",
)
CRASHES = (
    "crash-told",
    "crash-told-in-capitals",
    "ended-by-signal",
    "segmentation-fault",
    "segmentation-fault-signal",
)
SERVERS = ("ollama-named", "lemonade-named", "lm-studio-named", "kobold-named")
UNUSED = (
    "runs-on-cpu-told",
    "gpu-not-seen-told",
    "gpu-not-used-told",
    "gpu-not-used-told-in-small-letters",
    "gpu-not-shown-told",
    "lmstudio-no-compatible-gpu",
    "complaint-told",
)
WSL_TOLD = ("wsl-lived-in", "wsl-detected", "wsl-in-small-letters")
CONTAINERS_SPOKEN_OF = (
    "compose-file-named",
    "docker-in-words",
    "container-in-words",
    "speaks-of-a-container",
    *WSL_TOLD,
)
BOXES_NAMED = ("distrobox-named", "toolbox-entered", "rootless-told", "in-a-container-told")
INTEGRATED_NAMED = ("igpu-named", "igpu-named-in-chinese", "processor-has-graphics", "processor-has-small-graphics")
GGML_HAS_NO_CODE = ("ggml-kernel-image-invalid", "ggml-no-function")
ROOT_NEEDED = ("works-with-sudo", "works-as-root", "root-needed-told")
PLAIN_NAMES = ("AMD Radeon Graphics", "AMD Radeon(TM) Graphics", "AMD Radeon™ Graphics")
CONTAINERS_TOLD = (
    "compose-file-named",
    "compose-log",
    "docker-in-words",
    "container-in-words",
    "speaks-of-a-container",
    "in-a-container-told",
)
NCCL_SYSTEM = ("nccl-system-error", "nccl-system-error-constant")
INDEX_NOT_REACHED = ("pip-connection-broken", "pip-could-not-fetch")
CUDA_PROGRAMS_FIND_NONE = (
    "torch-no-cuda-gpus",
    "cuda-no-device",
    "cuda-no-device-constant",
    "program-finds-no-visible-gpu",
    "program-finds-no-cuda-devices",
)
WSL_SPOKEN_OF = ("wsl-first-in-words", "wsl-first-in-small-letters", "wsl-lived-in", "wsl-in-small-letters")
CONTAINERS_IN_WORDS = ("in-a-container-told", "container-in-words", "speaks-of-a-container")
DRIVER_UNHEARD = (*NO_CUDA, *SILENT, "nvidia-smi-not-installed", "driver-asked-in-words", "modprobe-finds-no-device")
IMAGES_SHOWN = ("traceback-through-an-image", "traceback-through-an-images-source", "traceback-through-an-images-code", "traceback-through-a-workspace", "manifest-of-a-cluster", "engine-of-clusters-shown", "engine-of-clusters-shown-by-its-new-name", "compose-file-names-a-container", "libraries-of-a-linuxserver-image", "image-for-cuda-named", "image-for-gpus-named", "image-of-last-named", "image-of-nvidia-named", "triton-server-speaks", "triton-backend-speaks")  # fmt: skip
SWITCHED_OFF = ("bbswitch-asked", "bbswitch-off", "bbswitch-card-off", "bbswitch-configured", "bumblebee-cannot-access")
CUDA_STARTS_NOT = ("cuda-init-failed-no-gpu", "cuda-initialization-error", "cuda-not-initialized", "cuinit-returns-3", "cuinit-not-initialised", "ollama-driver-init-failed", "cuda-start-fails-with-3")  # fmt: skip
MADE_UP_DISPLAYS = (
    "made-up-display-qxl", "made-up-display-vmware", "made-up-display-cirrus", "made-up-display-hyper-v", "made-up-display-virtualbox",
    "made-up-display-of-qemu", "made-up-display-virtio", "hyper-v-virtual-vga", "virtual-display", "virtual-display-by-name", "virtual-display-draws", "virtual-display-in-inxi", "virtual-display-in-windows",
)  # fmt: skip
GUESTS_SHOWN = ("guest-speaks", "guest-defined-by-libvirt", "guest-of-kubevirt", "hypervisor-window-set", "guest-of-esxi-with-a-window", "hyper-v-window-shown", "guest-started-with-a-passed-card", "guest-of-proxmox-with-a-card", "guest-of-libvirt-with-a-card")  # fmt: skip
CUDA_UNKNOWN = ("cuda-999", "cuda-999-constant", "cuda-999-runtime", "cuinit-returns-999", "cuda-999-number")
JETSONS_IN_WORDS = ("jetson-in-words", "tegra-in-words", "orin-in-words")
SLURM_SHELL = ("slurm-shell-variables", "slurm-runs-a-shell", "slurm-interactive-named")
TASKS_DIFFER = (
    "lightning-ntasks-unsupported",
    "lightning-tasks-differ",
    "lightning-tasks-differ-cut",
    "lightning-ntasks-unsupported-cut",
)
MINER_REFUSED = ("miner-was-refused-memory", "miner-built-no-data-set")
MODULE_REFUSED = ("module-key-unavailable", "lockdown-unsigned-module", "module-signature-untrusted")
ROCM_HAS_NO_MODULE = ("rock-module-not-loaded", "hip-no-device", "hip-init-failed", "hsa-out-of-resources", "rocm-smi-amdgpu-not-found", "amd-smi-no-driver", "kfd-not-there")  # fmt: skip
NVRM_SAYS_WHY = (
    "nvrm-legacy-gpu", "nvrm-will-ignore", "nvrm-open-module-without-gsp", "nvrm-open-refused-cut", "nvrm-closed-refused-cut", "nvrm-open-module-required",
    "nvrm-unsupported-by-release", "nvrm-bar-invalid", "nvrm-probe-not-called", "nvrm-says-who-may-own-the-card", "nvrm-init-adapter-failed", "xid-79", "gpu-fallen-off", "gpu-d3cold-inaccessible",
    "bbswitch-off", "bbswitch-card-off", "asus-card-switched-off", "envycontrol-switched", "graphics-mode-is-integrated", "slot-lost-its-link", *MODULE_REFUSED,
)  # fmt: skip
PROGRAM_STOPS = (
    "program-stops-without-a-gpu", "program-stops-without-cuda", "program-stops-without-torchs-cuda", "program-stops-on-a-setup-without-gpu", "program-finds-no-gpu-device",
    "ray-gave-a-gpu-and-torch-has-none",
)  # fmt: skip
TORCH_GOES = ("pip-found-torch-installed", "pip-uninstalls-torch", "pip-uninstalled-torch", "uv-removes-torch")
OLLAMA_SERVED = ("ollama-computes-on-rocm", "ollama-amdgpu-supported", "ollama-compute")
WSL_SEEN = (
    "wsl-kernel-named",
    "wsl-detected",
    "wsl-prompt",
    "wsl-device-named",
    "wsl-lived-in",
    "wsl-in-small-letters",
)
TORCH_ON_PROCESSOR = (
    "whisper-on-the-processor", "easyocr-on-the-processor", "invokeai-on-cpu", "invokeai-gpu-device-is-cpu", "comfyui-on-the-processor",
    "webui-has-no-card-in-chinese", "voice-program-finds-no-card", "cuda-misspelt-not-available", "sdnext-no-cuda", "half-on-the-processor",
)  # fmt: skip
TORCH_ASKED = (
    "torch-program-wants-a-gpu", "torch-program-wants-cuda", "triton-has-no-driver", "torch-program-has-the-processor-alone", "voice-training-refuses-the-processor", "extensions-operator-on-the-processor", "torch-program-wants-an-accelerator",
    "quantisation-wants-a-gpu",
)  # fmt: skip
GPU_WANTED = (
    "mixed-precision-wants-a-gpu",
    "transformers-setup-has-no-bf16",
    "yolo-invalid-cuda",
    "webui-torch-no-gpu",
    "vllm-unspecified-platform",
    "vllm-no-device-type",
    *TORCH_ASKED,
)
UNSEEN = (*SILENT, *NO_CUDA, "nvtop-has-nothing-to-watch")
TORCH_KNOWN = (*SILENT, *NO_CUDA, "torch-cpu-version-told", *OTHER_ACCELERATORS, *DIRECTML_USED)
ARM_SHOWN = ("processor-of-arm-answers", "aarch64-in-words")
WSL_NAMED = ("wsl-detected", "wsl-kernel-named", "wsl-device-named", "wsl-folder-named")
