"""Advice on clusters drawn at random, held against a simulator from end to end: what is first, what never runs, when it ends."""

import math

import msgspec
import pytest
from drawn_clusters import drawn, write
from drawn_judged import expected

from rigup.machine.local import Local
from rigup.schemas.advise import Advise
from rigup.train.advise.answer import advice
from rigup.train.advise.scenario import scenario

SEEDS = range(60)
WIDEST = 2.5

pytestmark = pytest.mark.slow  # what is drawn is judged once for all of them, which takes eight seconds


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """Each cluster's answer beside what the simulator says."""
    rows = []
    for seed in SEEDS:
        folder, of = tmp_path_factory.mktemp("drawn"), drawn(seed)
        write(folder, of, new=seed % 2 == 1)
        answer = msgspec.json.decode(msgspec.json.encode(advice(scenario(Local(), str(folder)))), type=Advise)
        rows.append((answer, expected(of, seed)))
    return rows


def near(value, other, share, least):
    return abs(value - other) <= max(share * abs(other), least)


def test_what_never_runs_and_why_is_right_in_every_one(judged):
    reasons = set()
    for answer, labels in judged:
        assert {row.allocation: row.reason for row in answer.never} == labels["never"]
        assert sorted(job.job for job in answer.poison) == labels["poison"]
        assert sorted(row.allocation for row in answer.allocations if row.preemptible) == labels["preemptible"]
        reasons |= set(labels["never"].values())
    assert len(reasons) >= 7  # else too little was drawn


def test_the_first_is_within_the_tie_of_the_best_and_the_flip_point_is_its(judged):
    best = flips = 0
    for answer, labels in judged:
        first = answer.allocations[0].allocation if answer.allocations else None
        best += first in labels["best"]
        assert answer.cheapest in labels["cheapest"]
        flip, other = answer.flip, labels["flip"]
        flips += (flip is None) == (other is None) and (
            flip is None or flip.first != other["first"] or near(flip.first_until_wait, other["first_until_wait"], 0.25, 300)
        )
    assert best >= 0.95 * len(judged)
    assert flips >= 0.9 * len(judged)


def test_the_end_is_where_the_simulator_has_it_and_the_interval_holds_what_really_happens(judged):
    near_likely, inside = [], []
    for answer, labels in judged:
        for row in answer.allocations:
            low, likely, high = labels["finish"][row.allocation]
            near_likely.append(near(row.finish.likely, likely, 0.15, 120))
            actual = labels["actual"][row.allocation]
            if math.isfinite(actual):
                bound = row.allocation in labels["bound"]
                inside.append((bound or row.finish.low - 60 <= actual) and actual <= row.finish.high + 60)
            if near_likely[-1] and not row.preemptible:
                assert row.finish.high / max(60, row.finish.low) <= max(WIDEST, 1.5 * high / max(60, low))
    assert sum(near_likely) >= 0.95 * len(near_likely)
    assert sum(inside) >= 0.85 * len(inside)
