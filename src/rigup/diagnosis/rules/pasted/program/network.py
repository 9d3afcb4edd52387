"""Ranks that do not reach each other: interfaces, routes, and cards that may not talk."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.pasted.heard import NCCL_SYSTEM
from rigup.machine.kinds import Symptom, Variable

_HINDERED = 0.5  # of the way by the processor, which the direct way should beat
_KNOWN_ROUTE = ("nccl-no-route", "nccl-connection-refused", "peer-timed-out", "nccl-uses-inner-interfaces")


# -- multinode-wrong-interface
@rule("multinode-wrong-interface", "likely")
def inner_interfaces_among_all_and_an_error(
    used: Symptom = seen("nccl-uses-inner-interfaces"), _failed: Symptom = seen(*NCCL_SYSTEM, "nccl-connection-refused", "nccl-refused-in-words", "nccl-collective-timeout", "peer-timed-out"),
) -> Verdict:  # fmt: skip
    """NCCL takes the bridges of containers for ways to other nodes."""
    return {"address": used.get("address")}


@rule("multinode-wrong-interface", "possible")
def several_nodes_and_a_system_error(
    _error: Symptom = seen(*NCCL_SYSTEM), _nodes: Symptom = seen("several-nodes-told", "two-computers-told"),
    route: Symptom | None = seen("nccl-no-route", "peer-timed-out", "nccl-connection-refused", "nccl-uses-inner-interfaces"),
) -> Verdict:  # fmt: skip
    """Between nodes what fails is mostly a socket; which one its log would tell."""
    return route is None


@rule("multinode-wrong-interface", "possible")
def gloo_meets_nobody(
    _failed: Symptom = seen("gloo-mesh-failed"),
    known: Symptom | None = seen("gloo-no-route", "gloo-falls-back-to-loopback", "gloo-connects-to-itself", "gloo-host-of-another-address", "nccl-no-route"),
) -> Verdict:  # fmt: skip
    """Its message tells no reason; mostly a host's own name leads to an address that others cannot reach."""
    return known is None


@rule("multinode-wrong-interface", "likely")
def own_name_leads_to_loopback(
    _back: Symptom = seen("gloo-falls-back-to-loopback"), _failed: Symptom = seen("gloo-mesh-failed-plain")
) -> Verdict:
    """The host's own name leads nowhere, Gloo takes the loopback instead, and meets nobody."""
    return True


@rule("multinode-wrong-interface", "likely")
def inner_interface_and_a_closed_connection(
    used: Symptom = seen("nccl-uses-inner-interfaces", "nccl-uses-bridge"),
    _closed: Symptom = seen("nccl-peer-closed", "nccl-warns"),
) -> Verdict:
    """NCCL takes the bridge of containers for the way to other nodes, and the connection ends."""
    return {"address": used.get("address")}


@rule("multinode-wrong-interface", "likely")
def each_node_meets_at_its_own_loopback(
    _at: Symptom = seen("several-nodes-meet-at-the-loopback"), _late: Symptom = seen("elastic-rendezvous-timed-out", "rendezvous-timed-out", "some-clients-joined", "one-client-joined"),
) -> Verdict:  # fmt: skip
    """Several nodes are told to meet at `localhost`, which is another place on each, and the meeting times out."""
    return True


@rule("multinode-wrong-interface", "likely")
def peer_is_sought_at_ones_own_loopback(
    _refused: Symptom = seen("several-nodes-meet-at-their-own-name"), _nodes: Symptom = seen("several-nodes-told", "two-computers-told")
) -> Verdict:  # fmt: skip
    """A rank of several nodes looks for the first one at `localhost`, where nobody listens."""
    return True


@rule("multinode-wrong-interface", "possible")
def others_are_told_a_name_that_is_a_loopback_here(
    _hosts: Symptom = seen("own-name-is-a-loopback-address"),
    _late: Symptom = seen("elastic-rendezvous-timed-out", "rendezvous-timed-out", "some-clients-joined", "one-client-joined", "gloo-mesh-failed", "store-did-not-answer", "rank-zero-does-not-answer"),
) -> Verdict:  # fmt: skip
    """Debian gives a host's own name to 127.0.1.1; ranks are told to meet at that name, and do not."""
    return True


@rule("multinode-wrong-interface", "possible")
def ranks_meet_by_a_tunnel(_said: Symptom = seen("nccl-uses-a-tunnel"), made: Symptom | None = seen("nccl-is-made")) -> Verdict:  # fmt: skip
    """NCCL takes a tunnel's interface first, and no communicator comes about."""
    return made is None


@rule("multinode-wrong-interface", "likely")
def what_is_to_be_avoided_leaves_loopback(
    used: Symptom = seen("nccl-uses-loopback"), wish: Variable = one(name="NCCL_SOCKET_IFNAME"), made: Symptom | None = seen("nccl-is-made")
) -> Verdict:  # fmt: skip
    """NCCL passes loopback by of itself; who names what is to be avoided has to name it, too."""
    avoided = str(wish.value).removeprefix("^").split(",") if str(wish.value).startswith("^") else ["lo"]
    return made is None and not any("lo".startswith(name) for name in avoided) and {"address": used.get("address")}


@rule("multinode-wrong-interface", "possible")
def proxy_on_another_host_does_not_answer(
    _said: Symptom = seen("nccl-proxy-does-not-connect"), _hosts: Symptom = seen("ray-names-two-hosts", "several-nodes-told", "two-computers-told"),
    known: Symptom | None = seen(*_KNOWN_ROUTE),
) -> Verdict:  # fmt: skip
    """A rank's helper is asked for a way to another host and finds none; the log of NCCL would tell which interface it took."""
    return known is None


# -- multinode-no-route
@rule("multinode-no-route", "likely")
def launcher_does_not_reach_a_node(
    said: Symptom = seen("launcher-finds-no-route"),
    _launcher: Symptom = seen(
        "launcher-starts-on-nodes", "launcher-daemons-not-started", "launcher-pdsh", "launcher-horovod"
    ),
) -> Verdict:
    """What starts the ranks on other nodes does not reach one."""
    return {"address": said.address}


@rule("multinode-no-route", "likely")
def head_is_not_reached(
    _said: Symptom = seen("ray-head-not-reached", "store-did-not-answer", "rank-zero-does-not-answer", "gloo-mesh-failed-plain", "rendezvous-timed-out", "some-clients-joined", "one-client-joined"),
    why: Symptom = seen("probe-has-no-route", "ping-unreachable", "firewall-blocks-a-port"),
) -> Verdict:  # fmt: skip
    """Ranks do not meet, and a probe of the network, or a firewall's log, tells why."""
    return {"why": why.id}


@rule("multinode-no-route", "likely")
def probe_fails_between_nodes(
    why: Symptom = seen("probe-has-no-route", "firewall-blocks-a-port"),
    _nodes: Symptom = seen("several-nodes-told", "two-computers-told", "ray-names-two-hosts", "launcher-starts-on-nodes", "rpc-server-not-reached"),
    made: Symptom | None = seen("nccl-is-made"),
) -> Verdict:  # fmt: skip
    """Somebody with several nodes tries one's port, and no packet comes there."""
    return made is None and {"why": why.id}


# -- nccl-p2p-blocked-by-acs-iommu
@rule("nccl-p2p-blocked-by-acs-iommu", "likely")
def memory_unit_refuses_a_card(
    _fault: Symptom = seen("iommu-page-fault", "dmar-fault"), off: Variable | None = one(name="NCCL_P2P_DISABLE", value="1"), warned: Symptom | None = seen("nccl-warns", "rccl-misses-passthrough"),
) -> Verdict:  # fmt: skip
    """The memory unit between cards refuses one, while they speak to each other."""
    return off is not None or warned is not None


@rule("nccl-p2p-blocked-by-acs-iommu", "likely")
def copies_between_cards_arrive_wrong(_wrong: Symptom = seen("p2p-data-wrong")) -> Verdict:
    """CUDA's own sample finds other data on the second card than the first one sent."""
    return True


@rule("nccl-p2p-blocked-by-acs-iommu", "likely")
def cards_speak_and_the_memory_unit_refuses(
    _fault: Symptom = seen("iommu-page-fault", "dmar-fault"),
    _way: Symptom = seen("nccl-goes-by-p2p", "nccl-p2p-off-between"),
) -> Verdict:
    """NCCL takes the way between the cards, and the memory unit refuses one."""
    return True


@rule("nccl-p2p-blocked-by-acs-iommu", "likely")
def works_without_the_way_between(
    _works: Symptom = seen("runs-with-p2p-off"),
    why: Symptom = seen("acs-is-on", "acs-is-on-by-a-switchs-register", "iommu-translates", "iommu-page-fault"),
) -> Verdict:
    """With that way off it works, and ACS or the memory unit is on."""
    return {"why": why.id}


@rule("nccl-p2p-blocked-by-acs-iommu", "possible")
def register_of_the_bridges_was_asked(
    said: Symptom = seen("acs-is-on", "acs-is-on-by-a-switchs-register"), direct: Symptom | None = seen("nccl-goes-by-p2p"),
) -> Verdict:  # fmt: skip
    """Nobody asks a bridge's register for its own sake; that it is on alone does not tell that it was in the way."""
    return direct is None and {"why": said.id}


@rule("nccl-p2p-blocked-by-acs-iommu", "likely")
def direct_way_is_slower_than_the_detour(said: Symptom = seen("bandwidth-between-cards-measured")) -> Verdict:
    """Copies between two cards are slower by the direct way than by memory."""
    on, off = (float(part) if part.count(".") < 2 else 0.0 for part in (said.on, said.off))
    return 0 < on < _HINDERED * off


@rule("nccl-p2p-blocked-by-acs-iommu", "likely")
def workers_wait_and_rccl_names_the_iommu(
    said: Symptom = seen("rccl-misses-passthrough"), hang: Symptom = seen("workers-wait-for-each-other", "rank-zero-does-not-answer", "peer-traffic-off-needed-told"),
) -> Verdict:  # fmt: skip
    """RCCL warns of hangs without that word on the kernel's line, and the workers hang."""
    return {"said": said.id, "hang": hang.id}
