"""Of a long log the lines that say the same again are left out, and nothing else."""

import itertools

import hypothesis
import hypothesis.strategies as st

from rigup.machine.paste import texts_of
from rigup.machine.thinning import thinned

STEPS = "".join(f"2026-11-21 10:00:{n % 60:02d} INFO step {n} loss 0.{n % 9973:04d} grad_norm 0.87\n" for n in range(12_000))
HALF = STEPS[: STEPS.index("\n", len(STEPS) // 2) + 1]
FAULT = "NVRM: Xid (PCI:0000:01:00): 79, pid=4242, GPU has fallen off the bus.\n"


def letters():
    return ["".join(chr(ord("q") + int(digit)) for digit in f"{number:05}") for number in range(170)]


def kept(body):
    return {number: line for number, line in thinned(body) if line}


def test_a_short_text_stays_as_it_is():
    body = "a 1\n" * 1000
    assert "\n".join(line for _, line in thinned(body)) == body


def test_steps_of_a_loop_are_left_out():
    assert len(kept(STEPS)) < 2500


def test_a_rare_line_keeps_its_number_and_what_stands_around_it():
    told = kept(HALF + FAULT + STEPS)
    at = HALF.count("\n") + 1
    lines = (HALF + FAULT + STEPS).split("\n")
    assert told[at] == FAULT.strip()
    assert all(told[number] == lines[number - 1] for number in (at - 2, at - 1, at + 1, at + 2))


def test_both_ends_stay():
    told, lines = kept(STEPS), STEPS.rstrip("\n").split("\n")
    assert all(told[number] == lines[number - 1] for number in (1, 2, 500, len(lines) - 500, len(lines)))


def test_what_stood_apart_is_not_read_as_one():
    told = thinned(STEPS)
    assert all(two == one + 1 or not line for (one, line), (two, _) in itertools.pairwise(told))


def test_a_message_of_another_number_is_read_among_hundreds_of_its_form():
    often = FAULT.replace("79", "31") * 1500
    assert FAULT.strip() in kept(STEPS + often + FAULT + often[: len(often) // 5] + STEPS).values()


def test_of_a_long_text_without_end_stays_what_is_near_a_word():
    lines = [f"{word} {other} goes by" for word in letters() for other in letters()]
    middle = len(lines) // 2
    lines[middle] = FAULT.strip()
    told = kept("\n".join(lines))
    assert told[middle + 1] == FAULT.strip()
    assert told[middle - 20] == lines[middle - 21]
    assert middle - 2000 not in told
    assert (told[1], told[len(lines)]) == (lines[0], lines[-1])


def test_a_line_is_quoted_with_its_number_in_the_source():
    body = HALF + FAULT + STEPS
    text = texts_of("a.log", body)[0]
    assert text.where(text.body.index("Xid")).line == HALF.count("\n") + 1


def test_lines_of_nodes_keep_their_numbers():
    body = "".join(f"node{n % 2}: step {n} loss 0.{n % 97:02d}\n" for n in range(30_000)) + "node1: " + FAULT
    told = {text.given.node: text for text in texts_of("a.log", body)}
    assert set(told) == {"node0", "node1"}
    assert told["node1"].where(told["node1"].body.index("Xid")).line == 30_001


@hypothesis.given(
    st.lists(st.sampled_from(["a 1", "a 2", "b", "", "\x0c1", "ы 7", "\ufffd", "CUDA"]), max_size=40),
    st.sampled_from([1, 3000]),
    st.sampled_from([("step 1", 1), ("q", 500), ("q\n", 150_000)]),
)
@hypothesis.settings(max_examples=25, deadline=None)
def test_every_line_that_is_kept_is_one_of_the_text(lines, times, filler):
    part, long = filler
    count = times if long < 1000 else 4
    body = "\n".join([*lines, *[part * long + str(number) for number in range(count)], *lines])
    whole = body.split("\n")
    assert all(not line or line == whole[number - 1] for number, line in thinned(body))
