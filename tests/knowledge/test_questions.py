"""Questions that are asked of machines that are in order."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from each import each
from rigup.knowledge.questions import asked_in, form_of, questions

ROWS = pytest.mark.parametrize("row", questions(), ids=lambda row: row.id)


def ids(text: str, found: bool = False) -> list[str]:
    return [asked.row.id for asked in asked_in(text, found=found)]


@ROWS
def test_a_question_is_known_by_its_example_and_not_by_what_is_near(row):
    assert row.id in ids(row.example, bool(row.causes))
    assert row.id not in ids(row.near_miss, bool(row.causes))


@ROWS
def test_no_command_keeps_a_hole(row):
    (asked,) = (asked for asked in asked_in(row.example, found=bool(row.causes)) if asked.row.id == row.id)
    assert len(asked.lines) == len(row.lines)
    assert not any("{" in line for line in asked.lines)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("After each boot the power limit is gone. How do I keep it?\n\n$ sudo nvidia-smi -pl 210", "settings-over-restarts"),
        ("Как сохранить лимит мощности видеокарты после перезагрузки?", "settings-over-restarts"),
        ("宿主机要装 CUDA 吗？我只用 docker 容器。宿主机上没有 nvcc，容器里需要装吗？", "cuda-for-containers"),
        ("Нужно ли ставить CUDA отдельно, если torch стоит из pip?", "toolkit-for-wheels"),
        ("¿Hace falta instalar CUDA aparte para usar pytorch con pip?", "toolkit-for-wheels"),
        ("nvidia-smi 显示 12.4，torch 是 cu121，版本不一致有问题吗？", "versions-of-cuda-differ"),
        ("How do I run my script on GPU 1 only?", "one-of-several-cards"),
    ],
)
def test_it_is_known_in_other_words_and_languages(text, expected):
    assert expected in ids(text)


@pytest.mark.parametrize(
    "text",
    [
        "nvcc was not found, the build needs CUDA.",
        "Training stops after a reboot.\n\nIs the card broken?",
        "The container is slow. The host has CUDA 12.4.",
        "RuntimeError: CUDA error: no kernel image is available for execution on the device",
    ],
)
def test_where_nobody_asks_nothing_is_answered(text):
    assert ids(text) == []


@pytest.mark.parametrize("prompt", ["$ ", "(lm) ana@dl3:~/gpt$ ", "(base) ana@mac gpt % ", "PS C:\\Users\\a> ", ">>> "])
def test_what_is_typed_asks_nobody(prompt):
    assert "python-for-torch" in ids("which python; pip list | grep torch")
    assert ids(prompt + "which python; pip list | grep torch") == []


def test_the_answer_has_the_limit_that_the_text_names():
    asked = asked_in("How do I make `nvidia-smi -pl 210` survive a reboot?")[0]
    assert any("-pl 210" in line for line in asked.lines)


@given(st.text(alphabet="gpuGPUCDA 12.8?nvidia-smi\n。？", max_size=3000))
def test_any_text_is_read_in_bounds(text):
    assert len(asked_in(text)) <= 12


LENGTH = 80_000  # characters of a text that are looked through
MOST_SECONDS = 1.0  # of processor time; what is linear takes a hundredth of it
PIECES = (
    " ",
    "a",
    "0",
    "/",
    "a ",
    "1/",
    "0.",
    "\n",
    "= ",
    "| 1 ",
    "'loss': 0.5, ",
    "GPU 0: ",
    "12 MiB ",
    "step 1 loss 0.1\n",
    "10:00 ",
    "P8 | ",
    # Rows of `nvidia-smi -q`, whose blanks several parts of a pattern may take.
    "        Volatile\n" + "            DRAM Correctable                  : 0\n" * 14,
)


@pytest.mark.slow
def test_no_pattern_is_slow_on_a_long_text():
    each(questions(), is_quick_on_long_texts, name=lambda row: row.id)


def is_quick_on_long_texts(row):
    forms = [
        *((form, re.MULTILINE) for form in (*row.outputs, *row.unasked)),
        *((form, re.MULTILINE | re.IGNORECASE) for form in row.fills),
    ]
    for piece in (*PIECES, row.example + "\n"):
        body = (piece * LENGTH)[:LENGTH]
        for form, flags in forms:
            started = time.process_time()
            form_of(form, flags).search(body)
            assert time.process_time() - started < MOST_SECONDS, (form[:100], piece)


@pytest.mark.long
def test_of_a_text_without_end_its_ends_are_read():
    question = "How do I keep the power limit after each boot?\n\n$ sudo nvidia-smi -pl 210\n\n"
    assert "settings-over-restarts" in ids(question + "step 1 loss 0.1\n" * 200_000)
    assert "settings-over-restarts" in ids("step 1 loss 0.1\n" * 200_000 + "\n" + question)
