"""What is judged where nobody names allocations: of each partition and type some, whole nodes first, and how many more there are."""

from rigup.train.advise.inputs import Cluster, Node, Partition, Work
from rigup.train.advise.live import MOST_CANDIDATES, candidates

WORK = Work(1, 0)


def state(partitions, kinds, gpus=4, nodes=3, **limits):
    """Every partition has nodes of each type."""
    members = [
        Node(f"{name}{kind}{at}", frozenset([name]), {kind: gpus}, 64, 256_000, True)
        for name in partitions
        for kind in kinds
        for at in range(nodes)
    ]
    return Cluster(0.0, members, {name: Partition(name, max_time=86_400.0, **limits) for name in partitions}, [], [])


def test_a_small_cluster_is_judged_whole():
    found, more = candidates(state(["p"], ["a100"]), WORK, {"a100"})
    assert [(option.nodes, option.gpus) for option in found] == [(1, 1), (1, 4), (2, 4), (3, 4), (1, 2), (2, 1), (3, 1)]
    assert more == 0


def test_of_many_partitions_each_is_judged():
    names = [f"p{at:02}" for at in range(20)]
    found, more = candidates(state(names, ["a100", "h100"]), WORK, {"a100"})
    assert len(found) == MOST_CANDIDATES
    assert more == 20 * 7 - MOST_CANDIDATES
    assert {option.partition for option in found} == set(names)
    assert {option.device for option in found} == {"a100"}
    assert {(option.nodes, option.gpus) for option in found} >= {(1, 1), (1, 4), (2, 4)}


def test_limits_of_a_partition_and_types_without_a_rate_are_left_out():
    assert candidates(state(["p"], ["a100"], max_nodes=1), WORK, {"a100"})[1] == 0
    assert all(option.nodes == 1 for option in candidates(state(["p"], ["a100"], max_nodes=1), WORK, {"a100"})[0])
    assert candidates(state(["p"], ["a100"]), WORK, {"mi50"}) == ([], 0)
    assert candidates(state(["p"], ["a100"], barred="not yours"), WORK, {"a100"}) == ([], 0)
