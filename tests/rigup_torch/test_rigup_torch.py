"""`rigup.torch`, with a real torch: this interpreter's, or that of the one which RIGUP_TORCH_PYTHON names.

The checks stand in `checks/`, and are run by `run_checks.py`, which needs nothing but torch.
"""

import ast
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "devices.md"
CHECKS = sorted((HERE / "checks").glob("*.py"))
PACKAGE = sorted((ROOT / "src" / "rigup" / "torch").glob("*.py"))


def interpreter():
    named = os.environ.get("RIGUP_TORCH_PYTHON")
    if named is None and importlib.util.find_spec("torch") is None:
        pytest.skip("no torch here, and RIGUP_TORCH_PYTHON names no interpreter that has it")
    return named or sys.executable


@pytest.fixture(scope="module")
def outcomes():
    """What became of every check of all files, asked once; each file in a process of its own: a backend's name is given once."""
    done = subprocess.run(
        [interpreter(), str(HERE / "run_checks.py"), "--apart", *map(str, (*CHECKS, PAGE))],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    outcomes_ = {outcome["name"]: outcome for outcome in map(json.loads, filter(None, done.stdout.splitlines()))}
    assert done.returncode == 0, done.stderr[-3000:]
    return outcomes_


def names(path):
    return [node.name for node in ast.parse(path.read_text()).body if getattr(node, "name", "").startswith("test_")]


@pytest.mark.torch
@pytest.mark.parametrize("name", [f"{path.stem}::{name}" for path in CHECKS for name in names(path)])
def test_in_torch(outcomes, name):
    outcome = outcomes[name]
    if "skipped" in outcome:
        pytest.skip(outcome["skipped"])
    assert outcome.get("passed"), outcome["failed"]


@pytest.mark.torch
def test_every_example_of_the_page_prints_what_it_shows(outcomes):
    of_page = [outcome for name, outcome in outcomes.items() if name.startswith(PAGE.stem + "::")]
    assert len(of_page) == PAGE.read_text().count("```pycon") > 8
    assert [outcome["failed"] for outcome in of_page if "failed" in outcome] == []


def imported(path):
    """What a file imports from elsewhere, as (module, name)."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((name.name, "") for name in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from ((node.module, name.name) for name in node.names)


def test_nothing_but_torch_is_imported():
    tops = {module for path in PACKAGE for module, _name in imported(path)}
    foreign = {top for top in tops if top.partition(".")[0] not in {*sys.stdlib_module_names, "torch"}}
    own = {"_rigup_torch", "rigup.torch.__init__"}  # where it stands alone
    assert foreign - own == {"numpy", "msgspec.structs"}  # to seed one, to copy a record of the other: where they are there


@pytest.mark.long
def test_everything_is_understood_by_python_3_9():
    for path in PACKAGE:
        ast.parse(path.read_text(), feature_version=(3, 9))
    pytest.importorskip("vermin")
    command = [sys.executable, "-c", "import vermin; vermin.main()", "--target=3.9-", "--violations", "--no-tips", *map(str, PACKAGE)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout


def older(version):
    """An interpreter of that version, on the path or of pyenv's; skips where there is none."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv", "versions")
    named = [shutil.which(name) for name in ("python" + version, "pypy" + version)]
    for program in [*filter(None, named), *map(str, sorted(pyenv.glob(version + ".*/bin/python")))]:
        asked = [program, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        if subprocess.run(asked, capture_output=True, text=True, timeout=60, check=False).stdout.strip() == version:
            return program
    pytest.skip(f"no Python {version} here")


@pytest.mark.long
@pytest.mark.parametrize("version", ["3.9", "3.10"])
def test_an_older_python_compiles_it_and_has_what_it_imports(version):
    program = older(version)
    stdlib = {*sys.stdlib_module_names} - {"__future__"}
    names = sorted({pair for path in PACKAGE for pair in imported(path) if pair[0].partition(".")[0] in stdlib})
    code = """
import importlib, json, sys
for path in sys.argv[2:]:
    with open(path, encoding="utf-8") as file:
        compile(file.read(), path, "exec")
print([one for one in json.loads(sys.argv[1]) if one[1] and not hasattr(importlib.import_module(one[0]), one[1])])
"""
    command = [program, "-W", "error", "-c", code, json.dumps(names), *map(str, PACKAGE)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")


@pytest.mark.long
@pytest.mark.parametrize("version", ["3.9", "3.10", "3.11"])
def test_every_python_sees_how_a_call_is_written(version, tmp_path):
    program = sys.executable if version == "3.11" else older(version)
    package = tmp_path / "part"
    package.mkdir()
    (package / "__init__.py").write_text(
        "import ast\nfrom .calls import written\ndef same_device(*given, **named):\n    call = written('same_device')\n"
        "    told = [*call.positional(len(given)), *map(call.keyword, named)]\n"
        "    return [one and ast.unparse(one) for one in told]\n"
    )
    shutil.copy(ROOT / "src" / "rigup" / "torch" / "calls.py", package)
    (tmp_path / "main.py").write_text(
        "import part\nx, items = 1, [1, 2]\nprint(part.same_device(x, items[0], z=x + 1))\n"
        "print(part.same_device(\n    x,\n    items,\n))\nprint(part.same_device(*items))\nprint(eval('part.same_device(x)'))\n"
    )
    done = subprocess.run([program, "main.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    expected = ["['x', 'items[0]', 'x + 1']", "['x', 'items']", "[None, None]", "[None]"]
    assert (done.stdout.splitlines(), done.stderr) == (expected, "")


@pytest.mark.parametrize(
    "isa", ["sm_50", "sm_61", "sm_75", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120", "gfx90a", "gfx1030", "gfx1103", "gfx1201"]
)
def test_what_runs_on_what_is_told_as_the_tables_tell_it(isa):
    from rigup.knowledge.chips import runs_on

    spec = importlib.util.spec_from_file_location("code_of_torch", ROOT / "src" / "rigup" / "torch" / "code.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    lists = [
        ["sm_50", "sm_60", "sm_70", "sm_75", "sm_80", "sm_86", "sm_90"],
        ["sm_80", "sm_90a", "compute_90"],
        ["sm_75", "compute_75"],
        ["sm_100a", "sm_120"],
        ["gfx90a", "gfx1100"],
        ["gfx11-generic"],
        ["sm_103f"],
    ]
    assert [module.runs_on(isa, code) for code in lists] == [runs_on(isa, code) for code in lists]
