"""A bundle carries all that an environment needs, and a hostile one changes nothing."""

import io
import os
import subprocess
import sys
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.plan.environments import bundle, fetching, lockfile, locking, resolver
from rigup.plan.environments.folder import environment_at
from rigup.plan.environments.lock_fields import LockError
from rigup.stack.profile import read_profile
from rigup.stack.site import Sources
from tiny_environments import says

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
SAFELY = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # Pythons before 3.11.4 know no filter


@pytest.fixture(scope="module")
def site(wheels):
    return read_profile(f"no gpu, debian 12, python {PYTHON}").but(sources=Sources(find_links=(str(wheels),)))


@pytest.fixture(scope="module")
def packed(made, site, tmp_path_factory):
    """A bundle of the environment, and its lock."""
    folder = tmp_path_factory.mktemp("packed")
    environment = environment_at(made)
    lock = locking.of_environment(environment, site)
    (folder / "files").mkdir()
    fetching.fetch(lock, list(lock.packages), site, resolver.resolver_for(PYTHON, made), folder / "files")
    bundle.write(lock, folder / "files", folder / "env.tar")
    return folder / "env.tar"


def test_what_is_packed_is_opened_again(packed, tmp_path):
    told = bundle.opened(str(packed), str(tmp_path / "there"))
    assert sorted(os.listdir(told.folder)) == ["bridge-2.0-py3-none-any.whl", "stone-1.0-py3-none-any.whl"]
    assert [one.name for one in told.lock.packages] == ["bridge", "stone"]
    assert all(not wheel.url for wheel in told.lock.wheels())


def test_its_script_makes_the_environment_with_nothing_else(packed, tmp_path):
    with tarfile.open(packed) as archive:
        archive.extractall(tmp_path / "my bundle", **SAFELY)
    target = tmp_path / "новое env"
    command = ["sh", str(tmp_path / "my bundle" / "install.sh"), str(target), sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=180, check=False)
    assert done.returncode == 0, done.stderr
    assert says(target / "bin" / "bridge") == "bridge 2.0"
    again = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (again.returncode, "is there already" in again.stderr) == (1, True)


@pytest.mark.parametrize("shell", ["sh", "bash", "busybox"])
def test_its_script_is_one_that_any_shell_reads(packed, tmp_path, shell):
    import shutil

    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    with tarfile.open(packed) as archive:
        archive.extract("install.sh", tmp_path, **SAFELY)
    words = [shell, "sh"] if shell == "busybox" else [shell]
    subprocess.run([*words, "-n", str(tmp_path / "install.sh")], check=True, timeout=60)


def test_its_script_has_no_fault_that_shellcheck_knows(packed, tmp_path):
    import shutil

    found = shutil.which("shellcheck") or shutil.which("shellcheck", path=os.path.dirname(sys.executable))
    if not found:
        pytest.skip("shellcheck is not installed")
    with tarfile.open(packed) as archive:
        archive.extract("install.sh", tmp_path, **SAFELY)
    done = subprocess.run([found, str(tmp_path / "install.sh")], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == ""


def test_a_script_for_another_python_says_so(packed, tmp_path):
    with tarfile.open(packed) as archive:
        archive.extract("install.sh", tmp_path, **SAFELY)
    text = (tmp_path / "install.sh").read_text().replace(f"wanted={PYTHON}", "wanted=9.9")
    (tmp_path / "install.sh").write_text(text)
    done = subprocess.run(
        ["sh", str(tmp_path / "install.sh"), str(tmp_path / "e"), sys.executable], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "9.9" in done.stderr
    assert not (tmp_path / "e").exists()


def test_variables_of_odd_letters_stand_in_the_script_as_they_are(tmp_path):
    from rigup.plan.environments.bundle_script import install_script

    odd = "a 'b' \"c\" $HOME `touch x` \\ %s"
    text = install_script(lockfile.Lock(packages=(), variables={"NOTE": odd}))
    lines = [line for line in text.splitlines() if "NOTE" in line]
    (tmp_path / "env" / "bin").mkdir(parents=True)
    (tmp_path / "run.sh").write_text("environment=env\n" + "\n".join(lines) + '\n. env/bin/activate\nprintf %s "$NOTE"\n')
    done = subprocess.run(["sh", "run.sh"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == odd
    assert sorted(os.listdir(tmp_path)) == ["env", "run.sh"]


def test_a_file_that_is_not_the_locks_is_not_packed(made, site, wheels, tmp_path):
    lock = locking.of_environment(environment_at(made), site)
    for wheel in lock.wheels():
        (tmp_path / wheel.name).write_bytes((wheels / wheel.name).read_bytes() + b"x")
    with pytest.raises(LockError, match="hash"):
        bundle.write(lock, tmp_path, tmp_path / "env.tar")
    assert not list(tmp_path.glob("*.tar")) + list(tmp_path.glob(".rigup*"))


# -- hostile bundles ---------------------------------------------------------------------------------


def entries(path):
    with tarfile.open(path) as archive:
        return [(one, archive.extractfile(one).read()) for one in archive]


def rewritten(packed, path, change):
    """The same bundle with its entries changed: a list of (TarInfo, bytes)."""
    with tarfile.open(path, "w") as archive:
        for info, body in change(entries(packed)):
            info.size = len(body)
            archive.addfile(info, io.BytesIO(body))
    return str(path)


def entry(name, body=b"x", kind=tarfile.REGTYPE, link=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info, body if kind == tarfile.REGTYPE else b""


CHANGES = {
    "a name that leads out": lambda told: [*told, entry("../evil")],
    "an absolute name": lambda told: [*told, entry("/tmp/rigup-evil")],
    "a file that nobody named": lambda told: [*told, entry("wheels/evil-1.0-py3-none-any.whl")],
    "a link in place of a file": lambda told: [*told[:-1], entry(told[-1][0].name, b"", tarfile.SYMTYPE, "/etc/passwd")],
    "a hard link in place of a file": lambda told: [*told[:-1], entry(told[-1][0].name, b"", tarfile.LNKTYPE, "pylock.toml")],
    "a folder in place of a file": lambda told: [*told[:-1], entry(told[-1][0].name, b"", tarfile.DIRTYPE)],
    "another content": lambda told: [*told[:-1], (told[-1][0], b"evil")],
    "a file twice": lambda told: [*told, told[-1]],
    "a file less": lambda told: told[:-1],
    "a lock that leads out": lambda told: [(told[0][0], told[0][1].replace(b"wheels/stone", b"../wheels/stone")), *told[1:]],
    "a lock without paths": lambda told: [(told[0][0], told[0][1].replace(b"wheels/stone", b"others/stone")), *told[1:]],
    "a lock that is none": lambda told: [(told[0][0], b"\xff\xfe"), *told[1:]],
    "a lock that is empty": lambda told: [(told[0][0], b""), *told[1:]],
    "a later lock": lambda told: [*told, (entry("pylock.toml")[0], told[0][1])],
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_hostile_bundle_leaves_nothing(packed, tmp_path, change):
    path = rewritten(packed, tmp_path / "env.tar", change)
    with pytest.raises(LockError):
        bundle.opened(path, str(tmp_path / "inside" / "there"))
    left = sorted(str(one.relative_to(tmp_path)) for one in tmp_path.rglob("*"))
    assert left == ["env.tar", "inside"]
    assert not os.path.exists("/tmp/rigup-evil")


def test_a_bundle_is_not_unpacked_into_a_folder_that_holds_something(packed, tmp_path):
    (tmp_path / "mine").write_text("x")
    with pytest.raises(LockError, match="not empty"):
        bundle.opened(str(packed), str(tmp_path))
    assert [one.name for one in tmp_path.iterdir()] == ["mine"]


def test_a_script_in_the_bundle_is_never_run_nor_kept(packed, tmp_path):
    def change(told):
        return [(info, b"#!/bin/sh\ntouch /tmp/rigup-evil\n" if info.name == "install.sh" else body) for info, body in told]

    told = bundle.opened(rewritten(packed, tmp_path / "env.tar", change), str(tmp_path / "there"))
    assert all(name.endswith(".whl") for name in os.listdir(told.folder))


@pytest.mark.parametrize("how", ["gz", "xz", "cut", "empty", "absent", "folder"])
def test_what_is_no_plain_tar_is_no_bundle(packed, tmp_path, how):
    import gzip
    import lzma

    body = packed.read_bytes()
    bodies = {"gz": gzip.compress(body), "xz": lzma.compress(body), "cut": body[: len(body) // 2], "empty": b""}
    path = tmp_path / "env.tar"
    if how in bodies:
        path.write_bytes(bodies[how])
    elif how == "folder":
        path.mkdir()
    with pytest.raises(LockError):
        bundle.opened(str(path), str(tmp_path / "there"))
    assert not (tmp_path / "there").exists()


@given(st.binary(max_size=2000))
def test_no_bytes_make_the_reader_fail_otherwise(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "any.tar"
    path.write_bytes(data)
    assert bundle.is_bundle(str(path)) is False


def test_a_file_is_brought_from_its_own_address_where_there_is_no_pip(made, site, tmp_path):
    lock = locking.of_environment(environment_at(made), site)
    fetching.fetch(lock, list(lock.packages), site, resolver.Resolver("uv", ("uv",), "python"), tmp_path)
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted(one.name for one in lock.wheels())
