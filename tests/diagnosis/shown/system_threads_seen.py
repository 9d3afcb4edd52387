"""Threads of WSL, containers, drivers, TensorFlow and JAX: each rule where it speaks, and beside it where it has to be silent."""

_SILENT_TOOL = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n"
_MODULES = "modprobe: ERROR: ../libkmod/libkmod.c:514 lookup_builtin_file() could not open builtin file '/lib/modules/{}/modules.builtin.bin'\n"
_REFUSED = "modprobe: ERROR: could not insert '{}': {}\n"
_LOADER = "W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library '{0}'; dlerror: {0}: cannot open shared object file: No such file or directory\n"
_NO_DEVICE = "E tensorflow/stream_executor/cuda/cuda_driver.cc:271] failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n"
_JIT = "TensorFlow was not built with CUDA kernel binaries compatible with compute capability {}. CUDA kernels will be jit-compiled from PTX, which could take 30 minutes or longer.\n"
_HANDLE = "tensorflow.python.framework.errors_impl.InternalError: CUDA_ERROR_INVALID_HANDLE: invalid resource handle\n"
_XLA = "{}: {}: no kernel image is available for execution on the device\n"
_CARD = "GPU 0: NVIDIA {} (UUID: GPU-0c1e2f00)\n"
_ASKED = (
    "RuntimeError: jaxlib/cuda/versions_helpers.cc:{}: operation {}(&version) failed: The {} library was not found.\n"
)
_CUPY = "DLL dependencies:\n{0}KERNEL32.dll -> C:\\Windows\\System32\\KERNEL32.DLL\n{0}{1}.dll -> not found\n{0}{2}.dll -> {3}\n"
_NODE = 'ResourceExhaustedError: OOM when allocating tensor {}\n\t [[Node: d/w = Const[dtype=DT_FLOAT, _device="/job:localhost/replica:0/task:0/{}"]()]]\n'
_BASECALLER = "[error] CUDA_VISIBLE_DEVICES={} specifies more device ids than the number of GPUs present\n"
_IDS = "terminate called after throwing an instance of 'std::runtime_error'\n  what():  Invalid device ids{}\n"
_FIRMWARE = "nvidia 0000:0a:00.0: Direct firmware load for nvidia/575.51.02/gsp_{}.bin failed with error -2\n"
_ADAPTER = "NVRM: GPU 0000:0a:00.0: RmInitAdapter failed! (0x61:0x56:1718)\n"
_TF_ON_WINDOWS = (
    ">>> import sys; sys.platform\n'{}'\n>>> tf.__version__\n'2.18.0'\n>>> tf.test.is_built_with_cuda()\nFalse\n"
)
_NO_LIBRARIES = "{} I external/local_tsl/tsl/cuda/cudart_stub.cc:31] Could not find cuda drivers on your machine, GPU will not be used.\n"
_STEP = (
    "".join(_NO_LIBRARIES.format(f"2025-03-02 10:11:1{at}.4{at}0112:") for at in range(5))
    + "I0302 10:11:20.1 make_examples.py:612] Found 3120 candidate variants\n"
)
_FIRST = "3.4.0+"

SPEAKS = {
    "modules-of-wsl-1": ("wsl-windows-too-old", _MODULES.format(_FIRST) + _SILENT_TOOL),
    "kernel-without-modules": ("wsl-windows-too-old", _MODULES.format(_FIRST) + _REFUSED.format("nvidia_375", "Function not implemented")),
    "solver-behind-the-runtime": ("cuda-runtime-library-missing", _LOADER.format("libcusolver.so.11")),
    "products-behind-the-runtime": ("cuda-runtime-library-missing", _LOADER.format("libcublas.so.10")),
    "handle-after-compiling": ("binary-arch-missing", _JIT.format("12.0") + _HANDLE),
    "handle-of-another-card": ("binary-arch-missing", _JIT.format("10.0") + "cuModuleGetFunction: CUDA_ERROR_INVALID_HANDLE\n"),
    "xla-and-no-more": ("driver-too-old-for-wheel", _XLA.format("RuntimeError", "Unknown")),
    "xla-on-a-card-of-today": ("driver-too-old-for-wheel", _CARD.format("A100-PCIE-40GB") + _XLA.format("jaxlib.xla_extension.XlaRuntimeError", "INTERNAL")),
    "jax-asks-for-transforms": ("cuda-runtime-library-missing", _ASKED.format(90, "cufftGetVersion", "cuFFT")),
    "jax-asks-for-products": ("cuda-runtime-library-missing", _ASKED.format(44, "cublasGetVersion", "cuBLAS")),
    "cupy-without-margin": ("cuda-runtime-library-missing", _CUPY.format("", "cusparse64_11", "nvrtc64_112_0", "not found")),
    "cupy-with-margin": ("cuda-runtime-library-missing", _CUPY.format("  ", "cuTENSOR", "cufft64_10", "not found")),
    "node-of-old": ("oom-model-too-large", _NODE.format("with shape[32,512,512,64]", "gpu:0")),
    "node-with-a-type": ("oom-model-too-large", _NODE.format("of shape [3,3,4096,4096] and type float", "device:GPU:1")),
    "more-ids-than-cards": ("cuda-visible-devices-wrong", _BASECALLER.format("0,1,2,3")),
    "ids-alone": ("cuda-visible-devices-wrong", _IDS.format("")),
    "firmware-of-another-release": ("nvml-driver-library-mismatch", _FIRMWARE.format("tu10x") + _ADAPTER),
    "windows-by-its-name": ("tensorflow-windows-no-gpu", _TF_ON_WINDOWS.format("win32") + _CARD.format("GeForce RTX 4070")),
}  # fmt: skip
SILENT = {
    "modules-of-a-telephone": ("wsl-windows-too-old", _MODULES.format("3.4.0-lineage") + _SILENT_TOOL),
    "kernel-that-refuses": ("wsl-windows-too-old", _MODULES.format("4.4.0-31-generic") + _REFUSED.format("nvidia", "Operation not permitted")),
    "the-runtime-itself": ("cuda-runtime-library-missing", _LOADER.format("libcudart.so.11.0")),
    "behind-the-runtime-and-no-device": ("cuda-runtime-library-missing", _NO_DEVICE + _LOADER.format("libcudnn.so.8")),
    "compiles-and-runs": ("binary-arch-missing", _JIT.format("9.0") + "Epoch 1/3\n"),
    "handle-without-compiling": ("binary-arch-missing", _HANDLE),
    "xla-on-a-card-of-long-ago": ("driver-too-old-for-wheel", _CARD.format("Tesla K80") + _XLA.format("RuntimeError", "Unknown")),
    "image-of-torch": ("driver-too-old-for-wheel", _XLA.format("RuntimeError", "CUDA error")),
    "library-that-cmake-misses": ("cuda-runtime-library-missing", "-- The cuFFT library was not found.\n"),
    "cupy-without-what-it-can-spare": ("cuda-runtime-library-missing", _CUPY.format("  ", "cuTENSOR", "cublas64_12", "C:\\cuda\\bin\\cublas64_12.dll")),
    "node-of-the-processor": ("oom-model-too-large", _NODE.format("of shape [90000,90000] and type float", "device:CPU:0")),
    "ids-of-a-mouse": ("cuda-visible-devices-wrong", _IDS.format(" for input devices: 1883")),
    "firmware-is-missing-and-no-card-broken": ("gpu-hardware-init-failure", _FIRMWARE.format("ga10x") + _ADAPTER),
    "linux-by-its-name": ("tensorflow-windows-no-gpu", _TF_ON_WINDOWS.format("linux") + _CARD.format("GeForce RTX 4070")),
    "step-of-the-processor-alone": ("tensorflow-cpu-build", _STEP),
    "step-and-no-container": ("container-without-gpu", _STEP),
}  # fmt: skip
