"""The scaling law: what it promises, what it does not, and whether the truth lies inside."""

import math
import random

import pytest

from rigup.train.advise.inputs import Allocation, InputError, Rate, allocation
from rigup.train.advise.speed import law


def rows(*seconds, device="x"):
    return [Rate(device, nodes, gpus, tuple(each)) for nodes, gpus, *each in seconds]


def epoch(rates, nodes, gpus):
    return law(rates).epoch(Allocation("p", "x", nodes, gpus))


def test_measured_times_better_than_linear_are_not_promised():
    found = epoch(rows((1, 1, 1037), (2, 1, 515), (3, 1, 323)), 6, 1)
    assert found.seconds.likely * 6 == pytest.approx(1010, rel=0.01)
    assert found.extrapolated
    assert found.source == "fitted"


def test_a_serial_share_and_the_cost_of_nodes_are_found():
    truth = [(nodes, gpus, 800 / (nodes * gpus) + 90 + 12 * (nodes - 1)) for nodes, gpus in ((1, 1), (1, 2), (1, 8), (2, 8), (4, 8))]
    assert epoch(rows(*truth), 8, 8).seconds.likely == pytest.approx(800 / 64 + 90 + 12 * 7, rel=0.01)


def test_it_is_the_less_sure_the_farther_it_reaches():
    rates = rows((1, 1, 100), (1, 2, 52), (1, 4, 28))
    spans = [epoch(rates, nodes, 4).seconds for nodes in (1, 2, 4, 8)]
    widths = [span.high / span.low for span in spans]
    assert widths == sorted(widths)
    assert widths[-1] > 1.3 * widths[0]


def test_repeats_make_surer_and_noise_less_sure():
    width = [(span := epoch(rows((1, 1, *seconds)), 1, 1).seconds).high / span.low for seconds in ([100] * 6, [100], [80, 125, 100])]
    assert width == sorted(width)


def test_one_number_of_gpus_is_no_law_and_loses_by_doubling():
    assert epoch(rows((1, 1, 100)), 1, 4).seconds.likely == pytest.approx(100 / 4 * 1.21)
    assert epoch(rows((1, 1, 100)), 1, 1).source == "measured"


def test_a_catalogue_counts_only_where_nothing_was_measured():
    guess = Rate("x", 1, 1, (100.0,), "catalogue")
    wide = epoch([guess], 1, 1)
    assert wide.source == "catalogue"
    assert wide.seconds.high / wide.seconds.low > 2
    assert epoch([guess, *rows((1, 1, 300))], 1, 1).seconds.likely == pytest.approx(300)
    assert law([]) is None


def test_the_truth_lies_inside_in_at_least_85_of_100():
    """Laws drawn at random, one to five runs of them measured with 5 % noise, and the mean of many epochs at another place."""
    drawn = random.Random(7)
    inside, count = 0, 600
    for _ in range(count):
        a, b, c = drawn.uniform(300, 2000), drawn.uniform(0, 60), drawn.uniform(0, 8)
        at = [(1, 1), (1, 2), (1, 4), (2, 4), (2, 2)][: drawn.randint(1, 5)]
        measured = [(n, g, (a / (n * g) + b + c * (n - 1)) * math.exp(drawn.gauss(0, 0.05))) for n, g in at]
        nodes, gpus = drawn.choice([(1, 1), (1, 4), (2, 4), (1, 8)])
        span = epoch(rows(*measured), nodes, gpus).seconds
        real = (a / (nodes * gpus) + b + c * (nodes - 1)) * math.exp(drawn.gauss(0, 0.04))
        inside += span.low <= real <= span.high
    assert inside / count >= 0.85


@pytest.mark.parametrize("text", ["", "p", "p/x", "p/x:0x1", "p/x:1x0", "p/x:-1x1", "p/x:1x1x1", "p/x:99999999x1", "p /x:1x1"])
def test_what_is_no_allocation_is_refused(text):
    with pytest.raises(InputError):
        allocation(text)


def test_an_allocation_is_written_as_it_is_read():
    assert str(allocation("rocm/mi50:3x1")) == "rocm/mi50:3x1"
    assert allocation("rocm/mi50:3x2").total == 6
