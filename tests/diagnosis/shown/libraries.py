"""Libraries, drivers and a card's memory as threads show them: each rule where it speaks, and beside it where it has to be silent."""

_TF = "I cuda/cuda_diagnostics.cc:193] libcuda reported version is: {}\n"
_TF_KERNEL = "I cuda/cuda_diagnostics.cc:197] kernel reported version is: {}\n"
_HEAD = "| NVIDIA-SMI {}       Driver Version: {}       CUDA Version: {}     |\n"
_KALDI = "WARNING (nnet3-train[5.5.1]:SelectGpuId():cu-device.cc:243) Will try again to get a GPU after 20 seconds.\n"
_ROW = "|   0  Tesla P100-PCIE...  On   | 00000000:3B:00.0 Off |                    0 |\n| N/A   41C    P0    88W / 250W |   9211MiB / 16280MiB |     91%   {} |\n"
_MINER = "CUDA error in func 'ethash_cuda_miner::init' at line 251 : out of memory\n"
_LOLMINER = "GPU 1: error when allocating memory or building DAG. Disabling card.\n"
_STUBS = "$ echo $LD_LIBRARY_PATH\n/usr/local/cuda-11.6/lib64:/usr/local/cuda-11.6/lib64/stubs\n>>> torch.cuda.is_available()\n{}\n"
_STUBS_FIRST = "export LD_LIBRARY_PATH=/opt/cuda-12.2/lib64/stubs:$LD_LIBRARY_PATH\n"
_WANTS = (
    "encoder h264_nvenc: unavailable\nMinimum required Nvidia driver is 570.0 or newer\nNvidia driver version: {}\n"
)
_LINK = "lrwxrwxrwx 1 root root       20 Jan  4 10:11 /usr/lib/x86_64-linux-gnu/libcuda.so.1 -> libcuda.so.{}\n"
_NO_GPU = "RuntimeError: No CUDA GPUs are available\n"
_LLAMA = "ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of size {}\n"
_RUST = "memory allocation of {} bytes failed\n"
_WINDOWS = "OS: Microsoft Windows 11 Pro\n"
_TF_FORM = "OS Platform and Distribution: Windows 10\nTensorFlow version: {}\nCUDA/cuDNN version: {}\nGPU model and memory: GTX 1650\n>>> tf.config.list_physical_devices()\n[PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]\n"
_CUPY = "{} library could not be loaded.\nReason: ImportError (libnccl.so.2: cannot open shared object file: No such file or directory)\n"

SPEAKS = {
    "cupy-and-another-library": ("cuda-runtime-library-missing", _CUPY.format("cutensor")),
    "tensorflow-and-another-toolkit": ("cuda-runtime-library-missing", _TF_FORM.format("2.3.1", "11.0")),
    "tensorflow-and-another-minor-toolkit": ("cuda-runtime-library-missing", _TF_FORM.format("2.2.0", "10.2.89")),
    "stubs-and-no-card": ("libcuda-stub-loaded", _STUBS.format("False")),
    "stubs-first": ("libcuda-stub-loaded", _STUBS_FIRST),
    "libcuda-of-another-driver": ("libcuda-differs-from-kernel-driver", _HEAD.format("535.129.03", "535.129.03", "12.2") + _LINK.format("525.85.12") + _NO_GPU),
    "tensorflow-tells-two": ("libcuda-differs-from-kernel-driver", _TF.format("470.82.1") + _TF_KERNEL.format("460.91.3")),
    "tensorflow-and-the-module": ("libcuda-differs-from-kernel-driver", _TF.format("470.82.1") + "NVRM version: NVIDIA UNIX x86_64 Kernel Module  460.91.03  Fri Jul  2 06:04:10 UTC 2021\n"),
    "tool-of-a-far-release": ("nvml-driver-library-mismatch", _HEAD.format("450.80.02", "535.54.03", "N/A")),
    "driver-before-the-first": ("driver-too-old-for-wheel", _WANTS.format("535.183.01")),
    "refused-for-its-driver": ("driver-too-old-for-wheel", "installation failed: this package requires NVIDIA driver 575.51 or newer.\n"),
    "kaldi-and-the-mode": ("compute-mode-exclusive", _KALDI + _ROW.format("E. Process")),
    "kaldi-alone": ("compute-mode-exclusive", _KALDI),
    "mode-was-set": ("compute-mode-exclusive", "Set compute mode to EXCLUSIVE_PROCESS for GPU 00000000:3B:00.0.\n" + _KALDI),
    "rig-on-windows": ("windows-paging-file-too-small", _WINDOWS + "Number of Cuda supported GPUs: 5\n" + _LOLMINER),
    "rig-with-little-memory": ("windows-paging-file-too-small", _WINDOWS + "4 GB RAM\n" + _MINER),
    "rig-counted": ("windows-paging-file-too-small", _WINDOWS + "Number of Cuda supported GPUs: 5\n" + _MINER),
    "rig-listed": ("windows-paging-file-too-small", _WINDOWS + "".join(f"GPU {at}: NVIDIA P106-100\n" for at in range(6)) + _MINER),
    "miner-on-windows": ("windows-paging-file-too-small", _WINDOWS + _LOLMINER),
    "miner-elsewhere": ("oom-model-too-large", _MINER),
    "a-little-on-windows": ("windows-paging-file-too-small", _WINDOWS + _RUST.format(262144)),
    "a-long-cache": ("host-memory-exhausted", _LLAMA.format(68719476736)),
}  # fmt: skip

SILENT = {
    "cupy-does-without-it": ("cuda-runtime-library-missing", _CUPY.format("nccl")),
    "tensorflow-and-its-toolkit": ("cuda-runtime-library-missing", _TF_FORM.format("2.3.1", "10.1")),
    "tensorflow-and-a-minor-of-eleven": ("cuda-runtime-library-missing", _TF_FORM.format("2.5.0", "11.6")),
    "stubs-and-a-card": ("libcuda-stub-loaded", _STUBS.format("True")),
    "stubs-first-and-a-card": ("libcuda-stub-loaded", _STUBS_FIRST + ">>> torch.cuda.is_available()\nTrue\n"),
    "stubs-for-the-linker": ("libcuda-stub-loaded", "export LIBRARY_PATH=/opt/cuda-12.2/lib64/stubs:$LIBRARY_PATH\n"),
    "libcuda-of-the-driver": ("libcuda-differs-from-kernel-driver", _HEAD.format("535.129.03", "535.129.03", "12.2") + _LINK.format("535.129.03") + _NO_GPU),
    "tensorflow-tells-one": ("libcuda-differs-from-kernel-driver", _TF.format("384.130.0") + _TF_KERNEL.format("384.130.0")),
    "tensorflow-and-its-module": ("libcuda-differs-from-kernel-driver", _TF.format("470.57.2") + "NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.57.02  Tue Jul 13 16:14:05 UTC 2021\n"),
    "tool-in-a-wsl": ("nvml-driver-library-mismatch", _HEAD.format("535.146.01", "537.99", "12.2")),
    "driver-of-today": ("driver-too-old-for-wheel", _WANTS.format("580.95.05")),
    "tested-with-a-driver": ("driver-too-old-for-wheel", "This package was tested with NVIDIA driver 575.51 or newer.\n"),
    "kaldi-and-a-shared-card": ("compute-mode-exclusive", _KALDI + _ROW.format("  Default")),
    "rig-on-linux": ("windows-paging-file-too-small", "OS: Ubuntu 22.04\nNumber of Cuda supported GPUs: 5\n" + _LOLMINER),
    "one-card-listed": ("windows-paging-file-too-small", _WINDOWS + "GPU 0: NVIDIA P106-100\n" + _MINER),
    "much-on-windows": ("windows-paging-file-too-small", _WINDOWS + _RUST.format(68719476736)),
    "a-little-in-main-memory": ("host-memory-exhausted", _WINDOWS + _LLAMA.format(84940832)),
}  # fmt: skip
