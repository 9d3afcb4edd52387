"""What pieces of reports and listings show: each rule where it speaks, and beside it where it has to be silent."""

_CARD = "GPU 0: NVIDIA GeForce RTX 3060 (UUID: GPU-0f3a1b2c-1111-2222-3333-444455556666)\n"

_ROW = "NVRM: Xid (PCI:0000:9b:00): 63, pid=5321, name=kworker, Row Remapper: New row marked for remapping, reset gpu to activate.\n"
_REMAPPED = "$ nvidia-smi --query-remapped-rows=remapped_rows.pending,remapped_rows.failure --format=csv\nremapped_rows.pending, remapped_rows.failure\n{}\n"

SPEAKS = {
    "row-waits-for-a-reset": ("gpu-memory-ecc-error", _ROW + _REMAPPED.format("1, 0")),
    "rocm-goes": ("cuda-torch-on-amd", ("    Uninstalling torch-2.3.0+rocm6.0:\nDownloading torch-2.3.1-cp310-cp310-manylinux1_x86_64.whl (779.1 MB)\n"
                  "  Downloading nvidia_cublas_cu12-12.1.3.1-py3-none-manylinux1_x86_64.whl (410.6 MB)\n")),
    "rocm-goes-by-uv": ("cuda-torch-on-amd", " - torch==2.4.0+rocm6.1\n + torch==2.4.1\nRuntimeError: Found no NVIDIA driver on your system.\n"),
    "amd-smi-answers": ("cuda-torch-on-amd", ("$ amd-smi list\nGPU: 0\n    BDF: 0000:2f:00.0\n    UUID: 33ff744c-0000-1000-80aa-3a0e5c1f1d2a\n$ pip list | grep -E 'torch|nvidia'\n"
                        "nvidia-cublas-cu12        12.4.5.8\nnvidia-nccl-cu12          2.21.5\ntorch                     2.6.0\n")),
    "cuda-goes": ("cpu-only-torch", "      Successfully uninstalled torch-2.1.0+cu118\nSuccessfully installed torch-2.1.2+cpu torchvision-0.16.2+cpu\n"),
    "cuda-goes-on-windows": ("cpu-only-torch", "    Uninstalling torch-2.2.1+cu121:\nSuccessfully installed torch-2.2.2\nC:\\work>python train.py\n"),
    "accelerate": ("cpu-only-torch", "- PyTorch version (GPU?): 2.2.0+cpu (False)\n- `Accelerate` default config:\n\t- distributed_type: MULTI_GPU\n"),
    "index-for-processors": ("cpu-only-torch", "--extra-index-url https://download.pytorch.org/whl/cpu\ntorch==2.4.0\n\n" + _CARD + "torch.cuda.is_available(): False\n"),
    "jax-plugin": ("driver-too-old-for-wheel", "jax-cuda12-plugin==0.4.30\njaxlib==0.4.30\nDriver Version: 470.182.03   CUDA Version: 11.4\nNVIDIA-SMI 470.182.03\n"),
    "warnings-first-line": ("gpu-arch-older-than-wheel", "Found GPU0 Tesla M40 which is of cuda capability 5.2.\ntorch 2.8.0+cu128\n"),
    "capability-asked": ("gpu-arch-newer-than-wheel", "torch 2.5.1+cu124\ntorch.cuda.get_device_capability() (12, 0)\n"),
    "program-hides-all": ("cuda-visible-devices-wrong", "os.environ['CUDA_VISIBLE_DEVICES'] = '-1'\nprint(tf.config.list_physical_devices('GPU'))\n[]\n"),
    "shell-hides-all": ("cuda-visible-devices-wrong", "$ env | grep CUDA\nCUDA_VISIBLE_DEVICES=\n>>> torch.cuda.is_available()\nFalse\n"),
    "another-major": ("pip-cuda-mix", "torch 2.4.0 requires nvidia-cudnn-cu12==9.1.0.70, but you have nvidia-cudnn-cu12 8.9.7.29 which is incompatible.\n"),
    "no-process": ("gpu-memory-held-by-others", "memory.used [MiB], memory.total [MiB]\n23987 MiB, 24576 MiB\npid, used_gpu_memory [MiB]\n\ntorch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacty of 23.69 GiB of which 10.06 MiB is free.\n"),
    "no-process-in-the-long-report": ("gpu-memory-held-by-others", "    FB Memory Usage\n        Total                             : 24564 MiB\n        Used                              : 23810 MiB\n    Processes                             : None\n"),
    "virtual-display": ("no-gpu-present", "GPU: 00:02.0 Vendor 1234 Device 1111\nRuntimeError: Found no NVIDIA driver on your system.\n"),
    "shell-offers-the-tool": ("nvidia-driver-missing", "OS: Ubuntu 22.04.3 LTS x86_64\nGPU: NVIDIA GeForce RTX 3060\n$ nvidia-smi\nCommand 'nvidia-smi' not found, but can be installed with:\n"),
    "sycl-lists-none": ("render-group-missing", "$ sycl-ls\n$ ls -l /dev/dri\ncrw-rw---- 1 root render 226, 128 May  1 10:00 renderD128\n$ id\nuid=1000(ada) gid=1000(ada) groups=1000(ada),27(sudo)\n"),
    "older-macos": ("mps-macos-too-old", "macOS 12.1\nApple M1\ntorch 1.13.0\ntorch.backends.mps.is_available(): False\n"),
    "fabric-inactive": ("fabric-manager-not-running", "$ systemctl is-active nvidia-fabricmanager\ninactive\nGPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-0f3a1b2c-1111-2222-3333-444455556666)\n>>> torch.cuda.is_available()\nFalse\n"),
    "poetry-refuses": ("torch-torchvision-mismatch", "Because torchvision (0.15.2) depends on torch (2.0.1)\n and app depends on torch (2.1.0), torchvision is forbidden.\n"),
    "srun": ("slurm-no-gpu-requested", "$ srun -p gpu nvidia-smi\nNo devices were found\n"),
}  # fmt: skip

SILENT = {
    "rocm-goes-for-rocm": ("cuda-torch-on-amd", "    Uninstalling torch-2.3.0+rocm6.0:\nSuccessfully installed torch-2.4.1+rocm6.1\n"),
    "amd-smi-beside-rocms-torch": ("cuda-torch-on-amd", "$ amd-smi list\nGPU: 0\n    BDF: 0000:2f:00.0\n    UUID: 33ff744c-0000-1000-80aa-3a0e5c1f1d2a\ntorch==2.6.0+rocm6.2.4\n"),
    "cuda-goes-for-cuda": ("cpu-only-torch", "      Successfully uninstalled torch-2.1.0+cu118\nSuccessfully installed torch-2.2.0+cu121\n"),
    "cpu-was-asked-for": ("cpu-only-torch", "Looking in indexes: https://download.pytorch.org/whl/cpu\n    Uninstalling torch-2.2.1+cu121:\nSuccessfully installed torch-2.2.1+cpu\n"),
    "accelerate-for-one-processor": ("cpu-only-torch", "- `Accelerate` default config:\n\t- distributed_type: NO\n"),
    "index-for-cuda": ("cpu-only-torch", "--extra-index-url https://download.pytorch.org/whl/cu121\ntorch==2.4.0\n\n" + _CARD + "torch.cuda.is_available(): False\n"),
    "jax-plugin-carried": ("driver-too-old-for-wheel", "jax-cuda12-plugin==0.6.0\njaxlib==0.6.0\nDriver Version: 580.65.06   CUDA Version: 13.0\nNVIDIA-SMI 580.65.06\n"),
    "card-that-is-served": ("gpu-arch-older-than-wheel", "Found GPU0 Tesla T4 which is of cuda capability 7.5.\ntorch 2.8.0+cu128\n"),
    "capability-that-is-served": ("gpu-arch-newer-than-wheel", "torch 2.5.1+cu124\ntorch.cuda.get_device_capability() (8, 9)\n"),
    "one-command-hides-all": ("cuda-visible-devices-wrong", "$ CUDA_VISIBLE_DEVICES= python -c 'import torch; print(torch.cuda.is_available())'\nFalse\n"),
    "program-hides-all-of-a-cpu-build": ("cuda-visible-devices-wrong", "os.environ['CUDA_VISIBLE_DEVICES'] = '-1'\nPyTorch version: 2.2.0+cpu\nIs CUDA available: False\n"),
    "another-patch": ("pip-cuda-mix", "torch 2.6.0 requires nvidia-cublas-cu12==12.4.5.8, but you have nvidia-cublas-cu12 12.5.3.2 which is incompatible.\n"),
    "a-process-is-listed": ("gpu-memory-held-by-others", "memory.used [MiB], memory.total [MiB]\n2398 MiB, 24576 MiB\npid, used_gpu_memory [MiB]\n4711, 2390 MiB\n"),
    "idle-in-the-long-report": ("gpu-memory-held-by-others", "    FB Memory Usage\n        Total                             : 24564 MiB\n        Used                              : 310 MiB\n    Processes                             : None\n"),
    "virtual-display-alone": ("no-gpu-present", "GPU: 00:02.0 Vendor 1234 Device 1111\nMemory: 812MiB / 3919MiB\n"),
    "shell-offers-the-tool-in-a-container": ("nvidia-driver-missing", "GPU: NVIDIA GeForce RTX 3060\nroot@3f2a1b9c7d21:/# nvidia-smi\nCommand 'nvidia-smi' not found, but can be installed with:\n"),
    "sycl-lists-one": ("render-group-missing", "$ sycl-ls\n[level_zero:gpu][level_zero:0] Intel(R) Level-Zero, Intel(R) Arc(TM) A770 Graphics 1.3\ncrw-rw---- 1 root render 226, 128 May  1 10:00 renderD128\nuid=1000(ada) gid=1000(ada) groups=1000(ada),109(render)\n"),
    "newer-macos": ("mps-macos-too-old", "macOS 14.1\nApple M1\ntorch 2.1.0\ntorch.backends.mps.is_available(): False\n"),
    "fabric-inactive-beside-a-card-in-a-slot": ("fabric-manager-not-running", "$ systemctl is-active nvidia-fabricmanager\ninactive\n" + _CARD + ">>> torch.cuda.is_available()\nFalse\n"),
}  # fmt: skip
