"""Systems whose /usr is no place for packages: ostree, NixOS, SteamOS, MicroOS. And whose keys the firmware trusts."""

import re

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import Distribution, Platform
from rigup.machine.reader import File, Listing, Statements, reads
from rigup.machine.texts import Text

_MARKS = {
    "/run/ostree-booted": "ostree",
    "/etc/NIXOS": "nixos",
    "/usr/bin/steamos-readonly": "steamos",
    "/usr/sbin/transactional-update": "microos",
}
_RELEASES = {"nixos": "nixos", "steamos": "steamos", "opensuse-microos": "microos", "opensuse-aeon": "microos", "fedora-coreos": "ostree"}


@reads(inputs=[Listing(path) for path in _MARKS], adds=(Distribution,))
def immutable_marks(text: Text) -> Statements:
    """Each kind leaves a file by which it is known."""
    for path, kind in _MARKS.items():
        if hit := text.first(re.escape(path) + r"(?: -> [^\n]{1,200})?$"):
            yield hit.states(Distribution, immutable=kind)


@reads(
    inputs=[File("/etc/os-release"), File("/usr/lib/os-release")],
    marks=("OSTREE_VERSION=", "ID=nixos", "ID=steamos", "ID=opensuse-microos", "VARIANT_ID="),
    adds=(Distribution,),
)
def immutable_release(text: Text) -> Statements:
    """`OSTREE_VERSION=`, `VARIANT_ID=silverblue`, `ID=steamos`."""
    if hit := text.first(r"^OSTREE_VERSION=|^VARIANT_ID=[\"']?(?:silverblue|kinoite|coreos|iot|sericea|onyx|bazzite\S{0,20})\b"):
        yield hit.states(Distribution, immutable="ostree")
    elif (hit := text.first(r"^ID=[\"']?(?P<id>[a-z-]{3,30})")) and hit["id"] in _RELEASES:
        yield hit.states(Distribution, immutable=_RELEASES[hit["id"]])


@reads(marks=("rpm-ostree status", "BootedDeployment:", "● ostree-"), adds=(Distribution,))
def ostree_status(text: Text) -> Statements:
    """`rpm-ostree status` and `bootc status`: deployments, the booted one marked."""
    if hit := text.first(r"^(?:BootedDeployment:|State: idle\s{0,8}\n(?:[^\n]{0,200}\n){0,6}?Deployments:|● ostree-)"):
        own = text.first(
            r"^● (?:(?P<id>fedora):fedora/(?P<version>\d\d)/|ostree-\S{3,60}/(?P<image>bazzite|silverblue|kinoite)[\w-]{0,40}:)"
        )
        named = {"id": "bazzite" if own["image"] == "bazzite" else "fedora", "version": own["version"] or None} if own else {}
        yield hit.states(Distribution, immutable="ostree", **{field: value for field, value in named.items() if value})


@reads(marks=("nixos-version",), adds=(Distribution,))
def nixos_version(text: Text) -> Statements:
    """`nixos-version`: "25.05.806273.650e572363c0 (Warbler)"."""
    if hit := text.first(r"[$#>] ?nixos-version[ \t]*\n(?P<version>\d\d\.\d\d)(?:\.\S{1,40})? \([A-Z]\w+\)"):
        yield hit.states(Distribution, id="nixos", version=hit["version"], immutable="nixos")


# A common name in a certificate: its object identifier, the kind of string, its length, the string.
_NAME = lazy_regex(r"\x06\x03U\x04\x03[\x0c\x13](?P<length>[\x01-\x7f])")


@reads(
    inputs=[File("/sys/firmware/efi/{mok-variables/MokListRT,efivars/MokListRT-605dab50-e046-4300-abb6-3dd810dd8b23}")], adds=(Platform,)
)
def enrolled_keys(text: Text) -> Statements:
    """The machine owner's keys, as certificates one behind the other; their subjects' names are readable as they stand."""
    names = [text.body[match.end() : match.end() + ord(match["length"])] for match in _NAME.finditer(text.body)]
    plain = list(dict.fromkeys(name for name in names if name.isprintable()))[:50]
    if plain and (hit := text.first(r"[^\n]")):
        yield hit.states(Platform, mok=plain)


@reads(marks=("[key 1]", "SHA1 Fingerprint:"), adds=(Platform,))
def listed_keys(text: Text) -> Statements:
    """`mokutil --list-enrolled`: `Subject: CN=ubuntu Secure Boot Module Signature key`."""
    hits = list(text.each(r"^[ \t]{1,16}Subject: [^\n]{0,300}?\bCN ?= ?(?P<name>[^,/\n]{2,120})"))[:50]
    if hits and text.first(r"^\[key 1\]"):
        yield hits[0].states(Platform, mok=list(dict.fromkeys(hit["name"].strip() for hit in hits)))
