"""Packages that an index offers nothing of, or not for this system."""

import re

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import Platform, Symptom

LINUX = lazy_regex(
    r"triton|vllm|sglang|nvidia-[\w-]{1,40}-cu\d{2}|jax-cuda\d{2}[\w-]{0,20}|faiss-gpu[\w-]{0,10}|(?:cudf|cuml|cugraph|rmm)-cu\d{2}|tensorflow-rocm|deepspeed|pytorch-triton(?:-rocm|-xpu)?|amdsmi|jax-rocm\d{2}[\w-]{0,20}|onnxruntime-rocm|onnxruntime-migraphx|horovod"
)
NO_WINDOWS = lazy_regex(r"mlx|mlx-(?:lm|vlm|whisper)|flash-attn-3|nccl|torch-xla|libtpu")
NO_MAC = lazy_regex(
    r"cupy-cuda\w{2,4}|cupy-rocm[\w-]{2,6}|onnxruntime-gpu|tensorrt(?:[-_]cu\d{2}\w{0,12})?|tensorflow-gpu|torch-tensorrt|paddlepaddle-gpu|mxnet-cu\d{2,3}|intel-extension-for-(?:pytorch|tensorflow)|torch-directml|dgl-cu\d{2,3}|nvidia-\w[\w-]{1,40}"
)
WINDOWS = lazy_regex(r"onnxruntime-directml|tensorflow-directml(?:-plugin)?|tensorflow-intel|triton-windows|pywin32|wmi")
MAC = lazy_regex(r"tensorflow-(?:macos|metal)|jax-metal|mlx-metal|coremltools-metal|pyobjc[\w-]{0,40}")
COMPILED = lazy_regex(
    r"xformers|tensorrt(?:[-_]cu\d{2}\w{0,12})?|tensorflow-(?:gpu|macos|metal|rocm|intel)|intel-extension-for-(?:pytorch|tensorflow)|cupy-cuda\w{2,4}|jaxlib|paddlepaddle(?:-gpu)?|open3d|mxnet-cu\d{2,3}|mlx|torch-(?:scatter|sparse|cluster)|numba|onnxruntime-\w{3,10}"
)


def offered_nothing(symptom: Symptom) -> str:
    """The package of which pip was offered nothing at all, as it is written everywhere."""
    # 0.0.1 is a name that is kept free
    none = not symptom.knows("offered") or re.fullmatch(r"(?:none)?|0\.0\.1(?:\.dev\d)?", symptom.offered)
    return re.sub(r"[-_.]{1,9}", "-", str(symptom.get("name"))).lower() if none else ""


def is_of_another_system(name: str, platform: Platform) -> bool:
    """Whether a package is made for systems of which this is none."""
    system = "linux" if platform.get("wsl") else platform.system
    lists = {"linux": (WINDOWS, MAC), "macos": (LINUX, NO_MAC, WINDOWS), "windows": (LINUX, MAC, NO_WINDOWS)}
    return any(form.fullmatch(name) for form in lists.get(system, ()))


def nothing_offered(symptom: Symptom) -> str:
    """The package of which pip was offered nothing at all."""
    none = not symptom.knows("offered") or symptom.offered in ("none", "")
    return re.sub(r"[-_.]{1,9}", "-", str(symptom.get("name"))).lower() if none else ""
