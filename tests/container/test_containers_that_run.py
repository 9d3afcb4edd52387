"""`rigup container` with containers that really start: podman as root and rootless, on a base made of this machine's busybox."""

import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request
from pathlib import Path

import pytest
from facts import PODMAN, answered

pytestmark = [
    pytest.mark.podman,
    pytest.mark.skipif(sys.platform != "linux", reason="containers of Linux"),
    pytest.mark.skipif(not (shutil.which("podman") and shutil.which("busybox")), reason="podman or busybox is missing"),
]
IMAGE = "localhost/tool:1"
NOBODY = 65534
_ENGINES = itertools.count()
# Limits that any caller may set; and where control groups are of both kinds crun refuses, runc does not. What podman knows of
# running containers, and its locks, lie beside their store: a reset takes them away, and other tests have stores beside this one.
CONTAINERS = """\
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[network]
default_subnet = "{subnet}"
[engine]
events_logger = "file"
lock_type = "file"
tmp_dir = "{folder}/tmp"
"""
STORAGE = """[storage]
driver = "vfs"
graphroot = "{folder}/store"
runroot = "{folder}/run"
[storage.options.vfs]
ignore_chown_errors = "true"
"""


def _loaded(program: str) -> list[str]:
    """The libraries that its loader brings in, itself included."""
    text = subprocess.run(["ldd", program], capture_output=True, text=True, timeout=60, check=False).stdout
    return sorted(set(re.findall(r"(/\S{1,300}) \(0x", text)))


def _base(path: Path) -> Path:
    """A tar of a root with busybox, what its loader brings in, and its applets."""
    program = os.path.realpath(shutil.which("busybox"))
    with tarfile.open(path, "w") as tar:
        tar.add(program, "bin/busybox")
        for library in _loaded(program):
            tar.add(os.path.realpath(library), library)
        for applet in ("sh", "id", "touch", "httpd", "sleep", "cat", "stat"):
            link = tarfile.TarInfo("bin/" + applet)
            link.type, link.linkname = tarfile.SYMTYPE, "busybox"
            tar.addfile(link)
        folder = tarfile.TarInfo("tmp")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o1777
        tar.addfile(folder)
    return path


class Engine:
    """podman with settings and a store of its own, as root or as somebody else; what rigup starts inherits them."""

    def __init__(self, account: int) -> None:
        # podman takes no longer path than one of 50 characters
        self.folder = Path(tempfile.mkdtemp(prefix="rigup-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
        self.account = account
        runtime = 'runtime = "runc"\ncgroup_manager = "cgroupfs"\n' if shutil.which("runc") else ""
        # an account's own network wants a program and a device that may be missing, and none of what it tests
        network = 'netns = "none"\n' if account != os.getuid() else ""
        subnet = f"10.{os.getpid() % 100 + 100}.{next(_ENGINES) % 256}.0/24"
        settings = CONTAINERS.format(folder=self.folder, subnet=subnet)
        (self.folder / "containers.conf").write_text("[containers]\n" + network + settings + runtime)
        (self.folder / "storage.conf").write_text(STORAGE.format(folder=self.folder))
        self.work = self.folder / "work"
        self.work.mkdir()
        tar = _base(self.folder / "base.tar")
        for path in (self.folder, self.work, tar):
            os.chown(path, account, account) if account != os.getuid() else None
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "RIGUP_"))},
            "CONTAINERS_CONF": str(self.folder / "containers.conf"),
            "CONTAINERS_STORAGE_CONF": str(self.folder / "storage.conf"),
            "HOME": str(self.folder),
            "XDG_RUNTIME_DIR": str(self.folder),
        }
        self.podman("import", "--change", "CMD /bin/sh", str(tar), IMAGE)
        self.podman("run", "--rm", "--network", "none", IMAGE, "/bin/id")

    def podman(self, *words: str) -> str:
        """What podman prints; skips where it cannot."""
        done = self.start(["podman", *words])
        if done.returncode:
            pytest.skip("podman starts no containers here: " + done.stderr[-300:])
        return done.stdout

    def start(self, argv: list[str], **options: object) -> "subprocess.CompletedProcess[str]":
        """A program with these settings, by the account, in the folder of work."""
        as_whom = {} if self.account == os.getuid() else {"user": self.account, "group": self.account, "extra_groups": []}
        return subprocess.run(
            argv, cwd=self.work, env={**self.environment, **options}, capture_output=True, text=True, timeout=300, check=False, **as_whom
        )

    def rigup(self, *words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        """`rigup container` with podman."""
        return self.start([sys.executable, "-m", "rigup", "container", *words], **variables)

    def close(self) -> None:
        """Nothing is left of it."""
        self.start(["podman", "rm", "--all", "--force", "--time", "0"])
        self.start(["podman", "system", "reset", "--force"])
        shutil.rmtree(self.folder, ignore_errors=True)


def _engine(account):
    engine = Engine(account)
    try:
        yield engine
    finally:
        engine.close()


@pytest.fixture(scope="module")
def engine():
    yield from _engine(os.getuid())


@pytest.fixture(scope="module")
def rootless():
    if os.getuid() != 0:
        pytest.skip("only root can become somebody else")
    yield from _engine(NOBODY)


def run(*words):
    return ("run", IMAGE, "--engine", "podman", *words)


def test_a_program_works_in_the_callers_folder_and_keeps_its_status(engine):
    done = engine.rigup(*run("--", "sh", "-c", "echo out; echo err >&2; touch made; exit 7"))
    assert (done.returncode, done.stdout) == (7, "out\n")
    assert "err" in done.stderr
    assert (engine.work / "made").stat().st_uid == os.getuid()


def test_a_secret_reaches_the_program_and_no_command_line(engine):
    words = run("--env", "HF_TOKEN", "--", "sh", "-c", 'echo "$HF_TOKEN"; cat /proc/1/cmdline')
    done = engine.rigup(*words, HF_TOKEN="hf_abcdefgh12345678")
    assert done.stdout.startswith("hf_abcdefgh12345678\n")
    shown = engine.rigup(*words[:2], "--print", *words[2:], HF_TOKEN="hf_abcdefgh12345678").stdout
    assert "--env HF_TOKEN " in shown
    assert "hf_abc" not in shown


def test_what_it_dies_of_is_named(engine):
    text = "AssertionError: Torch not compiled with CUDA enabled"
    done = engine.rigup(*run("--", "sh", "-c", f"echo '{text}' >&2; exit 1"))
    assert done.returncode == 1
    assert "podman ended with status 1" in done.stderr
    assert "A fault was found." in done.stderr


def test_a_signal_reaches_the_program_and_no_container_is_left(engine):
    words = run("--name", "signalled", "--", "sh", "-c", "trap 'exit 9' TERM; echo ready; while :; do sleep 0.1; done")
    with subprocess.Popen(
        [sys.executable, "-m", "rigup", "container", *words], cwd=engine.work, env=engine.environment, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout.readline() == "ready\n"
        running.send_signal(signal.SIGTERM)
        assert running.wait(60) == 9
    assert engine.podman("ps", "--all", "--quiet", "--filter", "name=signalled") == ""


def test_a_service_in_the_background_is_reached_on_loopback_and_examined(engine):
    (engine.work / "index.html").write_text("served")
    done = engine.rigup(*run("--detach", "--name", "served", "--publish", "18033", "--", "sh", "-c", "httpd -f -p 18033"))
    if done.returncode and re.search(r"netavark|iptables|nft|network", done.stderr):
        pytest.skip("podman makes no networks here: " + done.stderr[-200:])
    assert done.returncode == 0, done.stderr
    try:
        assert "127.0.0.1" in engine.podman("port", "served")
        for _again in range(50):
            try:
                with urllib.request.urlopen("http://127.0.0.1:18033/index.html", timeout=2) as answer:
                    assert answer.read() == b"served"
                break
            except OSError:
                time.sleep(0.1)
        else:
            raise AssertionError("nobody answers")
        report = json.loads(engine.rigup("doctor", "served", "--engine", "podman", "--json").stdout)
        assert report["schema"].startswith("rigup.")
        assert "served" in json.dumps(report)
    finally:
        engine.podman("rm", "--force", "--time", "0", "served")


def test_rootless_files_belong_to_whom_they_should(rootless):
    """The command that is said for a rootless podman of an account, run by that account."""
    host = {
        "engines": [{**PODMAN, "more_ids": False}],
        "cwd": str(rootless.work),
        "uid": NOBODY,
        "gid": NOBODY,
        "home": str(rootless.folder),
    }
    answer = answered("no gpu, debian 12", host, what=IMAGE, command=("sh", "-c", "id -u; touch made; exit 5"), terminal=False)
    done = rootless.start(list(answer.argv))
    assert done.returncode == 5, done.stderr
    assert (rootless.work / "made").stat().st_uid == NOBODY


@pytest.mark.torch
@pytest.mark.skipif(not os.environ.get("RIGUP_TORCH_PYTHON"), reason="RIGUP_TORCH_PYTHON names no interpreter with torch")
def test_an_environment_is_proven_inside_of_a_container(engine, tmp_path):
    """The interpreters are mounted where they lie: what computes is the container's own loader, devices and limits."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "plan"))
    from bases import python_root

    engine.podman("import", "--change", "ENV PATH=/usr/bin:/bin", str(python_root(tmp_path / "python.tar")), "localhost/python:1")
    torch_home = Path(os.environ["RIGUP_TORCH_PYTHON"]).parent.parent
    libraries = {Path(path).parent for path in _loaded(sys.executable) if "/ld-" not in path}
    homes = [*libraries, Path(sys.base_prefix), Path(sys.executable).parent.parent, torch_home, Path(__file__).parents[2] / "src"]
    mounts = [word for home in homes for word in ("--mount", f"{home}:ro")]
    done = engine.rigup(
        "run",
        "localhost/python:1",
        "--engine",
        "podman",
        *mounts,
        "--",
        sys.executable,
        "-m",
        "rigup",
        "verify",
        "--quick",
        "--json",
        str(torch_home),
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert json.loads(done.stdout)["verdict"] == "verified", done.stdout[-2000:] + done.stderr[-2000:]
