"""Environments that hold `rigup.torch`, or another wheel that no index has: locked, bundled, made again."""

import subprocess
import sys
import tomllib

import pytest

from rigup.plan.environments import bundle, fetching, lockfile, locking, resolver, rigup_torch, staged_swap
from rigup.plan.environments.folder import environment_at
from rigup.plan.environments.locked import differences, locked_steps
from rigup.stack.profile import read_profile
from tiny_environments import make_venv, make_wheel

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
SITE = read_profile(f"CPU only, debian 12, python {PYTHON}")


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    """A folder of rigup's own that is the test's."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def environment(bare, tmp_path):
    """One with rigup-torch, as its requirement says, and a wheel from a folder."""
    staged_swap.clone(bare, tmp_path / "env")
    own = make_wheel(tmp_path / "own wheels", "stone", "1.5")
    pip(tmp_path / "env", rigup_torch.requirement(), str(own))
    return environment_at(tmp_path / "env")


def pip(path, *wanted):
    command = [str(path / "bin" / "python"), "-m", "pip", "install", "-q", "--no-index", "--no-deps"]
    subprocess.run([*command, *wanted], check=True, timeout=120)


def told(lock):
    return {one.name: (one.version, one.wheels[0].sha256) for one in lock.packages}


def test_wheels_of_this_machine_are_locked_with_their_hashes(environment):
    lock = locking.of_environment(environment, SITE)
    assert told(lock)["rigup-torch"][1] == rigup_torch.sha256()
    assert set(told(lock)) == {"rigup-torch", "stone"}
    read = tomllib.loads(lockfile.text(lock))
    assert read["packages"][0]["wheels"][0]["hashes"]["sha256"] == rigup_torch.sha256()


def test_one_that_was_taken_from_a_folder_of_wheels_is_locked_too(bare, tmp_path):
    """An installer then writes nowhere where the file lay."""
    staged_swap.clone(bare, tmp_path / "env")
    pip(tmp_path / "env", "--find-links", str(rigup_torch.wheel_folder()), rigup_torch.pinned())
    lock = locking.of_environment(environment_at(tmp_path / "env"), SITE)
    assert told(lock)["rigup-torch"][1] == rigup_torch.sha256()


@pytest.mark.skipif(not resolver.found_uv(), reason="uv is not installed")
def test_uv_locks_it_where_the_environment_has_no_pip(environment, tmp_path):
    make_venv(tmp_path / "other", pip=False)
    command = [resolver.found_uv(), "pip", "install", "-q", "--no-index", "--python", str(tmp_path / "other" / "bin" / "python")]
    subprocess.run([*command, rigup_torch.requirement()], check=True, timeout=120)
    lock = locking.of_environment(environment_at(tmp_path / "other"), SITE)
    assert told(lock)["rigup-torch"][1] == rigup_torch.sha256()


def test_a_lock_of_another_machine_finds_the_same_wheel_made_here(environment, tmp_path, monkeypatch):
    lock = locking.of_environment(environment, SITE)
    lock = lockfile.parsed(lockfile.text(lock).replace(str(tmp_path / "state"), "/nowhere/state"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "fresh"))
    said = [one for one in differences(lock, SITE) if "rigup-torch" in one]
    assert said == []
    install = locked_steps(lock, SITE)[-1]
    assert any(str(tmp_path / "fresh") in " ".join(argv) for argv in install.commands)


def test_a_wheel_with_another_hash_is_not_taken_for_it(environment, tmp_path):
    lock = locking.of_environment(environment, SITE)
    body = lockfile.text(lock).replace(str(tmp_path / "state"), "/nowhere/state")
    other = lockfile.parsed(body.replace(rigup_torch.sha256(), "0" * 64))
    assert any("rigup-torch" in one for one in differences(other, SITE))


def test_a_bundle_holds_it_and_makes_the_environment_without_a_network(environment, tmp_path):
    lock = locking.of_environment(environment, SITE)
    folder = tmp_path / "fetched"
    folder.mkdir()
    fetching.fetch(lock, list(lock.packages), SITE, resolver.resolver_for(PYTHON, environment.path), folder)
    bundle.write(lock, folder, tmp_path / "all.tar")
    opened = bundle.opened(str(tmp_path / "all.tar"), str(tmp_path / "opened"))
    assert told(opened.lock) == told(lock)
    make_venv(tmp_path / "again")
    rows = tmp_path / "rows.txt"
    rows.write_text("".join(f"{one.name}=={one.version} --hash=sha256:{one.wheels[0].sha256}\n" for one in opened.lock.packages))
    pip(tmp_path / "again", "--require-hashes", "--find-links", opened.folder, "-r", str(rows))
    assert (tmp_path / "again" / "lib" / f"python{PYTHON}" / "site-packages" / "rigup" / "torch.py").is_file()
