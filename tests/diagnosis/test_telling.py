"""What would tell more: on this system, of these cards, in words that a person can type."""

from each import over
from rigup.diagnosis.telling import would_tell
from rigup.machine import readers  # noqa: F401  (registers them)
from rigup.machine.facts import Fact, Place, Reading, Where, kinds
from rigup.machine.kinds import Gpu, Platform
from rigup.machine.store import Facts


def stated(kind: type[Fact], **fields: str) -> Fact:
    return kind(Place(), {name: Reading(value, Where("a.txt", 1, value), 1) for name, value in fields.items()})


def facts(system: str = "", vendor: str = "") -> Facts:
    made = Facts()
    for fact in [stated(Platform, system=system)] if system else []:
        made.state(fact)
    for fact in [stated(Gpu, name="a card", vendor=vendor)] if vendor else []:
        made.state(fact)
    return made


def test_a_variable_is_told_by_env():
    assert "env" in would_tell("Variable", facts())


@over(list(kinds()))
def test_nothing_is_asked_for_that_a_person_cannot_type(kind: str):
    for system in ("", "linux", "windows", "macos"):
        told = " ".join(would_tell(kind, facts(system)))
        assert not any(name + "." in told for name in kinds()), told
        assert "rigup/machine" not in told


def test_each_system_is_asked_in_its_own_tongue():
    told = {system: " ".join(would_tell("Gpu", facts(system))) for system in ("linux", "windows", "macos")}
    assert "system_profiler" in told["macos"]
    assert "/sys/" not in told["macos"] + told["windows"]
    assert "system_profiler" not in told["linux"] + told["windows"]


def test_nobody_is_sent_to_another_makers_tool():
    assert "nvidia-smi" in would_tell("Gpu", facts("linux", "nvidia"))
    assert not [one for one in would_tell("Gpu", facts("linux", "amd")) if "nvidia" in one]
    assert not [one for one in would_tell("Gpu", facts("linux", "intel")) if "nvidia" in one or "rocm" in one]
