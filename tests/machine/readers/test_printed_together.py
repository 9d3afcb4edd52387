"""Several questions in one print, and which Python answers them: a notebook's cell, in one line or in several, or a shell's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.machine.kinds import JupyterKernel, PythonEnv, Torch
from rigup.machine.readers.printed_together import answers_of_one_line, answers_of_several_prints, answers_of_tensorflow
from rigup.machine.texts import Text

PRINTED = "print(sys.executable, torch.__version__, torch.cuda.is_available())\n"
KERNEL, SHELL = "/usr/bin/python3 2.5.1+cpu False\n", "/opt/conda/envs/dl/bin/python 2.5.1+cu124 True\n"


def told(body, kind):
    return [fact for fact in answers_of_one_line(Text("x", body)) if isinstance(fact, kind)]


@pytest.mark.parametrize(
    "cell",
    [
        "In [1]: " + PRINTED,
        "In [1]: import sys, torch\n        " + PRINTED,
        "In [12]: import sys\n    ...: import torch\n    ...: " + PRINTED,
    ],
)
def test_a_cell_tells_the_kernels_python_in_one_line_or_in_several(cell):
    (kernel,) = told(cell + KERNEL, JupyterKernel)
    assert (kernel.name, kernel.python, kernel.prefix) == ("notebook", "/usr/bin/python3", "/usr")
    (torch,) = told(cell + KERNEL, Torch)
    assert (torch.env, torch.version, torch.available) == ("/usr", "2.5.1+cpu", False)
    assert told(cell + KERNEL, PythonEnv) == []


@pytest.mark.parametrize("command", ['(dl) $ python -c "import sys, torch; print(sys.executable, torch.__version__)"\n', ">>> " + PRINTED])
def test_a_shells_python_is_the_environment_in_force(command):
    answer = SHELL if command.startswith(">>>") else SHELL.replace(" True", "")
    (env,) = told(command + answer, PythonEnv)
    assert (env.prefix, env.active) == ("/opt/conda/envs/dl", True)
    assert told(command + answer, JupyterKernel) == []


def test_a_cell_ends_at_its_answer():
    between = "In [1]: 1 + 1\nOut[1]: 2\n" + PRINTED + KERNEL
    assert told(between, JupyterKernel) == []


@given(
    st.lists(
        st.sampled_from(["In [1]: ", PRINTED, KERNEL, "   ...: ", "print(", "sys.executable", ", ", "torch.__version__", ")", "\n", "  "])
    )
)
def test_any_text_is_read(pieces):
    text = Text("x", "".join(pieces))
    list(answers_of_one_line(text))
    list(answers_of_several_prints(text))
    list(answers_of_tensorflow(text))


SEEN = "tf.config.list_physical_devices('GPU')"
GPU = "[PhysicalDevice(name='/physical_device:GPU:0', device_type='GPU')]"


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        (
            f'python -c "import sys, tensorflow as tf; print(sys.version.split()[0], tf.__version__, tf.test.is_built_with_cuda(), {SEEN})"\n3.11.9 2.19.0 False []\n',
            {"version": "2.19.0", "built_with_cuda": False, "gpus": 0},
        ),
        (f">>> print({SEEN}, tf.version.VERSION)\n{GPU} 2.15.1\n", {"version": "2.15.1", "gpus": 1}),
        (
            f">>> print(tf.test.is_built_with_cuda(), len({SEEN}))\n2025-01-02 10:00:00.1: I tensorflow/core/util/port.cc:153] oneDNN custom operations are on.\nTrue 2\n",
            {"built_with_cuda": True, "gpus": 2},
        ),
        (
            f'python -c "import tensorflow as tf; print(tf.__version__); print(tf.test.is_built_with_cuda()); print({SEEN})"\n2.15.0\nFalse\n[]\n',
            {"version": "2.15.0", "built_with_cuda": False, "gpus": 0},
        ),
        (f"print(tf.__version__, tf.test.is_built_with_cuda(), {SEEN})\nTraceback (most recent call last):\n", None),
    ],
)
def test_tensorflow_answers_in_any_order_and_combination(body, fields):
    told_by = [{name: reading.value for name, reading in fact.fields.items()} for fact in answers_of_tensorflow(Text("x", body))]
    assert told_by == ([fields] if fields else [])
