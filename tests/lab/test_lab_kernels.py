"""`rigup lab kernels`: what Jupyter would find, what is wrong with it, and that nothing but that is changed."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.cli import run
from rigup.lab.kernels import Inside, description, kernel_folders, listed, mended
from rigup.machine.local import Local

OVERRIDE = {"HSA_OVERRIDE_GFX_VERSION": "11.0.0"}


def spec(python, **more):
    words = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    return json.dumps({"argv": words, "display_name": "work", "language": "python", **more})


def kernel(folder, name, text):
    (folder / name).mkdir(parents=True)
    (folder / name / "kernel.json").write_text(text)
    return folder / name / "kernel.json"


@pytest.fixture
def environment(tmp_path):
    """A folder that holds a program called python, with ipykernel and torch in it, as far as anybody told."""
    python = tmp_path / "env" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("")
    packages = {"ipykernel": "7.0", "torch": "2.9.0+rocm6.4"}
    return python, {str(tmp_path / "env"): Inside(folder=str(tmp_path / "env"), packages=packages, needed=OVERRIDE)}


def faults(folder, environments, makers=frozenset(["amd"])):
    (seen,) = listed(Local(), [str(folder)], environments, makers)
    return seen, [fault.fault for fault in seen.faults]


def test_a_kernel_with_what_its_devices_need_has_no_fault(tmp_path, environment):
    python, environments = environment
    kernel(tmp_path / "k", "work", spec(python, env=OVERRIDE))
    seen, found = faults(tmp_path / "k", environments)
    assert (seen.name, seen.title, seen.python, seen.torch, found) == ("work", "work", str(python), "2.9.0+rocm6.4", [])


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, ["lacks-variable"]),
        ({"HSA_OVERRIDE_GFX_VERSION": "10.3.0"}, ["lacks-variable"]),
        ({**OVERRIDE, "HIP_VISIBLE_DEVICES": "-1"}, ["hides-devices"]),
        ({**OVERRIDE, "HIP_VISIBLE_DEVICES": "0"}, []),
        ({**OVERRIDE, "HSA_OVERRIDE_GFX_VERSION_1": ""}, ["empty-override"]),
        ({**OVERRIDE, "HSA_TOOLS_LIB": ""}, []),
        ({**OVERRIDE, "CUDA_VISIBLE_DEVICES": ""}, []),  # it hides NVIDIA's, and there are none
    ],
)
def test_a_kernel_that_does_not_see_what_the_shell_sees_is_told_of_and_mended(tmp_path, environment, env, expected):
    python, environments = environment
    text = spec(python, env=env, metadata={"own": [1]})
    kernel(tmp_path / "k", "work", text)
    assert faults(tmp_path / "k", environments)[1] == expected
    new = mended(text, OVERRIDE, frozenset(["amd"]))
    assert (new is None) == (not expected)
    if new:
        kernel(tmp_path / "m", "work", new)
        assert faults(tmp_path / "m", environments)[1] == []
        assert {**json.loads(new), "env": 0} == {**json.loads(text), "env": 0}


def test_a_python_that_is_gone_and_one_without_ipykernel_are_told_apart(tmp_path, environment):
    python, environments = environment
    kernel(tmp_path / "gone", "a", spec(tmp_path / "no" / "bin" / "python"))
    assert faults(tmp_path / "gone", environments)[1] == ["no-python"]
    without = {folder: Inside(folder=folder, packages={}, needed={}) for folder in environments}
    kernel(tmp_path / "without", "a", spec(python))
    assert faults(tmp_path / "without", without)[1] == ["no-ipykernel"]


def test_other_languages_and_broken_files_are_no_pythons(tmp_path):
    kernel(tmp_path / "k", "ir", json.dumps({"argv": ["R", "--slave"], "display_name": "R", "language": "R"}))
    seen, found = faults(tmp_path / "k", {})
    assert (seen.python, seen.language, found) == (None, "R", [])
    kernel(tmp_path / "b", "x", '{"argv": "python"}')
    assert faults(tmp_path / "b", {})[1] == ["not-readable"]


def test_of_two_with_one_name_the_later_is_told_of_where_it_starts_another_python(tmp_path, environment):
    python, environments = environment
    kernel(tmp_path / "a", "python3", spec(python, env=OVERRIDE))
    kernel(tmp_path / "b", "python3", spec("/usr/bin/env", env=OVERRIDE))
    kernel(tmp_path / "c", "python3", spec(python, env=OVERRIDE))
    seen = listed(Local(), [str(tmp_path / name) for name in "abc"], environments, frozenset())
    assert [[fault.fault for fault in row.faults] for row in seen] == [[], ["shadowed"], ["shadowed"]]


def test_folders_are_asked_in_the_order_of_jupyter():
    paths = kernel_folders("/home/ada/kernels", {"JUPYTER_PATH": "/site:relative"}, ["/env"])
    assert paths == [
        "/site/kernels",
        "/home/ada/kernels",
        "/env/share/jupyter/kernels",
        "/usr/local/share/jupyter/kernels",
        "/usr/share/jupyter/kernels",
    ]


@given(
    st.one_of(
        st.text(max_size=200),
        st.recursive(
            st.none() | st.text() | st.integers(),
            lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["argv", "env", "language", "metadata"]), inner),
        ).map(json.dumps),
    )
)
def test_what_strangers_wrote_is_read_or_refused(text):
    described = description(text)
    assert described is None or described.argv[0]
    new = mended(text, {"A": "b"}, frozenset(["nvidia"]))
    assert (new is None) == (described is None or described.env.get("A") == "b")


# -- as a person types it ------------------------------------------------------------------------------


@pytest.fixture
def account(tmp_path, monkeypatch):
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_EXE", "MAMBA_ROOT_PREFIX", "JUPYTER_DATA_DIR", "JUPYTER_PATH"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "XDG_DATA_HOME" / "jupyter" / "kernels"


def rows(capsys):
    run(["lab", "kernels", "--json"])
    return {row["name"]: row for row in json.loads(capsys.readouterr().out)["kernels"]}


def test_a_kernel_whose_python_is_gone_is_removed_when_that_is_agreed_and_nothing_else(account, capsys):
    gone = kernel(account, "gone", spec("/no/such/bin/python"))
    whole = kernel(account, "whole", json.dumps({"argv": ["R"], "display_name": "R", "language": "R"}))
    assert [fault["fault"] for fault in rows(capsys)["gone"]["faults"]] == ["no-python"]
    assert run(["lab", "kernels", "list"]) == 1
    assert "/no/such/bin/python" in capsys.readouterr().out
    assert run(["lab", "kernels", "fix"]) == 2  # nobody can be asked
    assert gone.exists()
    assert run(["lab", "kernels", "fix", "whole"]) == 0
    assert run(["lab", "kernels", "fix", "--yes"]) == 0
    assert not gone.parent.exists()
    assert whole.exists()
    assert run(["lab", "kernels", "fix", "--yes"]) == 0


def test_one_is_added_with_an_environments_variables_and_removed_again(account, made_with_ipykernel, capsys):
    assert run(["lab", "kernels", "add", str(made_with_ipykernel), "--name", "Mine"]) == 0
    row = rows(capsys_after(capsys))["mine"]
    assert row["environment"] == str(made_with_ipykernel)
    assert row["variables"]["VIRTUAL_ENV"] == str(made_with_ipykernel)
    assert row["faults"] == []
    assert run(["lab", "kernels", "remove", "nobody", "--yes"]) == 2
    assert run(["lab", "kernels", "remove", "mine", "--yes"]) == 0
    assert not (account / "mine").exists()
    assert Path(row["python"]).exists()


def capsys_after(capsys):
    capsys.readouterr()
    return capsys


def test_a_linked_kernel_is_unlinked_and_what_it_leads_to_stays(account, tmp_path):
    kept = kernel(tmp_path / "elsewhere", "k", spec("/no/such/bin/python"))
    account.mkdir(parents=True)
    (account / "k").symlink_to(kept.parent)
    assert run(["lab", "kernels", "remove", "k", "--yes"]) == 0
    assert kept.exists()
    assert not os.path.lexists(account / "k")


def test_an_override_that_is_left_empty_is_taken_out_where_no_card_needs_one():
    text = spec("/env/bin/python", env={"HSA_OVERRIDE_GFX_VERSION": "", "A": ""})
    assert json.loads(mended(text, {}, frozenset(["amd"])))["env"] == {"A": ""}
    assert mended(text, {}, frozenset(["nvidia"])) is None


@pytest.mark.parametrize(
    ("name", "value", "folders"),
    [
        ("JUPYTER_PATH", "/srv/one:relative:/srv/two/", ["/srv/one", "/srv/two"]),
        ("XDG_DATA_HOME", "/srv/data", ["/srv/data/jupyter"]),
        ("JUPYTER_DATA_DIR", "/srv/own", ["/srv/own"]),
        ("JUPYTER_PATH", "", []),
        ("XDG_DATA_DIRS", "/srv/data", []),
    ],
)
def test_the_doctor_reads_kernels_where_variables_say(name, value, folders):
    from rigup.machine.derive import folder_of_jupyter
    from rigup.machine.facts import Place, Reading, Where
    from rigup.machine.kinds import Variable

    where = Where("env", 1, "")
    variable = Variable(Place(), {"name": Reading(name, where), "value": Reading(value, where)})
    assert [fact.get("path") for fact in folder_of_jupyter(variable)] == folders
