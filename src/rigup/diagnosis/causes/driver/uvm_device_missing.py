"""/dev/nvidia-uvm is not there."""

from rigup.diagnosis.causes.places import inside
from rigup.diagnosis.rule import Every, Params, Verdict, lacks, mends, one, rule, seen, text_rule
from rigup.machine.kinds import DeviceNode, Gpu, KernelModule, Symptom, SystemPackage, Torch, World

_UVM = "/dev/nvidia-uvm"


@rule("uvm-device-missing", "possible")
def unknown_error_inside(
    error: Symptom = seen(tag="cuda-unknown-error"), silent: Symptom | None = seen(tag="nvidia-driver-silent")
) -> Verdict:
    """In a container CUDA does not start: mostly that node was not passed in, or is not there on the host either."""
    return silent is None and inside(error)


@rule("uvm-device-missing", "possible")
def plugin_cannot_make_the_node(
    _said: Symptom = seen("nvidia-docker-no-uvm"), silent: Symptom | None = seen("modprobe-module-not-found", tag="nvidia-driver-silent")
) -> Verdict:
    """The first nvidia-docker asked nvidia-modprobe for the node, in vain, while the driver answers."""
    return silent is None


@rule("uvm-device-missing", "likely")
def somebody_finds_no_node(
    _said: Symptom = seen("uvm-node-missing"), silent: Symptom | None = seen("modprobe-module-not-found", tag="nvidia-driver-silent")
) -> Verdict:
    """The node was asked for by name; where no driver is loaded that is another matter."""
    return silent is None


@rule("uvm-device-missing")
def container_got_the_others(
    _card: DeviceNode = one(path="/dev/nvidiactl", at="container"), nodes: Every[DeviceNode] = lacks(DeviceNode, at="container", path=_UVM)
) -> Verdict:
    """The card's nodes were passed in, and this one was not; a container cannot make it."""
    return not nodes


@rule("uvm-device-missing", "likely")
def cuda_fails_without_the_node(
    _card: DeviceNode = one(path="/dev/nvidiactl"),
    nodes: Every[DeviceNode] = lacks(DeviceNode, path=_UVM),
    _error: Symptom = seen(
        "cuda-initialization-error",
        "ollama-driver-init-failed",
        "cuda-init-failed-no-gpu",
        tag="cuda-unknown-error nvidia-finds-none cuda-not-initialised",
    ),
) -> Verdict:
    """The driver's nodes are there but this one, and CUDA does not start."""
    return not nodes


@rule("uvm-device-missing", "likely")
def torch_sees_nothing_without_the_node(
    _card: DeviceNode = one(path="/dev/nvidiactl"),
    nodes: Every[DeviceNode] = lacks(DeviceNode, path=_UVM),
    torch: Torch = one(available=False),
) -> Verdict:
    """As above, where torch reports that it sees no GPU."""
    return not nodes and bool(torch.get("cuda"))


@rule("uvm-device-missing", "likely")
def module_is_loaded_without_its_node(
    _card: DeviceNode = one(path="/dev/nvidiactl"),
    nodes: Every[DeviceNode] = lacks(DeviceNode, path=_UVM),
    _uvm: KernelModule = one(name="nvidia_uvm", loaded=True),
) -> Verdict:
    """A machine makes the node when it is first needed; with the module loaded it should be there."""
    return not nodes and not inside(nodes)


@rule("uvm-device-missing", "possible")
def neither_its_module_nor_its_node(
    _card: DeviceNode = one(path="/dev/nvidia0"),
    nodes: Every[DeviceNode] = lacks(DeviceNode, path=_UVM),
    modules: Every[KernelModule] = lacks(KernelModule, name="nvidia_uvm"),
    _driver: KernelModule = one(name="nvidia", loaded=True),
    torch: Torch = one(),
    silent: Symptom | None = seen(tag="nvidia-driver-silent"),
    tool: SystemPackage | None = one(name="nvidia-modprobe", state="installed"),
) -> Verdict:
    """The rest of the driver is up, and a torch would need it; where NVIDIA's own tool makes both at the first use it is no fault."""
    wanted = bool(torch.get("cuda")) and torch.get("available") is not True
    ready = any(module.get("loaded") for module in modules) or tool is not None
    return wanted and not ready and silent is None and not nodes and not inside(nodes)


@text_rule("uvm-device-missing", "possible")
def listed_nodes_lack_it(
    card: DeviceNode = one(path="/dev/nvidia0"),
    _control: DeviceNode = one(path="/dev/nvidiactl"),
    nodes: Every[DeviceNode] = lacks(DeviceNode, path=_UVM),
    works: Gpu | None = one(vendor="nvidia", seen_by=("nvidia-smi", "torch", "cuda")),
    torch: Torch | None = one(available=True),
    loaded: KernelModule | None = one(name="nvidia_uvm"),
    silent: Symptom | None = seen(tag="nvidia-driver-silent"),
) -> Verdict:
    """The driver's nodes are listed, and the one that CUDA needs is not among them."""
    open_ = not card.knows("mode") or card.mode[8:9] == "w"
    return not nodes and open_ and all(other is None for other in (works, torch, loaded, silent))


@mends("uvm-device-missing")
def node_for_a_container(spoken: Symptom | None = seen(tag="container-spoken-of"), world: World | None = None) -> Params:
    """A container is given the node; elsewhere there is none to give it to."""
    inside = spoken is not None or (world is not None and bool(world.get("container")))
    return {"device": "--device=/dev/nvidia-uvm"} if inside else {}
