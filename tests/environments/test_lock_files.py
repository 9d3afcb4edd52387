"""A lock tells every file by its hash, is made into the same environment again, and cannot be used against anybody."""

import contextlib
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from rigup.plan.environments import lockfile, locking, resolver, staged_swap
from rigup.plan.environments.folder import environment_at
from rigup.plan.environments.lock_fields import LockError, Wheel
from rigup.plan.environments.locked import INSTALL, differences, locked_steps
from rigup.plan.environments.lockfile import Lock, Locked
from rigup.plan.packages import Group
from rigup.stack.profile import read_profile
from rigup.stack.site import Sources
from tiny_environments import index_of, make_venv, make_wheel, says

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
HASH = "0" * 64
HERE = f"no gpu, debian 12, python {PYTHON}"


def site(wheels=None, **changes):
    links = (str(wheels),) if wheels else ()
    return read_profile(HERE).but(sources=Sources(find_links=links), **changes)


@pytest.fixture(scope="module")
def lock(made, wheels):
    return locking.of_environment(environment_at(made), site(wheels))


def row(**changes):
    """A package of a lock as somebody may have written it."""
    wheel = {"name": "stone-1.0-py3-none-any.whl", "url": "https://mirror.example/stone-1.0-py3-none-any.whl", "hashes": {"sha256": HASH}}
    return {"name": "stone", "version": "1.0", "wheels": [wheel], **changes}


def written(*rows, **tool):
    """The text of a lock with these rows."""
    return tomli_w.dumps({"lock-version": "1.0", "packages": list(rows), "tool": {"rigup": tool}})


# -- making one --------------------------------------------------------------------------------------


def test_a_lock_of_an_environment_holds_its_versions_with_their_hashes(lock, wheels):
    import hashlib

    told = {one.name: one for one in lock.packages}
    assert {name: one.version for name, one in told.items()} == {"bridge": "2.0", "stone": "1.0"}
    body = (wheels / "stone-1.0-py3-none-any.whl").read_bytes()
    assert told["stone"].wheels[0].sha256 == hashlib.sha256(body).hexdigest()
    assert lock.reasons["stone"] == "It is needed by bridge."
    assert lock.facts["system"] == "linux"


def test_what_is_written_is_read_again_and_other_tools_can_read_it(lock):
    body = lockfile.text(lock)
    assert lockfile.text(lockfile.parsed(body)) == body
    told = tomllib.loads(body)
    assert told["lock-version"] == "1.0"
    assert [one["name"] for one in told["packages"]] == ["bridge", "stone"]
    assert set(told["packages"][0]) <= {"name", "version", "requires-python", "dependencies", "wheels"}


@pytest.mark.skipif(not resolver.found_uv(), reason="uv is not installed")
def test_uv_installs_from_the_lock_as_it_is(lock, tmp_path):
    (tmp_path / "pylock.toml").write_text(lockfile.text(lock))
    make_venv(tmp_path / "env", pip=False)
    command = [resolver.found_uv(), "pip", "install", "-q", "--offline", "--python", str(tmp_path / "env" / "bin" / "python"), "-r"]
    subprocess.run([*command, str(tmp_path / "pylock.toml")], check=True, timeout=120)
    assert says(tmp_path / "env" / "bin" / "bridge") == "bridge 2.0"


@pytest.mark.long
@pytest.mark.skipif(not resolver.found_uv(), reason="uv is not installed")
def test_uv_resolves_where_the_environment_has_no_pip(wheels, tmp_path):
    make_venv(tmp_path / "env", pip=False)
    asked = resolver.resolver_for(PYTHON, tmp_path / "env")
    assert asked.kind == "uv"
    found = resolver.resolved(asked, [Group(("bridge",), find_links=(str(wheels),), offline=True)])
    assert [(one.name, one.version) for one in found] == [("bridge", "2.0"), ("stone", "1.1")]
    assert all(wheel.sha256 for one in found for wheel in one.wheels)


@pytest.fixture
def index(wheels):
    """An index of packages on this machine alone, as PEP 503 has it."""
    with index_of(wheels) as served:
        yield served.url


@pytest.mark.parametrize("kind", ["pip", "uv"])
def test_files_of_an_index_are_locked_with_their_addresses(made, bare, wheels, index, kind, monkeypatch, tmp_path):
    monkeypatch.delenv("PIP_NO_INDEX")
    asked = resolver.resolver_for(PYTHON, made)
    if kind == "uv":
        asked = resolver.Resolver("uv", (resolver.found_uv() or pytest.skip("uv is not installed"),), asked.python)
    found = {one.name: one for one in resolver.resolved(asked, [Group(("bridge",), index + "/simple")])}
    assert {name: one.version for name, one in found.items()} == {"bridge": "2.0", "stone": "1.1"}
    wheel = next(one for one in found["stone"].wheels if "1.1" in one.name)
    assert wheel.url == f"{index}/files/stone-1.1-py3-none-any.whl"
    lock = Lock(packages=tuple(found.values()), python=PYTHON, indexes=(index + "/simple",))
    take(locked_steps(lockfile.parsed(lockfile.text(lock)), site()), tmp_path, bare)
    assert says(tmp_path / ".venv" / "bin" / "stone") == "stone 1.1"


def test_a_file_that_the_index_has_changed_is_not_installed(made, bare, wheels, index, monkeypatch, tmp_path):
    """The lock knows its hash; another with its name and version does not come in."""
    monkeypatch.delenv("PIP_NO_INDEX")
    found = resolver.resolved(resolver.resolver_for(PYTHON, made), [Group(("stone==1.0",), index + "/simple")])
    changed = tmp_path / "changed"
    make_wheel(changed, "stone", "1.0", script="stone", text="EVIL = True")
    with index_of(changed) as other:
        lock = Lock(packages=tuple(found), python=PYTHON, indexes=(other.url + "/simple",))
        with pytest.raises(subprocess.CalledProcessError):
            take(locked_steps(lock, site()), tmp_path, bare)
    assert not (tmp_path / ".venv" / "bin" / "stone").exists()


def test_an_index_that_is_gone_is_said(made, wheels, monkeypatch):
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_RETRIES", "0")
    with index_of(wheels) as served:
        url = served.url
    with pytest.raises(LockError, match="stone"):
        resolver.resolved(resolver.resolver_for(PYTHON, made), [Group(("stone",), url + "/simple")])


def test_a_later_group_takes_what_an_earlier_one_has_chosen(made, wheels, tmp_path):
    more = tmp_path / "more"
    make_wheel(more, "tower", "1.0", requires=("bridge",))
    groups = [Group(("stone==1.0",), find_links=(str(wheels),), offline=True), Group(("tower",), find_links=(str(more),), offline=True)]
    found = resolver.resolved(resolver.resolver_for(PYTHON, made), groups)
    assert {one.name: one.version for one in found} == {"stone": "1.0", "bridge": "2.0", "tower": "1.0"}
    assert next(one for one in found if one.name == "tower").dependencies == ("bridge",)


def test_what_cannot_be_resolved_is_told_in_the_installers_words(made, wheels):
    with pytest.raises(LockError, match="nothing-such"):
        resolver.resolved(resolver.resolver_for(PYTHON, made), [Group(("nothing-such",), find_links=(str(wheels),))])


def test_a_python_that_is_not_there_is_named():
    with pytest.raises(LockError, match=r"9\.9"):
        resolver.resolver_for("9.9")


def program(path: Path, body: str) -> Path:
    path.write_text("#!/bin/sh\n" + body)
    path.chmod(0o755)
    return path


@pytest.mark.long
def test_a_python_that_lies_elsewhere_is_asked_where_it_lies(tmp_path):
    elsewhere = program(tmp_path / "elsewhere", f'exec "{sys.executable}" "$@"\n')
    found = resolver.resolver_for("9.9", interpreter=str(elsewhere))
    assert (found.kind, found.python) == ("pip", str(elsewhere))


def test_a_stand_in_on_the_path_that_starts_no_python_is_none(tmp_path, monkeypatch):
    program(tmp_path / "python9.9", 'echo "pyenv: python9.9: command not found" >&2\nexit 127\n')
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(LockError, match=r"9\.9"):
        resolver.resolver_for("9.9")


def test_a_package_from_a_folder_is_not_locked(wheels, tmp_path):
    make_venv(tmp_path / "env", pip=False)
    info = next((tmp_path / "env").glob("lib/python*/site-packages")) / "stone-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: stone\nVersion: 1.0\n\n")
    (info / "direct_url.json").write_text(json.dumps({"url": "file:///home/me/stone", "dir_info": {"editable": True}}))
    with pytest.raises(LockError, match="/home/me/stone"):
        locking.of_environment(environment_at(tmp_path / "env"), site(wheels))


def test_another_spelling_of_a_version_is_another_file(bare, wheels, tmp_path):
    staged_swap.clone(bare, tmp_path / "env")
    info = next((tmp_path / "env").glob("lib/python*/site-packages")) / "stone-1.0.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: stone\nVersion: 1.0.0\n\n")
    with pytest.raises(LockError, match=r"stone 1\.0\.0 is at none"):
        locking.of_environment(environment_at(tmp_path / "env"), site(wheels))


def test_a_package_of_conda_is_not_locked_as_one_of_an_index(bare, wheels, tmp_path):
    staged_swap.clone(bare, tmp_path / "env")
    info = next((tmp_path / "env").glob("lib/python*/site-packages")) / "stone-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: stone\nVersion: 1.0\n\n")
    (info / "INSTALLER").write_text("conda\n")
    with pytest.raises(LockError, match="package of conda"):
        locking.of_environment(environment_at(tmp_path / "env"), site(wheels))


@pytest.mark.parametrize("wish", ["-r/etc/passwd", "--index-url=https://evil.example", "; touch x", "$(touch x)"])
def test_an_odd_wish_is_no_option_of_the_installer(made, wish, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LockError):
        resolver.resolved(resolver.resolver_for(PYTHON, made), [Group((wish,), offline=True)])
    assert list(tmp_path.iterdir()) == []


# -- making it again ---------------------------------------------------------------------------------


def take(steps, folder, bare=None):
    """Take steps as `apply` does; where `bare` is given the environment is a copy of that, which is quicker."""
    for step in steps:
        for argv in step.commands if step.state == "needed" else ():
            if bare and step.kind == "make-environment":
                staged_swap.clone(bare, folder / argv[-1])
            else:
                subprocess.run(argv, cwd=folder, check=True, timeout=180)


def test_a_lock_is_made_into_the_same_environment(lock, wheels, tmp_path):
    again = lockfile.parsed(lockfile.text(lock))
    steps = locked_steps(again, site(wheels))
    assert [step.state for step in steps] == ["needed", "needed"]
    take(steps, tmp_path)
    assert says(tmp_path / ".venv" / "bin" / "bridge") == "bridge 2.0"
    assert says(tmp_path / ".venv" / "bin" / "stone") == "stone 1.0"


def test_variables_of_the_lock_are_set_in_the_environment(lock, bare, wheels, tmp_path):
    import msgspec

    odd = {"HSA_OVERRIDE_GFX_VERSION": "10.3.0", "NOTE": "a 'b' \"c\" $HOME `d`"}
    take(locked_steps(msgspec.structs.replace(lock, variables=odd), site(wheels)), tmp_path, bare)
    told = says(Path("/bin/sh"), "-c", '. ./.venv/bin/activate; printf "%s|%s" "$HSA_OVERRIDE_GFX_VERSION" "$NOTE"', cwd=tmp_path)
    assert told == "10.3.0|" + odd["NOTE"]


def test_a_file_with_another_hash_is_not_installed(lock, bare, wheels, tmp_path):
    import msgspec

    wrong = [msgspec.structs.replace(one, wheels=(msgspec.structs.replace(one.wheels[0], sha256=HASH),)) for one in lock.packages]
    steps = locked_steps(msgspec.structs.replace(lock, packages=tuple(wrong)), site(wheels))
    with pytest.raises(subprocess.CalledProcessError):
        take(steps, tmp_path, bare)
    assert not (tmp_path / ".venv" / "bin" / "stone").exists()


def test_an_environment_that_is_as_the_lock_says_needs_nothing(lock, made, wheels):
    there = site(wheels, environment=str(made), installed={"Bridge": "2.0", "stone": "1.0", "pip": "1"})
    assert {step.state for step in locked_steps(lock, there)} == {"satisfied"}
    other = there.but(installed={"bridge": "2.0", "stone": "1.1"})
    assert [step.state for step in locked_steps(lock, other)] == ["satisfied", "needed"]


def test_nothing_but_its_folder_is_asked_for_a_bundle(lock, wheels):
    argv = locked_steps(lock, site(network=False), str(wheels))[1]
    assert argv.state == "needed"
    words = list(argv.commands[0])
    assert words[words.index("--no-index") :][:3] == ["--no-index", "--find-links", str(wheels)]
    assert "--extra-index-url" not in words


def test_the_installing_script_hands_on_status_and_leaves_nothing(tmp_path):
    show = "import sys; print(open(sys.argv[-1]).read(), end=''); sys.exit(7)"
    done = subprocess.run(
        [sys.executable, "-c", INSTALL, sys.executable, "-c", show, "--", "a==1 --hash=sha256:0", "b==2"],
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (7, "a==1 --hash=sha256:0\nb==2\n")
    assert list(tmp_path.iterdir()) == []


def test_modules_of_the_folder_where_one_stands_are_not_taken_for_pythons(made, lock, bare, wheels, tmp_path, monkeypatch):
    for name in ("tempfile.py", "subprocess.py", "pip.py", "json.py"):
        (tmp_path / name).write_text("raise SystemExit('taken')\n")
    monkeypatch.chdir(tmp_path)
    take(locked_steps(lock, site(wheels)), tmp_path, bare)
    assert says(tmp_path / ".venv" / "bin" / "stone", cwd="/") == "stone 1.0"
    assert resolver.resolved(resolver.resolver_for(PYTHON, made), [Group(("stone",), find_links=(str(wheels),), offline=True)])


# -- an unlike machine -------------------------------------------------------------------------------


def test_the_same_machine_differs_in_nothing(lock, wheels):
    assert differences(lock, site(wheels)) == []


def test_what_differs_on_another_machine_is_told():
    there = read_profile("2x RTX 3090, driver 535.129.03, ubuntu 22.04, python 3.11")
    from rigup.plan.environments.made_for import made_for

    lock = Lock(packages=(locked("stone"),), facts=made_for(there), python="3.11")
    told = " ".join(differences(lock, read_profile("RTX 3090 + RTX 4090, driver 570.86.10, debian 12, python 3.12")))
    assert "535.129.03 there, 570.86.10 here" in told
    assert "RTX 4090" in told
    assert "1 × NVIDIA GeForce RTX 3090 sm_86 was there" in told
    assert "Python 3.11; here is 3.12" in told


def locked(name, file="", **more):
    file = file or f"{name}-1.0-py3-none-any.whl"
    return Locked(name=name, version="1.0", wheels=(Wheel(name=file, sha256=HASH, url="https://mirror.example/" + file),), **more)


@pytest.mark.parametrize(
    ("tag", "machine", "fits"),
    [
        ("py3-none-any", "no gpu, debian 12, python 3.11", True),
        ("cp311-cp311-manylinux_2_28_x86_64", "no gpu, debian 12, glibc 2.36, python 3.11", True),
        ("cp311-cp311-manylinux_2_28_x86_64", "no gpu, debian 10, glibc 2.27, python 3.11", False),
        ("cp311-cp311-manylinux_2_28_x86_64", "no gpu, debian 12, arch aarch64, python 3.11", False),
        ("cp310-abi3-manylinux2014_x86_64", "no gpu, debian 12, glibc 2.36, python 3.11", True),
        ("cp311-cp311-musllinux_1_2_x86_64", "no gpu, musl, python 3.11", True),
        ("cp311-cp311-win_amd64", "no gpu, windows 11, python 3.11", True),
        ("cp311-cp311-macosx_11_0_arm64", "Apple M2, macos 14.4, python 3.11", True),
        ("cp311-cp311-macosx_11_0_arm64", "no gpu, debian 12, python 3.11", False),
    ],
)
def test_a_package_without_a_build_for_the_machine_is_named(tag, machine, fits):
    lock = Lock(packages=(locked("stone", f"stone-1.0-{tag}.whl"),), python="3.11")
    told = [one for one in differences(lock, read_profile(machine)) if "no build for this machine" in one]
    assert bool(told) is not fits
    step = locked_steps(lock, read_profile(machine))[1]
    assert (step.state == "blocked") is not fits


def test_markers_of_another_tools_lock_are_asked():
    lock = Lock(packages=(locked("stone", marker="sys_platform == 'win32'"), locked("bridge")), python="3.11")
    words = locked_steps(lock, read_profile("no gpu, debian 12, python 3.11"))[1].commands[0]
    assert [word.partition("=")[0] for word in words[words.index("--") + 1 :]] == ["bridge"]


def test_a_package_that_would_be_there_twice_is_refused():
    lock = Lock(packages=(locked("stone"), locked("stone")))
    with pytest.raises(LockError, match="stone twice"):
        locked_steps(lock, read_profile(HERE))


# -- hostile locks -----------------------------------------------------------------------------------

WHEEL = row()["wheels"][0]
HOSTILE = {
    "an option for a name": row(name="--index-url=https://evil.example"),
    "a command for a name": row(name="stone; touch x"),
    "a line in a version": row(version="1.0\n--index-url https://evil.example"),
    "a folder": row(directory={"path": "/tmp/x"}),
    "a repository": row(vcs={"type": "git", "url": "https://evil.example"}),
    "no wheel": row(wheels=[]),
    "no hash": row(wheels=[{**WHEEL, "hashes": {}}]),
    "an odd hash": row(wheels=[{**WHEEL, "hashes": {"sha256": "0 --index-url https://evil.example"}}]),
    "a weak hash": row(wheels=[{**WHEEL, "hashes": {"md5": "0" * 32}}]),
    "another package's file": row(wheels=[{**WHEEL, "name": "evil-1.0-py3-none-any.whl"}]),
    "another version's file": row(wheels=[{**WHEEL, "name": "stone-2.0-py3-none-any.whl"}]),
    "a path for a file's name": row(wheels=[{**WHEEL, "name": "../stone-1.0-py3-none-any.whl"}]),
    "a path that leads out": row(wheels=[{**WHEEL, "path": "../../stone-1.0-py3-none-any.whl"}]),
    "an absolute path": row(wheels=[{**WHEEL, "path": "/etc/stone-1.0-py3-none-any.whl"}]),
    "an address of another kind": row(wheels=[{**WHEEL, "url": "ssh://evil.example/stone-1.0-py3-none-any.whl"}]),
    "an address with a line in it": row(wheels=[{**WHEEL, "url": "https://mirror.example/\n-r x"}]),
    "a marker that is code": row(marker="__import__('os').system('touch x')"),
    "no table": 3,
}


@pytest.mark.parametrize("package", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_package_of_a_lock_is_refused_and_named(package, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pylock.toml").write_text(written(package))
    with pytest.raises(LockError, match=r"pylock\.toml"):
        lockfile.read("pylock.toml")
    assert [one.name for one in tmp_path.iterdir()] == ["pylock.toml"]


@pytest.mark.parametrize(
    "tool",
    [
        {"variables": {"LD_PRELOAD": "/tmp/evil.so"}},
        {"variables": {"PATH": "/tmp"}},
        {"variables": {"X": "a\nb"}},
        {"variables": 3},
        {"variables": {"X\nY": "a"}},
        {"indexes": ["--trusted-host=evil.example"]},
        {"find-links": ["-r/etc/passwd"]},
        {"indexes": ["x y"]},
        {"python": "3.11; touch x"},
        {"python": ["3.11"]},
        {"wish": [3]},
    ],
)
def test_a_hostile_table_of_a_lock_is_refused(tool):
    with pytest.raises(LockError):
        lockfile.parsed(written(row(), **tool))


def test_the_lock_that_those_were_made_from_is_sound():
    assert lockfile.parsed(written(row(), variables={"OMP_NUM_THREADS": "8"})).variables == {"OMP_NUM_THREADS": "8"}


@given(st.text(max_size=300))
def test_no_text_makes_the_reader_fail_otherwise(body):
    for told in (body, 'lock-version = "1.0"\n' + body):
        try:
            lockfile.parsed(told)
        except LockError:
            continue


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["name", "version", "wheels", "hashes", "sha256", "url", "path", "marker"]), inner, max_size=5
            )
        ),
        max_leaves=12,
    )
)
def test_no_package_makes_the_reader_fail_otherwise(told):
    from rigup.plan.environments.lock_fields import checked_package

    with contextlib.suppress(LockError):
        checked_package(told)


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=40), max_size=4))
def test_any_text_is_written_so_that_toml_reads_it(reasons):
    plain = {name: value for name, value in reasons.items() if value.isprintable()}
    lock = Lock(packages=(locked("stone"),), reasons=plain)
    assert lockfile.parsed(lockfile.text(lock)).reasons == plain


def test_an_older_pip_tells_the_hash_of_a_file_in_another_field():
    assert resolver._hashes({"hash": "sha256=" + "ab" * 32}) == {"sha256": "ab" * 32}
    assert resolver._hashes({"hash": "sha256=1", "hashes": {"sha256": "2"}}) == {"sha256": "2"}
    assert resolver._hashes({}) == {}
