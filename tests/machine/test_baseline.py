"""Records of healthy runs: written whole and only when something changed, private, bounded, and never in the way."""

import json
import os
import stat

import pytest

from packs import machine_folder
from rigup.machine import baseline
from rigup.machine.facts import Place, Reading, Where
from rigup.machine.kinds import PackageSource, Platform, Variable
from rigup.machine.store import Facts

POSIX = pytest.mark.skipif(os.name != "posix", reason="modes and owners are POSIX's")


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def facts(**variables):
    made = Facts()
    where = Where("env", 1, "")
    fields = [(Platform, {"release": "6.8.0-45"})]
    fields += [(Variable, {"name": name, "value": value}) for name, value in variables.items()]
    for kind, known in fields:
        made.state(kind(Place(world="host", process="shell"), {n: Reading(v, where) for n, v in known.items()}))
    return made


def files(state):
    return sorted(path for path in state.rglob("*") if path.is_file())


def test_a_healthy_state_is_kept_and_found_again():
    assert baseline.record(facts(CUDA_VISIBLE_DEVICES="0"))
    (kept,) = baseline.records(facts())
    assert kept.machine.facts["Platform"][0][1] == {"release": "6.8.0-45"}
    assert kept.machine.facts["Variable"][0][1]["value"] == "0"


def test_the_same_state_is_not_written_again(state):
    assert baseline.record(facts(CUDA_VISIBLE_DEVICES="0"))
    before = [(path, path.stat().st_mtime_ns, path.stat().st_ino) for path in files(state)]
    assert not baseline.record(facts(CUDA_VISIBLE_DEVICES="0", TERM="dumb", PWD="/tmp"))
    assert [(path, path.stat().st_mtime_ns, path.stat().st_ino) for path in files(state)] == before


def test_a_few_older_states_stay_behind_it(state):
    for number in range(8):
        assert baseline.record(facts(CUDA_VISIBLE_DEVICES=str(number)))
    kept = [one.machine.facts["Variable"][0][1]["value"] for one in baseline.records(facts())]
    assert kept == ["7", "6", "5", "4"]
    assert len(files(state)) == 4


@POSIX
def test_it_is_readable_by_its_owner_alone(state):
    baseline.record(facts())
    assert [stat.S_IMODE(path.stat().st_mode) for path in files(state)] == [0o600]
    assert stat.S_IMODE(baseline.folder().stat().st_mode) == 0o700


def test_secrets_are_not_kept(state):
    token = "hf_" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYzA"
    secret = facts(HF_TOKEN=token, MY_PASSWORD="hunter2-secret", CUDA_FLAGS="--token " + token, ANYTHING="private words")
    login = {"tool": "pip", "name": "index-url", "path": "env", "entries": ["https://ada:s3cretword@mirror.example/simple"]}
    known = {name: Reading(value, Where("pip.conf", 1, "")) for name, value in login.items()}
    secret.state(PackageSource(Place(world="host"), known))
    assert baseline.record(secret)
    (path,) = files(state)
    text = path.read_text()
    assert "mirror.example" in text
    assert not [word for word in (token, "hunter2", "s3cretword", "private words") if word in text]
    assert not baseline.record(secret)


def test_each_environment_has_its_own_record(state, monkeypatch):
    for prefix in ("/home/ada/one", "/home/ada/two"):
        monkeypatch.setattr(baseline, "environment", lambda _facts, prefix=prefix: prefix)
        baseline.record(facts())
    assert len(files(state)) == 2
    monkeypatch.setattr(baseline, "environment", lambda _facts: "/home/ada/three")
    assert len(baseline.records(facts())) == 2


def test_environments_that_come_and_go_do_not_pile_up(state, monkeypatch):
    monkeypatch.setattr(baseline, "_MOST_PLACES", 2)
    for number in range(12):
        monkeypatch.setattr(baseline, "environment", lambda _facts, number=number: f"/home/ada/{number}")
        baseline.record(facts())
    assert len(files(state)) <= 8


def test_a_state_that_is_too_large_is_not_kept(state, monkeypatch):
    monkeypatch.setattr(baseline, "_MOST_BYTES", 100)
    assert not baseline.record(facts())
    assert files(state) == []


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"machine": 7}', b"\xff" * 100, b'{"schema": "other/1"}'])
def test_a_spoilt_record_is_no_record(body):
    baseline.record(facts())
    (path,) = baseline.folder().glob("*.json")
    path.write_bytes(body)
    assert baseline.records(facts()) == []
    assert baseline.record(facts())


def test_a_state_folder_that_cannot_be_made_is_no_trouble(state):
    state.write_text("a file is in the way")
    assert not baseline.record(facts())
    assert baseline.records(facts()) == []


@POSIX
def test_root_leaves_nothing_in_the_home_of_another(state, monkeypatch):
    state.mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: state.stat().st_uid + 1)
    assert not baseline.record(facts())
    assert files(state) == []


def test_a_write_that_fails_leaves_the_old_record(monkeypatch):
    baseline.record(facts())
    with monkeypatch.context() as broken:
        broken.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
        assert not baseline.record(facts(CUDA_VISIBLE_DEVICES="1"))
    assert len(baseline.records(facts())) == 1
    assert [path.name for path in baseline.folder().iterdir() if path.name.startswith(".draft")] == []


@pytest.mark.long
def test_a_whole_machine_is_small(state):
    from rigup.diagnosis.answer import examined
    from rigup.machine.sources import open_source

    seen = examined(open_source(str(machine_folder("hpc-node"))))
    assert baseline.record(seen.facts)
    assert sum(path.stat().st_size for path in files(state)) < 60_000
    assert json.loads(files(state)[0].read_text())["environment"]
