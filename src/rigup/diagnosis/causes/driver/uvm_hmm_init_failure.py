"""CUDA does not start: a fault of the driver's memory management (HMM)."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.knowledge.driver_faults import branch_has
from rigup.machine.kinds import Driver, Gpu, ModuleParameter, Symptom


@rule("uvm-hmm-init-failure", "likely")
def driver_of_a_faulty_branch(
    error: Symptom = seen("ollama-driver-init-failed", tag="cuda-not-initialised"),
    driver: Driver = one(vendor="nvidia"),
    off: ModuleParameter | None = one(module="nvidia_uvm", name="uvm_disable_hmm", running=("Y", "1")),
) -> Verdict:
    """CUDA is "not initialised", and the driver is of a branch that is known for it."""
    return off is None and error.get("code", "3") == "3" and branch_has("uvm-hmm", driver.version)


@rule("uvm-hmm-init-failure", "possible")
def initialisation_fails_on_a_faulty_branch(
    _error: Symptom = seen("cuda-initialization-error"),
    driver: Driver = one(vendor="nvidia"),
    off: ModuleParameter | None = one(module="nvidia_uvm", name="uvm_disable_hmm", running=("Y", "1")),
    forked: Symptom | None = seen(tag="forked-after-cuda"),
) -> Verdict:
    """The same number in words; a forked process says so too."""
    return off is None and forked is None and branch_has("uvm-hmm", driver.version)


@rule("uvm-hmm-init-failure", "possible")
def start_itself_is_refused(
    _error: Symptom = seen("cuinit-returns-3", "cuinit-not-initialised"),
    driver: Driver | None = one(vendor="nvidia"),
    parts: Gpu | None = one(mig=True),
    forked: Symptom | None = seen(tag="forked-after-cuda"),
) -> Verdict:
    """What starts CUDA says that CUDA was not started; nobody has shown the driver's version."""
    return not (driver and driver.knows("version")) and parts is None and forked is None


@rule("uvm-hmm-init-failure", "likely")
def open_module_and_cuda_is_not_initialised(
    error: Symptom = seen("cuinit-returns-3", "cuinit-not-initialised", "cuda-not-initialized"),
    statement: Symptom = seen("open-driver-in-words", "open-kernel-modules-told"),
    forked: Symptom | None = seen("fork-told", "several-processes-told"),
) -> Verdict:
    """The open module manages memory by a part of the kernel that some kernels have changed under it."""
    return forked is None and {"said": error.id, "module": statement.id}
