"""Threads of servers of models and of picture programs: each rule where it speaks, and beside it where it has to be silent."""

_UNIT = "[Unit]\nDescription=Ollama Service\n\n[Service]\nExecStart=/usr/bin/ollama serve\nUser=ollama\n{}\n[Install]\nWantedBy=default.target\n"
_SET = 'Environment="HSA_OVERRIDE_GFX_VERSION={}"\n'
_PS = "NAME            ID              SIZE      PROCESSOR    UNTIL\nqwen2.5:3b      357c53fb659c    2.8 GB    {}     Forever\n"
_ON_ROCM = 'level=INFO source=types.go:107 msg="inference compute" id=0 library=rocm variant="" compute=gfx1034 driver=0.0 name=1002:7422 total="4.0 GiB" available="3.9 GiB"\n'
_ON_CUDA = 'level=INFO source=types.go:131 msg="inference compute" id=GPU-1 library=cuda variant=v12 compute=8.6 driver=12.4 name="NVIDIA RTX A2000" total="5.7 GiB" available="5.5 GiB"\n'
_RUNTIME = (
    'time=2024-07-02T09:11:00.1Z level=DEBUG source=gpu.go:148 msg="detected GPUs" library="C:\\\\{}\\\\{}" count=1\n'
)
_TOO_OLD = 'level=INFO source=gpu.go:214 msg="[0] CUDA GPU is too old. Compute Capability detected: {}"\n'
_COUNT = "RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that might have already set an error? Error {}\n"
_BNB = (
    "CUDA_SETUP: WARNING! libcudart.so not found in any environmental path. Searching in backup paths...\n"
    "DEBUG: Possible options found for libcudart.so: {}\nCUDA SETUP: PyTorch settings found: CUDA_VERSION=121, Highest Compute Capability: 8.0.\n"
)
_UNIX = "The following directories listed in your path were found to be non-existent: {WindowsPath('/usr/local/cuda/lib64')}\n"
_BUNDLE = "Initializing dynamic library: koboldcpp_{0}.dll\nFileNotFoundError: Could not find module '{1}\\koboldcpp_{0}.dll' (or one of its dependencies). Try using the full path with constructor syntax.\n"
_FIRST = '  File "/opt/v/lib/python3.12/site-packages/vllm/v1/worker/gpu_worker.py", line 71, in init_device\n    probe = torch.ones(1, device=self.device)\n            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\nRuntimeError: CUDA error: no kernel image is available for execution on the device\n'
_PROXY = "(Engine pid=31, ip=10.2.0.7) Last error:\n(Engine pid=31, ip=10.2.0.7) Proxy Call to rank 5 failed (Connect)\n(Engine pid=31, ip=10.2.0.7) Unhandled error: ray::Worker.run() (pid=88, ip={}, actor_id=9c)\n"
_TENSILE = "rocblas/library/TensileLibrary.dat: No such file or directory for GPU arch : {}\n"
_MPS = "TypeError: Cannot convert a MPS Tensor to float64 dtype as {}\n"
_FOUND_NONE = "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver from http://www.nvidia.com/Download/index.aspx\n"
_WEBUI = 'venv "D:\\ai\\{}\\venv\\Scripts\\Python.exe"\nPython 3.10.11 (tags/v3.10.11:7d4cc5a, Apr  5 2023, 00:38:17) [MSC v.1929 64 bit (AMD64)]\n'
_INSTALLER = (
    "Python 3.9.13 (tags/v3.9.13:6de2ca5, May 17 2022, 16:24:45) [MSC v.1929 {0}]\n"
    'RuntimeError: Couldn\'t install torch.\nCommand: "D:\\ai\\venv\\Scripts\\python.exe" -m pip install torch==1.13.1+cu117 torchvision==0.14.1+cu117\nError code: 1\n'
)
_PAGES = "$ cat /proc/cmdline\nBOOT_IMAGE=/vmlinuz-6.14 root=/dev/sda2 amd_iommu=off ttm.pages_limit={}\n"
_HIP_FULL = "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of {0} GiB of which 512.00 MiB is free. Of the allocated memory {1} GiB is allocated by PyTorch, and 96.00 MiB is reserved by PyTorch but unallocated.\n"
_OLD_CPU = "$ lscpu\nArchitecture:        x86_64\nModel name:          Intel(R) Xeon(R) CPU           X5650  @ 2.67GHz\nFlags:               fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse sse2 ss ht syscall nx lm pni ssse3 cx16 sse4_1 sse4_2 popcnt{}\n"
_CARD = "$ nvidia-smi -L\nGPU 0: NVIDIA GeForce GTX 1660 SUPER (UUID: GPU-5b7c4d2e-0000-1111-2222-333344445555)\n"
_SERVES = "$ ollama serve\n"
_LEMONADE = "$ lemonade backends install {0}:rocm\nError: Cannot install {0}:rocm on this system: {1}\n"
_NVML = "$ nvidia-smi\nFailed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.90\n"
_REFUSED = "CUDA error 2 at ggml-cuda.cu:4856: out of memory\n"
_NO_HIP = 'level=DEBUG source=amd_windows.go:35 msg="unable to load amdhip64_6.dll, please make sure to upgrade to the latest amd driver: The specified module could not be found."\n'

SPEAKS = {
    "unit-with-a-comment": (
        "override-not-in-service",
        _UNIT.format("# " + _SET.format("10.3.0")) + _PS.format("100% CPU"),
    ),
    "unit-with-a-comment-of-semicolons": (
        "override-not-in-service",
        _PS.format("100% CPU") + _UNIT.format(";" + _SET.format("11.0.0")),
    ),
    "unit-with-a-misspelt-key": (
        "override-not-in-service",
        _UNIT.format(_SET.format("10.3.0").replace("Environment", "Enviroment")),
    ),
    "drop-in-with-a-plural": (
        "override-not-in-service",
        "# /etc/systemd/system/ollama.service.d/override.conf\n[Service]\n"
        + _SET.format("9.0.0").replace("Environment", "Environments"),
    ),
    "runtime-of-physx": (
        "library-clash-ld-library-path",
        _RUNTIME.format("Program Files (x86)\\\\NVIDIA Corporation\\\\PhysX\\\\Common", "cudart64_65.dll")
        + _TOO_OLD.format("1.0"),
    ),
    "runtime-of-physx-alone": (
        "library-clash-ld-library-path",
        _RUNTIME.format("PROGRA~2\\\\NVIDIA Corporation\\\\PhysX\\\\Common", "cudart64_30_9.dll"),
    ),
    "old-card-of-itself": ("binary-arch-missing", _TOO_OLD.format("3.5")),
    "number-803-cut": ("libcuda-differs-from-kernel-driver", _COUNT.format("803: system has unsupp")),
    "number-803-alone": ("libcuda-differs-from-kernel-driver", _COUNT.format("803")),
    "no-options-for-the-runtime": ("cuda-runtime-library-missing", _BNB.format("set()")),
    "bundle-without-a-part": (
        "broken-wheel-missing-library",
        _BUNDLE.format("default", "C:\\Users\\ada\\AppData\\Local\\Temp\\_MEI40122"),
    ),
    "bundle-without-a-part-of-opencl": (
        "broken-wheel-missing-library",
        _BUNDLE.format("clblast_noavx2", "D:\\Temp\\_MEI7"),
    ),
    "first-tensor": ("gpu-arch-newer-than-wheel", _FIRST),
    "first-tensor-without-carets": (
        "gpu-arch-newer-than-wheel",
        "    x = torch.randn(8, 8).cuda() + torch.zeros(8, 8, device='cuda')\nRuntimeError: CUDA error: no kernel image is available for execution on the device\n",
    ),
    "proxy-on-another-host": ("multinode-wrong-interface", _PROXY.format("10.2.0.8")),
    "tensile-after-a-cut": ("gfx-not-in-rocblas", _TENSILE.format("gfx1034")),
    "tensile-of-windows-after-a-cut": ("gfx-not-in-rocblas", "C:\\ROCm\\bin\\" + _TENSILE.format("gfx90c")),
    "float64-cut": ("mps-float64-unsupported", _MPS.format("the MPS frame")),
    "float64-whole": (
        "mps-float64-unsupported",
        _MPS.format("the MPS framework doesn't support float64. Please use float32 instead."),
    ),
    "directml-looks-for-nvidia": ("cuda-torch-on-amd", _WEBUI.format("sd-webui-directml") + _FOUND_NONE),
    "installer-of-32-bits": ("python-version-without-wheels", _INSTALLER.format("32 bit (Intel)")),
    "pages-that-are-not-seen": (
        "apu-gtt-limit-not-applied",
        _PAGES.format(27648000) + _HIP_FULL.format("46.90", "45.80"),
    ),
    "pages-of-a-later-release": (
        "apu-gtt-limit-not-applied",
        _HIP_FULL.format("15.30", "14.60")
        + 'GRUB_CMDLINE_LINUX="ttm.pages_limit=6291456 ttm.page_pool_size=6291456"\n',
    ),
    "engine-on-an-old-processor": ("cpu-instruction-set-missing", _OLD_CPU.format("") + _CARD + _SERVES),
    "lemonade-without-the-chip": ("binary-arch-missing", _LEMONADE.format("sd-cpp", "Unsupported GPU: gfx906")),
    "lemonade-without-an-older-chip": ("binary-arch-missing", _LEMONADE.format("llamacpp", "Unsupported GPU: gfx1010")),
    "memory-refused-beside-a-mismatch": ("nvml-driver-library-mismatch", _NVML + _REFUSED),
    "memory-refused": ("oom-model-too-large", _REFUSED),
}
SILENT = {
    "comment-and-nobody-complains": ("override-not-in-service", _UNIT.format("#" + _SET.format("10.3.0"))),
    "comment-and-it-computes": (
        "override-not-in-service",
        _UNIT.format("#" + _SET.format("10.3.0")) + _ON_ROCM + "no cpu-only run any more\n",
    ),
    "comment-beside-a-line-in-force": (
        "override-not-in-service",
        _UNIT.format("#" + _SET.format("11.0.0") + _SET.format("10.3.0")) + _PS.format("100% CPU"),
    ),
    "key-spelt-rightly": ("override-not-in-service", _UNIT.format(_SET.format("10.3.0"))),
    "misspelt-beside-the-right-one": (
        "override-not-in-service",
        _UNIT.format(_SET.format("10.3.0").replace("Environment", "Enviroment") + _SET.format("10.3.0")),
    ),
    "runtime-of-its-own": (
        "library-clash-ld-library-path",
        _RUNTIME.format("Users\\\\ada\\\\Programs\\\\Ollama", "cudart64_110.dll"),
    ),
    "physx-among-those-found": (
        "library-clash-ld-library-path",
        'msg="discovered GPU libraries" paths="[C:\\\\Program Files (x86)\\\\NVIDIA Corporation\\\\PhysX\\\\Common\\\\cudart64_65.dll]"\n'
        + _ON_CUDA,
    ),
    "capability-that-no-card-has": ("binary-arch-missing", _TOO_OLD.format("1.0")),
    "number-802": ("libcuda-differs-from-kernel-driver", _COUNT.format("802: system not yet")),
    "number-elsewhere": ("libcuda-differs-from-kernel-driver", "HTTP Error 803: cudaGetDeviceCount\n"),
    "options-for-the-runtime": (
        "cuda-runtime-library-missing",
        _BNB.format("{PosixPath('/usr/local/cuda/lib64/libcudart.so')}"),
    ),
    "no-options-on-windows": ("cuda-runtime-library-missing", _UNIX + _BNB.format("set()")),
    "folder-without-a-part": ("broken-wheel-missing-library", _BUNDLE.format("default", "C:\\tools\\koboldcpp")),
    "first-tensor-of-an-older-card": ("gpu-arch-newer-than-wheel", _FIRST + "GPU 0: Tesla P4\n"),
    "kernel-of-another-library": ("gpu-arch-newer-than-wheel", _FIRST.replace("torch.ones", "fused_ones")),
    "proxy-on-the-same-host": ("multinode-wrong-interface", _PROXY.format("10.2.0.7")),
    "proxy-beside-a-route": (
        "multinode-wrong-interface",
        _PROXY.format("10.2.0.8")
        + "NCCL WARN socketStartConnect: Connect to 10.2.0.8<50000> failed : No route to host\n",
    ),
    "tensile-that-is-read": ("gfx-not-in-rocblas", "rocblas/library/TensileLibrary_lazy_gfx1034.dat\n"),
    "float64-of-numpy": (
        "mps-float64-unsupported",
        "TypeError: Cannot convert the array to float64 dtype as the MPS\n",
    ),
    "webui-without-directml": ("cuda-torch-on-amd", _WEBUI.format("stable-diffusion-webui") + _FOUND_NONE),
    "directml-beside-a-geforce": (
        "cuda-torch-on-amd",
        _WEBUI.format("sd-webui-directml") + _FOUND_NONE + "GPU: NVIDIA GeForce RTX 2060\n",
    ),
    "installer-of-64-bits": (
        "python-version-without-wheels",
        _INSTALLER.format("64 bit (AMD64)").replace("3.9.13", "3.10.9"),
    ),
    "pages-that-are-seen": ("apu-gtt-limit-not-applied", _PAGES.format(12582912) + _HIP_FULL.format("46.90", "45.80")),
    "pages-beside-a-card": (
        "apu-gtt-limit-not-applied",
        _PAGES.format(27648000) + "GPU[0]: Card Series: AMD Radeon RX 7900 XTX\n" + _HIP_FULL.format("23.98", "22.90"),
    ),
    "newer-processor": ("cpu-instruction-set-missing", _OLD_CPU.format(" avx f16c avx2") + _CARD + _SERVES),
    "old-processor-that-serves": ("cpu-instruction-set-missing", _OLD_CPU.format("") + _CARD + _SERVES + _ON_CUDA),
    "old-processor-and-no-engine": ("cpu-instruction-set-missing", _OLD_CPU.format("") + _CARD),
    "lemonade-on-another-system": ("binary-arch-missing", _LEMONADE.format("llamacpp", "Requires Linux")),
    "ollama-looks-for-hip-too": ("windows-runtime-dll-missing", _NO_HIP + _ON_CUDA),
}
