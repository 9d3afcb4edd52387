"""Network interfaces: what a rank may speak through."""

from rigup.machine.kinds import NetInterface, Variable
from rigup.machine.reader import Listing, Statements, reads
from rigup.machine.texts import Text


@reads(NetInterface, inputs=[Listing("/sys/class/net/*")])
def interfaces(text: Text) -> Statements:
    """Each interface is a link in the kernel's list."""
    for hit in text.each(r"/sys/class/net/(?P<name>[\w.:@-]{1,40})(?: -> \S{1,300})?$"):
        if hit["name"] != "bonding_masters":
            yield hit.states(NetInterface, name=hit["name"])


@reads(NetInterface, marks=("<LOOPBACK", "LOOPBACK,"), whole=r"^(?:1: lo:|lo: flags=|lo {8})")
def shown_interfaces(text: Text) -> Statements:
    """`ip addr`, `ip link`, `ifconfig`: a head for each interface."""
    for hit in text.each(
        r"^(?:\d{1,5}: )?(?P<name>[A-Za-z][\w.-]{0,39})(?:@\S{1,40})?: (?:flags=\d{1,6})?<(?P<flags>[A-Z0-9_,-]{0,200})>"
    ):
        yield hit.states(NetInterface, name=hit["name"], up="UP" in hit["flags"].split(","))


@reads(NetInterface, marks=("lo               UNKNOWN", "lo      "))
def brief_interfaces(text: Text) -> Statements:
    """`ip -br addr`: `ib0 UP 10.1.0.5/16`."""
    for hit in text.each(r"^(?P<name>[a-z][\w.@-]{0,39}) {2,40}(?P<state>UP|DOWN|UNKNOWN) {1,40}"):
        yield hit.states(NetInterface, name=hit["name"].partition("@")[0], up=hit["state"] != "DOWN")


@reads(adds=(Variable,), marks=("GLOO_SOCKET_IFNAME=", "NCCL_SOCKET_IFNAME="), process="shell")
def named_interface(text: Text) -> Statements:
    """`GLOO_SOCKET_IFNAME=eth0`, `NCCL_SOCKET_IFNAME=^docker0`: which interfaces ranks are to speak through, or not."""
    for mark in ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"):
        form = rf"(?<![\w$])(?P<name>{mark})=[\"']?(?P<value>[=^]?\w[\w.,:-]{{0,99}})"
        for hit in text.near(form, text.spots(f"{mark}=")):
            yield hit.states(Variable, **hit.found())
