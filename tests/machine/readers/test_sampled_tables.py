"""What a program prints over and over, and what a pipe counts, are the cards that are there and not their samples."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.machine.facts import Place
from rigup.machine.inventory import accelerators
from rigup.machine.look import look
from rigup.machine.paste import texts_of
from rigup.machine.readers.sampled import rows_of_one_time
from rigup.machine.sources import Source

CHIPS = "NVIDIA L40S, 46068 MiB\nNVIDIA L4, 23034 MiB\n"


def cards(body):
    facts = look([Source(Place(), None, tuple(texts_of("paste", body)))])
    return [device.get("name") for device in accelerators(facts) or []]


def stamped(*rows):
    return "".join(f"2026/03/02 08:00:{second}, {name}, {busy} %\n" for second, name, busy in rows)


@pytest.mark.parametrize(
    ("body", "names"),
    [
        pytest.param(
            "$ nvidia-smi --query-gpu=timestamp,temperature.gpu,memory.used --format=csv -l 5\n"
            "timestamp, temperature.gpu, memory.used [MiB]\n2026/03/02 08:00:01.201, 61, 300 MiB\n"
            "2026/03/02 08:00:06.203, 70, 3104 MiB\n2026/03/02 08:00:11.204, 77, 2800 MiB\n",
            [],
            id="samples-that-name-no-card",
        ),
        pytest.param(
            "$ nvidia-smi --query-gpu=timestamp,name,utilization.gpu --format=csv,noheader -l 1\n"
            + stamped(*((f"0{second}.{part}", "NVIDIA L4", 50) for second in range(3) for part in ("101", "104"))),
            ["NVIDIA L4"] * 2,
            id="samples-of-two-cards",
        ),
        pytest.param(
            "$ nvidia-smi --query-gpu=timestamp,name,utilization.gpu --format=csv,noheader\n"
            + stamped(("01.101", "NVIDIA L4", 9), ("01.104", "NVIDIA L4", 9), ("01.108", "NVIDIA L4", 9)),
            ["NVIDIA L4"] * 3,
            id="neighbour-of-one-time",
        ),
        pytest.param(
            "$ nvidia-smi --query-gpu=name,memory.total --format=csv,noheader --loop=2\n" + CHIPS * 3,
            ["NVIDIA L40S", "NVIDIA L4"],
            id="told-apart-by-their-names",
        ),
        pytest.param(
            "$ nvidia-smi --query-gpu=name,memory.total --format=csv,noheader\n" + "NVIDIA L4, 23034 MiB\n" * 4,
            ["NVIDIA L4"] * 4,
            id="neighbour-without-a-loop",
        ),
        pytest.param(
            "$ nvidia-smi --query-gpu=name,memory.total --format=csv,noheader | sort | uniq -c\n"
            "      2 NVIDIA L4, 23034 MiB\n      1 NVIDIA L40S, 46068 MiB\n",
            ["NVIDIA L4", "NVIDIA L4", "NVIDIA L40S"],
            id="counted-by-a-pipe",
        ),
        pytest.param(
            "$ nvidia-smi --query-gpu=clocks.sm,clocks.max.sm --format=csv,noheader\n  210 MHz, 3105 MHz\n",
            [],
            id="neighbour-whose-cells-have-units",
        ),
        pytest.param(
            "$ nvidia-smi -L | cut -d'(' -f1 | cut -d: -f2 | sort | uniq -c\n      3  NVIDIA L4 \n",
            ["NVIDIA L4"] * 3,
            id="list-counted-by-a-pipe",
        ),
        pytest.param(
            "timestamp\ndriver_version\nkmd_version\ncount\nname\nuuid\nmemory.total\nmemory.used\ncompute_mode\ncompute_cap\nutilization.gpu\n",
            [],
            id="names-that-may-be-asked-for",
        ),
        pytest.param(
            "$ nvidia-smi --query-gpu=compute_cap --format=csv\ncompute_cap\n8.9\n8.9\n", [None] * 2, id="neighbour-of-one-column"
        ),
        pytest.param(
            "$ nvidia-smi dmon -s pu\n# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec\n"
            "# Idx      W      C      C      %      %      %      %\n"
            + "    0     61     43      -      0      0      0      0\n    1     60     41      -      0      0      0      0\n"
            * 3,
            [None, None],
            id="monitored",
        ),
    ],
)
def test_samples_are_no_cards(body, names):
    assert cards(body) == names


@pytest.mark.parametrize(("asked", "memory"), [("memory.used", None), ("memory.free", None), ("memory.total", {"vram": 24576 << 20})])
def test_what_is_in_use_is_no_size(asked, memory):
    body = f"$ nvidia-smi --query-gpu=name,driver_version,{asked} --format=csv,noheader\nNVIDIA GeForce RTX 4090, 575.64.03, 24576 MiB\n"
    facts = look([Source(Place(), None, tuple(texts_of("paste", body)))])
    (card,) = accelerators(facts)
    assert card.get("memory") == memory


@pytest.mark.parametrize(
    ("words", "count"), [("Mini PC mit Ryzen AI MAX+ 395, 128 GB.", 1), ("Strix Halo box, and an RX 7900 XTX over OCuLink", 2)]
)
def test_a_processor_has_its_graphics_once(words, count):
    body = (
        words + "\n$ rocminfo | grep -E 'Name:'\n  Name:                    gfx1151\n  Marketing Name:          AMD Radeon 8060S Graphics\n"
    )
    assert len(cards(body)) == count


@given(st.lists(st.tuples(st.integers(0, 9), st.text(max_size=24)), max_size=12), st.booleans())
def test_rows_of_one_time_are_some_of_the_rows(rows, again):
    given_rows = [(at, {"timestamp": stamp, "name": stamp[:2]}) for at, stamp in rows]
    kept = rows_of_one_time(given_rows, again)
    assert all(row in given_rows for row in kept)
    assert bool(kept) == bool(given_rows)
