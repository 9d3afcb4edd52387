"""`rigup apply` with a real Python and a real pip, on wheels of our own in a folder: no network is asked."""

import contextlib
import hashlib
import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from small_wheels import wheel
from small_world import World, adding

from tiny_environments import Parts

pytestmark = pytest.mark.packages

TORCH = "2.6.0+cpu"


@pytest.fixture
def offline(world: World) -> dict[str, str]:
    """A person whose pip takes wheels from a folder alone."""
    folder = world.state.parent / "wheels"
    folder.mkdir()
    wheel(folder, "torch", TORCH)
    wheel(folder, "alpha", "1.0", body="print('alpha here')\n")
    return {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(folder),
        "HOME": str(world.state.parent / "home"),
        "VIRTUAL_ENV": "",
        "https_proxy": "http://127.0.0.1:9",
        "PIP_RETRIES": "0",
        "PIP_DEFAULT_TIMEOUT": "5",
        "PIP_CONFIG_FILE": os.devnull,
    }


def test_a_wish_becomes_an_environment_and_undo_leaves_nothing(world: World, offline: dict[str, str]) -> None:
    before = world.picture()
    status, said = world.rigup("apply", "torch==2.6.0", "alpha", "--yes", **offline)
    assert status == 0, said
    ran = subprocess.run([world.files / ".venv/bin/python", "-c", "import alpha, torch"], capture_output=True, text=True, check=True)
    assert ran.stdout == "alpha here\n"
    told = json.loads((world.files / ".venv/rigup.json").read_text())
    assert told["packages"]["torch"] == TORCH
    assert world.rigup("apply", "torch==2.6.0", "alpha", "--yes", **offline)[1].startswith("Ready.")
    assert world.rigup("undo", "--yes", **offline)[0] == 0
    assert world.picture() == before


def test_the_dry_run_is_what_is_run_then(world: World, offline: dict[str, str]) -> None:
    before = world.picture()
    status, said = world.rigup("apply", "torch==2.6.0", "alpha", "--dry-run", "--json", **offline)
    assert status == 0, said
    assert world.picture() == before
    foreseen = [" ".join(argv) for one in json.loads(said)["steps"] for argv in one["commands"]]
    assert world.rigup("apply", "torch==2.6.0", "alpha", "--yes", **offline)[0] == 0
    logs = sorted(world.state.glob("rigup/journal/*/step-*.log"))
    ran = [line[2:] for log in logs for line in log.read_text().splitlines() if line.startswith("$ ")]
    assert ran == foreseen


def test_a_file_of_wishes_is_no_lock_and_a_file_called_as_a_package_is_none_either(world: World, offline: dict[str, str]) -> None:
    (world.files / "requirements.txt").write_text("alpha==1.0\n")
    (world.files / "pyproject.toml").write_text('[project]\nname = "mine"\nversion = "1"\ndependencies = ["alpha"]\n')
    (world.files / "alpha").write_text("notes\n")
    for word in ("requirements.txt", "pyproject.toml", "alpha"):
        status, said = world.rigup("apply", word, "--dry-run", **offline)
        assert status == 0, said
        assert "alpha==1.0" in said
    (world.files / "other.toml").write_text('# ours\nlock-version = "2.0"\n[[packages]]\n')
    assert "lock-version" in world.rigup("apply", "other.toml", "--yes", **offline)[1]


def test_without_a_terminal_nothing_is_done_unasked(world: World, offline: dict[str, str]) -> None:
    before = world.picture()
    status, said = world.rigup("apply", "torch==2.6.0", **offline)
    assert status == 2
    assert "--yes" in said
    assert world.picture() == before
    assert not list(world.state.glob("rigup/journal/*/plan.json"))


def test_an_environment_that_is_there_keeps_what_it_holds(world: World, offline: dict[str, str]) -> None:
    assert world.rigup("apply", "torch==2.6.0", "--yes", **offline)[0] == 0
    before = world.picture()
    status, said = world.rigup("apply", "alpha", "--yes", **offline)
    assert status == 0, said
    assert list((world.files / ".venv/lib").glob("*/site-packages/torch/version.py"))
    subprocess.run([world.files / ".venv/bin/python", "-c", "import alpha, torch"], capture_output=True, check=True)
    world.rigup("undo", "--yes", **offline)
    after = world.picture()
    assert {name for name in after if "__pycache__" not in name} == {name for name in before if "__pycache__" not in name}


@pytest.mark.parametrize("word", ["env", "./env/", "../machine/env"])
def test_an_environment_is_the_same_by_whichever_path_it_is_named(world: World, offline: dict[str, str], word: str) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", world.environment], check=True)
    (world.environment / "notes.txt").write_text("mine")
    status, said = world.rigup("plan", "alpha", "--env", word, "--json", **offline)
    assert status == 0, said
    making = next(step for step in json.loads(said)["steps"] if step["kind"].startswith("make-environment"))
    assert making["state"] == "satisfied"
    assert making["params"]["environment"] == str(world.environment)


def test_what_is_not_to_be_had_is_said_and_nothing_changes(world: World, offline: dict[str, str]) -> None:
    before = world.picture()
    status, said = world.rigup("apply", "torch==2.6.0", "no-such-package-anywhere", "--yes", **offline)
    assert status == 1
    assert "cannot be had together" in " ".join(said.split())
    assert "anywhere was not found" in " ".join(said.split())
    assert world.picture() == before


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_what_is_no_environment_is_never_replaced(world: World, offline: dict[str, str], kind: str) -> None:
    mine = world.files / "notes" / "thesis.txt" if kind == "folder" else world.files / "notes"
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("mine")
    before = world.picture()
    status, said = world.rigup("apply", "torch==2.6.0", "--env", "notes", "--yes", **offline)
    assert (status, "is no environment" in " ".join(said.split())) == (2, True)
    assert world.picture() == before


def test_an_empty_folder_is_a_place_for_an_environment(world: World, offline: dict[str, str]) -> None:
    (world.files / "empty").mkdir()
    assert world.rigup("apply", "torch==2.6.0", "--env", "empty", "--dry-run", **offline)[0] == 0


@pytest.mark.parametrize(
    "wish",
    [
        "--index-url=http://127.0.0.1:9/",
        "torch; import os",
        "$(touch owned)",
        "torch==2.6.0 && touch owned",
        "-e .",
        "../../etc/passwd",
        "torch @ file:///etc/passwd",
        "\x1b[31mtorch",
        "torch\nalpha",
        "a" * 5000,
        "`touch owned`",
    ],
)
def test_a_hostile_wish_changes_nothing_and_is_named(world: World, offline: dict[str, str], wish: str) -> None:
    before = world.picture()
    status, said = world.rigup("apply", "--yes", "--", wish, **offline)
    assert status in (1, 2), said
    assert said.strip()
    assert "\x1b[31m" not in said
    assert world.picture() == before


def test_two_runs_at_once_leave_one_environment(world: World, offline: dict[str, str]) -> None:
    words = [sys.executable, "-m", "rigup", "apply", "torch==2.6.0", "--yes", "-q"]
    both = [
        subprocess.Popen(
            words,
            env={**world.variables(), **offline},
            cwd=world.files,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for _time in range(2)
    ]
    said = [one.communicate(timeout=120)[0] for one in both]
    assert sorted(one.returncode for one in both) in ([0, 0], [0, 1]), said
    subprocess.run([world.files / ".venv/bin/python", "-c", "import torch"], check=True)
    assert not list(world.files.glob(".*rigup-new*"))


# -- a disk that is full, a network that ends ---------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of a few megabytes, where this account may make one."""
    place = tmp_path / "small"
    place.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=80m", "tmpfs", str(place)], capture_output=True, check=False)
    if made.returncode != 0:
        pytest.skip("no file system can be mounted by this account")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_leaves_the_environment_as_it_was(world: World, offline: dict[str, str], small_disk: Path) -> None:
    wheel(Path(offline["PIP_FIND_LINKS"]), "large", "1.0", size=90_000_000)
    world.files = small_disk
    assert world.rigup("apply", "torch==2.6.0", "--yes", **offline)[0] == 0
    subprocess.run([small_disk / ".venv/bin/python", "-c", "import torch"], check=True)
    status, said = world.rigup("apply", "large", "--yes", **offline)
    assert status == 1, said
    assert "No space left on device" in said
    subprocess.run([small_disk / ".venv/bin/python", "-c", "import torch"], check=True)
    assert not list(small_disk.glob(".*rigup-new*"))
    assert shutil.disk_usage(small_disk).free > 1_000_000


class Stopping(http.server.SimpleHTTPRequestHandler):
    """An index that ends in the middle of a wheel, and then for good; what it is to be asked before is whole."""

    def do_GET(self) -> None:
        """It gives no parts."""
        if "Range" in self.headers:
            self.send_error(416)
        else:
            super().do_GET()

    def copyfile(self, source: object, outputfile: object) -> None:
        """Half of what was asked for."""
        if not self.path.endswith(".whl"):
            super().copyfile(source, outputfile)  # type: ignore[misc, type-var]
            return
        outputfile.write(source.read(200_000))  # type: ignore[attr-defined]
        self.close_connection = True
        threading.Thread(target=ended, args=(self.server,), daemon=True).start()

    def log_message(self, *_args: object) -> None:
        """Nobody reads it."""


def ended(server: http.server.HTTPServer) -> None:
    """Nobody answers any more."""
    server.shutdown()
    server.server_close()


@pytest.fixture
def stopping_index(world: World) -> Iterator[str]:
    """A loopback index with one large package."""
    folder = world.state.parent / "index"
    (folder / "large").mkdir(parents=True)
    made = wheel(folder / "large", "large", "1.0", size=4_000_000)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Stopping, directory=str(folder)))
    with zipfile.ZipFile(made) as file:
        (folder / "large" / f"{made.name}.metadata").write_bytes(file.read("large-1.0.dist-info/METADATA"))
    (folder / "large/index.html").write_text(
        f'<a href="{made.name}#sha256={hashlib.sha256(made.read_bytes()).hexdigest()}" data-core-metadata="true">{made.name}</a>'
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    ended(server)


def test_a_network_that_ends_half_way_can_be_gone_on_with(world: World, offline: dict[str, str], stopping_index: str) -> None:
    Path(offline["HOME"]).mkdir()
    links = Path(offline["PIP_FIND_LINKS"])
    few = {
        "PIP_RETRIES": "1",
        "PIP_RESUME_RETRIES": "1",
        "UV_HTTP_RETRIES": "1",
        "UV_HTTP_TIMEOUT": "5",
    }  # else two minutes are waited for who never comes
    found = offline | few | {"PIP_NO_INDEX": "0", "PIP_INDEX_URL": stopping_index, "https_proxy": "", "no_proxy": "127.0.0.1"}
    world.rigup("apply", "torch==2.6.0", "--yes", **offline)
    before = world.picture()
    status, said = world.rigup("apply", "large", "--yes", **found)
    assert status == 1, said
    assert {name for name in world.picture() if "__pycache__" not in name} == {n for n in before if "__pycache__" not in n}
    wheel(links, "large", "1.0", size=1000)  # the network is there again
    status, said = world.rigup("apply", "--resume", "--yes", **offline, UV_OFFLINE="1")
    assert status == 0, said
    subprocess.run([world.files / ".venv/bin/python", "-c", "import large, torch"], check=True)


# -- by hand and by force -----------------------------------------------------------------------------


@pytest.mark.parametrize("seconds", [0.6, 2.0, 4.0])
def test_ctrl_c_leaves_things_whole(world: World, offline: dict[str, str], seconds: float) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "rigup", "apply", "torch==2.6.0", "alpha", "--yes"],
        env={**world.variables(), **offline},
        cwd=world.files,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    time.sleep(seconds)
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGINT)
    said, _nothing = process.communicate(timeout=60)
    assert "Traceback" not in said
    assert not list(world.files.glob(".*rigup-new*"))
    if (world.files / ".venv").exists():
        subprocess.run([world.files / ".venv/bin/python", "-c", "import alpha, torch"], capture_output=True, check=True)
    else:
        assert world.rigup("apply", "torch==2.6.0", "alpha", "--yes", **offline)[0] == 0


@pytest.mark.parametrize("seconds", [0.8, 2.5, 3.5, 4.5])
def test_a_real_installation_that_is_killed_is_whole_or_not_there(world: World, offline: dict[str, str], seconds: float) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "rigup", "apply", "torch==2.6.0", "alpha", "--yes"],
        env={**world.variables(), **offline},
        cwd=world.files,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(seconds)
    process.kill()
    process.wait(30)
    if (world.files / ".venv").exists():
        subprocess.run([world.files / ".venv/bin/python", "-c", "import alpha, torch"], capture_output=True, check=True)
    status, said = world.rigup("apply", "torch==2.6.0", "alpha", "--yes", **offline)
    assert status == 0, said
    subprocess.run([world.files / ".venv/bin/python", "-c", "import alpha, torch"], capture_output=True, check=True)
    assert not list(world.files.glob(".*rigup-new*"))


# -- the real torch -----------------------------------------------------------------------------------


def torch_folder() -> str:
    """Where this person's pip finds a wheel of torch without a network; "" if nowhere."""
    asked = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False).stdout
    folders = [word.strip("'") for line in asked.splitlines() if "find-links" in line for word in line.partition("=")[2].split()]
    return next((folder for folder in folders if list(Path(folder.strip("'\"")).glob("torch-2.13.0*.whl"))), "")


@pytest.mark.torch
def test_a_real_torch_computes_and_is_taken_back(world: World) -> None:
    if not torch_folder():
        pytest.skip("no wheel of torch lies where pip looks")
    before = world.picture()
    quiet = {"https_proxy": "http://127.0.0.1:9", "PIP_RETRIES": "0", "VIRTUAL_ENV": ""}
    status, said = world.rigup("apply", "torch==2.13.0", "--yes", **quiet)
    assert status == 0, said
    sums = "import torch; print(float((torch.ones(100, 100) @ torch.ones(100, 100)).sum()))"
    ran = subprocess.run([world.files / ".venv/bin/python", "-W", "ignore", "-c", sums], capture_output=True, text=True, check=True)
    assert ran.stdout == "1000000.0\n"
    assert world.rigup("undo", "--yes", **quiet)[0] == 0
    assert world.picture() == before


class Kept(Parts):
    """An index whose files may be kept, as those of the great ones may; what was asked for whole is counted."""

    asked: list[str]

    def end_headers(self) -> None:
        """A file never changes."""
        if self.path.endswith(".whl"):
            self.send_header("Cache-Control", "max-age=365000000, immutable, public")
        super().end_headers()

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """On a list in place of the terminal."""
        if self.command == "GET" and "Range" not in self.headers:
            self.server.asked.append(self.path)  # type: ignore[attr-defined]


def test_what_was_downloaded_once_is_not_downloaded_again(world: World, offline: dict[str, str]) -> None:
    """In silence, as a job of CI wants it: nothing is said where all is well."""
    folder = Path(offline["PIP_FIND_LINKS"])
    handler = partial(Kept, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.asked = []  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    home = f"http://127.0.0.1:{server.server_port}/"
    alone = {"PIP_FIND_LINKS": home, "PIP_TRUSTED_HOST": "127.0.0.1", "no_proxy": "127.0.0.1"}
    files = []
    try:
        for name in ("first", "second"):
            status, said = world.rigup("apply", "torch==2.6.0", "--env", name, "--yes", "--quiet", **{**offline, **alone})
            assert (status, said) == (0, ""), said
            files.append([path for path in server.asked if path.endswith(".whl")])  # type: ignore[attr-defined]
            server.asked.clear()  # type: ignore[attr-defined]
    finally:
        ended(server)
    assert len(files[1]) < len(files[0])  # a folder without hashes is asked for a file once more, to know it


def test_the_only_place_that_does_not_answer_is_named_and_not_asked_for_long(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PIP_RETRIES", raising=False)
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # nobody listens there
        index = f"http://127.0.0.1:{held.getsockname()[1]}/simple"
        step = {**adding("env", "alpha"), "commands": [["sh", "-c", _PIP, "pip", "install", "alpha", "--index-url", index]]}
        status, said = world.run([step])
    told = " ".join(said.split())
    assert status == 1
    assert "tries: 1" in told
    assert "Retrying" not in told
    assert f"{index} could not be reached" in told


_PIP = 'echo "WARNING: Retrying (Retry(total=0, connect=None)) after connection broken"; echo "tries: $PIP_RETRIES"; exit 1'
