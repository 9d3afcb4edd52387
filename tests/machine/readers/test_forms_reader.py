"""Answers below headings, names that scripts print, and what people write of their Macs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rigup.machine.reader import READERS
from rigup.machine.readers import forms, macs
from rigup.machine.texts import Text

PIECES = (
    "### GPU\n",
    "### ROCm Version\n",
    "### Kernel Version\n",
    "## Graphics card\n\n",
    "rx 7800 xt",
    "AMD Radeon RX 580 Series",
    "6.4.2",
    "ROCm 7.0",
    "5.15.153.1",
    "device name: ",
    "default cuda device name: ",
    "GPU Name: ",
    "- macOS 15.1 ",
    "Apple M3",
    "(M2 Pro)",
    "MacBook Air ",
    "-linuxkit",
    "6.10.14",
    "-aarch64",
    "platform.machine()",
    "x86_64",
    "\n",
    "\n\n",
    " ",
    "`",
    "#",
    "(",
    ")",
    "é",
    "\0",
)
OURS = sorted(name for name, reader in READERS.items() if reader.read.__module__ in (forms.__name__, macs.__name__))


def told(reader, body):
    """What a reader says of a pasted text, as plain fields."""
    return [{name: reading.value for name, reading in fact.fields.items()} for fact in READERS[reader].read(Text("text", body))]


@pytest.mark.parametrize("answer", ["rx 7800 xt", "AMD Radeon RX 7800XT", "RX7800XT 16GB", "`Radeon RX 7800 XT`"])
def test_a_card_below_its_heading_is_known_by_any_spelling(answer):
    (card,) = told("card_answered", f"### GPU\n\n{answer}\n")
    assert (card["vendor"], card["isa"], card["integrated"]) == ("amd", "gfx1101", False)


@pytest.mark.parametrize("answer", ["none", "see below", "my old one", "### CPU"])
def test_an_answer_that_names_no_card_is_no_card(answer):
    assert told("card_answered", f"### GPU\n\n{answer}\n") == []


@pytest.mark.parametrize(("answer", "version"), [("6.4.2", "6.4.2"), ("ROCm 6.2", "6.2"), ("v7.0.2", "7.0.2")])
def test_a_release_below_its_heading(answer, version):
    assert told("rocm_answered", f"### ROCm Version\n\n{answer}\n") == [{"name": "rocm", "version": version}]


def test_a_kernel_below_its_heading():
    assert told("kernel_answered", "### Kernel Version\n\n5.10.16.3\n") == [{"release": "5.10.16.3"}]


def test_a_printed_device_name_is_a_card():
    (card,) = told("card_printed", "default cuda device name: AMD Radeon RX 580 Series\n")
    assert (card["vendor"], card["isa"]) == ("amd", "gfx803")


@pytest.mark.parametrize(
    ("line", "model"),
    [
        ("- macOS 26.2 (Build 25C56), Apple M3, Metal supported", "Apple M3"),
        ("Hardware: MacBook Pro M1 Max", "Apple M1 Max"),
        ("MacBook Air (M2)", "Apple M2"),
    ],
)
def test_a_chip_in_a_persons_list(line, model):
    assert {"model": model} in told("chip_as_written", line + "\n")


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("MacBook Pro with Ventura 13.7 (22H123), M1 Max", "13.7"),
        ("Mac mini M2, macOS Sonoma 14.3.1", "14.3.1"),
        ("MacbookPro M3Pro with MacOS 14.4.1", "14.4.1"),
    ],
)
def test_a_system_in_a_line_about_a_mac(line, version):
    assert told("system_in_prose", line + "\n") == [{"system": "macos", "version": version}]


@pytest.mark.parametrize(
    "line", ["The MPS backend is supported on MacOS 13.0+.", "mlx requires macOS 13.3", "built for macOS 15.0 which is newer", "MacOS 14.x"]
)
def test_a_system_that_is_wished_is_not_there(line):
    assert told("system_in_prose", line + "\n") == []


def test_a_chip_before_the_machines_name():
    assert {"model": "Apple M3 Pro"} in told("chip_as_written", "MacbookPro M3Pro\n")
    assert {"model": "Apple M1"} in told("chip_as_written", "M1 Macbook, Docker Desktop\n")


@pytest.mark.parametrize("line", ["It would be faster on an M3.", "libfoo M1.so", "macOS 15.1 with M1-dev"])
def test_other_lines_tell_no_chip(line):
    assert told("chip_as_written", line + "\n") == []


def test_a_macs_container_tells_its_kernel_and_processor():
    found = told("container_of_kernel", "'Linux-6.10.14-linuxkit-aarch64-with-glibc2.36'\n")
    assert {"container": "docker"} in found
    assert {"system": "linux", "release": "6.10.14-linuxkit"} in found
    assert {"architecture": "aarch64"} in found


@pytest.mark.parametrize("name", OURS)
@settings(max_examples=60, deadline=None)
@given(body=st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=10)), max_size=50).map("".join))
def test_no_text_makes_a_reader_fail(name, body):
    for fact in READERS[name].read(Text("text", body)):
        assert fact.fields


@pytest.mark.parametrize("name", OURS)
def test_no_long_text_makes_a_reader_hang(name):
    for piece in ("# GPU\n", "### GPU\n\n", "Apple M", "macOS 1 ", "device name: a", "1.1.1-", "-linuxkit", " M1", "(M", "mps", "a"):
        for _ in zip(range(100), READERS[name].read(Text("text", piece * (40_000 // len(piece)))), strict=False):
            pass
