"""Packages with compiled code beside a framework: which are found, and what comes of importing and calling them."""

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from answer_data import verified
from rigup.machine.store import Facts
from rigup.verify.child import Limits
from rigup.verify.observe import observe

PATIENT = Limits(start=300, check=300)
EXTENSION = sysconfig.get_config_var("EXT_SUFFIX") or ".so"
SOURCE = """
#include <Python.h>
extern int of_another_torch(void);
static struct PyModuleDef made = {{PyModuleDef_HEAD_INIT, "{name}", 0, -1, 0}};
PyMODINIT_FUNC PyInit_{name}(void) {{ {body} return PyModule_Create(&made); }}
"""


@pytest.fixture
def built(tmp_path):
    """An environment with packages of our own making, whose extension modules are really compiled; what verify finds."""
    folder = tmp_path / "dl"
    venv.create(folder, with_pip=False)
    site = next(folder.glob("lib*/**/site-packages"))

    def package(name, body="", code="", wants="torch"):
        (site / name).mkdir()
        (site / name / "__init__.py").write_text(code)
        files = [name + "/__init__.py"]
        if body is not None:
            target = site / name / ("_C" + EXTENSION)
            text = SOURCE.format(name="_C", body=body)
            include = sysconfig.get_paths()["include"]
            completed = subprocess.run(
                ["cc", "-shared", "-fPIC", "-I", include, "-x", "c", "-", "-o", str(target)],
                input=text,
                text=True,
                capture_output=True,
                check=False,
            )
            if completed.returncode:
                pytest.skip("nothing here compiles extension modules")
            files.append(name + "/_C" + EXTENSION)
        info = site / (name + "-1.0.dist-info")
        info.mkdir()
        wish = "Requires-Dist: " + wants + "\n" if wants else ""
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{wish}")
        (info / "RECORD").write_text("".join(file + ",,\n" for file in files))

    def found():
        seen = observe(str(folder / "bin" / "python"), [], False, PATIENT, frameworks=("none",), companions=True)
        return verified(seen, {"accelerators": []}, Facts(), False, [])

    package("torch", None, wants="")
    return package, found


def checks(answer):
    return {check["name"]: check for device in answer["devices"] for check in device["checks"]}


@pytest.mark.skipif(sys.platform == "win32", reason="made by a compiler of Unix")
def test_a_package_without_a_known_call_is_imported_and_its_extension_loaded(built):
    package, found = built
    package("fused_things")
    answer = found()
    assert [companion["name"] for companion in answer["companions"]] == ["fused-things"]
    assert checks(answer)["fused-things-import"]["passed"] is checks(answer)["fused-things-extensions"]["passed"] is True
    assert "passed" not in checks(answer)["fused-things-call"]


@pytest.mark.skipif(sys.platform == "win32", reason="made by a compiler of Unix")
def test_an_extension_that_was_built_for_another_torch_is_named(built):
    package, found = built
    package("fused_things", "of_another_torch();")
    answer = found()
    assert answer["verdict"] == "failed"
    assert "undefined symbol: of_another_torch" in checks(answer)["fused-things-extensions"]["because"]


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="made by a compiler of Unix")
def test_one_that_crashes_costs_itself_alone(built):
    package, found = built
    package("crashing", "*(volatile int *)0 = 1;", "import crashing._C")
    package("fused_things")
    answer = found()
    assert "SIGSEGV" in checks(answer)["crashing-import"]["because"]
    assert checks(answer)["fused-things-import"]["passed"] is True


@pytest.mark.skipif(sys.platform == "win32", reason="made by a compiler of Unix")
def test_what_neither_compiles_nor_stands_on_a_framework_is_no_companion(built):
    package, found = built
    package("plain_things", None)
    package("compiled_elsewhere", wants="")
    assert found()["companions"] == []


@pytest.fixture
def environment():
    """An environment with real packages beside torch, which RIGUP_COMPANIONS_PYTHON names."""
    named = os.environ.get("RIGUP_COMPANIONS_PYTHON")
    if named is None or not Path(named).is_file():
        pytest.skip("RIGUP_COMPANIONS_PYTHON names no interpreter with packages beside torch")
    return named


def test_real_packages_are_called_once(environment):
    seen = observe(environment, [], False, PATIENT, frameworks=("none",), companions=True)
    answer = verified(seen, {"accelerators": []}, Facts(), False, [])
    assert answer["companions"]
    called = {name: check for name, check in checks(answer).items() if not name.endswith(("-import", "-extensions"))}
    assert called
    assert {check["passed"] for check in called.values() if "passed" in check} <= {True}, called
