"""Which kernel the machine starts next: what the boot loader was told, else the newest that is there."""

import re

from rigup.machine.kinds import Kernel, NextBoot
from rigup.machine.reader import File, Listing, Statements, reads
from rigup.machine.texts import Hit, Text

_RELEASE = r"\d{1,2}\.\d{1,3}[\w.+~-]{0,80}"
_IMAGE = rf"/(?:boot/vmlinuz-(?P<boot>{_RELEASE})|lib/modules/(?P<modules>{_RELEASE})/vmlinuz)(?: -> [^\n]{{1,200}})?$"


@reads(
    inputs=[Listing("/boot/vmlinuz-*"), Listing("/{usr/,}lib/modules/*/vmlinuz")],
    adds=(NextBoot, Kernel),
    marks=(" /boot/vmlinuz-",),
    rank=0,
)
def kernel_images(text: Text) -> Statements:
    """`/boot/vmlinuz-6.8.0-45-generic`: where nobody chose, boot loaders start the newest."""
    releases = {hit["boot"] or hit["modules"]: hit for hit in text.each(_IMAGE) if not hit.match[0].endswith((".old", ".bak"))}
    if releases:
        newest = max(releases, key=_age)
        yield releases[newest].states(NextBoot, release=newest, because="newest")
    for release, hit in releases.items():
        yield hit.states(Kernel, release=release)


@reads(inputs=[Listing("/boot/initr{d,amfs}*")], adds=(Kernel,))
def initial_file_systems(text: Text) -> Statements:
    """`/boot/initrd.img-6.8.0-45-generic`, `/boot/initramfs-5.14.0-427.el9.x86_64.img`, `/boot/initrd-6.4.0-default`."""
    for hit in text.each(rf"/boot/(?:initrd\.img-|initramfs-|initrd-)(?P<release>{_RELEASE})(?: -> [^\n]{{1,200}})?$"):
        release = hit["release"].removesuffix(".img")
        if not release.endswith((".old", ".bak", "kdump", ".dpkg-bak")):
            yield hit.states(Kernel, release=release, initramfs=True)


def _age(release: str) -> list[tuple[int, int, str]]:
    """Releases in the order of boot loaders: numbers by value, words by letter."""
    words = re.findall(r"\d{1,18}|[a-z]{1,60}", release)
    return [(1, int(word), "") if word.isdigit() else (0, 0, word) for word in words]


@reads(
    inputs=[File("/etc/default/grub"), File("/boot/{grub,grub2}/grubenv"), File("/boot/loader/loader.conf")],
    adds=(NextBoot,),
    marks=("GRUB_DEFAULT=", "saved_entry=", "next_entry="),
    rank=2,
)
def chosen_entry(text: Text) -> Statements:
    """`GRUB_DEFAULT="Advanced options for Ubuntu>Ubuntu, with Linux 6.8.0-40-generic"`, `saved_entry=…-6.8.5-301.fc40.x86_64`."""
    hits = {
        hit["key"]: hit
        for hit in text.each(r"^[ \t]{0,4}(?P<key>GRUB_DEFAULT|saved_entry|next_entry|default)(?:=|[ \t]{1,8})(?P<value>[^\n]{1,400})$")
    }
    for key in ("next_entry", "saved_entry", "GRUB_DEFAULT", "default"):
        if key in hits and (release := _release_of(hits[key])):
            yield hits[key].states(NextBoot, release=release, because="chosen")
            return


def _release_of(hit: Hit) -> str | None:
    """The release in an entry's name or id; an entry by its number names none."""
    match = re.search(
        r"(?:(?:Linux|gnulinux)[ -]|(?<=[0-9a-f])-|^|vmlinuz-)(?P<release>\d{1,2}\.\d{1,3}\.\d[\w.+~-]{0,80})", hit["value"].strip("\"' ")
    )
    return re.sub(r"-advanced-[0-9a-f-]{4,60}$|\.conf$|-recovery\b.*", "", match["release"]) if match else None
