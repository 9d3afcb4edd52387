"""TensorFlow and JAX without a part for GPUs."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.machine.kinds import Driver, Gpu, Platform, Symptom, TensorFlow, Variable

_NOT_LINUX = ("windows", "macos")


def is_named_after_cuda(build: str) -> bool:
    """Whether a build of conda is named after CUDA."""
    return build.startswith(("cuda", "gpu_"))


@rule("tensorflow-cpu-build", "likely")
def lists_no_gpu_that_is_there(
    answered: TensorFlow = one(gpus=0), card: Gpu = one(vendor="nvidia", seen_by="nvidia-smi"), platform: Platform | None = one(system=_NOT_LINUX),
    named: Symptom | None = seen("tf-library-not-loaded", "tf-library-not-dlopened", "tf-speaks-of-cuda"),
) -> Verdict:  # fmt: skip
    """A row of nvidia-smi shows that the driver works, and TensorFlow lists nothing and names nothing that it misses."""
    return named is None and platform is None and bool(card.fields) and {"version": answered.get("version")}


@rule("tensorflow-cpu-build", "likely")
def trains_without_a_word_of_cuda(
    _advice: Symptom = seen("tf-greets", "tf-could-use-more-instructions"), _trains: Symptom = seen("tf-trains-after-its-advice"),
    driver: Driver | None = one(vendor="nvidia"), card: Gpu | None = one(vendor="nvidia"), asked: Variable | None = one(name="CUDA_VISIBLE_DEVICES"),
    spoke: Symptom | None = seen("tf-speaks-of-cuda", tag="tensorflow-named"), windows: Platform | None = one(system="windows"),
) -> Verdict:  # fmt: skip
    """A build with CUDA names its devices between its advice on the processor and the first step."""
    intended = asked is not None and bool(re.match(r"\d", str(asked.get("value"))))
    return spoke is None and windows is None and bool(driver or card or intended)
