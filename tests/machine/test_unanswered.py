"""Tools that hang, crash, print garbage or nothing: each is told of, and no card is called sound whose own tool is silent."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from answer_data import diagnosed, typed
from rigup.cli.issue import markdown
from rigup.cli.page import page
from rigup.cli.report import text
from rigup.machine.facts import Place
from rigup.machine.local import Local
from rigup.machine.sources import Source

pytestmark = pytest.mark.skipif(os.name != "posix", reason="stand-ins are shell scripts")
CARDS = {"nvidia": ("0x10de", "0x2204"), "amd": ("0x1002", "0x744c")}
TOOLS = {"nvidia-smi": "nvidia", "rocminfo": "amd", "dmesg": "", "docker": "", "journalctl": ""}
FAILS = {
    "hung": "exec sleep 60",
    "hung with a child": "sleep 60 & exec sleep 60",
    "hung with its output closed": "echo half an answer; exec >&- 2>&-; exec sleep 60",
    "crashed": "kill -SEGV $$",
    "crashed after some words": "echo NVIDIA-SMI 535 HSA Agents Client: [ 1.0] x kernel: y; kill -ABRT $$",
    "crashed below a shell": "sh -c 'kill -SEGV $$'; exit $?",
    "garbage": r"head -c 3000 /dev/urandom; printf '\n^Z\n'",  # bash's word for a suspended program
    "garbage without end": "exec cat /dev/zero",
    "garbage in words": "echo lorem ipsum dolor; echo '<html>502 Bad Gateway</html>'",
    "garbage and a status": "echo oops; exit 3",
    "silent": "exit 3",
}
SOUND = {  # what they say where nothing is wrong, or where they tell themselves what is
    "nvidia-smi": [
        "echo 'No devices were found'",
        "echo 'NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver.'; exit 9",
        "echo 'Failed to initialize NVML: Driver/library version mismatch'; exit 18",
        "echo 'nvidia-smi: error while loading shared libraries: libnvidia-ml.so.1: cannot open shared object file'; exit 127",
    ],
    "rocminfo": [
        "echo 'ROCk module is NOT loaded, possibly no GPU devices'; exit 1",
        "echo 'ROCk module is loaded'; echo 'Unable to open /dev/kfd read-write: Permission denied'; exit 1",
        "echo 'hsa api call failure at: /src/rocminfo.cc:1306'; exit 1",
    ],
    "dmesg": [
        "true",
        "echo 'dmesg: read kernel buffer failed: Operation not permitted'; exit 1",
        "echo '[    0.000000] Linux version 6.8.0'",
        "echo 'usb 1-1: new device'",
        "echo '[Mon Nov 24 02:11:11 2026] usb 1-1: new device'",
    ],
    "docker": [
        "printf 'Client: Docker Engine\\n Version: 27\\nServer:\\n Containers: 0\\n'",
        "echo 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock.'; exit 1",
        "echo 'permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock'; exit 1",
    ],
    "journalctl": [
        "echo '-- No entries --'",
        "echo 'No journal files were found.'; exit 1",
        "echo 'Nov 24 02:11:11 h kernel: Linux version 6.8'",
        "true",
    ],
}


class Hasty(Local):
    """This machine with other files, whose programs have half a second."""

    def run(self, argv, seconds=5.0):
        return super().run(argv, min(seconds, 0.5))


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with cards of these makers, on whose path these stand-ins are."""

    def made(makers, **programs):
        bare(tmp_path / "root", makers)
        stand_ins(tmp_path / "bin", monkeypatch, {name.replace("_", "-"): body for name, body in programs.items()})
        return diagnosed([Source(Place(), Hasty(str(tmp_path / "root")))])

    return made


def bare(root, makers):
    for number, maker in enumerate(makers):
        card = root / f"sys/bus/pci/devices/0000:0{number + 1}:00.0"
        card.mkdir(parents=True)
        for name, said in {"class": "0x030000", "vendor": CARDS[maker][0], "device": CARDS[maker][1]}.items():
            (card / name).write_text(said + "\n")
    for folder in ("sys/bus/pci/devices", "dev", "proc", "var/run"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    (root / "var/run/docker.sock").touch()
    (root / "var/log/journal/5ac0ffee").mkdir(parents=True)
    (root / "var/log/journal/5ac0ffee/system.journal").touch()


def stand_ins(folder, monkeypatch, programs):
    folder.mkdir()
    for name, body in programs.items():
        (folder / name).write_text("#!/bin/sh\n" + body + "\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder) + os.pathsep + os.environ["PATH"])


def told_of(answer, tool):
    return [one for one in answer["unanswered"] if one["command"].split()[0] == tool]


def test_a_journal_without_files_is_not_asked_for(tmp_path, monkeypatch):
    bare(tmp_path / "root", [])
    shutil.rmtree(tmp_path / "root/var/log/journal")
    stand_ins(tmp_path / "bin", monkeypatch, {"journalctl": "exec sleep 60"})
    assert not told_of(diagnosed([Source(Place(), Hasty(str(tmp_path / "root")))]), "journalctl")


@pytest.mark.parametrize("tool", sorted(TOOLS))
@pytest.mark.parametrize("how", sorted(FAILS))
def test_a_tool_that_does_not_answer_is_told_of_everywhere(machine, tool, how):
    answer = machine([TOOLS[tool]] if TOOLS[tool] else [], **{tool.replace("-", "_"): FAILS[how]})
    told = told_of(answer, tool)
    assert told
    allowed = {"garbage": ("garbage", "failed"), "garbage without end": ("garbage", "hung")}.get(how, (how.split()[0],))
    assert {one["how"] for one in told} <= ({"failed"} if how == "garbage and a status" else set(allowed))
    for form in (text(typed(answer)), page(typed(answer)), markdown(typed(answer))):
        assert tool in form.replace("\n", " ")
    assert json.loads(json.dumps(answer))["unanswered"] == answer["unanswered"]


@pytest.mark.parametrize("tool", ["nvidia-smi", "rocminfo"])
@pytest.mark.parametrize("how", sorted(FAILS))
def test_with_its_makers_card_the_verdict_is_unknown_at_best(machine, tool, how):
    answer = machine([TOOLS[tool]], **{tool.replace("-", "_"): FAILS[how]})
    assert answer["verdict"] != "healthy"


@pytest.mark.parametrize("tool", ["nvidia-smi", "rocminfo"])
def test_with_its_makers_module_alone_as_well(tmp_path, monkeypatch, tool):
    root = tmp_path / "root"
    bare(root, [])
    (root / "proc/modules").write_text({"nvidia-smi": "nvidia", "rocminfo": "amdgpu"}[tool] + " 56827904 19 - Live 0x0\n")
    stand_ins(tmp_path / "bin", monkeypatch, {tool: FAILS["silent"]})
    assert diagnosed([Source(Place(), Hasty(str(root)))])["verdict"] != "healthy"


@pytest.mark.parametrize(("tool", "makers"), [("nvidia-smi", []), ("rocminfo", []), ("dmesg", []), ("docker", []), ("nvidia-smi", ["amd"])])
def test_another_makers_tool_takes_nothing_from_a_sound_machine(machine, tool, makers):
    """It is told of, and judges nobody: there is no card that it could have spoken of."""
    silent = machine(makers, **{tool.replace("-", "_"): FAILS["silent"]})
    assert told_of(silent, tool)
    assert silent["verdict"] in (("healthy",) if not makers else ("healthy", "unknown", "degraded", "broken"))


@pytest.mark.parametrize(("tool", "body"), [(tool, body) for tool, bodies in SOUND.items() for body in bodies])
def test_an_answer_is_one_even_where_it_is_bad_news(machine, tool, body):
    answer = machine([TOOLS[tool]] if TOOLS[tool] else [], **{tool.replace("-", "_"): body})
    assert told_of(answer, tool) == []


def test_a_tool_that_is_not_there_was_not_asked(machine):
    assert machine(["nvidia", "amd"])["unanswered"] == [] or not told_of(machine, "nvidia-smi")


@pytest.mark.parametrize("body", [b"\x7fELF\x02 cut off", b"#!/nowhere/python\n"])
def test_a_tool_that_cannot_be_started_is_told_of(tmp_path, monkeypatch, body):
    bare(tmp_path / "root", ["nvidia"])
    stand_ins(tmp_path / "bin", monkeypatch, {})
    (tmp_path / "bin/nvidia-smi").write_bytes(body)
    (tmp_path / "bin/nvidia-smi").chmod(0o755)
    answer = diagnosed([Source(Place(), Hasty(str(tmp_path / "root")))])
    assert {one["how"] for one in told_of(answer, "nvidia-smi")} == {"not-started"}
    assert answer["verdict"] != "healthy"


@pytest.mark.parametrize("how", ["crashed", "garbage", "silent"])
def test_the_command_itself_tells_of_it(tmp_path, monkeypatch, how):
    stand_ins(tmp_path / "bin", monkeypatch, {"nvidia-smi": FAILS[how]})
    argv = [sys.executable, "-m", "rigup", "doctor"]
    plain = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=120)
    data = subprocess.run([*argv, "--json"], capture_output=True, text=True, check=False, timeout=120)
    assert "nvidia-smi" in plain.stdout
    assert {one["how"] for one in told_of(json.loads(data.stdout), "nvidia-smi")} == {how}


def test_a_captured_machine_tells_of_what_hung_when_it_was_captured(tmp_path, monkeypatch):
    from answer_data import diagnose
    from rigup.machine.recorder import Recorder

    bare(tmp_path / "root", ["nvidia"])
    stand_ins(tmp_path / "bin", monkeypatch, {"nvidia-smi": FAILS["hung"]})
    recorder = Recorder(Hasty(str(tmp_path / "root")))
    live = diagnosed([Source(Place(), recorder)])
    recorder.kept.write(str(tmp_path / "tree"))
    kept = diagnose(str(tmp_path / "tree"))
    assert told_of(kept, "nvidia-smi") == told_of(live, "nvidia-smi") != []
    assert kept["verdict"] == live["verdict"] != "healthy"
