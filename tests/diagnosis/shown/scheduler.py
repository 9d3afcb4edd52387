"""Jobs and their ranks: each rule where it speaks, and beside it where it has to be silent."""

_SET = '  File "torch/cuda/__init__.py", line 408, in set_device\n    torch._C._cuda_setDevice(device)\n'
_KFD = "#!/bin/bash\n#SBATCH --partition=mi\n#SBATCH --nodes=1\n{}\npython train.py\nUnable to open /dev/kfd read-write: Operation not permitted\n"
_NONE_OF_ENGINE = "Error: No GPU device found!\n"
_STEP_OF_ENGINE = "Issued job 'count' with job batch system ID: 7 and disk: 2.0 Gi, memory: 4.0 Gi, cores: 2, accelerators: [{}], preemptable: True\nexecutor = 'slurm'\n"
_LATE = "torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError\n"
_BATCH_OF_ENGINE = (
    "#!/bin/bash\n#SBATCH --nodes={}\n#SBATCH --gres=gpu:4\n{}torchrun --nnodes={} --nproc_per_node=4 train.py\n"
)
_ALONE_OF_ENGINE = "RuntimeError: Timed out waiting for clients: {}/4 clients joined.\n"
_JOB_OF_LINE = "#!/bin/bash\n#SBATCH --nodes={}\n#SBATCH --gres=gpu:2\n{}\n"
_LAUNCH = "srun python -m torch.distributed.launch --nproc_per_node=2 --nnodes=2 --node_rank={} train.py"
_JOB_OF_FRAMEWORK = "#!/bin/bash\n#SBATCH --ntasks-per-node=8\n#SBATCH --gres=gpu:4\nsrun dp train input.json\n"
_TASKS = "RuntimeError: Count of local processes is larger than that of available GPUs!\n"
_SMI = "subprocess.CalledProcessError: Command '['nvidia-smi', '--query-gpu=name']' returned non-zero exit status {}.\n"
_NO_DEVICE = "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n"
_STEP_OF_PLACE = "srun: error: gn12: task 0: Exited with exit code 1\n"
_NONE_OF_PLACE = "RuntimeError: No CUDA GPUs are available\n"
_ASKED = "#!/bin/bash\n#SBATCH --gres=gpu:2\n#SBATCH --partition=gpu\nsrun python run.py\n"
_SIX = "subprocess.CalledProcessError: Command '['nvidia-smi', '-L']' returned non-zero exit status {}.\n"
_STEP_OF_PLATFORM = "srun: error: cn042: task {}: Exited with exit code 1\n"
_NONE_OF_TOLD = "RuntimeError: ProcessGroupNCCL is only supported with GPUs, no GPUs found!\n"


def _job(*options: str, start: str = "srun python train.py") -> str:
    return "#!/bin/bash\n" + "".join(f"#SBATCH --{option}\n" for option in options) + start + "\n"


_STOPS = "ValueError: No GPUs found\n"
_FEWER = "srun: warning: can't run 1 processes on 2 nodes, setting nnodes to 1\n"
_ALONE_OF_TOLD = "Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/{}\n"
_PRODUCT = "ValueError: You set `devices=4` and `num_nodes=2` in Lightning, but the product (4 * 2) does not match the world size (4).\n"
_WORLDS = "bootstrap.cc:304 NCCL WARN Bootstrap Root : mismatch in info from procs, nranks 8 vs {}, nroots 1 vs 1\n"
_SLOTS = "There are not enough slots available in the system to satisfy the {}\nslots that were requested by the application:\n"
_TUNE = "TuneError: Insufficient cluster resources to launch trial: trial requested 4 CPUs, 1 GPUs, but the cluster has only 64 CPUs, {} GPUs\n"
_ORDINAL = "gn01: Test CUDA failure common.cu:892 'invalid device ordinal'\n"
_FIND = "ValueError: You requested to find 4 devices but this machine only has {} GPUs.\n"
_PEER = "transport/p2p.cc:275 NCCL WARN Cuda failure 217 'peer access is not supported between these two devices'\n"
_MESH = "ValueError: Number of devices {} must be >= the product of mesh_shape (2, 2)\n"
_SUBMIT = "executor.update_parameters(gpus_per_node={}, tasks_per_node=4, nodes=1)\nRuntimeError: CUDA error: invalid device ordinal\n"
_BATCH_OF_BESIDE = "\n#!/bin/bash\n#SBATCH -N {}\n#SBATCH --gres=gpu:4\n{}\nsrun python fit.py\n"
_RANKS = "initializing ddp: GLOBAL_RANK: {}, MEMBER: {}/8\n"
_TWICE = "GPU available: True, used: True\n" + "".join(_RANKS.format(rank, rank + 1) for rank in (0, 1, 2, 0, 1, 2))
_JOB_OF_OTHER = "#!/bin/bash\n#SBATCH --nodes=2 --gpus-per-node=4 --ntasks-per-node={}\nsrun python fit.py\n\nrank 0/{} host n1 device cuda:0\n"
_COUNTED = "$ srun -N2 bash -c 'hostname; nvidia-smi -L | wc -l'\ngn01\n6\ngn02\n{}\n"
_SHELLS_FIRST = "$ srun -p gpu --gres=gpu:4 --ntasks-per-node=4 --nodes=1 --pty bash -i\n$ python fit.py --devices 4\nInitializing distributed: GLOBAL_RANK: 0, MEMBER: 1/4\n"
_NEXTFLOW = "process {{\n  executor = 'slurm'\n  queue = 'gpu'\n{}}}\n"
_NONE_SEEN = "RuntimeError: no CUDA-capable device is detected\n"

_PAST = "RuntimeError: CUDA error: invalid device ordinal\n"
_JAX_RANKS = "jax.distributed.initialize()\n"
_JAX_NONE = (
    "RuntimeError: Unable to initialize backend 'cuda': INTERNAL: no supported devices found for platform CUDA\n"
)
_BOTH_SIDES = "python -c 'import torch; print(torch.cuda.is_available())'\nTrue\nsrun {}python -c 'import torch; print(torch.cuda.is_available())'\nFalse\n"
_LISTED_OUTSIDE = "$ nvidia-smi -L\nGPU 0: NVIDIA L40S (UUID: GPU-11)\n$ srun {}nvidia-smi -L\nNo devices found.\n"

SPEAKS = {
    "rank-among-bound-ones": (
        "slurm-gpu-binding-per-task",
        "srun --ntasks-per-gpu=1 --gpus-per-node=4 python train.py\n" + _SET,
    ),
    "driver-closed-to-a-job": ("slurm-no-gpu-requested", _KFD.format("")),
    "step-without-accelerators": ("slurm-no-gpu-requested", _STEP_OF_ENGINE.format("") + _NONE_OF_ENGINE),
    "nodes-are-waited-for": ("slurm-srun-missing", _BATCH_OF_ENGINE.format(3, "", 3) + _LATE),
    "first-rank-alone": (
        "slurm-srun-missing",
        "We train on two nodes of a SLURM cluster.\n" + _ALONE_OF_ENGINE.format(1),
    ),
    "one-rank-for-all": ("slurm-ntasks-mismatch", _JOB_OF_LINE.format(2, _LAUNCH.format(0))),
    "one-machine-rank": (
        "slurm-ntasks-mismatch",
        _JOB_OF_LINE.format(4, "srun accelerate launch --num_machines 4 --machine_rank 0 train.py"),
    ),
    "tasks": ("slurm-ntasks-mismatch", _JOB_OF_FRAMEWORK + _TASKS),
    "step-lists-none": ("slurm-no-gpu-requested", _NO_DEVICE + _SMI.format(6) + _STEP_OF_PLACE),
    "step-found-none": ("slurm-no-gpu-requested", _NONE_OF_PLACE + "No devices were found\n" + _STEP_OF_PLACE),
    "step-of-a-cut-log": (
        "slurm-no-gpu-requested",
        _NO_DEVICE + _SMI.format(6) + _STEP_OF_PLACE.replace(" exit code 1", ""),
    ),
    "step-without-a-card": ("slurm-no-gpu-requested", _SIX.format(6) + _STEP_OF_PLATFORM.format(0)),
    "cluster-is-named": (
        "slurm-no-gpu-requested",
        "I run this on our SLURM cluster.\nCommand 'nvidia-smi' returned non-zero exit status 6\n",
    ),
    "bound-per-task-and-asserted": (
        "slurm-gpu-binding-per-task",
        "srun -n 16 --ntasks-per-gpu=4 ./solve\nGPUassert: invalid device ordinal solve.cu 41\n",
    ),
    "filter-of-the-site": (
        "slurm-no-gpu-requested",
        "sbatch: error: Please specify at least one GPU with --gres=gpu:N\nsbatch: error: Batch job submission failed: Unspecified error\n",
    ),
    "group-in-a-job": ("slurm-no-gpu-requested", _job("nodes=1", "ntasks=4") + _NONE_OF_TOLD),
    "stops-in-a-job": ("slurm-no-gpu-requested", _job("nodes=1", "ntasks=4") + _STOPS),
    "srun-tells": ("slurm-ntasks-mismatch", _FEWER + _ALONE_OF_TOLD.format(8)),
    "product": ("slurm-ntasks-mismatch", _job("nodes=2", "ntasks-per-node=2", "gres=gpu:4") + _PRODUCT),
    "worlds": ("slurm-ntasks-mismatch", _job("nodes=2", "ntasks-per-node=4", "gres=gpu:4") + _WORLDS.format(4)),
    "slots": (
        "slurm-ntasks-mismatch",
        _job("ntasks=4", "gres=gpu:8", start="mpirun -np 8 python train.py") + _SLOTS.format(8),
    ),
    "tune": (
        "slurm-no-gpu-requested",
        _job("nodes=2", "cpus-per-task=32", start="srun ray start --block") + _TUNE.format(0),
    ),
    "test": (
        "slurm-gpu-request-too-small",
        _job("nodes=1", "gres=gpu:4", start="./build/all_reduce_perf -b 8 -e 128M -f 2 -g 8") + _ORDINAL,
    ),
    "find": ("slurm-gpu-request-too-small", _job("nodes=1", "gpus-per-node=2") + _FIND.format(2)),
    "bound": ("slurm-gpu-binding-per-task", _job("nodes=1", "ntasks-per-node=4", "gpus-per-task=1") + _PEER),
    "mesh": ("slurm-gpu-request-too-small", _job("nodes=1", "gres=gpu:1") + _MESH.format(1)),
    "submitit": ("slurm-gpu-request-too-small", _SUBMIT.format(1)),
    "srun": ("slurm-no-gpu-requested", "$ srun -p gpu nvidia-smi\nNo devices were found\n"),
    "ranks-twice": ("slurm-ntasks-mismatch", _TWICE + _BATCH_OF_BESIDE.format(2, "#SBATCH --mem 64G")),
    "one-rank-a-node": ("slurm-ntasks-mismatch", _JOB_OF_OTHER.format(1, 2)),
    "engine-requires-more": (
        "slurm-gpu-request-too-small",
        "#SBATCH --gres=gpu:1\nValueError: The number of required GPUs exceeds the total number of available GPUs in the placement group.\n",
    ),
    "nodes-count-unlike-cards": ("slurm-uneven-gpus", _COUNTED.format(2)),
    "first-rank-waits-in-a-shell": ("slurm-interactive-shell", _SHELLS_FIRST),
    "workflow-asks-for-none": ("slurm-no-gpu-requested", _NEXTFLOW.format("") + _NONE_SEEN),
    "jax-in-a-job-without-any": (
        "slurm-no-gpu-requested",
        "#!/bin/bash\n#SBATCH -p a100\n#SBATCH -c 8\npython t.py\n>>> jax.devices()\n[CpuDevice(id=0)]\n",
    ),
    "tasks-beyond-the-cards-of-whole-nodes": (
        "slurm-ntasks-mismatch",
        _job("nodes=4", "ntasks-per-node=16", "gpus-per-node=8") + _PAST,
    ),
    "jax-rank-is-bound": (
        "slurm-gpu-binding-per-task",
        _job("ntasks-per-node=4", "gpus-per-task=1") + _JAX_RANKS + _JAX_NONE,
    ),
    "same-line-in-a-step": ("slurm-no-gpu-requested", _BOTH_SIDES.format("")),
    "cards-outside-of-a-step": ("slurm-no-gpu-requested", _LISTED_OUTSIDE.format("")),
}

SILENT = {
    "rank-that-is-not-bound": ("slurm-gpu-binding-per-task", "srun --gpus-per-node=4 python train.py\n" + _SET),
    "driver-of-a-job-with-cards": ("slurm-no-gpu-requested", _KFD.format("#SBATCH --gres=gpu:1")),
    "step-with-accelerators": (
        "slurm-no-gpu-requested",
        _STEP_OF_ENGINE.format("{'count': 1, 'kind': 'gpu'}") + _NONE_OF_ENGINE,
    ),
    "one-node-is-waited-for": ("slurm-srun-missing", _BATCH_OF_ENGINE.format(1, "", 1) + _LATE),
    "nodes-started-by-srun": ("slurm-srun-missing", _BATCH_OF_ENGINE.format(3, "srun ", 3) + _LATE),
    "first-rank-alone-elsewhere": (
        "slurm-srun-missing",
        "We train on two servers at home.\n" + _ALONE_OF_ENGINE.format(1),
    ),
    "rank-of-its-node": ("slurm-ntasks-mismatch", _JOB_OF_LINE.format(2, _LAUNCH.format("$SLURM_NODEID"))),
    "one-node": ("slurm-ntasks-mismatch", _JOB_OF_LINE.format(1, _LAUNCH.format(0))),
    "tasks-of-no-job": ("slurm-ntasks-mismatch", _TASKS),
    "step-without-a-driver": ("slurm-no-gpu-requested", _NO_DEVICE + _SMI.format(9) + _STEP_OF_PLACE),
    "step-that-asked": ("slurm-no-gpu-requested", _ASKED + _NO_DEVICE + _SMI.format(6) + _STEP_OF_PLACE),
    "no-step": ("slurm-no-gpu-requested", _NO_DEVICE + _SMI.format(6)),
    "step-without-a-driver-of-platform": ("slurm-no-gpu-requested", _SIX.format(9) + _STEP_OF_PLATFORM.format(0)),
    "six-without-a-job": ("slurm-no-gpu-requested", _SIX.format(6)),
    "bound-otherwise-and-asserted": (
        "slurm-gpu-binding-per-task",
        "srun -n 16 ./solve\nGPUassert: invalid device ordinal solve.cu 41\n",
    ),
    "filter-of-the-site-for-time": (
        "slurm-no-gpu-requested",
        "sbatch: error: Please specify a time limit with --time\nsbatch: error: Batch job submission failed: Unspecified error\n",
    ),
    "group-in-a-job-with-some": ("slurm-no-gpu-requested", _job("nodes=1", "gres=gpu:4") + _NONE_OF_TOLD),
    "stops-on-processors": ("slurm-no-gpu-requested", _job("partition=cpu", "ntasks=4") + _STOPS),
    "stops-in-a-job-with-some": ("slurm-no-gpu-requested", _job("nodes=1", "gres=gpu:4") + _STOPS),
    "srun-warns": ("slurm-ntasks-mismatch", _FEWER + "gn01\n"),
    "product-elsewhere": ("slurm-ntasks-mismatch", _PRODUCT),
    "worlds-alike": ("slurm-ntasks-mismatch", _job("nodes=2", "ntasks-per-node=4", "gres=gpu:4") + _WORLDS.format(8)),
    "slots-enough": (
        "slurm-ntasks-mismatch",
        _job("ntasks=8", "gres=gpu:8", start="mpirun -np 8 python train.py") + _SLOTS.format(8),
    ),
    "tune-has-some": (
        "slurm-no-gpu-requested",
        _job("nodes=2", "cpus-per-task=32", start="srun ray start --block") + _TUNE.format(2),
    ),
    "test-fits": (
        "slurm-gpu-request-too-small",
        _job("nodes=1", "gres=gpu:8", start="./build/all_reduce_perf -b 8 -e 128M -f 2 -g 8") + _ORDINAL,
    ),
    "find-of-another-node": ("slurm-gpu-request-too-small", _job("nodes=1", "gpus-per-node=4") + _FIND.format(2)),
    "not-bound": ("slurm-gpu-binding-per-task", _job("nodes=1", "ntasks-per-node=4", "gres=gpu:4") + _PEER),
    "mesh-elsewhere": ("slurm-gpu-request-too-small", _MESH.format(1)),
    "submitit-fits": ("slurm-gpu-request-too-small", _SUBMIT.format(4)),
    "ranks-once": (
        "slurm-ntasks-mismatch",
        "".join(_RANKS.format(rank, rank + 1) for rank in range(8))
        + _BATCH_OF_BESIDE.format(2, "#SBATCH --ntasks-per-node=4"),
    ),
    "all-ranks": ("slurm-ntasks-mismatch", _JOB_OF_OTHER.format(4, 8)),
    "nodes-count-like-cards": ("slurm-uneven-gpus", _COUNTED.format(6)),
    "first-rank-goes-on-in-a-shell": ("slurm-interactive-shell", _SHELLS_FIRST + "Epoch 1: loss=0.31\n"),
    "workflow-asks-for-one": (
        "slurm-no-gpu-requested",
        _NEXTFLOW.format("  clusterOptions = '--gres=gpu:1'\n") + _NONE_SEEN,
    ),
    "one-card-on-each-node": ("slurm-ntasks-mismatch", _job("nodes=2", "ntasks-per-node=4", "gres=gpu:1") + _PAST),
    "tasks-as-many-as-cards": (
        "slurm-gpu-request-too-small",
        _job("nodes=4", "ntasks-per-node=8", "gpus-per-node=8") + _PAST,
    ),
    "whole-nodes-and-few-cards": (
        "slurm-gpu-request-too-small",
        _job("nodes=4", "ntasks-per-node=16", "gpus-per-node=8") + _PAST,
    ),
    "jax-rank-is-free": (
        "slurm-gpu-binding-per-task",
        _job("ntasks-per-node=4", "gpus-per-node=4") + _JAX_RANKS + _JAX_NONE,
    ),
    "jax-without-ranks": ("slurm-gpu-binding-per-task", _job("ntasks-per-node=4", "gpus-per-task=1") + _JAX_NONE),
    "step-that-asks": ("slurm-no-gpu-requested", _BOTH_SIDES.format("--gres=gpu:1 ")),
    "cards-asked-for-in-a-step": ("slurm-no-gpu-requested", _LISTED_OUTSIDE.format("--gpus=1 ")),
}
