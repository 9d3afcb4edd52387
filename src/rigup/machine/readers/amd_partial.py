"""Parts of answers about AMD's nodes, groups and variables: `stat`, `id -nG`, `systemctl show`, a line of a unit."""

import re

from rigup.machine.kinds import Account, DeviceNode, Gpu, ModuleParameter, Variable
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.rocm_smi import name as product
from rigup.machine.texts import Text

_NODE = r"(?P<path>/dev/(?:kfd|dri/renderD\d{3}))"
_STAT = (
    r"^[ \t]{0,4}File: [‘'\"]?"
    + _NODE
    + r"['’\"]?[ \t]*\n(?:[^\n]{0,160}\n){0,3}?Access: \(\d{4}/(?P<mode>c[rwxsStT-]{9})\) {1,4}Uid: \( {0,8}\d{1,8}/ {0,20}(?P<owner>[\w-]{1,32})\) {1,6}Gid: \( {0,8}\d{1,8}/ {0,20}(?P<group>[\w-]{1,32})\)"
)
_ASKED = r"\bstat (?:-c|--format|--printf)[ =]?[\"'][^\"'\n]{2,60}[\"'] " + _NODE + r"[ \t]*\n(?P<answer>[^\n]{5,120})"
_BITS = ("---", "--x", "-w-", "-wx", "r--", "r-x", "rw-", "rwx")


@reads(adds=(DeviceNode,), marks=("File: ", "stat -c", "stat --"), rank=0)
def asked_nodes(text: Text) -> Statements:
    """`stat /dev/kfd`, whole or with a format: mode, owner and group."""
    for hit in text.each(_STAT):
        yield hit.states(DeviceNode, **hit.found())
    for hit in text.each(_ASKED):
        mode = re.search(r"\bc[rwxsStT-]{9}", hit["answer"])
        answer = hit["answer"].replace(mode[0], " ") if mode else hit["answer"]
        octal = re.search(r"(?<![\w-])0?(?P<bits>[0-7]{3})(?![\w-])", answer)
        owners = re.search(r"(?<![\w/-])(?P<owner>[a-z_][\w-]{1,31})[: ](?P<group>[a-z_][\w-]{1,31})(?![\w/-])", answer)
        if owners and (mode or octal):
            rights = mode[0] if mode else "c" + "".join(_BITS[int(digit)] for digit in (octal["bits"] if octal else ""))
            yield hit.states(DeviceNode, path=hit["path"], mode=rights, owner=owners["owner"], group=owners["group"])


@reads(adds=(Account,), marks=("id -nG", "id -Gn"), process="shell", rank=0)
def group_names_by_id(text: Text) -> Statements:
    """`id -nG` and the line that it printed: names alone."""
    for hit in text.each(r"\bid -(?:nG|Gn)(?: (?P<user>[\w.-]{1,32}))?[ \t]*\n(?P<names>[a-z_][\w. -]{1,500})$"):
        yield hit.states(Account, groups=re.findall(r"[\w.-]+", hit["names"]), **({"user": hit["user"]} if hit["user"] else {}))


_OVERRIDE = "HSA_OVERRIDE_GFX_VERSION"
_SHOWN = r"\bsystemctl show (?=[^\n]{0,120}Environment)(?=[^\n]{0,120}?\b(?P<unit>ollama|vllm|llama-server|llamacpp|comfyui|localai)(?:\.service)?\b)[^\n]{1,160}\nEnvironment=(?P<words>[^\n]{0,2000})$"


@reads(adds=(Variable,), marks=("systemctl show",), rank=0)
def shown_environment(text: Text) -> Statements:
    """`systemctl show ollama -p Environment`: all that the unit gives its service; what is not there is not set."""
    for hit in text.each(_SHOWN):
        match = re.search(_OVERRIDE + r"=(?P<value>[^\s\"']{0,40})", hit["words"])
        variable = hit.states(Variable, name=_OVERRIDE, value=match["value"] if match else None)
        variable.place = variable.place._replace(process="service:" + hit["unit"])
        yield variable


@reads(adds=(Variable,), marks=("Environment=",), rank=0)
def line_of_a_unit(text: Text) -> Statements:
    """`Environment="HSA_OVERRIDE_GFX_VERSION=10.3.0"` without the head of its file."""
    if "[Service]" in text.body:
        return
    for hit in text.each(
        r"^[> \t]{0,8}Environment=[\"']?(?P<name>HSA_OVERRIDE_GFX_VERSION|ROCR_VISIBLE_DEVICES|HIP_VISIBLE_DEVICES)=(?P<value>[^\s\"']{1,60})[\"']?[ \t]*$"
    ):
        variable = hit.states(Variable, **hit.found())
        variable.place = variable.place._replace(process="unit")
        yield variable


_LIMITS = r"(?P<module>ttm|amdttm|amdgpu)"


@reads(
    adds=(ModuleParameter,),
    marks=("/parameters/pages_limit", "/parameters/gttsize", "options ttm ", "options amdttm ", "options amdgpu "),
    rank=0,
)
def limits_of_mapped_memory(text: Text) -> Statements:
    """`cat /sys/module/ttm/parameters/pages_limit` and its answer; `grep`'s `ttm.conf:options ttm pages_limit=…`."""
    for hit in text.each(
        r"/sys/module/" + _LIMITS + r"/parameters/(?P<name>pages_limit|gttsize)[ \t]*\n[ \t]{0,4}(?P<running>-?\d{1,12})[ \t]*$"
    ):
        yield hit.states(ModuleParameter, **hit.found())
    for hit in text.each(
        r"^[\w./-]{3,120}\.conf:(?:\d{1,4}:)?options "
        + _LIMITS
        + r" (?:[\w=.-]{1,60} ){0,8}?(?P<name>pages_limit|gttsize)=(?P<configured>\d{1,12})\b"
    ):
        yield hit.states(ModuleParameter, **hit.found())


_LISTED = r"^[#> \t]{0,6}\[(?P<names>[\"'](?:AMD|Radeon)[^\n\]]{3,400})\][ \t]*$"
_PLAIN = ("AMD Radeon Graphics", "AMD Radeon(TM) Graphics", "AMD Radeon™ Graphics")


@reads(adds=(Gpu,), marks=("['AMD", '["AMD', "['Radeon"), rank=-1)
def names_in_a_list(text: Text) -> Statements:
    """`['AMD Radeon(TM) Graphics', 'AMD Radeon RX 7900 XT']`: what torch sees, without the line that asked."""
    for hit in text.each(_LISTED):
        names = re.findall(r"[\"']([^\"'\n]{3,80})[\"']", hit["names"])
        if len(names) > 1 and "get_device_name(" not in text.body:
            for index, name in enumerate(names):
                inner = {"integrated": True} if name in _PLAIN else {}
                yield hit.states(Gpu, vendor="amd", runtime_index=index, name=name, **inner)


@reads(adds=(Gpu,), marks=("Marketing Name:",), rank=-1)
def names_alone(text: Text) -> Statements:
    """`rocminfo | grep Marketing`: names of cards without their chips."""
    if text.first(r"^[> \t]{0,20}Name: {1,40}gfx|^[> \t]{0,40}Agent \d{1,4}[ \t]*$"):
        return
    for hit in text.each(r"^[> \t]{0,20}Marketing Name: {1,40}(?P<name>(?:AMD )?(?:Radeon|Instinct)[^\n]{2,60}?)[ \t]*$"):
        yield hit.states(Gpu, vendor="amd", name=product(hit["name"]), seen_by="rocminfo")
