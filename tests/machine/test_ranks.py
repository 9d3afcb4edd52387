"""Which rank failed of itself, from what all of them said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.machine.ranks import Failed, failed_first, labelled

LOST = "RuntimeError: [pair.cc:553] Connection closed by peer [127.0.0.1]:33425. This is typically caused by a remote worker crashing."
NCCL = "torch.distributed.DistBackendError: NCCL error: remote process exited or there was a network error"


@pytest.mark.parametrize(
    "lines",
    [
        ["[rank2]: OSError: libx.so: cannot open", "[rank0]: " + LOST, "[rank1]: " + LOST],
        ["0: [rank0]: " + LOST, "2: [rank2]: OSError: libx.so: cannot open", "1: [rank1]: " + LOST],
        ["[default0]:" + " " + NCCL, "[default2]: OSError: libx.so: cannot open"],
    ],
)
def test_the_one_that_lost_nobody_failed(lines):
    assert failed_first("\n".join(lines)) == Failed(2, "OSError: libx.so: cannot open")


def test_a_rank_that_was_killed_had_no_last_word():
    said = "0: " + LOST + "\n1: " + LOST + "\nsrun: error: node1: task 3: Killed\n"
    assert failed_first(said) == Failed(3, "Killed")


@pytest.mark.parametrize(
    "said",
    [
        "OSError: libx.so: cannot open\n",  # one program
        "[rank0]: OSError: one\n[rank1]: OSError: other\n",  # nobody lost a peer: they failed side by side
        "[rank0]: OSError: one\n[rank1]: ValueError: other\n[rank2]: " + LOST,  # two of their own
        "[rank0]: " + LOST + "\n[rank1]: " + LOST,  # all are victims of one that is not shown
        "",
    ],
)
def test_where_the_output_does_not_tell_nothing_is_said(said):
    assert failed_first(said) is None


def test_a_time_of_day_is_no_rank():
    assert labelled("12:30:01 INFO ready") == (None, "12:30:01 INFO ready")


@given(st.text(max_size=2000))
def test_any_output_is_borne(said):
    found = failed_first(said)
    assert found is None or found.rank >= 0


@given(st.lists(st.sampled_from(["[rank1]: ", "2: ", "[3]: ", "OSError: x", LOST, "task 4: Killed", "\n"]), max_size=60))
def test_any_mixture_of_labels_is_borne(parts):
    found = failed_first("".join(parts))
    assert found is None or found.rank in (1, 2, 3, 4)
