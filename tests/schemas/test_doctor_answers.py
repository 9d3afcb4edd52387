"""What the doctor answers, of every machine and of a sample of the cases, is of its schema."""

import json
import shutil

import msgspec
import pytest

from answers import read
from each import each
from packs import cases, machine_folder, machine_names
from rigup.cli import run
from rigup.machine import sources
from rigup.schemas.doctor import Doctor, Hosts, NotAsked

ONE_IN = 120  # cases


def asked(capsys, *words):
    run([*words, "--json"])
    return read(capsys.readouterr().out)


@pytest.mark.slow
def test_of_every_machine(capsys):
    each(machine_names(), lambda name: asked(capsys, "doctor", "--from", str(machine_folder(name))), str)


def test_of_a_sample_of_the_cases(capsys, tmp_path):
    def check(name):
        folder = cases()[name].unpack(tmp_path)
        asked(capsys, "doctor", "--from", folder, "--devices")
        shutil.rmtree(folder)

    each(sorted(cases())[::ONE_IN], check, str)


def test_of_this_machine_and_one_that_cannot_be_asked(capsys):
    assert isinstance(asked(capsys, "doctor", "--with-values"), Doctor)
    answer = asked(capsys, "doctor", "--host", "localhost", "--host", "ssh://nowhere.invalid")
    assert isinstance(answer, Hosts)
    assert isinstance(read(json.dumps(answer.hosts["localhost"])), Doctor)
    left = answer.hosts["ssh://nowhere.invalid"]
    assert msgspec.to_builtins(msgspec.convert(left, NotAsked)) == left


def test_of_a_program_that_died_and_of_what_has_changed(capsys, monkeypatch):
    opened = sources.open_source
    monkeypatch.setattr(sources, "open_source", lambda given: opened(given or str(machine_folder("nvidia-workstation"))))
    assert run(["doctor"]) == 0
    capsys.readouterr()
    assert asked(capsys, "doctor", "--since-ok").since_ok.recorded_at
    assert run(["doctor", "--json", "--", "sh", "-c", "echo RuntimeError: no; exit 3"]) == 3
    assert read(capsys.readouterr().out).program.status == 3


def test_of_two_machines_that_differ(capsys):
    folders = [str(machine_folder(name)) for name in ("nvidia-workstation", "nvidia-two-cards")]
    assert asked(capsys, "diff", *folders).differences
    assert asked(capsys, "diff", folders[0], folders[0]).equal
