"""`rigup.doctor()` in a notebook, in Colab's conditions: a container without systemd, /content, a session that ends.

What tests/machines/colab-t4 holds is publicly known of it: system, Python and packages from
https://github.com/googlecolab/backend-info; the driver's place and its variable from
https://github.com/tinygrad/tinygrad/pull/16023; kernel, memory and disk as many reports of its users print them.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import rigup
from packs import machine_folder

COLAB = machine_folder("colab-t4")
NEEDED = [name for name in ("nbclient", "nbformat", "ipykernel") if importlib.util.find_spec(name) is None]
JUPYTER = pytest.mark.skipif(bool(NEEDED), reason="needs " + ", ".join(NEEDED))
# Runs in a process of its own, as Jupyter does: each word of the command line is a cell.
RUNS = """
import json, sys, nbformat
from nbclient import NotebookClient
book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in sys.argv[1:]])
NotebookClient(book, timeout=120, kernel_name="python3").execute()
print(json.dumps([[dict(told) for told in cell.outputs] for cell in book.cells]))
"""


def cells(folder, *code, **variables):
    """What each cell puts out in a real kernel that is started in a folder."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHONWARN"))}
    environment |= {"PYTHONPATH": str(Path(rigup.__file__).parents[1]), "JUPYTER_PLATFORM_DIRS": "1", **variables}
    argv = [sys.executable, "-c", RUNS, *code]
    done = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_a_t4_of_colab_is_expected_to_work():
    report = rigup.doctor(str(COLAB))
    assert report["verdict"] == "healthy"
    (card,) = report["machine"]["accelerators"]
    assert (card["name"], card["isa"], card["state"]) == ("Tesla T4", "sm_75", "expected")
    assert [world["container"] for world in report["machine"]["worlds"]] == ["docker"]


def test_the_torch_in_the_systems_own_folder_is_seen():
    (torch,) = rigup.doctor(str(COLAB))["machine"]["torches"]
    assert (torch["env"], torch["version"], torch["cuda"]) == ("/usr/local", "2.9.0+cu126", "12.6")


@pytest.mark.long
def test_a_report_is_text_elsewhere_and_a_page_in_a_notebook():
    report = rigup.doctor(str(COLAB))
    assert "Tesla T4" in repr(report)
    assert "Tesla T4" in report._repr_html_()
    assert "<html" not in report._repr_html_()


@pytest.mark.slow
@JUPYTER
def test_a_real_kernel_shows_the_page_and_keeps_the_data(tmp_path):
    folder = tmp_path / "content"
    folder.mkdir()
    code = f"import rigup; report = rigup.doctor({str(COLAB)!r}); report"
    (shown,), (printed,) = cells(folder, code, "print(report['verdict'], len(report['machine']['accelerators']))")
    assert "Tesla T4" in shown["data"]["text/html"]
    assert "Tesla T4" in shown["data"]["text/plain"]
    assert printed["text"].split() == ["healthy", "1"]
    assert list(folder.iterdir()) == []


@pytest.mark.slow
@JUPYTER
def test_a_real_kernel_looks_at_its_own_machine_again_and_again(tmp_path):
    """Threads of the look end with it, and the loop of the kernel goes on."""
    code = "import threading, rigup; verdicts = {rigup.doctor()['verdict'] for _ in range(2)}; print(*verdicts)"
    count = "import time; time.sleep(0.2); print([t.name for t in threading.enumerate() if t.name.startswith('rigup')])"
    waits = "import asyncio; await asyncio.sleep(0); print('goes on')"
    state = tmp_path / "state"
    (verdict,), (threads,), (goes_on,) = cells(tmp_path, code, count, waits, COLAB_RELEASE_TAG="release", XDG_STATE_HOME=str(state))
    assert verdict["text"].strip() in ("healthy", "broken", "degraded", "unknown")
    assert (threads["text"].strip(), goes_on["text"].strip()) == ("[]", "goes on")


@pytest.mark.slow
@JUPYTER
def test_what_goes_wrong_is_told_by_the_cell_and_not_by_a_dead_kernel(tmp_path):
    code = "import rigup\ntry: rigup.doctor('/nowhere')\nexcept Exception as error: print(type(error).__name__, error)"
    ((said,),) = cells(tmp_path, code)
    assert said["text"].startswith("SourceError /nowhere does not exist")
