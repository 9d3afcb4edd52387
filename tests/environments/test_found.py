"""Which environments there are, what they hold, what happened to them, and what may be removed."""

import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.plan.applying import journal
from rigup.plan.environments import exporting, kernels, record, registry, removing, staged_swap
from rigup.plan.environments.folder import environment_at, packages, size_of
from rigup.plan.environments.found import NoEnvironment, found, resolve
from rigup.plan.environments.history import history
from rigup.plan.environments.settings import Settings
from tiny_environments import says


@pytest.fixture(autouse=True)
def own_folders(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()


def venv(path):
    """A folder that is an environment; no program in it runs."""
    (path / "bin").mkdir(parents=True)
    (path / "bin" / "python").symlink_to(sys.executable)
    (path / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.2\n")
    return path


def conda(path, *names):
    (path / "conda-meta").mkdir(parents=True)
    (path / "conda-meta" / "history").write_text("==> 2026-01-02 03:04:05 <==\n# cmd: conda create -n x\n+python-3.11.9-0\n")
    for name in ("python-3.11.9-h1_0", *names):
        (path / "conda-meta" / f"{name}.json").write_text("{}")
    return path


# -- what is one -------------------------------------------------------------------------------------


def test_a_folder_is_an_environment_where_its_own_files_say_so(made, tmp_path):
    there = environment_at(made)
    assert (there.kind, there.python, there.programs) == ("venv", ".".join(map(str, sys.version_info[:3])), made / "bin")
    assert environment_at(conda(tmp_path / "c")).python == "3.11.9"
    (tmp_path / "cfg").mkdir()
    (tmp_path / "cfg" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    for path in (tmp_path, tmp_path / "cfg", tmp_path / "nowhere", Path("/")):
        assert environment_at(path) is None


def test_packages_are_read_without_running_anything(made):
    told = {one.name: (one.version, one.by) for one in packages(environment_at(made))}
    assert told["stone"] == ("1.0", "pip")
    assert told["bridge"] == ("2.0", "pip")


@pytest.mark.parametrize(
    "metadata", ["", "Name: a b\nVersion: 1\n", "Name: x\nVersion: 1; touch y\n", "\xff\0", "Name: " + "a" * 500 + "\nVersion: 1\n"]
)
def test_odd_metadata_names_no_package(tmp_path, metadata):
    info = venv(tmp_path / "env") / "lib" / "python3.11" / "site-packages" / "-r evil-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(metadata, encoding="latin-1")
    assert packages(environment_at(tmp_path / "env")) == []


def test_a_size_counts_what_others_share_apart(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    (one / "own").write_bytes(b"x" * 100_000)
    (one / "both").write_bytes(b"x" * 50_000)
    os.link(one / "both", two / "both")
    os.link(one / "own", one / "again")
    (one / "link").symlink_to(two)
    size = size_of(one)
    assert 100_000 <= size.all - size.shared < 120_000
    assert 50_000 <= size.shared < 60_000


# -- which there are ---------------------------------------------------------------------------------


def test_all_kinds_are_found_each_once(tmp_path):
    here, shared = tmp_path / "project", tmp_path / "shared"
    venv(here / ".venv")
    record.write(here / ".venv", record.Record())
    venv(shared / "of all")
    conda(tmp_path / "home" / "mini" / "envs" / "deep")
    (tmp_path / "home" / ".conda").mkdir()
    (tmp_path / "home" / ".conda" / "environments.txt").write_text(f"{tmp_path}/home/mini/envs/deep\nrelative\n/nowhere\n")
    venv(tmp_path / "made")
    registry.add(tmp_path / "made")
    registry.add(here / ".venv")
    journal.begun(journal.Intent(title="x", environment=str(venv(tmp_path / "applied"))))
    (here / ".venv.rigup-new").mkdir()
    told = found(Settings(prefix=str(shared)), {"VIRTUAL_ENV": str(here / ".venv")}, here)
    assert {one.name: (one.ours, one.active) for one in told} == {
        "project": (True, True),
        "of all": (False, False),
        "deep": (False, False),
        "made": (False, False),
        "applied": (False, False),
    }


def test_the_registry_is_checked_against_the_disk(tmp_path):
    registry.add(venv(tmp_path / "made"))
    assert registry.remembered() == [tmp_path / "made"]
    os.rename(tmp_path / "made", tmp_path / "elsewhere")
    assert found(Settings(), {}, tmp_path / "home") == []
    assert registry.forget_those_gone() == [tmp_path / "made"]
    assert registry.remembered() == []


def test_what_lies_on_a_disk_that_is_away_is_not_forgotten(tmp_path):
    registry.add(venv(tmp_path / "disk" / "made"))
    os.rename(tmp_path / "disk", tmp_path / "away")
    assert registry.forget_those_gone() == []
    assert len(registry.remembered()) == 1


@pytest.mark.parametrize("body", [b"", b"relative", b"/x\0y", b"\xff" * 10_000])
def test_an_odd_entry_of_the_registry_is_passed_by(tmp_path, body):
    registry.add(venv(tmp_path / "made"))
    (tmp_path / "state" / "rigup" / "environments" / "odd").write_bytes(body)
    assert registry.remembered() == [tmp_path / "made"]


# -- the one that is meant ---------------------------------------------------------------------------


def test_an_environment_is_meant_by_path_by_name_or_by_being_at_hand(tmp_path):
    here = tmp_path / "project"
    one, two = venv(here / ".venv"), venv(here / "other")
    assert resolve("", Settings(), {}, here).path == one
    assert resolve("", Settings(), {"VIRTUAL_ENV": str(two)}, here).path == two
    assert resolve("./other", Settings(), {}, here).path == two
    assert resolve("project", Settings(), {}, here).path == one
    assert resolve(str(two), Settings(), {}, tmp_path).path == two


@pytest.mark.parametrize("word", ["nosuch", "./nosuch", "/etc", "-rf", "$(touch x)", "a\nb", "\0", "../" * 50])
def test_one_that_is_not_there_is_named(tmp_path, word):
    with pytest.raises(NoEnvironment):
        resolve(word, Settings(), {}, tmp_path)


def test_a_name_of_two_is_not_guessed(tmp_path):
    for name in ("a", "b"):
        registry.add(venv(tmp_path / name / "env"))
        registry.add(venv(tmp_path / name / "same"))
    with pytest.raises(NoEnvironment, match="several"):
        resolve("same", Settings(), {}, tmp_path / "home")


# -- what happened -----------------------------------------------------------------------------------


def test_history_tells_plans_and_revisions_in_their_order(tmp_path):
    path = conda(tmp_path / "env")
    told = journal.begun(journal.Intent(title="install torch", environment=str(path)))
    told.write("finished")
    journal.begun(journal.Intent(title="another", environment=str(tmp_path / "other")))
    rows = history(environment_at(path))
    assert [(one.by, one.what, one.state) for one in rows] == [("conda", "conda create -n x", ""), ("rigup", "install torch", "finished")]


def test_a_journal_that_is_damaged_is_passed_by(tmp_path):
    path = venv(tmp_path / "env")
    for number, body in enumerate(
        (b"{", b"\xff", b"[]", b'{"title": 3}', b'{"title": "x\\u001b[2J", "environment": "' + str(path).encode() + b'"}'), 1
    ):
        folder = tmp_path / "state" / "rigup" / "journal" / f"{number:06d}"
        folder.mkdir(parents=True)
        (folder / "plan.json").write_bytes(body)
        (folder / "events.jsonl").write_bytes(b'{"what"\n\xff\n')
    assert [one.what for one in history(environment_at(path))] == ["x[2J"]


@given(st.text(max_size=300))
def test_no_history_of_conda_makes_it_fail(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "history-env"
    if not path.exists():
        conda(path)
    (path / "conda-meta" / "history").write_text("==> 2026-01-02 03:04:05 <==\n" + text, encoding="utf-8", errors="replace")
    assert all(one.what.isprintable() for one in history(environment_at(path)))


# -- removing ----------------------------------------------------------------------------------------


def test_what_holds_more_than_an_environment_is_never_removed(tmp_path, monkeypatch):
    base = conda(tmp_path / "mini", "conda-26.1.0-py311_0")
    home = venv(tmp_path / "home" / "me")
    monkeypatch.setenv("HOME", str(home))
    assert "conda itself" in removing.forbidden(environment_at(base))
    assert "home folder" in removing.forbidden(environment_at(home))
    monkeypatch.setattr(sys, "prefix", str(venv(tmp_path / "own")))
    assert "rigup itself" in removing.forbidden(environment_at(tmp_path / "own"))
    monkeypatch.chdir(venv(tmp_path / "inside") / "bin")
    assert "you" in removing.forbidden(environment_at(tmp_path / "inside"))
    assert removing.forbidden(environment_at(venv(tmp_path / "plain"))) == ""


def test_a_link_to_an_environment_goes_with_it(tmp_path):
    path = venv(tmp_path / "disk" / "env")
    (tmp_path / "link").symlink_to(path)
    registry.add(path)
    removing.remove(environment_at(tmp_path / "link"))
    assert not path.exists()
    assert not (tmp_path / "link").is_symlink()
    assert registry.remembered() == []


def test_leftovers_tell_what_their_end_would_free(tmp_path):
    old = tmp_path / ".env.rigup-old-000001"
    old.mkdir()
    (old / "own").write_bytes(b"x" * 100_000)
    (tmp_path / "env").mkdir()
    (old / "both").write_bytes(b"x" * 100_000)
    os.link(old / "both", tmp_path / "env" / "both")
    (tmp_path / ".env.rigup-new").mkdir()
    told = removing.leftovers([tmp_path, tmp_path / "nowhere"])
    assert [(one.path.name, one.kept_for_undo) for one in told] == [(".env.rigup-new", False), (old.name, True)]
    assert 100_000 <= told[1].bytes < 120_000


# -- files of other tools ----------------------------------------------------------------------------


def test_requirements_install_the_same_again(made, bare, wheels, tmp_path):
    import subprocess

    text = exporting.requirements(environment_at(made))
    assert text == "bridge==2.0\nstone==1.0\n"
    staged_swap.clone(bare, tmp_path / "again")
    (tmp_path / "requirements.txt").write_text(text)
    command = [str(tmp_path / "again" / "bin" / "python"), "-m", "pip", "install", "-q", "--no-index", "--find-links", str(wheels), "-r"]
    subprocess.run([*command, str(tmp_path / "requirements.txt")], check=True, timeout=120)
    assert says(tmp_path / "again" / "bin" / "stone") == "stone 1.0"


def test_a_conda_file_of_a_venv_is_yaml_with_pips_packages(made):
    yaml = pytest.importorskip("yaml")
    told = yaml.safe_load(exporting.conda(environment_at(made)))
    assert told["dependencies"][0].startswith("python=3.")
    assert told["dependencies"][-1] == {"pip": ["bridge==2.0", "stone==1.0"]}


def test_a_kernel_starts_the_environments_python_with_its_variables(tmp_path):
    path = venv(tmp_path / "ümläut env")
    info = path / "lib" / "python3.11" / "site-packages" / "ipykernel-7.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Name: ipykernel\nVersion: 7.0\n\n")
    file = kernels.register(environment_at(path), "Mine", "My title", {"HSA_OVERRIDE_GFX_VERSION": "10.3.0"}, tmp_path / "kernels")
    told = json.loads(file.read_text(encoding="utf-8"))
    assert file == tmp_path / "kernels" / "mine" / "kernel.json"
    assert told["argv"] == [str(path / "bin" / "python"), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    assert (told["display_name"], told["env"]) == ("My title", {"HSA_OVERRIDE_GFX_VERSION": "10.3.0"})


@pytest.mark.parametrize("name", ["../x", "a/b", "", "-x", ".x", "a b", "x" * 101, "ü"])
def test_a_kernel_of_an_odd_name_is_refused(tmp_path, name):
    with pytest.raises(kernels.KernelError, match="name"):
        kernels.register(environment_at(venv(tmp_path / "env")), name, "t", {}, tmp_path / "kernels")
    assert not (tmp_path / "kernels").exists()


def test_without_ipykernel_it_is_said_how_to_get_it(tmp_path):
    with pytest.raises(kernels.KernelError, match="-m pip install ipykernel"):
        kernels.register(environment_at(venv(tmp_path / "env")), "x", "t", {}, tmp_path / "kernels")


@pytest.mark.skipif(sys.platform != "linux", reason="folders of Linux")
def test_kernels_lie_where_jupyter_looks(tmp_path):
    assert kernels.kernels_folder({"JUPYTER_DATA_DIR": "/j"}) == Path("/j/kernels")
    assert kernels.kernels_folder({"XDG_DATA_HOME": "/d"}) == Path("/d/jupyter/kernels")
    assert kernels.kernels_folder({}) == tmp_path / "home" / ".local" / "share" / "jupyter" / "kernels"
