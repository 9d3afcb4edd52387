"""All that is planted, through every command and form: of what others tell, on this machine, in records, in programs.

What opens a door is in no output. Of a person's own things only those are that a command needs: the path that was asked
for, the node and the card that commands name.
"""

import json
import os
import tarfile

import pytest
from planted import ALL, DOORS, left, said

from few_checks import few_checks

NOT_SECRET_BY_FORM = ("value of a variable", "variable of a kernelspec", "string drawn by lot", "variable nobody needs")
TABLE = "user,password\n"  # is one only where its head begins a line, and here lines stand within others
KNOWN = [one for one in DOORS if one.kind not in NOT_SECRET_BY_FORM and not one.line.startswith(TABLE)]
PROFILE = "RTX 3090, driver 550.163.01, ubuntu 22.04, python 3.12"
FORMS = ("text", "script", "dockerfile", "apptainer", "conda", "pyproject", "poetry", "json")

SOURCES = ("machine", "text", "stream")
OF_OTHERS = (
    ("fix",),
    ("fix", "--json"),
    ("fix", "--all-safe"),
    ("fix", "--explain"),
    ("doctor", "--devices", "--json"),
    ("capture", "--list"),
    ("capture", "--json", "--list"),
)
TELL_MOST = (("fix", "--explain"), ("doctor", "--devices", "--json"), ("capture", "--json", "--list"))


def with_sources(every, most):
    """Each of one source, for what differs is how it is printed; those that tell most of all: reading takes half a second."""
    return [(one, what) for one in every for what in (SOURCES if one in most else SOURCES[:1])]


def of_form(form):
    return ("plan", "torch", "--no-resolve", "--as", form)


# -- of another machine ------------------------------------------------------------------------------


@pytest.mark.parametrize(("argv", "what"), with_sources(OF_OTHERS, TELL_MOST))
def test_no_door_is_in_what_a_command_says_of_another_machine(request, argv, what):
    assert left(said(*argv, "--from", request.getfixturevalue(what)), DOORS) == []


@pytest.mark.long
@pytest.mark.parametrize(("form", "what"), with_sources(FORMS, ("text", "script", "json")))
def test_no_door_is_in_a_plan_for_another_machine(request, form, what):
    source = request.getfixturevalue(what)
    assert left(said(*of_form(form), "--for", source), DOORS) == []


@pytest.mark.long
@pytest.mark.parametrize("how", [(), ("-v",), ("--json",)], ids=" ".join)
@pytest.mark.parametrize("what", ["machine", "text", "stream"])
def test_no_door_is_in_what_differs(request, tmp_path, how, what):
    (tmp_path / "other.txt").write_text("RuntimeError: CUDA error: out of memory\n")
    for pair in ((request.getfixturevalue(what), tmp_path / "other.txt"), ("here", request.getfixturevalue(what))):
        assert left(said("diff", *how, *pair), DOORS) == []


@pytest.mark.parametrize("how", [("-vv",), ("--json",), ("--devices",)], ids=" ".join)
def test_no_door_is_in_what_the_doctor_says_of_a_stream(stream, how):
    assert left(said("doctor", *how, "--from", stream), DOORS) == []


@pytest.mark.parametrize("how", [("--issue",), ("--html", "FILE")], ids=" ".join)
def test_nothing_private_of_a_stream_is_in_what_is_made_to_be_shown(stream, tmp_path, how):
    page = tmp_path / "page.html"
    told = said("doctor", *[page if word == "FILE" else word for word in how], "--from", stream)
    assert left(page.read_text() if page.exists() else told, ALL) == []


# -- what a person types -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("argv", [("explain",), ("explain", "--json"), ("knowledge",), ("knowledge", "--json")], ids=" ".join)
def test_what_is_asked_for_is_not_said_again_with_a_door_in_it(argv):
    """Somebody pastes a whole message; the answer may be pasted elsewhere."""
    for at in range(0, len(KNOWN), 30):
        some = KNOWN[at : at + 30]
        assert left(said(*argv, "\n".join(one.line for one in some)), some) == []


@pytest.mark.slow
def test_no_wish_profile_or_file_is_refused_with_a_door_in_the_sentence():
    for one in KNOWN[::11]:
        for argv in (
            ("plan", one.line, "--no-resolve"),
            ("plan", "--for", one.line, "--no-resolve"),
            ("doctor", "--from", "/x/" + one.line),
            ("plan", "-r", one.line),
            ("env", "show", one.line),
            ("verify", one.line),
            ("doctor", "--" + one.line),
            ("bench", "--compare", one.line, "--list"),
            ("lock", one.line),
            ("apply", "--locked", one.line),
            ("run", "--env", one.line, "--show"),
            (one.line,),
            ("diff", one.line, "here"),
        ):
            assert left(said(*argv), [one]) == [], argv[0]


# -- on this machine ---------------------------------------------------------------------------------

MADE_TO_BE_SHOWN = (("doctor", "--issue"), ("capture", "--list"))
HERE = (
    ("doctor", "-vv"),
    ("doctor", "--json"),
    ("doctor", "--issue"),
    ("doctor", "--devices"),
    ("doctor", "--since-ok"),
    ("doctor", "--show-access"),
    ("capture", "--list"),
    ("capture", "--list", "--json"),
    ("run", "--show", "--no-env"),
    ("run", "--json", "--no-env"),
    ("run", "--unit", "x", "--no-env"),
    ("env", "list"),
    ("env", "list", "--json"),
    ("bench", "--list"),
    ("bench", "--list", "--json"),
    ("verify",),
    ("verify", "--json"),
    ("history",),
    ("history", "--json"),
    ("undo", "--dry-run"),
    ("undo", "--dry-run", "--json"),
    ("apply", "torch", "--dry-run"),
    ("fix", "--all-safe", "--dry-run"),
    ("fix", "--json"),
    ("diff", "here", "TEXT"),
    ("lock",),
    ("plan", "torch", "--no-resolve", "--explain"),
    *map(of_form, FORMS),
)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A person's home and shell, in which all of it stands."""
    folder = tmp_path / "home"
    lines = "\n".join(one.line for one in ALL) + "\n"
    for name in (
        ".bashrc",
        ".profile",
        ".condarc",
        ".netrc",
        ".config/pip/pip.conf",
        ".config/uv/uv.toml",
        ".pypirc",
        ".gitconfig",
        ".ssh/config",
        ".docker/config.json",
        ".local/share/jupyter/kernels/x/kernel.json",
        ".config/environment.d/x.conf",
        ".config/systemd/user/x.service",
        "work/pyproject.toml",
        "work/requirements.txt",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(lines)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(folder / "work")
    for number, one in enumerate(ALL):
        monkeypatch.setenv(f"PLANTED_{number}", one.thing)
        monkeypatch.setenv(f"PLANTED_{number}_LINE", one.line.replace("\0", " "))
    monkeypatch.setenv("PIP_INDEX_URL", f"https://zeno:{address_door()}@pypi.stoa.example/simple")
    return folder


def address_door():
    return next(one.thing for one in DOORS if one.line.startswith("https://zeno:"))


@pytest.mark.parametrize("argv", HERE, ids=" ".join)
def test_nothing_planted_on_this_machine_is_said(home, tmp_path, monkeypatch, argv):
    few_checks(monkeypatch)
    (tmp_path / "text.log").write_text("RuntimeError: CUDA error: out of memory\n")
    monkeyed = [str(tmp_path / "text.log") if word == "TEXT" else word for word in argv]
    told = said(*monkeyed)
    if argv[:2] not in MADE_TO_BE_SHOWN:  # where packages come from: plans for this machine ask there, and say so
        told = told.replace("pypi.stoafirm.dev", "")
    assert left(told, ALL) == []


@pytest.mark.slow
def test_nothing_planted_on_this_machine_is_in_an_archive_or_a_page(home, tmp_path):
    said("capture", "--yes", "-o", tmp_path / "a.tar.gz")
    said("doctor", "--html", tmp_path / "page.html")
    with tarfile.open(tmp_path / "a.tar.gz") as archive:
        bodies = [archive.extractfile(one).read().decode("utf-8", "replace") for one in archive if one.isfile()]
        names = [one.name + " " + one.linkname for one in archive]
    assert left("\n".join([*names, *bodies, (tmp_path / "page.html").read_text()]), ALL) == []


@pytest.mark.slow
def test_a_wish_that_holds_a_login_is_not_kept_with_it(home):
    door = address_door()
    wish = f"torch @ https://zeno:{door}@pypi.stoa.example/torch-2.9.1-cp312-cp312-linux_x86_64.whl"
    for argv in (
        ("plan", wish),
        ("plan", wish, "--json"),
        ("plan", "-r", "requirements.txt", "--json"),
        ("apply", wish, "--dry-run"),
        ("lock", wish, "-o", "-"),
    ):
        assert door not in said(*argv, *(() if argv[0] in ("apply", "lock") else ("--no-resolve",))), argv


# -- what was kept -----------------------------------------------------------------------------------


@pytest.fixture
def records(tmp_path, monkeypatch):
    """A run whose title, steps, outputs and events hold all of it."""
    from msgspec import structs

    from rigup.plan.applying.journal import Intent, begun
    from rigup.steps import make

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    lines = [one.line for one in KNOWN]
    title = "torch " + " ".join(lines[:40])
    blank = make("restart-machine", {})
    steps = [structs.replace(blank, title=line, commands=(("pip", "install", line),), state="needed") for line in lines]
    record = begun(Intent(title=title, asked={"wish": lines}, environment=str(tmp_path / "env"), steps=steps))
    for number, line in enumerate(lines):
        record.write("begun", number)
        record.log(number).parent.mkdir(parents=True, exist_ok=True)
        record.log(number).write_text(f"$ pip install {line}\n{line}\nError: {line}\n")
        record.write("failed", number, status=1, why=line)
    return record


@pytest.mark.parametrize(
    "argv",
    [
        ("history",),
        ("history", "1"),
        ("history", "--json"),
        ("history", "1", "--json"),
        ("undo", "--dry-run"),
        ("undo", "--dry-run", "--json"),
        ("undo", "-y"),
        ("apply", "--resume", "--dry-run"),
    ],
    ids=" ".join,
)
def test_no_door_is_in_what_was_done(records, argv):
    assert records.number == 1
    assert left(said(*argv), KNOWN) == []


@pytest.fixture
def environment(tmp_path):
    """An environment that somebody made: its record, its packages and its settings hold all of it."""
    folder = tmp_path / "env"
    lines = [one.line for one in KNOWN]
    body = "\n".join(lines)
    (folder / "bin").mkdir(parents=True)
    python = folder / "bin" / "python"
    (folder / "said").write_text(body)
    python.write_text(f"#!/bin/sh\ncat {folder}/said\ncat {folder}/said >&2\nexit 3\n")
    python.chmod(0o755)
    (folder / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.12.1\n" + body)
    (folder / "rigup.json").write_text(
        json.dumps(
            {
                "schema": "rigup.environment/1",
                "wish": lines,
                "packages": {"torch": "2.9.1"},
                "indexes": [f"https://zeno:{address_door()}@h/simple"],
                "variables": {"CUDA_HOME": f"/opt?password={address_door()}"},
                "python": "3.12",
                "manager": "venv",
                "facts": {"lines": lines},
            }
        )
    )
    info = folder / "lib/python3.12/site-packages/torch-2.9.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Name: torch\nVersion: 2.9.1\n" + body)
    (info / "direct_url.json").write_text(json.dumps({"url": f"https://zeno:{address_door()}@h/torch.whl", "archive_info": {}}))
    (info / "RECORD").write_text("")
    return folder


@pytest.mark.parametrize(
    "argv",
    [("verify",), ("verify", "--json"), ("verify", "-v"), ("bench",), ("bench", "--json"), ("bench", "--prove", "--json")],
    ids=" ".join,
)
def test_no_door_is_in_what_an_environment_of_another_is_said_to_do(environment, argv):
    assert left(said(argv[0], environment, *argv[1:]), KNOWN) == []


@pytest.mark.parametrize(
    "argv",
    [
        ("env", "show"),
        ("env", "show", "--json"),
        ("env", "history"),
        ("env", "export"),
        ("env", "export", "--as", "conda"),
        ("env", "export", "--as", "pylock"),
        ("env", "export", "--as", "dotenv"),
    ],
    ids=" ".join,
)
def test_no_door_is_in_what_an_environment_is(environment, argv):
    words = (*argv[:2], environment, *argv[2:])
    assert left(said(*words), KNOWN) == []


@pytest.mark.parametrize(
    "argv",
    [
        ("run", "--show"),
        ("run", "--json"),
        ("run", "--unit", "x"),
        ("env", "--shell", "bash"),
        ("lock", "-o", "-"),
        ("plan", "--no-resolve"),
        ("plan", "--no-resolve", "--json"),
        ("apply", "--dry-run"),
    ],
    ids=" ".join,
)
def test_no_door_is_in_what_is_done_with_an_environment(environment, argv):
    assert left(said(argv[0], "--env", environment, *argv[1:]), KNOWN) == []


# -- programs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [(), ("-vv",), ("--json",), ("--issue",), ("--devices",)], ids=" ".join)
def test_a_report_of_a_program_does_not_say_its_doors_again(tmp_path, capfd, how):
    """What the program prints is its own; what we say of it is ours."""
    lines = "\n".join(one.line for one in KNOWN)
    (tmp_path / "said").write_text(lines + "\nRuntimeError: CUDA error: no kernel image is available for execution on the device\n")
    ours = said("doctor", *how, "--", "sh", "-c", f"cat {tmp_path}/said >&2; exit 3")
    capfd.readouterr()
    assert left(ours, KNOWN) == []
    assert left(said("fix", "--", "sh", "-c", f"cat {tmp_path}/said >&2; exit 3"), KNOWN) == []


def test_what_is_kept_of_a_fault_of_ours_is_for_its_owner_alone(tmp_path, monkeypatch):
    from rigup.cli.own_fault import report_fault

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    report_fault(ValueError("x"))
    kept = list(tmp_path.glob("rigup/faults/*"))
    assert kept
    assert all(os.stat(one).st_mode & 0o777 == 0o600 for one in kept)
