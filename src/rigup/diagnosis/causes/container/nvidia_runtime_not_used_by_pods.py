"""The node's engine has NVIDIA's runtime, and the device plugin was started with another."""

from rigup.diagnosis.rule import Params, Verdict, mends, one, seen, text_rule
from rigup.knowledge.starters import asked
from rigup.machine.kinds import KernelModule, Symptom

_SPACE, _NAME = "kube-system", "nvidia-device-plugin-daemonset"  # of the plugin's own static manifest
_PATCH = '{"spec":{"template":{"spec":{"runtimeClassName":"nvidia"}}}}'


@text_rule("nvidia-runtime-not-used-by-pods", "likely")
def plugin_finds_none_beside_a_runtime_that_is_known(
    plugin: Symptom = seen(tag="device-plugin-finds-none"),
    known: Symptom = seen(tag="nvidia-runtime-known"),
    default: Symptom | None = seen(tag="nvidia-runtime-is-default"),
    unloaded: KernelModule | None = one(name="nvidia", loaded=False),
    missing: Symptom | None = seen("no-program-of-the-toolkit-found"),
) -> Verdict:
    """The plugin asks for the toolkit, which is there and known to the engine; nobody made it what pods are started with."""
    return default is None and unloaded is None and missing is None and {"said": plugin.id, "known": known.id}


@mends("nvidia-runtime-not-used-by-pods")
def whose_runtime_it_becomes(
    k3s: Symptom | None = seen("k3s-named"),
    listed: Symptom | None = seen("runtime-class-of-nvidias-listed"),
    plugin: Symptom | None = seen("device-plugins-set-named"),
) -> Params:
    """A pod may name only a class that the cluster has: k3s brings it, others list it; else the node's default is changed."""
    if k3s is None and listed is None:
        return {"engine": "containerd"}
    return {
        "namespace": str((plugin and plugin.get("namespace")) or _SPACE),
        "daemonset": str((plugin and plugin.get("name")) or _NAME),
        "patch": _PATCH,
        "pod": asked("nvidia-runtime", "kubernetes"),
        "k3s": "default" if k3s is not None else None,
    }
