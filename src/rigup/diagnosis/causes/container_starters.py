"""What starts a container, and how that is asked for something."""

from rigup.diagnosis.rule import Params, seen
from rigup.knowledge.starters import asked
from rigup.machine.kinds import Symptom, World

_HOLES = {"kubernetes": "pod", "devcontainer": "editor", "compose": "compose", "lxd": "guest", "lxc": "guest"}


def what_starts_it(
    world: World | None = None,
    pod: Symptom | None = seen(tag="pod-spoken-of"),
    compose: Symptom | None = seen(tag="compose-spoken-of"),
    lxd: Symptom | None = seen(tag="lxd-spoken-of"),
    lxc: Symptom | None = seen(tag="lxc-spoken-of"),
    enroot: Symptom | None = seen("enroot-shown"),
    editor: Symptom | None = seen(tag="devcontainer-spoken-of"),
) -> Params:
    """A manifest or a file that is shown is what people change; a command that is shown says what it is by its name."""
    engine = str((world and world.get("container")) or "")
    engine = {"singularity": "apptainer", "nerdctl": "docker"}.get(engine, engine)
    if pod is not None or engine == "kubernetes":
        return {"starter": "kubernetes"}
    if editor is not None and engine in ("", "docker"):
        return {"starter": "devcontainer"}
    if compose is not None and engine in ("", "docker"):
        return {"starter": "compose"}
    starters = (("lxd", lxd), ("lxc", lxc), ("enroot", enroot))
    return {"starter": engine or next((name for name, fact in starters if fact is not None), "")}


def what_it_is_said_to_be_started_by(
    knew: Params,
    podman: Symptom | None = seen(tag="podman-spoken-of"),
    apptainer: Symptom | None = seen("apptainer-in-words"),
    pod: Symptom | None = seen("kubernetes-in-words", "k3s-named"),
    docker: Symptom | None = seen("docker-in-words"),
) -> Params:
    """Where nothing is shown a word is enough; docker is what most have, also beside a cluster."""
    starters = (("podman", podman), ("apptainer", apptainer), ("kubernetes", pod), ("docker", docker))
    return {"starter": knew.get("starter") or next((name for name, fact in starters if fact is not None), "docker")}


def asking(knew: Params, wish: str, prefix: str = "") -> Params:
    """The words in the hole of the step that fits what starts it; docker's own where that has none of its own."""
    starter = str(knew.get("starter") or "docker")
    own = asked(wish, starter)
    hole = _HOLES.get(starter, "option") if own else "option"
    return {prefix + hole: own or asked(wish, "docker")}
