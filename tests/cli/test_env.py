"""`rigup env`: what is listed is there, what is copied works, and nothing goes without a question."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rigup.cli import run
from rigup.plan.environments import record, registry, staged_swap
from rigup.schemas.fix import Mending
from tiny_environments import no_indexes, says

__all__ = ["no_indexes"]


@pytest.fixture(autouse=True)
def own_folders(monkeypatch, tmp_path):
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_EXE", "MAMBA_ROOT_PREFIX", "JUPYTER_DATA_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


@pytest.fixture
def copy(made, tmp_path):
    """An environment of a test's own, in the folder where it stands; not made by rigup."""
    staged_swap.clone(made, tmp_path / "work" / ".venv")
    return tmp_path / "work" / ".venv"


def answer(capsys, *words):
    """What a command prints as data, after it ended well."""
    assert run([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_those_that_can_be_found_are_listed_with_their_sizes(copy, capsys):
    row = answer(capsys, "env", "list")["environments"][0]
    assert (row["name"], row["path"], row["kind"], row["made_by_rigup"]) == ("work", str(copy), "venv", False)
    assert 0 <= row["shared_bytes"] <= row["bytes"]
    assert run(["env", "list"]) == 0
    assert str(copy) in capsys.readouterr().out


def test_one_is_shown_with_packages_variables_and_its_faults(copy, capsys):
    record.write(
        copy,
        record.Record(
            wish=("stone",),
            variables={"ONEAPI_DEVICE_SELECTOR": "level_zero:*;opencl:gpu"},
            facts={"nvidia_driver": "1.2.3", "system": "beos"},
        ),
    )
    told = answer(capsys, "env", "show", str(copy))
    assert (told["packages"]["stone"], told["variables"]) == ("1.0", {"ONEAPI_DEVICE_SELECTOR": "level_zero:*;opencl:gpu"})
    assert any("beos there" in one for one in told["differences"])
    (copy / "rigup.json").write_text("{")
    assert "is no record" in answer(capsys, "env", "show")["fault"]


def test_a_clone_works_and_is_known_as_rigups(copy, capsys):
    assert run(["env", "clone", ".venv", "the copy"]) == 0
    assert says(Path("the copy/bin/bridge")) == "bridge 2.0"
    rows = {row["name"]: row for row in answer(capsys, "env", "list", "--no-size")["environments"]} if capsys.readouterr() else {}
    assert rows["the copy"]["made_by_rigup"] is True
    assert run(["env", "clone", ".venv", "the copy"]) == 2
    assert "there already" in " ".join(capsys.readouterr().err.split())
    assert run(["env", "clone", ".venv", ".venv/inside"]) == 2
    assert sorted(os.listdir(".")) == [".venv", "the copy"]


def test_a_clone_into_the_shared_folder_cannot_be_written_by_others(copy, tmp_path, capsys):
    (tmp_path / "XDG_CONFIG_HOME" / "rigup").mkdir(parents=True)
    (tmp_path / "XDG_CONFIG_HOME" / "rigup" / "config.toml").write_text(f"prefix = {json.dumps(str(tmp_path / 'shared'))}\n")
    os.chmod(copy / "bin" / "stone", 0o777)
    assert run(["env", "clone", ".venv", "deep"]) == 0
    found = tmp_path / "shared" / "deep"
    assert says(found / "bin" / "stone") == "stone 1.0"
    loose = [path for path in found.rglob("*") if not path.is_symlink() and path.stat().st_mode & 0o022]
    assert loose == []
    capsys.readouterr()
    assert "deep" in [row["name"] for row in answer(capsys, "env", "list", "--no-size")["environments"]]


def test_defaults_that_are_not_understood_stop_the_command(copy, tmp_path, capsys):
    (tmp_path / "XDG_CONFIG_HOME" / "rigup").mkdir(parents=True)
    (tmp_path / "XDG_CONFIG_HOME" / "rigup" / "config.toml").write_text('prefx = "/opt"\n')
    assert run(["env", "list"]) == 2
    error = capsys.readouterr().err
    assert "prefx" in error
    assert "config.toml" in error


# -- removing ----------------------------------------------------------------------------------------


def test_one_that_rigup_did_not_make_goes_only_when_it_is_meant(copy, capsys):
    assert run(["env", "remove", ".venv"]) == 2
    assert "did not make" in capsys.readouterr().err
    assert (copy / "bin" / "stone").exists()
    assert run(["env", "remove", ".venv", "--yes"]) == 0
    assert os.listdir(".") == []


def test_nothing_goes_where_nobody_can_be_asked(copy, capsys):
    record.write(copy, record.Record())
    assert run(["env", "remove", ".venv"]) == 2
    assert "--yes" in capsys.readouterr().err
    assert (copy / "bin" / "stone").exists()


@pytest.mark.parametrize("word", ["/", "/usr", ".", "..", "home", "../home", "--", "nosuch"])
def test_a_folder_that_is_no_environment_is_never_removed(tmp_path, word, capsys):
    (tmp_path / "work" / "mine").write_text("x")
    assert run(["env", "remove", "--yes", word]) == 2
    assert (tmp_path / "work" / "mine").exists()
    assert Path("/usr").is_dir()


def test_a_person_who_says_no_keeps_it(copy):
    record.write(copy, record.Record())
    import pty

    parent, child = pty.openpty()
    os.write(parent, b"n\n")
    command = [sys.executable, "-m", "rigup", "env", "remove", ".venv"]
    done = subprocess.run(command, stdin=child, capture_output=True, text=True, timeout=60, check=False, env=with_sources())
    os.close(parent)
    os.close(child)
    assert (done.returncode, "Remove" in done.stderr) == (1, True)
    assert (copy / "bin" / "stone").exists()


def with_sources():
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}


# -- cleaning ----------------------------------------------------------------------------------------


def test_what_was_left_beside_is_shown_and_then_removed(copy, capsys):
    left = Path(".venv.rigup-new").with_name("..venv.rigup-new")
    left.mkdir()
    (left / "file").write_bytes(b"x" * 50_000)
    Path(".venv.rigup-newer").mkdir()
    told = answer(capsys, "env", "clean", "--dry-run")
    assert (told["removed"], [row["path"] for row in told["leftovers"]]) == (False, [str(left.absolute())])
    assert told["bytes"] >= 50_000
    assert left.exists()
    assert run(["env", "clean", "--yes"]) == 0
    assert "are free now" in capsys.readouterr().out
    assert sorted(os.listdir(".")) == [".venv", ".venv.rigup-newer"]


def test_cleaning_forgets_environments_that_are_gone(copy, tmp_path, capsys):
    registry.add(copy)
    os.rename(copy, tmp_path / "elsewhere")
    assert run(["env", "clean", "--yes"]) == 0
    assert registry.remembered() == []


# -- shells, exports, kernels ------------------------------------------------------------------------


def test_a_shell_uses_what_is_printed(copy, tmp_path):
    record.write(copy, record.Record(variables={"ONEAPI_DEVICE_SELECTOR": "level_zero:*;opencl:gpu"}))
    script = f'eval "$({sys.executable} -m rigup env --shell bash)"; command -v stone; printf "%s" "$ONEAPI_DEVICE_SELECTOR"'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60, check=True, env=with_sources())
    assert done.stdout == f"{copy}/bin/stone\nlevel_zero:*;opencl:gpu"


@pytest.mark.parametrize("form", ["requirements", "conda", "dotenv"])
def test_an_export_is_printed_or_written_and_never_over_a_file(copy, form, capsys):
    record.write(copy, record.Record(variables={"ONEAPI_DEVICE_SELECTOR": "level_zero:*;opencl:gpu"}))
    assert run(["env", "export", "--as", form]) == 0
    printed = capsys.readouterr().out
    assert run(["env", "export", "--as", form, "-o", "file"]) == 0
    assert Path("file").read_text() == printed
    assert {"requirements": "stone==1.0", "conda": "stone==1.0", "dotenv": "ONEAPI_DEVICE_SELECTOR='level_zero:*;opencl:gpu'"}[
        form
    ] in printed
    assert run(["env", "export", "--as", form, "-o", "file"]) == 2


def test_conda_gets_the_projects_name_and_not_that_of_its_venv(copy, capsys):
    assert run(["env", "export", "--as", "conda"]) == 0
    assert capsys.readouterr().out.startswith('name: "work"\n')


@pytest.mark.parametrize("word", ["", "work", "./.venv"])
def test_fix_means_the_environment_that_run_means(copy, word, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(
        "rigup.workflows.mending.ways_to_mend",
        lambda _cause, _source, there, _program: asked.append(there) or Mending(cause=None, environment=None, findings=[], plan=None),
    )
    assert run(["fix", "cpu-only-torch", *(("--env", word) if word else ())]) == 1
    assert [os.path.abspath(one) for one in asked] == [str(copy)]
    assert "is not found there" in capsys.readouterr().err


def test_history_of_one_without_any_says_so(copy, capsys):
    assert run(["env", "history"]) == 0
    assert "Nothing is written down" in capsys.readouterr().out
    assert answer(capsys, "env", "history")["history"] == []


def test_a_kernel_is_registered_for_the_person(copy, tmp_path, capsys):
    assert run(["env", "kernel"]) == 2
    assert "pip install ipykernel" in " ".join(capsys.readouterr().err.split())
    info = next(copy.glob("lib/python*/site-packages")) / "ipykernel-7.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: ipykernel\nVersion: 7.0\n\n")
    record.write(copy, record.Record(variables={"OMP_NUM_THREADS": "4"}))
    assert run(["env", "kernel", "--title", "Mine"]) == 0
    told = json.loads((tmp_path / "XDG_DATA_HOME" / "jupyter" / "kernels" / "work" / "kernel.json").read_text())
    assert (told["display_name"], told["env"]["OMP_NUM_THREADS"]) == ("Mine", "4")
    assert told["env"]["PATH"].startswith(f"{copy}/bin:")


@pytest.mark.parametrize("language", ["en", "ru", "zh_CN", "zh_TW"])
def test_help_of_every_part_fits_a_terminal(language, monkeypatch):
    from click.testing import CliRunner

    from rigup.cli import main
    from rigup.cli.layout import columns

    monkeypatch.setenv("COLUMNS", "80")
    for part in ("list", "show", "export", "history", "remove", "clone", "clean", "kernel"):
        shown = CliRunner().invoke(main, ["--lang", language, "env", part, "--help"]).output
        assert "--help" in shown
        assert [line for line in shown.splitlines() if columns(line) > 80] == []


def test_history_is_told_by_the_clock_of_the_machine(copy, capsys, monkeypatch):
    import time

    from rigup.plan.applying import journal

    monkeypatch.setenv("TZ", "UTC-3")
    time.tzset()
    monkeypatch.setattr(journal, "_now", lambda: "2026-11-21T22:30:00Z")
    journal.begun(journal.Intent(title="alpha 1.0", environment=str(copy))).write("finished")
    for words in (["history"], ["env", "history"]):
        assert run(words) == 0
        told = capsys.readouterr().out
        assert "2026-11-22 01:30" in told
        assert "done" in told
        assert "000001" not in told
    assert answer(capsys, "history")["runs"][0]["made_at"] == "2026-11-21T22:30:00Z"
    monkeypatch.undo()
    time.tzset()


def test_the_environment_of_this_folder_is_meant_where_none_is_active(copy, tmp_path, monkeypatch):
    from rigup.workflows.environments import folder_of
    from rigup.workflows.environments import in_this_folder as here

    assert here() == folder_of("") == folder_of("work") == str(copy)
    assert folder_of("./no/such") == "./no/such"
    assert folder_of("nosuch") == "nosuch"
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "other"))
    assert here() == folder_of("") == ""


def test_verify_asks_the_environment_of_this_folder(copy, capsys):
    assert run(["verify", "--json"]) == 1  # it has no framework
    assert json.loads(capsys.readouterr().out)["environment"]["prefix"] == str(copy)


def test_a_plan_speaks_of_the_environment_that_apply_would_change(copy, capsys):
    def place(*words):
        assert run(["plan", *words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)["environment"]["path"]

    assert place("torch") == str(copy)
    assert place("torch", "--in", "docker") == ".venv"
    assert place("torch", "--for", "no gpu, debian 12, python 3.11") == ".venv"
