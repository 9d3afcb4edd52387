"""`%load_ext rigup` in a real kernel: cells are executed as ever and measured, and memory is told by names."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import rigup
from rigup.notebook.cell import compiled, run_measured
from rigup.notebook.holders import Holder, holders
from rigup.notebook.magics import Shown, holder_rows, size

NEEDED = [name for name in ("nbclient", "nbformat", "ipykernel") if importlib.util.find_spec(name) is None]
KERNEL = pytest.mark.skipif(bool(NEEDED), reason="needs " + ", ".join(NEEDED))
SOURCE = str(Path(rigup.__file__).parents[1])
RUNS = """
import json, sys, nbformat
from nbclient import NotebookClient
book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in sys.argv[1:]])
NotebookClient(book, timeout=120, kernel_name="python3", allow_errors=True).execute()
print(json.dumps([[dict(told) for told in cell.outputs] for cell in book.cells]))
"""
ALLOCATES = "small = bytearray(10)\nlarge = bytearray(80_000_000)\nother = bytearray(20)\nlen(large)"


def notebook(folder, *code):
    """What each cell puts out in a real kernel."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHONWARN"))}
    environment |= {"PYTHONPATH": SOURCE, "JUPYTER_PLATFORM_DIRS": "1"}
    argv = [sys.executable, "-c", RUNS, "%load_ext rigup", *code]
    done = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])[1:]


def plain(outputs):
    return "\n".join(str(output.get("text") or output.get("data", {}).get("text/plain") or output.get("ename")) for output in outputs)


def measured(source, variables=None):
    return run_measured(source, compiled(source, "<cell>"), {} if variables is None else variables, "<cell>")


@KERNEL
@pytest.mark.jupyter
def test_a_cell_is_executed_as_ever_and_told_of(tmp_path):
    shown, kept, failed, after = notebook(tmp_path, "%%rigup\n" + ALLOCATES, "len(large), _", "%%rigup\n1/0", "1 + 1")
    assert "80000000" in plain(shown[:1])  # the last expression, as without the command
    report = plain(shown[1:])
    assert "line 2" in report
    assert "large = bytearray(80_000_000)" in report
    assert "<td" in shown[-1]["data"]["text/html"]
    assert "(80000000, 80000000)" in plain(kept)
    assert [output["output_type"] for output in failed] == ["error"]  # a notebook that is run whole stops there
    assert plain(failed) == "ZeroDivisionError"
    assert plain(after) == "2"


@KERNEL
@pytest.mark.jupyter
def test_the_doctor_other_commands_and_the_bar_are_there(tmp_path):
    doctor, fit, usage, bar, memory = notebook(
        tmp_path,
        "%rigup doctor",
        "%rigup fit nothing-of-that-name --on 'no gpu'",
        "%rigup nonsense",
        "%rigup bar\nimport time; time.sleep(2.5); kept = bytearray(10)\n%rigup bar off",
        "%rigup memory",
    )
    assert "text/html" in doctor[0]["data"]
    assert "nothing-of-that-name" in plain(fit)
    assert "%%rigup" in plain(usage)
    assert "this kernel" in bar[0]["data"]["text/html"]
    assert "no tensor" in plain(memory)


def test_the_line_that_took_most_is_named_and_loops_do_not_hold_up():
    report = measured("def fill():\n    return bytearray(60_000_000)\n\nx = 1\nkept = fill()\n")
    assert report.lines["cpu"].number in (2, 5)  # within the function, or where it is called
    assert report.grew["cpu"] > 40_000_000
    assert report.peaks["cpu"] >= report.grew["cpu"]
    assert report.cut
    assert not measured("for number in range(60_000):\n    number + 1\n").cut
    assert sys.gettrace() is None or "rigup" not in repr(sys.gettrace())


def test_what_is_taken_and_given_back_within_a_line_counts_for_the_peak():
    report = measured("import time\nx = (bytearray(b'1') * 90_000_000, time.sleep(0.2)) and 1\n")
    assert report.peaks["cpu"] > report.grew["cpu"] + 60_000_000
    assert report.lines["cpu"].number == 2


def test_last_expressions_are_shown_unless_they_end_in_a_semicolon(capsys):
    for source, shown in (("1 + 1", "2\n"), ("1 + 1;", ""), ("x = 3", ""), ("", "")):
        measured(source)
        assert capsys.readouterr().out == shown
    with pytest.raises(SyntaxError):
        compiled("1 +", "<cell>")


def test_names_and_lines_become_no_markup():
    shown = Shown([("<b>x</b>", "1")])
    assert "<b>" not in shown._repr_html_()
    assert repr(shown) == "<b>x</b>  1"
    assert repr(Shown([])) == ""


def test_many_holders_are_cut_and_summed():
    rows = holder_rows([Holder(f"x{number}", 1000, "cpu", "") for number in range(25)])
    assert len(rows) == 21
    assert rows[-1][:2] == ("5 others", "5.0 kB")
    assert size(0) == "0 B"


def test_without_torch_and_arrays_nobody_holds_anything_told():
    assert [row for row in holders({"x": [1], "_": 3}) if row.name != "(no variable)"] == []


OF_TORCH = """
import json, torch
from rigup.notebook.holders import holders
from rigup.notebook.cell import compiled, run_measured
model = torch.nn.Linear(100, 50, bias=False)
model(torch.ones(2, 100)).sum().backward()
big = torch.zeros(1000, 1000)
view = big[:10]
(lambda: globals().__setitem__("closure", (lambda hidden=torch.zeros(300, 1000): hidden)))()
variables = {"model": model, "big": big, "view": view, "closure": closure, "_5": big, "Out": {5: torch.ones(10)}}
source = "a = torch.zeros(1)\\nb = torch.zeros(30_000_000)"
report = run_measured(source, compiled(source, "<cell>"), {"torch": torch}, "<cell>")
print(json.dumps([[list(row) for row in holders(variables)], list(report.lines["cpu"])]))
"""


def test_tensors_are_told_by_the_names_of_variables(torch_python):
    done = subprocess.run(
        [torch_python, "-c", OF_TORCH], env={**os.environ, "PYTHONPATH": SOURCE}, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    rows, line = json.loads(done.stdout.splitlines()[-1])
    by_name = {name: (size, device) for name, size, device, _what in rows}
    assert by_name["big"] == (4_000_000, "cpu")
    assert by_name["model.weight"] == by_name["model.weight.grad"] == (20_000, "cpu")
    assert by_name["Out[5]"] == (40, "cpu")
    assert "view" not in by_name  # its memory is big's
    assert by_name["(no variable)"][0] == 1_200_000
    assert (line[0], line[1]) == (2, "b = torch.zeros(30_000_000)")
    assert line[2] > 60_000_000
