"""The index of readers: who reads what is known without importing their files, and says what the files say."""

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from rigup.machine import look, nvml, order, reader_index
from rigup.machine.reader import DERIVED, READERS, Late, reads
from rigup.machine.readers import MODULES, OF_TEXTS, of_texts  # noqa: F401  (registers them)
from rigup.machine.texts import Text

SRC = Path(__file__).parents[2] / "src"


def said_by(code):
    words = (sys.executable, "-c", "import sys; sys.path.insert(0, sys.argv[1])\n" + code, str(SRC))
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=120).stdout.split()


def test_the_index_says_what_the_files_declare(tmp_path):
    """Made in a process that has imported nothing by it."""
    code = (
        "import pathlib\nfrom rigup.machine import reader_index\n"
        "reader_index.INDEX = pathlib.Path(sys.argv[1]) / 'nothing'\n"
        "reader_index.register = lambda: None\n"
        f"reader_index.build(pathlib.Path({str(tmp_path / 'made')!r}))"
    )
    said_by(code)
    made = msgspec.msgpack.decode((tmp_path / "made").read_bytes(), type=reader_index.Index)
    of_text = msgspec.msgpack.decode(made.of_texts, type=list[reader_index._Declared])
    known = {reader.name: reader_index._declared(reader) for reader in READERS.values() if isinstance(reader.read, Late)}
    assert {row.name: row for row in (*made.asking, *of_text)} == known
    assert {row.name: row for row in made.derived} == {
        row.name: reader_index._derived(row) for row in DERIVED.values() if isinstance(row.derive, Late)
    }
    assert {row.module.rpartition(".")[2] for row in of_text} <= set(OF_TEXTS)


def test_what_our_own_python_is_asked_is_this_machines_and_stands_in_no_index(tmp_path):
    (query,) = READERS["nvidia_csv"].inputs
    assert query.argv == (sys.executable, nvml.__file__)
    reader_index.build(tmp_path / "made", shipped=True)
    made = (tmp_path / "made").read_bytes()
    assert sys.executable.encode() not in made
    assert str(SRC).encode() not in made


def test_a_machine_without_cards_needs_few_of_the_files():
    code = (
        "from rigup.machine.look import look\nfrom rigup.machine.sources import Source\nfrom rigup.machine.facts import Place\n"
        "from rigup.machine.texts import Text\nlook([Source(Place(), None, (Text('a', 'PRETTY_NAME=\"Debian GNU/Linux 12\"'),))])\n"
        "print(*(name for name in sys.modules if name.startswith('rigup.machine.readers.')))"
    )
    imported = {name.rpartition(".")[2] for name in said_by(code)}
    assert len(imported & set(MODULES)) < len(MODULES) / 3


def test_the_order_that_the_index_tells_is_the_one_that_is_worked_out():
    derived = tuple(DERIVED.values())
    everybody, pasted = tuple(READERS.values()), {f"rigup.machine.readers.{name}" for name in OF_TEXTS}
    asking = tuple(reader for reader in everybody if reader.inputs and reader.read.__module__ not in pasted)
    for readers in (everybody, asking):
        assert reader_index.waves_of(frozenset(name for wave in look.waves(readers, derived) for name in wave))
        assert look.waves(readers, derived) == order.ordered.__wrapped__(readers, derived)
    few = tuple(READERS.values())[:3]
    assert {name for wave in look.waves(few, ()) for name in wave} == {order.HEARD, *(reader.name for reader in few)}


def test_readers_are_known_whatever_was_imported_before():
    assert said_by("from rigup.machine import readers\nfrom rigup.machine.reader import READERS\nprint('pci_class' in READERS)") == ["True"]


def test_a_function_is_imported_when_it_is_first_called():
    late = Late("rigup.machine.readers.firmware", "firmware_release", 1)
    assert late.__module__ == "rigup.machine.readers.firmware"
    assert list(late(Text("/sys/class/dmi/id/bios_version", "\n"))) == []


def test_two_readers_of_one_name_are_refused():
    def firmware_release(_text):
        return iter(())

    with pytest.raises(ValueError, match="firmware_release"):
        reads()(firmware_release)


def test_an_index_of_other_files_is_made_anew(tmp_path, monkeypatch):
    path = tmp_path / "readers.msgpack"
    monkeypatch.setattr(reader_index, "INDEX", path)
    built = reader_index.build(path)
    assert reader_index._index.__wrapped__() == built
    monkeypatch.setattr(reader_index, "stamp", lambda _path: (1, 2))
    assert set(reader_index._index.__wrapped__().stamps.values()) == {(1, 2)}
    path.write_bytes(b"\x95no index")
    assert reader_index._index.__wrapped__().asking == built.asking


def test_what_comes_with_the_package_is_not_compared_with_its_files(tmp_path, monkeypatch):
    monkeypatch.setattr(reader_index, "INDEX", tmp_path / "readers.msgpack")
    reader_index.build(reader_index.INDEX, shipped=True)
    monkeypatch.setattr(reader_index, "_stamps", lambda: 1 / 0)
    assert reader_index._index.__wrapped__().asking
