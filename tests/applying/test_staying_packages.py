"""What stays in an environment goes on working beside what comes: real plans for an environment that is there."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from small_world import World

from rigup.plan.environments import record
from tiny_environments import make_wheel

pytestmark = pytest.mark.packages

Plan = Callable[..., tuple[dict[str, str], str]]


def put(environment: Path, name: str, version: str, *needs: str) -> None:
    """A package as an installer leaves it, of metadata alone."""
    site = next(environment.glob("lib/python3*/site-packages"))
    info = site / f"{name}-{version}.dist-info"
    info.mkdir()
    told = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *(f"Requires-Dist: {one}" for one in needs)]
    (info / "METADATA").write_text("\n".join([*told, "", "Requires-Dist: prose<1\n"]))


@pytest.fixture
def plan(world: World) -> Plan:
    """A plan for an environment that holds `stone 1.0` and `bridge 1.0`, which wants `stone<2`: packages, and all it says."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", world.environment], check=True)
    wheels = world.state.parent / "wheels"
    for version in ("1.0", "1.1", "2.0"):
        make_wheel(wheels, "stone", version)
    make_wheel(wheels, "walker", "1.0", requires=("stone>=1.1",))
    make_wheel(wheels, "bridge", "1.0", requires=("stone<2",))
    make_wheel(wheels, "bridge", "2.0", requires=("stone>=2",))
    put(world.environment, "stone", "1.0")
    put(world.environment, "bridge", "1.0", "stone<2,>=0.5", 'stone>=9; extra == "tests"', "no name at all <<")

    def made(*wishes: str) -> tuple[dict[str, str], str]:
        told = {"PIP_NO_INDEX": "1", "UV_OFFLINE": "1", "PIP_FIND_LINKS": str(wheels), "PIP_CONFIG_FILE": os.devnull}
        _status, said = world.rigup("plan", *wishes, "--env", str(world.environment), "--json", **told)
        answer = json.loads(said)
        packages = {one["name"]: one["version"] for one in answer["resolution"]["packages"]}
        return packages, " ".join([answer["resolution"]["refused"] or "", *answer["warnings"]])

    return made


def test_a_release_that_all_can_take_is_taken_though_a_newer_one_is_there(plan: Plan) -> None:
    assert plan("walker")[0] == {"walker": "1.0", "stone": "1.1"}


def test_what_cannot_stay_as_it_is_comes_along_and_the_plan_says_why(plan: Plan) -> None:
    packages, said = plan("stone==2.0")
    assert packages == {"stone": "2.0", "bridge": "2.0"}
    assert "bridge 1.0, which is there, wants stone<2,>=0.5: it becomes 2.0." in said


def test_a_release_that_somebody_asked_for_is_not_replaced_for_another_wish(plan: Plan, world: World) -> None:
    record.write(world.environment, record.Record(wish=("bridge==1.0",)))
    packages, said = plan("stone==2.0")
    assert packages == {}
    assert "bridge 1.0, which is in the environment, wants stone<2,>=0.5, and stone 2.0 would come." in said
    assert plan("walker")[0] == {"walker": "1.0", "stone": "1.1"}


def test_what_no_index_has_holds_what_it_needs(plan: Plan, world: World) -> None:
    put(world.environment, "ours", "0.3", "stone==1.0")
    assert plan("stone==2.0")[0] == {}
    assert plan("stone", "bridge")[0] == {"stone": "1.0", "bridge": "1.0"}


def test_what_was_hurt_before_does_not_keep_anything_from_coming(plan: Plan, world: World) -> None:
    put(world.environment, "sick", "1.0", "stone>=5", "gone<1")
    assert plan("walker")[0] == {"walker": "1.0", "stone": "1.1"}
