"""Which interfaces ranks are told to speak through."""

from rigup.machine.kinds import Variable


def told(pasted, text):
    return [(one.name, one.value) for one in pasted(text).of(Variable)]


def test_interfaces_of_ranks_are_read_from_bare_and_exported_lines(pasted):
    assert told(pasted, "NCCL_SOCKET_IFNAME=^docker0\n") == [("NCCL_SOCKET_IFNAME", "^docker0")]
    assert told(pasted, "export GLOO_SOCKET_IFNAME=eth0\n") == [("GLOO_SOCKET_IFNAME", "eth0")]
    assert told(pasted, "NCCL_SOCKET_IFNAME==ib0 ./all_reduce_perf\n") == [("NCCL_SOCKET_IFNAME", "=ib0")]


def test_a_name_that_is_only_used_sets_nothing(pasted):
    assert told(pasted, "ping $NCCL_SOCKET_IFNAME=eth0\n") == []
    assert told(pasted, "NCCL_SOCKET_IFNAME=\n") == []
