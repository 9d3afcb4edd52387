"""The program touched the GPU before it forked its worker processes."""

from rigup.diagnosis.rule import Params, Verdict, mends, rule, seen
from rigup.machine.kinds import Symptom


@rule("cuda-initialised-before-fork", "likely")
def worker_cannot_start_cuda(
    _worker: Symptom = seen("worker-process-failed", "worker-loop-failed"),
    _refused: Symptom = seen("cuda-initialization-error", "cupy-forked-after-cuda", "cuda-not-initialized", "cuinit-returns-3"),
) -> Verdict:
    """In the parent CUDA works; in a copy of it it does not."""
    return True


@mends("cuda-initialised-before-fork")
def variable_of_vllm(_said: Symptom = seen("vllm-in-a-path", "vllm-uses-spawn", "vllm-tensor-parallel")) -> Params:
    """vLLM starts its workers itself, and has a variable for how."""
    return {"method": "VLLM_WORKER_MULTIPROC_METHOD"}


@mends("cuda-initialised-before-fork")
def launcher_of_notebooks(
    launcher: Symptom | None = seen("accelerate-forked-after-cuda", "accelerate-notebook-cuda", "accelerator-made-before-the-launch"),
) -> Params:
    """accelerate's launcher forks by design: spawn is no way there, a kernel that has not touched the GPU is."""
    named = launcher is not None
    return {"launcher": "notebook_launcher" if named else None, "general": None if named else "workers"}
