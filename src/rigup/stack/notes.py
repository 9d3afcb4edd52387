"""Sentences that rows of the tables name by an id: what a person has to see to, and why nobody vouches for a build."""

from rigup.language import _


def note(name: str) -> str:
    """The sentence; "" for a row that names none.

    Raises:
        KeyError: no sentence has this id.

    """
    return {**_of_builds(), **_of_packages()}[name] if name else ""


def _of_builds() -> dict[str, str]:
    return {
        "cupy-rocm": _("CuPy for ROCm is experimental."),
        "libraries-in-loader": _(
            "CTranslate2 looks for cuBLAS and cuDNN where the loader does: put the folders nvidia/cublas/lib and "
            "nvidia/cudnn/lib of the environment into LD_LIBRARY_PATH (on Windows into PATH)."
        ),
        "tensorflow-rocm-loader": _(
            "tensorflow-rocm may not find ROCm's libraries: put the folders lib and lib/rocm_sysdeps/lib of "
            "_rocm_sdk_core and lib of _rocm_sdk_libraries, which lie in the environment, into LD_LIBRARY_PATH."
        ),
        "tensorflow-metal-last": _(
            "tensorflow-metal loads with the releases of TensorFlow that it was made for alone, and none was made for 2.20 and newer."
        ),
        "openvino-driver": _(
            "OpenVINO reaches the GPU by Intel's compute runtime (the package intel-opencl-icd on Debian and Ubuntu), on "
            "Windows by the graphics driver."
        ),
        "migraphx-package": _("onnxruntime-migraphx needs AMD's package migraphx beside ROCm."),
        "vllm-cpu-preload": _("vLLM for the CPU wants Intel's OpenMP loaded first: name libiomp5.so of the environment in LD_PRELOAD."),
    }


def _of_packages() -> dict[str, str]:
    """Of packages that no table knows, or not for every maker."""
    return {
        "apex": _(
            "apex is built from NVIDIA's repository, for PyPI has another package of this name. Its kernels come along where "
            "APEX_CPP_EXT=1 and APEX_CUDA_EXT=1 are set while it is built."
        ),
        "openblas": _("MinkowskiEngine needs OpenBLAS where it is built (the package libopenblas-dev on Debian and Ubuntu)."),
        "ascend": _("rigup knows nothing of Huawei's Ascend NPUs, nor which release belongs to which CANN: follow their own guide."),
        "tpu": _("rigup knows nothing of Google's TPUs: torch-xla is for them alone."),
        "jax-metal": _("jax-metal is experimental, and each release of it loads with one jaxlib alone: Apple's own page has the table."),
        "ipex": _(
            "Intel has ended its extension for PyTorch: torch's own build for Intel's GPUs (xpu) needs none. What PyPI has of it is "
            "for the processor, each release for one release of torch."
        ),
        "itex": _("Intel's extension for TensorFlow is no longer developed: no release of it is chosen here."),
        "tf-directml": _("Microsoft's plug-in for TensorFlow is no longer developed; it stands on tensorflow-cpu 2.10."),
        "vllm-xpu-image": _(
            "For Intel's GPUs vLLM has no wheel: its own image vllm/vllm-openai-xpu holds it, and so does a build from source."
        ),
        "vllm-metal": _("vllm-metal is a plug-in of its own makers: it is left to the installer, and nothing vouches for it."),
    }
