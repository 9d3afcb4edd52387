"""Markdown that is still being written: what is finished comes out, and nothing is lost, however it comes."""

from hypothesis import given
from hypothesis import strategies as st

from rigup.llm.chat.blocks import Blocks

PARTS = st.lists(
    st.sampled_from(
        [
            "# Head\n",
            "\n",
            "text",
            "more text\n",
            "1. one\n",
            "- two\n",
            "   inside\n",
            "```python\n",
            "```\n",
            "~~~\n",
            "> said\n",
            "| a | b |\n",
            " ",
            "x" * 50,
        ]
    ),
    max_size=40,
)


def blocks_of(parts):
    made = Blocks()
    done = [block for part in parts for block in made.take(part)]
    left = made.rest()
    return [*done, left] if left.strip() else done


def lines(text):
    return [line for line in text.split("\n") if line.strip()]


@given(PARTS)
def test_no_line_is_lost_and_none_is_changed(parts):
    assert [line for block in blocks_of(parts) for line in lines(block)] == lines("".join(parts))


@given(PARTS, st.lists(st.integers(0, 400), max_size=10))
def test_it_is_the_same_however_it_is_cut(parts, places):
    whole = "".join(parts)
    ends = sorted({*(place % (len(whole) + 1) for place in places), len(whole)})
    pieces = [whole[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    assert blocks_of(pieces) == blocks_of([whole])


def test_paragraphs_lists_and_code_are_blocks():
    told = "Hello\nyou.\n\n1. one\n\n2. two\n   inside\n\nThen:\n```py\na\n\nb\n```\nEnd"
    assert blocks_of([told]) == ["Hello\nyou.", "1. one\n\n2. two\n   inside", "Then:", "```py\na\n\nb\n```", "End"]


def test_a_paragraph_comes_out_when_the_next_begins_and_not_before():
    made = Blocks()
    assert made.take("one\n\n") == []
    assert made.take("two\n") == ["one"]
    assert made.unfinished(10, 80) == "two\n"


def test_code_that_grows_long_comes_out_in_parts_that_are_code():
    parts = blocks_of(["```c\n", *(f"{number};\n" for number in range(900)), "```\n"])
    assert len(parts) == 3
    assert all(part.startswith("```c\n") and part.endswith("```") for part in parts)


def test_what_is_shown_of_the_unfinished_is_bounded():
    made = Blocks()
    made.take("word " * 100_000)
    assert len(made.unfinished(20, 80)) <= 20 * 80
