"""Programs upon torch: each rule where it speaks, and beside it where it has to be silent."""

_AWQ = (
    "RuntimeError: GPU is required to run AWQ quantized model. You can use IPEX version AWQ if you have an Intel CPU\n"
)
_TRITON = "RuntimeError: 0 active drivers ([]). There should only be one.\n"
_NONE = "RuntimeError: None of the available devices `available_devices = None` are supported by the bitsandbytes version you have installed\n"
_XFORMERS = "`cutlassF` is not supported because:\n    device=cpu (supported: {'cuda'})\n"
_VOICE = "AssertionError: CPU training is not allowed.\n"
_DIAGNOSIS = "PyTorch says CUDA is not available. Possible reasons:\n1. CUDA driver not installed\n"
_OPERATOR = "RuntimeError: Not implemented on the CPU\n"
_CARD = "GPU 0: NVIDIA GeForce RTX 3060 (UUID: GPU-0c1e2f00)\n"
_PROMPT = "PS C:\\Users\\ada\\llm> python run.py\n"
_DOCKER = "$ docker run -it --rm -v $PWD:/w pytorch/pytorch:2.4.0-cuda12.1-cudnn9-runtime python /w/load.py\n"
_MAC = "macOS 14.5 (Apple M2)\n"
_NPU = "import torch_npu\n"
_XPU = ">>> torch.xpu.is_available()\nTrue\n"
_DUMMY = "RuntimeError: Tried to instantiate dummy base class Event\n"
_STREAM = "RuntimeError: torch.cuda.Stream requires CUDA support\n"
_HOOK = "RuntimeError: Cannot initialize CUDA without ATen_cuda library. PyTorch splits its backend into two shared libraries\n"
_EMPTY = "NotImplementedError: Could not run 'aten::empty.memory_format' with arguments from the 'CUDA' backend.\n"
_SPILLED = "ValueError: Some modules are dispatched on the CPU or the disk. Make sure you have enough GPU RAM to fit the quantized model.\n"
_USED = "|   0  NVIDIA A10G         Off  | 00000000:00:1E.0 Off |                    0 |\n|  0%   31C    P0    59W / 300W |  {}MiB / 22731MiB |      0%      Default |\n"
_TABLE = (
    "| NVIDIA-SMI 525.85.12    Driver Version: 525.85.12    CUDA Version: 12.0     |\n"
    "| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |\n"
    "| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |\n"
    "|===============================+======================+======================|\n"
)
_YOLO = "ValueError: Invalid CUDA 'device={}' requested. Use 'device=cpu' or pass valid CUDA device(s)\n\ntorch.cuda.is_available(): True\ntorch.cuda.device_count(): 2\n"

SPEAKS = {
    "quantised": ("no-gpu-present", _AWQ),
    "triton": ("no-gpu-present", _TRITON),
    "bitsandbytes": ("no-gpu-present", _NONE),
    "diagnosis": ("no-gpu-present", _DIAGNOSIS),
    "operator": ("no-gpu-present", _OPERATOR),
    "windows": ("cpu-only-torch", _PROMPT + _AWQ),
    "windows-with-a-card": ("cpu-only-torch", _PROMPT + _CARD + _NONE),
    "beside-a-card": ("cpu-only-torch", _CARD + _VOICE),
    "of-a-build-for-processors": ("cpu-only-torch", "torch: 2.1.2+cpu\n" + _XFORMERS),
    "container": ("container-without-gpu", _DOCKER + _AWQ),
    "dummy": ("cpu-only-torch", _DUMMY),
    "stream": ("cpu-only-torch", _STREAM),
    "hook": ("cpu-only-torch", _HOOK),
    "empty": ("cpu-only-torch", _EMPTY),
    "spilled": ("oom-model-too-large", _SPILLED),
    "spilled-beside-another": ("gpu-memory-held-by-others", _TABLE + _USED.format("21560") + _SPILLED),
    "yolo-list": ("cuda-visible-devices-wrong", _YOLO.format("0,1,2,3")),
}  # fmt: skip

SILENT = {
    "quantised-beside-a-card": ("no-gpu-present", _CARD + _AWQ),
    "quantised-of-a-known-build": ("no-gpu-present", ">>> torch.__version__\n'2.5.1+cu124'\n" + _AWQ),
    "triton-of-another-accelerator": ("no-gpu-present", _NPU + _TRITON),
    "triton-in-a-container": ("no-gpu-present", _DOCKER + _TRITON),
    "windows-with-a-build-for-cuda": ("cpu-only-torch", _PROMPT + ">>> torch.version.cuda\n'12.4'\n" + _AWQ),
    "card-in-a-container": ("cpu-only-torch", _DOCKER + _CARD + _VOICE),
    "dummy-on-a-mac": ("cpu-only-torch", _MAC + _DUMMY),
    "stream-of-a-build-for-intel": ("cpu-only-torch", _XPU + _STREAM),
    "spilled-on-a-free-card": ("gpu-memory-held-by-others", _TABLE + _USED.format("3") + _SPILLED),
    "yolo-list-that-is-there": ("cuda-visible-devices-wrong", _YOLO.format("0,1")),
}  # fmt: skip
