"""What people keep of AMD's reports: rows that `grep` left, one command's answer, a listing without its folder."""

import re
from collections.abc import Iterator

from rigup.machine.kinds import DeviceNode, Gpu, KernelLibrary, KernelModule, Memory, Toolkit, Torch, Variable
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.rocm_smi import gfx
from rigup.machine.readers.rocm_smi import name as product
from rigup.machine.readers.values import Draft, says, size, vendor_of
from rigup.machine.texts import Hit, Text

_MOST = 400  # names of one listing
_ROW = r"^[> \t]{0,20}(?:Name: {1,40}(?P<name>[^\n]{2,80}?)|Marketing Name: {0,40}(?P<market>[^\n]{0,80}?)|(?P<other>[A-Z][\w /]{2,30}: {1,40}[^\n]{0,100}?|-{2}))[ \t]*$"


@reads(adds=(Gpu,), marks=("Marketing Name:",), rank=0)
def grepped_agents(text: Text) -> Statements:
    """`rocminfo | grep -E 'gfx|Marketing'`: what a chip is shown as stands above the name that it is sold under."""
    if text.first(r"^[> \t]{0,40}Agent \d{1,4}[ \t]*$"):
        return
    agents: list[tuple[Hit, str]] = []
    for row in text.each(_ROW):
        if row["name"]:
            agents.append((row, ""))
        elif row["market"] and agents and not agents[-1][1]:
            agents[-1] = (agents[-1][0], row["market"])
    cards = [(row, market) for row, market in agents if re.fullmatch(r"gfx[0-9a-f]{3,4}", row["name"]) and market]
    again = len({(row["name"], market) for row, market in cards}) < len(cards)  # the same may be shown twice
    for index, (row, market) in enumerate(cards):
        draft = Draft(text, Gpu, row.start)
        draft.add("vendor", "amd")
        draft.add("shown_isa", gfx(row["name"]))
        draft.add("name", product(market))
        draft.add("runtime_index", None if again else index)
        draft.add("seen_by", "rocminfo")
        yield from draft.facts("vendor")


@reads(adds=(Gpu,), marks=("rocm_agent_enumerator",), rank=0)
def enumerated_agents(text: Text) -> Statements:
    """`rocm_agent_enumerator`: a chip a line; gfx000 is the processor. One of several commands, its lines stand after the others'."""
    chips = r"(?:[> \t]{0,8}gfx[0-9a-f]{3,4}[ \t]*(?:\n|\Z)){1,64})"
    below = list(text.each(r"rocm_agent_enumerator(?: -[\w-]{1,10})?[ \t]*\n(?P<chips>" + chips))
    for hit in below or text.each(r"^gfx000[ \t]*\n(?P<chips>" + chips):
        for chip in sorted(set(hit["chips"].split()) - {"gfx000", ">"}):
            yield hit.states(Gpu, vendor="amd", shown_isa=chip, seen_by="rocm_agent_enumerator")


@reads(adds=(Gpu,), marks=("gcnArchName",), rank=0)
def chip_in_python(text: Text) -> Statements:
    """`torch.cuda.get_device_properties(0).gcnArchName` and its answer, or a printed line of properties."""
    for hit in text.each(
        r"\.gcnArchName\){0,2}[\"']?[ \t]*\n(?:Out ?\[\d{1,4}\]: ?)?[ \t]*[\"']?(?P<chip>gfx[0-9a-f]{3,4})(?::[\w:+-]{1,40})?[\"']?[ \t]*$"
    ):
        yield hit.states(Gpu, vendor="amd", shown_isa=hit["chip"])


@reads(adds=(Gpu,), marks=("AMD arch: gfx",), rank=0)
def chip_of_comfyui(text: Text) -> Statements:
    """`AMD arch: gfx1103`, as ComfyUI says at its start."""
    for hit in text.each(r"^[^\n]{0,60}\bAMD arch: (?P<chip>gfx[0-9a-f]{3,4})\b"):
        yield hit.states(Gpu, vendor="amd", shown_isa=hit["chip"])


@reads(adds=(Torch,), marks=("amdhsa--gfx", "amdgcn-amd-amdhsa", "libtorch_hip.so"), rank=0)
def code_in_torch(text: Text) -> Statements:
    """`strings libtorch_hip.so | grep amdhsa`: what torch was compiled for."""
    hit = text.first(
        r"^[^\n]{0,200}libtorch_hip\.so[^\n]{0,200}\n(?P<rows>(?:[^\n]{0,40}amdhsa--gfx[0-9a-f]{3,4}[^\n]{0,40}(?:\n|\Z)){1,200})"
    )
    if hit:
        yield hit.states(Torch, code=sorted(set(re.findall(r"amdhsa--(gfx[0-9a-f]{3,4})", hit["rows"]))))
    cut = text.first(
        r"^[^\n]{0,200}libtorch_hip\.so[^\n]{0,60}\|[^\n]{0,200}\n(?P<chips>(?:[ \t]{0,8}gfx[0-9a-f]{3,4}(?::\S{1,20})?[ \t]{0,8}(?:\n|\Z)){2,80})"
    )
    if cut and not hit:  # the chips alone, a line each; one by itself is what somebody asked for
        yield cut.states(Torch, code=sorted(set(re.findall(r"gfx[0-9a-f]{3,4}", cut["chips"]))))


@reads(adds=(KernelLibrary,), marks=("rocblas/library", "hipblaslt/library"), rank=0)
def listed_kernels(text: Text) -> Statements:
    """`ls /opt/rocm/lib/rocblas/library | grep -o 'gfx[0-9a-f]*' | sort -u`, or the files' bare names."""
    for hit in text.each(
        r"^[^\n]{0,40}\bls\b[^\n|]{0,40} (?P<path>/[^\s|]{1,160}/(?P<tool>rocblas|hipblaslt)/library)/?(?P<how>[^\n]{0,160})\n"
    ):
        rows = _names(text.body, hit.match.end())
        code = sorted({found for row in rows for found in re.findall(r"gfx[0-9a-f]{3,4}(?![0-9a-f])", row)})
        if len(code) > 1:  # one chip alone is what somebody asked for
            yield hit.states(KernelLibrary, path=hit["path"], name=hit["tool"], code=code, owner=_owner(hit["path"]))


def _names(body: str, start: int) -> Iterator[str]:
    """Rows of an answer: file names and chips, up to what is neither."""
    for line in body[start:].split("\n", _MOST)[:_MOST]:
        if not re.fullmatch(
            r"[> \t]{0,8}(?:gfx[0-9a-f]{3,4}[ \t]{1,8}){1,60}(?:gfx[0-9a-f]{3,4})?|[> \t]{0,8}(?:[\w.-]{0,160}gfx[0-9a-f]{3,4}[\w.-]{0,120}[ \t]{0,8}){1,8}|[\w.-]{1,160}\.(?:co|dat|hsaco)",
            line,
        ):
            return
        yield line


def _owner(path: str) -> str:
    return "ollama" if "/ollama" in path else "torch" if "/torch/lib" in path else "shown"


# What only AMD's runtimes read: a line of it means the same wherever it stands.
_OURS = r"(?P<name>HSA_OVERRIDE_GFX_VERSION(?:_\d{1,2})?|ROCR_VISIBLE_DEVICES|HIP_VISIBLE_DEVICES|GPU_DEVICE_ORDINAL)"


@reads(
    adds=(Variable,),
    marks=("HSA_OVERRIDE_GFX_VERSION", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"),
    rank=-1,
    process="shell",
)
def bare_variables(text: Text) -> Statements:
    """`HSA_OVERRIDE_GFX_VERSION=10.3.0`: a line of `env | grep`, or of a compose file; and what `echo` answers."""
    for hit in text.each(r"^" + _OURS + r"=[\"']?(?P<value>[\w.,-]{1,80})[\"']?[ \t]*$"):
        yield hit.states(Variable, **hit.found())
    for hit in text.each(r"\becho [\"']?\$\{?" + _OURS + r"\}?[\"']?[ \t]*\n(?P<value>\d[\w.,-]{0,40})[ \t]*$"):
        yield hit.states(Variable, **hit.found())
    for hit in text.each(r"^ {2,12}(?:- [\"']?" + _OURS + r"=)[\"']?(?P<value>[\w.,-]{1,80})[\"']?[ \t]*$"):
        variable = hit.states(Variable, **hit.found())
        variable.place = variable.place._replace(world=variable.place.world or "container", process="")
        yield variable


@reads(adds=(DeviceNode,), marks=("# file: dev/kfd", "# file: dev/dri/"), rank=0)
def acl_of_a_node(text: Text) -> Statements:
    """`getfacl /dev/kfd`: owner, group, and what others may."""
    for hit in text.each(
        r"^# file: (?P<path>dev/(?:kfd|dri/renderD\d{3}))\n# owner: (?P<owner>\S{1,32})\n# group: (?P<group>\S{1,32})\n(?:# flags[^\n]{0,20}\n)?"
        r"user::(?P<user>[rwx-]{3})\n(?P<named>(?:(?:user|group|mask):[^\n]{1,60}\n){1,20})other::(?P<other>[rwx-]{3})"
    ):
        own = re.search(r"^group::([rwx-]{3})", hit["named"], re.MULTILINE)
        yield hit.states(
            DeviceNode,
            path="/" + hit["path"],
            owner=hit["owner"],
            group=hit["group"],
            mode="c" + hit["user"] + (own[1] if own else "---") + hit["other"],
            acl=bool(re.search(r"^(?:user|group):[^:\n]", hit["named"], re.MULTILINE)),
        )


@reads(adds=(KernelModule,), marks=("amdgpu",), rank=0)
def module_in_the_kernel(text: Text) -> Statements:
    """`modinfo amdgpu` and `modules.builtin` tell that it is no file; a blacklist tells that it is not to be loaded."""
    for hit in text.each(
        r"^name:[ \t]{1,20}amdgpu[ \t]*\nfilename:[ \t]{1,20}\(builtin\)|\bmodinfo[^\n]{0,30}\bamdgpu\b[^\n]{0,60}\n(?:filename:[ \t]{1,20})?\(builtin\)|^(?:kernel/)?drivers/gpu/drm/amd/amdgpu/amdgpu\.ko[ \t]*$"
    ):
        yield hit.states(KernelModule, name="amdgpu", built_in=True)
    for hit in text.each(r"^[ \t]{0,4}(?:[\w./-]{1,60}:)?(?:blacklist amdgpu|install amdgpu /bin/(?:false|true))[ \t]*$"):
        yield hit.states(KernelModule, name="amdgpu", blacklisted=True)


@reads(adds=(Toolkit,), marks=("rocm-core",), rank=-1)
def release_of_core(text: Text) -> Statements:
    """`ii  rocm-core  7.0.2.70002-56~24.04`: the package is numbered as the release is."""
    for hit in text.each(
        r"^[> \t]{0,8}(?:ii {1,4})?rocm-core(?::\w{2,8}|/\S{1,40})?[-\s]{1,40}(?P<version>\d{1,2}\.\d{1,2}\.\d{1,2})\b[^\n]{0,120}$"
    ):
        yield hit.states(Toolkit, name="rocm", version=hit["version"])


_BOTH = r"get_device_name\([^\n]{0,120}(?:range\(|device_count)[^\n]{0,80}\n[ \t]{0,4}\[(?P<names>['\"][^\n\]]{4,400})\][ \t]*$"


@reads(adds=(Gpu,), marks=("get_device_name(",), rank=0)
def devices_of_torch(text: Text) -> Statements:
    """`[torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]`: all that torch sees, in its order."""
    for hit in text.each(_BOTH):
        names = re.findall(r"['\"]([^'\"\n]{3,80})['\"]", hit["names"])
        if any("AMD" in name or "Radeon" in name for name in names):
            plain = ("AMD Radeon Graphics", "AMD Radeon(TM) Graphics")
            for index, name in enumerate(names):
                inner = {"integrated": True} if name in plain and len(names) > 1 else {}
                yield hit.states(Gpu, vendor="amd", runtime_index=index, name=name, **inner)


@reads(adds=(Memory,), marks=("Mem: ",), rank=-1)
def memory_with_a_unit(text: Text) -> Statements:
    """`free -h`: `Mem:   125Gi   4.2Gi`. What has no unit may be counted in anything."""
    for hit in text.each(r"^Mem: {1,12}(?P<total>\d{1,5}(?:\.\d)?)(?P<unit>[GMT])i? {1,12}[\d.]{1,6}[KMGTB]i? "):
        yield hit.states(Memory, total=size(hit["total"] + " " + hit["unit"] + "iB"))


_FREE = (
    r"^(?:[^\n]{0,80}[$#>%] ?free(?: -(?P<flag>[hmgk])\w{0,2})?[ \t]*\n)?[ \t]{4,20}total {3,12}used {3,12}free {3,12}shared {1,4}buff/cache {1,4}available\n"
    r"Mem: {1,20}(?P<total>[\d.]{1,12})(?P<unit>[KMGT]?)i?(?: {1,16}[\d.]{1,12}[KMGTB]?i?){4} {1,16}(?P<free>[\d.]{1,12})(?P<of>[KMGT]?)i?[ \t]*$"
)


@reads(adds=(Memory,), marks=("buff/cache",), rank=-1)
def memory_that_may_be_had(text: Text) -> Statements:
    """`free` of today counts in KiB where nobody tells it otherwise; without its command a bare number says nothing."""
    for hit in text.each(_FREE):
        unit = (hit["flag"] or "").upper() or "?"
        units = [letter or unit for letter in (hit["unit"] or "", hit["of"] or "")]
        if "H" not in units and "?" not in units:
            total, free = (size(f"{number} {letter}iB") for number, letter in zip((hit["total"], hit["free"]), units, strict=True))
            yield hit.states(Memory, total=total, available=free)


_SURVEYED = r'"name":"(?P<name>[^"\n]{3,80})","deviceId":(?P<index>\d{1,2}),[^{}\n]{0,400}(?P<rest>[^}\n]{0,200}(?:\{[^}\n]{0,120}\})?[^}\n]{0,120})'


@reads(adds=(Gpu,), marks=('"rocmGfxVersion"',), rank=0)
def surveyed_cards(text: Text) -> Statements:
    """LM Studio's survey: name, number, chip, and whether it stands in a processor."""
    for hit in text.each(_SURVEYED):
        row = hit.match[0]
        chip = re.search(r'"rocmGfxVersion":"(gfx[0-9a-f]{3,4})"', row)
        inner = re.search(r'"integrationType":"(Integrated|Discrete)"', row)
        chip_fields = {"shown_isa": chip[1]} if chip else {}
        known = {"integrated": inner[1] == "Integrated"} if inner else {}
        yield hit.states(Gpu, vendor="amd", name=hit["name"], runtime_index=int(hit["index"]), **chip_fields, **known)


_BANNER = r"\btorch[- ](?P<version>\d\.\d[\w.+-]{1,40}) CUDA:(?P<index>\d{1,2}) \((?P<name>[A-Z][^\n,]{3,70}), (?P<mib>\d{4,6})(?:\.\d{1,6})?Mi?B\)"


@reads(adds=(Torch, Gpu), marks=(" CUDA:0 (",), rank=-1)
def banner_of_a_trainer(text: Text) -> Statements:
    """`torch-2.5.1+rocm6.2 CUDA:0 (AMD Radeon RX 7900 XTX, 24560MiB)`: torch gave the program that device."""
    for hit in text.each(_BANNER):
        yield from says(text, Torch, hit.start, version=hit["version"], available=True)
        if vendor := vendor_of(hit["name"]):
            yield from says(
                text, Gpu, hit.start, vendor=vendor, name=hit["name"], runtime_index=int(hit["index"]), vram=size(hit["mib"] + " M")
            )
