"""What pastes tell in passing: a Mac's kernel, a node in a listing of its folder, a chip by its code name."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rigup.machine.inventory import accelerators
from rigup.machine.reader import READERS
from rigup.machine.readers import of_texts  # noqa: F401  (registers them)
from rigup.machine.texts import Text

PIECES = (
    "Darwin Kernel Version 22.6.0: ",
    "root:xnu-8796.141.3~6/",
    "RELEASE_ARM64_T6000",
    "RELEASE_X86_64",
    "RELEASE_",
    "processor: ",
    "i386",
    "arm",
    "Darwin",
    "crw-rw----",
    "crw-------+",
    "   1 ",
    "root ",
    "render ",
    "510, ",
    "0 ",
    "Nov  2 08:40 ",
    "kfd",
    "/dev/kfd",
    "\n",
    " ",
    "é",
    "\0",
)
OURS = ("darwin_kernel", "kfd_in_a_listing")


def told(reader, body):
    """What a reader says of a pasted text, as plain fields."""
    return [{name: reading.value for name, reading in fact.fields.items()} for fact in READERS[reader].read(Text("text", body))]


@pytest.mark.parametrize(("word", "architecture"), [("RELEASE_ARM64_T8103", "arm64"), ("RELEASE_X86_64", "x86_64")])
def test_a_macs_kernel_tells_its_processor(word, architecture):
    (system,) = told("darwin_kernel", f"Darwin Kernel Version 21.6.0: root:xnu-8020/{word}\n")
    assert (system["system"], system["architecture"]) == ("macos", architecture)


@pytest.mark.parametrize(("word", "machine"), [("i386", "x86_64"), ("arm", "arm64")])
def test_lightning_tells_pythons_processor_beside_darwin(word, machine):
    assert {"machine": machine} in told("darwin_kernel", f"* System:\n  - OS: Darwin\n  - processor: {word}\n")
    assert told("darwin_kernel", f"- OS: Linux\n- processor: {word}\n") == []


def test_a_node_in_a_listing_of_its_folder():
    (node,) = told("kfd_in_a_listing", "crw-------   1 root    root    234,   0 Mai 21 05:13 kfd\n")
    assert (node["path"], node["mode"], node["group"], node["acl"]) == ("/dev/kfd", "crw-------", "root", False)


@pytest.mark.parametrize("line", ["crw-rw---- 1 root render 234, 0 Mai 21 05:13 kfd2", "drwxr-xr-x 2 root root 40 Mai 21 05:13 kfd"])
def test_what_is_another_file_is_no_node(line):
    assert told("kfd_in_a_listing", line + "\n") == []


@pytest.mark.parametrize(
    ("line", "isa"),
    [
        ("04:00.0 VGA compatible controller: Advanced Micro Devices, Inc. [AMD/ATI] Renoir (rev c6)", "gfx90c"),
        (
            "04:00.0 VGA compatible controller: Advanced Micro Devices, Inc. [AMD/ATI] Cezanne [Radeon Vega Series / Radeon Vega Mobile Series] (rev c8)",
            "gfx90c",
        ),
    ],
)
def test_graphics_in_a_processor_by_their_code_name(pasted, line, isa):
    (card,) = accelerators(pasted(line + "\n"))
    assert (card["isa"], card["integrated"]) == (isa, True)


@pytest.mark.parametrize("name", OURS)
@settings(max_examples=60, deadline=None)
@given(body=st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=10)), max_size=50).map("".join))
def test_no_text_makes_a_reader_fail(name, body):
    for fact in READERS[name].read(Text("text", body)):
        assert fact.fields


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("piece", ["RELEASE_ARM64_T", "Darwin\nprocessor: ", "crw-rw---- 1 root root 1, 0 ", " kfd", "a"])
def test_no_long_text_makes_a_reader_hang(name, piece):
    for _ in zip(range(100), READERS[name].read(Text("text", piece * (40_000 // len(piece)))), strict=False):
        pass
