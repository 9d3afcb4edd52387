"""How frameworks other than torch list cards and drivers, and what Python's os.environ answers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.machine.kinds import Driver, Gpu, Variable
from rigup.machine.readers import framework_lists
from rigup.machine.texts import Text

_READERS = (
    framework_lists.answers_of_the_environment,
    framework_lists.cards_of_a_framework,
    framework_lists.card_with_its_capability,
    framework_lists.driver_of_julia,
)
_PIECES = st.sampled_from(
    [
        ">>> os.environ['CUDA_VISIBLE_DEVICES']",
        "os.environ.get(",
        "os.getenv('",
        "'0,1'",
        "-1",
        "None",
        "id 0",
        "    b'",
        "Tesla T4",
        "'   [SUPPORTED]",
        "#0: NVIDIA ",
        ", compute cap.: 8.9, ",
        "NVIDIA GPU 0: ",
        " (driver version 470.63",
        "compute capability 8.6",
        "Name: '",
        "Index: 1",
        "ComputeCapability: '7.5'",
        "NVIDIA driver 450.142.0",
        "Mapped name None to device cuda: ",
        "\n",
        " ",
        "\0",
        "é",
    ]
)


def told(body, kind):
    facts = [fact for reader in _READERS for fact in reader(Text("said.txt", body)) if isinstance(fact, kind)]
    return [{name: reading.value for name, reading in fact.fields.items()} for fact in facts]


@given(st.lists(_PIECES | st.text(max_size=8), max_size=40).map("".join))
def test_readers_take_any_text(body):
    for reader in _READERS:
        assert len(list(reader(Text("said.txt", body)))) <= 4 * len(body) + 4


def test_numbas_list_has_cudas_own_numbers():
    body = "Found 2 CUDA devices\nid 0    b'Tesla T4'      [SUPPORTED]\nid 1    b'Quadro P600'      [SUPPORTED]\n"
    assert [(card["runtime_index"], card["name"]) for card in told(body, Gpu)] == [(0, "Tesla T4"), (1, "Quadro P600")]


@pytest.mark.parametrize(
    "line",
    [
        "#0: NVIDIA NVIDIA L4, compute cap.: 8.9, ECC:  no, stat: compatible",
        "CUDA: NVIDIA GPU 0: NVIDIA L4 (driver version 535.54, CUDA version 12.2, compute capability 8.9, 22GB)",
        "                      Name: 'NVIDIA L4'\n                     Index: 1\n         ComputeCapability: '8.9'\n",
    ],
)
def test_a_card_with_its_capability(line):
    assert [card["isa"] for card in told(line, Gpu)] == ["sm_89"]


def test_drivers_in_passing():
    boinc = "NVIDIA GPU 0: GTX 1060 (driver version 390.77, CUDA version 9.1, compute capability 6.1, 4096MB)"
    assert [driver["version"] for driver in told(boinc, Driver)] == ["390.77"]
    assert [driver["version"] for driver in told("NVIDIA driver 450.142.0, originally for CUDA 11.0", Driver)] == ["450.142.0"]


@pytest.mark.parametrize(
    ("asked", "value"),
    [
        (">>> os.environ['CUDA_VISIBLE_DEVICES']\n'-1'\n", "-1"),
        (">>> import os; os.environ.get(\"CUDA_VISIBLE_DEVICES\")\n''\n", ""),
        ("print(os.getenv('CUDA_VISIBLE_DEVICES'))\n0,1\n", "0,1"),
        ("print(os.environ.get('CUDA_VISIBLE_DEVICES'))\nNone\n", None),
    ],
)
def test_python_answers_a_variable(asked, value):
    assert told(asked, Variable) == [{"name": "CUDA_VISIBLE_DEVICES", "value": value}]


@pytest.mark.parametrize(
    "line",
    ["os.environ['CUDA_VISIBLE_DEVICES'] = '0'\n", "os.environ['HOME']\n'/root'\n", "os.environ['CUDA_VISIBLE_DEVICES']\nimport torch\n"],
)
def test_what_is_no_answer(line):
    assert told(line, Variable) == []
