"""The two memory pools of an integrated GPU, as monitors print them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.machine.kinds import Gpu
from rigup.machine.readers import shared_memory
from rigup.machine.texts import Text

_TOP = "  VRAM : usage  212 MiB, total   512 MiB (usable   480 MiB)\n  GTT  : usage   36 MiB, total 15864 MiB (usable 15800 MiB)\n"
_METRIC = "    MEM_USAGE:\n        TOTAL_VRAM: 512 MB\n        TOTAL_GTT: 13649 MB\n"
_PIECES = st.sampled_from([*_TOP.splitlines(True), *_METRIC.splitlines(True), "GTT : usage", " MiB (usable ", "TOTAL_GTT: ", "\0", "é"])


def pools(body):
    facts = shared_memory.pools_of_monitors(Text("said.txt", body))
    return {name: reading.value for fact in facts if isinstance(fact, Gpu) for name, reading in fact.fields.items()}


@given(st.lists(_PIECES | st.text(max_size=8), max_size=40).map("".join))
def test_any_text_is_taken(body):
    assert len(list(shared_memory.pools_of_monitors(Text("said.txt", body)))) <= 4


@pytest.mark.parametrize(("body", "gtt"), [(_TOP, 15864), (_METRIC, 13649)])
def test_both_pools_are_read(body, gtt):
    told = pools(body)
    assert (told["vram"], told["gtt"]) == (512 << 20, gtt << 20)


@pytest.mark.parametrize("body", [_TOP, _METRIC])
def test_two_cards_are_not_told_apart(body):
    assert not pools(body + body)
