"""The open kernel module cannot drive this GPU."""

from rigup.diagnosis.causes.driver.other_ways import last_branch_for_it
from rigup.diagnosis.causes.places import inside
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen
from rigup.knowledge.gpus import driver_branch_for, open_module
from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import Driver, Gpu, Symptom, SystemPackage

_OPEN = lazy_regex(r"(?:.*-)?nvidia-(?:.*-)?open(?:-.*)?")


@rule("open-module-on-pre-turing-gpu")
def open_module_cannot_drive_it(gpu: Gpu = one(vendor="nvidia"), _driver: Driver = one(vendor="nvidia", flavour="open")) -> Verdict:
    """The chip has no GSP, without which the open module does nothing."""
    return open_module(gpu.isa) == "impossible" and not gpu.get("seen_by")


@rule("open-module-on-pre-turing-gpu", "likely")
def open_package_for_an_old_card(
    package: SystemPackage = one(state="installed"),
    gpu: Gpu = one(vendor="nvidia"),
    driver: Driver | None = one(vendor="nvidia"),
    dropped: Symptom | None = seen("nvrm-legacy-gpu", "nvrm-ignores-a-legacy-card"),
) -> Verdict:
    """A list of packages has the open module, and no driver works on a chip without GSP. Where the branch itself has dropped the card, that is the cause."""
    if dropped is not None:
        return False
    unused = driver is None and not gpu.get("seen_by") and gpu.get("driver") != "nvidia"
    mine = _OPEN.fullmatch(package.name) and open_module(gpu.isa) == "impossible"
    return bool(mine) and unused and not inside(package) and {"branch": driver_branch_for(gpu.isa)}


@rule("open-module-on-pre-turing-gpu", "likely")
def open_module_for_an_old_card_as_people_say(
    statement: Symptom = seen("open-driver-in-words"),
    _refused: Symptom = seen("card-refused-in-words", "nvidia-smi-no-devices", "nvidia-smi-cannot-communicate"),
    gpu: Gpu = one(vendor="nvidia"),
    dropped: Symptom | None = seen("nvrm-legacy-gpu", "nvrm-ignores-a-legacy-card"),
) -> Verdict:
    """A person names the open module, a card from before GSP, and that the one refuses the other."""
    known = gpu if gpu.get("isa") else None
    unused = dropped is None and not gpu.get("seen_by") and known is not None and open_module(known.isa) == "impossible"
    return unused and {"said": statement.id, "branch": driver_branch_for(gpu.isa)}


mends("open-module-on-pre-turing-gpu")(last_branch_for_it)


@mends("open-module-on-pre-turing-gpu")
def other_flavour_of_the_branch(package: SystemPackage = one(state="installed")) -> Params:
    """Of packages that are listed the closed one of the same branch takes the open one's place, which changes least."""
    return {"exchanged": "proprietary"} if _OPEN.fullmatch(package.name) and not inside(package) else {}
