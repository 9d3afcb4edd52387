"""Cards of which a report shows little more than that they are there; and reports behind comment signs."""

import re

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import Driver, Gpu
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.intel import sycl_ls
from rigup.machine.readers.nvidia_smi import nvidia_smi
from rigup.machine.readers.rocm_smi import rocm_smi
from rigup.machine.readers.values import address
from rigup.machine.texts import Text

_MOST = 16  # cards of one machine; more are parts of them
_NEAR = 600  # characters before a matrix in which somebody says whose it is


@reads(adds=(Gpu,), marks=("CPU Affinity",), rank=0)
def topology(text: Text) -> Statements:
    """`nvidia-smi topo -m`: a row for each GPU, numbered as NVML counts."""
    head = text.first(r"^[> ]{0,20}(?:\x1b\[4m)?\t?[ \t]{0,8}GPU0\b[^\n]{0,800}CPU Affinity")
    near = text.body[max(head.start - _NEAR, 0) : head.start + 4000].lower() if head else ""
    if head and ("nvidia" in near or re.search(r"\bnv\d{1,2}\b", near)):
        for row in text.each(r"^[> \t]{0,20}GPU(?P<index>\d{1,2})[ \t]{1,4}(?:X|NV\d{1,2}|SYS|NODE|PHB|PXB|PIX|PSB)\b"):
            yield row.states(Gpu, vendor="nvidia", nvml_index=int(row["index"]))


@reads(adds=(Gpu,), marks=("Temp (DieEdge)", "GPU  Temp"), rank=0)
def concise_rows(text: Text) -> Statements:
    """rocm-smi's table of old: `0    33.0c   37.0W   300Mhz  1200Mhz  0%   auto  290.0W    0%   0%`."""
    for row in text.each(r"^[> \t]{0,20}(?P<index>\d{1,2}) {2,8}\d{1,3}\.\dc {2,20}[\d.]{1,8}W {2,20}\d{1,5}[Mm]hz "):
        yield row.states(Gpu, vendor="amd", nvml_index=int(row["index"]))


@reads(adds=(Gpu,), marks=("[level_zero:gpu", "[opencl:gpu"), rank=0)
def nameless_sycl(text: Text) -> Statements:
    """`[level_zero:gpu][level_zero:0] Intel(R) Level-Zero, Intel(R) Graphics [0x7d55] 1.3`: an id where the driver knows no name."""
    form = r"^[>#\s]{0,20}\[(?P<api>level_zero|opencl):gpu\]\[\w{2,20}:(?P<index>\d{1,2})\] Intel[^\n,]{2,80}, Intel\(R\) Graphics \[0x(?P<device>[0-9a-f]{4})\]"
    hits = list(text.each(form))
    for hit in [hit for hit in hits if hit["api"] == "level_zero"] or hits:
        yield hit.states(Gpu, vendor="intel", pci_id="8086:" + hit["device"], runtime_index=int(hit["index"]))


@reads(adds=(Gpu,), marks=("nvidia-smi",), rank=0)
def counted_by_a_pipe(text: Text) -> Statements:
    """`nvidia-smi -L | wc -l` and its number: a refusal has two lines at most. What `grep -c GPU` counts are cards, or parts of them."""
    command = (
        r"\bnvidia-smi (?:-L|--list-gpus) ?\| ?(?P<how>wc -l|grep -c [\"']?(?:GPU|UUID)[\"']?:?)[ \t]*\n[ \t]{0,8}(?P<count>\d{1,3})[ \t]*$"
    )
    for hit in text.each(command):
        if (2 if hit["how"].startswith("wc") else 0) < int(hit["count"]) <= _MOST:
            numbers = range(int(hit["count"])) if "MIG" not in text.body else ()
            yield hit.states(Gpu, vendor="nvidia", seen_by="nvidia-smi")
            for number in numbers:
                yield hit.states(Gpu, vendor="nvidia", nvml_index=number, seen_by="nvidia-smi")


@reads(adds=(Gpu,), marks=("# gpu ",), rank=0)
def monitored_rows(text: Text) -> Statements:
    """`nvidia-smi dmon` and `pmon`: a row for each card, printed anew each second."""
    head = text.first(r"^[> \t]{0,12}# gpu {1,8}(?:pwr|sm|mclk|fb|rxpci|pid|sbecc|pviol)\b")
    if head:
        rows = text.each(r"^[> \t]{0,16}(?P<index>\d{1,2})(?: {1,12}(?:\d{1,7}|-|[CG](?:\+[CG])?|[A-Za-z_][\w./-]{0,60})){3,24}[ \t]*$")
        for index in dict.fromkeys(int(row["index"]) for row in rows if row.start > head.start):
            yield head.states(Gpu, vendor="nvidia", nvml_index=index, seen_by="nvidia-smi")


@reads(adds=(Gpu,), marks=("device handle for GPU",), rank=0)
def card_without_a_handle(text: Text) -> Statements:
    """`Unable to determine the device handle for GPU3: 0000:4E:00.0: Unknown Error`: a card's number and its address."""
    for hit in text.each(r"device handle for GPU(?P<index>\d{1,2}): (?P<pci>[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d)\b"):
        yield hit.states(Gpu, vendor="nvidia", nvml_index=int(hit["index"]), pci_address=address(hit["pci"]))


@reads(adds=(Gpu,), marks=("(nvgpu)",), rank=-1)
def graphics_of_a_jetson(text: Text) -> Statements:
    """`|   0  Orin (nvgpu)   N/A | N/A   N/A |`: a Jetson's own, of which the table tells the name alone."""
    for hit in text.each(r"^[> \t]{0,12}[|│] {1,4}\d {1,4}(?P<name>[A-Z][\w ]{2,30}?) \(nvgpu\) "):
        yield hit.states(Gpu, vendor="nvidia", name=hit["name"], integrated=True)


_ALIKE = (
    r"\bnvidia-smi (?:-L|--list-gpus)\b[^\n]{0,200}\| ?uniq -c[^\n]{0,60}\n(?P<rows>(?:[ \t]{2,8}[1-9]\d{0,2} [^\n]{3,90}(?:\n|\Z)){1,8})"
)
_COUNTED = lazy_regex(
    r"[ \t]{2,8}(?P<count>\d{1,3}) {1,4}(?:GPU:? ?)?(?P<name>(?:NVIDIA|Tesla|Quadro|GeForce)[\w .-]{2,60}?)[ \t]*$", re.MULTILINE
)


@reads(adds=(Gpu,), marks=("uniq -c",), rank=0)
def alike_by_a_pipe(text: Text) -> Statements:
    """`nvidia-smi -L | cut … | sort | uniq -c` and `      4  NVIDIA H100 80GB HBM3`: a row for all that are alike."""
    for hit in text.each(_ALIKE):
        counted = [(row["name"], int(row["count"])) for row in _COUNTED.finditer(hit["rows"])]
        names = [name for name, count in counted for _ in range(count)]
        for index, name in enumerate(names[:_MOST]):
            yield hit.states(Gpu, vendor="nvidia", nvml_index=index, name=name, seen_by="nvidia-smi")


_COMMENTED = lazy_regex(r"^[ \t]{0,8}(?:#|//|--|;)(?=[ \t]{0,8}(?:GPU\[|\[level_zero|\[opencl|\||\+-|={8}))", re.MULTILINE)


@reads(adds=(Gpu, Driver), marks=("# GPU[", "# [level_zero:gpu", "# [opencl:gpu", "# |", "#|", "// |", "# +-"), rank=0)
def commented_reports(text: Text) -> Statements:
    """A report that somebody keeps in a script's comments: the signs before its lines are no part of it."""
    body = _COMMENTED.sub(lambda match: " " * len(match[0]), text.body)
    if body != text.body:
        plain = Text(text.source, body, text.given, rank=text.rank, lines=text.lines)
        for read in (sycl_ls, rocm_smi, nvidia_smi):
            yield from read(plain)
