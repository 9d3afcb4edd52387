"""What the threads of systems show of WSL, TensorFlow and JAX: a kernel that takes no module, a library asked for only where there is a GPU, code that a driver refuses.

The two frameworks compile for the very card that they find: what fails then is not the card's age but what was compiled with, or what it is given to.
"""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.compiled_for import left_behind
from rigup.diagnosis.rules.driver import NO_CUDA, SILENT
from rigup.machine.kinds import Driver, Gpu, Platform, Symptom

_TF_MISSES = ("tf-library-not-loaded", "tf-library-not-dlopened")
_FIRST = ("cudart", "nccl")  # the one it opens at import, GPU or not; the other it opens for collectives alone
_BOARDS = ("armv7l", "aarch64")


# -- Linux inside Windows
@rule("wsl-windows-too-old", "likely")
def first_wsl_looks_for_a_module(
    _folder: Symptom = seen("modules-of-the-first-wsl"), said: Symptom = seen("kernel-takes-no-modules", "modprobe-module-not-found", "kmod-no-such-module", "old-modprobe-finds-no-such-module", *SILENT), arm: Platform | None = one(architecture=_BOARDS),
) -> Verdict:  # fmt: skip
    """WSL 1 named itself so at first; boards of those years had such kernels too, and none of them NVIDIA's tool."""
    return arm is None and {"minimum": "WSL 2", "said": said.id}


# -- libraries
@rule("cuda-runtime-library-missing", "likely")
def tensorflow_asks_for_what_lies_behind_the_runtime(
    said: Symptom = seen(*_TF_MISSES), none: Symptom | None = seen(*SILENT, *NO_CUDA, "libcuda-not-found", "tf-no-cuda-libraries", "library-asked-for-by-jax"),
) -> Verdict:  # fmt: skip
    """It opens the runtime at import, and all others where the driver has counted a GPU. JAX asks for them at once."""
    lib = str(said.lib)
    behind = not any(name in lib for name in _FIRST)
    return behind and none is None and {"lib": lib, "program": "tensorflow"}


# -- kernels
@rule("binary-arch-missing", "likely")
def tensorflow_gets_no_handle_of_what_it_compiled(
    _jit: Symptom = seen("tf-jit-from-ptx"), said: Symptom = seen("cuda-handle-invalid-constant")
) -> Verdict:  # fmt: skip
    """No machine code for the card, and what was compiled in its place cannot be started."""
    return {"package": "tensorflow", "said": said.id}


@rule("driver-too-old-for-wheel", "likely")
def driver_does_not_take_what_xla_compiled(
    said: Symptom = seen("xla-finds-no-kernel-image"), card: Gpu | None = one(vendor="nvidia"), driver: Driver | None = one(vendor="nvidia")
) -> Verdict:  # fmt: skip
    """XLA compiles for the card that it finds: the image is there, and of a newer CUDA than the driver's."""
    old = card is not None and card.knows("isa") and left_behind(card.isa)
    have = driver.get("version") if driver is not None else None
    return not old and {"said": said.id, **({"have": have} if have else {})}
