"""The container had the GPU and has lost it."""

from rigup.diagnosis.causes.container_starters import asking, what_it_is_said_to_be_started_by, what_starts_it
from rigup.diagnosis.causes.places import inside
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.machine.kinds import DeviceNode, DeviceRules, Gpu, Symptom


@rule("container-lost-gpu-after-daemon-reload")
def host_still_sees_it(card: Gpu = one(vendor="nvidia"), _error: Symptom = seen("nvml-unknown-error", at="container")) -> Verdict:
    """The same card answers on the host."""
    return card.get("seen_by") is not None


@rule("container-lost-gpu-after-daemon-reload", strength="likely")
def nvml_lost_inside(_error: Symptom = seen("nvml-unknown-error", at="container")) -> Verdict:
    """NVML finds its nodes and may not use them."""
    return True


@rule("container-lost-gpu-after-daemon-reload")
def both_interfaces_refused(
    error: Symptom = seen("nvml-unknown-error"), _refused: Symptom = seen("cuda-800", "cuda-800-constant")
) -> Verdict:
    """Not permitted, for CUDA and NVML alike: the control group no longer lets them."""
    return error.place.world != "host"


@rule("container-lost-gpu-after-daemon-reload", strength="likely")
def cuda_is_not_permitted(
    error: Symptom = seen("cuda-800", "cuda-800-constant"), nvml: Symptom | None = seen("nvml-unknown-error")
) -> Verdict:
    """The driver is there and says no: a control group that no longer lists the nodes does this."""
    return nvml is None and error.place.world != "host"


@rule("container-lost-gpu-after-daemon-reload", strength="possible")
def nvml_lost_somewhere(error: Symptom = seen("nvml-unknown-error")) -> Verdict:
    """The words fit; that it is a container nobody says."""
    return not error.place.world


@rule("container-lost-gpu-after-daemon-reload")
def rules_without_the_nodes(rules: DeviceRules, node: DeviceNode) -> Verdict:
    """The nodes are there, and the control group does not list them."""
    open_ = any(rule_.startswith(("a *:* rw", "c *:* rw", "c 195:")) for rule_ in rules.allowed)
    return not open_ and inside(node) and node.path.startswith("/dev/nvidia")


@text_rule("container-lost-gpu-after-daemon-reload", "possible")
def program_is_refused_somewhere(error: Symptom = seen(tag="images-refused")) -> Verdict:
    """The same words; that it is a container nobody says."""
    return not error.place.world and {"said": error.id}


@text_rule("container-lost-gpu-after-daemon-reload")
def rules_let_no_card_through(
    rules: DeviceRules,
    _said: Symptom = seen("nvml-unknown-error", "nvidia-node-not-permitted", "cuda-800", "cuda-800-constant", "cuda-not-permitted-plain"),
) -> Verdict:
    """The control group lists what may be opened, NVIDIA's nodes are not in it, and the driver is refused."""
    return not any(rule_.startswith(("a *:* rw", "c *:* rw", "c 195:")) for rule_ in rules.allowed)


mends("container-lost-gpu-after-daemon-reload")(what_starts_it)
mends("container-lost-gpu-after-daemon-reload")(what_it_is_said_to_be_started_by)


@mends("container-lost-gpu-after-daemon-reload")
def how_the_nodes_are_named(knew: Params, error: Symptom | None = seen("nvml-unknown-error", at="container")) -> Params:
    """Docker may keep the groups by itself, and what an engine was told it lists for systemd too.

    Links under /dev/char serve a cluster's nodes alone: what `--gpus` brings in behind the engine's back is lost with them as well.
    """
    starter = knew.get("starter")
    told = asking(knew, "nodes") if starter in ("docker", "podman", "compose") else {}
    name = error.place.world.partition(":")[2] if error is not None and starter == "docker" else ""
    return {
        **told,
        "cgroups": "cgroupfs" if starter in ("docker", "compose") else None,
        "container": name or None,
        "unnamed": None if name else "container",
        "linked": None if told else "nodes",
    }
