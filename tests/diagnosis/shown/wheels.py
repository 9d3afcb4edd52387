"""Wheels and builds as threads show them: each rule where it speaks, and beside it where it has to be silent."""

_NONE = "ERROR: Could not find a version that satisfies the requirement {0} (from versions: none)\nERROR: No matching distribution found for {0}\n"
_REFUSED = "ERROR: {}.whl is not a supported wheel on this platform.\n"
_UNAME = "Linux oriel 6.8.0-1015 #17 SMP PREEMPT_DYNAMIC {0} {0} {0} GNU/Linux\n"
_ELF = "OSError: /srv/app/lib/python3.11/site-packages/fused/{}: invalid ELF header\n"
_DEBIAN = 'NAME="Debian GNU/Linux"\nVERSION_ID="{}"\nID=debian\n'
_ASKED = "pip install https://example.org/vllm-0.30.0+cpu-cp38-abi3-manylinux_2_35_x86_64.whl\n"
_ALPINE = 'NAME="Alpine Linux"\nID=alpine\nVERSION_ID=3.20.3\n'
_ORT = "Microsoft.ML.OnnxRuntime.OnnxRuntimeException: [ErrorCode:RuntimeException] Exception caught: No error information\n"
_MUSL = "        libc.musl-x86_64.so.1 => /lib/ld-musl-x86_64.so.1 (0x7f61c0a1d000)\n"
_OLD_INDEX = (
    "$ python --version\nPython {}\n$ python -m pip install torch --index-url https://download.pytorch.org/whl/cu118\n"
)
_CHILD = '  File "/opt/py/lib/python3.8/multiprocessing/process.py", line 315, in _bootstrap\n    self.run()\n'
_MXNET = "mxnet.base.MXNetError: src/storage/storage.cc:199: Check failed: e == cudaSuccess (3 vs. 0) : CUDA: initialization error\n"
_BASE = "['',\n '/opt/conda/lib/python312.zip',\n '/home/ada/.ipython']\n"
_ENV = "['', '/opt/conda/envs/dl/lib/python311.zip', '/opt/conda/envs/dl/lib/python3.11/site-packages']\n"
_CARD = "GPU 0: NVIDIA GeForce {} (UUID: GPU-0c1e2f00)\n"
_GGML = "ggml-cuda/common.cuh:112: ggml was not compiled with any CUDA arch <= 1200\n"
_PTX = "CUDA error #218 (cudaErrorInvalidPtx): a PTX JIT compilation failed.\n"
_HASHCAT = "* Device #1: This hardware has outdated CUDA compute capability (3.5).\n"
_CUDNN = "cupy.cuda.cudnn.CuDNNError: CUDNN_STATUS_ARCH_MISMATCH: CUDNN_STATUS_ARCH_MISMATCH\n"
_NVRTC = "nvrtc: error: invalid value for --gpu-architecture (-arch)\n"
_QUERY = "deviceQuery, CUDA Driver = CUDART, CUDA Driver Version = 10.2, CUDA Runtime Version = 10.1, NumDevs = 1\n"
_MAPPED = "Device mapping: no known devices.\n"
_ADVICE = "I tensorflow/core/platform/cpu_feature_guard.cc:141] Your CPU supports instructions that this TensorFlow binary was not compiled to use: AVX2 FMA\n"
_DEVICE = "I tensorflow/core/common_runtime/gpu/gpu_device.cc:1304] Created TensorFlow device (/device:GPU:0)\n"
_CORES = "GPU #0 has #3584 cores\nGPU #1 has #896 cores\nGPU #2 has #896 cores\n"
_WEBUI = 'Python {} (main, Apr  9 2024, 18:22:11) [MSC v.1938 64 bit (AMD64)]\nRuntimeError: Couldn\'t install torch.\nCommand: "D:\\webui\\venv\\Scripts\\python.exe" -m pip install torch==1.13.1+cu117 torchvision==0.14.1+cu117\n'
_SMALL, _LARGE = "GeForce GTX 1650", "GeForce RTX 3060"


def _cards(*names: str) -> str:
    return "".join(f"GPU {at}: NVIDIA {name} (UUID: GPU-0c1e2f0{at})\n" for at, name in enumerate(names))


_FUNCTION = "Name: MapPlanKernel ErrStr:invalid device function\n"
SPEAKS = {
    "installer-of-a-webui": ("python-version-without-wheels", _WEBUI.format("3.12.3")),

    "function-of-a-build-of-ones-own": ("binary-arch-missing", _FUNCTION),
    "none-on-arm": ("extension-without-platform-build", _NONE.format("decord") + _UNAME.format("aarch64")),
    "no-triton": ("extension-without-platform-build", _NONE.format("triton")),
    "of-a-mac": ("extension-without-platform-build", _ELF.format("_kernels.so")),
    "any-python": ("glibc-too-old-for-wheel", _REFUSED.format("sgl_kernel-0.3.4-cp310-abi3-manylinux_2_34_x86_64")),
    "asked-for": ("glibc-too-old-for-wheel", _ASKED + _DEBIAN.format("11")),
    "alpine": ("glibc-too-old-for-wheel", _REFUSED.format("onnxruntime-1.19.2-cp312-cp312-manylinux_2_28_x86_64") + _ALPINE),
    "musl-listed": ("glibc-too-old-for-wheel", _MUSL + _ORT),
    "old-index": ("python-version-without-wheels", _OLD_INDEX.format("3.14.0") + _NONE.format("torch")),
    "of-windows": ("python-version-without-wheels", "OS: Microsoft Windows 11 Pro\n" + _REFUSED.format("flash_attn-2.7.0-cp310-cp310-win_amd64")),
    "child": ("cuda-initialised-before-fork", _CHILD + _MXNET),
    "two-paths": ("jupyter-kernel-other-env", _BASE + _ENV),
    "llama": ("binary-arch-missing", _GGML + _CARD.format("RTX 5090")),
    "ptx": ("binary-arch-missing", _PTX + _CARD.format("RTX 5090")),
    "hashcat": ("gpu-arch-older-than-wheel", _HASHCAT + "nvrtcCompileProgram(): NVRTC_ERROR_INVALID_OPTION\n"),
    "cudnn": ("gpu-arch-older-than-wheel", _CUDNN + _CARD.format("GTX 680")),
    "nvrtc-old": ("gpu-arch-older-than-wheel", _NVRTC + _CARD.format("GTX 680")),
    "nvrtc-new": ("gpu-arch-newer-than-wheel", _NVRTC + _CARD.format("RTX 5090")),
    "sample-passes": ("tensorflow-cpu-build", _QUERY + _MAPPED),
    "toolkit": ("tensorflow-cpu-build", "Cuda compilation tools, release 10.1, V10.1.243\n" + _MAPPED),
    "trains": ("tensorflow-cpu-build", "CUDA_VISIBLE_DEVICES=0 python train.py\n" + _ADVICE + "Epoch 1/20\n"),
    "cores": ("cuda-device-order-differs", _CORES + _cards(_SMALL, _SMALL, _LARGE)),
}  # fmt: skip

SILENT = {
    "installer-of-a-webui-fails-otherwise": ("python-version-without-wheels", _WEBUI.format("3.10.6")),

    "function-on-amds": ("binary-arch-missing", "AMD Radeon RX 580 (gfx803)\n" + _FUNCTION),
    "function-of-a-wheel": ("binary-arch-missing", "torch==1.1.0\n" + _FUNCTION),
    "none-of-a-typing-error": ("extension-without-platform-build", _NONE.format("torchvisoin") + _UNAME.format("aarch64")),
    "triton-on-linux": ("extension-without-platform-build", _NONE.format("triton") + _UNAME.format("x86_64")),
    "linker-script": ("extension-without-platform-build", _ELF.format("libm.so")),
    "one-python": ("glibc-too-old-for-wheel", _REFUSED.format("sgl_kernel-0.3.4-cp310-cp310-linux_x86_64")),
    "new-enough": ("glibc-too-old-for-wheel", _ASKED + _DEBIAN.format("12")),
    "wheel-for-musl": ("glibc-too-old-for-wheel", _REFUSED.format("numpy-2.0.0-cp312-cp312-musllinux_1_2_x86_64") + _ALPINE),
    "no-reason-alone": ("glibc-too-old-for-wheel", _ORT),
    "index-of-its-time": ("python-version-without-wheels", _OLD_INDEX.format("3.11.4")),
    "for-any-python": ("python-version-without-wheels", _UNAME.format("x86_64") + _REFUSED.format("bitsandbytes-0.45.0-py3-none-win_amd64")),
    "parent": ("cuda-initialised-before-fork", _MXNET),
    "one-path": ("jupyter-kernel-other-env", _BASE + _BASE),
    "llama-of-another-card": ("binary-arch-missing", _GGML + _CARD.format("GTX 1080")),
    "ptx-on-an-older-card": ("binary-arch-missing", _PTX + _CARD.format("GTX 1080")),
    "hashcat-warns": ("gpu-arch-older-than-wheel", _HASHCAT + "Status...........: Cracked\n"),
    "cudnn-of-a-new-card": ("gpu-arch-older-than-wheel", _CUDNN + _CARD.format("RTX 5090")),
    "sample-alone": ("tensorflow-cpu-build", _QUERY),
    "mapped-alone": ("tensorflow-cpu-build", _MAPPED),
    "trains-on-a-card": ("tensorflow-cpu-build", "CUDA_VISIBLE_DEVICES=0 python train.py\n" + _ADVICE + _DEVICE + "Epoch 1/20\n"),
    "trains-without-a-card": ("tensorflow-cpu-build", _ADVICE + "Epoch 1/20\n"),
    "cores-in-order": ("cuda-device-order-differs", _CORES + _cards(_LARGE, _SMALL, _SMALL)),
}  # fmt: skip
