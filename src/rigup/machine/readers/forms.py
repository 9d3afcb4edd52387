"""Forms that a project asks people to fill in: a heading, and the answer in the next line; names that scripts print.

What tools print of the same counts more.
"""

import re
from collections.abc import Iterator

from rigup.knowledge.gpus import one_gpu
from rigup.machine.kinds import Gpu, Platform, Toolkit
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.values import Draft
from rigup.machine.texts import Hit, Text

_ANSWER = r"^#{1,6} (?:%s)[ \t]*\n{1,4}[ \t`*-]{0,6}(?P<value>[^\n#`]{2,120}?)[ \t`]*$"


@reads(marks=("# GPU", "# Graphics"), adds=(Gpu,), rank=0)
def card_answered(text: Text) -> Statements:
    """`### GPU` and below it `rx 7800 xt`: a name that the catalogue knows."""
    for hit in text.each(_ANSWER % r"GPUs?(?: [Mm]odel| [Nn]ame)?|Graphics [Cc]ard"):
        yield from _card(hit)


def _card(hit: Hit) -> Iterator[Gpu]:
    plain = re.sub(r"\b\d{1,3} ?[Gg][Bb]\b|\([^)]{0,40}\)|^(?:\d ?x )", "", hit["value"]).strip(" -,.")
    spaced = re.sub(r"(?i)(?<=\d)(?=xt|gre)|(?<=rx)(?=\d)", " ", plain)
    row = next((row for name in (plain, spaced, "AMD Radeon " + spaced) if (row := one_gpu(name))), None)
    if row and row.vendor:
        draft = Draft(hit.text, Gpu, hit.match.start("value"))
        for field in ("name", "vendor", "isa", "integrated"):
            draft.add(field, getattr(row, field))
        yield from draft.facts()


@reads(marks=("evice name:", "evice Name:", "GPU name:", "GPU Name:", "get_device_name("), adds=(Gpu,), rank=0)
def card_printed(text: Text) -> Statements:
    """`default cuda device name: AMD Radeon RX 580 Series`, as people's own scripts print it."""
    for hit in text.each(
        r"^[ \t>*-]{0,8}(?:[Dd]efault )?(?:(?:[Cc]uda|CUDA|GPU|HIP|hip) )?(?:[Dd]evice|GPU) [Nn]ame: {1,8}(?P<value>[^\n,:]{4,60}?)[ \t]*$"
    ):
        yield from _card(hit)
    for hit in text.each(r"get_device_name\([^\n\"']{0,80}\) ?(?:==|#|:|=>|->) ?[\"'](?P<value>[^\"'\n]{4,60})[\"']"):
        yield from _card(hit)


@reads(marks=("# ROCm", "# ROCM"), adds=(Toolkit,), rank=0)
def rocm_answered(text: Text) -> Statements:
    """`### ROCm Version` and below it `6.4.2`."""
    for hit in text.each(
        r"^#{1,6} RO[Cc][Mm](?: [Vv]ersion)?[ \t]*\n{1,4}[ \t`*-]{0,6}(?:ROCm )?v?(?P<version>\d{1,2}\.\d{1,2}(?:\.\d{1,3}){0,2})\b[^\n]{0,40}$"
    ):
        yield hit.states(Toolkit, name="rocm", version=hit["version"])


@reads(marks=("# Kernel Version",), adds=(Platform,), rank=0)
def kernel_answered(text: Text) -> Statements:
    """`### Kernel Version` and below it `5.15.153.1`: WSL's own form asks so."""
    for hit in text.each(
        r"^#{1,6} Kernel Version[ \t]*\n{1,4}[ \t`*-]{0,6}(?:Linux (?:version )?)?(?P<release>\d{1,2}\.\d{1,3}\.\d{1,4}[\w.+-]{0,60})[ \t`]*$"
    ):
        yield hit.states(Platform, release=hit["release"])
