"""Containers and jobs as threads show them: each rule where it speaks, and beside it where it has to be silent."""

_MISSED = "ImportError: libcuda.so.1: cannot open shared object file: No such file or directory\n"
_THROUGH = 'Traceback (most recent call last):\n  File "{}/serve.py", line 8, in <module>\n    import decoder\n'
_HEAD = "| NVIDIA-SMI {0}       Driver Version: {0}       CUDA Version: {1}     |\n"
_INSIDE = "root@4f1d2c3b5a69:/# python serve.py\n"
_TRITON = "I0611 09:11:22.010203 1 cuda_memory_manager.cc:115] CUDA memory pool disabled\n"
_NO_DEVICE = "RuntimeError: CUDA error: no CUDA-capable device is detected\n"
_OLD = "CUDARuntimeError: cudaErrorInsufficientDriver: CUDA driver version is insufficient for CUDA runtime version\n"
_UNSPECIFIED = "INFO [__init__.py:243] No platform detected, vLLM is running on UnspecifiedPlatform\n"
_NONE = "Error: No GPU device found!\n"
_COMPOSE = "services:\n  reader:\n    container_name: reader\n    image: acme/reader:latest\n"
_OLLAMA = 'time=2026-02-03T04:05:06.000Z level=INFO source=gpu.go:386 msg="no compatible GPUs were discovered"\n'
_INSPECTED = '            "Env": [\n                "NVIDIA_DRIVER_CAPABILITIES=compute,utility",\n                "OLLAMA_HOST=0.0.0.0:11434",\n                "NVIDIA_VISIBLE_DEVICES=all"\n            ],\n'
_DESKTOP = (
    "$ docker context ls\ndesktop-linux *   moby   Docker Desktop   unix:///home/ada/.docker/desktop/docker.sock\n"
)
_NVML = "nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1\n"
_SNAP = "$ sudo snap install docker\n"
_RUNTIME = "docker: Error response from daemon: Unknown runtime specified nvidia.\n"
_REFUSED = "PermissionError: [Errno 13] Permission denied: '{}'\n"
_BOOK = "Permission denied: work/Untitled.ipynb\n"
_ENTRY = "drwxr-xr-x 2 {0} {0} 4096 Feb  3 04:00 work\n"

_MATRIX = "Unidirectional P2P={} Bandwidth Matrix (GB/s)\n   D\\D     0      1\n     0 810.20  {}\n     1  {} 810.20\n"
_KFD = "#!/bin/bash\n#SBATCH --partition=mi\n#SBATCH --nodes=1\n{}\npython train.py\nUnable to open /dev/kfd read-write: Operation not permitted\n"
_STEP = "Issued job 'count' with job batch system ID: 7 and disk: 2.0 Gi, memory: 4.0 Gi, cores: 2, accelerators: [{}], preemptable: True\nexecutor = 'slurm'\n"
_BATCH = "#!/bin/bash\n#SBATCH --nodes={}\n#SBATCH --gres=gpu:4\n{}torchrun --nnodes={} --nproc_per_node=4 train.py\n"
_LATE = "torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError\n"
_ALONE = "RuntimeError: Timed out waiting for clients: {}/4 clients joined.\n"
_NCCL = "gn01:410:440 [0] NCCL INFO Bootstrap : Using [0]{}<0>\n"
_MADE = "gn01:410:440 [0] NCCL INFO comm 0x7f11 rank 0 nranks 2 cudaDev 0 busId 1b000 - Init COMPLETE\n"

_BUS = "$ mpirun -np 16 ./solve\nFatal Python error: Bus error\n"
_SEARCHED = (
    'source=gpu.go:265 msg="Searching for GPU management library libnvidia-ml.so"\n'
    'source=gpu.go:311 msg="Discovered GPU libraries: []"\n'
)
_SET = '  File "torch/cuda/__init__.py", line 408, in set_device\n    torch._C._cuda_setDevice(device)\n'
SPEAKS = {
    "podman-hands-ollama-none": ("container-without-gpu", "podman run --gpus=all ollama\n" + _SEARCHED),
    "rank-among-bound-ones": ("slurm-gpu-binding-per-task", "srun --ntasks-per-gpu=1 --gpus-per-node=4 python train.py\n" + _SET),
    "bus-error-of-ranks-inside": ("shm-too-small", "(in a docker container)\n" + _BUS),
    "library-through-an-image": ("container-without-gpu", _THROUGH.format("/app") + _MISSED),
    "library-inside": ("container-without-gpu", _INSIDE + _MISSED),
    "triton": ("container-without-gpu", _TRITON + _NO_DEVICE),
    "no-platform-inside": ("container-without-gpu", _INSIDE + _UNSPECIFIED),
    "too-old-and-new": ("container-without-gpu", _HEAD.format("580.95.05", "13.0") + _THROUGH.format("/app") + _OLD),
    "program-from-a-compose-file": ("container-without-gpu", _COMPOSE + _NONE),
    "library-and-words": ("container-without-gpu", "We run the reader in Docker on the new server.\n" + _MISSED),
    "server-in-an-inspected-one": ("container-without-gpu", _INSPECTED + _OLLAMA),
    "desktop-and-the-hosts-library": ("docker-flavour-without-gpu", _DESKTOP + _NVML.partition("error: ")[2]),
    "snap-and-the-runtime": ("docker-flavour-without-gpu", _SNAP + _RUNTIME),
    "own-files-inside": ("container-files-root-owned", _INSIDE + _REFUSED.format("runs/a.bin")),
    "files-through-an-image": ("container-files-root-owned", _THROUGH.format("/app") + _REFUSED.format("index/a.bin")),
    "files-after-an-engines-command": ("container-files-root-owned", "$ podman run --rm -u 1001 acme/reader\n" + _REFUSED.format("runs")),
    "clone-in-an-images-home": ("container-files-root-owned", "+ cd /home/runner/ComfyUI\nfatal: could not create work tree dir 'nodes': Permission denied\n"),
    "notebook-in-roots-folder": ("container-files-root-owned", _ENTRY.format("root") + _BOOK),
    "detour-is-faster": ("nccl-p2p-blocked-by-acs-iommu", _MATRIX.format("Disabled", "14.20", "14.10") + _MATRIX.format("Enabled", " 1.20", " 1.10")),
    "driver-closed-to-a-job": ("slurm-no-gpu-requested", _KFD.format("")),
    "step-without-accelerators": ("slurm-no-gpu-requested", _STEP.format("") + _NONE),
    "nodes-are-waited-for": ("slurm-srun-missing", _BATCH.format(3, "", 3) + _LATE),
    "first-rank-alone": ("slurm-srun-missing", "We train on two nodes of a SLURM cluster.\n" + _ALONE.format(1)),
    "tunnel-first": ("multinode-wrong-interface", _NCCL.format("tunl0:10.42.7.64")),
}  # fmt: skip

SILENT = {
    "ollama-of-a-host": ("container-without-gpu", "$ ollama serve\n" + _SEARCHED),
    "rank-that-is-not-bound": ("slurm-gpu-binding-per-task", "srun --gpus-per-node=4 python train.py\n" + _SET),
    "bus-error-of-ranks-on-a-node": ("shm-too-small", _BUS),
    "bus-error-of-one-process": ("shm-too-small", "(in a docker container)\nFatal Python error: Bus error\n"),
    "library-through-a-home": ("container-without-gpu", _THROUGH.format("/home/ada/app") + _MISSED),
    "library-on-a-machine": ("container-without-gpu", "ada@desk:~$ python serve.py\n" + _MISSED),
    "triton-behind-a-mask": ("container-without-gpu", "CUDA_VISIBLE_DEVICES=-1\n" + _TRITON + _NO_DEVICE),
    "no-platform-on-a-machine": ("container-without-gpu", "ada@desk:~$ vllm serve\n" + _UNSPECIFIED),
    "too-old-and-old": ("container-without-gpu", _HEAD.format("450.80.02", "11.0") + _THROUGH.format("/app") + _OLD),
    "program-with-its-gpu-asked": ("container-without-gpu", "$ docker run --gpus all acme/reader:latest\n" + _NONE),
    "library-and-no-words": ("container-without-gpu", "We run the reader on the new server.\n" + _MISSED),
    "server-asked-with-gpus": ("container-without-gpu", "$ docker run --gpus all ollama/ollama\n" + _INSPECTED + _OLLAMA),
    "library-and-no-desktop": ("docker-flavour-without-gpu", _NVML.partition("error: ")[2]),
    "runtime-and-no-snap": ("docker-flavour-without-gpu", "$ sudo apt install docker.io\n" + _RUNTIME),
    "nodes-of-the-system-inside": ("container-files-root-owned", _INSIDE + _REFUSED.format("/dev/kfd")),
    "script-without-its-bit": ("container-files-root-owned", "$ docker run --rm acme/reader\n" + _REFUSED.format("./prepare.sh")),
    "home-beside-a-command": ("container-files-root-owned", "$ docker compose up -d\n" + _REFUSED.format("/home/bob/notes")),
    "notebook-in-ones-own": ("container-files-root-owned", _ENTRY.format("ada") + _BOOK),
    "direct-way-is-faster": ("nccl-p2p-blocked-by-acs-iommu", _MATRIX.format("Disabled", "14.20", "14.10") + _MATRIX.format("Enabled", "24.20", "24.10")),
    "driver-of-a-job-with-cards": ("slurm-no-gpu-requested", _KFD.format("#SBATCH --gres=gpu:1")),
    "step-with-accelerators": ("slurm-no-gpu-requested", _STEP.format("{'count': 1, 'kind': 'gpu'}") + _NONE),
    "one-node-is-waited-for": ("slurm-srun-missing", _BATCH.format(1, "", 1) + _LATE),
    "nodes-started-by-srun": ("slurm-srun-missing", _BATCH.format(3, "srun ", 3) + _LATE),
    "first-rank-alone-elsewhere": ("slurm-srun-missing", "We train on two servers at home.\n" + _ALONE.format(1)),
    "tunnel-first-and-made": ("multinode-wrong-interface", _NCCL.format("tunl0:10.42.7.64") + _MADE),
    "tunnel-second": ("multinode-wrong-interface", _NCCL.format("eth0:10.0.3.4<0> [1]tunl0:10.42.7.64")),
}  # fmt: skip
