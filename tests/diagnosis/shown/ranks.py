"""Ranks, the bridges between their cards and the interfaces they speak through: each rule where it speaks, and beside it where it has to be silent."""

_LOOPBACK = "n1:411:411 [0] NCCL INFO NET : Using interface lo:127.0.0.1<0>\n"
_IFNAME = "NCCL_SOCKET_IFNAME={}\n"
_MADE = "n1:411:430 [0] NCCL INFO comm 0x7f1c rank 0 nranks 2 cudaDev 0 nvmlDev 0 - Init COMPLETE\n"
_REGISTER = "$ for b in $(lspci | grep -i plx | cut -d' ' -f1); do sudo setpci -s $b f2a.w; done\n0000\n{}\n"
_BY_P2P = "n1:411:430 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via P2P/direct pointer\n"

SPEAKS = {
    "bound-per-task-and-asserted": (
        "slurm-gpu-binding-per-task",
        "srun -n 16 --ntasks-per-gpu=4 ./solve\nGPUassert: invalid device ordinal solve.cu 41\n",
    ),
    "filter-of-the-site": (
        "slurm-no-gpu-requested",
        "sbatch: error: Please specify at least one GPU with --gres=gpu:N\nsbatch: error: Batch job submission failed: Unspecified error\n",
    ),
    "board-named-by-its-prompt": (
        "jetson-generic-wheel",
        "ada@jetson-orin:~/vision$ python3\n>>> import torch\n>>> torch.cuda.is_available()\nFalse\n",
    ),
    "docker-alone-is-avoided": ("multinode-wrong-interface", _IFNAME.format("^docker0") + _LOOPBACK),
    "bridges-register-is-on": ("nccl-p2p-blocked-by-acs-iommu", _REGISTER.format("001d")),
}
SILENT = {
    "bound-otherwise-and-asserted": (
        "slurm-gpu-binding-per-task",
        "srun -n 16 ./solve\nGPUassert: invalid device ordinal solve.cu 41\n",
    ),
    "filter-of-the-site-for-time": (
        "slurm-no-gpu-requested",
        "sbatch: error: Please specify a time limit with --time\nsbatch: error: Batch job submission failed: Unspecified error\n",
    ),
    "board-that-works": (
        "jetson-generic-wheel",
        "ada@jetson-orin:~/vision$ python3\n>>> import torch\n>>> torch.cuda.is_available()\nTrue\n",
    ),
    "loopback-is-asked-for": ("multinode-wrong-interface", _IFNAME.format("lo") + _LOOPBACK),
    "loopback-and-it-works": ("multinode-wrong-interface", _IFNAME.format("^docker0") + _LOOPBACK + _MADE),
    "bridges-register-is-off": ("nccl-p2p-blocked-by-acs-iommu", _REGISTER.format("0000")),
    "bridges-register-is-on-and-cards-speak": ("nccl-p2p-blocked-by-acs-iommu", _REGISTER.format("001d") + _BY_P2P),
}
