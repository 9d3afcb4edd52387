"""What the answer promises, sentence by sentence: units, the order of reasons, limits, bounds, ties, flips and advice to measure."""

import math

import pytest
from msgspec.structs import replace

from rigup.train.advise.answer import advice
from rigup.train.advise.inputs import (
    DAY,
    Allocation,
    Cluster,
    Device,
    Job,
    Node,
    Partition,
    Past,
    Question,
    Rate,
    Reservation,
    Second,
    Work,
)

NOW = 1_000_000.0
GIB = 1 << 30


def nodes(count=4, kind="a", partition="p", **more):
    row = {"gpus": {kind: 4}, "cpus": 32, "memory": 64 * 1024} | more
    return [
        Node(f"{partition}{kind}{n}", frozenset({partition}), row["gpus"], row["cpus"], row["memory"], row.get("up", True))
        for n in range(count)
    ]


def busy(node, left, number=1, limit=None, partition="p"):
    limit = limit or left
    return Job(number, "j", (partition,), 1, float(limit), "a", 4, 1, 1, start=NOW - limit + left, on=(node,))


def asked(*wanted, work=None, rates=None, at=None, devices=None, second=(), **cluster):
    at = nodes() if at is None else at
    cluster.setdefault("partitions", {"p": Partition("p", max_time=10 * DAY)})
    state = Cluster(NOW, at, cluster.pop("partitions"), cluster.pop("running", []), cluster.pop("pending", []), **cluster)
    rates = [Rate("a", 1, 1, (100.0,))] if rates is None else rates
    allocations = [Allocation(*shape) if isinstance(shape, tuple) else shape for shape in wanted]
    return advice(Question(work or Work(36.0, 60.0), allocations, devices or {}, rates, state, second))


ONE = ("p", "a", 1, 1)


def test_the_first_reason_in_the_contract_s_order_is_told():
    """Everything is wrong at once; each time the first wrong is mended, and the next comes up."""
    work = Work(36.0, 60.0, gpu_memory=20 * GIB, host_memory_per_gpu=100 * GIB)
    part = Partition("p", up=False, state="DOWN", max_nodes=1, max_time=600.0)
    device = Device("a", memory=16 * GIB, works=False, because="no build")
    kept = [Reservation("r", NOW - 1, NOW + 31 * DAY, frozenset({"pa0", "pa1", "pa2"}))]
    state = {"partitions": {}, "at": nodes(1, up=False), "devices": {"a": device}, "rates": [], "work": work}
    state |= {"reservations": kept}
    steps = [
        ("no-such-partition", {"partitions": {"p": part}}),
        ("no-such-nodes", {"at": nodes(3, up=False)}),
        ("partition-down", {"partitions": {"p": part._replace(up=True)}}),
        ("partition-limit", {"partitions": {"p": part._replace(up=True, max_nodes=2)}}),
        ("no-build", {"devices": {"a": replace(device, works=True)}}),
        ("gpu-memory", {"devices": {"a": Device("a", memory=20 * GIB)}}),
        ("host-memory", {"work": replace(work, host_memory_per_gpu=64 * GIB)}),
        ("nodes-down", {"at": nodes(3)}),
        ("reserved", {"reservations": [kept[0]._replace(end=NOW + 29 * DAY)]}),
        ("no-rate", {"rates": [Rate("a", 1, 1, (100.0,))]}),
        ("time-limit", {"work": replace(work, host_memory_per_gpu=None, epochs=1.0)}),
    ]
    for reason, mended in steps:
        answer = asked(("p", "a", 2, 1), **state)
        assert [row.reason for row in answer.never] == [reason]
        assert answer.best == []
        assert answer.flip is answer.cheapest is answer.next_measurement is None
        state |= mended
    assert asked(("p", "a", 2, 1), **state).never == []


def test_asked_is_a_fifth_more_than_the_longest_run_in_whole_minutes_and_at_most_the_partition_s():
    (advised,) = asked(ONE).allocations
    assert advised.asked == math.ceil(1.2 * (60 + 36 * advised.epoch.high) / 60 - 1e-2) * 60
    (advised,) = asked(ONE, partitions={"p": Partition("p", max_time=4000.0)}).allocations
    assert advised.asked == 4000
    assert "time-limit" in advised.risks  # its longest run is longer
    (advised,) = asked(ONE, work=Work(36.0, 60.0, time_limit=7200.0)).allocations
    assert advised.asked == 7200


def test_times_are_seconds_from_now_and_cost_counts_hours_of_gpus():
    devices = {"a": Device("a", weight=0.25)}
    (advised,) = asked(("p", "a", 2, 2), rates=[Rate("a", 2, 2, (100.0,))], devices=devices).allocations
    assert (advised.epoch.source, advised.epoch.likely, advised.run.likely) == ("measured", 100.0, 3660.0)
    assert advised.wait.likely == 0
    assert advised.finish.likely == advised.run.likely
    assert advised.gpu_hours == pytest.approx(4 * 3660 / 3600, abs=0.001)
    assert advised.cost == pytest.approx(advised.gpu_hours / 4, abs=0.001)


def test_a_wait_is_a_bound_without_history_and_an_interval_with_it():
    full = [busy(f"pa{n}", 7200, n + 1, 14_400) for n in range(4)]
    (advised,) = asked(ONE, running=full).allocations
    assert (advised.wait.low, advised.wait.likely, advised.wait.high, advised.wait.bound) == (7200, 7200, 7200, True)
    past = [Past("p", used / 10) for used in range(1, 11)]
    (advised,) = asked(ONE, running=full, past=past).allocations
    assert not advised.wait.bound
    assert advised.wait.low < advised.wait.likely < advised.wait.high == 7200
    assert advised.wait.likely == pytest.approx((0.8 - 0.5) * 14_400, abs=1)  # median of those that ran longer than half


def two_kinds(other_seconds, wait, **more):
    at = nodes() + nodes(kind="b", partition="q")
    parts = {"p": Partition("p", max_time=10 * DAY), "q": Partition("q", max_time=10 * DAY)}
    rates = [Rate("a", 1, 1, (100.0,) * 3), Rate("b", 1, 1, (other_seconds,) * 3)]
    full = [busy(f"pa{n}", wait, n + 1) for n in range(4)] if wait else []
    return asked(ONE, ("q", "b", 1, 1), at=at, partitions=parts, rates=rates, running=full, **more)


def test_the_flip_point_is_where_both_end_at_the_same_time():
    answer = two_kinds(300.0, 3600)
    first, other = answer.allocations
    assert (first.partition, answer.flip.other) == ("p", "q/b:1x1")
    assert answer.flip.first_until_wait == round(other.finish.likely - first.run.likely)
    assert answer.flip.other_if_wait_under is None  # it does not wait already, and is later
    answer = two_kinds(300.0, 36_000)
    assert answer.allocations[0].partition == "q"
    assert answer.flip.other_if_wait_under == round(answer.allocations[0].finish.likely - answer.allocations[1].run.likely)
    assert asked(ONE, ("p", "a", 2, 1)).flip is None  # another number of the same is no other choice


def test_what_overlaps_the_first_is_a_tie_and_the_least_certain_of_them_is_measured_next():
    answer = two_kinds(103.0, 0)
    assert answer.ties == [answer.best] == [["p/a:1x1", "q/b:1x1"]]
    assert answer.next_measurement.allocation in answer.best
    assert answer.next_measurement.minutes >= 1
    distinct = two_kinds(300.0, 0)
    assert (distinct.best, distinct.ties, distinct.next_measurement) == (["p/a:1x1"], [], None)


def test_the_cheapest_is_not_always_the_first():
    rates = [Rate("a", n, 1, (100.0 / n + 20,)) for n in (1, 2, 4)]
    answer = asked(ONE, ("p", "a", 4, 1), rates=rates)
    assert answer.best[0] == "p/a:4x1"
    assert answer.cheapest == "p/a:1x1"


def test_requeued_pieces_end_before_the_limit_and_wait_two_minutes():
    work = Work(36.0, 60.0, requeue=True, checkpoint=40.0)
    (advised,) = asked(ONE, work=work, partitions={"p": Partition("p", max_time=1800.0)}).allocations
    held = 1800 - 60 - 40
    assert advised.pieces == math.ceil(3600 / (held - 60)) == 3
    assert advised.run.likely == 3600 + 3 * 60
    assert advised.finish.likely == advised.run.likely + 2 * 121
    assert "time-limit" in advised.risks


def test_risks_are_named_and_a_preemption_is_in_the_worst_case():
    shared = [node._replace(partitions=frozenset({"p", "owners"})) for node in nodes()]
    parts = {"p": Partition("p", tier=1, preempted="REQUEUE"), "owners": Partition("owners", tier=2)}
    kept = [Reservation("m", NOW + DAY, NOW + 2 * DAY, frozenset({"pa0"}))]
    answer = asked(("p", "a", 2, 1), at=shared, partitions=parts, reservations=kept, rates=[Rate("a", 1, 1, (100.0,), "catalogue")])
    (advised,) = answer.allocations
    assert set(advised.risks) == {"preemption", "extrapolated", "catalogue-rate", "maintenance"}
    assert answer.best == []
    assert advised.preemptible
    assert advised.finish.high == pytest.approx(2 * advised.run.high + 121, abs=1)
    work = Work(36.0, 60.0, checkpoint_every=300.0, accept_preemption=True)
    answer = asked(("p", "a", 2, 1), work=work, at=shared, partitions=parts)
    assert answer.best == ["p/a:2x1"]
    assert answer.allocations[0].finish.high == pytest.approx(answer.allocations[0].run.high + 121 + 360, abs=1)


def test_the_second_opinion_stands_beside_the_replay_and_poison_is_named_once_by_its_array():
    stuck = Job(7_000_000, "x", ("p",), 1, 9e5, "a", 1, 1, 1, reason="PartitionTimeLimit", array=7)
    later = Second("p/a:1x1", NOW + 20_000, "")
    refused = Second("p/a:1x8", None, "no such nodes")
    answer = asked(ONE, pending=[stuck, stuck._replace(id=7_000_001)], second=[later, refused])
    assert [(job.job, job.reason) for job in answer.poison] == [(7, "PartitionTimeLimit")]
    first, second = answer.second_opinion
    assert (first.says, first.replay) == (20_000, 0)
    assert (second.says, second.replay, second.because) == (None, None, "no such nodes")


def test_a_gain_better_than_linear_is_not_promised_and_a_data_sheet_is_wide():
    rates = [Rate("a", 1, 1, (1037.0,)), Rate("a", 2, 1, (515.0,)), Rate("a", 3, 1, (323.0,))]
    rows = {advised.nodes: advised.epoch.likely for advised in asked(*(("p", "a", n, 1) for n in (1, 2, 4)), rates=rates).allocations}
    assert rows[2] >= rows[1] / 2 - 0.1
    assert rows[4] >= rows[2] / 2 - 0.1
    (advised,) = asked(ONE, rates=[Rate("a", 1, 1, (100.0,), "catalogue")]).allocations
    assert advised.epoch.high == pytest.approx(100 * math.exp(1.2816 * 0.35 * math.sqrt(2)), rel=0.2)
    assert "catalogue-rate" in advised.risks
