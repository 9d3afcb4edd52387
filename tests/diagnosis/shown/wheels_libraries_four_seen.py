"""Builds and libraries in threads of frameworks: each rule where it speaks, and beside it where it has to be silent."""

_REPORT = (
    "detectron2              0.6 @/opt/det/detectron2\n"
    "detectron2 arch flags   {}\n"
    "PyTorch                 1.10.1 @/opt/det/lib/python3.8/site-packages/torch\n"
    "GPU {}                   {} (arch={})\n"
)
_NO_IMAGE = "RuntimeError: CUDA error: no kernel image is available for execution on the device\n"
_LIST = "$ export TORCH_CUDA_ARCH_LIST={}\n$ python setup.py {}\n"
_CARD = ">>> torch.cuda.get_device_capability()\n({})\n"
_COMMENT = "print(torch.cuda.get_device_capability(0))\n# ({})\n"
_OWN = ">>> torch.ones(4).cuda() * 2\n" + _NO_IMAGE
_OF_ANOTHER = ">>> splat.rasterise(points, view)\n" + _NO_IMAGE
_DISPATCHED = (
    '  File "/opt/v/lib/python3.11/site-packages/{}", line 88, in forward\n    out = torch.ops.{}.run(x)\n'
    '  File "/opt/v/lib/python3.11/site-packages/torch/_ops.py", line 1061, in __call__\n'
    "    return self_._op(*args, **(kwargs or {{}}))\n"
) + _NO_IMAGE
_LAUNCHER = "NVIDIA Management Library:\n  NVIDIA Driver Version: 576.02\n\nCUDA Driver:\n  Devices: \n    00000000:{}:00.0 0: NVIDIA GeForce RTX {} [{}] 12 GB\n"
_PACKAGES = "    - torch {0} \n    - torchvision {1} \n"
_WEIGHED = (
    '  File "{0}detect.py", line 52, in run\n    device = select_device(device)\n{1}'
    '  File "{0}utils{2}torch_utils.py", line 60, in select_device\n'
)
_HEAD = "YOLOv5 v7.0-0-g915bbf2 Python-3.10.8 torch-{} {}\n"
_ADVICE = (
    "W0310 09:14:55.120331 4410 dynamic_loader.cc:{}] Note: [Recommend] copy cudnn into {} \n For instance, unzip it.\n"
)
_BUILT = ">>> paddle.version.show()\ncommit: 0f1e2d3c\ncuda: {}\ncudnn: {}\n{}: False\n"
_LOADED = "W0310 09:14:56.731904 4410 gpu_resources.cc:164] device: 0, cuDNN Version: {}.\n"
_STDC = "ImportError: {}/libstdc++.so.6: version `GLIBCXX_3.4.{}' not found{}(required by {})\n"
_CTYPES = '  File "{}", line 14, in <module>\n    _lib = ctypes.{}(os.path.join(here, "{}"))\n'
_INIT = '[WinError 1114] A dynamic link library (DLL) initialization routine failed. Error loading "{}" or one of its dependencies.\n'

SPEAKS = {
    "detectron2-for-a-newer-card": ("binary-arch-missing", _REPORT.format("8.6", "0", "Tesla P100-PCIE-16GB", "6.0")),
    "detectron2-for-newer-cards": ("binary-arch-missing", _REPORT.format("sm_80, sm_86", "0,1", "Quadro RTX 6000", "7.5")),
    "list-below-the-card": ("gpu-arch-newer-than-wheel", _LIST.format('"7.0 7.5"', "install") + _CARD.format("8, 6") + _OWN),
    "list-below-the-card-in-a-comment": ("gpu-arch-newer-than-wheel", _LIST.format("8.0", "develop") + _COMMENT.format("9, 0") + _OWN),
    "list-above-the-card": ("gpu-arch-older-than-wheel", _LIST.format('"8.0;8.6+PTX"', "install") + _CARD.format("7, 5") + _OWN),
    "list-of-an-extension": ("binary-arch-missing", _LIST.format("8.6", "bdist_wheel") + _CARD.format("8, 0") + _OF_ANOTHER),
    "kernel-of-a-dispatched-library": ("binary-arch-missing", _DISPATCHED.format("flash_attn/ops/norm.py", "flash_attn")),
    "kernel-of-another-dispatched-library": ("binary-arch-missing", _DISPATCHED.format("vllm/_custom_ops.py", "_C")),
    "launcher-and-an-older-torch": ("gpu-arch-newer-than-wheel", _LAUNCHER.format("0a", "5080", "120") + _PACKAGES.format("2.5.1+cu124", "0.20.1+cu124")),
    "launcher-and-a-torch-of-11": ("gpu-arch-newer-than-wheel", _LAUNCHER.format("C1", "5060", "120") + _PACKAGES.format("2.3.1+cu118", "0.18.1+cu118")),
    "weighed-by-a-build-for-the-processor": ("cpu-only-torch", _HEAD.format("2.1.2+cpu", "") + _WEIGHED.format("C:\\yolov5\\", "", "\\")),
    "weighed-under-a-newer-python": ("cpu-only-torch", _HEAD.format("2.4.0+cpu", "") + _WEIGHED.format("/srv/yolov5/", "             ^^^^^^^^^^^^^^^^^^^^^\n", "/")),
    "advice-of-windows": ("cuda-runtime-library-missing", _ADVICE.format("265", "CUDA installation directory.")),
    "advice-and-a-minor-release": ("cuda-runtime-library-missing", "Driver API Version: 12.2, Runtime API Version: 11.6\n" + _ADVICE.format("307", "CUDA installation directory.")),
    "older-cudnn-of-a-major": ("cudnn-version-incompatible", _BUILT.format("11.2", "8.1.1", "xpu") + _LOADED.format("7.6")),
    "older-cudnn-of-a-minor": ("cudnn-version-incompatible", _BUILT.format("11.8", "8.6.0", "nccl") + _LOADED.format("8.2")),
    "older-c-plus-plus": ("glibc-too-old-for-wheel", _STDC.format("/usr/lib64", 29, " ", "/srv/v/lib/python3.12/site-packages/causal_conv1d_cuda.cpython-312-x86_64-linux-gnu.so")),
    "older-c-plus-plus-on-two-lines": ("glibc-too-old-for-wheel", _STDC.format("/lib/x86_64-linux-gnu", 32, "\n    ", "/tmp/build/kernels.abi3.so")),
    "library-of-linux": ("extension-without-platform-build", _CTYPES.format("E:\\py\\Lib\\site-packages\\quant\\core.py", "CDLL", "libquant.so")),
    "library-of-linux-with-a-number": ("extension-without-platform-build", _CTYPES.format("C:/venv/lib/site-packages/ring/io.py", "cdll.LoadLibrary", "libring.so.2")),
    "part-of-torch-without-its-path": ("windows-runtime-dll-missing", _INIT.format("...\\shm.dll")),
    "part-of-torch-by-name": ("windows-runtime-dll-missing", _INIT.format("torch_python.dll")),
}  # fmt: skip

SILENT = {
    "detectron2-for-the-card": ("binary-arch-missing", _REPORT.format("7.5", "0", "Quadro RTX 6000", "7.5")),
    "detectron2-for-older-cards": ("binary-arch-missing", _REPORT.format("7.0, 7.5", "0", "NVIDIA A40", "8.6")),
    "list-with-code-to-be-compiled": ("gpu-arch-newer-than-wheel", _LIST.format('"7.5+PTX"', "install") + _CARD.format("8, 6") + _OWN),
    "list-with-the-card": ("binary-arch-missing", _LIST.format('"7.5;8.6"', "install") + _CARD.format("8, 6") + _OF_ANOTHER),
    "list-in-words": ("binary-arch-missing", _LIST.format("Volta", "install") + _CARD.format("8, 6") + _OF_ANOTHER),
    "list-and-no-failure": ("binary-arch-missing", _LIST.format("8.0", "install") + _CARD.format("7, 0")),
    "kernel-of-torch-itself": ("binary-arch-missing", _DISPATCHED.format("transformers/models/bert.py", "aten")),
    "launcher-and-a-torch-of-the-card": ("gpu-arch-newer-than-wheel", _LAUNCHER.format("0a", "5080", "120") + _PACKAGES.format("2.7.1+cu128", "0.22.1+cu128")),
    "launcher-and-an-older-card": ("gpu-arch-newer-than-wheel", _LAUNCHER.format("0a", "3060", "86") + _PACKAGES.format("2.5.1+cu124", "0.20.1+cu124")),
    "weighed-by-a-build-for-cuda": ("cpu-only-torch", _HEAD.format("2.1.2+cu121", "CUDA:0 (Tesla T4, 15102MiB)") + _WEIGHED.format("C:\\yolov5\\", "", "\\")),
    "processor-without-a-failure": ("cpu-only-torch", _HEAD.format("2.1.2+cpu", "CPU") + "Epoch 1/3\n"),
    "advice-of-a-person": ("cuda-runtime-library-missing", "You should copy cudnn into the CUDA directory yourself.\n"),
    "newer-cudnn": ("cudnn-version-incompatible", _BUILT.format("11.8", "8.6.0", "xpu") + _LOADED.format("8.9")),
    "same-cudnn": ("cudnn-version-incompatible", _BUILT.format("12.3", "9.0.0", "nccl") + _LOADED.format("9.0")),
    "c-plus-plus-of-conda": ("glibc-too-old-for-wheel", _STDC.format("/lib64", 29, " ", "/opt/miniforge3/envs/x/lib/python3.11/site-packages/pandas/_libs/window.so")),
    "c-plus-plus-in-conda": ("glibc-too-old-for-wheel", _STDC.format("/opt/conda/lib", 29, " ", "/srv/v/lib/python3.12/site-packages/faiss/_swigfaiss.so")),
    "library-of-windows": ("extension-without-platform-build", _CTYPES.format("E:\\py\\Lib\\site-packages\\quant\\core.py", "CDLL", "quant.dll")),
    "library-of-linux-on-linux": ("extension-without-platform-build", _CTYPES.format("/opt/v/lib/python3.11/site-packages/quant/core.py", "CDLL", "libquant.so")),
    "part-of-another-program": ("windows-runtime-dll-missing", _INIT.format("...\\QtCore4.dll")),
    "part-of-a-game": ("windows-runtime-dll-missing", _INIT.format("D:\\games\\engine.dll")),
}  # fmt: skip
