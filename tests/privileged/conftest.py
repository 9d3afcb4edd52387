"""Bases, built once for all tests here: Debian- and Ubuntu-like, with a repository of packages made for the tests."""

import itertools
import os
import shutil
import sys
from pathlib import Path

import pytest
from hardware import hardware
from node import PERSON, Node, Podman
from others import FAMILIES
from others import made as made_of_family
from packages import repositories
from roots import kernel, root, run, runtime

_NEEDED = ("podman", "debootstrap", "dpkg-deb", "unshare")
IMAGE = "localhost/rigup-machine"
_KEPT = "debian"  # the folder of the root that all images are made of
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
        base = root(folder / "root", folder / _KEPT)
    except RuntimeError as error:
        pytest.skip("debootstrap makes no base here: " + str(error)[-300:])
    volumes = runtime(folder / "runtime")
    _image(podman, base, folder)
    yield podman, volumes
    podman("rm", "--all", "--force", "--time", "0")
    podman.close()
    shutil.rmtree(folder, ignore_errors=True)


def _image(podman: Podman, base: Path, folder: Path) -> None:
    """The base with a person, a kernel, and the repository as its only source of packages."""
    repositories(base, folder)
    for path in (base / "etc/apt/sources.list.d").iterdir():
        path.unlink()
    (base / "etc/apt/sources.list").write_text("deb [trusted=yes] file:/srv/repository ./\n")
    _imported(podman, base, folder, IMAGE, kernel())


def _imported(podman: Podman, base: Path, folder: Path, image: str, packaged: str = "") -> None:
    """A root with a person, a web server for the vendors' hosts, and the packaged kernel if there is one, as an image."""
    (base / "etc/pip.conf").write_text("[global]\nno-index = true\nfind-links = /hw/wheels\nretries = 0\n")
    (base / "srv/serve.py").write_text(_SERVER)
    (base / "etc/systemd/system/web.service").write_text(_WEB)
    shutil.rmtree(base / "tmp/objects")
    (base / "etc/sudoers.d/ada").write_text(f"{PERSON} ALL=(ALL) NOPASSWD: ALL\n")
    run(
        "unshare",
        "--mount",
        "--pid",
        "--fork",
        f"--mount-proc={base / 'proc'}",
        "chroot",
        base,
        "sh",
        "-ec",
        _PREPARE,
        "sh",
        PERSON,
        packaged,
    )
    archive = folder / "base.tar"
    run("tar", "--create", "--one-file-system", "--file", archive, "--directory", base, ".")
    podman.must("import", archive, image)
    archive.unlink()
    shutil.rmtree(base)


# Vendors' hosts on loopback: their own addresses, TLS by a certificate that this machine trusts, each host's files in its folder.
_SERVER = """import http.server, os, ssl
class Hosts(http.server.SimpleHTTPRequestHandler):
    def translate_path(self, path):
        host = (self.headers.get("Host") or "").split(":")[0].replace("/", "")
        return super().translate_path("/" + host + path)
os.chdir("/srv/web")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 443), Hosts)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("/srv/key/web.crt", "/srv/key/web.key")
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"""
_WEB = "[Service]\nExecStart=/usr/bin/python3 /srv/serve.py\n[Install]\nWantedBy=multi-user.target\n"
_PREPARE = """
export DEBIAN_FRONTEND=noninteractive LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin
getent group render > /dev/null || groupadd --system render
useradd --create-home --shell /bin/bash "$1"
[ -z "$2" ] || { apt-get update -qq; apt-get install -qq -y "linux-image-$2" > /dev/null; }
systemctl mask systemd-sysctl.service systemd-modules-load.service apt-daily.timer apt-daily-upgrade.timer \\
    dpkg-db-backup.timer e2scrub_all.timer fstrim.timer systemd-udevd.service > /dev/null 2>&1
mkdir -p -m 700 /srv/key
names=DNS:nvidia.github.io,DNS:developer.download.nvidia.com,DNS:download.pytorch.org,DNS:download.nvidia.com
openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj /CN=test -addext subjectAltName=$names \\
    -keyout /srv/key/web.key -out /srv/key/web.crt 2> /dev/null
cp /srv/key/web.crt /usr/local/share/ca-certificates/rigup-test.crt
update-ca-certificates > /dev/null 2>&1
systemctl enable web.service 2> /dev/null
: > /etc/machine-id
"""


_NUMBERS = itertools.count()  # one that failed while it was made may be left, and keeps its name


@pytest.fixture
def machine(made, images, tmp_path):
    """Make a machine: the captured one whose cards it has, the system it runs, packages that are there from the first.

    Packages are installed once: the machine on which they were first is an image for those that have the same.
    """
    podman, volumes = made
    nodes = []

    def start(card: str, system: str = "debian", *packages: str) -> Node:
        image, name = images.get((card, system, packages), IMAGE), f"box{next(_NUMBERS)}-{os.getpid()}"
        box = Node(podman, name, image, hardware(card, tmp_path / f"hw{len(nodes)}"), volumes)
        nodes.append(box)
        if image == IMAGE:
            box.write("/usr/lib/os-release", _SYSTEMS[system])
            box.run("usermod", "-aG", "render,video", PERSON)
        if packages and image == IMAGE:
            box.run("apt-get", "install", "-y", *packages)
            images[card, system, packages] = box.kept(f"localhost/with-packages-{len(images)}")
            box.run("/hw/boot")
        return box

    yield start
    for box in nodes:
        box.remove()


@pytest.fixture(scope="session")
def images():
    """Images that were made before, of other families by name and with packages by what they are."""
    return {}


@pytest.fixture
def other_machine(made, images, tmp_path):
    """Make a machine of another family of distributions."""
    podman, volumes = made
    nodes, kept = [], podman.folder / _KEPT

    def start(name: str, card: str) -> Node:
        if name not in images:
            folder = tmp_path / "family"
            folder.mkdir()
            images[name] = "localhost/rigup-" + name
            try:
                base = made_of_family(FAMILIES[name], folder, kept)
            except RuntimeError as error:
                pytest.skip(f"no root of {name} can be made here: " + str(error)[-300:])
            _imported(podman, base, folder, images[name])
        box = Node(podman, f"{name}-{os.getpid()}", images[name], hardware(card, tmp_path / "hw"), volumes)
        nodes.append(box)
        box.run("usermod", "-aG", "render,video", PERSON)
        return box

    yield start
    for box in nodes:
        box.remove()
