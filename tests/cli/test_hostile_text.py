"""Nothing that anybody else has written commands the terminal: hostile text through every command, seen byte by byte."""

import json
import os
import pty
import stat
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hostile import ALL, COMMANDS, MARK, NAME, Screen, commands_in, seen_on_terminals
from hypothesis import given
from hypothesis import strategies as st

from rigup import cli
from rigup.cli import COMMANDS as EVERY
from rigup.cli.guard import Guarded, guarded, style
from rigup.cli.page import page
from rigup.visible import for_terminal, ours, visible

pytestmark = pytest.mark.skipif(os.name != "posix", reason="names of files and programs as POSIX has them")
KFD = {"/dev/kfd": {"type": "char", "mode": "0660", "owner": "root", "group": ALL}}
SAID = f"RuntimeError: CUDA error: no kernel image is available for execution on the device {ALL}\nImportError: libcu{ALL}.so.9: cannot open shared object file: No such file or directory\n"


@pytest.fixture
def world(tmp_path, monkeypatch):
    """A folder with everything that somebody else may have written."""
    monkeypatch.chdir(tmp_path)
    _tree(tmp_path / "tree")
    (tmp_path / "log").write_text(SAID)
    (tmp_path / NAME).write_text(SAID)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / NAME).write_text(SAID)
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / (NAME + ".gguf")).write_text(ALL)
    (tmp_path / "bad.toml").write_text(f'[[x]]\n"{MARK}\u202e\x9b" = \n')
    (tmp_path / "bad.json").write_text(json.dumps({"schema": ALL, "verdict": ALL, "machine": ALL}))
    (tmp_path / "Dockerfile").write_text(f"FROM nvidia/cuda:{ALL}\nENV HF_TOKEN={ALL}\nRUN pip install {ALL} && nvidia-smi\n")
    (tmp_path / "compose.yaml").write_text(json.dumps({"services": {ALL: {"image": ALL, "gpus": ALL, "privileged": True, "ports": [ALL]}}}))
    (tmp_path / "needs.txt").write_text(f"torch {ALL}\n-e {ALL}\n")
    env = tmp_path / "env"
    (env / "bin").mkdir(parents=True)
    (env / "bin/python").symlink_to(sys.executable)
    (env / "pyvenv.cfg").write_text(f"home = /usr/bin\nversion = 3.{ALL}\n")
    (env / "rigup.json").write_text(json.dumps({"schema": "rigup.environment/1", "python": ALL, "wish": [ALL], "packages": {"torch": ALL}}))
    package = env / "lib/python3.11/site-packages/torch-2.0.dist-info"
    package.mkdir(parents=True)
    (package / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch{ALL}\nVersion: 2.0{ALL}\n")
    return tmp_path


def _tree(tree):
    card = tree / "sys/bus/pci/devices/0000:01:00.0"
    card.mkdir(parents=True)
    for name, said in {"class": "0x030000", "vendor": "0x10de", "device": "0x2204", "label": ALL}.items():
        (card / name).write_text(said + "\n")
    (tree / "proc").mkdir()
    (tree / "proc/version").write_text(f"Linux version 6.8.0-{ALL}\n")
    (tree / "proc/cpuinfo").write_text(f"model name\t: {ALL}\n")
    (tree / "proc/modules").write_text(f"nvidia{ALL} 1 0 - Live 0x0\n")
    (tree / "etc").mkdir()
    (tree / "etc/os-release").write_text(f'ID=ubuntu\nNAME="{ALL}"\nVERSION_ID="{ALL}"\n')
    (tree / "dev").mkdir()
    (tree / "nodes.json").write_text(json.dumps(KFD))
    who = {
        "user": ALL,
        "uid": 1000,
        "groups": [ALL],
        "environment": {"LD_LIBRARY_PATH": ALL, "CUDA_VISIBLE_DEVICES": ALL, "HSA_OVERRIDE_GFX_VERSION": ALL},
    }
    (tree / "who.json").write_text(json.dumps(who))
    smi = f"| NVIDIA-SMI 535.129.03 {ALL}  Driver Version: 535.129.03   CUDA Version: 12.2 |\n| 0  NVIDIA {ALL}  On | 00000000:01:00.0 Off | N/A |\n"
    commands = [
        {"argv": ["nvidia-smi"], "exit": 0, "stdout": smi, "stderr": ALL},
        {"argv": ["nvidia-smi", "-L"], "exit": 0, "stdout": f"GPU 0: {ALL} (UUID: GPU-{ALL})\n", "stderr": ""},
        {"argv": ["dmesg"], "exit": 0, "stdout": f"[    1.0] NVRM: Xid (PCI:0000:01:00): 79, {ALL}\n", "stderr": ""},
    ]
    (tree / "commands.json").write_text(json.dumps(commands))


JOURNAL = {
    "title": ALL,
    "asked": {"wishes": [ALL]},
    "environment": "/nowhere/" + ALL,
    "schema": "rigup.journal/1",
    "made_at": ALL,
    "rigup": ALL,
    "steps": [
        {
            "kind": "install-packages",
            "id": ALL,
            "params": {},
            "title": ALL,
            "because": ALL,
            "commands": [[ALL, ALL]],
            "where": "here",
            "root": False,
            "network": False,
            "restart": False,
            "tag": "safe",
            "state": "needed",
            "undo": [[ALL]],
        }
    ],
}


def journal(state):
    """A record of a run, as hostile as its plan was."""
    record = state / "rigup/journal/000001"
    record.mkdir(parents=True)
    (record / "plan.json").write_text(json.dumps(JOURNAL))
    events = [{"what": "begin", "step": 0}, {"what": "failed", "step": 0, "status": 1, "told": {"because": ALL, "path": ALL}}]
    (record / "events.jsonl").write_text("".join(json.dumps(one) + "\n" for one in events))
    (record / "step-1.log").write_text(ALL + "\n")


FORMS = [
    *(
        ["doctor", "--from", source, *how]
        for source in ("log", "logs", "tree", NAME)
        for how in ([], ["-vv"], ["--json"], ["--issue"], ["--devices"])
    ),
    ["doctor", "--from", "no" + NAME],
    ["doctor", "--from", "tree", "--since-ok"],
    ["doctor", "--html", "no/" + NAME, "--from", "log"],
    ["doctor", "--" + NAME],
    ["doctor", "--", "no" + NAME],
    ["doctor", "--host", NAME],
    ["doctor", "--host", "-" + NAME, "--host", "b"],
    ["diff", "tree", "log"],
    ["diff", "log", "tree", "--json"],
    ["diff", "no" + NAME, "tree"],
    ["diff", "host:" + NAME, "tree"],
    ["plan", NAME],
    ["plan", "torch==" + NAME],
    ["plan", "torch", "--for", NAME],
    ["plan", "torch", "--for", "tree"],
    ["plan", "torch", "--for", "bad.toml"],
    ["plan", "torch", "--for", "tree", "--as", "script"],
    ["plan", "torch", "--for", "tree", "--json"],
    ["plan", "torch", "--for", "tree", "--explain"],
    ["plan", "torch", "--env", NAME],
    ["plan", "torch", "--python", NAME],
    ["plan", "torch", "--mirror", NAME],
    ["plan", "torch", "--link", NAME],
    ["plan", "-r", "needs.txt"],
    ["plan", "-r", "bad.toml"],
    ["plan", "-r", "no" + NAME],
    ["plan", "torch", "--in", NAME],
    ["fix", NAME],
    ["fix", "--from", "log"],
    ["fix", "--from", "tree", "--json"],
    ["fix", "--from", "no" + NAME],
    ["fix", "--all-safe", "--from", "tree", "--dry-run"],
    ["apply", NAME],
    ["apply", "--resume"],
    ["apply", "--locked", "bad.toml"],
    ["apply", "--locked", "no" + NAME],
    ["apply", "torch", "--dry-run", "--env", NAME],
    ["undo"],
    ["undo", "--dry-run"],
    ["undo", NAME],
    ["undo", "1", "--yes"],
    ["undo", "--json", "--dry-run"],
    ["history"],
    ["history", "1"],
    ["history", "--json"],
    ["history", "1", "--json"],
    ["history", NAME],
    ["verify", "no" + NAME],
    ["verify", "env", "--devices", NAME],
    ["verify", "--limit", NAME],
    ["env"],
    ["env", "list"],
    ["env", "list", "--json"],
    ["env", "show", "env"],
    ["env", "show", "env", "--json"],
    ["env", "show", "no" + NAME],
    ["env", "remove", "no" + NAME],
    ["env", "export", "env"],
    ["env", "kernel", "no" + NAME],
    ["env", NAME],
    ["env", "--shell", NAME],
    ["env", "--env", "env", "--shell", "bash"],
    ["run", "--show", "--env", "env", "x"],
    ["run", "--env", "no" + NAME, "true"],
    ["run", "--no-env", "no" + NAME],
    ["run", "--unit", NAME, "true"],
    ["run", "--set", NAME, "true"],
    ["run", "--show", "--json", "--env", "env", "--set", "A=" + NAME, "true"],
    ["container", "run", NAME, "--print", "--for", "RTX 3090"],
    ["container", "run", "torch", "--for", "RTX 3090", "--print", "--", NAME],
    ["container", "run", "--for", NAME],
    ["container", "run", "torch", "--for", "RTX 3090", "--print", "--mount", NAME, "--env", NAME],
    ["container", "run", "--for", "bad.toml"],
    ["container", NAME],
    ["container", "build", NAME],
    ["container", "doctor", NAME],
    ["container", "doctor", "no"],
    ["container", "build", "torch", "--tag", NAME, "--print"],
    ["plan", "torch", "--for", "RTX 3090", "--as", "compose"],
    ["plan", NAME, "--as", "devcontainer"],
    ["train", "new", NAME, "no"],
    ["train", "new", "minimal", "log"],
    ["train", "new", "lora", "p" + NAME, "--time", NAME],
    ["train", NAME],
    ["train", "port", NAME],
    ["train", "port", "log"],
    ["train", "check", NAME],
    ["train", "check", "log"],
    ["train", "check", "log", NAME],
    ["train", "check", "log", "log", "--json"],
    ["train", "check", "log", "--cluster", NAME],
    ["train", "check", "log", "--cluster", "bad.json"],
    ["cluster", "--from", NAME],
    ["cluster", "--from", "log"],
    ["cluster", NAME],
    ["cluster", "doctor", "--partition", NAME],
    ["cluster", "doctor", "--hosts", "no" + NAME],
    ["cluster", "--map"],
    ["train", NAME],
    ["train", "check", NAME],
    ["train", "check", "log"],
    ["train", "check", "log", NAME],
    ["train", "check", "log", "log", "--json"],
    ["train", "check", "log", "--cluster", NAME],
    ["train", "check", "log", "--cluster", "bad.json"],
    ["cluster", "--from", NAME],
    ["cluster", "--from", "log"],
    ["cluster", NAME],
    ["cluster", "doctor", "--partition", NAME],
    ["cluster", "doctor", "--hosts", "no" + NAME],
    ["cluster", "doctor", "--deep", "--env", "no" + NAME],
    ["cluster", "doctor", "--deep", "--disk", NAME],
    ["cluster", "--map"],
    ["advise", "log", "--samples", "5"],
    ["advise", NAME, "--model", NAME, "--samples", "5"],
    ["cluster", "report", "--from", "log"],
    ["cluster", "report", NAME],
    ["container", "lint", NAME],
    ["container", "lint", "log"],
    ["container", "lint", "no" + NAME],
    ["container", "lint", "Dockerfile", "--no-machine"],
    ["container", "lint", "compose.yaml", "--no-machine"],
    ["container", "lint", "compose.yaml", "--no-machine", "--json"],
    ["lab", "--env", NAME],
    ["lab", "--env", "env", "--print"],
    ["lab", "--env", "env", "--print", "--json"],
    ["lab", "--dir", "no" + NAME],
    ["lab", NAME],
    ["lab", "--host", "-" + NAME],
    ["lab", "--host", NAME, "--print"],
    ["lab", "--container", NAME],
    ["lab", "--container", "torch", "--gpus", NAME, "--print"],
    ["lab", "kernels"],
    ["lab", "kernels", "--json"],
    ["lab", "kernels", "remove", NAME],
    ["lab", "kernels", "fix", NAME],
    ["lab", "kernels", "add", "env", "--name", NAME],
    ["lab", "--env", "env", "--token-file", "log"],
    ["launch", NAME],
    ["launch", "run", NAME],
    ["launch", "log", NAME, "--print"],
    ["launch", "log", "--print", "--partition", NAME],
    ["launch", "log", "--print", "--here", "--set", "A=" + NAME],
    ["launch", "log", "--print", "--hosts", NAME],
    ["launch", "log", "--print", "--array", "no" + NAME],
    ["launch", "log", "--print", "--array", "log"],
    ["launch", "log", "--print", "--gpus", NAME, "--name", NAME],
    ["launch", "status", NAME],
    ["launch", "logs", NAME],
    ["launch", "cancel", NAME],
    ["launch", "resume", NAME],
    ["launch", "status", "--all"],
    ["advise", NAME],
    ["advise", "--scenario", NAME],
    ["advise", "--scenario", "tree"],
    ["advise", "--rates", NAME, "--work", NAME],
    ["advise", "--rates", "bad.toml", "--on", NAME],
    ["advise", "--rates", "bad.toml"],
    ["lock", "env", "-o", "-"],
    ["lock", "no" + NAME],
    ["lock", NAME + "==1"],
    ["lock", "env", "-o", "no/" + NAME],
    ["bundle", "no" + NAME, "-o", "x.tar"],
    ["bundle", "env", "-o", "no/" + NAME],
    ["watch", NAME],
    ["watch", "--from", NAME],
    ["watch", "--once"],
    ["watch", "report", NAME],
    ["watch", "report", "log"],
    ["watch", "--replay", "log"],
    ["watch", "prometheus", NAME],
    ["watch", "cluster", NAME, "--once"],
    ["watch", "--web", "--listen", NAME],
    ["watch", "--exporter", "--listen", NAME],
    ["watch", "--once", "--interval", NAME],
    ["watch", "--from", "."],
    ["bench", "no" + NAME],
    ["bench", "--compare", NAME],
    ["bench", "--compare", "bad.json"],
    ["bench", "--only", NAME],
    ["bench", "--list"],
    ["capture", "--from", "tree", "-o", "out.tar.gz"],
    ["capture", "--from", "tree", "--list"],
    ["capture", "--from", "no" + NAME],
    ["capture", "--from", "log", "--list", "--json"],
    ["capture", "-o", "no/" + NAME],
    ["capture", "--script", NAME],
    ["capture", "--script", "posix"],
    ["capture", "--script", "powershell"],
    ["explain", NAME],
    ["explain", ALL],
    ["explain", SAID],
    ["explain", "--json", ALL],
    ["fit", NAME],
    ["fit", "qwen3 8b", "--on", NAME],
    ["fit", "qwen3 8b", "--on", "no gpu", "--quant", NAME],
    ["fit", NAME + ".safetensors"],
    ["fit", "qwen3 8b", "--on", "no gpu", "--html", "no/" + NAME],
    ["fit", "qwen3 8b", "--on", NAME, "--train", "full"],
    ["chat", NAME, "x", "--api", NAME],
    ["chat", "x", "x", "--api", "http://127.0.0.1:9/" + NAME],
    ["chat", "x", "x", "--set", NAME],
    ["chat", "x", "x", "--set", "top-k=" + NAME],
    ["chat", "x", "x", "--load", "no" + NAME],
    ["chat", "x", "x", "--api", "http://127.0.0.1:9", "--key-env", NAME],
    ["chat", "--kind", NAME],
    ["ollama"],
    ["ollama", NAME],
    *(["ollama", "doctor", "--from", source] for source in ("log", "tree", "no" + NAME)),
    ["ollama", "doctor", "--from", "tree", "--json"],
    ["ollama", "configure", "--set", "OLLAMA_X=" + NAME],
    ["ollama", "configure", "--set", NAME],
    ["ollama", "configure", "--unset", NAME],
    ["ollama", "configure", "--host", NAME],
    ["pull", NAME],
    ["pull", "a/" + NAME],
    ["pull", "some/thing", "--mirror", NAME],
    ["pull", "some/thing", "--revision", NAME],
    ["pull", "https://huggingface.co/a/b/blob/main/" + NAME],
    ["models"],
    ["models", "--json"],
    ["models", "--in", NAME],
    ["models", "check", "--in", "models"],
    ["models", "check", NAME],
    ["pull", "a/b", "--limit", NAME],
    ["models", "--in", "models", "remove", NAME],
    ["models", "remove", "--in", "models", NAME + ".gguf", "--dry-run"],
    ["serve", NAME],
    ["serve", NAME + ".gguf", "--on", "cpu"],
    ["serve", "=" + NAME],
    ["serve", "x", "--share", NAME, "--no-key"],
    ["serve", "x", "--engine", NAME],
    ["serve", "x", "--on", "cpu", "--api", NAME],
    ["serve", NAME, "--install-service"],
    ["models"],
    ["models", "--json"],
    ["models", "--in", NAME],
    ["models", "--in", "models", "remove", NAME],
    ["models", "remove", "--in", "models", NAME + ".gguf", "--dry-run"],
    ["knowledge", NAME],
    ["knowledge", "--table", NAME],
    ["knowledge", "--json", "xid", "--limit", "1"],
    ["knowledge", "--limit", NAME],
    ["schema"],
    ["schema", NAME],
    ["schema", "plan"],
    ["completion", NAME],
    ["completion", "bash"],
    [NAME],
    ["--lang", NAME, "doctor"],
    ["--" + NAME],
]


def test_every_command_is_among_them():
    assert {argv[0] for argv in FORMS} >= set(EVERY)


@pytest.mark.long
@pytest.mark.parametrize("argv", FORMS, ids=lambda argv: " ".join(argv).encode("ascii", "replace").decode()[:60].replace("\x1b", "?"))
def test_no_command_lets_foreign_text_command_the_terminal(argv, world, monkeypatch, tmp_path):
    journal(tmp_path / "state")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    _status, out, err = seen_on_terminals(monkeypatch, argv)
    assert commands_in(out) == []
    assert commands_in(err) == []


QUESTIONS = [
    ["undo"],
    ["undo", "1"],
    ["apply", "--resume"],
    ["fix", "--from", "tree"],
    ["fix", "--all-safe"],
    ["env", "remove", "env"],
    ["capture", "--from", "log", "-o", "x.tar.gz"],
    ["apply", "torch", "--env", NAME],
]


@pytest.mark.parametrize("argv", QUESTIONS, ids=lambda argv: " ".join(argv[:2]))
def test_no_question_does_either(argv, world, monkeypatch, tmp_path):
    journal(tmp_path / "state")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    _status, out, err = seen_on_terminals(monkeypatch, argv, "n\n" * 9)
    assert out + err
    assert commands_in(out) == []
    assert commands_in(err) == []


@pytest.mark.parametrize(
    "argv",
    [["doctor", "--from", "tree", "--json"], ["history", "--json"], ["run", "--show", "--json", "--no-env", "--set", "A=" + NAME, "true"]],
    ids=["doctor", "history", "run"],
)
def test_in_data_each_letter_is_still_what_it_was(argv, world, monkeypatch, tmp_path):
    journal(tmp_path / "state")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    _status, out, _err = seen_on_terminals(monkeypatch, argv)
    assert "\x1b" not in out
    values = list(_strings(json.loads(out)))
    assert any("\x9b" in value for value in values)
    assert any("\u202e" in value for value in values)


def _strings(value):
    if isinstance(value, dict):
        yield from (text for one in value.items() for part in one for text in _strings(part))
    elif isinstance(value, list):
        yield from (text for one in value for text in _strings(one))
    elif isinstance(value, str):
        yield value


@pytest.mark.parametrize("source", ["log", "tree", "logs"])
def test_pages_and_reports_for_forums_show_it_as_text(source, world, monkeypatch, tmp_path):
    seen_on_terminals(monkeypatch, ["doctor", "--from", source, "--html", "page.html"])
    assert commands_in((tmp_path / "page.html").read_text()) == []
    assert MARK in (tmp_path / "page.html").read_text()


def test_a_notebook_and_a_prompt_of_python_show_it_as_text(world, monkeypatch):
    from answer_data import diagnose
    from rigup.cli.notebook import Report
    from rigup.schemas.doctor import Doctor

    report = Report(diagnose("tree"))
    report["machine"]["accelerators"][0].update(name=ALL, isa=ALL)
    assert commands_in(report._repr_html_()) == []
    assert commands_in(repr(report)) == []
    assert commands_in(page(msgspec.convert(dict(report), Doctor))) == []


# -- hosts, programs and logs --------------------------------------------------------------------------
def stand_in(folder, name, body):
    """A program on the path."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\n" + body)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.mark.parametrize(
    "how",
    [
        "printf '%s' \"$SAID\" >&2; exit 255",
        "printf '%s\\n' \"$SAID\"; exit 3",
        'printf \'%s\\n\' "$SAID" >&2; echo "@rigup-stream/1 $SAID"; exit 0',
    ],
)
@pytest.mark.parametrize("form", [[], ["--json"], ["--host", "other"]], ids=["one", "data", "two"])
def test_what_a_host_answers_commands_nothing(how, form, tmp_path, monkeypatch):
    stand_in(tmp_path / "bin", "ssh", how)
    monkeypatch.setenv("PATH", str(tmp_path / "bin") + os.pathsep + os.environ["PATH"])
    monkeypatch.setenv("SAID", ALL)
    _status, out, err = seen_on_terminals(monkeypatch, ["doctor", "--host", "node7", *form])
    assert commands_in(out) == []
    assert commands_in(err) == []


def test_what_the_tools_of_this_machine_say_commands_nothing(tmp_path, monkeypatch):
    for name in ("nvidia-smi", "rocminfo", "dmesg", "ldconfig"):
        stand_in(
            tmp_path / "bin",
            name,
            "printf '[    1.0] NVRM: Xid (PCI:0000:01:00): 79, %s\\n' \"$SAID\"; printf '%s\\n' \"$SAID\" >&2; exit 9\n",
        )
    monkeypatch.setenv("PATH", str(tmp_path / "bin") + os.pathsep + os.environ["PATH"])
    monkeypatch.setenv("SAID", ALL)
    for form in ([], ["-vv"], ["--json"], ["--issue"]):
        _status, out, err = seen_on_terminals(monkeypatch, ["doctor", *form])
        assert MARK in out or "--issue" in form
        assert commands_in(out) == []
        assert commands_in(err) == []


def test_a_log_of_a_step_can_be_shown_by_any_program(tmp_path):
    from rigup.plan.applying.child import Child

    said = []
    child = Child(
        ("sh", "-c", 'printf "%s\\n" "$SAID"; printf "\\033[31mred\\033[0m\\n"', ALL), tmp_path / "log", {**os.environ, "SAID": ALL}
    )
    child.wait(said.append)
    child.process.stdout.close()
    assert commands_in((tmp_path / "log").read_text()) == []
    assert "red\n" in (tmp_path / "log").read_text()


def test_what_a_program_of_ours_prints_itself_is_its_own_affair(tmp_path):
    """`doctor -- PROGRAM`: colours and links of the program stay; what we tell of it is text."""
    program = stand_in(
        tmp_path / "bin", NAME.replace("/", ""), "printf '\\033[35mits own\\033[0m\\n'; echo \"RuntimeError: CUDA error: $SAID\"; exit 3\n"
    )
    argv = [sys.executable, "-m", "rigup", "doctor", "--", str(program)]
    done = subprocess.run(argv, capture_output=True, check=False, env={**os.environ, "SAID": ALL}, timeout=120)
    assert done.returncode == 3
    assert b"\x1b[35mits own\x1b[0m" in done.stdout
    assert commands_in(done.stderr.decode()) == []


@pytest.mark.parametrize(
    "argv", [["doctor", "--from", "log"], ["explain", ALL], ["plan", NAME], [NAME]], ids=["doctor", "explain", "plan", "none"]
)
def test_on_a_real_terminal_the_bytes_are_harmless(argv, world):
    ours_end, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color"}
    environment.pop("NO_COLOR")
    process = subprocess.Popen([sys.executable, "-m", "rigup", *argv], stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    said = b""
    while piece := _piece(ours_end):
        said += piece
    process.wait(timeout=60)
    os.close(ours_end)
    assert commands_in(said.decode().replace("\r\n", "\n")) == []
    assert said


def _piece(end):
    try:
        return os.read(end, 65_536)
    except OSError:  # the other end is closed
        return b""


# -- the step itself -----------------------------------------------------------------------------------
@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_each_is_written_out_and_said_once(name):
    shown = visible(COMMANDS[name])
    assert commands_in(shown) == []
    assert MARK in shown
    assert visible(shown) == shown


@given(st.text())
def test_of_any_text_only_letters_are_left(text):
    assert commands_in(visible(text)) == []
    assert commands_in(for_terminal(text)) == []
    assert visible(visible(text)) == visible(text)


@given(st.text())
def test_as_data_it_says_the_same(text):
    shown = for_terminal(json.dumps(text, ensure_ascii=False))
    assert json.loads(shown) == text


@pytest.mark.parametrize(
    "text", ["ascii", "Драйвер не найден", "驱动未加载。", "naïve é", "می\u200cخواهم", "👩\u200d🔬", "tab\tand\nline", "❌ ✔ ━━"]
)
def test_letters_of_every_script_stay(text):
    assert visible(text) == text


def test_styles_of_our_own_become_what_they_are_and_no_others():
    styled = style("all " + COMMANDS["hidden"], fg="red", bold=True)
    assert for_terminal(styled).startswith("\x1b[31m\x1b[1mall \\u001b[8")
    assert for_terminal(styled).endswith("\x1b[0m")
    assert visible(styled).startswith(ours("\x1b[31m"))


def test_nobody_goes_round_it():
    """`click.style` would be taken for foreign, and a stream's `buffer` or file would pass nothing by."""
    source = Path(cli.__file__).parent
    texts = {path.name: path.read_text(encoding="utf-8") for path in source.glob("*.py") if path.name != "guard.py"}
    round_it = ("click.style(", "click.secho(", "stdout.buffer", "stderr.buffer", "sys.__stderr__", "click.get_binary_stream")
    assert [(name, one) for name, text in texts.items() for one in round_it if one in text] == []


def test_what_the_encoding_lacks_is_written_out(tmp_path):
    with open(tmp_path / "out", "w", encoding="ascii") as file:
        Guarded(file).write("Драйвер é\n")
    assert (tmp_path / "out").read_text() == "\\u0414\\u0440\\u0430\\u0439\\u0432\\u0435\\u0440 \\xe9\n"


def test_the_guard_goes_when_the_command_has_ended(monkeypatch):
    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    with guarded(), guarded():
        sys.stdout.write("\x1b[2J")
    assert sys.stdout is screen
    assert screen.getvalue() == "\\u001b[2J"


def test_an_error_that_nobody_caught_is_text_as_well():
    script = "from rigup.cli import guard\nwith guard.guarded(): raise RuntimeError('\\x1b]52;c;eA==\\x07\\u202e')"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False, text=True, timeout=60)
    assert "\\u001b]52;c;eA==\\u0007\\u202e" in done.stderr
    assert commands_in(done.stderr) == []
