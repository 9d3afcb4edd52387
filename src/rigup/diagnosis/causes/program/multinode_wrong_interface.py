"""The ranks use a network interface that the other nodes cannot reach."""

from typing import Any

from rigup.diagnosis.rule import Every, Params, Verdict, every, mends, one, rule, seen, text_rule, wordings
from rigup.machine.kinds import JobRequest, NetInterface, Platform, Symptom, Variable

_IFNAME = ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME")
_INNER = ("lo", "docker", "virbr", "br-", "cni")
_INSIDE_THE_MACHINE = ("lo", "docker", "virbr", "br-", "cni", "veth", "tun", "=lo", "=docker")
_AVOIDED = "^lo,docker,br-,veth,virbr,tun,cni"  # NCCL takes each for the beginning of names
_OF_DOCKER = "172.17.0."  # docker's own bridge: .1 is the host there, all others are containers
_AT_HOME = wordings(tag="gloo-address")


@rule("multinode-wrong-interface", "likely")
def inner_interface_refused(
    used: Symptom = seen("nccl-uses-loopback", "nccl-uses-bridge", "nccl-uses-a-link-local-address"),
    _refused: Symptom = seen("nccl-connection-refused"),
    wish: Variable | None = one(name="NCCL_SOCKET_IFNAME"),
) -> Verdict:
    """Loopback, a bridge, or a link that ends in the machine is in use, and a peer turns us away; somebody may have named it."""
    name = str(used.get("name") or "")
    told = name if wish is not None and name and str(wish.value).removeprefix("=").partition(":")[0] == name else None
    return {"address": used.get("address"), "unfit": used.get("name"), "told": told}


@rule("multinode-wrong-interface")
def named_interface_is_not_there(wish: Variable = one(name=_IFNAME), all_interfaces: Every[NetInterface] = every(NetInterface)) -> Verdict:
    """A name begins an interface's; after "=" it is one's whole name; after "^" it is to be avoided."""
    value = wish.value or ""
    names = [interface.name for interface in all_interfaces]
    if not names or not value or value.startswith("^"):
        return False
    exact = value.startswith("=") or wish.name.startswith("GLOO")
    wanted = [part for part in value.removeprefix("=").split(",") if part]
    interfaces = [name for name in names for part in wanted if (name == part if exact else name.startswith(part.partition(":")[0]))]
    return not interfaces and {"wanted": value}


@rule("multinode-wrong-interface", "likely")
def inner_interface_is_named_and_fails(
    wish: Variable = one(name=_IFNAME),
    _failed: Symptom = seen("nccl-connection-refused", "nccl-collective-timeout", "rendezvous-timed-out"),
    job: JobRequest | None = None,
) -> Verdict:
    """The ranks are told to speak through loopback or a bridge, and do not meet."""
    value = (wish.value or "").removeprefix("=")
    several = job is None or (job.get("nodes") or 2) > 1
    return value.startswith(_INNER) and several and {"address": value}


@rule("multinode-wrong-interface", "likely")
def gloo_fell_back_and_failed(
    _fallback: Symptom = seen("gloo-falls-back-to-loopback"), _failed: Symptom = seen("gloo-mesh-failed")
) -> Verdict:
    """The name of the node leads to no address of its own, so that its peers are told to speak to themselves."""
    return True


@text_rule("multinode-wrong-interface", "likely")
def what_is_to_be_avoided_leaves_loopback(
    used: Symptom = seen("nccl-uses-loopback"),
    wish: Variable = one(name="NCCL_SOCKET_IFNAME"),
    ready: Symptom | None = seen("nccl-is-made"),
) -> Verdict:
    """NCCL passes loopback by of itself; who names what is to be avoided has to name it, too."""
    avoided = str(wish.value).removeprefix("^").split(",") if str(wish.value).startswith("^") else ["lo"]
    return ready is None and not any("lo".startswith(name) for name in avoided) and {"address": used.get("address")}


def _is_outer_name(name: Any) -> bool:
    return bool(name) and not str(name).startswith(_INSIDE_THE_MACHINE)


def _leads_out(interface: NetInterface, knew: Params) -> bool:
    """No loopback and no bridge, not down, and not the one that NCCL chose and that leads nowhere."""
    inner = interface.name.startswith(_INSIDE_THE_MACHINE) or interface.name == knew.get("unfit")
    return not inner and interface.get("up") is not False


@mends("multinode-wrong-interface")
def an_interface_that_is_there(knew: Params, interface: NetInterface) -> Params:
    """The one that leads out, where there is only one; what a message names is what does not serve."""
    outer = interface.name if _leads_out(interface, knew) else ""
    return {"outer": outer} if outer and not knew.get("outer") else {}


@mends("multinode-wrong-interface")
def another_interface_that_is_there(knew: Params, interface: NetInterface) -> Params:
    """Of two nobody knows which leads to the others."""
    return {"outer": None} if _leads_out(interface, knew) and interface.name != knew.get("outer") else {}


@mends("multinode-wrong-interface")
def whose_variable_it_is(
    knew: Params,
    gloo: Symptom | None = seen("gloo-no-address", "gloo-mesh-failed", "gloo-mesh-failed-plain", *_AT_HOME[:4]),
    mpi: Symptom | None = seen("mpi-connects-to-inner-address"),
    family: Symptom | None = seen("nccl-no-address-family", "nccl-goes-by-a-link-local-address"),
    home: Symptom | None = seen(tag="gloo-address"),
    wish: Variable | None = one(name="NCCL_SOCKET_IFNAME"),
    missing: Symptom | None = seen("nccl-no-interface"),
    leads: Symptom | None = seen("nccl-lists-an-outer-interface"),
) -> Params:
    """NCCL takes what it lists with an address that leads out, else avoids what it is told to, gloo wants a name, Open MPI has variables of its own; an address of its own leads nowhere else."""
    name = "GLOO_SOCKET_IFNAME" if gloo is not None else "NCCL_SOCKET_IFNAME"
    outer = knew.get("outer")
    holes = {"variable": name, "interface": outer, "home": "here" if home is not None else None}
    if gloo is not None or mpi is not None or home is not None:
        named = name if gloo is not None and not outer else None
        plain = outer if gloo is not None else None
        return {**holes, "named": named, "interface": plain, "plain": plain, "mpi": "lo,docker0" if mpi is not None else None}
    if family is not None:
        return {**holes, "family": "AF_INET", "avoided": _AVOIDED}
    gone = wish if wish is not None and missing is not None else None
    holes["interface"] = outer or (leads.name if leads is not None and leads.name != knew.get("unfit") else None)
    avoided = f"{_AVOIDED},{knew['unfit']}" if _is_outer_name(knew.get("unfit")) else _AVOIDED
    former = (
        None if wish is not None and wish.get("file") else knew.get("told") or knew.get("wanted")
    )  # what named the wrong one would name it again in the next shell
    nccl = {"of_nccl": holes["interface"], "former": former, "plain": None if former else holes["interface"]}
    return {**holes, **nccl, "avoided": avoided, "gone": gone.name if gone is not None else None}


@mends("multinode-wrong-interface")
def container_of_the_ranks(
    knew: Params,
    symptom: Symptom | None = seen(tag="container-spoken-of"),
    running: Symptom | None = seen("table-from-a-container-with-gpus"),
    told: Symptom | None = seen("nccl-connects-to-docker-bridge"),
    wish: Variable | None = one(name="NCCL_SOCKET_IFNAME"),
    wsl: Platform | None = one(wsl=(1, 2)),
    drive: Symptom | None = seen("container-mounts-drive-of-windows"),
) -> Params:
    """Who is behind a bridge of docker's own is reached by nobody outside, and has no other interface there; one that is named is the bridge's."""
    address = str(knew.get("address") or (told and told.get("address")) or "").strip("[]").removeprefix("::ffff:")
    behind = address.startswith(_OF_DOCKER) and address.partition(":")[0] != _OF_DOCKER + "1"
    if not behind and symptom is None and running is None:
        return {}
    inside: Params = {"avoided": None, "interface": None, "plain": None, "former": None} if behind else {}
    if wsl is not None or drive is not None:
        return {**inside, "mirrored": "mirrored", "of_wsl": "host"}
    named = behind and wish is not None and not str(wish.value).startswith("^")
    return {**inside, "bridged": "host", "of_bridge": wish.name} if named and wish else {**inside, "network": "host"}
