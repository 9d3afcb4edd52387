"""Steps are judged by what was seen to stand there."""

import msgspec
import pytest

from rigup.plan.judge import state
from rigup.plan.mends import mends
from rigup.plan.steps import steps
from rigup.stack.candidate import Change
from rigup.stack.choose import choose
from rigup.stack.profile import read_profile
from rigup.stack.system_state import SystemState
from rigup.stack.troubles import Asked, Trouble
from rigup.stack.wish import Wish
from rigup.steps import make, make_as

THERE = SystemState(
    groups=("video",),
    assigned=("video", "render"),
    engines={"docker": ("nvidia", "runc")},
    container_toolkit=True,
    toolkits={"cuda": ("12.6.11",), "rocm": ("6.2.4",)},
    kernels=("6.8.0-49-generic", "6.14.0-36-generic"),
    options={"ttm.pages_limit": "25600000", "iommu": "pt"},
    packages={"nvidia-fabricmanager-550": "550.127.05-1"},
)


@pytest.fixture
def choice():
    site = read_profile("RTX 3090, driver 550.144.03, ubuntu 22.04, python 3.12").but(system_state=THERE)
    return choose(Wish(), site)


@pytest.mark.parametrize(
    ("kind", "params", "there"),
    [
        ("join-group-yourself", {"group": "render"}, True),
        ("join-group-yourself", {"group": "docker"}, False),
        ("set-up-container-toolkit", {}, True),
        ("tell-engine", {"engine": "docker"}, True),
        ("tell-engine", {"engine": "containerd"}, False),
        ("describe-devices", {}, False),
        ("install-engine", {"engine": "docker"}, True),
        ("install-engine", {"engine": "podman"}, False),
        ("install-cuda-toolkit", {"version": "12.6"}, True),
        ("install-cuda-toolkit", {"version": "11.8"}, False),
        ("install-rocm-release", {"version": "6.2.4"}, True),
        ("install-kernel", {"version": "6.11"}, True),
        ("install-kernel", {"version": "6.17"}, False),
        ("set-module-option", {"module": "ttm", "name": "pages_limit", "value": "25600000"}, True),
        ("set-module-option", {"module": "ttm", "name": "pages_limit", "value": "1"}, False),
        ("set-kernel-argument", {"argument": "iommu=pt"}, True),
        ("set-kernel-argument", {"argument": "iommu=on"}, False),
        ("install-fabric-manager", {"branch": "550"}, True),
        ("install-fabric-manager", {"branch": "580"}, False),
        ("install-system-packages", {"packages": "nvidia-fabricmanager-550"}, True),
        ("log-in-again", {}, False),
        ("restart-machine", {}, False),
    ],
)
def test_a_step_is_satisfied_by_what_stands_there_and_by_nothing_else(choice, kind, params, there):
    step = make_as(kind, params, ())
    assert (state(step, choice)[0] == "satisfied") is there


def test_a_machine_in_words_has_nothing_of_it():
    bare = choose(Wish(), read_profile("RTX 3090, driver 550.144.03, ubuntu 22.04, python 3.12"))
    assert state(make("set-up-container-toolkit", {}), bare)[0] == "needed"


def test_podman_is_used_where_it_alone_is_there():
    site = read_profile("RTX 3090, driver 550.144.03, ubuntu 22.04").but(system_state=SystemState(engines={"podman": ()}))
    told = [argv[0] for step in steps(choose(Wish(manager="docker"), site)) for argv in step.commands]
    assert "podman" in told
    assert "docker" not in told


@pytest.mark.parametrize(("source", "purged"), [("Ubuntu's archive", False), ("NVIDIA's repository", True), ("", False)])
def test_a_driver_of_another_provider_goes_first(source, purged):
    site = read_profile("RTX 3090, driver 470.256.02, ubuntu 22.04, python 3.12").but(system_state=SystemState(driver_source=source))
    made = steps(choose(Wish(prefer="newest"), site))
    assert any(step.kind == "remove-driver" for step in made) is purged
    assert not purged or source in next(step.because for step in made if step.kind == "remove-driver")


def test_nouveau_that_holds_a_card_beside_an_installed_driver_is_kept_away():
    site = read_profile("RTX 3090, driver none, ubuntu 22.04, python 3.12")
    held = site.but(system_state=SystemState(bound=("nouveau",), driver_source="Ubuntu's archive"))
    kinds = [{step.kind for step in steps(choose(Wish(), one))} for one in (site, held)]
    assert "blacklist-module" not in kinds[0]
    assert "blacklist-module" in kinds[1]


# -- what a plan mends ------------------------------------------------------------------------------


def trouble(kind, **params):
    return Trouble(cause="a-cause", title="A title", severity="error", asks=(Asked(kind=kind, params=params),))


@pytest.mark.parametrize(
    ("told", "mended"),
    [
        (trouble("install-driver-branch", vendor="NVIDIA", branch="580"), True),
        (trouble("join-group-yourself", group="render"), True),
        (trouble("join-group-yourself", group="docker"), False),
        (trouble("install-torch", torch="2.15.0"), False),  # a new environment leaves the old one as it is
        (trouble("load-module", module="nvidia_uvm"), False),
    ],
)
def test_a_plan_names_the_findings_that_its_steps_mend(told, mended):
    site = read_profile("RTX 3090, driver none, ubuntu 22.04, python 3.12").but(troubles=(told,))
    choice = choose(Wish(), site)
    more = Change(change="groups", have=None, to="render", why="")
    choice = msgspec.structs.replace(choice, changes=(*choice.changes, more))
    found = mends(choice, steps(choice))
    assert [one.cause for one in found] == (["a-cause"] if mended else [])
    assert all(one.steps for one in found)


def test_packages_mend_the_environment_that_is_there():
    site = read_profile("RTX 3090, driver 550.144.03, ubuntu 22.04, python 3.12").but(
        troubles=(trouble("install-torch", torch="2.14.1"),), environment="/e", installed={"torch": "2.5.1+cpu"}
    )
    choice = choose(Wish(), site)
    assert [one.cause for one in mends(choice, steps(choice))] == ["a-cause"]
