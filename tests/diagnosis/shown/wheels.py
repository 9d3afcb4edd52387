"""Wheels and extensions: each rule where it speaks, and beside it where it has to be silent."""

_BITS = "UserWarning: The installed version of bitsandbytes was compiled without GPU support.\n"
_NVCC = "RuntimeError: flash_attn was requested, but nvcc was not found.\ntorch.__version__  = {}\n"
_OPERATOR = "NotImplementedError: Could not run 'xformers::efficient_attention_forward_ck' with arguments from the 'CUDA' backend.\n"
_WHISPER = "    self.model = ctranslate2.models.Whisper(\nRuntimeError: CUDA failed with error CUDA driver version is insufficient for CUDA runtime version\n"
_PART = "ModuleNotFoundError: No module named 'selective_scan_cuda'\n"
_NVIDIA = "NVIDIA GeForce RTX 3060\n"
_FOLDER = "FileNotFoundError: [WinError 3] The system cannot find the path specified: '{}'\n"
_SITE = "D:\\\\ai\\\\venv\\\\Lib\\\\site-packages\\\\"
_NONE_OF_DESKTOP = "ERROR: Could not find a version that satisfies the requirement {} (from versions: none)\n"
_NMS = "RuntimeError: operator torchvision::nms does not exist\n"
_HUB = "net = torch.hub.load('pytorch/vision', 'vgg11')\n"
_PAIR = "[pip3] torch=={}\n[pip3] torchvision=={}\n"
_INSTALLER = (
    "Python 3.9.13 (tags/v3.9.13:6de2ca5, May 17 2022, 16:24:45) [MSC v.1929 {0}]\n"
    'RuntimeError: Couldn\'t install torch.\nCommand: "D:\\ai\\venv\\Scripts\\python.exe" -m pip install torch==1.13.1+cu117 torchvision==0.14.1+cu117\nError code: 1\n'
)
_OLD_CPU = "$ lscpu\nArchitecture:        x86_64\nModel name:          Intel(R) Xeon(R) CPU           X5650  @ 2.67GHz\nFlags:               fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse sse2 ss ht syscall nx lm pni ssse3 cx16 sse4_1 sse4_2 popcnt{}\n"
_CARD = "$ nvidia-smi -L\nGPU 0: NVIDIA GeForce GTX 1660 SUPER (UUID: GPU-5b7c4d2e-0000-1111-2222-333344445555)\n"
_SERVES = "$ ollama serve\n"
_ON_CUDA = 'level=INFO source=types.go:131 msg="inference compute" id=GPU-1 library=cuda variant=v12 compute=8.6 driver=12.4 name="NVIDIA RTX A2000" total="5.7 GiB" available="5.5 GiB"\n'
_WHEELS = '$ curl -s https://example.org/whl/ | grep -o "jax_rocm7_plugin[^\\"]*cp[0-9]*" | sort -u\njax_rocm7_plugin-0.6.0-cp311\njax_rocm7_plugin-0.6.0-cp312\n'
_PIP_OF_BESIDE = "$ {} install jax-rocm7-plugin==0.6.0 -f https://example.org/whl/\nERROR: Could not find a version that satisfies the requirement jax-rocm7-plugin==0.6.0 (from versions: none)\n"
_PACKAGES = "C:\\w>pip list | findstr torch\ntorch              {}\ntorchvision        0.18.0+cpu\n"
_PROCEDURE = '>python -c "import torchvision"\nImportError: DLL load failed while importing _C: The specified {} could not be found.\n'
_OPS = "ModuleNotFoundError: No module named 'mmcv.{}'\n(v) D:\\w> dir v\\Lib\\site-packages\\mmcv\\*.pyd\n{}"
_GUEST = "root@vm:~# ./server\nIllegal instruction (core dumped)\nroot@pve:~# qm config 104 | grep cpu\ncpu: {}\n"
_EMULATED = "$ docker run --rm some/image\nqemu: uncaught target signal {} - core dumped\n{}"
_FILE = "PS C:\\p> dir venv\\Lib\\site-packages\\causal*\n-a        causal_conv1d_cuda.{}\nPS C:\\p> venv\\Scripts\\python -c \"import causal_conv1d_cuda\"\nModuleNotFoundError: No module named 'causal_conv1d_cuda'\n"
_LIBC = "$ pip install x-1.0-cp310-cp310-{}.whl\nERROR: x-1.0-cp310-cp310-{}.whl is not a supported wheel on this platform.\n>>> platform.libc_ver()\n('glibc', '{}')\n"
_PIP_OF_TRACE = "$ pip --version\npip {} from /home/ada/v/lib/python3.{}/site-packages/pip (python 3.{})\n"
_NOTHING = (
    "$ pip install torch{0}\nERROR: Could not find a version that satisfies the requirement torch{0} (from versions: none)\n"
    "ERROR: No matching distribution found for torch{0}\n"
)
_PYTHON = "$ python --version\nPython {}\n"
_WEBUI = 'Python {} (main, Apr  9 2024, 18:22:11) [MSC v.1938 64 bit (AMD64)]\nRuntimeError: Couldn\'t install torch.\nCommand: "D:\\webui\\venv\\Scripts\\python.exe" -m pip install torch==1.13.1+cu117 torchvision==0.14.1+cu117\n'
_NONE_OF_WHEEL = "ERROR: Could not find a version that satisfies the requirement {0} (from versions: none)\nERROR: No matching distribution found for {0}\n"
_UNAME = "Linux oriel 6.8.0-1015 #17 SMP PREEMPT_DYNAMIC {0} {0} {0} GNU/Linux\n"
_ELF = "OSError: /srv/app/lib/python3.11/site-packages/fused/{}: invalid ELF header\n"
_REFUSED = "ERROR: {}.whl is not a supported wheel on this platform.\n"
_DEBIAN = 'NAME="Debian GNU/Linux"\nVERSION_ID="{}"\nID=debian\n'
_ASKED = "pip install https://example.org/vllm-0.30.0+cpu-cp38-abi3-manylinux_2_35_x86_64.whl\n"
_ALPINE = 'NAME="Alpine Linux"\nID=alpine\nVERSION_ID=3.20.3\n'
_ORT = "Microsoft.ML.OnnxRuntime.OnnxRuntimeException: [ErrorCode:RuntimeException] Exception caught: No error information\n"
_MUSL = "        libc.musl-x86_64.so.1 => /lib/ld-musl-x86_64.so.1 (0x7f61c0a1d000)\n"
_OLD_INDEX = (
    "$ python --version\nPython {}\n$ python -m pip install torch --index-url https://download.pytorch.org/whl/cu118\n"
)
_STDC = "ImportError: {}/libstdc++.so.6: version `GLIBCXX_3.4.{}' not found{}(required by {})\n"
_CTYPES = '  File "{}", line 14, in <module>\n    _lib = ctypes.{}(os.path.join(here, "{}"))\n'

SPEAKS = {
    "extension-for-cuda": ("extension-without-platform-build", "AMD Radeon RX 6800\n" + _BITS),
    "extension-that-wants-nvcc": ("extension-without-platform-build", _NVCC.format("2.6.0+rocm6.2.4")),
    "operator-of-an-extension": ("extension-without-platform-build", "torch 2.6.0+rocm6.2.4\n" + _OPERATOR),
    "engine-of-whisper": ("extension-without-platform-build", "AMD Radeon RX 6800\n" + _WHISPER),
    "compiled-part": ("extension-without-platform-build", "torch 2.6.0+rocm6.2.4, gfx1100\n" + _PART),
    "nccl": (
        "extension-without-platform-build",
        "C:\\work>python train.py\nRuntimeError: Distributed package doesn't have NCCL built in\n",
    ),
    "older-libc-by-uv": (
        "glibc-too-old-for-wheel",
        "Because torch==2.6.0 has no wheels with a matching platform tag (e.g., `manylinux_2_17_x86_64`) and you require torch==2.6.0\n",
    ),
    "for-linux": ("extension-without-platform-build", _NONE_OF_DESKTOP.format("nvidia-nccl-cu12") + "C:\\work>\n"),
    "name-kept-free": (
        "extension-without-platform-build",
        "ERROR: Could not find a version that satisfies the requirement nvidia-nccl-cu12 (from versions: 0.0.1.dev5)\nC:\\work>\n",
    ),
    "not-for-macs": (
        "extension-without-platform-build",
        _NONE_OF_DESKTOP.format("cupy-cuda12x") + "% sw_vers -productVersion\n14.5\n",
    ),
    "for-windows": (
        "extension-without-platform-build",
        _NONE_OF_DESKTOP.format("onnxruntime-directml") + "$ uname -s\nLinux\n",
    ),
    "on-a-phone": (
        "extension-without-platform-build",
        "~ $ uname -o\nAndroid\n~ $ pip install torch\n" + _NONE_OF_DESKTOP.format("torch"),
    ),
    "musl": (
        "glibc-too-old-for-wheel",
        "/ # cat /etc/alpine-release\n3.19.1\n" + _NONE_OF_DESKTOP.format("tensorflow"),
    ),
    "musl-by-uv": (
        "glibc-too-old-for-wheel",
        "hint: You're on Linux (`musllinux_1_2_x86_64`), but `jaxlib` (v0.4.30) only has wheels for the following platforms: `manylinux2014_x86_64`\n",
    ),
    "narrow-python": ("python-version-without-wheels", "Python 3.12.4 (32-bit)\n" + _NONE_OF_DESKTOP.format("torch")),
    "compiled": ("python-version-without-wheels", "Python 3.14.0\n" + _NONE_OF_DESKTOP.format("xformers")),
    "by-poetry": (
        "python-version-without-wheels",
        "  RuntimeError\n  Unable to find installation candidates for torch (1.9.0)\n",
    ),
    "other-machine": (
        "extension-without-platform-build",
        "ERROR: torch-2.1.0-cp310-cp310-manylinux1_x86_64.whl is not a supported wheel on this platform.\n$ uname -m\naarch64\n",
    ),
    "other-processors": (
        "extension-without-platform-build",
        "hint: You're on Linux (`manylinux_2_31_armv7l`), but `onnxruntime` (v1.16.3) only has wheels for the following platforms: `manylinux_2_17_x86_64`, `win_amd64`\n",
    ),
    "operators-missing": ("torch-torchvision-mismatch", _NMS),
    "operators-missing-and-sources-beside-another-pair": (
        "torch-torchvision-mismatch",
        _HUB + _NMS + _PAIR.format("2.5.1", "0.18.1"),
    ),
    "poetry-refuses": (
        "torch-torchvision-mismatch",
        "Because torchvision (0.15.2) depends on torch (2.0.1)\n and app depends on torch (2.1.0), torchvision is forbidden.\n",
    ),
    "package-for-nvidia": (
        "torch-torchvision-mismatch",
        "libcudart.so.13: cannot open shared object file: No such file or directory\ntorch 2.9.1+rocm7.1\n",
    ),
    "installer-of-32-bits": ("python-version-without-wheels", _INSTALLER.format("32 bit (Intel)")),
    "engine-on-an-old-processor": ("cpu-instruction-set-missing", _OLD_CPU.format("") + _CARD + _SERVES),
    "wheels-of-others": ("python-version-without-wheels", _WHEELS + _PIP_OF_BESIDE.format("python3.14 -m pip")),
    "wheels-of-others-by-pip": ("python-version-without-wheels", _WHEELS + _PIP_OF_BESIDE.format("pip3.9")),
    "procedure-of-another-release": (
        "torch-torchvision-mismatch",
        _PACKAGES.format("2.6.0+cpu") + "C:\\w" + _PROCEDURE.format("procedure"),
    ),
    "no-ops": ("extension-without-platform-build", _OPS.format("_ext", "File Not Found\n")),
    "guest-of-kvm": ("cpu-instruction-set-missing", _GUEST.format("kvm64")),
    "emulated-and-made-up": (
        "cpu-instruction-set-missing",
        _EMULATED.format("4 (Illegal instruction)", "<model fallback='allow'>qemu64</model>\n"),
    ),
    "file-of-linux": ("extension-without-platform-build", _FILE.format("cpython-311-x86_64-linux-gnu.so")),
    "libc-of-python": ("glibc-too-old-for-wheel", _LIBC.format("manylinux2014_x86_64", "manylinux2014_x86_64", "2.12")),
    "libc-of-python-and-perennial": (
        "glibc-too-old-for-wheel",
        _LIBC.format("manylinux_2_28_x86_64", "manylinux_2_28_x86_64", "2.17"),
    ),
    "python-of-those-months": (
        "python-version-without-wheels",
        _PIP_OF_TRACE.format("22.3.1", 11, 11) + _NOTHING.format(""),
    ),
    "first-patch-of-a-python": ("python-version-without-wheels", _PYTHON.format("3.11.0") + _NOTHING.format("")),
    "installer-of-a-webui": ("python-version-without-wheels", _WEBUI.format("3.12.3")),
    "none-on-arm": ("extension-without-platform-build", _NONE_OF_WHEEL.format("decord") + _UNAME.format("aarch64")),
    "no-triton": ("extension-without-platform-build", _NONE_OF_WHEEL.format("triton")),
    "of-a-mac": ("extension-without-platform-build", _ELF.format("_kernels.so")),
    "any-python": ("glibc-too-old-for-wheel", _REFUSED.format("sgl_kernel-0.3.4-cp310-abi3-manylinux_2_34_x86_64")),
    "asked-for": ("glibc-too-old-for-wheel", _ASKED + _DEBIAN.format("11")),
    "alpine": (
        "glibc-too-old-for-wheel",
        _REFUSED.format("onnxruntime-1.19.2-cp312-cp312-manylinux_2_28_x86_64") + _ALPINE,
    ),
    "musl-listed": ("glibc-too-old-for-wheel", _MUSL + _ORT),
    "old-index": ("python-version-without-wheels", _OLD_INDEX.format("3.14.0") + _NONE_OF_WHEEL.format("torch")),
    "of-windows": (
        "python-version-without-wheels",
        "OS: Microsoft Windows 11 Pro\n" + _REFUSED.format("flash_attn-2.7.0-cp310-cp310-win_amd64"),
    ),
    "older-c-plus-plus": (
        "glibc-too-old-for-wheel",
        _STDC.format(
            "/usr/lib64",
            29,
            " ",
            "/srv/v/lib/python3.12/site-packages/causal_conv1d_cuda.cpython-312-x86_64-linux-gnu.so",
        ),
    ),
    "older-c-plus-plus-on-two-lines": (
        "glibc-too-old-for-wheel",
        _STDC.format("/lib/x86_64-linux-gnu", 32, "\n    ", "/tmp/build/kernels.abi3.so"),
    ),
    "library-of-linux": (
        "extension-without-platform-build",
        _CTYPES.format("E:\\py\\Lib\\site-packages\\quant\\core.py", "CDLL", "libquant.so"),
    ),
    "library-of-linux-with-a-number": (
        "extension-without-platform-build",
        _CTYPES.format("C:/venv/lib/site-packages/ring/io.py", "cdll.LoadLibrary", "libring.so.2"),
    ),
}

SILENT = {
    "extension-on-nvidias": ("extension-without-platform-build", _NVIDIA + _BITS),
    "nvcc-for-cuda": ("extension-without-platform-build", _NVCC.format("2.6.0+cu124")),
    "operator-on-nvidias": ("extension-without-platform-build", _NVIDIA + _OPERATOR),
    "whisper-on-nvidias": ("extension-without-platform-build", _NVIDIA + _WHISPER),
    "compiled-part-on-nvidias": ("extension-without-platform-build", _NVIDIA + _PART),
    "folder-of-rocms-wheel": (
        "extension-without-platform-build",
        "pip install ctranslate2\n" + _FOLDER.format(_SITE + "ctranslate2/../_rocm_sdk_core/bin"),
    ),
    "nccl-on-linux": (
        "extension-without-platform-build",
        "$ uname -s\nLinux\nRuntimeError: Distributed package doesn't have NCCL built in\n",
    ),
    "newer-libc-by-uv": (
        "glibc-too-old-for-wheel",
        "Because torch==2.6.0 has no wheels with a matching platform tag (e.g., `manylinux_2_39_x86_64`) and you require torch==2.6.0\n",
    ),
    "for-linux-on-linux": (
        "extension-without-platform-build",
        _NONE_OF_DESKTOP.format("nvidia-nccl-cu12") + "$ uname -s\nLinux\n",
    ),
    "a-newer-release-is-offered": (
        "extension-without-platform-build",
        "ERROR: Could not find a version that satisfies the requirement cupy-cuda12x==9.0 (from versions: 12.0.0, 13.0.0)\n% sw_vers -productVersion\n14.5\n",
    ),
    "plain-package-on-a-phone": (
        "extension-without-platform-build",
        "~ $ uname -o\nAndroid\n" + _NONE_OF_DESKTOP.format("requests"),
    ),
    "libc-of-others": ("glibc-too-old-for-wheel", "$ uname -s\nLinux\n" + _NONE_OF_DESKTOP.format("tensorflow")),
    "glibc-by-uv": (
        "glibc-too-old-for-wheel",
        "hint: You're on Linux (`manylinux_2_28_x86_64`), but `torch` (v2.6.0) only has wheels for the following platform: `win_amd64`\n",
    ),
    "wide-python": ("python-version-without-wheels", "Python 3.12.4 (64-bit)\n" + _NONE_OF_DESKTOP.format("requests")),
    "unreachable": (
        "python-version-without-wheels",
        "WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError'\n"
        + _NONE_OF_DESKTOP.format("xformers"),
    ),
    "poetry-and-a-plain-package": (
        "python-version-without-wheels",
        "  Unable to find installation candidates for flask (1.9.0)\n",
    ),
    "same-machine": (
        "extension-without-platform-build",
        "ERROR: torch-2.1.0-cp310-cp310-manylinux1_x86_64.whl is not a supported wheel on this platform.\n$ uname -sm\nLinux x86_64\n",
    ),
    "sources-of-torch-hub-beside-a-pair": ("torch-torchvision-mismatch", _HUB + _NMS + _PAIR.format("2.5.1", "0.20.1")),
    "checkout-of-torch-hub-in-the-trace": (
        "torch-torchvision-mismatch",
        '  File "/root/.cache/torch/hub/pytorch_vision_main/torchvision/__init__.py", line 6\n'
        + _NMS
        + _PAIR.format("2.3.0", "0.18.0"),
    ),
    "companion-for-rocm": ("torch-torchvision-mismatch", "torch 2.9.1+rocm7.1\ntorchvision 0.24.1+rocm7.1\n"),
    "library-of-cudas-missing": (
        "torch-torchvision-mismatch",
        "libcudart.so.13: cannot open shared object file: No such file or directory\ntorch 2.9.1+cu128\n",
    ),
    "installer-of-64-bits": (
        "python-version-without-wheels",
        _INSTALLER.format("64 bit (AMD64)").replace("3.9.13", "3.10.9"),
    ),
    "newer-processor": ("cpu-instruction-set-missing", _OLD_CPU.format(" avx f16c avx2") + _CARD + _SERVES),
    "old-processor-that-serves": ("cpu-instruction-set-missing", _OLD_CPU.format("") + _CARD + _SERVES + _ON_CUDA),
    "old-processor-and-no-engine": ("cpu-instruction-set-missing", _OLD_CPU.format("") + _CARD),
    "wheels-of-this-one": ("python-version-without-wheels", _WHEELS + _PIP_OF_BESIDE.format("python3.12 -m pip")),
    "module-of-one-release": (
        "torch-torchvision-mismatch",
        _PACKAGES.format("2.3.0+cpu") + "C:\\w" + _PROCEDURE.format("module"),
    ),
    "ops-not-looked-for": (
        "extension-without-platform-build",
        _OPS.format("_ext", "01.01.2025  9 000 000 _ext.cp311-win_amd64.pyd\n"),
    ),
    "file-of-windows": ("extension-without-platform-build", _FILE.format("cp311-win_amd64.pyd")),
    "libc-is-newer": ("glibc-too-old-for-wheel", _LIBC.format("manylinux2014_x86_64", "manylinux2014_x86_64", "2.31")),
    "python-of-long-ago": ("python-version-without-wheels", _PIP_OF_TRACE.format("24.0", 11, 11) + _NOTHING.format("")),
    "python-on-a-jetson": (
        "python-version-without-wheels",
        "Jetson Orin Nano\n" + _PYTHON.format("3.11.0") + _NOTHING.format(""),
    ),
    "installer-of-a-webui-fails-otherwise": ("python-version-without-wheels", _WEBUI.format("3.10.6")),
    "none-of-a-typing-error": (
        "extension-without-platform-build",
        _NONE_OF_WHEEL.format("torchvisoin") + _UNAME.format("aarch64"),
    ),
    "triton-on-linux": ("extension-without-platform-build", _NONE_OF_WHEEL.format("triton") + _UNAME.format("x86_64")),
    "linker-script": ("extension-without-platform-build", _ELF.format("libm.so")),
    "one-python": ("glibc-too-old-for-wheel", _REFUSED.format("sgl_kernel-0.3.4-cp310-cp310-linux_x86_64")),
    "new-enough": ("glibc-too-old-for-wheel", _ASKED + _DEBIAN.format("12")),
    "wheel-for-musl": (
        "glibc-too-old-for-wheel",
        _REFUSED.format("numpy-2.0.0-cp312-cp312-musllinux_1_2_x86_64") + _ALPINE,
    ),
    "no-reason-alone": ("glibc-too-old-for-wheel", _ORT),
    "index-of-its-time": ("python-version-without-wheels", _OLD_INDEX.format("3.11.4")),
    "for-any-python": (
        "python-version-without-wheels",
        _UNAME.format("x86_64") + _REFUSED.format("bitsandbytes-0.45.0-py3-none-win_amd64"),
    ),
    "c-plus-plus-of-conda": (
        "glibc-too-old-for-wheel",
        _STDC.format("/lib64", 29, " ", "/opt/miniforge3/envs/x/lib/python3.11/site-packages/pandas/_libs/window.so"),
    ),
    "c-plus-plus-in-conda": (
        "glibc-too-old-for-wheel",
        _STDC.format("/opt/conda/lib", 29, " ", "/srv/v/lib/python3.12/site-packages/faiss/_swigfaiss.so"),
    ),
    "library-of-windows": (
        "extension-without-platform-build",
        _CTYPES.format("E:\\py\\Lib\\site-packages\\quant\\core.py", "CDLL", "quant.dll"),
    ),
    "library-of-linux-on-linux": (
        "extension-without-platform-build",
        _CTYPES.format("/opt/v/lib/python3.11/site-packages/quant/core.py", "CDLL", "libquant.so"),
    ),
}
