"""A machine in a few words, as people type it above a log: `RTX 3090, driver 535.129.03, Ubuntu 22.04`, a row of a table, `gpu = …`.

A line is split at commas and bars, and each part is looked at by itself; what a tool says of the same counts more.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator

from rigup.knowledge.gpus import one_gpu
from rigup.knowledge.patterns import lazy_regex
from rigup.machine.facts import Fact
from rigup.machine.kinds import Distribution, Driver, Gpu, Package, Platform, PythonEnv, Toolkit, Torch
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.packages import kept
from rigup.machine.readers.systems import os_of
from rigup.machine.readers.values import Draft, says, vendor_of
from rigup.machine.texts import Text

_MOST, _LONGEST = 60, 200  # lines of one text, letters of one line
_MARKS = (
    "river",
    "GPU",
    "gpu",
    "RTX",
    "GTX",
    "RX ",
    "rtx",
    "Radeon",
    "Tesla",
    "Quadro",
    "Windows",
    "macOS",
    "Ubuntu",
    "torch",
    "Torch",
    "Apple M",
    "MacBook",
    "M1",
    "M2",
    "M3",
    "M4",
    "ocky",
    "entOS",
    "ebian",
    "ubuntu",
    "edora",
    "ixOS",
    "oid linux",
    "oid Linux",
)
_BULLET = lazy_regex(r"^[ \t>|│┃*•+-]{0,8}(?:\*{2}|__|`|\")?")
_KEYED = lazy_regex(
    r"(?P<key>[A-Za-z][\w ./()?-]{1,30}?)(?:\*{2}|__|`|\")?[ \t]{0,8}(?:[:=|│┃]|[ \t]{2,24}(?=\S))[ \t*`\":|]{0,24}(?P<value>\S[^\n]{0,120})"
)
_KEYS = lazy_regex(
    r"(?i)(?:gpus?(?: ?#?\d)?(?: (?:model|name|type|card|type\(s\)))?|graphics(?: card)?|video card|card|accelerator|device|using gpu in script\?|os|system|"
    r"operating system|platform|distro|distribution|(?:nvidia |gpu |graphics |display )*drivers?(?: version)?|python(?: version)?|"
    r"(?:py)?torch(?:vision|audio)?(?: version)?|tensorflow(?: version)?|rocm(?: version)?|xformers(?: version)?|cuda version|machine|hardware|environment|env)"
)
_PARTS = lazy_regex(r"\s*(?:,|;|\||/(?= )|·|\+(?= )|\s-(?= ))\s*")
_DRIVER = lazy_regex(
    r"(?i)(?:nvidia[- ])?(?:gpu |graphics |display )?(?:drivers?)?(?: version)?[ :=v]{0,4}(?P<version>\d{3}\.\d{2,3}(?:\.\d{1,2})?)(?: ?\([^)]{1,30}\))?"
)
_SYSTEM = lazy_regex(
    r"(?i)(?:microsoft )?(?:windows ?(?:1[01]|7|8(?:\.1)?|server ?20\d\d)(?: (?:pro|home|enterprise|education|\d\dh\d|x64|64[- ]bit)){0,3}|mac ?os(?: [a-z]{4,10})? ?\d{2}(?:\.\d{1,2}){0,2}"
    r"|(?:ubuntu|debian|fedora|rhel|centos|rocky(?: linux)?|alma ?linux|arch(?: linux)?|manjaro|linux mint|pop!_os|opensuse(?: leap| tumbleweed)?|nixos|void linux|cachyos|endeavouros)(?: (?:server|desktop|linux))?(?: ?\d{1,2}(?:\.\d{1,2}){0,2})?(?: lts)?)(?: \(?(?:x86_64|64[- ]bit|arm64|aarch64)\)?)?"
)
_GUEST = lazy_regex(r"(?i)(?:(?:in|on|under|running) )?WSL ?[12]?")  # says nothing of what is told beside it
_KERNEL = lazy_regex(r"(?i)(?:linux )?kernel[ :=]{1,3}(?P<release>\d\.\d{1,2}\.\d{1,3}[\w.+-]{0,40})")
_PYTHON = lazy_regex(r"(?i)python[ :=v]{0,3}(?P<version>3\.\d{1,2}(?:\.\d{1,2})?)")
_PACKAGE = lazy_regex(
    r"(?i)(?P<name>(?:py)?torch(?:vision|audio)?|xformers|tensorflow)(?: version)?[ :=v]{1,3}(?P<version>\d\.\d{1,2}(?:\.\d{1,2})?(?:\.post\d)?(?:\+[a-z]{2,4}[\d.]{0,6})?)(?: ?\((?:(?P<cpu>cpu(?: ?-?(?:build|only|version))?)|cuda ?(?P<cuda>\d{1,2}\.\d)|(?P<build>[\w.]{4,60}))\))?"
)
_ROCM = lazy_regex(r"(?i)rocm[ :=v]{0,3}(?P<version>\d{1,2}\.\d{1,2}(?:\.\d{1,2})?)")
_APPLE = lazy_regex(r"(?:Apple |MacBook (?:Pro|Air) |Mac (?:mini|Studio) )?(?P<name>M[1-9](?: (?:Pro|Max|Ultra))?)(?: chip)?")
_OWN_WAY = lazy_regex(r"(?i)direct ?ml|privateuseone|openvino|\bzluda\b|\bneuron\b|\btorch_xla\b")  # a build for the processor serves these
_CHIP = lazy_regex(r"gfx[0-9a-f]{3,4}")
_FEATURE = lazy_regex(
    r"(?i)\b\d{1,3} ?gi?b\b(?: vram)?|\(\d{1,3} ?gi?b\)|\bvram\b|^\d ?[x×] ?| ?[x×] ?\d$|^(?:laptop|desktop|mobile|dual|nvidia laptop) |\blaptop(?: gpu)?$|\bgpu$|^(?:an?|one|my|single) "
)


@reads(marks=_MARKS, adds=(Gpu, Driver, Platform, Distribution, PythonEnv, Package, Toolkit, Torch), rank=-2)
def machine_in_a_few_words(text: Text) -> Statements:
    """What each part of a short line says; a line of which one part only is understood, without a key, is left to others."""
    for start, line in _lines(text):
        key, split_parts = _split(line)
        parts = [part for part in split_parts if not _GUEST.fullmatch(part)]
        if len({part for part in parts if _CHIP.fullmatch(part)}) > 1:  # what something was built for
            parts = [part for part in parts if not _CHIP.fullmatch(part)]
        facts_by_part = [list(_part(text, start, key if n == 0 else "", part)) for n, part in enumerate(parts)]
        known = [facts for facts in facts_by_part if facts]
        if key or len(known) > 1 or (len(parts) == 1 and known and _stands_alone(parts[0])):
            yield from (fact for facts in known for fact in facts)


def _lines(text: Text) -> Iterator[tuple[int, str]]:
    """The short lines that bear one of the marks."""
    spots = sorted(at for mark in _MARKS for at in text.spots(mark)[:_MOST])
    for number in sorted({bisect_right(text.starts, at) - 1 for at in spots})[:_MOST]:
        start, end = text.starts[number], text.starts[number + 1] - 1
        if end - start <= _LONGEST:
            yield start, text.body[start:end]


def _split(line: str) -> tuple[str, list[str]]:
    """The key, where one of ours stands in front, and the parts of what is behind it."""
    plain = _BULLET.sub("", line).strip().rstrip('.|│┃,"').strip()
    keyed = _KEYED.fullmatch(plain)
    if keyed and _KEYS.fullmatch(keyed["key"].strip()):
        return keyed["key"].strip().lower(), [part for part in _PARTS.split(keyed["value"].strip(" *`|")) if part]
    return "", [part.strip(" *`") for part in _PARTS.split(plain) if part.strip()]


def _stands_alone(part: str) -> bool:
    """A driver or a system by its own word needs no neighbour."""
    forms = (_SYSTEM, _APPLE, *((_PACKAGE,) if "(" in part else ()))
    return "river" in part.lower() or any(form.fullmatch(part) for form in forms)


def _part(text: Text, at: int, key: str, part: str) -> Iterator[Fact]:
    word = re.sub(r"(?i) ?version$", "", key)
    spoken = f"{word} {part}" if word.startswith(("python", "torch", "pytorch", "tensorflow", "rocm", "xformers")) else part
    if match := _PACKAGE.fullmatch(spoken):
        report = key == "pytorch version"  # collect_env's own line, which its reader knows
        yield from _package(text, at, match) if not report and not _OWN_WAY.search(text.body) else ()
    elif match := _PYTHON.fullmatch(spoken):
        yield from says(text, PythonEnv, at, version=match["version"])
    elif match := _ROCM.fullmatch(spoken):
        yield from says(text, Toolkit, at, name="rocm", version=match["version"])
    elif (match := _DRIVER.fullmatch(part)) and ("river" in part.lower() or "driver" in key):
        yield from says(text, Driver, at, vendor="nvidia", version=match["version"])
    elif _SYSTEM.fullmatch(part):
        yield from os_of(text, at, part)
        if match := re.search(r"aarch64|arm64", part):
            yield from says(text, Platform, at, architecture=match[0])
    elif match := _KERNEL.fullmatch(part):
        yield from says(text, Platform, at, system="linux", release=match["release"])
    elif match := _APPLE.fullmatch(part):
        yield from says(text, Gpu, at, vendor="apple", name="Apple " + match["name"], integrated=True)
    else:
        yield from _card(text, at, part)


def _package(text: Text, at: int, match: "re.Match[str]") -> Iterator[Package | Torch]:
    conda = bool(match["build"])
    if "torch" in match["name"].lower() and "torchv" not in match["name"].lower() and (match["cpu"] or match["cuda"]):
        draft = Draft(text, Torch, at)
        draft.add("version", match["version"])
        draft.add("cuda", match["cuda"])
        draft.lacks("hip")
        draft.lacks("cuda")
        yield from draft.facts()
    name = kept(match["name"]) or ""
    name = name if conda else {"pytorch": "torch"}.get(name, name)
    yield from says(text, Package, at, name=name, version=match["version"], build=match["build"], manager="conda" if conda else "pip")


def _card(text: Text, at: int, part: str) -> Iterator[Gpu]:
    """A product that the catalogue knows, and nothing else in the part but its memory and how many there are."""
    if _CHIP.fullmatch(part):
        yield from says(text, Gpu, at, vendor="amd", shown_isa=part)
    plain = _FEATURE.sub("", part).strip(" ()-")
    plain = _FEATURE.sub("", plain).strip(" ()-")
    plain = re.sub(r"(?: @ [\d.]{1,5} ?[GM]Hz)?(?: \[(?:Discrete|Integrated)\])?\Z", "", plain)
    if not re.search(r"\d", plain) or len(plain) > 50 or not re.match(r"[A-Za-z]", plain):
        return
    names = (plain, "GeForce " + plain) if re.match(r"(?i)[rg]tx", plain) else (plain,)
    if re.search(r"(?i)\b(?:laptop|mobile)\b", part):
        names = (*(name + " Laptop GPU" for name in names), *names)
    row = next((row for name in names if (row := one_gpu(name))), None)
    if row is None or not row.vendor or not (vendor_of(plain) or re.match(r"(?i)rx ?\d|(?:g[hb]|[abhlvtp])\d{1,3}s?$|mi\d{2,3}", plain)):
        return
    draft = Draft(text, Gpu, at)
    for field in ("name", "vendor", "isa", "integrated"):
        draft.add(field, getattr(row, field))
    yield from draft.facts()
