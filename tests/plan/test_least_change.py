"""What stands in an environment and serves is kept, unless something else was asked for."""

import pytest

from answer_data import plan_of as answer
from rigup.cli.plan_report import text
from rigup.plan.answer import answer as planned
from rigup.plan.render import rendered
from rigup.stack.choose import choose
from rigup.stack.profile import read_profile
from rigup.stack.troubles import Asked, Trouble
from rigup.stack.wish import Wish, read_wishes

_MACHINE = "RTX 3090, driver 535.129.03, ubuntu 22.04, python 3.11"


def chosen(installed, *wishes, machine=_MACHINE, **options):
    site = read_profile(machine).but(installed=installed, environment="/home/ada/env", **options.pop("site", {}))
    return choose(Wish(packages=read_wishes(wishes), **options), site)


def test_a_torch_that_serves_is_kept_and_a_newer_one_is_told():
    found = chosen({"torch": "2.6.0+cu126"})
    assert answer(found)["verdict"] == "ready"
    assert found.packages == {"torch": "2.6.0+cu126"}
    assert any("--prefer newest" in line.because for line in found.turned_down)


def test_the_default_index_s_wheel_of_a_release_is_the_one_of_its_variant_s_index():
    assert answer(chosen({"torch": "2.6.0+cu124"}))["verdict"] == "ready"


def test_who_wants_the_newest_gets_it():
    assert chosen({"torch": "2.6.0+cu126"}, prefer="newest").packages["torch"] != "2.6.0+cu126"


@pytest.mark.parametrize("installed", [{"torch": "2.6.0+cpu"}, {"torch": "2.15.0+cu132"}])
def test_a_torch_that_does_not_serve_is_renewed(installed):
    """One runs on the CPU alone, the other wants a newer driver."""
    found = chosen(installed)
    assert found.packages["torch"] != installed["torch"]
    assert answer(found)["devices"][0]["served"]


def test_a_companion_that_is_asked_for_is_taken_for_the_torch_that_stands():
    found = chosen({"torch": "2.6.0+cu126"}, "torchvision")
    assert found.packages == {"torch": "2.6.0+cu126", "torchvision": "0.21.0+cu126"}


def test_what_was_asked_for_goes_before_what_stands():
    assert chosen({"torch": "2.6.0+cu126"}, "torch>=2.7").packages["torch"] != "2.6.0+cu126"


def test_what_is_at_fault_is_not_kept():
    fault = Trouble(cause="gpu-code-missing", title="", severity="error", asks=(Asked(kind="choose-build"),))
    assert chosen({"torch": "2.6.0+cu126"}, site={"troubles": (fault,)}).packages["torch"] != "2.6.0+cu126"


@pytest.mark.parametrize("system", ["ubuntu 22.04", "windows 11"])
def test_a_script_for_what_is_ready_says_that_nothing_is_to_be_done(system):
    machine = _MACHINE.replace("ubuntu 22.04", system).replace("535.129.03", "566.36")
    script = rendered(chosen({"torch": "2.6.0+cu126"}, machine=machine), "script")
    assert script.splitlines()[-1].startswith("# Nothing is to be done")
    assert all(line.startswith("#") for line in script.splitlines())


def test_a_plan_names_the_index_that_it_counts_on():
    told = " ".join(text(planned(chosen({}, "torch==2.6.0+cu126"))).split())
    assert "It counts on https://download.pytorch.org/whl/" in told
    assert "It counts on" not in text(planned(chosen({"torch": "2.6.0+cu126"})))


def test_a_package_that_no_table_knows_brings_no_framework_along():
    plan = planned(chosen({}, "numpy"))
    assert (plan.packages, plan.requirements, plan.verdict) == ({}, ["numpy"], "possible")
    assert any("numpy" in line for line in plan.warnings)
    assert "on the CPU alone" not in text(plan)


def test_a_package_that_stands_on_torch_brings_it_along():
    assert "torch" in answer(chosen({}, "ultralytics"))["packages"]
