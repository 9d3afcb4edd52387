"""AMD's cards and the memory of its processors' graphics, as people name them in sentences.

Where a text names the models of one chip only, it is the one that the person has. What a tool says of the
same counts more.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from rigup.knowledge.gpu_words import gpu_in_words
from rigup.knowledge.gpus import Gpu as Product
from rigup.knowledge.patterns import lazy_regex
from rigup.knowledge.rocm import gfx_family
from rigup.machine.kinds import Gpu, Memory, ModuleParameter, Platform
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.values import Draft, size
from rigup.machine.texts import Hit, Text

_PAGE = 4096
_PAIR = 2
_LONGEST = 100_000  # characters: what people write is short, and a log names cards in other ways
_MOST = 60  # names of one text that are looked up
_CARD = lazy_regex(
    r"(?<![\w.-])(?:(?:AMD |Radeon )?RX[ -]?Vega[ -]?(?:56|64)|Vega ?(?:56|64)|Radeon VII\b"
    r"|(?:(?:AMD )?(?:Radeon )?RX[ -]?)(?:[45][5-9]0X?|[5-7][3-9][05]0|90[67]0)(?:[ -]?(?:XTX|XT|GRE)|X?M ?(?:XT)?|S)?"
    r"|(?:[5-7][3-9][05]0|90[67]0) ?(?:XTX|XT|GRE)|(?:Instinct |AMD )?MI ?(?:25|50|60|100|210|250X?|300[AX]?|325X|350X|355X)"
    r"|(?:Radeon )?(?:PRO )?W[67][5-9]00|(?:AI )?(?:PRO )?R9700|R9 (?:Fury|Nano|[23][89]0)X?)(?![\w-])",
    re.IGNORECASE,
)
_INSIDE = lazy_regex(
    r"(?:(?<![\w.-])(?:(?:AMD )?Radeon )?(?:6[1-8]0M|7[4-8]0M|8[4-9]0M|80[4-6]0S)(?![\w-])"
    r"|\bStrix[ -](?:Halo|Point)\b|\bSteam ?Deck\b)",
    re.IGNORECASE,
)
_PROCESSOR = lazy_regex(
    r"(?:\bRyzen (?:\d )?AI (?:\d )?(?:MAX ?\+? ?)?(?:PRO )?(?:HX ?)?\d{3}\b"
    r"|\bRyzen (?:\d )?395(?: AI)?(?: Max)?\b|\bAMD 395\b|\bEvo[- ]?X2\b|\bRyzen (?:\d )?(?:PRO )?[4578]\d{3}(?:G|GE|H|HS|U)\b|\b(?:7[68]40|8[68]4[05]|7940|8945)(?:HS|U|H)\b|\b[78][5-7]00G\b)",
    re.IGNORECASE,
)
_NVIDIA = lazy_regex(r"(?<![A-Za-z])[RG]TX ?\d{3,4}|GeForce|\bTesla [A-Z]\d|\bQuadro\b|NVIDIA-SMI")
_FIELD = lazy_regex(r'[ \t]{0,40}"[^"\n]{1,60}" ?:')  # a field of a report, which is no sentence
_ONE_OF_SEVERAL = lazy_regex(r" ?/ ?(?:RX )?\d{3,4}")
# Where a tool tells what chip it found.
_FOUND = lazy_regex(r"(?:Name: +|GPU arch ?: ?|gpu_type=|compute=|, |amdhsa--)(gfx[0-9a-f]{3,4})(?=[\s,:(]|$)", re.MULTILINE)
_TWO = lazy_regex(
    r"(?i)\balongside (?:my|an?|the)\b|\binstalled alongside\b|\bboth (?:AMD )?(?:GPUs|cards)\b|\bsecond (?:GPU|card)\b"
    r"|\b(?:have|has|own|with|using) (?:an?|my|one) [^\n.]{2,40} and (?:an?|another|one|my) "
    r"|\b(?:two|dual|mixed|multi)[ -](?:\w{1,12} ){0,2}?(?:GPUs?|cards)\b"
)
_WORDS = (
    "RX",
    "rx",
    "Rx",
    "XT",
    "xt",
    "Radeon VII",
    "MI",
    "Vega",
    "vega",
    "W7",
    "W6",
    "R9",
    "Strix",
    "strix",
    "Ryzen",
    "ryzen",
    "RYZEN",
    "80M",
    "60M",
    "40M",
    "90M",
    "80m",
    "60m",
    "60S",
    "50S",
    "40HS",
    "40U",
    "45HS",
    "Deck",
    "00G",
    "395",
    "X2",
)


@reads(marks=_WORDS, adds=(Gpu,), rank=-1)
def amd_card_in_a_sentence(text: Text) -> Statements:
    """`Segmentation fault on my RX 570`, `the 780M in this 7840HS`."""
    if len(text.body) > _LONGEST or _NVIDIA.search(text.body):
        return
    count = 0
    for form, integrated in ((_CARD, False), (_INSIDE, True), (_PROCESSOR, True)):
        if count and form is _PROCESSOR:  # what every such processor has is not meant where a card is named
            return
        named = [(hit, row) for hit in _each(text, form) if (row := _product(hit[0])) and bool(row.integrated) is integrated]
        count += len(named)
        kinds = {row.isa: (hit, row) for hit, row in reversed(named)}
        if len(kinds) == 1 or (len(kinds) == _PAIR and (_TWO.search(text.body) or _are_joined(text, named))):
            yield from (card for hit, row in kinds.values() if _agrees(text, row) for card in _card(Hit(text, hit), row))


_OTHERS = lazy_regex(r"(?i)\bsupport|\bcompatib|\btested\b|\bsuch as\b|\be\.g\.|\blike (?:the|an?)\b")
_JOINT = lazy_regex(r"(?: ?\([^)\n]{0,20}\))?,? ?(?:\+|&|and|plus|alongside|beside) ?(?:an? |my |the |one )?(?:AMD )?(?:Radeon )?")


def _are_joined(text: Text, named: list[tuple[re.Match[str], Product]]) -> bool:
    """`RX 6600 XT + RX 7600`: two names of different chips with nothing but a joint between them, and no list of what others may have."""
    joints = ((first, second) for (first, a), (second, b) in pairwise(named) if a.isa != b.isa)
    return any(
        _JOINT.fullmatch(text.body, first.end(), second.start())
        and not _OTHERS.search(text.body, _line(text, first), second.end() + _PAIR * 20)
        for first, second in joints
    )


def _line(text: Text, hit: re.Match[str]) -> int:
    """Where the line of a hit begins."""
    return text.body.rfind("\n", 0, hit.start()) + 1


def _each(text: Text, form: re.Pattern[str]) -> Iterator[re.Match[str]]:
    seen = set[str]()
    for hit in form.finditer(text.body):
        if hit[0].lower() not in seen and len(seen) < _MOST and not _of_a_tool(text, hit):
            seen.add(hit[0].lower())
            yield hit


def _of_a_tool(text: Text, hit: re.Match[str]) -> bool:
    """A field of a report, or one of several models that a tool lists for one device ("RX 7900 XT/7900 XTX"): neither is a sentence."""
    start = _line(text, hit)
    of_bus = "[AMD/ATI]" in text.body[start : text.body.find("\n", hit.end()) if "\n" in text.body[hit.end() :] else None]
    return of_bus or _FIELD.match(text.body, start) is not None or _ONE_OF_SEVERAL.match(text.body, hit.end()) is not None


def _product(name: str) -> Product | None:
    if short := re.fullmatch(r"(?i)Ryzen (?P<model>\d{4}GE?)", name):
        name = short["model"]
    if re.search(r"(?i)(?<!\d)395(?!\d)|evo-? ?x2", name):
        name = "Ryzen AI Max+ 395"
    plain = re.sub(r"(?i)(?<=\bMI) (?=\d)", "", re.sub(r"(?i)(?<=HX)(?=\d)", " ", name))
    products = gpu_in_words(re.sub(r"(?i)(?<=\d)-|(?<=RX)-", " ", plain))
    return products[0] if products and products[0].isa and products[0].vendor == "amd" else None


def _agrees(text: Text, row: Product) -> bool:
    """No tool in the text found another card; graphics in a processor may be there beside it."""
    targets = {hit[1] for hit in _FOUND.finditer(text.body)} - {row.isa}
    return all((family := gfx_family(isa)) is not None and family.integrated and not row.integrated for isa in targets)


def _card(hit: Hit, row: Product) -> Iterator[Gpu]:
    draft = Draft(hit.text, Gpu, hit.start)
    draft.add("vendor", "amd")
    draft.add("name", row.name)
    draft.add("isa", row.isa)
    draft.add("integrated", bool(row.integrated))
    yield from draft.facts()


_CHIP = lazy_regex(
    r"(?:\b(?:on|for|with|my|our|an?|is|using|support|GPU) |\(|^\[?)`?(?P<isa>gfx[0-9a-f]{3,4})(?![\w*])"
    r"|[,;|] ?(?P<noted>gfx[0-9a-f]{3,4})(?![\w*:]| \(0x)",
    re.MULTILINE,
)


# Where something may pretend to be another chip, only what a person says of the own machine counts.
_MY_CHIP = lazy_regex(
    r"\b(?:I(?: am|'m|’m) (?:on|using|running)|I (?:have|own|use)|[Mm]y (?:GPU|card|chip|APU)(?: is)?)(?: an?| the)? [`(]?(?P<isa>gfx[0-9a-f]{3,4})(?![\w*])"
)


@reads(marks=("gfx",), adds=(Gpu,), rank=-1)
def amd_chip_in_a_sentence(text: Text) -> Statements:
    """`a segmentation fault on gfx803`: the only chip that a text speaks of, where nothing pretends to be another."""
    named = {hit[0] for hit in re.finditer(r"gfx[0-9a-f]{3,4}(?![\w*])", text.body)}
    match = (_MY_CHIP if "OVERRIDE_GFX" in text.body else _CHIP).search(text.body)
    chip = str(match and (match["isa"] or match.groupdict().get("noted")))
    if len(named) == 1 and match and gfx_family(chip):
        yield Hit(text, match).states(Gpu, vendor="amd", isa=chip)


_PARAMETER = (
    r"(?<![\w.])(?P<module>amdgpu|ttm|amdttm)\.(?P<name>gttsize|gtt_size|pages_limit|page_pool_size)=(?P<configured>\d{1,12})(?![\w.])"
)


@reads(marks=("gttsize=", "gtt_size=", "pages_limit="), adds=(ModuleParameter,), rank=-1)
def gtt_wished(text: Text) -> Statements:
    """`amdgpu.gttsize=122880` wherever a person says what was put on the kernel's line."""
    if "BOOT_IMAGE=" not in text.body:
        for hit in text.each(_PARAMETER):
            yield hit.states(ModuleParameter, **hit.found())


# Two files at once, and the answers below: the carve-out's and the mapped pool's.
_BOTH = r"mem_info_(?:\{vram,gtt\}_total|vram_total [^\n]{0,80}mem_info_gtt_total)[ \t]*\n[ \t]{0,8}(?P<vram>\d{8,15})[ \t]*\n[ \t]{0,8}(?P<gtt>\d{8,15})\b"


@reads(marks=("mem_info_gtt_total", "mem_info_vram_total", "mem_info_{vram,gtt}"), adds=(Gpu,), rank=-1)
def stated_pools(text: Text) -> Statements:
    """`/sys/class/drm/card1/device/mem_info_gtt_total: 103079215104  (96 GiB)`, or the number below the command."""
    cards = {hit["card"] for hit in text.each(r"/card(?P<card>\d{1,3})/device/mem_info_")}
    draft = Draft(text, Gpu, 0)
    for hit in text.each(_BOTH):
        draft.add("vram", int(hit["vram"]), hit.start)
        draft.add("gtt", int(hit["gtt"]), hit.start)
    for hit in text.each(r"mem_info_(?P<pool>vram|gtt)_total\b(?![^\n]{0,80}mem_info_)[^\d\n]{0,12}(?:\n[ \t]{0,8})?(?P<bytes>\d{8,15})\b"):
        draft.add("gtt" if hit["pool"] == "gtt" else "vram", int(hit["bytes"]), hit.start)
    if len(cards) < 2:
        draft.add("vendor", "amd")
        yield from draft.facts("vendor")


_POOLS = r"\bVRAM(?: carve-?out)?\*{0,2} ?[=:] ?\*{0,2} ?~?(?P<vram>\d{1,3}(?:\.\d{1,2})? ?(?:GB|GiB|MB|MiB|G|M))\b[^\n]{0,60}(?:\n[^\n]{0,12}?)?\bGTT\*{0,2} ?[=:] ?\*{0,2} ?~?(?P<gtt>\d{1,3}(?:\.\d{1,2})? ?(?:GB|GiB|MB|MiB|G|M))\b"


@reads(marks=("GTT",), adds=(Gpu,), rank=-1)
def pools_in_a_sentence(text: Text) -> Statements:
    """`VRAM=96GB, GTT=16GB`: only AMD's processors have both."""
    if hit := text.first(_POOLS):
        yield hit.states(Gpu, vendor="amd", vram=size(hit["vram"]), gtt=size(hit["gtt"]))


@reads(marks=("TTM pages limit",), adds=(Gpu, Memory), rank=-1)
def amd_ttm(text: Text) -> Statements:
    """`Current TTM pages limit: 16469033 pages (62.82 GB)`, `Total system memory: 125.65 GB`: amd-ttm's answer."""
    if hit := text.first(r"TTM pages limit: (?P<pages>\d{3,12}) pages"):
        yield hit.states(Gpu, vendor="amd", gtt=int(hit["pages"]) * _PAGE)
    if hit := text.first(r"Total system memory: (?P<total>\d{1,5}(?:\.\d{1,3})? ?[MG]i?B)"):
        yield hit.states(Memory, total=size(hit["total"]))


@reads(marks=("WSL environment detected", "WSL2", "WSL 2"), adds=(Platform,), rank=-1)
def amd_in_wsl(text: Text) -> Statements:
    """`Ubuntu 24.04.2 LTS (Noble Numbat) with WSL2`, `In WSL2, driver 25.1.1`."""
    if hit := text.first(
        r"(?:\bwith|\b[Ii]n|\b[Ww]ithin|\b[Oo]n|\bunder|WSL environment detected|Ubuntu[^\n]{0,20}) ?WSL ?2\b|WSL environment detected"
    ):
        yield hit.states(Platform, system="linux", wsl=2)
