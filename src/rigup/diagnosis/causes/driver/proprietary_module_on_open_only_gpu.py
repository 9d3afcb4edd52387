"""This GPU needs the open kernel module."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.knowledge.gpus import open_module
from rigup.machine.kinds import Driver, Gpu, Symptom


@rule("proprietary-module-on-open-only-gpu")
def only_the_open_module_drives_it(
    gpu: Gpu = one(vendor="nvidia"), _driver: Driver = one(vendor="nvidia", flavour="proprietary")
) -> Verdict:
    """The chip is younger than the closed module."""
    return open_module(gpu.isa) == "only" and not gpu.get("seen_by")


@rule("proprietary-module-on-open-only-gpu", "likely")
def open_package_was_not_installed(
    symptom: Symptom = seen("open-package-missing-told"),
    gpu: Gpu | None = one(vendor="nvidia"),
    named: Symptom | None = seen(tag="newest-generation"),
) -> Verdict:
    """A card that only the open module drives, and somebody who says that it was not installed."""
    isa = gpu.get("isa") if gpu else None
    wanted = open_module(isa) == "only" if isa else named is not None
    return wanted and not (gpu and gpu.get("seen_by")) and {"said": symptom.id}


@rule("proprietary-module-on-open-only-gpu", "possible")
def closed_package_and_a_black_screen(
    symptom: Symptom = seen("closed-package-told"),
    _trouble: Symptom = seen("black-screen-told", tag="nvidia-driver-silent"),
    named: Symptom = seen(tag="newest-generation"),
    older: Symptom | None = seen("older-generation-named"),
) -> Verdict:
    """The closed module was installed for a card that only the open one drives, and there is no picture."""
    return older is None and {"said": symptom.id, "named": named.id}
