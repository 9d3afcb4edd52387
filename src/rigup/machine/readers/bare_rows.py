"""Rows cut out of reports, without the heads by which their readers know them: modules, lists of cards, single answers."""

from rigup.machine.kinds import DeviceNode, Gpu, KernelModule, Variable, World
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.values import Draft, address, known_value, size, vendor_of
from rigup.machine.texts import Hit, Text

_CARD = r"(?P<name>(?:NVIDIA|Tesla|Quadro|GeForce|TITAN|RTX|GTX)[\w ().-]{1,70}?)"
_MODULE = r"^[> \t]{0,8}(?P<name>nvidia(?:_uvm|_drm|_modeset|_peermem)?|nouveau|nova_core|nova_drm|amdgpu) {2,40}(?P<size>\d{4,10}) {1,8}-?\d{1,5}(?:[ \t]+[a-z][\w,]{0,300})?[ \t]*$"


@reads(adds=(KernelModule,), marks=("nvidia", "nouveau", "nova_", "amdgpu"), rank=0)
def module_rows(text: Text) -> Statements:
    """`nouveau   2306048  4`: rows of lsmod, of which nobody says that they are all."""
    seen = {hit["name"]: hit for hit in reversed(list(text.each(_MODULE)))}
    for name, hit in seen.items():
        yield hit.states(KernelModule, name=name, loaded=True)


@reads(adds=(KernelModule,), marks=("/sys/module/nvidia/version",), rank=1)
def loaded_version(text: Text) -> Statements:
    """`cat /sys/module/nvidia/version` and its answer: of the module that runs."""
    for hit in text.each(
        r"(?<![;&] cat )/sys/module/nvidia/version[ \t]*\n(?:==> [^\n]{1,80} <==\n)?(?P<version>\d{3}\.\d{1,3}(?:\.\d{1,3})?)[ \t]*$"
    ):
        yield hit.states(KernelModule, name="nvidia", loaded=True, version=hit["version"])


@reads(adds=(Gpu,), marks=("GPU 0: ", "GPU 1: "), rank=-1)
def bare_list(text: Text) -> Statements:
    """`nvidia-smi -L` without the UUIDs, which people take out; one row alone may be anybody's."""
    rows = list(text.each(r"^[> \t]{0,12}GPU (?P<index>\d{1,2}): " + _CARD + r"[ \t]*$"))
    numbers = [int(row["index"]) for row in rows]
    if len(rows) > 1 and numbers == list(range(len(rows))):
        for row in rows:
            yield row.states(Gpu, vendor="nvidia", nvml_index=int(row["index"]), name=row["name"], seen_by="nvidia-smi")


_PROPERTIES = r"get_device_properties\([ \t]*(?:['\"]?cuda:)?(?P<index>\d{1,2})['\"]?[ \t]*\)[^\n]{0,40}\n(?:Out ?\[\d{1,4}\]: ?)?_CudaDeviceProperties\(name='(?P<name>[^'\n]{2,80})'"
_QUERY = r"^[> \t]{0,12}Device (?P<index>\d{1,2}): \"(?P<name>[^\"\n]{3,80})\"[ \t]*$"
_BANNER = r"^[^\n]{0,60}Hardware detected: CUDA -- (?P<name>[^\n]{3,80}?)(?P<index>)[ \t]*$"
_LOOP = r"^[> \t]{0,12}(?:cuda:)?(?P<index>\d{1,2})[ :]{1,3}(?P<name>(?:NVIDIA|Tesla|Quadro|GeForce|TITAN)[\w ()-]{2,60}?)(?: [\d.]{3,6} GiB| 0x[0-9a-f]{2})?[ \t]*$"
_NAMED = r"get_device_name|getDeviceProperties|^cuda:0 (?:NVIDIA|Tesla|Quadro|GeForce|TITAN)"
_JULIA_LIST = r"^[> \t]{0,12}(?P<index>\d{1,2})\. (?P<name>(?:NVIDIA|Tesla|Quadro|GeForce|TITAN)[\w ()-]{2,60}?)[ \t]*$"
_JULIA = r"^[> \t]{0,12}CuDevice\((?P<index>\d{1,2})\): (?P<name>[^\n]{3,60}?)[ \t]*$"
_TF_FOUND = (
    r"Found device (?P<index>\d{1,2}) with properties:\s{1,4}(?:[^\n]{0,80}\n)?name: (?P<name>[^\n]{3,60}?)[ \n]major:"
    r"(?:[^\n]{0,120}\n[^\n]{0,120}?pciBusID:? (?P<address>[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.\d))?"
)
_COMFY = r"Device: cuda:(?P<index>\d{1,2}) (?P<name>NVIDIA [^:\n]{3,60}?) ?: "
_TABLE = r"^[> \t]{0,12}physical_device_desc: \"device: (?P<index>\d{1,2}), name: (?P<name>[^,\n]{3,80}),"


def _from_nought(text: Text) -> bool:
    """A loop begins at nought; what begins later is a count beside a name: `1 NVIDIA GeForce RTX 3090`."""
    return any(hit["index"] == "0" for hit in text.each(_LOOP))


@reads(
    adds=(Gpu,),
    marks=(
        "get_device_properties(",
        'Device 0: "',
        "Hardware detected: CUDA",
        "physical_device_desc",
        "CuDevice(0)",
        "DeviceIterator() for",
        "Found device 0 with",
        "Device: cuda:",
        "get_device_name",
        "getDeviceProperties",
        "cuda:0 ",
    ),
    rank=0,
)
def numbered_answers(text: Text) -> Statements:
    """What a program says of its card of a number; a banner speaks of the first."""
    for form in (
        _PROPERTIES,
        _QUERY,
        _BANNER,
        _TABLE,
        _JULIA,
        _TF_FOUND,
        _COMFY,
        *((_JULIA_LIST,) if "DeviceIterator() for" in text.body else ()),
        *((_LOOP,) if text.first(_NAMED) and _from_nought(text) else ()),
    ):
        for hit in text.each(form):
            if vendor_of(hit["name"]) == "nvidia":
                slot = hit.found().get("address")
                place = {"pci_address": slot.lower()} if slot else {}
                yield hit.states(Gpu, vendor="nvidia", name=hit["name"], runtime_index=int(hit["index"] or 0), **place)


@reads(adds=(Gpu,), marks=("-> device: ", "physical GPU (device: "), rank=-1)
def tensorflows_devices(text: Text) -> Statements:
    """`-> device: 0, name: TITAN X (Pascal), pci bus id: 0000:02:00.0`: the number that CUDA gives it."""
    for hit in text.each(r"device: (?P<index>\d{1,2}), name: (?P<name>[^,\n]{1,80}), pci bus id: (?P<pci>[0-9a-fA-F:.]{7,20}), compute"):
        draft = Draft(text, Gpu, hit.start)
        draft.add("vendor", "nvidia")
        draft.add("name", known_value(hit["name"]))
        draft.add("pci_address", address(hit["pci"]))
        draft.add("runtime_index", int(hit["index"]))
        yield from draft.facts("vendor")


_USAGE = r"^[> \t]{0,12}\|?[^|\n]{8,60}\| *(?P<used>\d{1,6})MiB */ *(?P<total>\d{3,6})MiB *\|[^|\n]{3,40}(?P<mode>Default|E\. Process|E\. Thread|Prohibited) *\|"
_HEAD = r"^[> \t]{0,12}[|│]? {0,20}\d{1,3} +[^|│\n]{3,60}[|│] *[0-9A-Fa-f]{4,8}:"
_MODES = {"E. Process": "Exclusive_Process", "E. Thread": "Exclusive_Thread"}


@reads(adds=(Gpu,), marks=("MiB / ", "MiB /"), rank=-2)
def usage_rows(text: Text) -> Statements:
    """The second line of a card's entry in nvidia-smi's table, where the first is cut off: of one card that nobody names."""
    rows = list(text.each(_USAGE))
    if len(rows) == 1 and not text.first(_HEAD):
        row = rows[0]
        draft = Draft(text, Gpu, row.start)
        draft.add("vendor", "nvidia")
        draft.add("seen_by", "nvidia-smi")
        draft.add("memory_used", size(row["used"], "m"))
        draft.add("vram", size(row["total"], "m"))
        draft.add("compute_mode", _MODES.get(row["mode"], row["mode"]))
        yield from draft.facts("vendor", "seen_by")


_NODE = r"(?P<name>nvidia(?:\d{1,2}|ctl|-uvm|-uvm-tools|-modeset))"
_BARE_NODE = (
    r"^(?P<mode>c[rwxsStT-]{9})(?P<acl>[+.@]?) {1,4}\d{1,3} {1,8}(?P<owner>\w{1,32}) {1,8}(?P<group>[\w-]{1,32}) {1,8}\d{1,4}, {1,8}\d{1,4} [^\n/]{5,30} "
    + _NODE
    + "[ \t]*$"
)
_PATHS = r"^[ \t]{0,4}(?P<paths>/dev/nvidia[\w-]{1,20}(?:[ \t]{1,8}/dev/nvidia[\w-]{1,20}){1,40})[ \t]*$"


def _bare_names(text: Text) -> list[Hit]:
    """`ls /dev | grep nvidia`: names alone, a line each, the control node among them."""
    hits = list(text.each(r"^" + _NODE + r"[ \t]*$"))
    return hits if {"nvidia0", "nvidiactl"} <= {hit["name"] for hit in hits} else []


@reads(DeviceNode, marks=(" nvidiactl", "/dev/nvidiactl", "\nnvidiactl"))
def bare_nodes(text: Text) -> Statements:
    """`ls -l /dev | grep nvidia` names them without their folder; `ls /dev/nvidia*` names them alone."""
    for hit in text.each(_BARE_NODE):
        groups = hit.found()
        path = "/dev/" + groups.pop("name")
        yield hit.states(DeviceNode, path=path, **{**groups, "acl": hit["acl"] == "+"})
    for hit in _bare_names(text):
        yield hit.states(DeviceNode, path="/dev/" + hit["name"])
    for hit in text.each(_PATHS):
        for path in hit["paths"].split():
            yield hit.states(DeviceNode, path=path)


_COMPOSE = r"^(?:services:|[ \t]{2,8}image: ?\S{3,120})"
_POD = r"^[ \t]{0,20}(?:containers:|apiVersion: (?:v1|apps/v1|batch/v1))"
_DEVCONTAINER = r"\bdevcontainer\.json\b[\s\S]{0,600}?\"(?:image|dockerFile|build)\" ?:"
_ASKED_OF_DEVCONTAINER = r"\"--gpus|\"hostRequirements\"|nvidia\.com/gpu|\"--device"
_ASKED = r"(?i)(?:driver: ?[\"']?nvidia|runtime: ?[\"']?nvidia|^[ \t]{0,20}gpus:|nvidia\.com/|amd\.com/gpu|^[ \t]{1,20}[^\n#]{0,60}/dev/(?:nvidia|kfd|dri|dxg)|capabilities: ?\[ ?[\"']?gpu|runtimeClassName|gpu\.intel|devices:|privileged: ?true|extends:|<<: ?\*)"


@reads(adds=(World,), marks=("devcontainer.json",), rank=-1)
def development_container(text: Text) -> Statements:
    """A devcontainer.json that names an image and no GPU."""
    hit = text.first(_DEVCONTAINER)
    if hit and not text.first(_ASKED_OF_DEVCONTAINER):
        world = hit.states(World, container="docker", gpu_requested=False)
        world.place = world.place._replace(world=world.place.world or "container")
        yield world


@reads(adds=(World,), marks=("image:",), rank=-1)
def composed_containers(text: Text) -> Statements:
    """A compose file or a pod's description that names an image and no GPU anywhere."""
    for engine, form in (("docker", _COMPOSE), ("kubernetes", _POD)):
        hit = text.first(form)
        if hit and text.first(r"^[ \t]{0,20}(?:- )?image: ?\S{3,120}") and not text.first(_ASKED):
            world = hit.states(World, container=engine, gpu_requested=False)
            world.place = world.place._replace(world=world.place.world or "container")
            yield world
            return


_LIMITS = r"^[ \t]{2,12}Limits:[ \t]*\n(?:[ \t]{4,20}(?:cpu|memory|ephemeral-storage):[ \t]{1,12}\S{1,20}[ \t]*\n){1,3}"
_INSPECTED = r"\"DeviceRequests\": ?(?:null|\[\])|HostConfig\.DeviceRequests[^\n]{0,120}\n(?:\[\]|null|<no value>)[ \t]*$"


@reads(adds=(World,), marks=("DeviceRequests", "Limits:"), rank=-1)
def inspected_containers(text: Text) -> Statements:
    """`docker inspect`: `"DeviceRequests": null`, and neither a node nor NVIDIA's runtime; `kubectl describe pod`: limits without a GPU."""
    engine, hit = "docker", text.first(_INSPECTED)
    if not hit:
        engine, hit = "kubernetes", text.first(_LIMITS)
    if hit and not text.first(r"\"Runtime\": ?\"nvidia|PathOnHost|(?:nvidia|amd)\.com/|gpu\.intel"):
        world = hit.states(World, container=engine, gpu_requested=False)
        world.place = world.place._replace(world=world.place.world or "container")
        yield world


_SET = (
    r"^[ \t]{1,20}(?:- [\"']?(?P<name>CUDA_VISIBLE_DEVICES)=|(?P<key>CUDA_VISIBLE_DEVICES): ?)[\"']?(?P<value>[\w,.-]{0,60})[\"']?[ \t]*$"
)


@reads(adds=(Variable,), marks=("CUDA_VISIBLE_DEVICES",), rank=-1)
def composed_variables(text: Text) -> Statements:
    """`- CUDA_VISIBLE_DEVICES=1` below `environment:`."""
    if text.first(r"^[ \t]{0,12}environment:"):
        for hit in text.each(_SET):
            yield hit.states(Variable, name="CUDA_VISIBLE_DEVICES", value=hit["value"])
