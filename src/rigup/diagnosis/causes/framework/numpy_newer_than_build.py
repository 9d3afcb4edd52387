"""Code that was compiled for NumPy 1 stands beside NumPy 2."""

from rigup.diagnosis.rule import Verdict, one, rule
from rigup.knowledge.cuda import version_key
from rigup.knowledge.numpy_ceilings import numpy_below
from rigup.machine.kinds import Package, Platform

_CALLED = {"pytorch": "torch", "tensorflow-intel": "tensorflow", "tensorflow-cpu": "tensorflow", "tensorflow-gpu": "tensorflow"}


@rule("numpy-newer-than-build")
def numpy_above_the_ceiling_of_a_framework(
    framework: Package = one(name=("torch", "pytorch", "tensorflow", "tensorflow-intel", "tensorflow-cpu", "tensorflow-gpu")),
    numpy: Package = one(name="numpy"),
    platform: Platform | None = None,
) -> Verdict:
    """Both stand in one environment, and the release of the framework goes with NumPy below another one."""
    if framework.get("env") != numpy.get("env"):
        return False
    name = _CALLED.get(framework.name, framework.name)
    system = str(platform.get("system") or "linux") if platform else "linux"
    below = numpy_below(name, framework.version, system)
    too_new = bool(below) and version_key(numpy.version) >= version_key(below)
    return too_new and {"package": framework.name, "have": framework.version, "numpy": numpy.version}
