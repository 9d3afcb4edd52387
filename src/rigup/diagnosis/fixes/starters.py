"""What a container is started by, and how that is asked for what the container lacks."""

from rigup.diagnosis.rule import Params, mends, one, seen, wordings
from rigup.diagnosis.rules.access import NOBODY, inside
from rigup.knowledge.starters import asked
from rigup.machine.kinds import DeviceNode, Gpu, Group, Platform, Symptom, World

_PODS = wordings(tag="pod-spoken-of")
_COMPOSE = wordings(tag="compose-spoken-of")
_LXD = wordings(tag="lxd-spoken-of")
_LXC = wordings(tag="lxc-spoken-of")
_PODMAN = wordings(tag="podman-spoken-of")
_ASKED = "asked-capabilities-without-compute"
_NO_COMPUTE = wordings(tag="starters-no-compute")
_KFD_MISSED = wordings(tag="starters-kfd-missed")
_SHM, _GROUP, _OWNED = "shm-too-small", "container-render-group-mismatch", "container-files-root-owned"
_LOST, _NONE = "container-lost-gpu-after-daemon-reload", "container-without-gpu"
_RENDER = "/dev/dri/renderD128"
_HOLES = {"kubernetes": "pod", "compose": "compose", "lxd": "guest", "lxc": "guest"}


@mends(_NONE, _SHM, _GROUP, _OWNED, _LOST)
def what_starts_it(
    world: World | None = None, pod: Symptom | None = seen(tag="pod-spoken-of"), compose: Symptom | None = seen(tag="compose-spoken-of"), lxd: Symptom | None = seen(tag="lxd-spoken-of"),
    lxc: Symptom | None = seen(tag="lxc-spoken-of"), enroot: Symptom | None = seen("enroot-shown"),
) -> Params:  # fmt: skip
    """A manifest or a file that is shown is what people change; a command that is shown says what it is by its name."""
    engine = str((world and world.get("container")) or "")
    engine = {"singularity": "apptainer", "nerdctl": "docker"}.get(engine, engine)
    if pod is not None or engine == "kubernetes":
        return {"starter": "kubernetes"}
    if compose is not None and engine in ("", "docker"):
        return {"starter": "compose"}
    starters = (("lxd", lxd), ("lxc", lxc), ("enroot", enroot))
    return {"starter": engine or next((name for name, fact in starters if fact is not None), "")}


@mends(_NONE, _SHM, _GROUP, _OWNED, _LOST)
def what_it_is_said_to_be_started_by(
    knew: Params, podman: Symptom | None = seen(tag="podman-spoken-of"), apptainer: Symptom | None = seen("apptainer-in-words"),
    pod: Symptom | None = seen("kubernetes-in-words", "k3s-named"), docker: Symptom | None = seen("docker-in-words"),
) -> Params:  # fmt: skip
    """Where nothing is shown a word is enough; docker is what most have."""
    starters = (("podman", podman), ("apptainer", apptainer), ("docker", docker), ("kubernetes", pod))
    return {"starter": knew.get("starter") or next((name for name, fact in starters if fact is not None), "docker")}


def _asking(knew: Params, wish: str, prefix: str = "") -> Params:
    """The words in the hole of the step that fits what starts it; docker's own where that has none of its own."""
    starter = str(knew.get("starter") or "docker")
    own = asked(wish, starter)
    hole = _HOLES.get(starter, "option") if own else "option"
    return {prefix + hole: own or asked(wish, "docker")}


@mends(_NONE)
def how_gpus_are_asked_for(
    knew: Params, card: Gpu | None = None, error: Symptom | None = seen(tag="starters-kfd-missed"), part: Symptom | None = seen(tag="starters-no-compute"),
    given: Symptom | None = seen("pod-was-given-gpus"), k3s: Symptom | None = seen("k3s-named"), wsl: Platform | None = one(wsl=(1, 2)),
    intel: Symptom | None = seen(tag="intel-finds-none"),
) -> Params:  # fmt: skip
    """Each maker's cards are asked for in another way; what the rule itself knew is kept where a command takes it."""
    pod = knew.get("starter") == "kubernetes"
    if part is not None:  # what is asked of the engine itself stands above the variable
        return _asking(knew, "compute-asked" if part.id == _ASKED and not pod else "compute")
    maker = str(
        knew.get("vendor")
        or ("amd" if error is not None else (card and card.get("vendor")) or ("intel" if intel else "nvidia"))
    )
    if knew.get("option") == asked("intel", "docker"):
        maker = (
            "amd"
            if error is not None or (card is not None and card.get("vendor") == "amd") or knew.get("vendor") == "amd"
            else "intel"
        )
        if maker == "amd" and not pod and knew.get("starter") != "compose":
            return {}
    if maker == "nvidia" and pod:
        maker = "nvidia-runtime" if given is not None else "nvidia-k3s" if k3s is not None else maker
    wanted = "amd-wsl" if maker == "amd" and wsl is not None else maker
    holes = {"option": None, **_asking(knew, wanted)}
    if (maker, knew.get("starter")) == ("nvidia", "lxc"):  # no runtime brings the driver's libraries in
        return {**holes, "guest": None, "bare_guest": holes["guest"]}
    return holes


@mends(_SHM)
def how_shared_memory_is_asked_for(knew: Params, _any: World | None = None) -> Params:
    """A size of its own, or the host's where that can be shared."""
    shared = asked("shm-of-host", str(knew.get("starter") or "docker"))
    sized = _asking(knew, "shm")
    return {**sized, **(_asking(knew, "shm-of-host", "shared_") if shared or "option" in sized else {})}


@mends(_GROUP)
def namespace_that_knows_no_such_group(
    knew: Params, world: World | None = None, docker: Symptom | None = seen("docker-in-words"), unknown: Symptom | None = seen("kfd-group-not-held", group=NOBODY),
    root: Symptom | None = seen("kfd-group-not-held", user="root"), node: DeviceNode | None = one(path="/dev/kfd", owner=NOBODY),
) -> Params:  # fmt: skip
    """Nobody's group, and root that is refused, are of a user namespace, where numbers of the host count for nothing: podman's, or one of LXC.

    A node that is nobody's inside tells such a namespace whatever the command was called: `docker` is podman on many systems.
    """
    if node is not None and inside(node) and knew.get("starter") == "docker":
        return {"starter": "podman"}
    by_docker = docker is not None or bool(world and world.get("container"))
    if by_docker or knew.get("starter") != "docker" or (unknown is None and root is None):
        return {}
    return {"starter": "podman", "mapped": asked("group", "lxc")}


@mends(_GROUP)
def the_number_to_add(knew: Params, group: Group | None = one(name="render"), node: DeviceNode | None = None, error: Symptom | None = seen("render-node-permission-denied")) -> Params:  # fmt: skip
    """podman can keep the person's own groups; others want the number that the node's group has on the host."""
    path = _RENDER if error is not None else "/dev/kfd"
    known = group.get("gid") if group is not None and not inside(group) else None
    if known is None and node is not None and not inside(node) and str(node.get("group") or "").isdigit():
        known = node.group if node.path in ("/dev/kfd", _RENDER) else None
    holes = _asking(knew, "group")
    hole, words = next(iter(holes.items()))
    number = str(known or ("NUMBER" if hole != "option" else f"$(stat -c %g {path})"))
    unknown = known is None and "{number}" in words and hole != "option"
    return {("any_" if unknown else "") + hole: words.replace("{number}", number), "node": path}


@mends(_OWNED)
def the_numbers_of_the_person(knew: Params, error: Symptom | None = seen("permission-denied-in-home")) -> Params:  # fmt: skip
    """Jupyter's own images give the home away when they start as root; others run by the person's numbers."""
    path = str(knew.get("path") or (error and error.get("path")) or "")
    return _asking(knew, "user-of-jupyter" if path.lower().startswith("/home/jovyan") else "user")


@mends(_LOST)
def how_the_nodes_are_named(knew: Params, _any: World | None = None) -> Params:
    """What the engine was told itself it lists for systemd too; Docker may also keep the groups by itself."""
    starter = knew.get("starter")
    holes = _asking(knew, "nodes") if starter in ("docker", "podman", "compose") else {}
    return {
        **holes,
        "cgroups": "cgroupfs" if starter in ("docker", "compose") else None,
        "pods": "yes" if starter == "kubernetes" else None,
    }
