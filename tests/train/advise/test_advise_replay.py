"""The queue replayed: held against a simulator of minutes, and rule by rule."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st
from queues_of_minutes import Task, started

from rigup.train.advise import replay
from rigup.train.advise.history import LIMITS, MEDIAN, TENTH, History
from rigup.train.advise.inputs import Cluster, Job, Node, Partition, Past, Reservation
from rigup.train.advise.replay import replayed
from rigup.train.advise.waiting import Mine, Queue, preemptible

NOW = 1_000_000_020.0
P = frozenset({"p"})


def node(name="n0", gpus=4, partitions=P, **more):
    return Node(name, partitions, {"a": gpus}, 64, 1000, **more)


def state(nodes, running=(), pending=(), **more):
    more.setdefault("partitions", {"p": Partition("p")})
    return Cluster(NOW, nodes, more.pop("partitions"), running, pending, **more)


def job(number, minutes=60, nodes=1, gpus=4, partition="p", **more):
    return Job(number, f"j{number}", (partition,), nodes, minutes * 60.0, "a", gpus, 1, 1, **more)


def runs(number, on, ends_in, minutes=600, **more):
    """A running job that ends at its limit in so many minutes."""
    return job(number, minutes, nodes=len(on), start=NOW - (minutes - ends_in) * 60, on=on, **more)


def mine(minutes=60, nodes=1, gpus=4, partition="p", pieces=(1.0,), priority=float("-inf")):
    return Mine(job(-1, minutes, nodes, gpus, partition)._replace(priority=priority), pieces)


def waits(cluster, *asked, quantile=LIMITS):
    queue = Queue(cluster, History(cluster.past), [asked[0].job.partitions[0]])
    return [None if found is None else [(start - NOW) / 60 for start in found] for found in replayed(queue, quantile, asked)]


RUNNING = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4), st.integers(1, 30), st.integers(1, 30)), max_size=6)
WAITING = st.lists(st.tuples(st.integers(1, 3), st.integers(1, 4), st.sampled_from((4, 8, 12, 20, 40))), min_size=1, max_size=6)


@settings(max_examples=120, deadline=None)
@given(RUNNING, WAITING, st.sampled_from((1.0, 0.5, 0.25)), st.one_of(st.none(), st.tuples(st.integers(1, 40), st.integers(1, 40))))
def test_starts_are_those_of_the_simulator(running, waiting, used, closed):
    """Limits alone (used 1.0), and jobs that use a part of their limit, which the scheduler does not know."""
    free, first = [4, 4, 4, 4], []
    for on, gpus, past, left in running:
        if free[on] >= gpus:
            free[on] -= gpus
            limit = (past + left) * 4  # so that every part of it is whole minutes
            start = -int(limit * used) + left
            if start <= 0 and int(limit * used) > 0:
                first.append(Task(1, gpus, limit, int(limit * used), start, (on,)))
            else:
                free[on] += gpus
    tasks = [Task(nodes, gpus, limit, max(1, int(limit * used))) for nodes, gpus, limit in waiting]
    spans = {} if closed is None else {0: (closed[0], closed[0] + closed[1])}
    expected = started([4, 4, 4, 4], first, tasks, spans)

    cluster = state(
        [node(f"n{n}") for n in range(4)],
        [job(n, t.limit, 1, t.gpus, start=NOW + t.start * 60, on=(f"n{t.on[0]}",)) for n, t in enumerate(first, 1)],
        [job(100 + n, t.limit, t.nodes, t.gpus) for n, t in enumerate(tasks[:-1])],
        reservations=[Reservation("r", NOW + a * 60, NOW + b * 60, frozenset({f"n{n}"})) for n, (a, b) in spans.items()],
        past=[] if used == 1.0 else [Past("p", used)] * 5,
    )
    last = tasks[-1]
    assert waits(cluster, mine(last.limit, last.nodes, last.gpus), quantile=MEDIAN) == [[float(expected[-1])]]


def test_an_idle_node_is_had_at_once_and_a_full_one_at_the_limit_of_its_job():
    assert waits(state([node()]), mine()) == [[0.0]]
    assert waits(state([node()], [runs(1, ("n0",), 30)]), mine()) == [[30.0]]


def test_a_small_job_fills_the_hole_before_a_large_one_and_a_long_one_does_not():
    cluster = state([node("n0"), node("n1")], [runs(1, ("n0",), 60)], [job(2, 100, nodes=2)])
    assert waits(cluster, mine(60), mine(61)) == [[0.0], [160.0]]


def test_priority_and_tier_go_before_order():
    full = [runs(1, ("n0",), 10)]
    assert waits(state([node()], full, [job(2, 50, priority=5)]), mine(priority=6)) == [[10.0]]
    assert waits(state([node()], full, [job(2, 50, priority=5)]), mine(priority=4)) == [[60.0]]
    tiers = {"p": Partition("p", tier=2), "low": Partition("low", tier=1)}
    shared = [node(partitions=frozenset(tiers))]
    cluster = state(shared, full, [job(2, 50, partition="low", priority=99)], partitions=tiers)
    assert waits(cluster, mine()) == [[10.0]]
    assert waits(cluster, mine(partition="low")) == [[60.0]]


def test_cpus_and_memory_stand_in_the_way_where_gpus_are_free():
    hungry = runs(1, ("n0",), 45)._replace(gpus=0, gpu="", memory=1000)
    assert waits(state([node()], [hungry]), mine()) == [[45.0]]
    assert waits(state([node()], [hungry._replace(memory=0, cpus=64)]), mine()) == [[45.0]]
    assert waits(state([node()], [hungry._replace(memory=10)]), mine()) == [[0.0]]


def test_a_reservation_is_waited_for_where_the_limit_reaches_into_it():
    cluster = state([node()], reservations=[Reservation("m", NOW + 3600, NOW + 7200, frozenset({"n0"}))])
    assert waits(cluster, mine(60), mine(61)) == [[0.0], [120.0]]


def test_begin_time_and_throttle():
    later = job(2, 30, begin=NOW + 600)
    assert waits(state([node()], pending=[later]), mine(10), mine(11)) == [[0.0], [40.0]]
    tasks = [job(10 + n, 30, gpus=1, array=10, throttle=1) for n in range(3)]
    assert waits(state([node(gpus=2)], pending=tasks), mine(10, gpus=2)) == [[90.0]]
    free = [task._replace(throttle=0) for task in tasks]
    assert waits(state([node(gpus=2)], pending=free), mine(10, gpus=2)) == [[60.0]]


def test_jobs_that_never_run_or_are_held_stand_in_nobody_s_way():
    reasons = ("PartitionTimeLimit", "BadConstraints", "InvalidQOS", "JobHeldUser", "JobHeldAdmin", "Dependency")
    for reason in reasons:
        assert waits(state([node()], pending=[job(2, 500, reason=reason)]), mine()) == [[0.0]], reason
    assert waits(state([node()], pending=[job(2, 500, reason="Priority")]), mine()) == [[500.0]]


TIERS = {"p": Partition("p", tier=10), "spare": Partition("spare", tier=1, preempted="REQUEUE", grace=120.0)}


def test_a_preemptible_job_is_waited_for_as_long_as_its_grace():
    shared = [node(partitions=frozenset(TIERS))]
    cluster = state(shared, [runs(1, ("n0",), 500, partition="spare")], partitions=TIERS)
    assert waits(cluster, mine()) == [[2.0]]
    assert waits(cluster, mine(partition="spare")) == [[500.0]]
    fixed = {**TIERS, "spare": TIERS["spare"]._replace(preempted="OFF")}
    assert waits(cluster._replace(partitions=fixed), mine()) == [[500.0]]
    known = cluster._replace(past=[Past("p", 0.9)] * 6)
    assert waits(known, mine(), quantile=MEDIAN) == [[2.0]]


def test_which_partitions_are_preemptible_depends_on_the_nodes_of_the_type():
    cluster = state([node(partitions=frozenset(TIERS)), Node("m", frozenset({"spare"}), {"b": 2}, 8, 8)], partitions=TIERS)
    assert preemptible(cluster, "spare", "a")
    assert not preemptible(cluster, "spare", "b")
    assert not preemptible(cluster, "p", "a")


def test_a_requeued_piece_queues_again():
    cluster = state([node()], pending=[])
    starts = waits(cluster, mine(60, pieces=(3000.0, 3000.0, 100.0)))[0]
    assert [round(start * 60) for start in starts] == [0, 3121, 6242]
    busy = state([node()], pending=[job(2, 30, begin=NOW + 6000)])
    assert [round(start * 60) for start in waits(busy, mine(60, pieces=(3000.0, 3000.0)))[0]] == [0, 7800]


def test_history_counts_the_jobs_that_ran_longer_than_this_one_already_has():
    history = History([Past("p", used / 10) for used in range(1, 10)])
    assert history.used("p", MEDIAN) == 0.5
    assert round(history.used("p", TENTH), 3) == 0.18
    assert history.used("p", MEDIAN, already=0.75) == (0.8 + 0.9) / 2
    assert history.used("p", MEDIAN, already=0.95) == 1.0
    assert History([]).used("p", MEDIAN) == 1.0
    few = History([Past("p", 0.1)] * 4 + [Past("q", 0.9)] * 5)
    assert few.used("p", MEDIAN) == 0.9


def test_a_long_queue_replayed_once_is_near_the_plan():
    """Of queues drawn at random: on the whole as long, and never longer than all jobs one after another."""
    drawn, exact, once = random.Random(3), [], []
    for _ in range(150):
        running = [runs(1 + on, (f"n{on}",), drawn.randint(5, 200)) for on in range(6) if drawn.random() < 0.8]
        pending = [
            job(100 + n, drawn.choice((60, 120, 240)), nodes := drawn.choice((1, 1, 1, 2, 4)), 4 if nodes > 1 else drawn.choice((1, 2, 4)))
            for n in range(drawn.randint(0, 40))
        ]
        queue = Queue(state([node(f"n{n}") for n in range(6)], running, pending), History([]), ["p"])
        asked = mine(60, drawn.randint(1, 4))
        exact.append((replayed(queue, LIMITS, [asked])[0][0] - NOW) / 60)
        once.append((replay.backlogged(queue, LIMITS, [asked], [queue.key(asked.job, 99)])[0][0] - NOW) / 60)
        assert 0 <= once[-1] <= 200 + sum(waiting.limit / 60 for waiting in pending)
        assert pending or once[-1] == exact[-1]
    assert 0.9 < sum(once) / sum(exact) < 1.15


def test_a_large_cluster_takes_the_short_way(monkeypatch):
    monkeypatch.setattr(replay, "MOST", 1)
    cluster = state([node("n0"), node("n1")], [runs(1, ("n0",), 60)], [job(2, 100, nodes=2)])
    assert waits(cluster, mine(60), mine(61), mine(60, nodes=2)) == [[0.0], [160.0], [160.0]]
    tiers = {"p": Partition("p", tier=10), "spare": Partition("spare", tier=1, preempted="REQUEUE", grace=120.0)}
    shared = state([node(partitions=frozenset(tiers))], [runs(1, ("n0",), 500, partition="spare")], partitions=tiers)
    assert waits(shared, mine()) == [[2.0]]
    assert waits(shared, mine(partition="spare")) == [[500.0]]
    kept = state([node()], reservations=[Reservation("m", NOW + 1800, NOW + 7200, frozenset({"n0"}))])
    assert waits(kept, mine(60)) == [[120.0]]
    assert waits(kept, mine(30)) == [[0.0]]
    assert waits(kept, mine(60, nodes=2)) == [None]
