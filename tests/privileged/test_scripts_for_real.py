"""A plan's script on a bare system of the release that it is for: it runs to its end, and what is there is what was planned."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest
import wheels
from node import PERSON, Podman
from roots import run, source

from answer_data import plan_of as answer
from rigup.plan.render.script import script
from rigup.stack.choose import choose
from rigup.stack.profile import read_profile
from rigup.stack.wish import Wish, read_wishes

_NEEDED = ("podman", "debootstrap", "apt-ftparchive", "unshare")
pytestmark = [
    pytest.mark.podman,
    pytest.mark.skipif(
        any(not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin") for name in _NEEDED), reason="needs " + ", ".join(_NEEDED)
    ),
    pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="needs root on Linux"),
]
# Suite, what a profile calls it, and a release of torch that has wheels for its own Python.
SYSTEMS = {"bookworm": ("debian 12", "torch"), "trixie": ("debian 13", "torch"), "bullseye": ("debian 11", "torch==2.8.0")}
_PREPARE = """
export DEBIAN_FRONTEND=noninteractive LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin
apt-get update -qq
apt-get install -qq -y sudo > /dev/null
apt-get install -qq -y --download-only python3-venv > /dev/null
mkdir -p /srv/repository
cp /var/cache/apt/archives/*.deb /srv/repository
useradd --create-home --shell /bin/bash "$1"
echo "$1 ALL=(ALL) NOPASSWD: ALL" > "/etc/sudoers.d/$1"
"""
_LIMITS = ("--ulimit=nofile=1024:4096", "--ulimit=nproc=4096:4096", "--security-opt=seccomp=unconfined")


def _base(suite: str, folder: Path) -> Path:
    """A bare system without a Python: its packages lie in a folder, and nothing else is asked."""
    base, ready = folder / suite, os.environ.get("RIGUP_TEST_ROOT_" + suite.upper())
    if ready:
        run("cp", "--archive", ready + "/.", base)
    else:
        run("debootstrap", "--variant=minbase", suite, base, source()[1])
    shutil.copy("/etc/resolv.conf", base / "etc/resolv.conf")
    run("chroot", base, "sh", "-ec", _PREPARE, "sh", PERSON)
    repository = base / "srv/repository"
    (repository / "Packages").write_text(run("apt-ftparchive", "packages", ".", cwd=repository))
    (base / "etc/apt/sources.list").write_text("deb [trusted=yes] file:/srv/repository ./\n")
    for place in (base / "etc/apt/sources.list.d", base / "var/lib/apt/lists"):
        shutil.rmtree(place, ignore_errors=True)
    return base


@pytest.fixture(scope="module")
def podman(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scripts")
    podman = Podman(folder)
    yield podman, folder
    podman.close()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module", params=sorted(SYSTEMS))
def system(request, podman):
    """An image of a bare system, and its suite."""
    engine, folder = podman
    try:
        base = _base(request.param, folder)
    except RuntimeError as error:
        pytest.skip(f"no {request.param} can be made here: " + str(error)[-300:])
    archive = folder / "base.tar"
    run("tar", "--create", "--one-file-system", "--file", archive, "--directory", base, ".")
    engine.must("import", archive, "localhost/bare-" + request.param)
    archive.unlink()
    shutil.rmtree(base)
    return request.param


@pytest.mark.parametrize("account", ["root", PERSON])
def test_a_script_runs_to_its_end_on_the_bare_system_that_it_is_for(system, podman, tmp_path, account):
    engine, _folder = podman
    words, wish = SYSTEMS[system]
    choice = choose(Wish(packages=read_wishes([wish])), read_profile("no gpu, " + words))
    planned = answer(choice)
    (tmp_path / "plan.sh").write_text(script(choice))
    wheels.torch(tmp_path, planned["packages"]["torch"])
    tmp_path.chmod(0o755)  # the account inside is another one
    told = engine.must(
        "run",
        "--rm",
        "--network=none",
        *_LIMITS,
        "--user",
        account,
        "--workdir",
        "/tmp",
        "--env",
        "PIP_NO_INDEX=1",
        "--env",
        "PIP_FIND_LINKS=/given",
        "--volume",
        f"{tmp_path}:/given:ro",
        "localhost/bare-" + system,
        "sh",
        "-ec",
        "! command -v python3 && sh /given/plan.sh >&2 && .venv/bin/python -c 'import sys; print(\"Python %d.%d\" % sys.version_info[:2])' "
        "&& .venv/bin/python -m pip freeze",
    )
    lines = told.splitlines()
    assert "Python " + planned["environment"]["python"] in lines
    assert [line for line in lines if re.match(r"torch\b", line)] == ["torch==" + planned["packages"]["torch"]]
