"""Pieces of reports by their own lines: xformers, bitsandbytes, mmcv, docker inspect, squeue, nvidia-smi's rows of values, neofetch, `ls -l /dev/dri`."""

import re
from collections.abc import Iterator

from rigup.knowledge.chips import isa_of_capability
from rigup.knowledge.gpus import one_gpu
from rigup.knowledge.torch_builds import build
from rigup.machine.kinds import DeviceNode, Driver, Gpu, JobRequest, Torch, World
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.values import Draft, address, says, size
from rigup.machine.texts import Hit, Text

_END = r"[ \t]*$"
_VERSION = r"(?P<version>\d\.\d{1,2}\.\d{1,2}[\w.]{0,12}(?:\+[a-z]{2,4}[\d.]{0,8})?)"


@reads(marks=("pytorch.version:", "pytorch.cuda:", "gpu.compute_capability:", "build.torch_version:"), adds=(Torch, Gpu), rank=0)
def xformers_info(text: Text) -> Statements:
    """`python -m xformers.info`: `pytorch.version: 2.2.1+cpu`, `pytorch.cuda: not available`, `gpu.name: NVIDIA A100`."""
    version, cuda = (
        text.first(r"^[> \t]{0,8}pytorch\.version: {1,60}" + _VERSION + _END),
        text.first(r"^[> \t]{0,8}pytorch\.cuda: {1,60}(?P<value>available|not available)" + _END),
    )
    if version:
        yield version.states(Torch, version=version["version"])
    if cuda:
        yield cuda.states(Torch, available=cuda["value"] == "available")
    name = text.first(r"^[> \t]{0,8}gpu\.name: {1,60}(?P<name>[A-Z][^\n]{3,60}?)" + _END)
    capability = text.first(r"^[> \t]{0,8}gpu\.compute_capability: {1,60}(?P<told>\d{1,2}\.\d)" + _END)
    row = one_gpu(name["name"]) if name else None
    if name and row and row.vendor == "nvidia":
        isa = isa_of_capability(capability["told"]) if capability else row.isa
        yield from says(text, Gpu, name.start, vendor="nvidia", name=name["name"], isa=isa or None, seen_by="torch")


@reads(marks=("CUDA SETUP: ", "=== bitsandbytes v", "Highest compute capability"), adds=(Torch, Gpu), rank=-1)
def bitsandbytes_report(text: Text) -> Statements:
    """`CUDA SETUP: Highest compute capability among GPUs detected: 8.6`; since 0.46 `PyTorch: 2.7.1+cpu` and `CUDA: N/A` below it."""
    for hit in text.each(r"[Hh]ighest [Cc]ompute [Cc]apability among GPUs detected: (?P<told>\d{1,2}\.\d)"):
        yield from says(text, Gpu, hit.start, vendor="nvidia", isa=isa_of_capability(hit["told"]), seen_by="cuda")
    block = (
        r"^PyTorch: " + _VERSION + r"[ \t]*\n[ \t]{1,4}CUDA: (?P<cuda>N/A|\d{1,2}\.\d)[ \t]*\n[ \t]{1,4}HIP: (?P<hip>N/A|\d[\w.-]{1,30})"
    )
    for hit in text.each(block):
        toolkits = {key: None if hit[key] == "N/A" else hit[key] for key in ("cuda", "hip")}
        yield hit.states(Torch, version=hit["version"], **toolkits)


@reads(marks=("CPU capability usage",), adds=(Torch,), rank=-1)
def build_without_cuda(text: Text) -> Statements:
    """`torch.__config__.show()` and mmcv's copy of it: behind the line of the processor comes CUDA's, where the build has it."""
    if re.search(r"CUDA Runtime|HIP Runtime|USE_(?:CUDA|ROCM)=(?:1|ON)|MPS|_M_ARM64", text.body):
        return
    for hit in text.each(r"^[> \t]{0,8}- CPU capability usage: \w{2,20}[ \t]*\n[> \t]{0,8}(?:- Build settings:|TorchVision:|\n)"):
        yield hit.states(Torch, cuda=None, hip=None)


_NVIDIAS = r"^[> \t]{0,40}(?:\[(?:pip3?|conda)\] )?nvidia-(?:cublas|cudnn|nccl|cufft|cusparse|cuda-nvrtc|cuda-runtime|nvjitlink)-cu(?P<major>1[1-3])(?:==|[ \t]{1,60})\d"
_PLAIN = r"^[> \t]{0,40}(?:\[(?:pip3?|conda)\] )?torch(?:==|[ \t]{1,60})(?P<version>\d\.\d{1,2}\.\d)" + _END

_JUST_NOW = r"^[ \t]{0,4}Successfully installed (?:\S{3,60} ){0,120}?torch-(?P<version>\d\.\d{1,2}\.\d)(?= |$)[^\n]{0,4000}"
_BROUGHT = r" nvidia-[a-z-]{3,30}-cu(1[1-3])-\d"


@reads(marks=("-cu11", "-cu12", "-cu13"), adds=(Torch,), rank=-3)
def torch_among_nvidias_packages(text: Text) -> Statements:
    """A torch without a local version beside packages that only PyPI's build for NVIDIA brings: the table knows its CUDA."""
    just = text.first(_JUST_NOW)
    majors = {hit["major"] for hit in text.each(_NVIDIAS)} | set(re.findall(_BROUGHT, just.match[0]) if just else ())
    hit = text.first(_PLAIN) or just
    row = build(hit["version"]) if hit and len(majors) == 1 else None
    if hit and row and not row.extrapolated and row.cuda and row.cuda.partition(".")[0] in majors:
        yield hit.states(Torch, version=hit["version"], cuda=row.cuda)


@reads(marks=('"DeviceRequests"', '"Runtime": "'), adds=(World,), rank=-1)
def inspected_container(text: Text) -> Statements:
    """`docker inspect`: what a container was started with; of several nobody knows which one is meant."""
    requests = {hit["value"] for hit in text.each(r"\"DeviceRequests\": ?(?P<value>null|\[\]|\[)")}
    runtime = text.first(r"\"Runtime\": ?\"nvidia\"|\"(?:NVIDIA_VISIBLE_DEVICES|PathOnHost\": ?\"/dev/(?:nvidia|kfd|dri))")
    hit = text.first(r"\"DeviceRequests\": ?(?:null|\[\])")
    if hit and len(requests) == 1 and not runtime:
        world = hit.states(World, container="docker", gpu_requested=False)
        world.place = world.place._replace(world=world.place.world or "container")
        yield world


@reads(marks=("TRES_PER_NODE", "TresPerNode="), adds=(JobRequest,), rank=-2)
def job_by_one_line(text: Text) -> Statements:
    """squeue with `%b` and `N/A` in the only row; `TresPerNode=gres:gpu:1` cut out of scontrol's report."""
    head = text.first(
        r"^[ \t]{0,12}(?P<names>[A-Z][A-Z_() \t]{3,200}?[ \t]TRES_PER_NODE(?:[ \t][A-Z_() \t]{0,100})?)\n(?P<row>[^\n]{5,300})(?:\n(?!\s{0,8}\d)|\Z)"
    )
    if head:
        names, row = head["names"].split(), head["row"].split()
        if len(row) == len(names) and row[names.index("TRES_PER_NODE")] in ("N/A", "(null)"):
            yield head.states(JobRequest, asked=False)
    counts = {hit["count"] for hit in text.each(r"\bTresPerNode=gres[:/]gpu(?::[a-zA-Z]\w{0,20})?[:=](?P<count>\d{1,2})\b")}
    if len(counts) == 1:
        hit = text.first(r"\bTresPerNode=gres")
        if hit:
            yield hit.states(JobRequest, asked=True, gpus_per_node=int(counts.pop()))


_CARD = r"(?P<name>(?:NVIDIA|Tesla|Quadro|GeForce|TITAN|RTX|GRID)[\w ().-]{1,60}?)"
_FIELD = r"(?:\d{1,2}|GPU-[0-9a-f-]{36}|[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d|\d{1,2}\.\d|\d{3}\.\d{2,3}(?:\.\d{1,2})?|\d{1,6} (?:MiB|%|W|MHz)|\d{1,3}\.\d{2} W|\d{1,6}|Default|Exclusive_Process|Prohibited|Enabled|Disabled|P\d{1,2}|N/A|\[[\w /]{3,30}\]|[\d.]{10,16})"
_LEAST = 1 << 30  # bytes that a card has; less is what of it is in use
_ROW = r"^[> \t]{0,8}(?P<before>(?:" + _FIELD + r", ?){0,3})" + _CARD + r"(?P<after>(?:, ?" + _FIELD + r"){1,12})" + _END


@reads(marks=("NVIDIA ", "Tesla ", "Quadro ", "GeForce ", "TITAN "), adds=(Gpu, Driver), rank=-1)
def row_of_values(text: Text) -> Statements:
    """`0, NVIDIA GeForce RTX 5090, 12.0, 572.60`: a row of `--query-gpu` whose head was cut off, each value by its form."""
    if text.first(r"^(?:index|name|gpu_name|uuid|driver_version|pci\.bus_id|timestamp), ?"):
        return
    asked = [hit["fields"] for hit in text.each(r"--query-gpu[= ]\"?(?P<fields>[a-z][\w.,]{2,800})")]
    in_use = any("memory.used" in fields or "memory.free" in fields for fields in asked)
    for hit in list(text.each(_ROW))[:64]:
        yield from _row(hit, in_use)


def _row(hit: Hit, in_use: bool) -> Iterator[Gpu | Driver]:
    """`in_use`: the size is, or may be, of what is in use and not of the card."""
    values = [part.strip() for part in (hit["before"] + "," + hit["after"]).split(",") if part.strip()]
    draft = Draft(hit.text, Gpu, hit.start)
    draft.add("vendor", "nvidia")
    draft.add("name", hit["name"])
    draft.add("seen_by", "nvidia-smi")
    draft.add("nvml_index", int(hit["before"].split(",")[0]) if re.match(r"\d{1,2},", hit["before"]) else None)
    draft.add("pci_address", next((known for part in values if (known := address(part))), None))
    draft.add("isa", next((isa_of_capability(part) for part in values if re.fullmatch(r"(?:[3-9]|1[0-2])\.\d", part)), None))
    memory = [part for part in values if part.endswith(" MiB")]
    total = size(memory[0], "m") if len(memory) == 1 else None
    draft.add("vram", total if total and total >= _LEAST and not in_use else None)
    yield from draft.facts("vendor", "seen_by")
    driver = next((part for part in values if re.fullmatch(r"\d{3}\.\d{2,3}(?:\.\d{1,2})?", part)), None)
    yield from says(hit.text, Driver, hit.start, vendor="nvidia", version=driver) if driver else ()


_NODE = r"^(?P<mode>c[rwxsStT-]{9})(?P<acl>[+.@]?) {1,4}\d{1,3} {1,8}(?P<owner>\w{1,32}) {1,8}(?P<group>[\w-]{1,32}) {1,8}\d{1,4}, {1,8}\d{1,4} [^\n/]{5,30} (?P<name>renderD1\d\d|kfd)[ \t]*$"


@reads(adds=(DeviceNode,), marks=(" renderD12", " kfd\n", " kfd "), rank=-1)
def nodes_without_their_folder(text: Text) -> Statements:
    """`ls -l /dev/dri` names the render nodes alone."""
    for hit in text.each(_NODE):
        path = "/dev/kfd" if hit["name"] == "kfd" else "/dev/dri/" + hit["name"]
        rights = {key: hit[key] for key in ("mode", "owner", "group")}
        yield hit.states(DeviceNode, path=path, acl=hit["acl"] == "+", **rights)


_DRIVES = (
    r"^[ \t>*•|-]{0,8}(?:\*{2})?(?:[Kk]ernel )?(?:[Dd]river|[Mm]odule)(?: in use| loaded| used)?(?:\*{2})?[ \t]{0,4}[:=|][ \t*\"]{0,6}(?P<driver>nouveau|nova_core|vfio-pci)\"?"
    + _END
)


_NONE = r"^[ \t>*•|-]{0,8}(?:\*{2})?(?:NVIDIA |GPU |Kernel )?[Dd]river(?: version| in use)?(?:\*{2})?[ \t]{0,4}[:=|][ \t*]{0,6}(?:none|None|not installed|no driver)[ \t|]*$"


@reads(adds=(Gpu,), marks=("nouveau", "nova_core", "vfio-pci", "river: n", "river: N", "river = n"), rank=-2)
def driver_of_stated_card(text: Text) -> Statements:
    """`Kernel driver: nouveau` in a person's own list."""
    if hit := text.first(_DRIVES):
        yield hit.states(Gpu, vendor="nvidia", driver=hit["driver"])
    elif re.search(r"NVIDIA|GeForce|RTX|GTX|Tesla", text.body) and (hit := text.first(_NONE)):
        yield hit.states(Gpu, vendor="nvidia", driver=None)
