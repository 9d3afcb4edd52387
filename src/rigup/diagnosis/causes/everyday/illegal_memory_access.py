"""A kernel on the GPU reads or writes where it must not."""

from rigup.diagnosis.rule import Params, mends, seen
from rigup.machine.kinds import Symptom


@mends("illegal-memory-access")
def how_to_find_the_kernel(
    knew: Params, engine: Symptom | None = seen("vllm-in-a-path"), logged: Symptom | None = seen("xid-of-a-program")
) -> Params:
    """By a variable that lets the program wait for each kernel; vLLM's graphs hide which one it was."""
    amd = str(knew.get("runtime") or "").upper() == "HIP"
    serial, how = ("AMD_SERIALIZE_KERNEL", "3") if amd else ("CUDA_LAUNCH_BLOCKING", "1")
    return {
        "serial": serial,
        "how": how,
        "vendor": None if logged is not None else "amd" if amd else "nvidia",  # the log is read already
        "eager": "--enforce-eager" if engine is not None else None,
    }
