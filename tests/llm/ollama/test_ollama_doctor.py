"""`rigup ollama doctor`: what the service runs with, on captured machines and logs, and the split of models in memory."""

import importlib.util
import json
from pathlib import Path

import msgspec
import pytest

from packs import cases, machine_files, unpack
from rigup.cli import run
from rigup.fit.pools import Pool
from rigup.llm.ollama import loaded
from rigup.llm.ollama.examining import examined
from rigup.llm.ollama.reading import devices, last_start, read
from rigup.machine.host import Answer
from rigup.schemas.ollama import Integrated

TESTS = Path(__file__).parents[2]
GIB = 1 << 30
COMPUTES = (
    'time=2025-01-02T09:01:12Z level=INFO source=types.go:131 msg="inference compute" id=GPU-1 library=cuda variant=v12 '
    'compute=8.6 driver=12.4 name="NVIDIA GeForce RTX 3080" total="9.7 GiB" available="8.9 GiB"\n'
)
TABLE = (
    "NAME              ID              SIZE      PROCESSOR          CONTEXT    UNTIL\n"
    "qwen3:8b          500a1f067a9f    6.6 GB    24%/76% CPU/GPU    4096       4 minutes from now\n"
    "llama3.2:latest   a80c4f17acd5    3.4 GB    100% GPU           8192       Forever\n"
    "tiny:latest       a80c4f17acd6    1.0 GB    100% CPU           512        Stopping...\n"
)


class Machine:
    """A host on which some programs answer, and nothing else is there."""

    def __init__(self, files=None, **said):
        self.files, self.said = files or {}, said

    def run(self, argv, seconds=5.0):
        told = self.said.get("_".join(argv[:2]).replace("--", ""))
        return Answer(None, "absent") if told is None else Answer(told)

    def read(self, path, limit=0):
        return Answer(self.files[path]) if path in self.files else Answer(None, "absent")


def by_name(answer):
    return {one.name: one for one in answer.settings}


@pytest.fixture(scope="module")
def apu(tmp_path_factory):
    """A machine with a Radeon 780M on which ollama's service has its override."""
    folder = tmp_path_factory.mktemp("apu")
    unpack(machine_files("amd-apu"), folder)
    return folder


def test_an_override_that_the_service_has_is_in_force(apu):
    told = examined(str(apu))
    override = by_name(told)["HSA_OVERRIDE_GFX_VERSION"]
    assert (told.verdict, told.manager, told.user) == ("healthy", "systemd", "ollama")
    assert (override.state, override.running, override.source) == (
        "in-force",
        "11.0.0",
        "/etc/systemd/system/ollama.service.d/override.conf",
    )
    assert [(one.library, one.compute) for one in told.devices] == [("rocm", "gfx1103")]
    assert told.models.path == "/usr/share/ollama/.ollama/models"
    [inside] = told.integrated
    assert (inside.name, inside.carved_out, inside.counted) == ("AMD Radeon 780M", 4 * GIB, int(13.7 * GIB))


def test_an_override_of_the_shell_alone_is_named_with_the_doctors_cause(tmp_path, capsys):
    folder = cases()["override-not-in-service/break-amd-apu"].unpack(tmp_path)
    told = examined(folder)
    assert told.verdict == "broken"
    assert by_name(told)["HSA_OVERRIDE_GFX_VERSION"].state == "shell-only"
    assert [one.library for one in told.devices] == ["cpu"]
    assert [one.cause for one in told.findings] == ["override-not-in-service"]
    assert run(["ollama", "doctor", "--from", folder]) == 1
    said = capsys.readouterr().out
    assert "in your shell only" in said
    assert "rigup-$2.conf" in said


@pytest.mark.long
def test_findings_about_pythons_are_left_to_the_doctor(tmp_path):
    folder = cases()["cpu-only-torch/break-nvidia-workstation"].unpack(tmp_path)
    told = examined(folder)
    assert (told.verdict, told.findings) == ("absent", [])


def test_a_unit_that_says_what_the_server_does_not_have_yet(apu, tmp_path):
    unpack(machine_files("amd-apu"), tmp_path)
    unit = tmp_path / "etc/systemd/system/ollama.service.d/override.conf"
    unit.write_text(unit.read_text() + 'Environment="OLLAMA_FLASH_ATTENTION=1" "OLLAMA_HOST=127.0.0.1"\n')
    told = by_name(examined(str(tmp_path)))
    assert told["OLLAMA_FLASH_ATTENTION"].state == "not-taken-over"
    assert told["OLLAMA_FLASH_ATTENTION"].running == "false"
    assert told["OLLAMA_HOST"].state == "in-force"  # its log writes the address out


def test_a_log_alone_tells_devices_and_what_it_runs_with(tmp_path, capsys):
    log = tmp_path / "ollama.log"
    log.write_text('level=INFO msg="server config" env="map[OLLAMA_KEEP_ALIVE:24h0m0s HSA_OVERRIDE_GFX_VERSION:]"\n' + COMPUTES)
    assert run(["ollama", "doctor", "--from", str(log), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == "rigup.ollama-doctor/1"
    assert told["devices"] == [
        {"library": "cuda", "name": "NVIDIA GeForce RTX 3080", "compute": "8.6", "total": int(9.7 * GIB), "available": int(8.9 * GIB)}
    ]
    assert {one["name"]: one["running"] for one in told["settings"]} == {"OLLAMA_KEEP_ALIVE": "24h0m0s"}


def test_only_the_last_start_counts():
    log = "server config A\n" + COMPUTES.replace("cuda", "cpu") + "server config B\n" + COMPUTES
    assert [one.library for one in devices(last_start(log))] == ["cuda"]
    assert last_start("no start\n" + COMPUTES).startswith("no start")


def test_the_environment_of_the_running_process_is_seen_and_no_secret_of_it(apu, monkeypatch):
    from rigup.machine import sources

    made = sources.open_source(str(apu))
    host = made[0].host
    files = {
        "/sys/fs/cgroup/system.slice/ollama.service/cgroup.procs": "77\n",
        "/proc/77/environ": "OLLAMA_NUM_PARALLEL=3\x00AWS_SECRET_ACCESS_KEY=hush\x00PATH=/bin\x00",
    }
    before = host.read
    monkeypatch.setattr(host, "read", lambda path, limit=0: Answer(files[path]) if path in files else before(path))
    monkeypatch.setattr("rigup.llm.ollama.reading.open_source", lambda _path: made)
    seen = read(None)
    assert (seen.running, seen.environment["OLLAMA_NUM_PARALLEL"]) == (True, "3")
    texts = [text.body for one in seen.sources for text in one.texts]
    assert any("OLLAMA_NUM_PARALLEL=3" in text for text in texts)
    assert not any("hush" in text for text in texts)


def test_without_ollama_it_says_so(tmp_path, capsys):
    unpack(machine_files("cpu-server"), tmp_path)
    assert run(["ollama", "doctor", "--from", str(tmp_path)]) == 1
    assert "There is no ollama here" in capsys.readouterr().out


def test_rows_of_ollama_ps():
    assert loaded.rows(TABLE) == [
        ("qwen3:8b", "6.6 GB", 76, 4096),
        ("llama3.2:latest", "3.4 GB", 100, 8192),
        ("tiny:latest", "1.0 GB", 0, 512),
    ]
    older = "NAME\tID\tSIZE\tPROCESSOR\tUNTIL\n".expandtabs(16) + "a:b\tx\t1.2 GB\t100% GPU\tForever\n".expandtabs(16)
    assert loaded.rows(older) == [("a:b", "1.2 GB", 100, None)]
    assert loaded.rows("") == loaded.rows("Error: connection refused\n") == []


@pytest.fixture(scope="module")
def gguf(tmp_path_factory):
    """A header of an 8-billion-parameter model, behind which nothing lies."""
    spec = importlib.util.spec_from_file_location("ggufs_of_fit", TESTS / "fit" / "ggufs.py")
    ggufs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(ggufs)
    return ggufs.write(tmp_path_factory.mktemp("gguf") / "blob", *ggufs.llama())


def pools(card):
    return [
        Pool(name="card", kind="vram", backend="cuda", total=card, free=card),
        Pool(name="RAM", kind="ram", backend="cpu", total=64 * GIB, free=60 * GIB),
    ]


def held(gguf, card, integrated=(), table=TABLE):
    host = Machine(ollama_ps=table.splitlines()[0] + "\n" + table.splitlines()[1], ollama_show=f"# Modelfile\nFROM {gguf}\nTEMPLATE x\n")
    return loaded.loaded(host, {"OLLAMA_NUM_PARALLEL": "2"}, list(integrated), pools(card))


def test_a_split_is_explained_by_what_has_room(gguf):
    [small], unseen = held(gguf, 2 * GIB)
    assert unseen == []
    assert (small.on_gpu, small.planned.context) == (76, 4096 * 2)
    assert 0 <= small.planned.gpu_layers < small.planned.layers
    assert small.planned.needed > small.planned.free
    assert "have room" in small.why
    [large], _ = held(gguf, 48 * GIB)
    assert large.planned.gpu_layers == large.planned.layers
    assert "another reason" in large.why


def test_on_integrated_graphics_it_is_told_what_ollama_miscounts(gguf):
    inside = Integrated(name="Radeon 780M", carved_out=GIB, mappable=16 * GIB, counted=GIB, usable=16 * GIB)
    [one], _ = held(gguf, 16 * GIB, [inside])
    assert "Radeon 780M may use 16.0 GiB" in one.why
    assert "counts on 1.0 GiB only" in one.why


def test_a_file_that_may_not_be_read_is_told(tmp_path):
    [one], [said] = held(tmp_path / "gone", 8 * GIB)
    assert (one.planned, one.why) == (None, "")
    assert "rigup fit qwen3:8b --engine ollama" in said


def test_hostile_logs_and_tables_give_only_what_is_told():
    assert devices('inference compute" library= \n' + "inference compute " + "=" * 100_000) == []
    assert loaded.rows("NAME PROCESSOR\n" + "\x1b[31m" * 1000) == []
    assert msgspec.to_builtins(devices(COMPUTES.replace("9.7 GiB", "9.7 lots")))[0]["total"] is None
