"""What stands in the middle of a person's or a program's sentence: torch's version, a card in small letters, a guest's prompt.

Where a text names one only, it is the one that is there. What a tool says of the same counts more.
"""

import re
from collections.abc import Iterator
from typing import Any

from rigup.knowledge.gpus import one_gpu
from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import Driver, Gpu, Platform, Torch
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.values import Draft
from rigup.machine.texts import Hit, Text, is_typed

_BUILD = r"(?i)\b(?:py)?torch\b[^\n+=]{0,24}?(?P<value>\d\.\d{1,2}\.\d{1,2}(?:\.post\d)?\+(?:cpu|cu\d{2,3}|xpu|rocm\d[\d.]{0,6}))\b"
_PLAIN = r"(?i)\b(?:py)?torch(?:[ -]?version)?[\s:=*`]{1,8}(?:version[\s:=]{1,4}|v)?(?P<value>[12]\.\d{1,2}\.\d{1,2})(?![\d.+])"
_INSTALLS = lazy_regex(
    r"(?i)\b(?:install|uninstall|upgrade|downgrade|requires?|download|try|tried|trained with|with CUDA \d{3,5} \(you have|and (?:later|newer|above)|or (?:later|newer|above)|since (?:py)?torch)\b|https?://|[=<>]=|\.whl\b"
)
_OWN_WAY = lazy_regex(r"(?i)direct ?ml|privateuseone|openvino|\bzluda\b|\bmps\b|\bneuron\b|\btorch_xla\b")
_SMALL = r"\b(?:nvidia |geforce ){0,2}(?P<name>[rg]tx ?(?:[1-5]0[5-9]0|16[56]0|9[5-8]0|a?[2-6]000)(?: ?(?:ti|super|laptop)){0,2})(?![\w-])"
_SERIES = lazy_regex(r"(?i)\b[rg]tx|\brx ?\d|\bradeon\b|\bgeforce\b|\bquadro\b|\btesla\b|\barc\b|(?:\b|x)[AHLVTP][1-9]\d{1,2}0?\b")
_OF_SOMEBODY = r"(?:\b(?:my|our|your|his|her|their|a|an|the|one|two|three|four|five|six|eight|dual|single|single-|this|old|new|mein\w{0,2}|meine|ein\w{0,2}|zwei|une|ma|mon|un|mi|dos|мо[яией]|мою|одна|две|карт\w{1,3}|видеокарт\w{1,3}|[1-8] ?x|[1-8] ?\*) ?|[1-8] ?× ?|显卡[是：:]? ?|[张块个] ?|卡[是：:]? ?)"
_BY_NUMBER = (
    r"(?i)"
    + _OF_SOMEBODY
    + r"(?P<name>[2-5]0[5-9]0(?: ?ti)?(?: ?super)?|10[5-8]0 ?ti)(?:s\b|(?![\w.:%*/-])(?! ?(?:tok|step|image|epoch|line|file|sample|port|mb\b|mib\b|ms\b|entr|param|gb\b|users|rows|items|request|dollar|usd\b|eur)))"
)
_PLAIN_NUMBERS = (  # what stands behind tells that a card is meant
    r"(?i)(?<![\w.:/$€£-])(?P<name>[2-5]0[5-9]0 ?ti(?: ?super)?|[2-5]0[5-9]0 ?super|16[56]0 ?(?:ti|super))(?![\w.:/-])",
    r"(?i)(?<![\w.:/$€£-])(?P<name>[2-5]0[5-9]0)(?= (?:laptop|mobile)\b| \(?(?:8|10|11|12|16|24|32) ?gb?\b)",
)
_BY_NUMBER_MARKS = ("070", "080", "090", "060", "050", "650", "660")
_SAID_BY_TOOLS = lazy_regex(
    r"(?i)\b(?:nvidia|tesla|quadro|geforce|radeon|rtx|gtx|rx|arc\(tm\)) ?[a-z]{0,2}\d{1,4}|(?-i:\bNVIDIA-SMI\b)|\bDevice \d: "
)
_LETTERED = r"(?P<name>[ABHLPTV]\d{1,4}[GS]?|G[BH]\d{2,3})s?"
_BY_LETTER = (
    r"(?i:" + _OF_SOMEBODY + r")" + _LETTERED + r"(?![\w.:%/]|-(?!SXM|PCIe?|\d{1,3}GB))",
    r"(?<![\w.:/-])" + _LETTERED + r"(?=[ -](?:SXM|PCI|\d{1,3} ?G(?:i?B)?\b|GPUs?\b|(?:on|in) (?:[Cc]olab|[Kk]aggle|GCP|AWS|RunPod|vast)))",
)
_BY_LETTER_MARKS = ("00", "10", "30", "40", "16", "L4", "T4", "P4", "80", "70", "50")
_COUNT = lazy_regex(r"(?<![\d.])([2-8])(?: ?[x×*])? ?[A-Z]{1,2}\d{1,4}[GS]?\Z")  # the number before a name
_PARTS = lazy_regex(
    r"(?i)\bmig\b|\bslices?\b|\bnvidia-smi\b|VISIBLE_DEVICES|\bslurm|\bsrun\b|\bcolab\b|\bkaggle\b"
)  # where fewer may be seen
_BY_XT = r"(?<![\w.-])(?P<name>[5-9][4-9]\d0 ?XTX?)(?![\w-])"


@reads(marks=("orch",), adds=(Torch,), rank=-1)
def torch_in_a_sentence(text: Text) -> Statements:
    """`[INFO] PyTorch Version: 2.8.0+cpu`, `pytorch: Version: 2.0.1`: not what somebody installs or asks for."""
    if _OWN_WAY.search(text.body):  # a build for the processor is what these want
        return
    for form in (_BUILD, _PLAIN):
        hits = [hit for hit in text.near(form, text.spots("orch")) if not _INSTALLS.search(hit.where().text)]
        if len({hit["value"] for hit in hits}) == 1:
            yield hits[0].states(Torch, version=hits[0]["value"])
            return


@reads(marks=(".nv",), adds=(Torch,), rank=-1)
def torch_of_nvidia(text: Text) -> Statements:
    """`torch-2.1.0a0+41361538.nv23.06`: NVIDIA's own builds, in a program's head line or a list."""
    form = r"\btorch(?:[-=: ]{1,24}|[^\w\n]{1,24})(?P<value>\d\.\d{1,2}\.\d{1,2}(?:a0|rc\d)?\+[0-9a-f]{6,12}\.nv\d{2}\.\d{1,2})\b"
    hits = [hit for hit in text.near(form, text.spots(".nv")) if not _INSTALLS.search(hit.where().text)]
    if len({hit["value"] for hit in hits}) == 1:
        yield hits[0].states(Torch, version=hits[0]["value"])


@reads(marks=("rtx", "gtx", "Rtx", "Gtx"), adds=(Gpu,), rank=-1)
def card_in_small_letters(text: Text) -> Statements:
    """`mobile rtx 3060 (6gb)`: where the whole text names one model."""
    if re.search(r"(?i)\bradeon\b|\brx ?\d{3,4}\b|\barc [ab]\d{3}\b|\b[RG]TX ?\d", text.body.replace("rtx", "").replace("gtx", "")):
        return
    hits = list(text.near("(?i)" + _SMALL, sorted((*text.spots("rtx"), *text.spots("gtx"), *text.spots("Rtx"), *text.spots("Gtx")))))
    named = {re.sub(r"\W|laptop", "", hit["name"]).lower() for hit in hits}
    spaced = re.sub(r"(?<=TX)(?=\d)", " ", hits[0]["name"].upper()) if len(named) == 1 else ""
    yield from _card("GeForce " + spaced, text, hits[0].start) if spaced else ()


@reads(marks=(*_BY_NUMBER_MARKS, "XT"), adds=(Gpu,), rank=-1)
def card_by_its_number(text: Text) -> Statements:
    """`my 4070 Ti`, `two 3090s`, `显卡 4090 24G`, `7900 XTX`: where the whole text names one such number, and no series."""
    if _SERIES.search(text.body):
        return
    numbers = (_BY_NUMBER, *_PLAIN_NUMBERS)
    for series, forms, marks in (("GeForce RTX ", numbers, _BY_NUMBER_MARKS), ("Radeon RX ", (_BY_XT,), ("XT",))):
        spots = sorted(spot for mark in marks for spot in text.spots(mark))
        hits = [hit for form in forms for hit in text.near(form, spots)]
        named = {re.sub(r"\s", "", hit["name"]).lower() for hit in hits}
        old = "GeForce GTX " if named and min(named).startswith("1") else series
        if len(named) == 1:
            yield from _card(old + hits[0]["name"], text, hits[0].start)


@reads(marks=_BY_LETTER_MARKS, adds=(Gpu,), rank=-1)
def card_by_a_short_name(text: Text) -> Statements:
    """`2x A6000`, `on an L40S`, `A770 16G`: where the whole text names one such, and no tool names a card."""
    if _SAID_BY_TOOLS.search(text.body):
        return
    spots = sorted(spot for mark in _BY_LETTER_MARKS for spot in text.spots(mark))
    hits = [hit for form in _BY_LETTER for hit in text.near(form, spots)]
    named = {hit["name"] for hit in hits}
    by_number = (spot for mark in _BY_NUMBER_MARKS for spot in text.spots(mark))
    if len(named) == 1 and not any(text.near(_BY_NUMBER, sorted(by_number))):
        name = named.pop()
        for family in ("", "RTX ", "Arc "):
            if facts := _card(family + name, text, hits[0].start):
                yield from _each_of_several(facts, hits)
                return


def _card(name: str, text: Text, start: int) -> list[Any]:
    """The card that the catalogue has by that name, stated where the text has it; nothing where it has none."""
    row = one_gpu(name)
    if row is None or row.integrated:
        return []
    draft = Draft(text, Gpu, start)
    for field in ("name", "vendor", "isa"):
        draft.add(field, getattr(row, field))
    return list(draft.facts())


def _each_of_several(facts: list[Any], hits: list[Hit]) -> Iterator[Any]:
    """The card once for each that somebody counts: `4x L4`, `2 nodes x 4 A100`; where two numbers are told nobody knows."""
    counts = {int(count[1]) for hit in hits if (count := _COUNT.search(hit.text.body[max(hit.start - 6, 0) : hit.match.end("name")]))}
    if len(counts) != 1 or _PARTS.search(hits[0].text.body):
        yield from facts
        return
    for index in range(counts.pop()):
        for fact in facts:
            fields = {**fact.fields, "nvml_index": fact.fields["name"]._replace(value=index)}
            yield Gpu(fact.place, fields)


_DRIVER = r"(?i)\bdriver(?:s|(?=[^\n.]{0,40}\())?(?: version| is| to)?(?:[ :=v]{1,4}|[^\n.]{0,40}\()(?:[3-6]\d{2}[.\d]{0,10} ?(?:->|=>|→) ?)?(?P<version>[3-6]\d{2}\.\d{2,3}(?:\.\d{2})?)(?![\d.*x])(?! ?(?:\+|or (?:newer|later|higher|above)))"
_OTHERS_DRIVER = lazy_regex(
    r"(?i)\b(?:requires?|needs?|minimum|at least|too old|install|downgrad\w{1,3}|rolled? back|was|before|old|previous|tried|amd|radeon|adrenalin|intel|arc)\b|>=|https?://"
)


_DRIVER_ELSEWHERE = (
    r"(?:Treiber|драйвера? (?:NVIDIA )?|驱动(?:版本)?|驅動(?:版本)?)[ \t:：]{0,3}(?P<version>[3-6]\d{2}\.\d{2,3}(?:\.\d{2})?)(?![\d.]*\d)"
)


@reads(marks=("river", "Treiber", "райвер", "驱动", "驅動"), adds=(Driver,), rank=-2)
def driver_in_a_sentence(text: Text) -> Statements:
    """`RTX 4070, driver 576.80`, `reinstalled the driver (581.57)`: where what people write of it names one only, and as the one that is there."""
    hits = [hit for form in (_DRIVER, _DRIVER_ELSEWHERE) for hit in text.each(form) if not is_typed(hit.where().text)]
    if len({hit["version"] for hit in hits}) == 1 and not any(_OTHERS_DRIVER.search(_sentence(hit)) for hit in hits):
        yield hits[0].states(Driver, vendor="nvidia", version=hits[0]["version"])


def _sentence(hit: Hit) -> str:
    """The part of a line up to a match that is one sentence, and what follows it."""
    line = hit.where().text
    before, found, behind = line.partition(hit.match[0])
    return re.split(r"[.!?;] ", before)[-1] + found + re.split(r"[.!?;] ", behind)[0]


@reads(marks=("@DESKTOP-", "@LAPTOP-"), adds=(Platform,), rank=-1)
def prompt_inside_windows(text: Text) -> Statements:
    """`ada@DESKTOP-5A67SBM:~$`: a Linux prompt under the name that Windows gives a machine is one of WSL's."""
    if hit := text.first(r"^[^\n@]{0,60}@(?:DESKTOP-[A-Z0-9]{7}|LAPTOP-[A-Z0-9]{8}):[^\n$#]{0,200}[$#]"):
        yield hit.states(Platform, system="linux", wsl=2)


@reads(marks=("Hardware name:", "DMI: "), adds=(Platform,), rank=-1)
def hypervisor_of_a_kernels_line(text: Text) -> Statements:
    """`Hardware name: VMware, Inc. VMware Virtual Platform`: the kernel's own word of the machine under it."""
    makers = r"(?P<name>VMware|QEMU|innotek|VirtualBox|Xen|Bochs|Microsoft Corporation Virtual Machine|Google Compute Engine|OpenStack|Nutanix|KVM|Parallels|oVirt|Red Hat KVM)"
    for hit in text.each(r"(?:Hardware name|DMI): (?:[^\n]{0,20} )?" + makers):
        yield hit.states(Platform, hypervisor=hit["name"].split()[0].lower())
