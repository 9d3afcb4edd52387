"""Single lines that tools print of a card and its driver, without the report around them: versions, names, nodes, groups."""

import re

from rigup.knowledge.gpus import one_gpu
from rigup.machine.kinds import DeviceNode, Driver, Gpu, Platform
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.values import address, says, vendor_of
from rigup.machine.texts import Text

_NUMBER = r"(?P<version>\d{3}\.\d{2,3}(?:\.\d{1,2})?)"
_VERSIONS = (
    r"^[> \t]{0,8}DRIVER version {1,12}: " + _NUMBER + r"[ \t]*$",  # nvidia-smi --version
    r"^[> \t|]{0,8}NVIDIA-SMI(?: version)?(?: {1,12}:)? {1,4}" + _NUMBER + r"[ \t|]*$",  # its first words alone
    r"^[> \t]{0,8}NVRM version: NVIDIA UNIX [^\n]{3,60}? {1,4}" + _NUMBER + r"(?: |$)",
    r"^NVIDIA driver " + _NUMBER + r"(?:\.0)?[ \t]*$",  # Julia's versioninfo
    r"^[> \t]{0,8}driver_version[ \t]{0,8}[:=\n] {0,4}" + _NUMBER + r"[ \t]*$",
)


@reads(marks=("DRIVER version", "NVIDIA-SMI", "NVRM version", "NVIDIA driver ", "driver_version"), adds=(Driver,), rank=-2)
def driver_on_one_line(text: Text) -> Statements:
    """`DRIVER version : 550.54.15`, `NVIDIA-SMI 535.104.05`, `driver_version` and its answer."""
    for form in _VERSIONS:
        if hit := text.first(form):
            yield hit.states(Driver, vendor="nvidia", version=hit["version"])
            return


_NAMES = (
    r"^[> \t]{0,8}Product Name {1,40}: (?P<name>[A-Z][^\n]{2,60}?)[ \t]*$",
    r"^[> \t]{0,8}Card-\d: (?P<name>(?:NVIDIA|AMD|Advanced Micro Devices|Intel)[^\n]{3,100}?) (?:bus-ID: \S{5,12} )?driver: (?P<driver>\S{2,30})",
    r"^[> \t]{0,8}Model: {1,40}\"?(?P<name>(?:nVidia|NVIDIA|AMD|ATI|Intel) [^\n\"]{3,80})\"?[ \t]*$",
)


@reads(marks=("Product Name", "Card-1:", "Card-2:", "Model: "), adds=(Gpu,), rank=-2)
def card_on_one_line(text: Text) -> Statements:
    """`Product Name : Tesla K80` of a long report's middle, `Card-1: NVIDIA GM107 [GeForce GTX 750 Ti] driver: nouveau` of an older inxi, hwinfo's `Model:`."""
    if text.first(r"^GPU [0-9A-Fa-f]{8}:|^[> \t]{0,8}Graphics:"):
        return
    for form in _NAMES:
        for hit in list(text.each(form))[:16]:
            groups = hit.found()
            inner = re.search(r"\[([^\]]{3,60})\]|\"([^\"]{3,60})\Z", groups["name"])
            row = one_gpu(inner[1] or inner[2]) if inner else one_gpu(groups["name"])
            maker = row.vendor if row else vendor_of(groups["name"])
            if not maker or (form == _NAMES[0] and not row):
                continue
            driver = groups.get("driver")
            driver_field = {} if driver in (None, "N/A") else {"driver": driver}
            isa = {"isa": row.isa} if row and row.isa else {}
            yield hit.states(Gpu, vendor=maker, name=row.name if row else groups["name"], **driver_field, **isa)


_PRODUCT = r"^[> \t]{0,40}product: (?P<name>[A-Z]{1,2}\w{2,6} \[(?P<inner>[^\]\n]{3,60})\])[ \t]*\n(?:[> \t]{0,40}(?!\*)[a-z ]{3,20}: [^\n]{1,120}\n){0,8}?[> \t]{0,40}configuration: (?:[\w.=]{1,40} ){0,4}?driver=(?P<driver>[\w-]{2,20})"


@reads(marks=("product: ",), adds=(Gpu,), rank=-2)
def product_without_its_maker(text: Text) -> Statements:
    """lshw's `product: GP102 [TITAN Xp]` and `configuration: driver=nouveau`, the line of the maker cut away."""
    if text.first(r"^[> \t]{0,40}vendor: "):
        return
    for hit in list(text.each(_PRODUCT))[:16]:
        row = one_gpu(hit["inner"])
        if row and row.vendor:
            isa_field = {"isa": row.isa} if row.isa else {}
            yield hit.states(Gpu, vendor=row.vendor, name=row.name, driver=hit["driver"], **isa_field)


@reads(marks=("__cuda",), adds=(Driver,), rank=-3)
def conda_virtual_package(text: Text) -> Statements:
    """`__cuda=11.4=0`: the CUDA that conda heard of from the driver."""
    if hit := text.first(r"(?:^|[\s:])__cuda[= ]{1,4}(?P<cuda>\d{1,2}\.\d{1,2})(?:=\d|[ \t]{1,20}\d|[ \t]*$)"):
        yield hit.states(Driver, vendor="nvidia", cuda=hit["cuda"])


_ACL = r"^# file: /?(?P<path>dev/(?:nvidia[\w-]{1,16}|kfd|dri/renderD\d{3}))[ \t]*\n# owner: (?P<owner>\w{1,32})[ \t]*\n# group: (?P<group>[\w-]{1,32})[ \t]*\n(?P<acl>(?:[a-z]{4,5}:[\w-]{0,32}:[rwx-]{3}[^\n]{0,40}(?:\n|\Z)){2,12})"


_STAT = r"^(?P<mode>c[rwxsStT-]{9}) (?P<owner>\w{1,32})[ :](?P<group>[\w-]{1,32}) (?P<path>/dev/(?:nvidia[\w-]{1,16}|kfd|dri/renderD\d{3}))[ \t]*$"


@reads(marks=("# file: dev/", "# file: /dev/", "\ncrw"), adds=(DeviceNode,), rank=0)
def listed_rights(text: Text) -> Statements:
    """`getfacl /dev/nvidia0`, and `stat -c '%A %U %G %n'`: owner, group and what each of them may."""
    for hit in text.each(_STAT):
        yield hit.states(DeviceNode, **hit.found())
    for hit in text.each(_ACL):
        rights = dict(re.findall(r"^(user|group|other)::([rwx-]{3})", hit["acl"], re.MULTILINE))
        single = re.search(r"^(?:user|group):[\w-]{1,32}:", hit["acl"], re.MULTILINE) is not None
        mode = "c" + "".join(rights.get(subject, "---") for subject in ("user", "group", "other"))
        owners = {"owner": hit["owner"], "group": hit["group"]}
        yield hit.states(DeviceNode, path="/" + hit["path"], mode=mode, acl=single, **owners)


@reads(marks=("Name: NVIDIA", "name: NVIDIA", "deviceName ", "Board Name:", "Device Name "), adds=(Gpu,), rank=-2)
def device_name_on_one_line(text: Text) -> Statements:
    """`deviceName = AMD Radeon RX 7800 XT (RADV NAVI32)`, `Board Name: …`: what vulkaninfo, clinfo and their kin call it."""
    form = r"^[> \t|]{0,12}(?:\d{1,2} {1,12}\| )?(?:deviceName|Board Name|Device Name|Device Board Name \(AMD\)|Name)[ \t]{0,60}[:=]?[ \t]{1,44}(?P<name>(?:NVIDIA|AMD|Radeon|Intel\(R\) (?:Arc|Data Center))[^\n:]{3,70}?)(?: \([^)\n]{2,40}\))?[ \t|]*$"
    named = {hit["name"]: hit for hit in list(text.each(form))[:16]}
    for name, hit in named.items():
        row = one_gpu(name)
        if row and row.vendor and re.search(r"\d", name):
            isa_field = {"isa": row.isa} if row.isa else {}
            yield from says(text, Gpu, hit.start, vendor=row.vendor, name=name, integrated=row.integrated, **isa_field)


_RELEASE = r"^(?P<release>\d\.\d{1,2}\.\d{1,3}-[\w.+-]{0,24}(?:generic|amd64|lowlatency|hwe|zen\d-\d|arch\d-\d|fc\d\d\.x86_64|el\d[\w.]{0,6}\.x86_64|pve|aws|azure|gcp|oem))[ \t]*$"


@reads(marks=("-generic\n", "-amd64\n", "-lowlatency\n", ".x86_64\n", "-pve\n", "-aws\n", "-azure\n", "-oem\n"), adds=(Platform,), rank=-3)
def release_of_the_kernel_alone(text: Text) -> Statements:
    """`6.11.0-17-generic` as a line of its own is what `uname -r` printed, unless a folder was listed."""
    named = {hit["release"]: hit for hit in text.each(_RELEASE)}
    if len(named) == 1 and not re.search(r"/lib/modules(?!/)|/boot\b|/usr/src\b|linux-(?:image|headers)", text.body):
        for release, hit in named.items():
            yield hit.states(Platform, system="linux", release=release)


_BOXED = r"^[ \t]{0,4}[│┃] {0,6}(?P<index>\d{1,2}) {1,4}(?P<name>(?:NVIDIA|Tesla|Quadro|GeForce|TITAN|RTX|GRID)[\w ().-]{1,50}?) {2,30}(?:(?:On|Off|WDDM|TCC|N/A) {0,6})?[│┃] {1,6}(?P<pci>[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d)"
_QUOTED = r"^(?P<pci>(?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.\d) \"(?:VGA|3D|Display)[^\"\n]{2,40}\" \"(?P<maker>[^\"\n]{2,60})\" \"[^\"\n]{0,60}\[(?P<name>[^\]\"\n]{3,60})\]\""
_SHORT = r"^[ \t]{0,4}/0(?:/[\w.]{1,8}){1,8}[ \t]{1,40}(?:/dev/fb\d[ \t]{1,20})?display[ \t]{1,12}[^\n\[]{2,40}\[(?P<name>[^\]\n]{3,60})\]"
_RENDERER = r"^[ \t]{0,8}(?:OpenGL renderer string|OpenGL: renderer|GLX Renderer): ?(?P<name>(?:NVIDIA )?(?:GeForce|Quadro|RTX|TITAN|Tesla|NVIDIA)[^\n/]{2,60})/PCIe/SSE2"


@reads(marks=("│ ", "┃ ", '"VGA', '"3D', '"Display', " display ", "/PCIe/SSE2"), adds=(Gpu,), rank=-2)
def card_in_other_frames(text: Text) -> Statements:
    """nvidia-smi's row in drawn lines, `lspci -mm`, `lshw -short`, and the renderer of a desktop that NVIDIA's driver draws."""
    for hit in [hit for form in (_BOXED, _QUOTED, _SHORT, _RENDERER) for hit in text.each(form)][:16]:
        groups = hit.found()
        row = one_gpu(groups["name"])
        if row is None or not row.vendor:
            continue
        fields: dict[str, object] = {"isa": row.isa} if row.isa else {}
        if known := address(groups.get("pci", "")):
            fields["pci_address"] = known
        if "index" in groups:
            fields |= {"nvml_index": int(groups["index"]), "seen_by": "nvidia-smi"}
        yield hit.states(Gpu, vendor=row.vendor, name=groups["name"], **fields)


@reads(marks=("TARGET_GRAPHICS_VERSION",), adds=(Gpu,), rank=-2)
def target_of_amd_smi(text: Text) -> Statements:
    """`TARGET_GRAPHICS_VERSION: gfx942`, cut out of `amd-smi static`."""
    for hit in [] if "MARKET_NAME" in text.body else list(text.each(r"TARGET_GRAPHICS_VERSION: (?P<shown_isa>gfx[0-9a-f]{3,4})\b"))[:16]:
        yield hit.states(Gpu, vendor="amd", shown_isa=hit["shown_isa"], seen_by="amd-smi")
