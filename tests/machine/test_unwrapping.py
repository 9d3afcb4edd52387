"""Messages that a console broke at its width are read as one line, beside the text that was pasted."""

import hypothesis
import hypothesis.strategies as st

from rigup.machine.facts import Place
from rigup.machine.paste import texts_of
from rigup.machine.unwrapping import unwrapped

BROKEN = """\
OutOfMemoryError: CUDA out of memory. Tried to allocate 4.00 GiB (GPU 0; 8.00
GiB total capacity; 6.90 GiB already allocated; 0 bytes free; 7.10 GiB reserved
in total by PyTorch) If reserved memory is >> allocated memory try setting
max_split_size_mb to avoid fragmentation.
"""
BOXED = """\
\u256d\u2500\u2500\u2500 Traceback \u2500\u2500\u2500\u256e
\u2502 RuntimeError: engine/providers/cuda_call.cc:123 CUDA \u2502
\u2502 failure 35: CUDA driver version is insufficient for   \u2502
\u2502 CUDA runtime version ; GPU=-1 ; hostname=3f1         \u2502
"""
LOG = "\n".join(f"2024-01-01 10:10:1{n} WARNING the queue of the server is longer than it should be now" for n in range(9))


def joined(body):
    return [text.body for text in unwrapped("a.txt", body, Place(), list(range(1, body.count("\n") + 2)))]


def test_a_message_that_was_broken_is_one_line():
    assert "8.00 GiB total capacity; 6.90 GiB already allocated" in joined(BROKEN)[0]


def test_a_message_in_a_box_is_one_line():
    assert "CUDA failure 35: CUDA driver version is insufficient for CUDA runtime version" in joined(BOXED)[0]


def test_lines_of_a_log_are_none_of_a_message():
    assert joined(LOG) == []


def test_a_message_of_one_line_is_left_alone():
    assert joined("RuntimeError: CUDA out of memory. Tried to allocate 4.00 GiB\n") == []


def test_the_pasted_text_stays_first_and_whole():
    first, second = texts_of("a.txt", BROKEN)
    assert first.body == BROKEN
    assert second.where(0).line == 1


@hypothesis.given(st.text(alphabet="abE rrorWarning:\n\u2502 0[]", max_size=400))
def test_any_text_is_read(body):
    found = joined("Error" + body)
    assert len(found) <= 1
    assert sum(map(len, found)) <= len(body) + 5
