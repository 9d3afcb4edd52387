"""What another Python than the one that failed printed says nothing of it."""

import pytest

from rigup.diagnosis.other_pythons import of_other_pythons
from rigup.knowledge.own_pythons import own_python
from rigup.machine.runs import runs

FAILS = '  File "{folder}\\Lib\\site-packages\\torch\\cuda\\__init__.py", line 403, in _lazy_init'
PORTABLE = FAILS.format(folder="E:\\AI\\ComfyUI_windows_portable\\python_embeded")
VENV = '  File "/home/al/work/.venv/lib/python3.12/site-packages/torch/cuda/__init__.py", line 403, in _lazy_init'
ASKS = 'python -c "import torch; print(torch.__version__)"'


def asked(*lines):
    """Each other Python that was asked, with the numbers of its answer's lines."""
    text = [line for given in lines for line in given.split("\n")]
    return [(other.typed, list(other.lines)) for other in of_other_pythons(text, runs(text))]


def test_a_plain_name_is_not_the_python_of_a_portable_folder():
    assert asked("E:\\AI>run.bat", PORTABLE, "E:\\AI>" + ASKS, "2.7.1+cu128", "", "what now") == [("python", [3])]


def test_nor_is_one_whose_path_is_typed():
    assert asked("$ python train.py", VENV, '$ /usr/bin/python3 -c "x"', "2.6.0+cpu") == [("/usr/bin/python", [3])]


def test_nor_pip_where_it_names_another_folder():
    told = "Requirement already satisfied: torch in /home/al/miniconda3/lib/python3.12/site-packages (2.8.0)"
    assert asked("$ python train.py", VENV, "$ pip install torch", told) == [("pip", [3])]


def test_nor_pip_where_which_finds_another():
    lines = ("$ which pip", "/home/al/miniconda3/bin/pip", "$ pip list", "torch 2.8.0", "$ python train.py", VENV)
    assert asked(*lines) == [("pip", [3])]


@pytest.mark.parametrize(
    "lines",
    [
        ("$ python train.py", VENV, "$ " + ASKS, "2.7.1+cu128"),  # the plain name is what failed
        ("(.venv) $ python train.py", VENV, "(.venv) $ pip list", "torch 2.7.1"),
        ("$ yolo predict", VENV, "$ " + ASKS, "2.7.1+cpu"),  # nobody knows
        ("E:\\AI>run.bat", PORTABLE, "E:\\AI>.\\python_embeded\\python.exe -c 1", "2.7.1+cu128"),
        ("$ " + ASKS, "2.7.1+cu128"),
    ],
)
def test_the_one_that_failed_may_speak(lines):
    assert not asked(*lines)


@pytest.mark.parametrize(
    ("path", "packages", "tool"),
    [
        ("C:\\AI\\python_embeded\\python.exe", "pip", ""),
        ("C:\\Users\\bea\\AppData\\Roaming\\uv\\tools\\whisperx\\Scripts\\python.exe", "uv-tool", "whisperx"),
        ("/home/al/.local/share/pipx/venvs/marker-pdf/bin/python", "pipx", "marker-pdf"),
        ("D:\\invokeai\\.venv", "uv", ""),
    ],
)
def test_programs_have_pythons_of_their_own(path, packages, tool):
    assert own_python(path) == (packages, tool)


@pytest.mark.parametrize("path", ["/home/al/work/.venv/bin/python", "/usr/bin/python3", "C:\\Python312\\python.exe"])
def test_what_a_person_made_is_no_programs_own(path):
    assert own_python(path) is None
