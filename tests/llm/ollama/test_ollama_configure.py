"""`rigup ollama configure`: values are checked, the drop-in is written by a step, and nothing else is touched."""

import json
import subprocess

import pytest

from packs import machine_files, unpack
from rigup.cli import run
from rigup.llm.ollama.configuring import DROP_IN, SettingsError, checked, steps
from rigup.machine import sources

NAMES = ("XDG_STATE_HOME", "XDG_CONFIG_HOME")


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """This machine is one with a Radeon 780M and ollama's service."""
    folder = tmp_path / "machine"
    unpack(machine_files("amd-apu"), folder)
    opened = sources.open_source
    monkeypatch.setattr(sources, "open_source", lambda given: opened(str(folder) if given is None else given))
    for name in NAMES:
        monkeypatch.setenv(name, str(tmp_path / name))
    return folder


@pytest.fixture
def asked(capsys):
    def ask(*words):
        status = run(["ollama", "configure", *words])
        return status, capsys.readouterr()

    return ask


def test_by_default_it_is_shown_and_nothing_is_changed(machine, asked, tmp_path):
    status, said = asked("--parallel", "4", "--kv", "q8_0", "--json")
    told = json.loads(said.out)
    assert (status, told["verdict"]) == (0, "possible")
    [step] = told["steps"]
    assert step["writes"] == [DROP_IN]
    assert step["commands"][-2:] == [["systemctl", "daemon-reload"], ["systemctl", "restart", "ollama"]]
    # A coarser cache is used with flash attention alone.
    assert step["commands"][1][-3:] == ["OLLAMA_FLASH_ATTENTION=1", "OLLAMA_KV_CACHE_TYPE=q8_0", "OLLAMA_NUM_PARALLEL=4"]
    assert not list((machine / "etc/systemd/system/ollama.service.d").glob("rigup*"))
    status, said = asked("--parallel", "4")
    assert "Nothing was changed." in said.out
    assert "With --apply it is done." in said.out


def test_what_rigup_gave_before_stays_and_can_be_taken_back(machine, asked):
    path = machine / DROP_IN.removeprefix("/")
    path.write_text('[Service]\nEnvironment="OLLAMA_NUM_PARALLEL=4"\nEnvironment="OLLAMA_HOST=127.0.0.1"\n')
    status, said = asked("--keep-alive", "24h", "--unset", "OLLAMA_HOST", "--json")
    words = json.loads(said.out)["steps"][0]["commands"][1]
    assert words[-2:] == ["OLLAMA_KEEP_ALIVE=24h", "OLLAMA_NUM_PARALLEL=4"]
    status, said = asked("--unset", "OLLAMA_HOST", "--unset", "OLLAMA_NUM_PARALLEL", "--json")
    assert json.loads(said.out)["steps"][0]["commands"][0] == ["rm", "-f", DROP_IN]
    status, said = asked("--parallel", "4", "--json")
    assert (status, json.loads(said.out)["verdict"]) == (0, "nothing")


def test_the_script_writes_what_systemd_reads(tmp_path):
    [step] = steps({"OLLAMA_HOST": "0.0.0.0:11434", "OLLAMA_MODELS": "/srv/$HOME/`x`"})
    argv = [word.replace("/etc/systemd/system", str(tmp_path)) for word in step.commands[1]]
    (tmp_path / "ollama.service.d").mkdir()
    subprocess.run(argv, check=True)
    assert (tmp_path / "ollama.service.d/rigup.conf").read_text() == (
        '[Service]\nEnvironment="OLLAMA_HOST=0.0.0.0:11434"\nEnvironment="OLLAMA_MODELS=/srv/$HOME/`x`"\n'
    )
    assert step.root
    assert step.undo == (("rm", "-f", DROP_IN), *step.commands[2:])


def test_the_override_of_the_tables(machine, asked):
    (machine / "etc/systemd/system/ollama.service.d/override.conf").unlink()
    _status, said = asked("--override", "auto", "--json")
    assert json.loads(said.out)["steps"][0]["commands"][1][-1] == "HSA_OVERRIDE_GFX_VERSION=11.0.0"


WRONG = [
    ("HSA_OVERRIDE_GFX_VERSION", "gfx1100"),
    ("HSA_OVERRIDE_GFX_VERSION", '"11.0.0"'),
    ("OLLAMA_NUM_PARALLEL", "0"),
    ("OLLAMA_NUM_PARALLEL", "four"),
    ("OLLAMA_NUM_PARALLEL", "٣"),
    ("OLLAMA_HOST", "host:99999"),
    ("OLLAMA_HOST", "a b"),
    ("OLLAMA_HOST", ""),
    ("OLLAMA_MODELS", "models"),
    ("OLLAMA_MODELS", "/a/../b"),
    ("OLLAMA_MODELS", "/a b"),
    ("OLLAMA_MODELS", "/a\nUser=root"),
    ("OLLAMA_KV_CACHE_TYPE", "q5_0"),
    ("OLLAMA_FLASH_ATTENTION", "yes"),
    ("OLLAMA_KEEP_ALIVE", "soon"),
    ("OLLAMA_CONTEXT_LENGTH", "12"),
    ("HTTPS_PROXY", "http://me:secret@proxy:3128"),
    ("HTTPS_PROXY", "proxy:3128"),
    ("LD_PRELOAD", "/x.so"),
    ("OLLAMA_X", 'a"b'),
    ("OLLAMA_X", "50%"),
]
RIGHT = [
    ("OLLAMA_HOST", "0.0.0.0"),
    ("OLLAMA_HOST", ":11434"),
    ("OLLAMA_HOST", "[::1]:11434"),
    ("OLLAMA_HOST", "http://127.0.0.1:8080"),
    ("OLLAMA_KEEP_ALIVE", "-1"),
    ("OLLAMA_KEEP_ALIVE", "1h30m"),
    ("OLLAMA_MODELS", "/srv/models"),
    ("HTTPS_PROXY", "http://proxy:3128"),
    ("HSA_OVERRIDE_GFX_VERSION", "10.3.0"),
    ("OLLAMA_ORIGINS", "http://a,http://b"),
    ("HIP_VISIBLE_DEVICES", "0,1"),
]


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_a_value_that_ollama_would_not_take_is_refused_and_no_password_repeated(name, value):
    with pytest.raises(SettingsError) as refused:
        checked(name, value)
    assert name in str(refused.value)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(("name", "value"), RIGHT)
def test_an_honest_value_is_taken(name, value):
    assert checked(name, value) == value


def test_a_file_that_counts_for_more_is_named(machine, asked):
    folder = machine / "etc/systemd/system/ollama.service.d"
    (folder / "zz.conf").write_text('[Service]\nEnvironment="OLLAMA_NUM_PARALLEL=1"\n')
    status, said = asked("--parallel", "4")
    assert status == 2
    assert "zz.conf gives OLLAMA_NUM_PARALLEL" in " ".join(said.err.split())
    (folder / "zz.conf").rename(folder / "aa.conf")  # read before rigup's own
    assert asked("--parallel", "4")[0] == 0


def test_who_opens_it_to_others_is_told_what_that_means(machine, asked):
    _status, said = asked("--host", "0.0.0.0")
    assert "knows no key" in said.out
    _status, said = asked("--host", "127.0.0.1:11500")
    assert "knows no key" not in said.out


@pytest.mark.parametrize(
    ("base", "words"),
    [
        ("macbook", "launchctl setenv OLLAMA_NUM_PARALLEL 4"),
        ("windows-radeon", 'setx OLLAMA_NUM_PARALLEL "4"'),
        ("cpu-server", "OLLAMA_NUM_PARALLEL=4 ollama serve"),
    ],
)
def test_where_no_systemd_starts_it_it_is_told_what_to_type(base, words, tmp_path, monkeypatch, asked):
    unpack(machine_files(base), tmp_path / "other")
    opened = sources.open_source
    monkeypatch.setattr(sources, "open_source", lambda _given: opened(str(tmp_path / "other")))
    status, said = asked("--parallel", "4", "--json")
    told = json.loads(said.out)
    assert (status, told["verdict"]) == (1, "by-hand")
    assert words in told["by_hand"]


def test_nothing_asked_for_is_told(machine, asked):
    status, said = asked()
    assert status == 2
    assert "Name at least one variable" in said.err


def test_nobody_is_asked_where_nobody_can_answer(machine, asked):
    status, said = asked("--parallel", "4", "--apply")
    assert status == 2
    assert "With --yes" in said.err
