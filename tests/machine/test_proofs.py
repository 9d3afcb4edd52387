"""Proofs: what `rigup verify` keeps, and how long the doctor counts on it."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answer_data import diagnosed, typed
from rigup.cli.report import text
from rigup.machine.facts import Place
from rigup.machine.proof_records import Proven, record, withdraw
from rigup.machine.readers.proofs import proof
from rigup.machine.sources import Source
from rigup.machine.texts import Text
from rigup.machine.tree import Tree

KERNEL = "Linux version 6.8.0-49-generic (buildd@lcy02) (x86_64-linux-gnu-gcc-13 13.2.0) #49-Ubuntu SMP\n"
SMI = "GPU 0: NVIDIA GeForce RTX 3090 (UUID: GPU-11111111-2222-3333-4444-555555555555)\n"
UUID = "GPU-11111111-2222-3333-4444-555555555555"
TORCH = "__version__ = '2.9.1+cu126'\ncuda: Optional[str] = '12.6'\nhip: Optional[str] = None\n"
HELD = {
    "env": "/home/ada/dl",
    "framework": "torch",
    "build": "2.9.1+cu126",
    "kernel": "6.8.0-49-generic",
    "override": "",
    "checks": 17,
    "name": "NVIDIA GeForce RTX 3090",
    "isa": "sm_86",
    "uuid": UUID,
    "driver": "560.35.03",
}


@pytest.fixture
def doctor(tmp_path):
    """What the doctor says of a captured machine with a card and a torch, of which a record is kept."""

    def asked(kept=HELD, torch=TORCH, kernel=KERNEL, driver="560.35.03", at="home/ada/.local/state", more=(), **variables):
        files = {
            at + "/rigup/proofs/gpu/x.json": json.dumps(
                {
                    "schema": "rigup.proof/1",
                    "recorded_at": "2026-11-21T10:00:00Z",
                    "environment": "/home/ada/dl",
                    "devices": kept if isinstance(kept, list) else [kept],
                }
            ),
            "home/ada/dl/lib/python3.12/site-packages/torch/version.py": torch,
            "home/ada/dl/pyvenv.cfg": "home = /usr/bin\nversion = 3.12.3\n",
            "proc/version": kernel,
            "proc/driver/nvidia/version": f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {driver}  Fri Aug 16 21:39:15 UTC 2024\n",
        }
        for path, body in {**files, **dict(more)}.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(body)
        commands = [{"argv": ["nvidia-smi", "-L"], "exit": 0, "stdout": SMI}]
        (tmp_path / "commands.json").write_text(json.dumps(commands))
        environment = {"HOME": "/home/ada", "PATH": "/usr/bin", **variables}
        (tmp_path / "who.json").write_text(json.dumps({"user": "ada", "uid": 1000, "groups": ["ada"], "environment": environment}))
        return diagnosed([Source(Place(), Tree(str(tmp_path)))])

    return asked


@pytest.fixture
def machine(doctor):
    """The state of the card, as the doctor tells it, and why."""

    def state(**told):
        (card,) = doctor(**told)["machine"]["accelerators"]
        return card["state"], card["because"]

    return state


def test_a_proof_whose_facts_hold_makes_a_device_verified(machine):
    state, because = machine()
    assert state == "verified"
    assert "torch 2.9.1+cu126" in because
    assert "2026-11-21" in because


@pytest.mark.parametrize(
    "changed",
    [
        {"torch": TORCH.replace("2.9.1", "2.9.0")},
        {"kernel": KERNEL.replace("-49-", "-51-")},
        {"driver": "565.57.01"},
        {"kept": {**HELD, "isa": "sm_80"}},
        {"kept": {**HELD, "uuid": "GPU-other"}},
        {"kept": {**HELD, "env": "/home/ada/other"}},
    ],
)
def test_where_one_of_its_facts_has_changed_nothing_is_proven(machine, changed):
    assert machine(**changed)[0] == "expected"


def test_an_override_that_came_later_was_not_in_the_proof(machine):
    assert machine(HSA_OVERRIDE_GFX_VERSION="10.3.0")[0] == "expected"


def test_state_may_lie_elsewhere(machine):
    assert machine(at="var/ada", XDG_STATE_HOME="/var/ada")[0] == "verified"


def test_a_record_is_readable_by_its_owner_alone_and_can_be_taken_back():
    path = record("/home/ada/dl", [Proven(**HELD)], "quick")
    assert json.loads(Path(path).read_text())["devices"][0]["isa"] == "sm_86"
    if os.name == "posix":
        assert os.stat(path).st_mode & 0o077 == 0
    withdraw("/home/ada/dl")
    assert not os.path.exists(path)
    withdraw("/home/ada/dl")


def test_a_folder_that_cannot_be_written_leaves_no_record(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert record("/home/ada/dl", [Proven(**HELD)], "quick") is None


FAILED = {**HELD, "failed": "sorting, random", "prefix": "/home/ada/dl"}
OTHER = {**HELD, "env": "/home/ada/other", "prefix": "/home/ada/other"}


def lies(name, version, env="home/ada/dl"):
    """A package that lies in an environment."""
    return (f"{env}/lib/python3.12/site-packages/{name}-{version}.dist-info/METADATA", "")


def test_a_failure_is_told_by_the_next_doctor_with_what_to_do(doctor):
    told = doctor(kept=FAILED)
    (card,) = told["machine"]["accelerators"]
    assert card["state"] == "no"
    assert "/home/ada/dl failed `rigup verify` on 2026-11-21: sorting, random" in card["because"]
    assert "rigup verify /home/ada/dl" in card["next"]
    (one,) = told["failed_verifications"]
    assert (one["environment"], one["device"], one["framework"]) == ("/home/ada/dl", "NVIDIA GeForce RTX 3090", "torch")
    assert told["verdict"] != "healthy"
    shown = text(typed(told))
    assert "Failed verifications" in shown


@pytest.mark.parametrize(
    "changed", [{"torch": TORCH.replace("2.9.1", "2.9.0")}, {"driver": "565.57.01"}, {"kernel": KERNEL.replace("-49-", "-51-")}]
)
def test_a_failure_is_forgotten_when_its_facts_have_changed(doctor, changed):
    told = doctor(kept=FAILED, **changed)
    assert told["machine"]["accelerators"][0]["state"] == "expected"
    assert told["failed_verifications"] == []


def test_a_failure_of_the_environment_is_told_without_accusing_the_card(doctor):
    whole = {**FAILED, "uuid": "environment", "name": "", "isa": "", "driver": ""}
    told = doctor(kept=[HELD, whole])
    assert told["machine"]["accelerators"][0]["state"] == "verified"
    assert [one["device"] for one in told["failed_verifications"]] == [""]
    assert told["verdict"] == "degraded"


def test_packages_that_changed_after_a_proof_leave_nothing_proven(machine):
    held = {**HELD, "packages": ["torch==2.9.1", "torchvision==0.24.1"]}
    there = (lies("torch", "2.9.1"), lies("torchvision", "0.24.1"))
    assert machine(kept=held, more=there)[0] == "verified"


@pytest.mark.parametrize("left", [[lies("torchvision", "0.24.0")], []], ids=["another version", "gone"])
def test_a_package_of_another_version_or_gone_leaves_nothing_proven(machine, left):
    held = {**HELD, "packages": ["torch==2.9.1", "torchvision==0.24.1"]}
    assert machine(kept=held, more=[lies("torch", "2.9.1"), *left])[0] == "expected"


def test_the_proof_of_another_environment_proves_nothing_of_the_active_one(machine):
    other = ("home/ada/other/lib/python3.12/site-packages/torch/version.py", TORCH)
    assert machine(kept=OTHER, more=[other])[0] == "verified"
    assert machine(kept=OTHER, more=[other], VIRTUAL_ENV="/home/ada/dl")[0] == "expected"
    assert machine(kept=OTHER, more=[other], VIRTUAL_ENV="/home/ada/other")[0] == "verified"


def test_an_active_environment_that_is_a_link_is_the_one_that_it_leads_to(machine):
    assert machine(kept={**HELD, "prefix": "/home/ada/link"}, VIRTUAL_ENV="/home/ada/link")[0] == "verified"


def test_the_failure_of_another_environment_does_not_accuse_a_card_that_is_proven(doctor):
    other = ("home/ada/other/lib/python3.12/site-packages/torch/version.py", TORCH)
    told = doctor(kept=[HELD, {**OTHER, "failed": "sorting"}], more=[other], VIRTUAL_ENV="/home/ada/dl")
    assert told["machine"]["accelerators"][0]["state"] == "verified"
    assert [(one["environment"], one["asked"]) for one in told["failed_verifications"]] == [("/home/ada/other", False)]
    assert told["verdict"] == "healthy"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["devices", "env", "schema", "isa"]), inner),
)


@given(st.text(max_size=300) | JSON.map(json.dumps) | JSON.map(lambda one: json.dumps({"schema": "rigup.proof/1", "devices": one})))
def test_whatever_a_record_holds_is_read(body):
    assert all(isinstance(fact.env, str) for fact in proof(Text("x.json", body)))


# -- whose records are read --------------------------------------------------------------------------


def devices(report):
    return [one["env"] for one in report["machine"].get("proofs", [])]


def test_records_are_read_where_state_is_kept_and_not_in_the_home_beside_it(doctor):
    other = json.dumps({"schema": "rigup.proof/1", "devices": [{**HELD, "env": "/home/ada/other"}]})
    at = "srv/state"
    told = doctor(at=at, more={"home/ada/.local/state/rigup/proofs/gpu/y.json": other}, XDG_STATE_HOME="/srv/state")
    assert devices(told) == ["/home/ada/dl"]


def test_records_below_an_accounts_usual_home_are_anothers_while_home_is_elsewhere(doctor):
    assert devices(doctor(at="home/ada/.local/state", HOME="/srv/tests/ada")) == []
    assert devices(doctor(at="srv/tests/ada/.local/state", HOME="/srv/tests/ada")) == ["/home/ada/dl"]


@pytest.mark.parametrize(("variables", "kept"), [({}, "home/.local/state"), ({"XDG_STATE_HOME": "state"}, "state")])
def test_the_script_tells_the_records_of_the_account_that_it_runs_under(tmp_path, variables, kept):
    import subprocess

    from rigup.machine.collect import script
    from rigup.machine.collect.stream import parse

    places = {"home/.local/state": "of-the-home", "state": "of-the-state"}
    for place, env in places.items():
        path = tmp_path / place / "rigup" / "proofs" / "gpu" / "x.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"schema": "rigup.proof/1", "devices": [{**HELD, "env": env}]}))
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")}
    environment |= {name: str(tmp_path / value) for name, value in variables.items()}
    done = subprocess.run(["sh"], input=script("posix").encode(), capture_output=True, env=environment, check=True)
    told = [path for path in parse(done.stdout).snapshot.files if "/rigup/proofs/" in path]
    assert told == [str(tmp_path / kept / "rigup/proofs/gpu/x.json")]
