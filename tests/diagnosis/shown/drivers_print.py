"""What drivers' own sources print: each rule where it speaks, and beside it where it has to be silent."""

_SMI = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n"
_INITRAMFS = (
    "-> Scanning the initramfs with lsinitramfs...\n-> Nouveau detected in initramfs\n-> Initramfs scan complete.\n"
)
_CLAIMED = "[   24.301333] NVRM: request_mem_region failed for 16M @ 0xf6000000. This can\n"
_OPTIRUN = "$ optirun ./train\n[  101.223111] [ERROR]Cannot access secondary GPU - error: Could not load GPU driver\n"
_NOUVEAU = "$ lsmod | grep nouveau\nnouveau              2347008  1\n"
_NVIDIA = "$ lsmod | grep nvidia\nnvidia              56717312  240\nnouveau              2347008  0\n"
_STALLED = "[   55.112331] nouveau 0000:01:00.0: timer: stalled at ffffffffffffffff\n"
_FIFO = "[   55.112399] nouveau 0000:01:00.0: fifo: SCHED_ERROR 20 []\n"
_NO_GPUS = "RuntimeError: No CUDA GPUs are available\n"
_TORCH = '$ python -c "import torch; print(torch.__version__, torch.cuda.is_available())"\n{} False\n'
_VFIO = "[   14.101231] NVRM: GPU 0000:01:00.0 is already bound to vfio-pci.\n"
_NVTOP = "$ nvtop\nNo GPU to monitor.\n"
_CARD = "01:00.0 VGA compatible controller: NVIDIA Corporation GA106 [GeForce RTX 3060] (rev a1)\n"
_LSPCI = "$ lspci | grep VGA\n"

SPEAKS = {
    "initramfs": ("nouveau-bound", _INITRAMFS + _SMI),
    "registers": ("nouveau-bound", _CLAIMED + _NOUVEAU),
    "optirun": ("nouveau-bound", _OPTIRUN + _NOUVEAU),
    "log-and-program": ("nouveau-bound", _STALLED + _NO_GPUS),
    "log-and-torch": ("nouveau-bound", _FIFO + _TORCH.format("2.6.0+cu124")),
    "given-away": ("vm-passthrough-misconfigured", _VFIO + _NO_GPUS),
    "monitor": ("nvidia-driver-missing", _NVTOP + _LSPCI + _CARD),
}

SILENT = {
    "initramfs-before-it-is-rebuilt": ("nouveau-bound", _INITRAMFS + "Installation of the kernel module is now complete.\n"),
    "registers-of-a-loaded-driver": ("nouveau-bound", _CLAIMED + _NVIDIA),
    "optirun-alone": ("nouveau-bound", _OPTIRUN),
    "log-alone": ("nouveau-bound", _STALLED),
    "log-of-a-torch-for-the-processor": ("nouveau-bound", _FIFO + _TORCH.format("2.6.0+cpu")),
    "given-away-on-purpose": ("vm-passthrough-misconfigured", _VFIO),
    "monitor-without-a-card": ("nvidia-driver-missing", _NVTOP),
}  # fmt: skip
