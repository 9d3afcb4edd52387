"""Containers, jobs and masks of frameworks' threads: each rule where it speaks, and beside it where it has to be silent."""

_NONE = "RuntimeError: No CUDA GPUs are available\n"
_MASK = "services:\n  web:\n    image: my/web\n    environment:\n      CUDA_VISIBLE_DEVICES: {}\n"
_STORE = "store_runner.cc:83: System memory request exceeds memory available in {}. The request is for 6000000000 bytes, and the amount available is 67108864 bytes.\n"
_RUN = "$ docker run --gpus all {} my/trainer python train.py\n"
_BROKEN = "$ docker run --gpus all \\\n    -p 80:80 \\\n    {} \\\n    my/trainer\n"
_PLOTS = "Matplotlib created a temporary config/cache directory at /tmp/matplotlib-q because the default path ({}) is not a writable directory; it is highly recommended to set MPLCONFIGDIR\n"
_HUB = "There was a problem when trying to write in your cache folder ({}). You should set the environment variable TRANSFORMERS_CACHE to a writable directory.\n"
_DENIED = "PermissionError: [Errno 13] Permission denied: '{}'\n"
_VOLUME = "services:\n  lab:\n    image: my/lab\n    volumes:\n      - {}\n"
_MADE = " Container chat-hf-1  Creating\n Container chat-hf-1  Created\n"
_POD = "Name:             nb-{0}\nNamespace:        team\nPriority:         0\nNode:             gn4/10.0.0.4\n"
_LIMITS = "    Limits:\n      cpu:             4\n      nvidia.com/gpu:  {}\n"
_KERNEL = "$ cat /proc/driver/nvidia/version\nNVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\n"
_FOUND_NONE = "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver from http://www.nvidia.com/Download/index.aspx\n"
_SMI = "subprocess.CalledProcessError: Command '['nvidia-smi', '--query-gpu=name']' returned non-zero exit status {}.\n"
_STEP = "srun: error: gn12: task 0: Exited with exit code 1\n"
_NO_DEVICE = "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n"
_ASKED = "#!/bin/bash\n#SBATCH --gres=gpu:2\n#SBATCH --partition=gpu\nsrun python run.py\n"
_CUT = (
    "$ nvidia-smi -L\n"
    "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5f2a1c3e-1111-2222-3333-444455556666)\n"
    "  MIG 3g.20gb     Device  0: (UUID: MIG-0c1d2e3f-aaaa-bbbb-cccc-ddddeeeeffff)\n"
    "  MIG 3g.20gb     Device  1: (UUID: MIG-1c1d2e3f-aaaa-bbbb-cccc-ddddeeeeffff)\n"
)
_WHOLE = (
    "$ nvidia-smi -L\n"
    "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5f2a1c3e-1111-2222-3333-444455556666)\n"
    "GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-6f2a1c3e-1111-2222-3333-444455556666)\n"
)
_OOM = "CUDA out of memory. Tried to allocate {} (GPU 0; 23.69 GiB total capacity; {} already allocated; {} free; 23.00 GiB allowed; {} reserved in total by PyTorch)\n"

SPEAKS = {
    "mask-of-all": ("cuda-visible-devices-wrong", _MASK.format("all") + _NONE),
    "mask-of-a-device": ("cuda-visible-devices-wrong", "$ export CUDA_VISIBLE_DEVICES=cuda:0\n" + _NONE),
    "mask-of-a-name": ("cuda-visible-devices-wrong", "$ export CUDA_VISIBLE_DEVICES=gpu1\n" + _NO_DEVICE),
    "parts-beyond-the-cards": ("mig-device-misaddressed", "$ export CUDA_VISIBLE_DEVICES=0,1\n" + _CUT),
    "part-beyond-the-card": ("mig-device-misaddressed", "CUDA_VISIBLE_DEVICES=1\n" + _CUT),
    "store-asks-for-more": ("shm-too-small", "(raylet) " + _STORE.format("/dev/shm")),
    "store-of-plasma": ("shm-too-small", "/ray/src/plasma/store.cc:985: " + _STORE.format("/dev/shm")),
    "plots-in-a-mounted-cache": (
        "container-files-root-owned",
        _BROKEN.format("-v /srv/c:/app/.cache") + _PLOTS.format("/app/.cache/matplotlib"),
    ),
    "hub-in-a-mounted-cache": (
        "container-files-root-owned",
        _BROKEN.format('--volume "$HOME"/hf:/models') + _HUB.format("/models/hub/"),
    ),
    "volume-refuses": (
        "container-files-root-owned",
        _VOLUME.format("./runs:/opt/lab/runs") + _DENIED.format("/opt/lab/runs/e1"),
    ),
    "volume-itself-refuses": (
        "container-files-root-owned",
        _VOLUME.format("/data/out:/out") + _DENIED.format("/out"),
    ),
    "home-of-root-refused": ("container-files-root-owned", _MADE + _DENIED.format("/root/.cache/huggingface/hub")),
    "pod-without-gpus": ("container-without-gpu", _FOUND_NONE + _KERNEL + _POD.format(1)),
    "pod-without-its-tool": (
        "container-without-gpu",
        "bash: nvidia-smi: command not found\n" + _KERNEL + _POD.format(2) + _LIMITS.format(0),
    ),
    "step-lists-none": ("slurm-no-gpu-requested", _NO_DEVICE + _SMI.format(6) + _STEP),
    "step-found-none": ("slurm-no-gpu-requested", _NONE + "No devices were found\n" + _STEP),
    "step-of-a-cut-log": ("slurm-no-gpu-requested", _NO_DEVICE + _SMI.format(6) + _STEP.replace(" exit code 1", "")),
    "allowed-and-full": ("oom-model-too-large", _OOM.format("2.00 GiB", "22.10 GiB", "300.00 MiB", "22.40 GiB")),
    "allowed-and-in-pieces": ("oom-fragmentation", _OOM.format("2.00 GiB", "9.10 GiB", "300.00 MiB", "22.40 GiB")),
}
SILENT = {
    "parts-and-the-first-serves": (
        "mig-device-misaddressed",
        "$ export CUDA_VISIBLE_DEVICES=0,1\n" + _CUT + ">>> torch.cuda.is_available()\nTrue\n",
    ),
    "mask-of-a-uuid": (
        "cuda-visible-devices-wrong",
        "$ export CUDA_VISIBLE_DEVICES=GPU-5f2a1c3e-1111-2222-3333-444455556666\n" + _NONE,
    ),
    "mask-of-a-part": (
        "cuda-visible-devices-wrong",
        "$ export CUDA_VISIBLE_DEVICES=MIG-0c1d2e3f-aaaa-bbbb-cccc-ddddeeeeffff\n" + _NONE,
    ),
    "toolkits-variable": ("cuda-visible-devices-wrong", _MASK.format("all").replace("CUDA_", "NVIDIA_") + _NONE),
    "mask-of-all-and-all-is-well": ("cuda-visible-devices-wrong", _MASK.format("all") + "True\n"),
    "one-card-of-whole-ones": ("mig-device-misaddressed", "$ export CUDA_VISIBLE_DEVICES=0,1\n" + _WHOLE),
    "first-part": ("mig-device-misaddressed", "$ export CUDA_VISIBLE_DEVICES=0\n" + _CUT),
    "part-by-its-name": (
        "mig-device-misaddressed",
        "$ export CUDA_VISIBLE_DEVICES=MIG-1c1d2e3f-aaaa-bbbb-cccc-ddddeeeeffff\n" + _CUT,
    ),
    "store-elsewhere": ("shm-too-small", _STORE.format("/mnt/plasma")),
    "store-that-is-large-enough": (
        "shm-too-small",
        "The object store uses /dev/shm, and has 30000000000 bytes available.\n",
    ),
    "cache-beside-what-is-mounted": (
        "container-files-root-owned",
        _BROKEN.format("-v /srv/m:/models") + _PLOTS.format("/.config/matplotlib"),
    ),
    "mounted-to-be-read": (
        "container-files-root-owned",
        _BROKEN.format("-v /srv/c:/app/.cache:ro") + _PLOTS.format("/app/.cache/matplotlib"),
    ),
    "engines-socket": (
        "container-files-root-owned",
        _RUN.format("-v /var/run/docker.sock:/var/run/docker.sock") + _DENIED.format("/var/run/docker.sock"),
    ),
    "root-refused-without-an-engine": (
        "container-files-root-owned",
        "$ python run.py\n" + _DENIED.format("/root/.cache/huggingface/hub"),
    ),
    "pod-that-was-given-gpus": ("container-without-gpu", _FOUND_NONE + _KERNEL + _POD.format(3) + _LIMITS.format(1)),
    "pod-that-misses-nothing": ("container-without-gpu", _KERNEL + _POD.format(4)),
    "step-without-a-driver": ("slurm-no-gpu-requested", _NO_DEVICE + _SMI.format(9) + _STEP),
    "step-that-asked": ("slurm-no-gpu-requested", _ASKED + _NO_DEVICE + _SMI.format(6) + _STEP),
    "no-step": ("slurm-no-gpu-requested", _NO_DEVICE + _SMI.format(6)),
    "allowed-and-pieces-are-no-lack": (
        "oom-model-too-large",
        _OOM.format("2.00 GiB", "9.10 GiB", "300.00 MiB", "22.40 GiB"),
    ),
}
