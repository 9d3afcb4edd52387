"""Launchers and schedulers whose numbers do not fit, as they print it: each rule where it speaks, and beside it where it has to be silent."""


def _job(*options: str, start: str = "srun python train.py") -> str:
    return "#!/bin/bash\n" + "".join(f"#SBATCH --{option}\n" for option in options) + start + "\n"


_NONE = "RuntimeError: ProcessGroupNCCL is only supported with GPUs, no GPUs found!\n"
_STOPS = "ValueError: No GPUs found\n"
_INSIDE = "$ docker run --rm {}pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime torchrun --nproc_per_node=2 train.py\n"
_FEWER = "srun: warning: can't run 1 processes on 2 nodes, setting nnodes to 1\n"
_ALONE = "Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/{}\n"
_PRODUCT = "ValueError: You set `devices=4` and `num_nodes=2` in Lightning, but the product (4 * 2) does not match the world size (4).\n"
_WORLDS = "bootstrap.cc:304 NCCL WARN Bootstrap Root : mismatch in info from procs, nranks 8 vs {}, nroots 1 vs 1\n"
_SLOTS = "There are not enough slots available in the system to satisfy the {}\nslots that were requested by the application:\n"
_TUNE = "TuneError: Insufficient cluster resources to launch trial: trial requested 4 CPUs, 1 GPUs, but the cluster has only 64 CPUs, {} GPUs\n"
_TOOK = "Detected CUDA_VISIBLE_DEVICES=2,3: setting --include=localhost:2,3\n"
_SLOT = "ValueError: No slot '{}' specified on host 'localhost'\n"
_NO_NCCL = "RuntimeError: Distributed package doesn't have NCCL built in\n"
_ORDINAL = "gn01: Test CUDA failure common.cu:892 'invalid device ordinal'\n"
_FIND = "ValueError: You requested to find 4 devices but this machine only has {} GPUs.\n"
_PEER = "transport/p2p.cc:275 NCCL WARN Cuda failure 217 'peer access is not supported between these two devices'\n"
_MESH = "ValueError: Number of devices {} must be >= the product of mesh_shape (2, 2)\n"
_BUS = "*** SIGBUS (@0x7f1a2c000000) received by PID 311 (TID 0x7f1e) from PID 738197504; stack trace: ***\n"
_SUBMIT = "executor.update_parameters(gpus_per_node={}, tasks_per_node=4, nodes=1)\nRuntimeError: CUDA error: invalid device ordinal\n"
_LATE = "torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError\n"
_MEET = "srun torchrun --nnodes=2 --nproc_per_node=4 --rdzv_backend=c10d --rdzv_endpoint={}:29500 train.py\n"

SPEAKS = {
    "group-in-a-job": ("slurm-no-gpu-requested", _job("nodes=1", "ntasks=4") + _NONE),
    "stops-in-a-job": ("slurm-no-gpu-requested", _job("nodes=1", "ntasks=4") + _STOPS),
    "group-inside": ("container-without-gpu", _INSIDE.format("") + _NONE),
    "stops-inside": ("container-without-gpu", _INSIDE.format("") + _STOPS),
    "srun-tells": ("slurm-ntasks-mismatch", _FEWER + _ALONE.format(8)),
    "product": ("slurm-ntasks-mismatch", _job("nodes=2", "ntasks-per-node=2", "gres=gpu:4") + _PRODUCT),
    "worlds": ("slurm-ntasks-mismatch", _job("nodes=2", "ntasks-per-node=4", "gres=gpu:4") + _WORLDS.format(4)),
    "slots": ("slurm-ntasks-mismatch", _job("ntasks=4", "gres=gpu:8", start="mpirun -np 8 python train.py") + _SLOTS.format(8)),
    "tune": ("slurm-no-gpu-requested", _job("nodes=2", "cpus-per-task=32", start="srun ray start --block") + _TUNE.format(0)),
    "mask-taken": ("cuda-visible-devices-wrong", _TOOK + _SLOT.format(2)),
    "no-nccl": ("cpu-only-torch", ">>> torch.__version__\n'2.3.0+cpu'\n" + _NO_NCCL),
    "test": ("slurm-gpu-request-too-small", _job("nodes=1", "gres=gpu:4", start="./build/all_reduce_perf -b 8 -e 128M -f 2 -g 8") + _ORDINAL),
    "find": ("slurm-gpu-request-too-small", _job("nodes=1", "gpus-per-node=2") + _FIND.format(2)),
    "bound": ("slurm-gpu-binding-per-task", _job("nodes=1", "ntasks-per-node=4", "gpus-per-task=1") + _PEER),
    "mesh": ("slurm-gpu-request-too-small", _job("nodes=1", "gres=gpu:1") + _MESH.format(1)),
    "bus-error": ("shm-too-small", _INSIDE.format("--gpus all ") + _BUS),
    "submitit": ("slurm-gpu-request-too-small", _SUBMIT.format(1)),
    "loopback": ("multinode-wrong-interface", _MEET.format("localhost") + _LATE),
}  # fmt: skip

SILENT = {
    "group-in-a-job-with-some": ("slurm-no-gpu-requested", _job("nodes=1", "gres=gpu:4") + _NONE),
    "stops-on-processors": ("slurm-no-gpu-requested", _job("partition=cpu", "ntasks=4") + _STOPS),
    "stops-in-a-job-with-some": ("slurm-no-gpu-requested", _job("nodes=1", "gres=gpu:4") + _STOPS),
    "stops-inside-with-some": ("container-without-gpu", _INSIDE.format("--gpus all ") + _STOPS),
    "srun-warns": ("slurm-ntasks-mismatch", _FEWER + "gn01\n"),
    "product-elsewhere": ("slurm-ntasks-mismatch", _PRODUCT),
    "worlds-alike": ("slurm-ntasks-mismatch", _job("nodes=2", "ntasks-per-node=4", "gres=gpu:4") + _WORLDS.format(8)),
    "slots-enough": ("slurm-ntasks-mismatch", _job("ntasks=8", "gres=gpu:8", start="mpirun -np 8 python train.py") + _SLOTS.format(8)),
    "tune-has-some": ("slurm-no-gpu-requested", _job("nodes=2", "cpus-per-task=32", start="srun ray start --block") + _TUNE.format(2)),
    "slot-of-another": ("cuda-visible-devices-wrong", _TOOK + _SLOT.format(7)),
    "no-nccl-on-windows": ("cpu-only-torch", ">>> torch.__version__\n'2.3.0+cu121'\n" + _NO_NCCL),
    "no-nccl-on-a-mac": ("cpu-only-torch", "PyTorch version: 2.3.0\nCUDA used to build PyTorch: None\nOS: macOS 14.5 (arm64)\n" + _NO_NCCL),
    "test-fits": ("slurm-gpu-request-too-small", _job("nodes=1", "gres=gpu:8", start="./build/all_reduce_perf -b 8 -e 128M -f 2 -g 8") + _ORDINAL),
    "find-of-another-node": ("slurm-gpu-request-too-small", _job("nodes=1", "gpus-per-node=4") + _FIND.format(2)),
    "not-bound": ("slurm-gpu-binding-per-task", _job("nodes=1", "ntasks-per-node=4", "gres=gpu:4") + _PEER),
    "mesh-elsewhere": ("slurm-gpu-request-too-small", _MESH.format(1)),
    "bus-error-with-more": ("shm-too-small", _INSIDE.format("--gpus all --shm-size=16g ") + _BUS),
    "submitit-fits": ("slurm-gpu-request-too-small", _SUBMIT.format(4)),
    "slurm-names-an-option": ("container-without-gpu", "srun: error: --gpus-per-task or --tres-per-task used without either --gpus or -n/--ntasks is not allowed.\n"),
    "meets-at-a-node": ("multinode-wrong-interface", _MEET.format("gn01") + _LATE),
}  # fmt: skip
