"""Frameworks, and what they were built for: each rule where it speaks, and beside it where it has to be silent."""

_IMAGE = "HIP error: no kernel image is available for execution on the device\n"
_NONE_OF_ISA = '"hipErrorNoBinaryForGpu: Unable to find code object for all current devices!"\n'
_FUNCTION_OF_ISA = "RuntimeError: HIP error: invalid device function\n"
_XLA_OF_ISA = "jaxlib.xla_extension.XlaRuntimeError: INTERNAL: no supported devices found for platform {}{}\n"
_LISTED = "The supported AMDGPU versions are {}.\n"
_TRITON = "loc(\"/srv/app/attention/ops/prefix_prefill.py\":{}:0): error: unsupported target: '{}'\n"
_TORCH_OF_ISA = ">>> import torch\n>>> torch.zeros(3, device='cuda')\n"
_POOL = ". This may be due to JAX pre-allocating too much device memory, leaving too little for CUDA library initialization."
_UNHEARD = "clang++: error: invalid target ID 'gfx1200'; format is a processor name followed by an optional colon-delimited list\n"
_SOURCE = (
    "HIP error: hipErrorNoBinaryForGpu (209): no kernel image is available for execution on the device in {}:114\n"
)
_BUNDLE = ":1:hip_fatbin.cpp :265 : 77 us: [pid:8812  tid:0x7f2c0] Cannot find CO in the bundle {} for ISA: amdgcn-amd-amdhsa--gfx1150\n"
_KEPT = "C:\\app>pip install torch torchvision\nRequirement already satisfied: torch in c:\\py\\lib\\site-packages ({})\nRequirement already satisfied: torchvision in c:\\py\\lib\\site-packages ({})\n"
_NO_GPU = "RuntimeError: No CUDA GPUs are available\n"
_JAX = (
    "An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed. Falling back to cpu.\n"
)
_CARD_OF_FRAMEWORK = "GPU 0: NVIDIA GeForce {} (UUID: GPU-0c1e2f00)\n"
_SHOWN = _CARD_OF_FRAMEWORK.format("RTX 3060")
_PADDLE = "ValueError: The device should not be 'gpu', since PaddlePaddle is not compiled with CUDA\n"
_PROVIDERS = ">>> onnxruntime.get_available_providers()\n['AzureExecutionProvider', 'CPUExecutionProvider']\n"
_LIGHTGBM = "lightgbm.basic.LightGBMError: CUDA Tree Learner was not enabled in this build.\n"
_PRODUCT = "RuntimeError: cuBLAS failed with status CUBLAS_STATUS_NOT_SUPPORTED\n"
_NVVM = "libNVVM Error: -arch=compute_{} is an unsupported option\n"
_PLAIN, _GPU = "onnxruntime        1.19.2\n", "onnxruntime-gpu    1.19.2\n"
_WANTS = (
    "encoder h264_nvenc: unavailable\nMinimum required Nvidia driver is 570.0 or newer\nNvidia driver version: {}\n"
)
_LINUX = "CentOS Linux 7 (Core)"
_REPORT_OF_PLATFORM = "PyTorch version: {}\nIs debug build: False\nCUDA used to build PyTorch: {}\n\nOS: {}\n\nPython version: 3.8\nIs CUDA available: {}\nCUDA runtime version: {}\n"
_DRIVER = "Nvidia driver version: {}\n"
_NO_NCCL = "RuntimeError: Distributed package doesn't have NCCL built in\n"
_CARD_OF_REPORT = "GPU 0: NVIDIA GeForce RTX 3060 (UUID: GPU-0f3a1b2c-1111-2222-3333-444455556666)\n"
_SHARED = "CUDA error: shared object initialization failed\n"
_GGML_OF_ROCM = "  current device: 0, in function ggml_cuda_op_mul_mat at /tmp/pip-req-build/vendor/llama.cpp/ggml-cuda.cu:9663\n  hipGetLastError()\n"
_ISA = ":0:rocdevice.cpp            :2614: 99 us: HSA_STATUS_ERROR_INVALID_ISA: The instruction set architecture is invalid. code: 0x100f\n"
_IGNORED = "Ignoring visible gpu device (device: 0, name: {0}, pci bus id: 0000:01:00.0) with AMDGPU ISA {1}. The minimum required AMDGPU ISA is gfx803.\n"
_BARE = "RuntimeError: GPU with CUDA capability 7 0 is not supported\n"
_XPU_WEIGHTS = "RuntimeError: Attempting to deserialize object on a xpu device but torch.xpu.is_available() is False.\n"
_TORCH_OF_SERVER = ">>> torch.__version__\n'{}'\n"
_AMD = "  Device 0: AMD Radeon RX 9060 XT, gfx1200 (0x1200), VMM: no, Wave Size: 32\n"
_ROCM = "ROCm error: {}\n  current device: 0, in function ggml_cuda_compute_forward at ggml-cuda.cu:2407\n"
_FLASH = "WARN text_generation_launcher: Could not import Flash Attention enabled models: GPU with CUDA capability 7 0 is not supported\n"
_TOO_OLD = 'level=INFO source=gpu.go:214 msg="[0] CUDA GPU is too old. Compute Capability detected: {}"\n'
_FIRST = '  File "/opt/v/lib/python3.12/site-packages/vllm/v1/worker/gpu_worker.py", line 71, in init_device\n    probe = torch.ones(1, device=self.device)\n            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\nRuntimeError: CUDA error: no kernel image is available for execution on the device\n'
_LEMONADE = "$ lemonade backends install {0}:rocm\nError: Cannot install {0}:rocm on this system: {1}\n"
_BNB = "Error no kernel image is available for execution on the device at line 90 in file /src/csrc/ops.cu\n"
_ASKED = ">>> print(torch.__version__, torch.cuda.get_device_capability(0), torch.cuda.get_arch_list()[-1])\n"
_LIST_OF_BESIDE = ">>> torch.cuda.get_arch_list()\n['sm_50', 'sm_60', 'sm_70', 'sm_80', 'sm_86']\n"
_OBJ = "{}       hipv4-amdgcn-amd-amdhsa--{}  file:///home/ada/nbody#offset=8192&size=6632\n"
_MINE = "./nbody\nHIP error hipErrorNoBinaryForGpu at nbody.cpp:31\n"
_CHIP = "$ rocm_agent_enumerator\n{}\n"
_ROC = "$ roc-obj-ls {}\n1       host-x86_64-unknown-linux--      file://{}#offset=8192&size=0\n"
_TF = "tensorflow/core/common_runtime/gpu/gpu_device.cc:1843] Ignoring visible gpu device (device: 0, name: Raven, pci bus id: 0000:04:00.0) with AMDGPU ISA : gfx902. The supported AMDGPU ISAs are gfx803, gfx900, gfx906.\n"
_CPU = ">>> print(torch.__config__.show())\nPyTorch built with:\n  - Build settings: BLAS_INFO=mkl, BUILD_TYPE=Release, TORCH_VERSION=2.3.1, USE_CUDA={}, USE_CUDNN={}\n"
_EXTRA = "{}> pip install tensorflow[and-cuda]\nWARNING: tensorflow {} does not provide the extra 'and-cuda'\n"
_HIP = "RuntimeError: HIP error: invalid device function\nfused_ext.cpython-311-x86_64-linux-gnu.so: HIP fatbin targets {}\n>>> torch.cuda.get_device_properties(0).gcnArchName\n'gfx1030'\n"
_RUST = '{}HipError {{ code: 209, name: "hipErrorNoBinaryForGpu" }}\n'
_R = '> tf$config$list_physical_devices("GPU")\nlist()\n> tf_config()\nTensorFlow v{} (C:/v/lib/site-packages/tensorflow)\n> Sys.info()["sysname"]\n  sysname \n"{}" \n> system("nvidia-smi -L")\nGPU 0: NVIDIA GeForce GTX 1660 (UUID: GPU-11111111-2222-3333-4444-555555555555)\n'
_TABLE_OF_THERE = "torch 2.2.0+cu121\nNVIDIA-SMI {0}       Driver Version: {0}       CUDA Version: {1}\n|   0  GeForce GTX 1660   WDDM  | 00000000:01:00.0  On |\n>>> torch.cuda.is_available()\nFalse\n"
_JIT = "TensorFlow was not built with CUDA kernel binaries compatible with compute capability {}. CUDA kernels will be jit-compiled from PTX, which could take 30 minutes or longer.\n"
_HANDLE = "tensorflow.python.framework.errors_impl.InternalError: CUDA_ERROR_INVALID_HANDLE: invalid resource handle\n"
_XLA_OF_SYSTEM = "{}: {}: no kernel image is available for execution on the device\n"
_CARD_OF_SYSTEM = "GPU 0: NVIDIA {} (UUID: GPU-0c1e2f00)\n"
_TF_ON_WINDOWS = (
    ">>> import sys; sys.platform\n'{}'\n>>> tf.__version__\n'2.18.0'\n>>> tf.test.is_built_with_cuda()\nFalse\n"
)
_NO_LIBRARIES = "{} I external/local_tsl/tsl/cuda/cudart_stub.cc:31] Could not find cuda drivers on your machine, GPU will not be used.\n"
_STEP = (
    "".join(_NO_LIBRARIES.format(f"2025-03-02 10:11:1{at}.4{at}0112:") for at in range(5))
    + "I0302 10:11:20.1 make_examples.py:612] Found 3120 candidate variants\n"
)
_AWQ = (
    "RuntimeError: GPU is required to run AWQ quantized model. You can use IPEX version AWQ if you have an Intel CPU\n"
)
_PROMPT = "PS C:\\Users\\ada\\llm> python run.py\n"
_CARD_OF_TORCH = "GPU 0: NVIDIA GeForce RTX 3060 (UUID: GPU-0c1e2f00)\n"
_NONE_OF_TORCH = "RuntimeError: None of the available devices `available_devices = None` are supported by the bitsandbytes version you have installed\n"
_VOICE = "AssertionError: CPU training is not allowed.\n"
_XFORMERS = "`cutlassF` is not supported because:\n    device=cpu (supported: {'cuda'})\n"
_DUMMY = "RuntimeError: Tried to instantiate dummy base class Event\n"
_STREAM = "RuntimeError: torch.cuda.Stream requires CUDA support\n"
_HOOK = "RuntimeError: Cannot initialize CUDA without ATen_cuda library. PyTorch splits its backend into two shared libraries\n"
_EMPTY = "NotImplementedError: Could not run 'aten::empty.memory_format' with arguments from the 'CUDA' backend.\n"
_DOCKER_OF_TORCH = "$ docker run -it --rm -v $PWD:/w pytorch/pytorch:2.4.0-cuda12.1-cudnn9-runtime python /w/load.py\n"
_MAC = "macOS 14.5 (Apple M2)\n"
_XPU = ">>> torch.xpu.is_available()\nTrue\n"
_REFUSED = "RuntimeError: Triton Error [CUDA]: device kernel image is invalid\n"
_PTXAS = "('/opt/v/lib/python3.10/site-packages/triton/backends/nvidia/bin/ptxas', '12.4')\n"
_TABLE_OF_TRACE = "| NVIDIA-SMI {0}    Driver Version: {0}    CUDA Version: {1}     |\n"
_SELECT = "# Name                    Version                   Build  Channel\n_pytorch_select           0.{}                       {}  \n"
_NONE_FOUND = "MisconfigurationException: You requested GPUs: [1]\n But your machine only has: []\n"
_BACKEND = "lightning.fabric.utilities.exceptions.MisconfigurationException: No supported gpu backend found!\n"
_WITH_CUDA = "pytorch                   1.7.1           py3.8_cuda11.0.221_cudnn8.0.5_0    pytorch\n"
_DOCKER_OF_TRACE = "$ docker run --rm -it my/image python run.py\n"
_FUNCTION_OF_WHEEL = "Name: MapPlanKernel ErrStr:invalid device function\n"
_GGML_OF_WHEEL = "ggml-cuda/common.cuh:112: ggml was not compiled with any CUDA arch <= 1200\n"
_PTX = "CUDA error #218 (cudaErrorInvalidPtx): a PTX JIT compilation failed.\n"
_HASHCAT = "* Device #1: This hardware has outdated CUDA compute capability (3.5).\n"
_CUDNN = "cupy.cuda.cudnn.CuDNNError: CUDNN_STATUS_ARCH_MISMATCH: CUDNN_STATUS_ARCH_MISMATCH\n"
_NVRTC = "nvrtc: error: invalid value for --gpu-architecture (-arch)\n"
_MAPPED = "Device mapping: no known devices.\n"
_QUERY = "deviceQuery, CUDA Driver = CUDART, CUDA Driver Version = 10.2, CUDA Runtime Version = 10.1, NumDevs = 1\n"
_ADVICE = "I tensorflow/core/platform/cpu_feature_guard.cc:141] Your CPU supports instructions that this TensorFlow binary was not compiled to use: AVX2 FMA\n"
_DEVICE = "I tensorflow/core/common_runtime/gpu/gpu_device.cc:1304] Created TensorFlow device (/device:GPU:0)\n"
_REPORT_OF_BUILD = (
    "detectron2              0.6 @/opt/det/detectron2\n"
    "detectron2 arch flags   {}\n"
    "PyTorch                 1.10.1 @/opt/det/lib/python3.8/site-packages/torch\n"
    "GPU {}                   {} (arch={})\n"
)
_CARD_OF_BUILD = ">>> torch.cuda.get_device_capability()\n({})\n"
_LIST_OF_BUILD = "$ export TORCH_CUDA_ARCH_LIST={}\n$ python setup.py {}\n"
_NO_IMAGE = "RuntimeError: CUDA error: no kernel image is available for execution on the device\n"
_OWN = ">>> torch.ones(4).cuda() * 2\n" + _NO_IMAGE
_COMMENT = "print(torch.cuda.get_device_capability(0))\n# ({})\n"
_OF_ANOTHER = ">>> splat.rasterise(points, view)\n" + _NO_IMAGE
_DISPATCHED = (
    '  File "/opt/v/lib/python3.11/site-packages/{}", line 88, in forward\n    out = torch.ops.{}.run(x)\n'
    '  File "/opt/v/lib/python3.11/site-packages/torch/_ops.py", line 1061, in __call__\n'
    "    return self_._op(*args, **(kwargs or {{}}))\n"
) + _NO_IMAGE
_PACKAGES = "    - torch {0} \n    - torchvision {1} \n"
_LAUNCHER = "NVIDIA Management Library:\n  NVIDIA Driver Version: 576.02\n\nCUDA Driver:\n  Devices: \n    00000000:{}:00.0 0: NVIDIA GeForce RTX {} [{}] 12 GB\n"
_WEIGHED = (
    '  File "{0}detect.py", line 52, in run\n    device = select_device(device)\n{1}'
    '  File "{0}utils{2}torch_utils.py", line 60, in select_device\n'
)
_HEAD = "YOLOv5 v7.0-0-g915bbf2 Python-3.10.8 torch-{} {}\n"
_FAISS = "AttributeError: module 'faiss' has no attribute 'StandardGpuResources'\n"
_DLIB = ">>> dlib.DLIB_USE_CUDA\n{}\n"
_LLAMA = "warning: llama.cpp was compiled without support for GPU offload. Setting the main GPU has no effect.\n"

_LIBTORCH = "$ wget https://download.pytorch.org/libtorch/{}/libtorch-shared-with-deps-2.3.0.zip\n$ ./detect net.pt\n{}\n$ nvidia-smi -L\nGPU 0: NVIDIA GeForce RTX 3060 (UUID: GPU-0c1e2f00)\n"
_ADAPTERS = 'PS C:\\> gcim Win32_VideoController | ft Name, DriverVersion\n\nName                       DriverVersion\n----                       -------------\nNVIDIA GeForce GTX 1650    {}\n\nPS C:\\> python -c "import torch; print(torch.__version__); print(torch.cuda.is_available())"\n2.3.1+cu121\n{}\n'
_OF_WMIC = "C:\\>wmic path win32_VideoController get name,driverversion\nDriverVersion    Name\n27.21.14.5671    NVIDIA GeForce GTX 1650\nC:\\>pip list | findstr torch\ntorch    {}\n"
_EXTRA_OF_LINUX = '{}ERROR: Could not find a version that satisfies the requirement nvidia-cudnn-cu12==9.1.0.70; extra == "and-cuda" (from tensorflow[and-cuda]) (from versions: 0.0.1.dev5)\n'
_ELF = "$ cuobjdump --list-elf lib/libtorch_cuda.so | cut -d. -f3 | sort -u\nsm_70\nsm_80\nsm_90\n$ nvidia-smi --query-gpu=name,compute_cap --format=csv,noheader\n{}\nRuntimeError: CUDA error: no kernel image is available for execution on the device\n"
_TF_OF_THEN = "$ pip freeze\ntensorflow=={}\n$ nvidia-smi -L\nGPU 0: Tesla V100-SXM2-16GB (UUID: GPU-0c1e2f00)\n"
_INSTALLED = "$ dpkg -l | grep nvidia-driver\nii  nvidia-driver-{0}  {0}.256.02-0ubuntu1  amd64  NVIDIA driver metapackage\n$ pip freeze\nnvidia-cuda-runtime-cu12==12.4.127\ntorch==2.5.1\n"
_UV_INDEX = '$ cat pyproject.toml\n[[tool.uv.index]]\nname = "torch"\nurl = "https://download.pytorch.org/whl/{}"\nexplicit = true\n$ uv run python -c "import torch; print(torch.cuda.is_available())"\n{}\n$ nvidia-smi -L\nGPU 0: NVIDIA L4 (UUID: GPU-0c1e2f00)\n'
_RECIPE = "ENV PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/{}\n$ docker run --gpus all web python -c 'import torch; print(torch.cuda.device_count())'\n{}\n$ nvidia-smi -L\nGPU 0: NVIDIA L4 (UUID: GPU-0c1e2f00)\n"
_SERVING = "FROM tensorflow/serving:2.14.1{}\n$ docker run --gpus all -p 8501:8501 serve\n"
_OF_R = '> tf_gpu_configured()\nTensorFlow built with CUDA:  {}\n> system("nvidia-smi -L")\nGPU 0: NVIDIA RTX A4000 (UUID: GPU-0c1e2f00)\n'
_R_TORCH = '> torch::cuda_is_available()\n[1] {}\n> list.files(lib)\n[1] "c10.dll" "torch_cpu.dll" "uv.dll"\n> system("nvidia-smi -L")\nGPU 0: NVIDIA RTX A4000 (UUID: GPU-0c1e2f00)\n'
_PLACER = "Operation was explicitly assigned to /device:GPU:{} but available devices are [ /job:localhost/replica:0/task:0/device:CPU:0{} ]. Make sure the device specification refers to a valid device.\n$ pip freeze\ntensorflow==1.12.0\n$ nvidia-smi -L\nGPU 0: Tesla K80 (UUID: GPU-0c1e2f00)\n"
_ONLY_INTEL = '$ pip list | grep torch\ntorch           2.5.1+cpu\ntorchvision     0.20.1+cpu\n$ lspci | grep -i vga\n00:02.0 VGA compatible controller: Intel Corporation UHD Graphics 630 (rev 02)\n$ python -c "import torch; print(torch.cuda.is_available())"\nFalse\n'

_LDD = "$ ldd torch/lib/libtorch.so\n\tlibtorch_cpu.so => /v/libtorch_cpu.so (0x0f1)\n{}\tlibc10.so => /v/libc10.so (0x0f2)\n$ nvidia-smi -L\nGPU 0: NVIDIA L4 (UUID: GPU-0c1e2f00)\n"
_MODULE_OF = "$ cat /sys/module/nvidia/version\n{}\n$ conda list | grep pytorch\npytorch  2.5.1  cuda126_py312h1763f6d_306  conda-forge\n"
_LOADED = "kernel: NVRM: loading NVIDIA UNIX x86_64 Kernel Module  {}  Wed Jul 20 14:00:58 UTC 2022\n$ pip freeze\ntorch==2.5.1\nnvidia-cuda-runtime-cu12==12.4.127\n"
_IMAGE_OF_TORCH = "$ cat /proc/driver/nvidia/version\nNVRM version: NVIDIA UNIX x86_64 Kernel Module  {}  Fri Aug 16 21:39:15 UTC 2024\n$ cat Dockerfile\nFROM pytorch/pytorch:2.9.0-cuda13.0-cudnn9-runtime\n$ docker run --gpus all app python -c 'import torch; print(torch.cuda.is_available())'\n{}\n"
_FRAME_OF_VISION = '  File "/v/lib/python3.12/site-packages/torchvision/__init__.py", line 10, in <module>\n    from torchvision import _meta_registrations, datasets, io, models, ops, transforms, utils\n'


SPEAKS = {
    "llama-without-code-for-an-old-card": (
        "binary-arch-missing",
        "ggml_cuda_init: found 1 CUDA devices:\n  Device 0: Tesla K80, compute capability 3.7, VMM: no\nCUDA error: no kernel image is available for execution on the device\n",
    ),
    "torch-denies-cuda": (
        "cpu-only-torch",
        "PyTorch built with CUDA:         False\nDriver Version                            : 550.54.14\nAttached GPUs                             : 1\n",
    ),
    "torch-exchanged": (
        "torch-torchvision-mismatch",
        "  Successfully uninstalled torch-2.8.0\n>>> torch.__version__\n'2.6.0+cu124'\n" + _FRAME_OF_VISION,
    ),
    "torch-exchanged-by-uv": (
        "torch-torchvision-mismatch",
        " - torch==2.7.1\n>>> torch.__version__\n'2.6.0+cu124'\n" + _FRAME_OF_VISION,
    ),
    "targets-of-cmake": (
        "binary-arch-missing",
        'cmake -B build -DGGML_HIP=ON -DAMDGPU_TARGETS="gfx1030;gfx1100"\nGPU: RX 7600, gfx1102\n' + _IMAGE,
    ),
    "targets-of-hip": (
        "binary-arch-missing",
        "CMAKE_HIP_ARCHITECTURES=gfx906,gfx908\nDevice 0: AMD Instinct MI300X, gfx942\n" + _NONE_OF_ISA,
    ),
    "targets-with-features": (
        "binary-arch-missing",
        "GPU_TARGETS: gfx908:xnack-;gfx90a:xnack-\nGPU: AMD Radeon Pro W6800\n" + _FUNCTION_OF_ISA,
    ),
    "xla-alone": ("binary-arch-missing", _XLA_OF_ISA.format("ROCM", "")),
    "xla-of-elixir": (
        "binary-arch-missing",
        "GPU: RX 9070 XT\n** (RuntimeError) no supported devices found for platform ROCM\n    (exla 0.9.1) lib/exla/client.ex:196: EXLA.Client.unwrap!/1\n",
    ),
    "list-without-the-card": (
        "binary-arch-missing",
        "GPU: AMD Radeon RX 6600\n" + _LISTED.format("gfx900, gfx906, gfx908, gfx90a, gfx1030"),
    ),
    "list-with-glued-names": (
        "binary-arch-missing",
        "GPU: RX 7900 XTX\n" + _LISTED.format("gfx1030gfx1100, gfx900, gfx906"),
    ),
    "triton-of-polaris": ("binary-arch-missing", _TRITON.format(36, "gfx803")),
    "triton-of-navi": ("binary-arch-missing", _TRITON.format(812, "gfx1010")),
    "runtime-of-models-logs": (
        "binary-arch-missing",
        "2023-02-11 10:02:07.118 [E:onnxruntime:Default, provider_bridge.cc:1] failed\n" + _NONE_OF_ISA,
    ),
    "runtime-of-models-by-version": (
        "binary-arch-missing",
        "ONNX Runtime version: 1.14.1\nGPU: RX 6700 XT\n" + _FUNCTION_OF_ISA,
    ),
    "kobold": ("binary-arch-missing", "KoboldCpp 1.57, ROCm fork\nRX 6500 XT\n" + _NONE_OF_ISA),
    "lm-studio": ("binary-arch-missing", "LM Studio 0.3.9, ROCm runtime\n" + _IMAGE),
    "unheard-of": ("binary-arch-missing", _UNHEARD),
    "own-source": ("binary-arch-missing", _SOURCE.format("/src/raytrace/kernels.hip")),
    "bundle": ("binary-arch-missing", _BUNDLE.format("/srv/app/build/bin/libggml-hip.so")),
    "tensorflow-asked": (
        "tensorflow-windows-no-gpu",
        ">>> print(tf.__version__, tf.test.is_built_with_cuda(), tf.config.list_physical_devices('GPU'))\n2.18.0 False []\nC:\\work>\n",
    ),
    "tensorflow-of-windows": (
        "tensorflow-windows-no-gpu",
        "tensorflow-intel==2.16.1\n>>> tf.config.list_physical_devices('GPU')\n[]\nNVIDIA GeForce RTX 4090\n",
    ),
    "plain-torch-beside-cuda": ("cpu-only-torch", _KEPT.format("2.1.0", "0.16.0+cu118") + _NO_GPU),
    "paddle-before-the-card": (
        "gpu-arch-newer-than-wheel",
        "W0211 gpu_resources.cc:106] The GPU compute capability in your current machine is 120, which is not supported by Paddle, it is recommended to install the corresponding wheel package\n",
    ),
    "paddle-after-the-card": (
        "gpu-arch-older-than-wheel",
        "W0211 gpu_resources.cc:106] The GPU compute capability in your current machine is 52, which is not supported by Paddle, it is recommended to install the corresponding wheel package\n",
    ),
    "jax": ("cpu-only-torch", _JAX),
    "paddle": ("cpu-only-torch", _PADDLE + _SHOWN),
    "onnxruntime": ("cpu-only-torch", _PROVIDERS + _SHOWN),
    "lightgbm": ("binary-arch-missing", _LIGHTGBM + _SHOWN),
    "product": ("binary-arch-missing", _PRODUCT + _CARD_OF_FRAMEWORK.format("RTX 5080")),
    "nvvm-old": ("gpu-arch-newer-than-wheel", _NVVM.format(120)),
    "nvvm-new": ("gpu-arch-older-than-wheel", _NVVM.format(61)),
    "driver-before-the-first": ("driver-too-old-for-wheel", _WANTS.format("535.183.01")),
    "refused-for-its-driver": (
        "driver-too-old-for-wheel",
        "installation failed: this package requires NVIDIA driver 575.51 or newer.\n",
    ),
    "toolkit-of-older-drivers": (
        "driver-too-old-for-wheel",
        _REPORT_OF_PLATFORM.format("1.7.1", "10.2", _LINUX, "False", "9.2.148"),
    ),
    "toolkit-of-an-older-major-release": (
        "driver-too-old-for-wheel",
        _REPORT_OF_PLATFORM.format("2.1.0+cu121", "12.1", _LINUX, "False", "11.4.100"),
    ),
    "no-nccl": ("cpu-only-torch", ">>> torch.__version__\n'2.3.0+cpu'\n" + _NO_NCCL),
    "cuda-goes": (
        "cpu-only-torch",
        "      Successfully uninstalled torch-2.1.0+cu118\nSuccessfully installed torch-2.1.2+cpu torchvision-0.16.2+cpu\n",
    ),
    "cuda-goes-on-windows": (
        "cpu-only-torch",
        "    Uninstalling torch-2.2.1+cu121:\nSuccessfully installed torch-2.2.2\nC:\\work>python train.py\n",
    ),
    "accelerate": (
        "cpu-only-torch",
        "- PyTorch version (GPU?): 2.2.0+cpu (False)\n- `Accelerate` default config:\n\t- distributed_type: MULTI_GPU\n",
    ),
    "index-for-processors": (
        "cpu-only-torch",
        "--extra-index-url https://download.pytorch.org/whl/cpu\ntorch==2.4.0\n\n"
        + _CARD_OF_REPORT
        + "torch.cuda.is_available(): False\n",
    ),
    "jax-plugin": (
        "driver-too-old-for-wheel",
        "jax-cuda12-plugin==0.4.30\njaxlib==0.4.30\nDriver Version: 470.182.03   CUDA Version: 11.4\nNVIDIA-SMI 470.182.03\n",
    ),
    "warnings-first-line": (
        "gpu-arch-older-than-wheel",
        "Found GPU0 Tesla M40 which is of cuda capability 5.2.\ntorch 2.8.0+cu128\n",
    ),
    "capability-asked": (
        "gpu-arch-newer-than-wheel",
        "torch 2.5.1+cu124\ntorch.cuda.get_device_capability() (12, 0)\n",
    ),
    "shared-object-of-llama": (
        "binary-arch-missing",
        _SHARED + _GGML_OF_ROCM + 'GGML_ASSERT: /tmp/pip-req-build/vendor/llama.cpp/ggml-cuda.cu:258: !"CUDA error"\n',
    ),
    "isa-elsewhere": ("binary-arch-missing", _ISA),
    "hawaii": ("binary-arch-missing", _IGNORED.format("Device 67b1", "gfx701")),
    "carrizo": (
        "binary-arch-missing",
        "I tensorflow/core/common_runtime/gpu/gpu_device.cc:1605] "
        + _IGNORED.format("AMD FX-9800P Radeon R7", "gfx801"),
    ),
    "flash-alone": ("binary-arch-missing", _BARE),
    "weights": ("cpu-only-torch", _TORCH_OF_SERVER.format("2.6.0+cpu") + _XPU_WEIGHTS),
    "rocm-engine": (
        "binary-arch-missing",
        _AMD + _ROCM.format("no kernel image is available for execution on the device"),
    ),
    "old-card-of-itself": ("binary-arch-missing", _TOO_OLD.format("3.5")),
    "first-tensor": ("gpu-arch-newer-than-wheel", _FIRST),
    "first-tensor-without-carets": (
        "gpu-arch-newer-than-wheel",
        "    x = torch.randn(8, 8).cuda() + torch.zeros(8, 8, device='cuda')\nRuntimeError: CUDA error: no kernel image is available for execution on the device\n",
    ),
    "lemonade-without-the-chip": ("binary-arch-missing", _LEMONADE.format("sd-cpp", "Unsupported GPU: gfx906")),
    "lemonade-without-an-older-chip": ("binary-arch-missing", _LEMONADE.format("llamacpp", "Unsupported GPU: gfx1010")),
    "capability-in-a-row": ("gpu-arch-newer-than-wheel", _BNB + _ASKED + "2.3.1+cu121 (12, 0) sm_90\n"),
    "capability-in-a-tuple": (
        "gpu-arch-newer-than-wheel",
        ">>> torch.cuda.get_device_name(), torch.cuda.get_device_capability()\n('NVIDIA H100 PCIe', (9, 0))\n"
        + _LIST_OF_BESIDE,
    ),
    "binary-listed": (
        "binary-arch-missing",
        _MINE + _CHIP.format("gfx942") + _ROC.format("./nbody", "/home/ada/nbody") + _OBJ.format(1, "gfx908"),
    ),
    "binary-dumped": (
        "binary-arch-missing",
        _MINE
        + _CHIP.format("gfx1201")
        + "$ llvm-objdump --offloading ./nbody\n./nbody:\tfile format elf64-x86-64\nExtracting offload bundle: ./nbody.0.hipv4-amdgcn-amd-amdhsa--gfx1100\n",
    ),
    "compiled-for-another": (
        "binary-arch-missing",
        "$ hipcc --offload-arch=gfx90a nbody.cpp -o nbody && " + _MINE + _CHIP.format("gfx942"),
    ),
    "processors-chip-left-out": ("binary-arch-missing", _TF),
    "array-compiler-refused": (
        "binary-arch-missing",
        "jaxlib.xla_extension.XlaRuntimeError: INTERNAL: Failed to load HSACO: HIP_ERROR_NoBinaryForGpu\n",
    ),
    "build-without-cuda-and-cards": ("cpu-only-torch", _CPU.format("0", "OFF") + "$ nvidia-smi -L | wc -l\n8\n"),
    "build-without-cuda-and-one-card": (
        "cpu-only-torch",
        _CPU.format("0", "OFF") + "$ nvidia-smi --list-gpus | grep -c GPU\n1\n",
    ),
    "extra-on-windows": ("tensorflow-windows-no-gpu", _EXTRA.format("C:\\n", "2.16.1")),
    "targets": ("binary-arch-missing", _HIP.format("gfx90a gfx942")),
    "rust": ("binary-arch-missing", _RUST.format("called `Result::unwrap()` on an `Err` value: ")),
    "gromacs": (
        "binary-arch-missing",
        "$ gmx mdrun -s a.tpr\nHIP error #209 (hipErrorNoBinaryForGpu): no kernel image is available for execution on the device.\n",
    ),
    "no-such-target": (
        "binary-arch-missing",
        "triton.compiler.errors.CompilationError: at 9:12: unsupported target gfx906\n",
    ),
    "refused-chip": (
        "binary-arch-missing",
        "RuntimeError: Unsupported GPU arch: gfx1201, supported archs: gfx90a;gfx942\n",
    ),
    "skipped": (
        "gpu-arch-older-than-wheel",
        "Skipping visible gpu device: Tesla K80, compute capability 3.7; the minimum required is 5.2\n",
    ),
    "r-on-windows": ("tensorflow-windows-no-gpu", _R.format("2.16.1", "Windows")),
    "branch-of-windows": ("driver-too-old-for-wheel", _TABLE_OF_THERE.format("441.66", "10.2")),
    "handle-after-compiling": ("binary-arch-missing", _JIT.format("12.0") + _HANDLE),
    "handle-of-another-card": (
        "binary-arch-missing",
        _JIT.format("10.0") + "cuModuleGetFunction: CUDA_ERROR_INVALID_HANDLE\n",
    ),
    "xla-and-no-more": ("driver-too-old-for-wheel", _XLA_OF_SYSTEM.format("RuntimeError", "Unknown")),
    "xla-on-a-card-of-today": (
        "driver-too-old-for-wheel",
        _CARD_OF_SYSTEM.format("A100-PCIE-40GB")
        + _XLA_OF_SYSTEM.format("jaxlib.xla_extension.XlaRuntimeError", "INTERNAL"),
    ),
    "windows-by-its-name": (
        "tensorflow-windows-no-gpu",
        _TF_ON_WINDOWS.format("win32") + _CARD_OF_SYSTEM.format("GeForce RTX 4070"),
    ),
    "windows": ("cpu-only-torch", _PROMPT + _AWQ),
    "windows-with-a-card": ("cpu-only-torch", _PROMPT + _CARD_OF_TORCH + _NONE_OF_TORCH),
    "beside-a-card": ("cpu-only-torch", _CARD_OF_TORCH + _VOICE),
    "of-a-build-for-processors": ("cpu-only-torch", "torch: 2.1.2+cpu\n" + _XFORMERS),
    "dummy": ("cpu-only-torch", _DUMMY),
    "stream": ("cpu-only-torch", _STREAM),
    "hook": ("cpu-only-torch", _HOOK),
    "empty": ("cpu-only-torch", _EMPTY),
    "triton-alone": ("driver-too-old-for-wheel", _REFUSED),
    "triton-and-its-ptxas": (
        "driver-too-old-for-wheel",
        _TABLE_OF_TRACE.format("525.85.12", "12.0") + _PTXAS + _REFUSED,
    ),
    "selected-for-the-processor": ("cpu-only-torch", _SELECT.format(1, "cpu_0")),
    "selected-and-none-found": ("cpu-only-torch", _NONE_FOUND + _SELECT.format(1, "cpu_2")),
    "no-backend-beside-a-card": ("cpu-only-torch", _BACKEND + "- GPU: 4x RTX 3090\n"),
    "function-of-a-build-of-ones-own": ("binary-arch-missing", _FUNCTION_OF_WHEEL),
    "llama": ("binary-arch-missing", _GGML_OF_WHEEL + _CARD_OF_FRAMEWORK.format("RTX 5090")),
    "ptx": ("binary-arch-missing", _PTX + _CARD_OF_FRAMEWORK.format("RTX 5090")),
    "hashcat": ("gpu-arch-older-than-wheel", _HASHCAT + "nvrtcCompileProgram(): NVRTC_ERROR_INVALID_OPTION\n"),
    "cudnn": ("gpu-arch-older-than-wheel", _CUDNN + _CARD_OF_FRAMEWORK.format("GTX 680")),
    "nvrtc-old": ("gpu-arch-older-than-wheel", _NVRTC + _CARD_OF_FRAMEWORK.format("GTX 680")),
    "nvrtc-new": ("gpu-arch-newer-than-wheel", _NVRTC + _CARD_OF_FRAMEWORK.format("RTX 5090")),
    "sample-passes": ("tensorflow-cpu-build", _QUERY + _MAPPED),
    "toolkit": ("tensorflow-cpu-build", "Cuda compilation tools, release 10.1, V10.1.243\n" + _MAPPED),
    "trains": ("tensorflow-cpu-build", "CUDA_VISIBLE_DEVICES=0 python train.py\n" + _ADVICE + "Epoch 1/20\n"),
    "detectron2-for-a-newer-card": (
        "binary-arch-missing",
        _REPORT_OF_BUILD.format("8.6", "0", "Tesla P100-PCIE-16GB", "6.0"),
    ),
    "detectron2-for-newer-cards": (
        "binary-arch-missing",
        _REPORT_OF_BUILD.format("sm_80, sm_86", "0,1", "Quadro RTX 6000", "7.5"),
    ),
    "list-below-the-card": (
        "gpu-arch-newer-than-wheel",
        _LIST_OF_BUILD.format('"7.0 7.5"', "install") + _CARD_OF_BUILD.format("8, 6") + _OWN,
    ),
    "list-below-the-card-in-a-comment": (
        "gpu-arch-newer-than-wheel",
        _LIST_OF_BUILD.format("8.0", "develop") + _COMMENT.format("9, 0") + _OWN,
    ),
    "list-above-the-card": (
        "gpu-arch-older-than-wheel",
        _LIST_OF_BUILD.format('"8.0;8.6+PTX"', "install") + _CARD_OF_BUILD.format("7, 5") + _OWN,
    ),
    "list-of-an-extension": (
        "binary-arch-missing",
        _LIST_OF_BUILD.format("8.6", "bdist_wheel") + _CARD_OF_BUILD.format("8, 0") + _OF_ANOTHER,
    ),
    "kernel-of-a-dispatched-library": (
        "binary-arch-missing",
        _DISPATCHED.format("flash_attn/ops/norm.py", "flash_attn"),
    ),
    "kernel-of-another-dispatched-library": ("binary-arch-missing", _DISPATCHED.format("vllm/_custom_ops.py", "_C")),
    "launcher-and-an-older-torch": (
        "gpu-arch-newer-than-wheel",
        _LAUNCHER.format("0a", "5080", "120") + _PACKAGES.format("2.5.1+cu124", "0.20.1+cu124"),
    ),
    "launcher-and-a-torch-of-11": (
        "gpu-arch-newer-than-wheel",
        _LAUNCHER.format("C1", "5060", "120") + _PACKAGES.format("2.3.1+cu118", "0.18.1+cu118"),
    ),
    "weighed-by-a-build-for-the-processor": (
        "cpu-only-torch",
        _HEAD.format("2.1.2+cpu", "") + _WEIGHED.format("C:\\yolov5\\", "", "\\"),
    ),
    "weighed-under-a-newer-python": (
        "cpu-only-torch",
        _HEAD.format("2.4.0+cpu", "") + _WEIGHED.format("/srv/yolov5/", "             ^^^^^^^^^^^^^^^^^^^^^\n", "/"),
    ),
    "faiss-of-the-processor": ("binary-arch-missing", _FAISS + _CARD_OF_FRAMEWORK.format("RTX 3090")),
    "dlib-of-the-processor": ("binary-arch-missing", _DLIB.format("False") + _CARD_OF_FRAMEWORK.format("RTX 3090")),
    "llama-of-the-processor": ("binary-arch-missing", _LLAMA + _CARD_OF_FRAMEWORK.format("RTX 3090")),
    "too-old-by-its-number": ("driver-too-old-for-wheel", "main.cu:12: cudaGetDeviceCount failed with error 35\n"),
    "two-versions": (
        "driver-too-old-for-wheel",
        "RuntimeError: NVIDIA driver version 472.12.0 is below 580.x minimum for cu130\n",
    ),
    "libtorch-from-the-folder-cpu": ("cpu-only-torch", _LIBTORCH.format("cpu", "CUDA available: 0")),
    "libtorch-that-says-no": ("cpu-only-torch", _LIBTORCH.format("nightly/cpu", "torch::cuda::is_available() = 0")),
    "adapters-in-a-table": ("driver-too-old-for-wheel", _ADAPTERS.format("27.21.14.5671", "False")),
    "adapters-by-wmic": ("driver-too-old-for-wheel", _OF_WMIC.format("2.3.1+cu121")),
    "extra-of-linux-on-windows": (
        "tensorflow-windows-no-gpu",
        _EXTRA_OF_LINUX.format(
            "C:\\Users\\ada>pip install tensorflow[and-cuda]\n  Using cached tensorflow-2.18.0-cp311-cp311-win_amd64.whl (7.5 kB)\n"
        ),
    ),
    "code-in-torchs-library": (
        "gpu-arch-newer-than-wheel",
        _ELF.format("NVIDIA RTX PRO 6000 Blackwell Workstation Edition, 12.0"),
    ),
    "tensorflow-of-two-packages": ("tensorflow-cpu-build", _TF_OF_THEN.format("1.14.0")),
    "tensorflow-of-two-packages-once-more": ("tensorflow-cpu-build", _TF_OF_THEN.format("2.0.0")),
    "driver-by-its-package": ("driver-too-old-for-wheel", _INSTALLED.format("470")),
    "index-of-a-project": ("cpu-only-torch", _UV_INDEX.format("cpu", "False")),
    "index-of-a-recipe": ("cpu-only-torch", _RECIPE.format("cpu", "0")),
    "server-for-processors": ("tensorflow-cpu-build", _SERVING.format("")),
    "r-of-tensorflow": ("tensorflow-cpu-build", _OF_R.format("FALSE")),
    "r-of-torch": ("cpu-only-torch", _R_TORCH.format("FALSE")),
    "placer-has-the-processor": ("tensorflow-cpu-build", _PLACER.format(0, "")),
    "ptx-of-cycles": (
        "driver-too-old-for-wheel",
        "Failed to load CUDA kernel from '/opt/b/lib/kernel_compute_75.ptx' (Unsupported PTX version)\n",
    ),
    "outdated-for-hashcat": (
        "driver-too-old-for-wheel",
        "* Device #1: Outdated or broken NVIDIA CUDA driver '440.33.01' detected!\n",
    ),
    "ldd-of-torch": ("cpu-only-torch", _LDD.format("")),
    "module-before-the-build": ("driver-too-old-for-wheel", _MODULE_OF.format("450.119.04")),
    "module-of-the-log-before-the-build": ("driver-too-old-for-wheel", _LOADED.format("515.65.01")),
    "image-after-the-driver": ("driver-too-old-for-wheel", _IMAGE_OF_TORCH.format("560.35.03", "False")),
    "dump-of-an-illegal-instruction": (
        "cpu-instruction-set-missing",
        "           PID: 3321 (python3)\n        Signal: 4 (ILL)\n",
    ),
}

SILENT = {
    "old-card-and-no-llama": (
        "binary-arch-missing",
        "Tesla K40c, capability 3.5\nRuntimeError: CUDA error: no kernel image is available for execution on the device\n",
    ),
    "llama-is-no-wheel": (
        "gpu-arch-older-than-wheel",
        "ggml_cuda_init: found 1 CUDA devices:\n  Device 0: Tesla K80, compute capability 3.7, VMM: no\nCUDA error: no kernel image is available for execution on the device\n",
    ),
    "torch-denies-cuda-on-a-mac": (
        "cpu-only-torch",
        "macOS 14.4, Apple M2\nPyTorch built with CUDA: False\nMPS available: True\n",
    ),
    "cpu-build-of-conda-where-the-bus-has-no-card": (
        "cpu-only-torch",
        "pytorch    2.3.0    cpu_generic_py311h1584fb3_1    conda-forge\n$ lspci | grep -iE 'nvidia|amd/ati'\n$ python prepare.py\n",
    ),
    "cpu-build-of-conda-in-a-virtual-machine-of-hyper-v": (
        "cpu-only-torch",
        "pytorch    2.4.0    cpu_mkl_py311h0a2c3ba_103    conda-forge\nPS> Get-PnpDevice -Class Display\nOK  Microsoft Hyper-V Video\n",
    ),
    "jax-told-to-compute-on-the-processor": (
        "cpu-only-torch",
        "An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed. Falling back to cpu.\n$ env | grep JAX\nJAX_PLATFORMS=cpu\n",
    ),
    "torch-put-back": (
        "torch-torchvision-mismatch",
        "  Successfully uninstalled torch-2.6.0\n>>> torch.__version__\n'2.6.0+cu124'\n" + _FRAME_OF_VISION,
    ),
    "torch-exchanged-and-no-more": (
        "torch-torchvision-mismatch",
        "  Successfully uninstalled torch-2.8.0\n>>> torch.__version__\n'2.6.0+cu124'\n",
    ),
    "targets-with-the-card": (
        "binary-arch-missing",
        _TORCH_OF_ISA + 'AMDGPU_TARGETS="gfx1030;gfx1100"\nGPU: RX 7900 XTX\n' + _FUNCTION_OF_ISA,
    ),
    "targets-and-nothing-fails": (
        "binary-arch-missing",
        'cmake -B build -DAMDGPU_TARGETS="gfx1030;gfx1100"\nGPU: RX 7600, gfx1102\n[100%] Built target app\n',
    ),
    "xla-of-another-maker": ("binary-arch-missing", _XLA_OF_ISA.format("CUDA", "")),
    "xla-without-memory": ("binary-arch-missing", _XLA_OF_ISA.format("ROCM", _POOL)),
    "list-with-the-card": (
        "binary-arch-missing",
        "GPU: AMD Radeon RX 6800 XT\n" + _LISTED.format("gfx900, gfx906, gfx908, gfx90a, gfx1030"),
    ),
    "list-alone": ("binary-arch-missing", _LISTED.format("gfx900, gfx906, gfx908")),
    "triton-of-a-processor": ("binary-arch-missing", _TRITON.format(12, "riscv64")),
    "triton-compiles": ("binary-arch-missing", "triton: target: 'gfx1100', warp size 32\n"),
    "torch-beside-a-runtime-of-models": (
        "binary-arch-missing",
        "onnxruntime 1.20.1\n" + _TORCH_OF_ISA + _FUNCTION_OF_ISA,
    ),
    "torch-with-a-server-named": ("binary-arch-missing", "not LM Studio but my own script:\n" + _TORCH_OF_ISA + _IMAGE),
    "torchs-source": ("binary-arch-missing", _SOURCE.format("/pytorch/aten/src/ATen/native/hip/Copy.hip")),
    "bundle-of-torchs": (
        "binary-arch-missing",
        _BUNDLE.format("/opt/py/lib/python3.12/site-packages/torch/lib/libtorch_hip.so"),
    ),
    "tensorflow-with-cuda": (
        "tensorflow-windows-no-gpu",
        ">>> print(tf.__version__, tf.test.is_built_with_cuda(), tf.config.list_physical_devices('GPU'))\n2.10.1 True [PhysicalDevice(name='/physical_device:GPU:0', device_type='GPU')]\nC:\\work>\n",
    ),
    "torch-with-cuda-too": ("cpu-only-torch", _KEPT.format("2.1.0+cu118", "0.16.0+cu118") + _NO_GPU),
    "plain-torch-under-linux": (
        "cpu-only-torch",
        _KEPT.replace("C:\\app>", "$ ").replace("c:\\py\\lib", "/opt/py/lib").format("2.1.0", "0.16.0+cu118") + _NO_GPU,
    ),
    "paddle-and-its-card": (
        "gpu-arch-newer-than-wheel",
        "W0211 gpu_resources.cc:119] Please NOTE: device: 0, GPU Compute Capability: 12.0, Driver API Version: 13.0, Runtime API Version: 12.9\n",
    ),
    "jax-by-the-way": ("cpu-only-torch", _JAX + ">>> torch.cuda.is_available()\nTrue\n"),
    "jax-with-its-plugin": (
        "cpu-only-torch",
        "$ pip list\njax-cuda12-plugin  0.6.0\njaxlib             0.6.0\n" + _JAX,
    ),
    "jax-that-failed": (
        "cpu-only-torch",
        "RuntimeError: Unable to use CUDA because of the following issues with CUDA components:\n" + _JAX,
    ),
    "jax-in-a-container": ("cpu-only-torch", "root@b1946ac92492:/opt/app# python run.py\n" + _JAX),
    "onnxruntime-that-misses-a-library": (
        "cpu-only-torch",
        _PROVIDERS + "$ pip list\nonnx               1.16.0\n" + _GPU + _SHOWN,
    ),
    "paddle-without-a-card": ("cpu-only-torch", _PADDLE),
    "onnxruntime-without-a-card": ("cpu-only-torch", _PROVIDERS),
    "onnxruntime-of-a-module": ("cpu-only-torch", _PROVIDERS + "Linux nano 5.15.148-tegra #1 SMP aarch64\n" + _SHOWN),
    "lightgbm-without-a-card": ("binary-arch-missing", _LIGHTGBM),
    "product-on-an-older-card": ("binary-arch-missing", _PRODUCT + _CARD_OF_FRAMEWORK.format("RTX 3060")),
    "nvvm-old": ("gpu-arch-older-than-wheel", _NVVM.format(120)),
    "nvvm-new": ("gpu-arch-newer-than-wheel", _NVVM.format(61)),
    "driver-of-today": ("driver-too-old-for-wheel", _WANTS.format("580.95.05")),
    "tested-with-a-driver": (
        "driver-too-old-for-wheel",
        "This package was tested with NVIDIA driver 575.51 or newer.\n",
    ),
    "toolkit-of-the-same-major-release": (
        "driver-too-old-for-wheel",
        _REPORT_OF_PLATFORM.format("2.1.0+cu121", "12.1", _LINUX, "False", "12.0.140"),
    ),
    "toolkit-older-and-a-driver-that-is-not": (
        "driver-too-old-for-wheel",
        _REPORT_OF_PLATFORM.format("1.7.1", "10.2", _LINUX, "False", "9.2.148") + _DRIVER.format("450.80.02"),
    ),
    "toolkit-older-and-torch-sees-the-card": (
        "driver-too-old-for-wheel",
        _REPORT_OF_PLATFORM.format("1.7.1", "10.2", _LINUX, "True", "9.2.148"),
    ),
    "no-nccl-on-windows": ("cpu-only-torch", ">>> torch.__version__\n'2.3.0+cu121'\n" + _NO_NCCL),
    "no-nccl-on-a-mac": (
        "cpu-only-torch",
        "PyTorch version: 2.3.0\nCUDA used to build PyTorch: None\nOS: macOS 14.5 (arm64)\n" + _NO_NCCL,
    ),
    "cuda-goes-for-cuda": (
        "cpu-only-torch",
        "      Successfully uninstalled torch-2.1.0+cu118\nSuccessfully installed torch-2.2.0+cu121\n",
    ),
    "cpu-was-asked-for": (
        "cpu-only-torch",
        "Looking in indexes: https://download.pytorch.org/whl/cpu\n    Uninstalling torch-2.2.1+cu121:\nSuccessfully installed torch-2.2.1+cpu\n",
    ),
    "accelerate-for-one-processor": ("cpu-only-torch", "- `Accelerate` default config:\n\t- distributed_type: NO\n"),
    "index-for-cuda": (
        "cpu-only-torch",
        "--extra-index-url https://download.pytorch.org/whl/cu121\ntorch==2.4.0\n\n"
        + _CARD_OF_REPORT
        + "torch.cuda.is_available(): False\n",
    ),
    "jax-plugin-carried": (
        "driver-too-old-for-wheel",
        "jax-cuda12-plugin==0.6.0\njaxlib==0.6.0\nDriver Version: 580.65.06   CUDA Version: 13.0\nNVIDIA-SMI 580.65.06\n",
    ),
    "card-that-is-served": (
        "gpu-arch-older-than-wheel",
        "Found GPU0 Tesla T4 which is of cuda capability 7.5.\ntorch 2.8.0+cu128\n",
    ),
    "capability-that-is-served": (
        "gpu-arch-newer-than-wheel",
        "torch 2.5.1+cu124\ntorch.cuda.get_device_capability() (8, 9)\n",
    ),
    "tensorflow-has-a-card": (
        "binary-arch-missing",
        (
            "Ignoring visible gpu device (device: 1, name: AMD Radeon Graphics, pci bus id: 0000:10:00.0) with AMDGPU version : gfx1036. The supported AMDGPU versions are gfx900, gfx906, gfx1030, gfx1100.\n"
            "Created device /job:localhost/replica:0/task:0/device:GPU:0 with 23578 MB memory:  -> device: 0, name: Radeon RX 7900 XTX, pci bus id: 0000:03:00.0\n"
        ),
    ),
    "shared-object-of-another": ("binary-arch-missing", _SHARED),
    "minimum-alone": ("binary-arch-missing", "The minimum required AMDGPU ISA is gfx803.\n"),
    "flash-fallback": ("binary-arch-missing", _FLASH),
    "weights-and-xpu": ("cpu-only-torch", _TORCH_OF_SERVER.format("2.6.0+xpu") + _XPU_WEIGHTS),
    "rocm-memory": ("binary-arch-missing", _AMD + _ROCM.format("out of memory")),
    "capability-that-no-card-has": ("binary-arch-missing", _TOO_OLD.format("1.0")),
    "first-tensor-of-an-older-card": ("gpu-arch-newer-than-wheel", _FIRST + "GPU 0: Tesla P4\n"),
    "kernel-of-another-library": ("gpu-arch-newer-than-wheel", _FIRST.replace("torch.ones", "fused_ones")),
    "lemonade-on-another-system": ("binary-arch-missing", _LEMONADE.format("llamacpp", "Requires Linux")),
    "capability-that-it-has": ("gpu-arch-newer-than-wheel", _BNB + _ASKED + "2.3.1+cu121 (8, 9) sm_90\n"),
    "capability-that-hip-makes-up": (
        "gpu-arch-newer-than-wheel",
        _ASKED + "2.5.1+rocm6.2 (11, 0) gfx1100\n",
    ),
    "binary-that-runs": (
        "binary-arch-missing",
        _CHIP.format("gfx942") + _ROC.format("./nbody", "/home/ada/nbody") + _OBJ.format(1, "gfx908"),
    ),
    "array-compiler-without-memory": (
        "binary-arch-missing",
        "jaxlib.xla_extension.XlaRuntimeError: INTERNAL: Failed to load HSACO: HIP_ERROR_OutOfMemory\n",
    ),
    "build-with-cuda": ("cpu-only-torch", _CPU.format("ON", "ON") + "$ nvidia-smi -L | wc -l\n8\n"),
    "refusal-has-lines-too": ("cpu-only-torch", _CPU.format("0", "OFF") + "$ nvidia-smi -L | wc -l\n2\n"),
    "extra-on-linux": ("tensorflow-windows-no-gpu", "$ uname -s\nLinux\n" + _EXTRA.format("$", "2.13.0")),
    "targets-have-it": (
        "binary-arch-missing",
        ">>> torch.cuda.get_device_properties(0).gcnArchName\n'gfx1030'\nfused_ext.cpython-311-x86_64-linux-gnu.so: HIP fatbin targets gfx1030\n",
    ),
    "torch-itself": ("binary-arch-missing", "RuntimeError: HIP error: hipErrorNoBinaryForGpu\n"),
    "clangs-target": ("binary-arch-missing", "clang: error: unsupported target gfx906\n"),
    "not-skipped": (
        "gpu-arch-older-than-wheel",
        "Adding visible gpu device: Tesla V100, compute capability 7.0; the minimum required is 5.2\n",
    ),
    "r-on-linux": ("tensorflow-windows-no-gpu", _R.format("2.16.1", "Linux")),
    "r-with-an-older-release": ("tensorflow-windows-no-gpu", _R.format("2.10.1", "Windows")),
    "compiles-and-runs": ("binary-arch-missing", _JIT.format("9.0") + "Epoch 1/3\n"),
    "handle-without-compiling": ("binary-arch-missing", _HANDLE),
    "xla-on-a-card-of-long-ago": (
        "driver-too-old-for-wheel",
        _CARD_OF_SYSTEM.format("Tesla K80") + _XLA_OF_SYSTEM.format("RuntimeError", "Unknown"),
    ),
    "image-of-torch": ("driver-too-old-for-wheel", _XLA_OF_SYSTEM.format("RuntimeError", "CUDA error")),
    "linux-by-its-name": (
        "tensorflow-windows-no-gpu",
        _TF_ON_WINDOWS.format("linux") + _CARD_OF_SYSTEM.format("GeForce RTX 4070"),
    ),
    "step-of-the-processor-alone": ("tensorflow-cpu-build", _STEP),
    "windows-with-a-build-for-cuda": ("cpu-only-torch", _PROMPT + ">>> torch.version.cuda\n'12.4'\n" + _AWQ),
    "card-in-a-container": ("cpu-only-torch", _DOCKER_OF_TORCH + _CARD_OF_TORCH + _VOICE),
    "dummy-on-a-mac": ("cpu-only-torch", _MAC + _DUMMY),
    "stream-of-a-build-for-intel": ("cpu-only-torch", _XPU + _STREAM),
    "triton-and-a-new-driver": (
        "driver-too-old-for-wheel",
        _TABLE_OF_TRACE.format("550.54.14", "12.4") + _PTXAS + _REFUSED,
    ),
    "triton-of-rocm": ("driver-too-old-for-wheel", _REFUSED.replace("CUDA", "HIP")),
    "image-invalid-without-triton": ("driver-too-old-for-wheel", "CUDA error: device kernel image is invalid\n"),
    "selected-for-gpus": ("cpu-only-torch", _SELECT.format(2, "gpu_0")),
    "selected-and-another-channels-torch": ("cpu-only-torch", _SELECT.format(1, "cpu_0") + _WITH_CUDA),
    "no-backend-in-a-container": ("cpu-only-torch", _DOCKER_OF_TRACE + _BACKEND + "- GPU: 4x RTX 3090\n"),
    "no-backend-and-no-driver": (
        "cpu-only-torch",
        _BACKEND
        + "- GPU: 4x RTX 3090\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n",
    ),
    "function-on-amds": ("binary-arch-missing", "AMD Radeon RX 580 (gfx803)\n" + _FUNCTION_OF_WHEEL),
    "function-of-a-wheel": ("binary-arch-missing", "torch==1.1.0\n" + _FUNCTION_OF_WHEEL),
    "llama-of-another-card": ("binary-arch-missing", _GGML_OF_WHEEL + _CARD_OF_FRAMEWORK.format("GTX 1080")),
    "ptx-on-an-older-card": ("binary-arch-missing", _PTX + _CARD_OF_FRAMEWORK.format("GTX 1080")),
    "hashcat-warns": ("gpu-arch-older-than-wheel", _HASHCAT + "Status...........: Cracked\n"),
    "cudnn-of-a-new-card": ("gpu-arch-older-than-wheel", _CUDNN + _CARD_OF_FRAMEWORK.format("RTX 5090")),
    "sample-alone": ("tensorflow-cpu-build", _QUERY),
    "mapped-alone": ("tensorflow-cpu-build", _MAPPED),
    "trains-on-a-card": (
        "tensorflow-cpu-build",
        "CUDA_VISIBLE_DEVICES=0 python train.py\n" + _ADVICE + _DEVICE + "Epoch 1/20\n",
    ),
    "trains-without-a-card": ("tensorflow-cpu-build", _ADVICE + "Epoch 1/20\n"),
    "detectron2-for-the-card": ("binary-arch-missing", _REPORT_OF_BUILD.format("7.5", "0", "Quadro RTX 6000", "7.5")),
    "detectron2-for-older-cards": (
        "binary-arch-missing",
        _REPORT_OF_BUILD.format("7.0, 7.5", "0", "NVIDIA A40", "8.6"),
    ),
    "list-with-code-to-be-compiled": (
        "gpu-arch-newer-than-wheel",
        _LIST_OF_BUILD.format('"7.5+PTX"', "install") + _CARD_OF_BUILD.format("8, 6") + _OWN,
    ),
    "list-with-the-card-of-build": (
        "binary-arch-missing",
        _LIST_OF_BUILD.format('"7.5;8.6"', "install") + _CARD_OF_BUILD.format("8, 6") + _OF_ANOTHER,
    ),
    "list-in-words": (
        "binary-arch-missing",
        _LIST_OF_BUILD.format("Volta", "install") + _CARD_OF_BUILD.format("8, 6") + _OF_ANOTHER,
    ),
    "list-and-no-failure": (
        "binary-arch-missing",
        _LIST_OF_BUILD.format("8.0", "install") + _CARD_OF_BUILD.format("7, 0"),
    ),
    "kernel-of-torch-itself": ("binary-arch-missing", _DISPATCHED.format("transformers/models/bert.py", "aten")),
    "launcher-and-a-torch-of-the-card": (
        "gpu-arch-newer-than-wheel",
        _LAUNCHER.format("0a", "5080", "120") + _PACKAGES.format("2.7.1+cu128", "0.22.1+cu128"),
    ),
    "launcher-and-an-older-card": (
        "gpu-arch-newer-than-wheel",
        _LAUNCHER.format("0a", "3060", "86") + _PACKAGES.format("2.5.1+cu124", "0.20.1+cu124"),
    ),
    "weighed-by-a-build-for-cuda": (
        "cpu-only-torch",
        _HEAD.format("2.1.2+cu121", "CUDA:0 (Tesla T4, 15102MiB)") + _WEIGHED.format("C:\\yolov5\\", "", "\\"),
    ),
    "processor-without-a-failure": ("cpu-only-torch", _HEAD.format("2.1.2+cpu", "CPU") + "Epoch 1/3\n"),
    "faiss-without-a-card": ("binary-arch-missing", _FAISS),
    "dlib-with-cuda": ("binary-arch-missing", _DLIB.format("True") + _CARD_OF_FRAMEWORK.format("RTX 3090")),
    "named-in-a-list-of-codes": (
        "driver-too-old-for-wheel",
        "enum cudaError {\n    cudaErrorNoDevice = 100,\n    cudaErrorInsufficientDriver = 35,\n};\n",
    ),
    "new-enough": (
        "driver-too-old-for-wheel",
        "Minimum driver version is 450.80; installed 535.183. All checks passed.\n",
    ),
    "libtorch-for-cuda": ("cpu-only-torch", _LIBTORCH.format("cu121", "CUDA available: 1")),
    "adapters-new-enough": ("driver-too-old-for-wheel", _ADAPTERS.format("32.0.15.6094", "True")),
    "adapters-by-wmic-for-an-older-build": ("driver-too-old-for-wheel", _OF_WMIC.format("1.12.1+cu113")),
    "extra-of-linux-on-arm": ("tensorflow-windows-no-gpu", _EXTRA_OF_LINUX.format("$ uname -m\naarch64\n")),
    "code-for-the-card": ("gpu-arch-newer-than-wheel", _ELF.format("NVIDIA A100-SXM4-40GB, 8.0")),
    "tensorflow-of-one-package": ("tensorflow-cpu-build", _TF_OF_THEN.format("1.15.5")),
    "tensorflow-of-two-packages-and-the-other": (
        "tensorflow-cpu-build",
        _TF_OF_THEN.format("1.14.0\ntensorflow-gpu==1.14.0"),
    ),
    "driver-by-its-package-new-enough": ("driver-too-old-for-wheel", _INSTALLED.format("550")),
    "index-of-a-project-with-cuda": ("cpu-only-torch", _UV_INDEX.format("cu126", "True")),
    "index-of-a-recipe-with-cuda": ("cpu-only-torch", _RECIPE.format("cu126", "1")),
    "server-for-gpus": ("tensorflow-cpu-build", _SERVING.format("-gpu")),
    "r-of-tensorflow-with-cuda": ("tensorflow-cpu-build", _OF_R.format("TRUE")),
    "placer-has-another-card": (
        "tensorflow-cpu-build",
        _PLACER.format(2, ", /job:localhost/replica:0/task:0/device:GPU:0"),
    ),
    "drawing-chip-alone": ("cpu-only-torch", _ONLY_INTEL),
    "ldd-of-torch-with-cuda": ("cpu-only-torch", _LDD.format("\tlibtorch_cuda.so => /v/libtorch_cuda.so (0x0f3)\n")),
    "module-after-the-build": ("driver-too-old-for-wheel", _MODULE_OF.format("535.183.01")),
    "module-of-the-log-after-the-build": ("driver-too-old-for-wheel", _LOADED.format("535.183.01")),
    "image-within-the-drivers-major": ("driver-too-old-for-wheel", _IMAGE_OF_TORCH.format("580.95.05", "True")),
    "dump-of-an-abort": ("cpu-instruction-set-missing", "           PID: 3321 (python3)\n        Signal: 6 (ABRT)\n"),
}
