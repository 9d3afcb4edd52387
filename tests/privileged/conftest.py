"""Bases, built once for all tests here: Debian- and Ubuntu-like, with a repository of packages made for the tests."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from hardware import hardware
from node import PERSON, Node, Podman
from packages import repository
from roots import kernel, root, run, runtime

_NEEDED = ("podman", "debootstrap", "dpkg-deb", "unshare")
IMAGE = "localhost/rigup-machine"
_SYSTEMS = {
    "debian": 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\nID=debian\nVERSION_ID="12"\nVERSION_CODENAME=bookworm\n',
    "ubuntu": 'PRETTY_NAME="Ubuntu 24.04.3 LTS"\nNAME="Ubuntu"\nID=ubuntu\nID_LIKE=debian\nVERSION_ID="24.04"\nVERSION_CODENAME=noble\n',
}


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """The base as an image of podman's, and what is mounted into each machine."""
    missing = [name for name in _NEEDED if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin")]
    if sys.platform != "linux" or missing or os.geteuid() != 0:
        pytest.skip("needs root on Linux with " + ", ".join(missing or _NEEDED))
    folder = tmp_path_factory.mktemp("privileged")
    podman = Podman(folder)
    try:
        base = root(folder / "root")
    except RuntimeError as error:
        pytest.skip("debootstrap makes no base here: " + str(error)[-300:])
    volumes = runtime(folder / "runtime")
    _image(podman, base, folder)
    yield podman, volumes
    podman("rm", "--all", "--force", "--time", "0")
    shutil.rmtree(folder, ignore_errors=True)


def _image(podman: Podman, base: Path, folder: Path) -> None:
    """The base with a person, a kernel, and the repository as its only source of packages."""
    shutil.copytree(repository(base, folder), base / "srv/repository", dirs_exist_ok=True)
    shutil.rmtree(base / "tmp/objects")
    for path in (base / "etc/apt/sources.list.d").iterdir():
        path.unlink()
    (base / "etc/apt/sources.list").write_text("deb [trusted=yes] file:/srv/repository ./\n")
    (base / "etc/sudoers.d/ada").write_text(f"{PERSON} ALL=(ALL) NOPASSWD: ALL\n")
    run("unshare", "--mount", "--pid", "--fork", f"--mount-proc={base / 'proc'}", "chroot", base, "sh", "-ec", _PREPARE, "sh", PERSON, kernel())  # fmt: skip
    archive = folder / "base.tar"
    run("tar", "--create", "--file", archive, "--directory", base, ".")
    podman.must("import", archive, IMAGE)
    archive.unlink()


_PREPARE = """
export DEBIAN_FRONTEND=noninteractive LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin
getent group render > /dev/null || groupadd --system render
useradd --create-home --shell /bin/bash "$1"
apt-get update -qq
apt-get install -qq -y "linux-image-$2" > /dev/null
systemctl mask systemd-sysctl.service systemd-modules-load.service apt-daily.timer apt-daily-upgrade.timer \\
    dpkg-db-backup.timer e2scrub_all.timer fstrim.timer systemd-udevd.service > /dev/null 2>&1
: > /etc/machine-id
"""


@pytest.fixture
def machine(made, tmp_path):
    """Make a machine: the captured one whose cards it has, the system it runs, packages that are there from the first."""
    podman, volumes = made
    nodes = []

    def start(card: str, system: str = "debian", *packages: str) -> Node:
        box = Node(
            podman, f"box{len(nodes)}-{os.getpid()}", IMAGE, hardware(card, tmp_path / f"hw{len(nodes)}"), volumes
        )
        nodes.append(box)
        box.write("/usr/lib/os-release", _SYSTEMS[system])
        box.run("usermod", "-aG", "render,video", PERSON)
        if packages:
            box.run("apt-get", "install", "-y", *packages)
            box.run("/hw/boot")
        return box

    yield start
    for box in nodes:
        box.remove()
