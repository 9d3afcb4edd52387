"""`rigup lab --container` with containers that really start, on a base made of this machine's Python; and what is refused before."""

import configparser
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes import descendants, gone, listens
from rigup.cli import run
from rigup.container.asked import Asked
from rigup.lab import pip_settings
from rigup.lab.container_folder import ContainerFolder, as_request, lacks, packages_folder
from rigup.lab.server import free_port
from user_systemd import beside_systemd

IMAGE = "localhost/python:1"
podman = [
    pytest.mark.podman,
    pytest.mark.skipif(sys.platform != "linux", reason="containers of Linux"),
    pytest.mark.skipif(not (shutil.which("podman") and shutil.which("busybox")), reason="podman or busybox is missing"),
]
SEEN = "import os, sys; print(os.getcwd(), os.environ.get('JUPYTER_TOKEN'), os.path.exists('/rigup/run/token'), sys.prefix)"


def _module(path):
    """A module of tests of another folder, by a name of its own."""
    spec = importlib.util.spec_from_file_location("lab_" + path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _root(path: Path) -> Path:
    """A tar of a root with Python, pip, `python3` and the libraries that compiled packages ask for."""
    tests = Path(__file__).parents[1]
    _module(tests / "plan" / "bases.py").python_root(path)
    listing = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, timeout=60, check=False).stdout
    with tarfile.open(path, "a") as tar:
        for name in ("librt.so.1", "libstdc++.so.6", "libgcc_s.so.1", "libpthread.so.0", "libdl.so.2", "libm.so.6"):
            if found := re.search(rf"^\s+{re.escape(name)} .*=> (/\S+)$", listing, re.MULTILINE):
                tar.add(os.path.realpath(found[1]), "/lib/" + name)
        link = tarfile.TarInfo("/usr/bin/python3")
        link.type, link.linkname = tarfile.SYMTYPE, "python"
        tar.addfile(link)
    return path


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    """podman with a store of its own, an image with Python, and a cache in which what the image lacks stays."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "container"))
    engine = _module(Path(__file__).parents[1] / "container" / "test_containers_that_run.py").Engine(os.getuid())
    try:
        tar = _root(tmp_path_factory.mktemp("root") / "root.tar")
        changes = ("--change", "ENV PATH=/usr/bin:/bin", "--change", "ENV PYTHONPATH=/opt/pip")
        engine.podman("import", *changes, str(tar), IMAGE)
        yield engine
    finally:
        engine.close()


class Lab:
    """`rigup lab --container` in a process of its own, with what it answered once it served."""

    def __init__(self, engine, *words):
        self.engine = engine
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rigup", "lab", "--container", IMAGE, *words, "--json"],
            cwd=engine.work,
            env={**engine.environment, "PYTHONPATH": os.pathsep.join(sys.path)},
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        text = ""
        while line := self.process.stdout.readline():
            text += line
            if line == "}\n":
                break
        self.answer = json.loads(text) if text else None
        if self.answer:
            self.base, _slash, self.token = self.answer["vscode_url"].partition("/?token=")

    def end(self, number=0):
        self.process.send_signal(number)
        _out, errors = self.process.communicate(timeout=180)
        return self.process.returncode, errors

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


@pytest.fixture(scope="module")
def with_jupyter(engine):
    """The same engine, once what the image lacks is there: installed by pip in a container, when that was agreed."""
    with Lab(engine, "--yes") as lab:
        if lab.answer is None:
            pytest.skip("Jupyter cannot be installed in a container here: " + lab.end()[1][-400:])
        assert lab.end(signal.SIGTERM)[0] == 0
    return engine


def left(engine):
    return engine.podman("ps", "--all", "--quiet").split()


def until_nothing_is_left(engine):
    for _again in range(300):
        if not left(engine):
            return True
        time.sleep(0.1)
    return False


@pytest.mark.packages
class TestServes:
    pytestmark = podman

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_cells_run_inside_and_no_container_is_left(self, with_jupyter, jupyter_python, number):
        with Lab(with_jupyter, "--dir", ".") as lab:
            (row,) = [line for line in with_jupyter.podman("ps", "--format", "{{.Names}} {{.Ports}}").splitlines() if line]
            assert row.split()[:2] == [lab.answer["container"], f"{lab.base.removeprefix('http://')}->{lab.base.rpartition(':')[2]}/tcp"]
            words = [str(jupyter_python), str(Path(__file__).with_name("execute.py")), lab.base, lab.token, "python3"]
            cells = json.dumps([SEEN, "open('made-inside', 'w').write('x')"])
            done = subprocess.run(words, input=cells, capture_output=True, text=True, timeout=180, check=False)
            assert done.returncode == 0, done.stderr[-2000:]
            assert json.loads(done.stdout)[0]["printed"].split() == [str(with_jupyter.work), "None", "True", "/rigup/lab"]
            assert (with_jupyter.work / "made-inside").stat().st_uid == os.getuid()
            below = descendants(lab.process.pid)
            commands = "".join(Path(f"/proc/{pid}/cmdline").read_text() for pid in below)
            inspection = with_jupyter.podman("inspect", lab.answer["container"])
            assert lab.token not in commands + inspection
            status, errors = lab.end(number)
        assert (status, "its container is gone" in errors) == (0, True)
        assert all(gone(pid) for pid in below)
        assert not listens(lab.base + "/")
        assert left(with_jupyter) == []
        (mounted,) = [word.partition(":")[0] for word in lab.answer["argv"] if word.endswith(":/rigup/run:ro")]
        assert not Path(mounted).parent.exists()

    def test_it_ends_also_where_rigup_is_killed(self, with_jupyter):
        with Lab(with_jupyter) as lab:
            assert len(left(with_jupyter)) == 1
            lab.process.kill()
            assert until_nothing_is_left(with_jupyter)

    def test_who_has_no_token_is_refused(self, with_jupyter):
        with Lab(with_jupyter) as lab:
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(lab.base + "/api/kernels", timeout=30)
            with refused.value as answer:
                assert answer.code == 403
            assert lab.end(signal.SIGINT)[0] == 0

    @pytest.mark.slow
    def test_as_a_service_of_a_real_systemd_it_comes_back_and_leaves_no_container(self, with_jupyter):
        script = Path(__file__).with_name("lab_under_systemd.py")
        environ = {**with_jupyter.environment, "PYTHONPATH": os.pathsep.join(sys.path)}
        environ |= {f"XDG_{name}_HOME": str(with_jupyter.folder / name.lower()) for name in ("CONFIG", "STATE")}
        done = beside_systemd([sys.executable, str(script), IMAGE, str(free_port())], environ, 900)
        assert done.returncode == 0, done.stderr[-3000:]
        assert json.loads(done.stdout.splitlines()[-1]) == {
            "installed": 0,
            "served": True,
            "strangers": 403,
            "containers": 1,
            "served again": True,
            "containers again": 1,
            "undone": 0,
            "state": "inactive",
            "containers after": 0,
        }, done.stderr[-3000:]


class TestRefused:
    pytestmark = podman

    def test_what_an_image_lacks_is_told_and_nobody_is_asked(self, engine):
        shutil.rmtree(packages_folder({**engine.environment, "XDG_CACHE_HOME": str(engine.folder / "none")}, IMAGE), ignore_errors=True)
        words = [sys.executable, "-m", "rigup", "lab", "--container", IMAGE]
        done = engine.start([*words, "--json"], XDG_CACHE_HOME=str(engine.folder / "none"))
        text = " ".join(done.stderr.split())
        assert (done.returncode, "lacks jupyterlab, ipykernel" in text, "give --yes" in text) == (2, True, True), text
        assert left(engine) == []
        assert engine.start(words, XDG_CACHE_HOME=str(engine.folder / "none")).returncode == 2

    def test_an_image_without_python_is_named_as_such(self, engine):
        done = engine.start([sys.executable, "-m", "rigup", "lab", "--container", "localhost/tool:1"])
        assert done.returncode == 1
        assert "python3" in done.stderr
        assert left(engine) == []


def test_options_of_other_places_do_not_go_with_a_container(capsys):
    for words in (["--host", "ada@node"], ["--env", "x"], ["--partition", "gpu"]):
        assert run(["lab", "--container", "torch", *words]) == 2
        assert words[0] in capsys.readouterr().err
    assert run(["lab", "--container", "-v/:/host"]) == 2
    assert run(["lab", "--container", "torch", "--dir", "nowhere"]) == 2


@pytest.mark.parametrize(
    ("image", "is_replaced"),
    [
        ("vllm/vllm-openai:v0.11.0", True),
        ("pytorch/pytorch:2.9.1-cuda12.8-cudnn9-runtime", False),
        ("quay.io/jupyter/pytorch-notebook:cuda12-python-3.12", False),
    ],
)
def test_a_servers_image_is_told_to_start_another_program(image, is_replaced):
    sys.path.insert(0, str(Path(__file__).parents[1] / "container"))
    from facts import ADA, DOCKER, answered

    request = as_request(Asked(what=image, command=("python3", "x"), publish=(8888,)), Path("/run/1"), Path("/c"))
    asked = {name: getattr(request, name) for name in ("what", "command", "publish", "mounts", "terminal", "own_program")}
    argv = answered(ADA, {"engines": [DOCKER], "nvidia_toolkit": "1.17.8"}, **asked).argv
    assert ("--entrypoint=" in argv) == is_replaced
    assert argv[-3:] == [image, "python3", "x"]
    assert {"/run/1:/rigup/run:ro", "/c:/rigup/lab", "/home/ada/work:/home/ada/work", "127.0.0.1:8888:8888"} <= set(argv)
    assert "--tty" not in argv


def test_the_folder_of_a_run_is_closed_and_its_files_are_read_inside(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    old = os.umask(0o077)
    try:
        folder = ContainerFolder("t" * 40, ["jupyterlab"], "/work")
        folder.fill(port=1, has_own_network=False, variables={"A": "b"}, title="x")
    finally:
        os.umask(old)
    (top,) = tmp_path.iterdir()
    assert top.stat().st_mode & 0o777 == 0o700
    modes = {path.stat().st_mode & 0o777 for path in folder.path.rglob("*") if path.is_file()}
    assert modes == {0o644}
    asked = json.loads((folder.path / "asked.json").read_text())
    assert (asked["ip"], asked["port"], asked["wanted"]) == ("127.0.0.1", 1, ["jupyterlab"])
    folder.remove()
    assert not list(tmp_path.iterdir())


def test_pip_inside_takes_packages_from_where_pip_here_does(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    own = tmp_path / "home" / ".config" / "pip" / "pip.conf"
    own.parent.mkdir(parents=True)
    own.write_text(
        "[global]\nindex-url = https://ada:secret@mirror.example/simple\nextra-index-url = file:///opt/x\n  https://b.example/simple\n"
    )
    (tmp_path / "ca").write_text("CA")
    (tmp_path / "run").mkdir()
    variables = {"PIP_CERT": str(tmp_path / "ca"), "PIP_TIMEOUT": "7", "PIP_CONFIG_FILE": str(tmp_path / "none")}
    files = pip_settings.written(tmp_path / "run", variables, "/inside")
    assert [path.name for path in files] == ["ca.pem", "pip.conf"]
    config = configparser.RawConfigParser()
    config.read_string(files[1].read_text())
    assert dict(config["global"]) == {
        "index-url": "https://ada:secret@mirror.example/simple",
        "extra-index-url": "https://b.example/simple",
        "timeout": "7",
        "cert": "/inside/ca.pem",
        **{name: config["global"][name] for name in ("trusted-host", "retries", "proxy") if name in config["global"]},
    }


@given(st.text(max_size=300))
def test_settings_of_pip_that_strangers_wrote_are_read_or_left(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("pip") / "pip.conf"
    path.write_text(text, encoding="utf-8")
    found = pip_settings.settings({"PIP_CONFIG_FILE": str(path)})
    assert all(isinstance(value, str) and value for value in found.values())


@given(st.text(max_size=300))
def test_what_a_container_says_is_read_or_left(text):
    assert lacks(text) is None or text.startswith("rigup-lacks ")
    assert lacks("rigup-lacks " + text) is None or "lacking" in text
    name = packages_folder({"XDG_CACHE_HOME": "/c"}, text).name
    assert re.fullmatch(r"[A-Za-z0-9.-]{1,80}", name)
    assert not name.startswith(".")


def test_what_is_lacking_is_heard_among_other_words():
    missing = lacks('pulling\nrigup-lacks {"lacking": ["jupyterlab"], "python": "/usr/bin/python3", "can": true}\nError: 64\n')
    assert (missing.lacking, missing.can) == (["jupyterlab"], True)
