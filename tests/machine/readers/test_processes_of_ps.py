"""What `ps` tells of the processes that have a card's memory."""

import pytest

from rigup.machine.readers.gpu_processes import processes_of_ps
from rigup.machine.texts import Text

TAKEN = "Process 4711 has 9.27 GiB memory in use.\n"


def found(rows):
    return [{name: fact.get(name) for name in fact.fields} for fact in processes_of_ps(Text("said.txt", TAKEN + rows))]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("    PID COMMAND\n   4711 ollama runner --model a\n", {"command": "ollama runner --model a"}),
        (
            (
                "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n"
                "anna        4711  0.4  3.1 3812 2041 ?        Ssl  09:02   1:11 python -m ipykernel_launcher\n"
            ),
            {"owner": "anna", "command": "python -m ipykernel_launcher"},
        ),
        (
            "    PID    PPID                  STARTED CMD\n   4711       1 Mon Sep 22 16:40:31 2025 VLLM::EngineCore\n",
            {"parent": 1, "command": "VLLM::EngineCore"},
        ),
        ("USER     PID\nroot    4711\n", {"owner": "root"}),
    ],
)
def test_each_column_is_read_by_its_name(rows, told):
    assert found(rows) == [{"pid": 4711, **told}]


@pytest.mark.parametrize("rows", ["    PID COMMAND\n   4712 ollama serve\n", "   4711 ollama serve\n"])
def test_other_processes_and_rows_without_a_head_tell_nothing(rows):
    assert found(rows) == []
