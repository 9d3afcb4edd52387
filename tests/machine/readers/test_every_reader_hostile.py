"""Every reader there is, against text that is built to break it: it never raises, and says no more than the text can hold."""

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from each import over
from rigup.machine.facts import Fact
from rigup.machine.reader import READERS, File, Listing, Reader, shown
from rigup.machine.readers import of_texts  # noqa: F401  (registers all of them)
from rigup.machine.texts import Text

SAMPLES = [path.read_text("utf-8") for path in sorted((Path(__file__).parents[1] / "reports/samples").glob("*.txt"))]
FILLED = {
    "{PciDevice.address}": "0000:01:00.0",
    "{HomeFolder.path}": "/home/u",
    "{PythonEnv.prefix}": "/opt/e",
    "{Platform.release}": "6.8.0-40-generic",
    "{SearchPath.path}": "/opt/l",
    "{LoaderEntry.path}": "/lib/libcudnn.so.9",
    "{UnitFile.path}": "/etc/default/ollama",
}
NOISE = (
    "\n",
    "\n\n",
    " ",
    "\t",
    "\0",
    "\r\n",
    "\ufffd",
    "é",
    "=",
    ": ",
    ",",
    "|",
    "[",
    "]",
    "{",
    "}",
    '"',
    "'",
    "\\",
    "<",
    ">",
    "/",
    "-> ",
    "0",
    "1",
    "-1",
    "0x10de",
    "99999999999999999999",
    "0000:01:00.0",
    "N/A",
    "[N/A]",
    "ERR!",
    "[Not Supported]",
    "null",
    "true",
    "gfx1100",
    "NVIDIA",
    "AMD",
    "1.5e999",
    "a" * 300,
)
LONG = ("a", " ", "0", ".", "=", "/", '"', "\\", "\n", "| ", "a=", "a: ", "[", "{", '{"a":', "0,", "\ufffd", "\0")
SIZE = 5_000  # characters: enough for a pattern that goes back and forth never to end


def source(reader: Reader) -> str:
    """A path of its own, or its command."""
    given = next((one for one in reader.inputs), None)
    told = given.path if isinstance(given, File | Listing) else shown(given) if given else "pasted"
    for hole, value in FILLED.items():
        told = told.replace(hole, value)
    return re.sub(r"\{([^{},]*)[^{}]*\}", r"\1", told).replace("[0-9]*", "0").replace("*", "0")


def pieces(reader: Reader) -> list[str]:
    """Its marks, the words of its own description, and what stands between words."""
    about = (reader.read.__doc__ or "").replace("`", "")
    return [*reader.marks, about, *re.findall(r"\S{2,60}", about), *NOISE]


def facts(reader: Reader, body: str) -> list[Fact]:
    text = Text(source(reader), body, whole=True)
    text.fresh = bool(reader.inputs)
    return list(reader.read(text))


@pytest.mark.long
@over(sorted(READERS))
def test_no_reader_fails_at_what_resembles_its_own_texts(name):
    reader = READERS[name]

    @settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(st.one_of(st.sampled_from(pieces(reader)), st.text(max_size=8)), max_size=40))
    def tried(words):
        said = facts(reader, "".join(words))
        assert len(said) <= 4000
        assert all(fact.fields for fact in said)

    tried()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(SAMPLES), st.integers(0, 4000), st.integers(0, 4000), st.binary(max_size=30))
def test_no_reader_fails_at_samples_that_are_cut_and_spoilt(sample, start, end, noise):
    body = sample[:start] + noise.decode("utf-8", "replace") + sample[end:]
    for name in READERS:
        assert len(facts(READERS[name], body)) <= 4000, name


@over(sorted(READERS))
def test_every_reader_ends_at_a_line_without_end(name):
    reader = READERS[name]
    for piece in LONG:
        assert len(facts(reader, "".join(reader.marks[:1]) + piece * (SIZE // len(piece)))) <= SIZE


@pytest.mark.long
@over(sorted(READERS))
def test_every_reader_ends_at_its_marks_over_and_over(name):
    reader = READERS[name]
    for mark in reader.marks:
        assert len(facts(reader, mark * (SIZE // len(mark)))) <= SIZE
        assert len(facts(reader, (mark + "\n") * (SIZE // (len(mark) + 1)))) <= SIZE


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=2000))
def test_bytes_of_any_kind_make_no_reader_fail(body):
    for name in READERS:
        facts(READERS[name], body.decode("utf-8", "replace"))
