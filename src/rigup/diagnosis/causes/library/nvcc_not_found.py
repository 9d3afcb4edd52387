"""A program compiles as it runs, and finds no nvcc."""

from rigup.diagnosis.causes.library.nvcc_differs_from_torch_cuda import cuda_of_torch, environment_of_conda
from rigup.diagnosis.rule import Params, Verdict, mends, one, seen, text_rule
from rigup.knowledge.cuda import cuda_of_driver, version_key
from rigup.machine.kinds import Driver, Symptom, Toolkit, Torch

_LAST_OF_12 = (13,)  # from here on a driver carries two majors that torch is built for


@text_rule("nvcc-not-found")
def compiles_without_a_compiler(
    error: Symptom = seen(tag="jit-finds-no-nvcc"), torch: Torch | None = None, driver: Driver | None = one(vendor="nvidia")
) -> Verdict:
    """The message names what is looked for. Where nobody tells torch's CUDA, a driver that carries one major alone tells enough."""
    untold = torch is None or not torch.get("cuda")
    carried = cuda_of_driver(str(driver.version)) if untold and driver is not None and driver.knows("version") else None
    fits = carried is not None and version_key(carried)[:1] < _LAST_OF_12
    return {"said": error.id, **({"want": carried} if fits else {})}


mends("nvcc-not-found")(cuda_of_torch)
mends("nvcc-not-found")(environment_of_conda)


@mends("nvcc-not-found")
def toolkit_that_lies_there(toolkit: Toolkit = one(name="cuda")) -> Params:
    """One is there, and nobody told the program where."""
    return {"home": toolkit.path} if toolkit.knows("path") and toolkit.path else {}


@mends("nvcc-not-found")
def engine_that_need_not_compile(
    vllm: Symptom | None = seen(tag="vllm-at-work"),
    sglang: Symptom | None = seen(tag="sglang-at-work"),
    sampler: Symptom | None = seen("flashinfer-samples"),
    error: Symptom | None = seen("flashinfer-finds-no-nvcc", "flashinfer-starts-no-nvcc"),
) -> Params:
    """What each engine computes with in FlashInfer's place, where that is what compiles."""
    if error is None:
        return {}
    if sglang is not None:
        return {"option": "--attention-backend triton --sampling-backend pytorch"}
    return {"variable": "VLLM_USE_FLASHINFER_SAMPLER"} if vllm is not None and sampler is not None else {}
