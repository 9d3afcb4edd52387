"""Libraries beside frameworks: each rule where it speaks, and beside it where it has to be silent."""

_PROVIDERS = ">>> onnxruntime.get_available_providers()\n['AzureExecutionProvider', 'CPUExecutionProvider']\n"
_PLAIN, _GPU = "onnxruntime        1.19.2\n", "onnxruntime-gpu    1.19.2\n"
_SYSTEMS = "Warning: CUDA runtime library `libcublas.so.12` was loaded from a system path, `/opt/cuda/lib64/libcublas.so.12`.\n"
_CUDNN_OF_FRAMEWORK = "[TRT] [W] TensorRT was linked against cuDNN 8.6.0 but loaded cuDNN {}\n"
_CUPY_OF_LIBRARY = "{} library could not be loaded.\nReason: ImportError (libnccl.so.2: cannot open shared object file: No such file or directory)\n"
_TF_FORM = "OS Platform and Distribution: Windows 10\nTensorFlow version: {}\nCUDA/cuDNN version: {}\nGPU model and memory: GTX 1650\n>>> tf.config.list_physical_devices()\n[PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]\n"
_LOLMINER = "GPU 1: error when allocating memory or building DAG. Disabling card.\n"
_WINDOWS = "OS: Microsoft Windows 11 Pro\n"
_MINER = "CUDA error in func 'ethash_cuda_miner::init' at line 251 : out of memory\n"
_RUST = "memory allocation of {} bytes failed\n"
_FOREIGN = (
    'level=WARN msg="potentially incompatible library detected in PATH" location="C:\\\\Tools\\\\ggml-base.dll"\n'
)
_DIED = "Error: llama runner process has terminated: exit status {}\n"
_SERVES = 'level=INFO source=types.go:50 msg="inference compute" id=GPU-1 library=CUDA compute=8.6 name=CUDA0\n'
_TOO_OLD = 'level=INFO source=gpu.go:214 msg="[0] CUDA GPU is too old. Compute Capability detected: {}"\n'
_RUNTIME_OF_SERVED = (
    'time=2024-07-02T09:11:00.1Z level=DEBUG source=gpu.go:148 msg="detected GPUs" library="C:\\\\{}\\\\{}" count=1\n'
)
_BNB = (
    "CUDA_SETUP: WARNING! libcudart.so not found in any environmental path. Searching in backup paths...\n"
    "DEBUG: Possible options found for libcudart.so: {}\nCUDA SETUP: PyTorch settings found: CUDA_VERSION=121, Highest Compute Capability: 8.0.\n"
)
_ON_CUDA = 'level=INFO source=types.go:131 msg="inference compute" id=GPU-1 library=cuda variant=v12 compute=8.6 driver=12.4 name="NVIDIA RTX A2000" total="5.7 GiB" available="5.5 GiB"\n'
_UNIX = "The following directories listed in your path were found to be non-existent: {WindowsPath('/usr/local/cuda/lib64')}\n"
_NO_HIP = 'level=DEBUG source=amd_windows.go:35 msg="unable to load amdhip64_6.dll, please make sure to upgrade to the latest amd driver: The specified module could not be found."\n'
_WHERE = "D:\\llm>llama-bench.exe\n(exit code -1073741515)\nD:\\llm>where {}\nINFO: Could not find files for the given pattern(s).\n"
_CUDNN_OF_OTHER = "cuDNN Error: CUDNN_STATUS_VERSION_MISMATCH\n$ grep CUDNN_MAJOR -A1 /usr/include/cudnn_version.h\n#define CUDNN_MAJOR {}\n$ ldd ./net | grep cudnn\n\tlibcudnn.so.7 => /usr/local/cuda/lib64/libcudnn.so.7\n"
_VALUE = 'Currently Loaded Modules:\n  1) gcc/11.2   2) {}   3) python/3.10\n$ python fit.py\n  File "/h/v/lib/python3.10/site-packages/torch/nn/modules/linear.py", line 114, in forward\nRuntimeError: CUDA error: {} when calling `cublasGemmEx( handle, opa, opb)`\n'
_JAX = "CUDA backend failed to initialize: Found cuSPARSE version {}, but JAX was built against version 12200, which is newer.\n The copy of cuSPARSE that is installed must be at least as new as the version against which JAX was built.\n$ pip list | grep cusparse\nnvidia-cusparse-cu12      {}\n"
_DEBUG = "RuntimeError: cudnn_status: CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH\n$ LD_DEBUG=libs python t.py 2>&1 | grep cudnn\n     991:\tcalling init: {}/libcudnn_ops.so.9\n"
_PADDLE = ">>> paddle.version.show()\ncuda: 11.8\ncudnn: {}\n>>> paddle.utils.run_check()\nW0101 10:00:00.0 1 gpu_resources.cc:149] device: 0, cuDNN Version: 8.2.\n"
_SPEED = "$ ds_report | tail\ntorch version .................... 2.1.0+cu118\ntorch cuda version ............... 11.8\nnvcc version ..................... {}\n$ DS_BUILD_UTILS=1 pip install deepspeed\n"
_RUNTIME_OF_THERE = "ERROR: LoadError: CUDA.jl {} a CUDA runtime library\n"
_LOADER = "W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library '{0}'; dlerror: {0}: cannot open shared object file: No such file or directory\n"
_ASKED = (
    "RuntimeError: jaxlib/cuda/versions_helpers.cc:{}: operation {}(&version) failed: The {} library was not found.\n"
)
_CUPY_OF_SYSTEM = "DLL dependencies:\n{0}KERNEL32.dll -> C:\\Windows\\System32\\KERNEL32.DLL\n{0}{1}.dll -> not found\n{0}{2}.dll -> {3}\n"
_NO_DEVICE = "E tensorflow/stream_executor/cuda/cuda_driver.cc:271] failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n"
_ARC = "_XpuDeviceProperties(name='Intel(R) Arc(TM) A770 Graphics', platform_name='Intel(R) Level-Zero', type='gpu', max_num_sub_groups=128, sub_group_sizes=[8 16 32])\n"
_XPU = "{}/lib/python3.12/site-packages/torch/xpu/__init__.py:61: UserWarning: Failed to initialize XPU devices. The driver may not be installed, installed incorrectly, or incompatible with the current setup.\n"
_ADVICE = (
    "W0310 09:14:55.120331 4410 dynamic_loader.cc:{}] Note: [Recommend] copy cudnn into {} \n For instance, unzip it.\n"
)
_BUILT = ">>> paddle.version.show()\ncommit: 0f1e2d3c\ncuda: {}\ncudnn: {}\n{}: False\n"
_LOADED = "W0310 09:14:56.731904 4410 gpu_resources.cc:164] device: 0, cuDNN Version: {}.\n"
_INIT = '[WinError 1114] A dynamic link library (DLL) initialization routine failed. Error loading "{}" or one of its dependencies.\n'
_ROOM = "Virtual Memory: Max Size:  17,289 MB\nVirtual Memory: Available: {} MB\nVirtual Memory: In Use:    8,077 MB\n"
_WORKER_GONE = "RuntimeError: DataLoader worker (pid(s) 5224) exited unexpectedly\n"
_WORD_OF_NEWER = (
    'error: identifier "CUDA_R_8F_E4M3" is undefined\nCuda compilation tools, release {}, V{}\ntorch 2.3.1+cu121\n'
)
_CONDA_LIST = "$ conda list\ncudatoolkit 11.8.0 h37601d7_11 conda-forge\ncuda-cudart 12.1.105 0 nvidia\n".replace(
    "11.8.0", "{}"
)
_SYMBOL_OF_OTHER = "ImportError: /e/x.so: undefined symbol: cublasLtHSHMatmulAlgoInit, version libcublasLt.so.11\n"
_LOADS = (
    "   77:\tfile=libcusparse.so.12 [0];  needed by {needs} [0]\n   77:\tfind library=libcusparse.so.12 [0]; searching\n   77:\t search path=/opt/mpi/lib:{folder}\t\t(LD_LIBRARY_PATH)\n"
    "   77:\t  trying file=/opt/mpi/lib/libcusparse.so.12\n   77:\t  trying file={folder}/libcusparse.so.12\n   77:\t\n   77:\tfile=libcusparse.so.12 [0];  generating link map\n"
)
_PINS = 'paddlepaddle-gpu 3.2.0 requires {}; platform_system == "Linux", but you have {} which is incompatible.\n'


SPEAKS = {
    "form-names-a-part-of-a-card": (
        "cuda-runtime-library-missing",
        "### GPU model and memory\n\nGRID T4-8Q\n\nCould not load dynamic library 'libcudart.so.11.0'; dlerror: libcudart.so.11.0: cannot open shared object file: No such file or directory\n",
    ),
    "wheel-served-from-the-path": (
        "library-clash-ld-library-path",
        _LOADS.format(
            needs="/v/lib/python3.12/site-packages/torch/lib/libtorch_cuda.so", folder="/opt/cuda-12.4/lib64"
        ),
    ),
    "jax-served-from-the-path": (
        "library-clash-ld-library-path",
        _LOADS.format(
            needs="/v/lib/python3.12/site-packages/nvidia/cusolver/lib/libcusolver.so.11", folder="/opt/cuda-12.4/lib64"
        )
        + "RuntimeError: Unable to load cuSPARSE. Is it installed?\n",
    ),
    "two-minors-of-another-program": (
        "pip-cuda-mix",
        _PINS.format("nvidia-cublas-cu12==12.6.4.1", "nvidia-cublas-cu12 12.8.4.1")
        + _PINS.format("nvidia-cudnn-cu12==9.5.1.17", "nvidia-cudnn-cu12 9.10.2.21"),
    ),
    "another-major-of-another-program": (
        "pip-cuda-mix",
        _PINS.format("nvidia-cudnn-cu12>=9.1", "nvidia-cudnn-cu12 8.9.7.29"),
    ),
    "oneapi-not-activated": (
        "intel-oneapi-runtime-missing",
        "INFO     Intel OneAPI Toolkit detected\nERROR    Intel OneAPI Toolkit is not activated! Activate OneAPI manually!\n",
    ),
    "oneapi-script-not-there": (
        "intel-oneapi-runtime-missing",
        "./webui.sh: Zeile 92: /opt/intel/oneapi/setvars.sh: Datei oder Verzeichnis nicht gefunden\n",
    ),
    "oneapi-compiler-not-there": (
        "intel-oneapi-runtime-missing",
        "  The CMAKE_CXX_COMPILER:\n\n    icpx\n\n  is not a full path and was not found in the PATH.\n",
    ),
    "both-of-onnxruntime": ("pip-cuda-mix", _PROVIDERS + "$ pip list | grep onnx\n" + _PLAIN + _GPU),
    "julia": ("library-clash-ld-library-path", _SYSTEMS + "ERROR: CUBLASError: an internal operation failed\n"),
    "older-cudnn": ("cudnn-version-incompatible", _CUDNN_OF_FRAMEWORK.format("8.4.1")),
    "cupy-and-another-library": ("cuda-runtime-library-missing", _CUPY_OF_LIBRARY.format("cutensor")),
    "tensorflow-and-another-toolkit": ("cuda-runtime-library-missing", _TF_FORM.format("2.3.1", "11.0")),
    "tensorflow-and-another-minor-toolkit": ("cuda-runtime-library-missing", _TF_FORM.format("2.2.0", "10.2.89")),
    "rig-on-windows": ("windows-paging-file-too-small", _WINDOWS + "Number of Cuda supported GPUs: 5\n" + _LOLMINER),
    "rig-with-little-memory": ("windows-paging-file-too-small", _WINDOWS + "4 GB RAM\n" + _MINER),
    "rig-counted": ("windows-paging-file-too-small", _WINDOWS + "Number of Cuda supported GPUs: 5\n" + _MINER),
    "rig-listed": (
        "windows-paging-file-too-small",
        _WINDOWS + "".join(f"GPU {at}: NVIDIA P106-100\n" for at in range(6)) + _MINER,
    ),
    "miner-on-windows": ("windows-paging-file-too-small", _WINDOWS + _LOLMINER),
    "a-little-on-windows": ("windows-paging-file-too-small", _WINDOWS + _RUST.format(262144)),
    "another-major": (
        "pip-cuda-mix",
        "torch 2.4.0 requires nvidia-cudnn-cu12==9.1.0.70, but you have nvidia-cudnn-cu12 8.9.7.29 which is incompatible.\n",
    ),
    "foreign": ("library-clash-ld-library-path", _FOREIGN + _DIED.format("0xc0000139")),
    "runtime-of-physx": (
        "library-clash-ld-library-path",
        _RUNTIME_OF_SERVED.format("Program Files (x86)\\\\NVIDIA Corporation\\\\PhysX\\\\Common", "cudart64_65.dll")
        + _TOO_OLD.format("1.0"),
    ),
    "runtime-of-physx-alone": (
        "library-clash-ld-library-path",
        _RUNTIME_OF_SERVED.format("PROGRA~2\\\\NVIDIA Corporation\\\\PhysX\\\\Common", "cudart64_30_9.dll"),
    ),
    "no-options-for-the-runtime": ("cuda-runtime-library-missing", _BNB.format("set()")),
    "oneapi-not-there": ("intel-oneapi-runtime-missing", _WHERE.format("mkl_sycl_blas.5.dll")),
    "two-cudnns": ("cudnn-version-incompatible", _CUDNN_OF_OTHER.format(8)),
    "module-and-cublas": ("library-clash-ld-library-path", _VALUE.format("cuda/11.4", "CUBLAS_STATUS_INVALID_VALUE")),
    "jax-and-its-package": ("library-clash-ld-library-path", _JAX.format(12103, "12.2.0.103")),
    "library-of-the-system": ("library-clash-ld-library-path", _DEBUG.format("/usr/lib/x86_64-linux-gnu")),
    "paddle-cudnn": ("cudnn-version-incompatible", _PADDLE.format("8.6.0")),
    "deepspeed": ("nvcc-differs-from-torch-cuda", _SPEED.format("12.4")),
    "hashcat": (
        "cuda-runtime-library-missing",
        "* Device #1: CUDA SDK Toolkit not installed or incorrectly installed.\n$ ldconfig -p | grep -c libnvrtc\n0\n",
    ),
    "julia-runtime": ("cuda-runtime-library-missing", _RUNTIME_OF_THERE.format("could not find")),
    "solver-behind-the-runtime": ("cuda-runtime-library-missing", _LOADER.format("libcusolver.so.11")),
    "products-behind-the-runtime": ("cuda-runtime-library-missing", _LOADER.format("libcublas.so.10")),
    "jax-asks-for-transforms": ("cuda-runtime-library-missing", _ASKED.format(90, "cufftGetVersion", "cuFFT")),
    "jax-asks-for-products": ("cuda-runtime-library-missing", _ASKED.format(44, "cublasGetVersion", "cuBLAS")),
    "cupy-without-margin": (
        "cuda-runtime-library-missing",
        _CUPY_OF_SYSTEM.format("", "cusparse64_11", "nvrtc64_112_0", "not found"),
    ),
    "cupy-with-margin": (
        "cuda-runtime-library-missing",
        _CUPY_OF_SYSTEM.format("  ", "cuTENSOR", "cufft64_10", "not found"),
    ),
    "xpu-in-a-conda": ("library-clash-ld-library-path", _ARC + _XPU.format("/home/ada/miniforge3/envs/x")),
    "advice-of-windows": ("cuda-runtime-library-missing", _ADVICE.format("265", "CUDA installation directory.")),
    "advice-and-a-minor-release": (
        "cuda-runtime-library-missing",
        "Driver API Version: 12.2, Runtime API Version: 11.6\n" + _ADVICE.format("307", "CUDA installation directory."),
    ),
    "older-cudnn-of-a-major": (
        "cudnn-version-incompatible",
        _BUILT.format("11.2", "8.1.1", "xpu") + _LOADED.format("7.6"),
    ),
    "older-cudnn-of-a-minor": (
        "cudnn-version-incompatible",
        _BUILT.format("11.8", "8.6.0", "nccl") + _LOADED.format("8.2"),
    ),
    "part-of-torch-without-its-path": ("windows-runtime-dll-missing", _INIT.format("...\\shm.dll")),
    "part-of-torch-by-name": ("windows-runtime-dll-missing", _INIT.format("torch_python.dll")),
    "dialog-in-german": (
        "cuda-runtime-library-missing",
        "Die Ausführung des Codes kann nicht fortgesetzt werden, da cublas64_11.dll nicht gefunden wurde.\n",
    ),
    "dialog-in-russian": (
        "cuda-runtime-library-missing",
        "Не удается продолжить выполнение кода, поскольку система не обнаружила cudart64_12.dll.\n",
    ),
    "dialog-in-spanish": ("windows-runtime-dll-missing", "porque no se encontró VCRUNTIME140_1.dll.\n"),
    "dialog-in-japanese": (
        "windows-runtime-dll-missing",
        "MSVCP140.dll が見つからないため、コードの実行を続行できません。\n",
    ),
    "event-in-another-tongue": (
        "windows-paging-file-too-small",
        "Fournisseur: Microsoft-Windows-Resource-Exhaustion-Detector\nID: 2004\n",
    ),
    "all-is-promised": ("windows-paging-file-too-small", _ROOM.format("212") + _WORKER_GONE),
    "page-file-by-wmic": (
        "windows-paging-file-too-small",
        "AllocatedBaseSize=2048\nCurrentUsage=2040\nPeakUsage=2048\n" + _WORKER_GONE,
    ),
    "cut-comparison": (
        "nvcc-differs-from-torch-cuda",
        "      The detected CUDA version (11.8) mismatches the version that was used to compile\n",
    ),
    "word-of-a-newer-toolkit": ("nvcc-differs-from-torch-cuda", _WORD_OF_NEWER.format("11.4", "11.4.48")),
    "conda-of-two-majors": ("pip-cuda-mix", _CONDA_LIST.format("11.8.0") + _SYMBOL_OF_OTHER),
    "lock-of-two-majors": (
        "pip-cuda-mix",
        '[[package]]\nname = "nvidia-cublas-cu11"\nversion = "11.10.3.66"\n[[package]]\nname = "nvidia-cublas-cu12"\nversion = "12.1.3.1"\n'
        + _SYMBOL_OF_OTHER,
    ),
    "uv-names-another-release": (
        "pip-cuda-mix",
        "The package `torch` requires `nvidia-nvjitlink-cu12==12.4.127 ; platform_system == 'Linux'`, but `12.1.105` is installed\nImportError: libcusparse.so.12: undefined symbol: __nvJitLinkComplete_12_4, version libnvJitLink.so.12\n",
    ),
    "event-in-russian": (
        "windows-paging-file-too-small",
        "03.05.2025 21:14:22  2004 Предупреждение   Windows успешно диагностировала нехватку виртуальной памяти.\n",
    ),
    "dll-of-another-number-in-a-folder": (
        "intel-oneapi-version-mismatch",
        "sycl8.dll was not found\nD:\\llm\\env\\Library\\bin\\sycl7.dll\n",
    ),
    "part-of-mkl-of-another-number": (
        "intel-oneapi-version-mismatch",
        "needs mkl_sycl_blas.5.dll\nLibrary\\bin\\mkl_sycl_blas.4.dll\n",
    ),
}

SILENT = {
    "form-without-an-answer": (
        "cuda-runtime-library-missing",
        "### GPU model and memory\n\n_No response_\n\nCould not load dynamic library 'libcudart.so.11.0'; dlerror: libcudart.so.11.0: cannot open shared object file: No such file or directory\n",
    ),
    "wheel-served-from-a-wheel": (
        "library-clash-ld-library-path",
        _LOADS.format(
            needs="/v/lib/python3.12/site-packages/torch/lib/libtorch_cuda.so",
            folder="/v/lib/python3.12/site-packages/nvidia/cusparse/lib",
        ),
    ),
    "program-served-from-the-path": (
        "library-clash-ld-library-path",
        _LOADS.format(needs="/home/me/solver/solve", folder="/opt/cuda-12.4/lib64"),
    ),
    "one-minor-of-another-program": (
        "pip-cuda-mix",
        _PINS.format("nvidia-cublas-cu12==12.6.4.1", "nvidia-cublas-cu12 12.8.4.1"),
    ),
    "two-minors-and-works": (
        "pip-cuda-mix",
        _PINS.format("nvidia-cublas-cu12==12.6.4.1", "nvidia-cublas-cu12 12.8.4.1")
        + _PINS.format("nvidia-cudnn-cu12==9.5.1.17", "nvidia-cudnn-cu12 9.10.2.21")
        + ">>> torch.cuda.is_available()\nTrue\n",
    ),
    "oneapi-script-not-there-and-not-needed": (
        "intel-oneapi-runtime-missing",
        "./webui.sh: line 92: /opt/intel/oneapi/setvars.sh: No such file or directory\n>>> torch.__version__, torch.xpu.is_available()\n('2.6.0+xpu', True)\n",
    ),
    "oneapi-environment-is-loaded": (
        "intel-oneapi-runtime-missing",
        ":: oneAPI environment initialized ::\n$ sycl-ls\n[ext_oneapi_level_zero:gpu:0] Intel(R) Level-Zero, Intel(R) Arc(TM) A770 Graphics 1.3 [1.3.29377]\n",
    ),
    "one-of-onnxruntime": ("pip-cuda-mix", _PROVIDERS + "$ pip list | grep onnx\n" + _PLAIN),
    "julia-that-works": ("library-clash-ld-library-path", _SYSTEMS + "julia> sum(x)\n3.0\n"),
    "newer-cudnn": ("cudnn-version-incompatible", _CUDNN_OF_FRAMEWORK.format("8.9.2")),
    "cupy-does-without-it": ("cuda-runtime-library-missing", _CUPY_OF_LIBRARY.format("nccl")),
    "tensorflow-and-its-toolkit": ("cuda-runtime-library-missing", _TF_FORM.format("2.3.1", "10.1")),
    "tensorflow-and-a-minor-of-eleven": ("cuda-runtime-library-missing", _TF_FORM.format("2.5.0", "11.6")),
    "rig-on-linux": (
        "windows-paging-file-too-small",
        "OS: Ubuntu 22.04\nNumber of Cuda supported GPUs: 5\n" + _LOLMINER,
    ),
    "one-card-listed": ("windows-paging-file-too-small", _WINDOWS + "GPU 0: NVIDIA P106-100\n" + _MINER),
    "much-on-windows": ("windows-paging-file-too-small", _WINDOWS + _RUST.format(68719476736)),
    "another-patch": (
        "pip-cuda-mix",
        "torch 2.6.0 requires nvidia-cublas-cu12==12.4.5.8, but you have nvidia-cublas-cu12 12.5.3.2 which is incompatible.\n",
    ),
    "foreign-and-serves": ("library-clash-ld-library-path", _FOREIGN + _SERVES),
    "died-alone": ("library-clash-ld-library-path", _DIED.format("0xc0000139")),
    "runtime-of-its-own": (
        "library-clash-ld-library-path",
        _RUNTIME_OF_SERVED.format("Users\\\\ada\\\\Programs\\\\Ollama", "cudart64_110.dll"),
    ),
    "physx-among-those-found": (
        "library-clash-ld-library-path",
        'msg="discovered GPU libraries" paths="[C:\\\\Program Files (x86)\\\\NVIDIA Corporation\\\\PhysX\\\\Common\\\\cudart64_65.dll]"\n'
        + _ON_CUDA,
    ),
    "options-for-the-runtime": (
        "cuda-runtime-library-missing",
        _BNB.format("{PosixPath('/usr/local/cuda/lib64/libcudart.so')}"),
    ),
    "no-options-on-windows": ("cuda-runtime-library-missing", _UNIX + _BNB.format("set()")),
    "ollama-looks-for-hip-too": ("windows-runtime-dll-missing", _NO_HIP + _ON_CUDA),
    "another-library": ("intel-oneapi-runtime-missing", _WHERE.format("msvcp140.dll")),
    "one-cudnn": (
        "cudnn-version-incompatible",
        "$ grep CUDNN_MAJOR -A1 /usr/include/cudnn_version.h\n#define CUDNN_MAJOR 7\n$ ldd ./net | grep cudnn\n\tlibcudnn.so.7 => /usr/local/cuda/lib64/libcudnn.so.7\n",
    ),
    "no-module-and-cublas": (
        "library-clash-ld-library-path",
        _VALUE.format("openmpi/4.1", "CUBLAS_STATUS_INVALID_VALUE"),
    ),
    "another-refusal-of-cublas": (
        "library-clash-ld-library-path",
        _VALUE.format("cuda/11.4", "CUBLAS_STATUS_ALLOC_FAILED"),
    ),
    "library-of-the-wheel": (
        "library-clash-ld-library-path",
        _DEBUG.format("/v/lib/python3.11/site-packages/nvidia/cudnn/lib"),
    ),
    "paddle-newer-cudnn": ("cudnn-version-incompatible", _PADDLE.format("8.1.1")),
    "deepspeed-same-major": ("nvcc-differs-from-torch-cuda", _SPEED.format("11.5")),
    "hashcat-goes-on": (
        "cuda-runtime-library-missing",
        "* Device #1: CUDA SDK Toolkit not installed or incorrectly installed.\n             Falling back to OpenCL runtime.\nStatus...........: Cracked\n",
    ),
    "hashcat-has-it": (
        "cuda-runtime-library-missing",
        "* Device #1: CUDA SDK Toolkit not installed or incorrectly installed.\n$ ldconfig -p | grep -c libnvrtc\n2\n",
    ),
    "the-runtime-itself": ("cuda-runtime-library-missing", _LOADER.format("libcudart.so.11.0")),
    "behind-the-runtime-and-no-device": ("cuda-runtime-library-missing", _NO_DEVICE + _LOADER.format("libcudnn.so.8")),
    "library-that-cmake-misses": ("cuda-runtime-library-missing", "-- The cuFFT library was not found.\n"),
    "cupy-without-what-it-can-spare": (
        "cuda-runtime-library-missing",
        _CUPY_OF_SYSTEM.format("  ", "cuTENSOR", "cublas64_12", "C:\\cuda\\bin\\cublas64_12.dll"),
    ),
    "xpu-in-a-plain-environment": ("library-clash-ld-library-path", _ARC + _XPU.format("/home/ada/v")),
    "xpu-in-a-conda-and-no-card": ("library-clash-ld-library-path", _XPU.format("/home/ada/miniforge3/envs/x")),
    "advice-of-a-person": ("cuda-runtime-library-missing", "You should copy cudnn into the CUDA directory yourself.\n"),
    "newer-cudnn-of-build": (
        "cudnn-version-incompatible",
        _BUILT.format("11.8", "8.6.0", "xpu") + _LOADED.format("8.9"),
    ),
    "same-cudnn": ("cudnn-version-incompatible", _BUILT.format("12.3", "9.0.0", "nccl") + _LOADED.format("9.0")),
    "part-of-another-program": ("windows-runtime-dll-missing", _INIT.format("...\\QtCore4.dll")),
    "part-of-a-game": ("windows-runtime-dll-missing", _INIT.format("D:\\games\\engine.dll")),
    "dialog-of-a-game": (
        "cuda-runtime-library-missing",
        "Die Ausführung des Codes kann nicht fortgesetzt werden, da steam_api64.dll nicht gefunden wurde.\n",
    ),
    "event-of-another-number": (
        "windows-paging-file-too-small",
        "Provider: Microsoft-Windows-Resource-Exhaustion-Detector\nId: 1003\n",
    ),
    "much-is-left-to-promise": ("windows-paging-file-too-small", _ROOM.format("9,212") + _WORKER_GONE),
    "almost-all-is-promised-and-all-is-well": ("windows-paging-file-too-small", _ROOM.format("212")),
    "word-of-a-newer-toolkit-that-it-has": ("nvcc-differs-from-torch-cuda", _WORD_OF_NEWER.format("12.4", "12.4.99")),
    "conda-of-one-major": ("pip-cuda-mix", _CONDA_LIST.format("12.0.0") + _SYMBOL_OF_OTHER),
    "uv-names-another-package": (
        "pip-cuda-mix",
        "The package `torch` requires `sympy==1.13.1`, but `1.12` is installed\n",
    ),
    "dll-of-the-same-number": (
        "intel-oneapi-version-mismatch",
        "sycl8.dll was not found\nD:\\llm\\env\\Library\\bin\\sycl8.dll\n",
    ),
    "dll-of-another-base": (
        "intel-oneapi-version-mismatch",
        "sycl8.dll was not found\nD:\\llm\\env\\Library\\bin\\mkl_sycl_blas.5.dll\n",
    ),
}
