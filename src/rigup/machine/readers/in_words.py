"""What stands in the middle of a person's or a program's sentence: torch's version, a card in small letters, a guest's prompt.

Where a text names one only, it is the one that is there. What a tool says of the same counts more.
"""

import re

from rigup.knowledge.gpus import one_gpu
from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import Driver, Gpu, Platform, Torch
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.values import Draft
from rigup.machine.texts import Text

_BUILD = r"(?i)\b(?:py)?torch\b[^\n+=]{0,24}?(?P<value>\d\.\d{1,2}\.\d{1,2}(?:\.post\d)?\+(?:cpu|cu\d{2,3}|xpu|rocm\d[\d.]{0,6}))\b"
_PLAIN = r"(?i)\b(?:py)?torch(?:[ -]?version)?[\s:=*`]{1,8}(?:version[\s:=]{1,4}|v)?(?P<value>[12]\.\d{1,2}\.\d{1,2})(?![\d.+])"
_INSTALLS = lazy_regex(
    r"(?i)\b(?:install|uninstall|upgrade|downgrade|requires?|download|try|tried|trained with|with CUDA \d{3,5} \(you have)\b|https?://|[=<>]=|\.whl\b"
)
_OWN_WAY = lazy_regex(r"(?i)direct ?ml|privateuseone|openvino|\bzluda\b|\bmps\b|\bneuron\b|\btorch_xla\b")
_SMALL = r"\b(?:nvidia |geforce ){0,2}(?P<name>[rg]tx ?(?:[1-5]0[5-9]0|16[56]0|9[5-8]0|a?[2-6]000)(?: ?(?:ti|super|laptop)){0,2})(?![\w-])"
_SERIES = lazy_regex(
    r"(?i)\b[rg]tx|\brx ?\d|\bradeon\b|\bgeforce\b|\bquadro\b|\btesla\b|\barc\b|(?:\b|x)[AHLVTP][1-9]\d{1,2}0?\b"
)
_OF_SOMEBODY = r"(?:\b(?:my|our|your|his|her|their|a|an|the|one|two|three|four|five|six|eight|dual|single|single-|this|old|new|mein\w{0,2}|meine|ein\w{0,2}|zwei|une|ma|mon|un|mi|dos|мо[яией]|мою|одна|две|карт\w{1,3}|видеокарт\w{1,3}|[1-8] ?x|[1-8] ?\*) ?|[1-8] ?× ?|显卡[是：:]? ?|[张块个] ?|卡[是：:]? ?)"
_BY_NUMBER = (
    r"(?i)"
    + _OF_SOMEBODY
    + r"(?P<name>[2-5]0[5-9]0(?: ?ti)?(?: ?super)?|10[5-8]0 ?ti)(?:s\b|(?![\w.:%*/-])(?! ?(?:tok|step|image|epoch|line|file|sample|port|mb\b|mib\b|ms\b|entr|param|gb\b|users|rows|items|request|dollar|usd\b|eur)))"
)
_BY_NUMBER_MARKS = ("070", "080", "090", "060", "050")
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
    if re.search(
        r"(?i)\bradeon\b|\brx ?\d{3,4}\b|\barc [ab]\d{3}\b|\b[RG]TX ?\d",
        text.body.replace("rtx", "").replace("gtx", ""),
    ):
        return
    hits = list(
        text.near(
            "(?i)" + _SMALL, sorted((*text.spots("rtx"), *text.spots("gtx"), *text.spots("Rtx"), *text.spots("Gtx")))
        )
    )
    named = {re.sub(r"\W|laptop", "", hit["name"]).lower() for hit in hits}
    row = one_gpu("GeForce " + hits[0]["name"].upper()) if len(named) == 1 else None
    if row:
        draft = Draft(text, Gpu, hits[0].start)
        for field in ("name", "vendor", "isa"):
            draft.add(field, getattr(row, field))
        yield from draft.facts()


@reads(marks=("070", "080", "090", "060", "050", "XT"), adds=(Gpu,), rank=-1)
def card_by_its_number(text: Text) -> Statements:
    """`my 4070 Ti`, `two 3090s`, `显卡 4090 24G`, `7900 XTX`: where the whole text names one such number, and no series."""
    if _SERIES.search(text.body):
        return
    for series, form, marks in (("GeForce RTX ", _BY_NUMBER, _BY_NUMBER_MARKS), ("Radeon RX ", _BY_XT, ("XT",))):
        hits = list(text.near(form, sorted(spot for mark in marks for spot in text.spots(mark))))
        named = {re.sub(r"\s", "", hit["name"]).lower() for hit in hits}
        old = "GeForce GTX " if named and min(named).startswith("1") else series
        row = one_gpu(old + hits[0]["name"]) if len(named) == 1 else None
        if row:
            draft = Draft(text, Gpu, hits[0].start)
            for field in ("name", "vendor", "isa"):
                draft.add(field, getattr(row, field))
            yield from draft.facts()


@reads(marks=("river", "Treiber", "райвер", "驱动", "驅動"), adds=(Driver,), rank=-1)
def driver_in_a_sentence(text: Text) -> Statements:
    """`nvidia driver:536.23` of somebody's own list, `Treiber 550.120` in a sentence; Intel's and AMD's have other numbers."""
    forms = (
        r"(?i)^[ \t>*-]{0,6}nvidia(?: gpu| graphics)? driver(?: version)?[ \t]{0,4}[:=]?[ \t]{0,4}(?P<version>\d{3}\.\d{2,3}(?:\.\d{2})?)\b[^\n]{0,40}$",
        r"(?:Treiber|драйвера? (?:NVIDIA )?|驱动(?:版本)?|驅動(?:版本)?)[ \t:：]{0,3}(?P<version>[3-6]\d{2}\.\d{2,3}(?:\.\d{2})?)(?![\d.]*\d)",
    )
    for hit in (hit for form in forms for hit in text.each(form)):
        yield hit.states(Driver, vendor="nvidia", version=hit["version"])


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
