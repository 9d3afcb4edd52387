"""Numbers that tell one machine from all others: UUIDs, network addresses, hardware addresses; and e-mail.

What stands in their place has their form, so that readers read it, and the documentation's ranges, so that
it is known again. Versions look like addresses (12.4.1.0): the words around them tell.
"""

import functools
import ipaddress
import re

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.pseudonyms import Pseudonyms, is_pseudonym

_UUID = lazy_regex(r"(?<![0-9A-Za-z])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![0-9A-Za-z])")
_UUID_BEHIND = lazy_regex(r"(?<=[.:])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![0-9A-Za-z])")  # uuid:…, uuid.…
_PART_OF_UUID = lazy_regex(
    r"(?<![A-Za-z0-9-])(?P<kind>GPU-|MIG-)(?P<start>[0-9a-f]{8}(?:-[0-9a-f]{0,4}){0,3}|[0-9a-f]{4,7})(?![0-9A-Za-z-])"
)
_HIP_UUID = lazy_regex(r"(?<![A-Za-z0-9-])GPU-(?P<id>[0-9a-f]{16})(?![0-9A-Za-z-])")
_DISK = lazy_regex(r"(?P<name>\b(?:PART)?UUID=\"?)(?P<value>[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}|[0-9A-Fa-f]{8}-\d\d|[0-9A-Fa-f]{16})(?![\w-])")
_MAC = lazy_regex(r"(?<![0-9A-Za-z:.-])[0-9a-fA-F]{2}([:-])(?:[0-9a-fA-F]{2}\1){4,18}[0-9a-fA-F]{2}(?![0-9A-Za-z:-])")
_CARD_OF_NAME = lazy_regex(r"\b(?P<kind>enx|wlx|wwx)(?P<plain>[0-9a-f]{12})(?![0-9A-Za-z])")  # an interface called by its address
_SPACED_NAME = lazy_regex(r"(?i)\b(?P<head>wwn device id:[ \t]{0,8})(?P<value>[0-9a-f](?:[ ]?[0-9a-f]){15})\b")
_DOTTED_MAC = lazy_regex(r"(?i)(?<![\w.])(?=[0-9.]{0,12}[a-f])[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}(?![\w.])")
_LICENCE = lazy_regex(r"(?<![\w-])(?=[A-Z-]{0,28}\d)[A-Z0-9]{5}(?:-[A-Z0-9]{5}){4}(?![\w-])")
_SID = lazy_regex(r"\bS-1-5-21(?P<value>(?:-\d{5,10}){3})")
_TELEPHONE = lazy_regex(r"(?<![\w+.])\+[1-9]\d{0,2}(?:[ .()/-]{1,2}\d{2,8}){2,6}(?![\w.])")
_GUID = lazy_regex(r"(?<![0-9A-Za-z:.])[0-9a-f]{4}(?::[0-9a-f]{4}){3}(?![0-9A-Za-z:.])")
_IPV4 = lazy_regex(r"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?!\.?\d|[A-Za-z_])")
_IPV6 = lazy_regex(r"(?i)(?<![\w:.])(?=[23f][0-9a-f]{3}:)[0-9a-f]{1,4}(?::[0-9a-f]{0,4}){2,7}(?![\w:])")
_EMAIL = lazy_regex(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,6}[A-Za-z]{2,24}(?![\w-])")
_SERVICES = lazy_regex(r"(?i)(?:git|hg|svn)@.*|.*\.(?:service|socket|target|slice|mount|timer|device|scope|path|swap|conf)")
_HEXADECIMAL = lazy_regex(r"(?<![0-9A-Za-z.:])[0-9a-fA-F]{1,8}[:-][0-9a-fA-F:-]{6,80}(?![0-9A-Za-z])")
_SMALL = 40  # parts of a version rarely exceed it; of an address they mostly do
# Words after which four numbers are an address, and words after which they are a version.
_ADDRESS = frozenset(
    [
        "inet",
        "addr",
        "address",
        "addresses",
        "ip",
        "ipv4",
        "ipaddr",
        "host",
        "hostname",
        "server",
        "nameserver",
        "dns",
        "gateway",
        "gw",
        "route",
        "via",
        "src",
        "dst",
        "dest",
        "source",
        "remote",
        "peer",
        "from",
        "to",
        "connect",
        "connected",
        "connecting",
        "connection",
        "listen",
        "listening",
        "bind",
        "bound",
        "endpoint",
        "master",
        "rendezvous",
        "ping",
        "proxy",
        "ssh",
        "client",
        "node",
        "interface",
        "netmask",
        "broadcast",
        "tcp",
        "udp",
        "router",
        "login",
        "at",
        "master_addr",
    ]
)
_VERSION = frozenset(
    [
        "version",
        "versions",
        "ver",
        "v",
        "release",
        "driver",
        "cuda",
        "cudnn",
        "nccl",
        "build",
        "firmware",
        "fw",
        "bios",
        "vbios",
        "kernel",
        "runtime",
        "toolkit",
        "wheel",
        "package",
        "installed",
        "require",
        "requires",
        "library",
        "wsl",
        "wslg",
        "windows",
        "direct3d",
        "d3d12",
        "dxcore",
        "api",
        "revision",
        "rev",
    ]
)
_AROUND = 60  # characters before a number that tell what it is
_WORD = lazy_regex(r"[\w.+-]{1,60}\Z")
_BETWEEN = " \t\"'=:([<>~!,"


def without_numbers(body: str, pseudonyms: Pseudonyms, spared: frozenset[str] = frozenset()) -> str:
    """The text without what tells this machine from others. `spared` UUIDs are the same everywhere."""
    body = _HEXADECIMAL.sub(lambda match: _without_hexadecimal(match[0], pseudonyms, spared), body)
    body = _UUID_BEHIND.sub(lambda match: _uuid(match[0], pseudonyms, spared), body)
    if "-" in body:
        if "GPU-" in body or "MIG-" in body:
            body = _HIP_UUID.sub(lambda match: "GPU-" + hexadecimal(match["id"], pseudonyms), body)
            body = _PART_OF_UUID.sub(lambda match: match["kind"] + _start(match["start"], pseudonyms), body)
        if "UUID=" in body:
            body = _DISK.sub(lambda match: match["name"] + _disk(match["value"], pseudonyms), body)
    body = _without_other_numbers(body, pseudonyms)
    if "." in body:
        body = _without_ipv4(body, pseudonyms)
    return _without_mail(body, pseudonyms) if "@" in body else body


def _without_other_numbers(body: str, pseudonyms: Pseudonyms) -> str:
    """Numbers that stand in forms of their own: of cards in their names, of disks, of accounts, of telephones."""
    if "x" in body:
        body = _CARD_OF_NAME.sub(lambda match: match["kind"] + _as_card(match["plain"], pseudonyms), body)
    if "S-1-5-21-" in body:
        body = _SID.sub(lambda match: "S-1-5-21-0-0-" + str(pseudonyms.number("unique id", match["value"])), body)
    if "-" in body:
        body = _LICENCE.sub(lambda match: pseudonyms.of("licence key", match[0]), body)
    if "." in body:
        body = _DOTTED_MAC.sub(lambda match: _dotted(match[0], pseudonyms), body)
    if "+" in body:
        body = _TELEPHONE.sub(lambda match: pseudonyms.of("telephone", match[0]), body)
    return _SPACED_NAME.sub(lambda match: match["head"] + _as_name(match["value"], pseudonyms), body)


def _as_card(plain: str, pseudonyms: Pseudonyms) -> str:
    pseudonyms.counts["hardware address"] += 1
    return "02" + f"{pseudonyms.number('hardware address', plain):010x}"


def _dotted(value: str, pseudonyms: Pseudonyms) -> str:
    """A card's address as switches write it."""
    pseudonyms.counts["hardware address"] += 1
    digits = f"02{pseudonyms.number('hardware address', value.replace('.', '').lower()):010x}"
    return ".".join(digits[at : at + 4] for at in range(0, 12, 4))


def _as_name(value: str, pseudonyms: Pseudonyms) -> str:
    pseudonyms.counts["serial number"] += 1
    return f"0 000000 {pseudonyms.number('unique id', value):09x}"


def without_contacts(body: str, pseudonyms: Pseudonyms) -> str:
    """The text without e-mail and hardware addresses: they tell who and which, and no command needs them."""
    if ":" in body or "-" in body:
        body = _MAC.sub(lambda match: _mac(match, pseudonyms), body)
    return _without_mail(body, pseudonyms) if "@" in body else body


def _without_hexadecimal(token: str, pseudonyms: Pseudonyms, spared: frozenset[str]) -> str:
    """A row of digits with signs between: whichever of these it is."""
    token = _UUID.sub(lambda match: _uuid(match[0], pseudonyms, spared), token)
    token = _MAC.sub(lambda match: _mac(match, pseudonyms), token)
    if ":" in token:
        token = _GUID.sub(lambda match: _guid(match[0], pseudonyms), token)
        token = _IPV6.sub(lambda match: _ipv6(match[0], pseudonyms), token)
    return token


def _uuid(value: str, pseudonyms: Pseudonyms, spared: frozenset[str]) -> str:
    if value.lower() in spared or value.count("0") >= 24 or len(set(value)) < 4:
        return value
    number = pseudonyms.number("uuid", value.lower())
    pseudonyms.counts["uuid"] += 1
    return f"{number:08x}-0000-0000-0000-000000000000"


def _start(start: str, pseudonyms: Pseudonyms) -> str:
    """The beginning of a UUID names a card too; it stays the beginning of what stands for that one."""
    known = [value for kind, value in pseudonyms.given if kind == "uuid" and value.startswith(start)]
    if not known or start.startswith("0000"):
        return start
    pseudonyms.counts["uuid"] += 1
    return f"{pseudonyms.number('uuid', known[0]):08x}" + "-0000-0000-0000"[: max(0, len(start) - 8)]


def hexadecimal(value: str, pseudonyms: Pseudonyms) -> str:
    """A unique number in as many hexadecimal digits."""
    if int(value, 16) < 10_000:
        return value
    pseudonyms.counts["serial number"] += 1
    return f"{pseudonyms.number('unique id', str(int(value, 16))):0{len(value)}x}"


def _disk(value: str, pseudonyms: Pseudonyms) -> str:
    plain = value.replace("-", "")
    if int(plain, 16) < 10_000 or value[:4] == "0000":
        return value
    pseudonyms.counts["uuid"] += 1
    head, dash, tail = value.partition("-")
    digits = f"{pseudonyms.number('disk', head if len(tail) == 2 else plain):0{len(head if len(tail) == 2 else plain)}x}"
    return digits + dash + tail if len(tail) == 2 or not dash else digits[:4] + dash + digits[4:]


def _mac(match: re.Match[str], pseudonyms: Pseudonyms) -> str:
    value, between = match[0], match[1]
    plain = value.replace(between, "").lower()
    if len(set(plain)) == 1 or plain.startswith("0200000000") or plain.count("0") >= len(plain) - 4:
        return value
    pseudonyms.counts["hardware address"] += 1
    digits = f"{pseudonyms.number('hardware address', plain):0{len(plain) - 2}x}"
    return between.join(("02", *(digits[at : at + 2] for at in range(0, len(digits), 2))))


def _guid(value: str, pseudonyms: Pseudonyms) -> str:
    plain = value.replace(":", "")
    if plain.count("0") >= 12:
        return value
    pseudonyms.counts["hardware address"] += 1
    digits = f"{pseudonyms.number('hardware address', plain):016x}"
    return ":".join(digits[at : at + 4] for at in range(0, 16, 4))


def _without_ipv4(body: str, pseudonyms: Pseudonyms) -> str:
    parts, done = [], 0
    for match in _IPV4.finditer(body):
        start = match.start()
        if start and (body[start - 1].isdigit() or body[start - 2 : start] in _neighbours(body, start)):
            continue
        if _public(match[0]) and _is_address(body, match):
            parts += [body[done:start], ipv4(match[0], pseudonyms)]
            done = match.end()
    return "".join(parts) + body[done:] if parts else body


def _neighbours(body: str, start: int) -> tuple[str, ...]:
    """1.2.3.4.5 is no address, whichever four of it are looked at."""
    return (body[start - 2] + ".",) if body[start - 1] == "." and body[start - 2 : start - 1].isalnum() else ()


@functools.lru_cache(10_000)
def _public(value: str) -> bool:
    parts = value.split(".")
    if any((len(part) > 1 and part[0] == "0") or int(part) > 255 for part in parts):
        return False
    return ipaddress.IPv4Address(value).is_global and parts[0] != "0"


def _is_address(body: str, match: re.Match[str]) -> bool:
    before = body[max(0, match.start() - _AROUND) : match.start()].rpartition("\n")[2]
    return _stands_as_one(before, match[0], body[match.end() : match.end() + 8])


@functools.lru_cache(10_000)
def _stands_as_one(before: str, value: str, after: str) -> bool:
    """Words before it and signs after it tell; else how large its parts are."""
    if re.match(r"/\d{1,2}(?!\d)|:\d{2,5}(?!\d)", after) or before.endswith(("://", "@")):
        return True
    if re.match(r"[-+_~]\w", after) or before[-1:] in ("-", "+", "~", "^", "_", ".") or before[-1:].isalpha():
        return False
    if re.search(r"(?<!\w)\d{1,3}:\Z", before):  # a package's epoch
        return False
    parts = [int(part) for part in value.split(".")]
    large = any(part > _SMALL for part in parts[:3])
    return _is_introduced(before, large, parts[0] > _SMALL)


def _is_introduced(before: str, large: bool, large_first: bool) -> bool:
    """What the word before it says of a number. A package's name is followed by its version."""
    plain = before.rstrip(_BETWEEN)
    between, word = before[len(plain) :], _WORD.search(plain)
    name = word[0].lower() if word else ""
    if name in _VERSION or "==" in between or "~=" in between or "<" in between or ">" in between:
        return False
    if name in _ADDRESS or name.endswith(("_ip", "_addr", "_host", "-ip", "ipaddr")):
        return True
    package = "-" in name or "_" in name or (word is not None and word.start() == 0)
    return large_first if package else large


def ipv4(value: str, pseudonyms: Pseudonyms) -> str:
    """An address of the ranges that documentation uses."""
    pseudonyms.counts["public address"] += 1
    number = pseudonyms.number("ipv4", value) - 1
    return ("203.0.113", "198.51.100", "192.0.2")[number // 254 % 3] + f".{number % 254 + 1}"


def _ipv6(value: str, pseudonyms: Pseudonyms) -> str:
    try:
        address = ipaddress.IPv6Address(value)
    except ValueError:
        return value
    if address.is_link_local and b"\xff\xfe" in address.packed[8:]:  # made of the card's own address
        pseudonyms.counts["hardware address"] += 1
        return f"fe80::{pseudonyms.number('ipv6', value.lower()):x}"
    if not address.is_global:
        return value
    pseudonyms.counts["public address"] += 1
    return f"2001:db8::{pseudonyms.number('ipv6', value.lower()):x}"


def _without_mail(body: str, pseudonyms: Pseudonyms) -> str:
    parts, done, after = [], 0, 0
    while (at := body.find("@", after)) >= 0:
        after = at + 1
        start, least = at, max(done, at - 64)
        while start > least and (body[start - 1].isalnum() or body[start - 1] in "._+-"):
            start -= 1
        match = _EMAIL.match(body, start) if start < at else None
        if match and match.end() > at and not _is_shared(match[0]):
            parts += [body[done:start], pseudonyms.of("e-mail", match[0].lower(), "email{n}@example.com")]
            done = after = match.end()
    return "".join(parts) + body[done:] if parts else body


def _is_shared(mail: str) -> bool:
    """An address of nobody: documentation's, a service's account, a unit's name."""
    domain = mail.rpartition("@")[2].lower()
    return (
        is_pseudonym(mail)
        or is_pseudonym(mail.partition("@")[0])
        or domain in ("example.com", "example.org", "example.net")
        or bool(_SERVICES.fullmatch(mail))
    )
