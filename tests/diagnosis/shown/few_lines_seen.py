"""What two or three lines show: each rule where it speaks, and beside it where it has to be silent."""

_LSMOD = "$ lsmod | grep nouveau\nnouveau              {}  1\n"
_PARTS = "GPU models and configuration: \nGPU 0: NVIDIA H100 80GB HBM3\n{}\nNvidia driver version: 550.90.07\n"
_ONE = "  MIG 1g.10gb     Device  0:\n  MIG 1g.10gb     Device  1:"
_BEYOND = 'RuntimeError: device >= 0 && device < num_gpus INTERNAL ASSERT FAILED at "../aten/src/ATen/cuda/CUDAContext.cpp":50, please report a bug to PyTorch.\n'
_JOB = "#!/bin/bash\n#SBATCH --nodes={}\n#SBATCH --gres=gpu:2\n{}\n"
_LAUNCH = "srun python -m torch.distributed.launch --nproc_per_node=2 --nnodes=2 --node_rank={} train.py"
_IMPORT = '  File "/opt/conda/envs/n/lib/python3.9/site-packages/torch/__init__.py", line 210, in <module>\n    from torch._C import *  # noqa: F403\nImportError: libcupti.so.11.6: cannot open shared object file: No such file or directory\n'
_CHANNEL = "$ conda install -c {} pytorch cudatoolkit=11.6\n"
_TEGRA = 'Detected 1 CUDA Capable device(s)\n\nDevice 0: "NVIDIA Tegra X1"\n'
_REFUSED = "AssertionError: CUDA unavailable, invalid device 0 requested\n"

_KEPT = "C:\\app>pip install torch torchvision\nRequirement already satisfied: torch in c:\\py\\lib\\site-packages ({})\nRequirement already satisfied: torchvision in c:\\py\\lib\\site-packages ({})\n"
_NO_GPU = "RuntimeError: No CUDA GPUs are available\n"

SPEAKS = {
    "plain-torch-beside-cuda": ("cpu-only-torch", _KEPT.format("2.1.0", "0.16.0+cu118") + _NO_GPU),
    "nouveau-searched-for": ("nouveau-bound", _LSMOD.format(2314240)),
    "nouveau-searched-with-sudo": ("nouveau-bound", "me@pc:~$ sudo lsmod|grep -i nouveau\nnouveau 1957888 5\n"),
    "parts-as-cards": ("mig-device-misaddressed", _BEYOND + _PARTS.format(_ONE)),
    "one-rank-for-all": ("slurm-ntasks-mismatch", _JOB.format(2, _LAUNCH.format(0))),
    "one-machine-rank": (
        "slurm-ntasks-mismatch",
        _JOB.format(4, "srun accelerate launch --num_machines 4 --machine_rank 0 train.py"),
    ),
    "nightly-lacks": ("broken-wheel-missing-library", _CHANNEL.format("pytorch-nightly") + _IMPORT),
    "nightly-lacks-with-pip": (
        "broken-wheel-missing-library",
        "$ pip install --pre torch --index-url https://download.pytorch.org/whl/nightly/cu118\n" + _IMPORT,
    ),
    "module-refused": ("jetson-generic-wheel", _TEGRA + _REFUSED),
    "uvm-not-inserted": ("uvm-device-missing", "modprobe: ERROR: could not insert 'nvidia_352_uvm': No such device\n"),
    "uvm-of-a-foreign-key": (
        "secure-boot-module-unsigned",
        "ERROR: could not insert 'nvidia_375_uvm': required key not available\n",
    ),
    "switch-finds-no-card": (
        "hybrid-laptop-gpu-powered-off",
        "[ 09:10:11 ] user_logout_waiter: started\n[ 09:10:11 ] Forcing intel due to NVIDIA card not found\n",
    ),
}
SILENT = {
    "torch-with-cuda-too": ("cpu-only-torch", _KEPT.format("2.1.0+cu118", "0.16.0+cu118") + _NO_GPU),
    "plain-torch-under-linux": (
        "cpu-only-torch",
        _KEPT.replace("C:\\app>", "$ ").replace("c:\\py\\lib", "/opt/py/lib").format("2.1.0", "0.16.0+cu118") + _NO_GPU,
    ),
    "nouveau-not-loaded": ("nouveau-bound", "$ lsmod | grep nouveau\n$ nvidia-smi -L\nGPU 0: NVIDIA RTX A4000\n"),
    "nouveau-beside-another-card": (
        "nouveau-bound",
        _LSMOD.format(1)
        + "$ lsmod | grep amdgpu\namdgpu 9486336 12\n$ rocminfo | grep gfx\n  Name:                    gfx1030\n",
    ),
    "card-without-parts": ("mig-device-misaddressed", _BEYOND + _PARTS.format("GPU 1: NVIDIA H100 80GB HBM3")),
    "rank-of-its-node": ("slurm-ntasks-mismatch", _JOB.format(2, _LAUNCH.format("$SLURM_NODEID"))),
    "one-node": ("slurm-ntasks-mismatch", _JOB.format(1, _LAUNCH.format(0))),
    "release-lacks": ("broken-wheel-missing-library", _CHANNEL.format("pytorch") + _IMPORT),
    "module-works": ("jetson-generic-wheel", _TEGRA + ">>> torch.cuda.is_available()\nTrue\n"),
    "card-of-a-server": ("jetson-generic-wheel", 'Device 0: "NVIDIA GeForce GTX 1080"\n' + _REFUSED),
    "nvidia-not-inserted": ("uvm-device-missing", "modprobe: ERROR: could not insert 'nvidia': No such device\n"),
    "intel-not-found": ("hybrid-laptop-gpu-powered-off", "[ 18:38:35 ] Forcing nvidia due to Intel card not found\n"),
}
