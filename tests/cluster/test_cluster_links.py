"""By what nodes reach each other: what is worse than on the sisters is told, and what the variables of NCCL select."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as some

from rigup.cli.cluster_doctor_report import doctor_text
from rigup.cluster.links import NodeLinks, Way, differences, links_of, selected, shared
from rigup.machine import readers  # noqa: F401  (registers them)
from rigup.machine.look import look
from rigup.machine.sources import open_source
from rigup.schemas.doctor import Doctor
from rigup.schemas.machine import Machine

NDR, EDR = "400 Gb/sec (4X NDR)", "100 Gb/sec (4X EDR)"
ETHERNET = Way(up=True, link="ethernet", speed=25_000, rate="25 Gb/s")
IPOIB = Way(up=True, link="infiniband")
PORT = Way(up=True, link="infiniband", speed=400_000, rate=NDR)


@pytest.fixture
def seen(tmp_path):
    """What a node's tree of files tells of its links."""

    def of(files, **variables):
        files = {"proc/sys/kernel/osrelease": "5.14.0\n"} | files
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        for folder in ("sys/class/net/eth0/device", "sys/class/net/bond0/bonding"):
            if any(path.startswith(folder.rpartition("/")[0]) for path in files):
                (tmp_path / folder).mkdir()
        (tmp_path / "who.json").write_text(json.dumps({"environment": variables}))
        facts = look(open_source(str(tmp_path)))
        assert facts.troubles == []
        return links_of(facts)

    return of


def port(device, number=1, state="4: ACTIVE", rate=NDR, link="InfiniBand"):
    folder = f"sys/class/infiniband/{device}/ports/{number}/"
    return {folder + "state": state + "\n", folder + "rate": rate + "\n", folder + "link_layer": link + "\n"}


def interface(name, state="up", kind="1", speed=""):
    folder = f"sys/class/net/{name}/"
    values = {"operstate": state, "type": kind} | ({"speed": speed} if speed else {})
    return {folder + file: value + "\n" for file, value in values.items()}


def test_adapters_and_interfaces_of_a_tree(seen):
    files = (
        port("mlx5_0")
        | port("mlx5_1", state="1: DOWN", rate="10 Gb/sec (4X SDR)")
        | port("mlx5_bond_0", link="Ethernet", rate="200 Gb/sec (2X NDR)")
    )
    files |= interface("eth0", speed="25000") | interface("bond0", "down", speed="-1") | interface("ib0", kind="32")
    files |= interface("docker0") | interface("lo", "unknown", "772") | {"sys/module/nvidia_peermem/version": "535\n"}
    node = seen(files, NCCL_SOCKET_IFNAME="ib0", NCCL_DEBUG="INFO")
    assert node.ports == {
        "mlx5_0:1": PORT,
        "mlx5_1:1": Way(up=False, link="infiniband", speed=10_000, rate="10 Gb/sec (4X SDR)"),
        "mlx5_bond_0:1": Way(up=True, link="ethernet", speed=200_000, rate="200 Gb/sec (2X NDR)"),
    }
    assert node.interfaces == {"eth0": ETHERNET, "bond0": Way(up=False, link="ethernet"), "ib0": IPOIB}
    assert (node.memory_of, node.variables) == (("nvidia-peermem",), {"NCCL_SOCKET_IFNAME": "ib0"})


def test_settings_of_nccl_hold_in_their_order(seen):
    files = {"etc/nccl.conf": "# all\nNCCL_SOCKET_IFNAME=eth\nNCCL_IB_HCA = mlx5_0 # the first\nNCCL_DEBUG=WARN\n"}
    assert seen(files).variables == {"NCCL_SOCKET_IFNAME": "eth", "NCCL_IB_HCA": "mlx5_0"}
    home = {"home/ada/.nccl.conf": "NCCL_SOCKET_IFNAME=ib0\nNCCL_IB_HCA=mlx5_1\n"}
    variables = {"HOME": "/home/ada", "NCCL_IB_HCA": "mlx5_2"}
    assert seen(files | home, **variables).variables == {"NCCL_SOCKET_IFNAME": "ib0", "NCCL_IB_HCA": "mlx5_2"}


def test_an_amd_node_and_one_without_any_network(seen):
    assert seen({"sys/kernel/mm/memory_peers/amdkfd/version": "1.0\n"}).memory_of == ("amdkfd",)


def test_a_machine_without_a_network(seen):
    assert seen({}) == NodeLinks({}, {})


@pytest.mark.parametrize(
    ("value", "names", "wanted"),
    [
        ("eth", ["eth0", "eth1", "ib0"], ["eth0", "eth1"]),
        ("=eth", ["eth0"], []),
        ("=eth0,ib0", ["eth0", "eth01", "ib0"], ["eth0", "ib0"]),
        ("^docker,lo", ["eth0", "docker0", "lo"], ["eth0"]),
        ("^=eth0", ["eth0", "eth01"], ["eth01"]),
        ("mlx5_1", ["mlx5_1:1", "mlx5_10:1", "mlx5_2:1"], ["mlx5_1:1", "mlx5_10:1"]),
        ("=mlx5_1:2", ["mlx5_1:1", "mlx5_1:2"], ["mlx5_1:2"]),
        ("", ["eth0"], []),
    ],
)
def test_a_value_selects_as_nccl_does(value, names, wanted):
    assert selected(value, names) == wanted


def nodes(**changed):
    """Six nodes alike, and what is changed by name: fields of the node."""
    usual = NodeLinks({"eth0": ETHERNET, "ib0": IPOIB}, {"mlx5_0:1": PORT, "mlx5_1:1": PORT}, ("amdkfd",))
    return {name: usual._replace(**changed.get(name, {})) for name in (f"n{at}" for at in range(1, 7))}


def told(members):
    return {name: [tuple(row) for row in rows] for name, rows in differences(members, [members]).items()}


def test_of_nodes_alike_nothing_is_told():
    assert told(nodes()) == {}
    assert told({"n1": NodeLinks({"eth0": ETHERNET}, {})}) == {}


def test_each_difference_is_told_of_its_own_node():
    slow, down = PORT._replace(speed=100_000, rate=EDR), PORT._replace(up=False)
    members = nodes(
        n1={"ports": {"mlx5_0:1": PORT, "mlx5_1:1": slow}},
        n2={"ports": {"mlx5_0:1": down, "mlx5_1:1": PORT}},
        n3={"ports": {"mlx5_0:1": PORT}},
        n4={"interfaces": {"eth0": ETHERNET}},
        n5={"memory_of": ()},
    )
    usual = f"up, infiniband, {NDR}"
    assert told(members) == {
        "n1": [("RDMA port mlx5_1:1", f"up, infiniband, {EDR}", usual)],
        "n2": [("RDMA port mlx5_0:1", f"down, infiniband, {NDR}", usual)],
        "n3": [("RDMA port mlx5_1:1", None, usual)],
        "n4": [("network ib0", None, "up, infiniband")],
        "n5": [("GPU memory for RDMA amdkfd", None, "there")],
    }


def test_what_is_not_connected_on_most_is_nobody_s_difference():
    down = {"eth1": ETHERNET._replace(up=False)}
    members = nodes(**{f"n{at}": {"interfaces": down} for at in range(1, 6)}, n6={"interfaces": {"eth1": ETHERNET}})
    assert told(members) == {}


def test_a_variable_that_selects_nothing_that_is_up():
    wish = {"variables": {"NCCL_IB_HCA": "=mlx5_1", "NCCL_SOCKET_IFNAME": "ib"}}
    members = nodes(**{f"n{at}": wish for at in range(1, 7)})
    assert told(members) == {}
    members["n2"] = members["n2"]._replace(ports={"mlx5_0:1": PORT, "mlx5_1:1": PORT._replace(up=False)})
    assert ("NCCL_IB_HCA==mlx5_1", "selects nothing that is up", "mlx5_1:1") in told(members)["n2"]
    off = {"variables": {"NCCL_IB_HCA": "=mlx5_9", "NCCL_IB_DISABLE": "1"}}
    assert told(nodes(**{f"n{at}": off for at in range(1, 7)})) == {}


def test_the_ways_that_all_share_and_the_variables_that_lead_there():
    members = nodes(n4={"interfaces": {"eth0": ETHERNET, "ib1": IPOIB}})
    roce = PORT._replace(link="ethernet", speed=200_000, rate="200 Gb/sec (2X NDR)")
    members = {name: node._replace(ports=dict(node.ports) | {"mlx5_bond_0:1": roce}) for name, node in members.items()}
    (found,) = shared(members, [members])
    assert (found.nodes, found.count, found.memory_of) == (["n[1-6]"], 6, ["amdkfd"])
    assert [row.name for row in found.interfaces] == ["eth0"]
    assert (found.socket, found.hca) == ("=eth0", "=mlx5_0:1,mlx5_1:1")
    text = doctor_text(answer([found]))
    assert "RoCE 200 Gb/sec (2X NDR) (mlx5_bond_0:1)" in " ".join(text.split())
    assert 'NCCL_SOCKET_IFNAME="=eth0" NCCL_IB_HCA="=mlx5_0:1,mlx5_1:1"' in " ".join(text.split())


def test_nodes_that_share_no_interface():
    members = {"a": NodeLinks({"eth0": ETHERNET}, {}), "b": NodeLinks({"eno1": ETHERNET}, {})}
    (found,) = shared(members, [members])
    assert "can name none" in " ".join(doctor_text(answer([found])).split())
    assert shared({"a": NodeLinks({}, {}), "b": NodeLinks({}, {})}, [["a", "b"]]) == []


def answer(links):
    return Doctor(
        verdict="healthy",
        machine=Machine(displays=[], drivers=[]),
        failed_verifications=[],
        findings=[],
        skipped=[],
        unexplained=[],
        unexplained_said=[],
        near=[],
        troubles=[],
        unanswered=[],
        groups=[],
        not_asked=[],
        links=links,
    )


WAYS = some.dictionaries(
    some.text(max_size=6),
    some.builds(Way, some.booleans(), some.sampled_from(["ethernet", "infiniband", ""]), some.integers(0, 9), some.just("")),
    max_size=3,
)
NODES = some.dictionaries(
    some.text("ab", min_size=1, max_size=2),
    some.builds(
        NodeLinks,
        WAYS,
        WAYS,
        some.just(()),
        some.dictionaries(some.sampled_from(["NCCL_SOCKET_IFNAME", "NCCL_IB_HCA"]), some.text(max_size=8)),
    ),
    max_size=6,
)


@given(NODES)
def test_fewer_than_half_are_blamed_and_what_is_shared_is_up_on_all(members):
    found = differences(members, [members])
    subjects = [row.fact for rows in found.values() for row in rows if row.fact.startswith(("network", "RDMA"))]
    assert all(subjects.count(fact) * 2 < len(members) for fact in subjects)
    for row in shared(members, [members]):
        assert all(node.interfaces[way.name].up for way in row.interfaces for node in members.values())
        assert all(node.ports[way.name].up for way in row.ports for node in members.values())
