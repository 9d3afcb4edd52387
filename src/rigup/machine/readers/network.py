"""Network interfaces: what a rank may speak through."""

import re

from rigup.machine.kinds import FileVariable, NetInterface, PeerMemory, RdmaPort, Variable
from rigup.machine.reader import File, Listing, Statements, reads
from rigup.machine.readers.values import says
from rigup.machine.texts import Text

_NET = "/sys/class/net/*/"
_LINKS = {"1": "ethernet", "32": "infiniband"}  # ARPHRD_ETHER and ARPHRD_INFINIBAND of include/uapi/linux/if_arp.h


@reads(NetInterface, inputs=[Listing("/sys/class/net/*")])
def interfaces(text: Text) -> Statements:
    """Each interface is a link in the kernel's list."""
    for hit in text.each(r"/sys/class/net/(?P<name>[\w.:@-]{1,40})(?: -> \S{1,300})?$"):
        if hit["name"] != "bonding_masters":
            yield hit.states(NetInterface, name=hit["name"])


@reads(inputs=[Listing(_NET + "{device,bonding}")], adds=(NetInterface,))
def hardware_interfaces(text: Text) -> Statements:
    """A card's interface has a link to its device, a bond a folder; what programs made has neither."""
    for hit in text.each(r"/sys/class/net/(?P<name>[\w.:@-]{1,40})/(?:device|bonding)(?: -> \S{1,300})?$"):
        yield hit.states(NetInterface, name=hit["name"], hardware=True)


@reads(inputs=[File(_NET + "{operstate,speed,type}", most=40)], adds=(NetInterface,))
def interface_states(text: Text) -> Statements:
    """`up`, Mbit/s (-1, or an error, where there is no link), and what kind of link: one value a file."""
    if not (path := re.search(r"/class/net/([\w.:@-]{1,40})/(\w{4,9})\Z", text.source)):
        return
    (name, file), value = path.groups(), text.body.strip()
    if file == "operstate" and value in ("up", "down", "lowerlayerdown"):
        yield from says(text, NetInterface, 0, name=name, up=value == "up")
    elif file == "speed" and value.isdecimal() and 0 < int(value) < 1 << 31:
        yield from says(text, NetInterface, 0, name=name, speed=int(value))
    elif file == "type" and value in _LINKS:
        yield from says(text, NetInterface, 0, name=name, link=_LINKS[value])


@reads(RdmaPort, inputs=[File("/sys/class/infiniband/*/ports/*/{link_layer,rate,state}", most=80)])
def rdma_ports(text: Text) -> Statements:
    """`InfiniBand`, `400 Gb/sec (4X NDR)`, `4: ACTIVE`: one value a file."""
    path = re.search(r"/class/infiniband/([\w.-]{1,40})/ports/(\d{1,3})/(\w{4,10})\Z", text.source)
    value = text.body.strip().rpartition(": ")[2]
    if path and value and value.isprintable():
        yield from says(text, RdmaPort, 0, device=path[1], port=int(path[2]), **{path[3].removesuffix("_layer"): value})


@reads(inputs=[File("/etc/nccl.conf", most=20_000), File("{HomeFolder.path}/.nccl.conf", most=20_000)], adds=(FileVariable,))
def nccl_settings(text: Text) -> Statements:
    """`NCCL_IB_HCA=mlx5_0`: NCCL takes it where the environment does not set the variable, the person's own file first."""
    for hit in text.each(r"^[ \t]{0,8}(?P<name>NCCL_\w{1,60})[ \t]{0,8}=(?P<value>[^\n#]{1,300})"):
        yield hit.states(FileVariable, path=text.source, name=hit["name"], value=hit["value"].strip())


@reads(PeerMemory, inputs=[Listing("/sys/kernel/mm/memory_peers/*/version"), Listing("/sys/module/nvidia_peermem/version")])
def peer_memories(text: Text) -> Statements:
    """What NCCL (src/transport/net_ib.cc) and RCCL (src/transport/net_ib.cc of ROCm) look for before they copy from a GPU to the network."""
    for hit in text.each(r"/sys/(?:kernel/mm/memory_peers|module)/(?P<client>[\w-]{1,40})/version$"):
        yield hit.states(PeerMemory, client=hit["client"].replace("_", "-"))


@reads(NetInterface, marks=("<LOOPBACK", "LOOPBACK,"), whole=r"^(?:1: lo:|lo: flags=|lo {8})")
def shown_interfaces(text: Text) -> Statements:
    """`ip addr`, `ip link`, `ifconfig`: a head for each interface."""
    for hit in text.each(r"^(?:\d{1,5}: )?(?P<name>[A-Za-z][\w.-]{0,39})(?:@\S{1,40})?: (?:flags=\d{1,6})?<(?P<flags>[A-Z0-9_,-]{0,200})>"):
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
