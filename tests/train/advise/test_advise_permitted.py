"""What one may use of a cluster: associations, QOS, and who a partition is for."""

import pytest

from rigup.machine.slurm import values
from rigup.train.advise.inputs import Allocation, Cluster, Partition, Question, Work
from rigup.train.advise.never import never
from rigup.train.advise.permitted import You, permitted

YOU = You("ada", frozenset({"users"}))


def narrowed(limits=(), you=YOU, **partition):
    row = values.Partition(name="p", max_time=86_400, **partition)
    state = Cluster(0.0, [], {"p": Partition("p", max_time=86_400.0)}, [], [])
    return permitted(state, values.Dump(partitions=[row], limits=list(limits)), you).partitions["p"]


def association(account="a", **more):
    return values.Limit(kind="association", name=account, user="ada", **more)


def qos(name, **more):
    return values.Limit(kind="qos", name=name, **more)


def test_without_limits_a_partition_stays_as_wide_as_it_is():
    assert narrowed() == Partition("p", max_time=86_400.0)
    assert narrowed([association()]) == Partition("p", max_time=86_400)
    assert narrowed([values.Limit(kind="association", name="a", user="bob", max_wall=60)]).max_time == 86_400


def test_the_association_and_the_qos_that_allow_most_count():
    few = association("a", max_wall=3600, max_tres_per_job="node=2,gres/gpu=4")
    assert (narrowed([few]).max_time, narrowed([few]).max_nodes, narrowed([few]).max_gpus) == (3600, 2, 4)
    many = association("b", max_tres_per_job="gres/gpu:mi50=16", max_wall=7200)
    both = narrowed([few, many])
    assert (both.max_time, both.max_nodes, both.max_gpus) == (7200, None, 16)
    elsewhere = association("c", partition="q")
    assert narrowed([few, elsewhere]).max_gpus == 4


def test_a_qos_goes_before_the_association_and_the_partition_s_own_holds_for_all():
    mine = association(qos=("short", "long"), max_wall=100, max_tres_per_job="gres/gpu=2")
    rows = [mine, qos("short", max_wall=600), qos("long", max_wall=6000, max_tres_per_user="gres/gpu=8")]
    found = narrowed(rows)
    assert (found.max_time, found.max_gpus) == (6000, 8)
    assert narrowed(rows, deny_qos=("long",)).max_time == 600
    assert narrowed([*rows, qos("part", group_tres="gres/gpu=3,node=1")], qos="part").max_gpus == 3


@pytest.mark.parametrize(
    ("more", "barred"),
    [
        ({"allow_accounts": ("b",)}, True),
        ({"allow_accounts": ("a", "b")}, False),
        ({"deny_accounts": ("a",)}, True),
        ({"allow_groups": ("staff",)}, True),
        ({"allow_groups": ("users",)}, False),
        ({"root_only": True}, True),
    ],
)
def test_a_partition_that_is_for_others_says_so(more, barred):
    found = narrowed([association()], **more)
    assert bool(found.barred) == barred


def test_what_is_not_permitted_never_runs():
    nodes = [values.Node(name="n", partitions=("p",), cpus=8, gpus=(values.Gpus("a", 8),))]
    from rigup.train.advise.state import cluster

    dump = values.Dump(nodes=nodes, jobs=[], partitions=[values.Partition(name="p", allow_accounts=("b",))])
    for limits, reason in (([association("a")], "partition-limit"), ([association("b")], None)):
        dump.limits = limits
        question = Question(Work(1.0), [], {}, [], permitted(cluster(dump, 0.0), dump, YOU))
        found = never(question, Allocation("p", "a", 1, 2))
        assert (found and found.reason) == reason
    dump.limits = [association("b", max_tres_per_job="gres/gpu=1")]
    question = question._replace(cluster=permitted(cluster(dump, 0.0), dump, YOU))
    assert "at most 1 GPUs" in never(question, Allocation("p", "a", 1, 2)).because
    assert never(question, Allocation("p", "a", 1, 1)) is None
