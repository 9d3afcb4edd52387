"""What people write of their own machine beside what tools print: a card, a system, a release, a line each.

Short lines of a known form only; what a tool says of the same counts more.
"""

import re
from collections.abc import Iterator
from itertools import islice

from rigup.knowledge.gpus import one_gpu
from rigup.knowledge.jetson import jetpack
from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import Gpu, Jetson, Platform, PythonEnv, Toolkit
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.systems import os_of
from rigup.machine.readers.values import Draft, vendor_of, wsl
from rigup.machine.texts import Hit, Text

_MOST_NAMES = 50  # of cards in one text: of so many nobody owns the one
_START = r"^[ \t>*•-]{0,8}"
_KEY = r"(?:\*{1,2})?(?P<key>%s)(?:\*{1,2})?[ \t]{0,4}[:=][ \t]{0,8}(?:\*{1,2} ?)?"
_CARD = (
    _START
    + _KEY
    % r"GPUs?(?: ?\d| model| name| ?/ ?VRAM)?|[Gg]raphics [Cc]ards?|[Vv]ideo [Cc]ards?|Graphics|dGPU|iGPU|eGPU|CPU ?/ ?i?GPU|CPU ?/ ?APU|APU"
    + r"(?:\d ?x )?(?![ \t]{0,8}(?:Device|Card)-\d)(?P<name>[^\n()]{3,60}?)[ \t]*(?:\((?P<inner>[^)\n]{1,60})\))?[ \t.]*$"
)
_BARE = (
    _START
    + r"(?:GPU )?(?P<name>(?:(?:AMD|NVIDIA|Nvidia|Radeon|GeForce|RX|RTX|GTX|Instinct|Ryzen)\b[ -]?|(?:RTX|GTX)(?=\d{3,4})|(?=\d{4} ?XTX?\b))[\w +./-]{2,50}?)[ \t]*(?:\((?P<inner>gfx[0-9a-f]{3,4}[^)\n]{0,20})\))?(?:\+[^\n]{0,40})?[ \t.]*$"
)
_PAIR = r"^[^\n]{0,40}?(?P<name>(?:R[Xx] ?)?\d{3,4} ?(?:XTX?|GRE|M|S)?(?: \d{1,3} ?GB)?)[ \t]*\((?P<inner>gfx[0-9a-f]{3,4})\)"
_RELEASE = (
    _START
    + r"(?:\*{1,2})?(?:ROCm|rocm|ROCM)(?:[- ](?:dev|core|libs))?(?: [Vv]ersion)?(?:\*{1,2})?[ \t]{0,4}[:=]?[ \t]{0,4}v?(?P<version>\d{1,2}\.\d{1,2}(?:\.\d{1,3})?)(?:-\d{1,6})?\b[^\n]{0,40}$"
)
_MODEL = r"\b(?:(?i:NVIDIA|GeForce)[ -]?){0,2}(?P<name>[RG]TX[ -]?(?:P[Rr][Oo][ -]?)?A?\d{3,4}(?:[ -]?(?:Ti|TI|ti|SUPER|Super|D)\b){0,2}(?: \(?(?:[Ll]aptop|[Mm]obile|Max-Q)(?: GPU)?\b)?|GTX TITAN(?: (?:X|Black|Z)\b)?|TITAN (?:Xp|X|V|RTX)\b)(?![\w-]| Ada\b| Blackwell\b| ?\.\.\.)(?P<inner>)"
_OF_LAPTOPS = lazy_regex(r"(?i) \(?(?:laptop|mobile|max-q)(?: gpu)?$")  # a chip of its own, under the desktop card's number
_SAYS = r"\b(?i:on|for|with|have|has|got|own|bought|use|using|run|running|runs|system is|card is|gpu is|is an?|are)(?: (?:\[)?(?:an?|my|the|our|one|two|three|four|single|new|old|\d{1,2} ?x?)){0,3} (?:\[)?(?:desktop |laptop |server )?"
_ASIDE = r"(?:^[ \t>*-]{0,8}|(?<!GPU \d)(?<!GPU \d\d)[,;(:] ?|[A-Za-z)][.!?] |\b(?:[Mm]y|[Oo]ur|[Уу] меня|[Нн]а|[Сс]тоит|[Tt]engo(?: una?)?|[Cc]on(?: una?)?|[Мм]оя|[Ii]ch habe eine|[Jj]['’]ai une) |(?:显卡是|用的是|使用|我有|顯示卡是) ?)(?:\d ?[xх] ?)?(?:(?:[Uu]sed|[Oo]ld|[Nn]ew|[Ss]econd-?hand|[Rr]efurbished|[Бб]/у|二手的?) ?)?"  # at the start of a line or of a part of a sentence; of languages without such verbs
_HOLDS = rf"(?:{_SAYS}|{_ASIDE})"
_OWNED = _HOLDS + _MODEL
# Cards of servers and older ones have no RTX or GTX to be known by.
_SERVER = r"(?:NVIDIA |Nvidia |nvidia )?(?P<name>(?:(?:[Tt]esla|TESLA|[Qq]uadro|Ge[Ff]orce|GeForce GT|GT) )?[ABHKLMPTV]?\d{1,4}[a-zA-Z]{0,2}?)s?(?![\w.-]| cache)(?P<inner>)"
_SERVER_NAMED = r"\b(?=(?:NVIDIA|Nvidia|nvidia|[Tt]esla|TESLA|[Qq]uadro|Ge[Ff]orce|GT) |[ABHKLMPTV]\d{1,3}0?\d?[a-z]?\b)" + _SERVER
# a line may begin with "L2 cache" or "A2:"; where nobody says that it is a card, its maker must stand there
_BY_MAKER = r"(?=(?:NVIDIA|Nvidia|nvidia|[Tt]esla|TESLA|[Qq]uadro|Ge[Ff]orce|GT) )"
_NAMED_JETSON = r"\b(?:Jetson (?P<model>(?:AGX |Orin |Xavier |TX|Nano|Thor)[\w ]{0,24})|NVIDIA (?P<board>Orin(?: Nano| NX)?|Jetson[\w ]{1,30}) (?:Developer Kit|Engineering))"


@reads(marks=("GPU", "APU", "raphics", "ideo card", "gfx", "Radeon", "GeForce", "XT", "RX", "RTX"), adds=(Gpu,), rank=0)
def stated_cards(text: Text) -> Statements:
    """`GPU: AMD Radeon RX 7900 XTX (gfx1100)`, `9060XT 16GB (gfx1200)`."""
    names = set[str]()
    for form in (_CARD, _BARE, _PAIR):
        for hit in text.each(form):
            if hit["name"] not in names and not (hit["inner"] or "").startswith("UUID"):  # nvidia-smi's own list
                names.add(hit["name"])
                yield from _card(hit)


@reads(marks=("RTX", "GTX", "TITAN"), adds=(Gpu,), rank=-1)
def card_in_a_sentence(text: Text) -> Statements:
    """`PyTorch on an RTX 5090D`: where the whole text names one model only, it is the one that the person has."""
    if re.search(r"\bRadeon\b|\bRX ?\d{3,4}\b|\bInstinct\b|\bArc [AB]\d{3}\b", text.body):
        return
    hits = list(text.each(_MODEL))
    named = {re.sub(r"[ -]", "", _OF_LAPTOPS.sub("", hit["name"])).lower() for hit in hits}
    if len(named) == 1 and (hit := text.first(_OWNED)):
        yield from _card(next((other for other in hits if _OF_LAPTOPS.search(other["name"])), hit))


@reads(marks=("esla", "uadro", "GeForce", "Geforce", "TESLA", " GT ", "NVIDIA ", "Nvidia ", "GPU"), adds=(Gpu,), rank=-1)
def server_card_in_a_sentence(text: Text) -> Statements:
    """`I am using a Tesla K40m`, `two NVIDIA Tesla M60 GPUs`: as above."""
    if re.search(r"\bRadeon\b|\bRX ?\d{3,4}\b|\bInstinct\b|\bArc [AB]\d{3}\b|[RG]TX", text.body):
        return
    names = islice(dict.fromkeys(hit["name"] for hit in text.each(_SERVER_NAMED)), _MOST_NAMES)
    named = {row.name: row for name in names if (row := one_gpu(name)) and row.vendor == "nvidia"}
    forms = (_SAYS + _SERVER, _ASIDE + _BY_MAKER + _SERVER) if len(named) == 1 else ()
    for hit in (hit for form in forms for hit in text.each(form)):
        if (row := one_gpu(hit["name"])) and row.name in named:
            yield from _card(hit)
            return


def _card(hit: Hit) -> Iterator[Gpu]:
    """A name that the catalogue knows, or one beside its own ISA."""
    plain = re.sub(r"\b\d{1,3} ?GB\b|\bOC\b", "", hit["name"]).strip(" -,/")
    spaced = re.sub(r"(?<=\d)(?=X|GRE|D\b)|(?<=RX)(?=\d)|(?<=[RG]TX)(?=\d)", " ", plain)
    isa = re.search(r"gfx[0-9a-f]{3,4}", hit["inner"])
    rows = (row for name in (hit["name"].strip(), *_spellings(plain, spaced)) if (row := one_gpu(name)))
    known = next((row for row in rows if not (isa and row.vendor == "nvidia")), None)  # gfx chips are AMD's
    if not known and (not isa or plain.isdigit()):
        return
    draft = Draft(hit.text, Gpu, hit.start)
    draft.add("name", known.name if known else plain, hit.match.start("name"))
    draft.add("vendor", known.vendor if known else "amd" if isa else vendor_of(plain))
    draft.add("isa", isa[0] if isa else known.isa if known else None, hit.match.start("inner") if isa else None)
    draft.add("integrated", known.integrated if known else None)
    yield from draft.facts()


def _spellings(plain: str, spaced: str) -> Iterator[str]:
    """What people leave out, put back; a maker's name alone ("NVIDIA") leaves out everything."""
    yield from (plain, spaced)
    if re.match(r"MI\d", plain):
        yield "AMD Instinct " + plain
    if re.search(r"\d", plain):
        yield "GeForce " + spaced
        yield "Radeon RX " + spaced.removeprefix("RX ").removeprefix("Radeon ")


@reads(marks=("ROCm", "rocm", "ROCM"), adds=(Toolkit,), rank=0)
def stated_rocm(text: Text) -> Statements:
    """`ROCm 6.2.3`, `rocm6.4`."""
    for hit in text.each(_RELEASE):
        yield hit.states(Toolkit, name="rocm", version=hit["version"])


@reads(marks=("WSL", "icrosoft", "wsl"), adds=(Platform,), rank=0)
def stated_wsl(text: Text) -> Statements:
    """`WSL 2`, `WSL version: 2.4.13.0`, `Oracle Linux Server 9.4 (WSL2)`, a kernel of Microsoft's."""
    for hit in text.each(r"\b(?P<release>\d{1,2}\.\d{1,3}\.\d{1,4}[\w.+-]{0,20}-[Mm]icrosoft(?:-standard[\w+.-]{0,20})?)"):
        yield hit.states(Platform, system="linux", release=hit["release"], wsl=wsl(hit["release"]))
    for hit in text.each(
        r"^(?![^\n:]{0,80}\band/or\b)(?:[ \t>]{0,8}[-*] (?:\[[xX]\] )?|[^\n:]{0,59}(?:\(|\d[^\n:(]{0,30}[ +]))?WSL ?(?:[Vv]ersion ?)?[: ]{0,4}(?P<wsl>[12])(?P<package>\.\d{1,3}){0,3}\)?(?![\w.])[^\n]{0,30}$"
    ):
        yield hit.states(Platform, wsl=2 if hit["package"] else int(hit["wsl"]))  # 1.2.2.0 is the program's own version
    for hit in text.each(
        r"^[ \t]{0,8}(?:WSL[ -]?(?:[Vv]ersion|版本|버전|バージョン)|Versi[oó]ne? (?:de )?WSL|Версия WSL) ?[:：] {0,3}[0-9]\.\d{1,3}\.\d{1,3}(?:\.\d{1,3})?[ \t]*$"
    ):
        yield hit.states(Platform, wsl=2)
    for hit in text.each(r"^[^\n:]{0,80}\band/or WSL ?[12]: {0,2}\[?[^\n\]]{0,20}?WSL ?(?P<wsl>[12])\b"):  # a form's question
        yield hit.states(Platform, wsl=int(hit["wsl"]))
    if not re.search(r"(?i)WSL ?2", text.body):
        for hit in text.each(r"\b(?:[Uu]sing|[Rr]unning|[Oo]n|[Ii]n|with) [^\n.?]{0,40}\bWSL ?(?P<wsl>1)\b(?!\.\d)"):
            yield hit.states(Platform, wsl=1)
    for hit in text.each(r"^[* ] (?P<name>[\w.-]{1,40}) {2,60}(?:Running|Stopped) {2,20}(?P<wsl>[12])[ \t]*$"):
        yield hit.states(Platform, wsl=int(hit["wsl"]))


@reads(
    marks=(
        "Linux",
        "Ubuntu",
        "Debian",
        "Fedora",
        "openSUSE",
        "Windows",
        "Pop!_OS",
        "CentOS",
        "Rocky",
        "Alma",
        "Manjaro",
        "Red Hat",
        "RHEL",
        "NixOS",
        "CachyOS",
        "EndeavourOS",
    ),
    adds=(Platform,),
    rank=0,
)
def stated_system(text: Text) -> Statements:
    """`Ubuntu 22.04.5`, `OS: Arch Linux`, `Oracle Linux Server 9.4 (WSL2)`: a line that says nothing else."""
    form = (
        _START
        + r"(?:\*{0,2}(?:OS|Distro|Distribution|System|Operating System)(?: version)?\*{0,2} ?[:=] ?)?(?P<value>(?:Ubuntu|Debian|Fedora|Oracle Linux|Rocky|Alma|CentOS|Red Hat|RHEL|openSUSE|Arch|Manjaro|Linux Mint|Pop!_OS|NixOS|CachyOS|EndeavourOS)(?:(?! {2})[\w !_.-]){0,40})(?:\([^)\n]{1,30}\))?(?: {2,60}(?:Running|Stopped) {2,20}[12])?[ \t.]*$"
    )
    for hit in text.each(form):
        yield from os_of(text, hit.match.start("value"), hit["value"])


_OTHER_SYSTEM = lazy_regex(r"(?i)\b(?:WSL|linux|ubuntu|debian|docker|container|podman)\b")
_ON_WINDOWS = (
    r"(?i)\b(?:on|am|using|under|running|with|have|OS|system|platform)\b[ :=*]{1,6}(?:a |my |native |microsoft ){0,2}"
    r"windows ?(?:1[01]|7|8(?:\.1)?|server(?: 20\d\d)?)\b"
)


@reads(marks=("indows",), adds=(Platform,), rank=0)
def stated_windows(text: Text) -> Statements:
    """`I am on Windows 11`, where nothing else is named that may run inside it."""
    hit = text.first(_ON_WINDOWS)
    if hit and not _OTHER_SYSTEM.search(text.body):
        yield hit.states(Platform, system="windows")


@reads(marks=("/Users/",), adds=(Platform,), rank=0)
def mac_folders(text: Text) -> Statements:
    """`/Users/ada/venv/lib/python3.10`: homes lie there on a Mac alone; Windows writes a drive before it."""
    if hit := text.first(r"(?:^|[\s\"'(=])/Users/[\w.-]{1,40}/(?:[\w. -]{1,60}/){0,12}lib/python3"):
        yield hit.states(Platform, system="macos")


@reads(marks=("ython",), adds=(PythonEnv,), rank=0)
def stated_python(text: Text) -> Statements:
    """`with a Python 3.11`, `(python 3.12)`: where the whole text names one release, it is the one that runs."""
    hits = list(text.each(_PYTHON))
    if len({hit["version"] for hit in hits}) == 1:
        yield hits[0].states(PythonEnv, version=hits[0]["version"])


_PYTHON = r"\b[Pp]ython[ =:]{1,3}(?:[Vv]ersion ?[:=]? ?)?(?P<version>(?:3\.\d{1,2}|2\.7)(?:\.\d{1,2})?)(?!\d|\.\d|[-+])"


_L4T = r"\bL4T(?: [Rr]elease)?[ :=*]{1,6}(?:R)?(?P<l4t>\d{2}\.\d{1,2}(?:\.\d{1,2})?)|\bnvidia-l4t-core[ \t]{1,60}(?P<core>3\d\.\d{1,2}(?:\.\d{1,2})?)-"
_JETPACK = r"\b(?:Jet[Pp]ack(?: version)?[ :=]{1,4}|nvidia-jetpack[ \t]{1,60})(?P<release>[4-9]\.\d(?:\.\d)?)\b"


@reads(marks=("JetPack", "Jetpack", "nvidia-jetpack"), adds=(Jetson,), rank=-1)
def jetson_of_a_jetpack(text: Text) -> Statements:
    """`JetPack 6.2`, `nvidia-jetpack 6.2+b77`: where the text names one, whose Linux for Tegra the table knows."""
    hits = {hit["release"]: hit for hit in text.each(_JETPACK)}
    told = {row.l4t: hit for release, hit in hits.items() if (row := jetpack(release))}
    if len(told) == 1:
        l4t, hit = told.popitem()
        yield hit.states(Jetson, l4t=l4t)


@reads(marks=("_tegra_release", "R3", "etson", "L4T", "-tegra", "tegra-", "nvidia-l4t-core"), adds=(Jetson,))
def stated_jetson(text: Text) -> Statements:
    """`# R32 (release), REVISION: 5.0, … BOARD: t210ref`, `5.15.148-tegra`, `NVIDIA Jetson Orin Nano`."""
    for hit in text.each(r"^(?:[^\n#]{0,60}tegra_release:? {0,2})?# R(?P<major>\d{2}) \(release\), REVISION: (?P<minor>[\d.]{1,8})"):
        yield hit.states(Jetson, l4t=hit["major"] + "." + hit["minor"])
    for hit in text.each(_L4T):
        yield hit.states(Jetson, l4t=hit["l4t"] or hit["core"])
    for hit in text.each(r"\b(?P<release>\d\.\d{1,3}\.\d{1,4}(?:-[\w.]{1,20})?-tegra)\b"):
        yield hit.states(Jetson, kernel=hit["release"])
    for hit in text.each(_NAMED_JETSON):
        yield hit.states(Jetson, model=(hit["model"] or hit["board"]).strip())


@reads(marks=("@",), adds=(Jetson,), rank=0)
def jetson_prompt(text: Text) -> Statements:
    """`ada@agx-orin:~$`: who names a machine after its module speaks of a Jetson, though it proves little."""
    for hit in text.each(
        r"^(?:\([\w.-]{1,40}\) )?\[?[a-z_][\w.-]{0,31}@(?P<name>(?:[\w-]{0,20}-)?(?:jetson|orin|xavier|tegra)(?:-[\w-]{1,20})?)[: ]"
    ):
        yield hit.states(Jetson, prompt=hit["name"])
