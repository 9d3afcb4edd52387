"""The container engine has no NVIDIA runtime."""

from rigup.diagnosis.rule import Params, Verdict, mends, one, seen, text_rule
from rigup.machine.kinds import CdiSpec, ContainerEngine, ContainerToolkit, Gpu, Platform, Symptom, Torch, World

_RUN_BY = {"nerdctl": "containerd", "containerd": "containerd", "crio": "crio"}


@text_rule("container-toolkit-missing", "likely")
def engine_knows_no_runtime_and_the_toolkit_is_not_there(
    engine: ContainerEngine,
    none: Symptom = seen("no-program-of-the-toolkit-found"),
    _card: Gpu = one(vendor="nvidia"),
    spec: CdiSpec | None = None,
    works: Torch | None = one(available=True),
) -> Verdict:
    """The engine lists what it starts containers with, nothing of NVIDIA's is there, nor on the path, and the host has its card."""
    known = engine.get("runtimes") or []
    return bool(known) and spec is None and works is None and not any("nvidia" in name for name in known) and {"said": none.id}


@mends("container-toolkit-missing")
def engine_to_set_up(
    engine: ContainerEngine | None = None,
    toolkit: ContainerToolkit | None = None,
    asked: Symptom | None = seen(tag="cdi-unresolved"),
    world: World | None = None,
    pods: Symptom | None = seen(tag="cluster-node-shown"),
    runtime: Symptom | None = seen("node-runtime-shown"),
    plugin: Symptom | None = seen(tag="device-plugin-finds-none"),
    k3s: Symptom | None = seen("k3s-named"),
    windows: Platform | None = one(system="windows"),
    podman: Symptom | None = seen("podman-commands-shown", "podman-in-words"),
    version: Symptom | None = seen("container-toolkit-is-installed"),
    unraid: Symptom | None = seen("unraid-shown"),
) -> Params:
    """Whose runtime it is: podman takes a description, Kubernetes's nodes have another engine, and Windows's Docker is a program of its own."""
    if unraid is not None:
        return {"plugin": "Nvidia-Driver"}
    if windows is not None:
        return {"desktop": "yes"}
    there = {"installed": "toolkit" if (toolkit or version) is not None else None}
    started = (world and world.get("container")) or (engine and engine.get("name"))
    of_node = {"cri-o": "crio"}.get(str(runtime.engine), str(runtime.engine)) if runtime is not None else "containerd"
    is_node = runtime is not None or plugin is not None or (pods is not None and started in (None, "kubernetes"))
    if is_node and of_node != "docker":  # docker beside it, or in the text, starts no pod
        nodes = "nodes" if k3s is None else "k3s"
        engine_there = of_node if k3s is None else "k3s"
        return {("node_" if plugin is not None else "bare_") + nodes: engine_there, "node": engine_there, **there}
    if started in ("apptainer", "singularity"):
        return {"rootless": "--nv", "cdi": None}
    by_files = started == "podman" or (started is None and podman is not None)
    described = "nvidia.com/gpu" if by_files or asked is not None else None
    device_kind = "nvidia.com/gpu" if described and (toolkit is not None or asked is not None) else None
    return {
        **there,
        "kind": device_kind,
        "cdi": described,
        "engine": None if by_files else _RUN_BY.get(str(started), str((engine and engine.get("name")) or "docker")),
    }


def line_of(symptom: Symptom) -> int:
    """Where in its text it stands; what has no line comes first."""
    return symptom.fields["id"].where.line or 0
