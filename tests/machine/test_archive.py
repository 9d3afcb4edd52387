"""Archives that somebody sent: nothing in them leads outside or takes more than its share."""

import contextlib
import gzip
import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.machine import archive, unpacking
from rigup.machine.archive import ArchiveError, is_archive, unpacked
from rigup.machine.file_names import escaped, plain
from rigup.machine.sources import SourceError, open_source
from rigup.machine.tree import Tree


@pytest.fixture(autouse=True)
def nothing_left():
    yield
    archive.discard()


def packed(path, *entries):
    with tarfile.open(path, "w:gz") as tar:
        for name, body in entries:
            info = tarfile.TarInfo(name)
            if isinstance(body, tuple):
                info.type, info.linkname = body
                tar.addfile(info)
            else:
                info.size = len(body)
                tar.addfile(info, io.BytesIO(body))
    return str(path)


def test_a_captured_tree_is_played_from_its_archive(tmp_path):
    path = packed(tmp_path / "a.tar.gz", ("box/proc/version", b"Linux version 6.8\n"), ("box/sys/x", b""))
    (source,) = open_source(path)
    assert source.host.read("/proc/version").body == "Linux version 6.8\n"


def test_a_part_of_a_machine_is_known_by_its_form(tmp_path):
    path = packed(tmp_path / "a.tar.gz", ("topology/nodes/0/properties", b"cpu_cores_count 8\n"))
    (source,) = open_source(path)
    assert source.host.find("/sys/class/kfd/kfd/topology/nodes/*/properties") == ["/sys/class/kfd/kfd/topology/nodes/0/properties"]
    assert source.host.read("/sys/class/kfd/kfd/topology/nodes/0/properties").body == "cpu_cores_count 8\n"
    assert source.host.read("/proc/version").state == "unseen"


def test_a_zip_is_unpacked_too(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as out:
        out.writestr("report.txt", "hello")
    (source,) = open_source(str(tmp_path / "a.zip"))
    assert [text.body for text in source.texts] == ["hello"]


@pytest.mark.parametrize("name", ["../escape", "a/../../escape", "/../escape", "..\\escape"])
def test_no_name_leads_outside(tmp_path, name):
    folder = unpacked(packed(tmp_path / "a.tar.gz", (name, b"x"), ("proc/version", b"v")))
    assert not os.path.exists(os.path.join(folder, "..", "escape"))
    assert os.path.exists(os.path.join(folder, "proc/version"))


def test_no_write_goes_through_a_link(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    entries = (("sys", (tarfile.SYMTYPE, str(outside))), ("sys/file", b"x"), ("proc/v", b""))
    unpacked(packed(tmp_path / "a.tar.gz", *entries))
    assert list(outside.iterdir()) == []


def test_devices_and_hard_links_are_left_out(tmp_path):
    entries = (("dev/null", (tarfile.CHRTYPE, "")), ("dev/hard", (tarfile.LNKTYPE, "/etc/passwd")), ("proc/v", b""))
    folder = unpacked(packed(tmp_path / "a.tar.gz", *entries))
    assert not os.path.lexists(os.path.join(folder, "dev/null"))
    assert not os.path.lexists(os.path.join(folder, "dev/hard"))


def test_a_bomb_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(unpacking, "MOST_BYTES", 1000)
    with pytest.raises(ArchiveError, match="more than a capture"):
        unpacked(packed(tmp_path / "a.tar.gz", ("proc/big", b"0" * 5000)))


def test_a_file_is_cut_whatever_its_header_claims(tmp_path, monkeypatch):
    monkeypatch.setattr(unpacking, "MOST_OF_ONE", 100)
    folder = unpacked(packed(tmp_path / "a.tar.gz", ("proc/big", b"0" * 5000)))
    assert os.path.getsize(os.path.join(folder, "proc/big")) == 100


def test_too_many_entries_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(unpacking, "MOST_MEMBERS", 10)
    with pytest.raises(ArchiveError, match="more than a capture"):
        unpacked(packed(tmp_path / "a.tar.gz", *((f"proc/{number}", b"") for number in range(20))))


def test_a_damaged_archive_gets_a_clear_word(tmp_path):
    whole = Path(packed(tmp_path / "a.tar.gz", ("proc/v", os.urandom(100_000)))).read_bytes()
    (tmp_path / "cut.tar.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(SourceError, match="damaged"):
        open_source(str(tmp_path / "cut.tar.gz"))


def test_a_compressed_text_is_no_archive(tmp_path):
    (tmp_path / "log.gz").write_bytes(gzip.compress(b"hello"))
    assert not is_archive(str(tmp_path / "log.gz"))


def test_nothing_is_left_behind(tmp_path):
    from answer_data import diagnose

    path = packed(tmp_path / "a.tar.gz", ("proc/version", b"Linux version 6.8\n"))
    diagnose(path)
    assert archive._KEPT == []


# -- what somebody means harm with -----------------------------------------------------------------------
def test_a_small_archive_of_very_much_is_given_up_early(tmp_path, monkeypatch):
    monkeypatch.setattr(unpacking, "MOST_BYTES", 40_000_000)
    zeros = bytes(unpacking.MOST_OF_ONE)
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz", compresslevel=1) as tar:
        for number in range(4):
            info = tarfile.TarInfo(f"proc/{number}")
            info.size = len(zeros)
            tar.addfile(info, io.BytesIO(zeros))
    with pytest.raises(ArchiveError, match="more than a capture"):
        unpacked(str(tmp_path / "a.tar.gz"))
    archive.discard()


def with_header(path, kind, size):
    """An entry whose header is followed by so many bytes of a long name or of attributes."""
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = kind, size
    path.write_bytes(gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + bytes(min(size, 4_000_000)), 1))
    return str(path)


@pytest.mark.parametrize(
    "kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.GNUTYPE_SPARSE]
)
def test_a_header_that_would_fill_the_memory_is_refused(tmp_path, kind):
    with pytest.raises(ArchiveError, match=r"more than a capture|damaged"):
        unpacked(with_header(tmp_path / "a.tar.gz", kind, 8_000_000_000))


def test_a_sparse_file_is_refused(tmp_path):
    headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "proc/x", "GNU.sparse.realsize": str(1 << 40)}
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as tar:
        info = tarfile.TarInfo("proc/x")
        info.pax_headers, info.size = headers, 512
        tar.addfile(info, io.BytesIO(b"999999999\n" + bytes(502)))
    with pytest.raises(ArchiveError, match="more than a capture"):
        unpacked(str(tmp_path / "a.tar.gz"))


def test_a_million_entries_are_given_up_after_the_first_part(tmp_path, monkeypatch):
    monkeypatch.setattr(unpacking, "MOST_MEMBERS", 2_000)
    head = tarfile.TarInfo("proc/x").tobuf(tarfile.USTAR_FORMAT)
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(head * 1_000_000, 1))
    with pytest.raises(ArchiveError, match="more than a capture"):
        unpacked(str(tmp_path / "a.tar.gz"))
    assert len(os.listdir(os.path.join(archive._KEPT[-1].name, "proc"))) == 1


def test_a_zip_of_a_million_entries_is_not_listed(tmp_path, monkeypatch):
    monkeypatch.setattr(unpacking, "MOST_MEMBERS", 1_000)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as out:
        for number in range(1_500):
            out.writestr(f"proc/{number}", "")
    with pytest.raises(ArchiveError, match="more than a capture"):
        unpacked(str(tmp_path / "a.zip"))


def test_a_zip_bomb_is_cut(tmp_path, monkeypatch):
    monkeypatch.setattr(unpacking, "MOST_OF_ONE", 100_000)
    monkeypatch.setattr(unpacking, "MOST_BYTES", 250_000)
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as out:
        for number in range(5):
            out.writestr(f"proc/{number}", bytes(5_000_000))
    with pytest.raises(ArchiveError, match="more than a capture"):
        unpacked(str(tmp_path / "a.zip"))


def test_an_archive_inside_an_archive_stays_packed(tmp_path):
    inner = Path(packed(tmp_path / "inner.tar.gz", ("proc/version", b"Linux"))).read_bytes()
    folder = unpacked(packed(tmp_path / "a.tar.gz", ("proc/inner.tar.gz", inner), ("proc/v", b"")))
    assert sorted(os.listdir(os.path.join(folder, "proc"))) == ["inner.tar.gz", "v"]


@pytest.mark.parametrize("name", ["proc/a\nb", "proc/" + "x" * 300, "x/" * 60 + "y", "proc/a\x1b[31m", "", "."])
def test_absurd_names_cost_themselves_only(tmp_path, name):
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as tar:
        for one in (name, "proc/v"):
            tar.addfile(tarfile.TarInfo(one), io.BytesIO(b""))
    folder = unpacked(str(tmp_path / "a.tar.gz"))
    assert [entry for _folder, _folders, entries in os.walk(folder) for entry in entries] == ["v"]


def test_a_name_with_a_nul_in_it_is_none():
    assert archive._safe("proc/a\x00b") is None


def test_of_two_entries_of_one_name_the_last_counts_and_a_link_never_replaces_a_file(tmp_path):
    entries = (("proc/v", b"one"), ("proc/v", b"two"), ("proc/v", (tarfile.SYMTYPE, "/etc/passwd")), ("proc/v/below", b"x"))
    folder = unpacked(packed(tmp_path / "a.tar.gz", *entries))
    assert not os.path.islink(os.path.join(folder, "proc/v"))
    assert Path(folder, "proc/v").read_bytes() == b"two"


@pytest.mark.parametrize("name", ["who.json", "commands.json", "nodes.json", "places", "links.json"])
def test_what_stands_beside_a_tree_is_not_read_through_a_link(tmp_path, name):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/who.json").write_text('{"user": "secret", "groups": []}')
    (tmp_path / "outside/inner").mkdir()
    (tmp_path / "outside/inner/who.json").write_text('{"user": "secret", "groups": []}')
    target = tmp_path / "outside" if name == "places" else tmp_path / "outside/who.json"
    path = packed(tmp_path / "a.tar.gz", ("proc/v", b""), (name, (tarfile.SYMTYPE, str(target))))
    sources = open_source(path)
    assert len(sources) == 1
    assert sources[0].host.account().state == "unseen"
    assert sources[0].host.recorded() == []


def test_links_that_lead_out_show_nothing_of_this_machine(tmp_path):
    (tmp_path / "secret").write_text("secret")
    entries = (
        ("etc/a", (tarfile.SYMTYPE, str(tmp_path / "secret"))),
        ("etc/b", (tarfile.SYMTYPE, "../../../../../../../" + str(tmp_path))),
        ("etc/loop", (tarfile.SYMTYPE, "loop")),
        ("proc/v", b""),
    )
    (source,) = open_source(packed(tmp_path / "a.tar.gz", *entries))
    host = source.host
    assert [host.read(path).body for path in ("/etc/a", "/etc/b/secret", "/etc/loop")] == [None, None, None]
    assert host.find("/etc/b/*") == []


@given(st.binary(max_size=2000), st.sampled_from([b"", b"\x1f\x8b\x08\x00", b"BZh9", b"\xfd7zXZ\x00", b"PK\x03\x04", b"PK\x05\x06"]))
def test_no_bytes_are_more_than_a_clear_word(tmp_path_factory, body, head):
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(head + body)
    if is_archive(str(path)):
        with contextlib.suppress(ArchiveError):  # that very error, and no other
            unpacked(str(path))
    archive.discard()


@pytest.mark.parametrize("mode", ["w:gz", "w:bz2", "w:xz", "w"])
def test_every_packing_is_read(tmp_path, mode):
    with tarfile.open(tmp_path / "a.tar", mode) as tar:
        info = tarfile.TarInfo("proc/version")
        info.size = 5
        tar.addfile(info, io.BytesIO(b"Linux"))
    (source,) = open_source(str(tmp_path / "a.tar"))
    assert source.host.read("/proc/version").body == "Linux"


# -- names that not every disk can hold ------------------------------------------------------------------
AWKWARD = ["0000:01:00.0", "aux", "con.txt", "a.", "b ", "x%3Ay", "back\\slash", 'q"<>|?*', "plain", "COM1"]


@pytest.mark.parametrize("name", AWKWARD)
def test_a_name_is_escaped_to_what_any_disk_holds_and_comes_back(name):
    told = escaped(name)
    assert not set('<>:"|?*\\') & set(told)
    assert told[-1] not in ". "
    assert told.split(".")[0].lower() not in ("aux", "con", "com1")
    assert plain(told) == name


@given(st.text(st.characters(exclude_characters="/", exclude_categories=("Cs",)), min_size=1, max_size=40))
def test_escaping_any_name_loses_nothing(name):
    assert plain(escaped(name)) == name


def test_a_tree_plays_alike_where_names_and_links_cannot_be_as_they_were(tmp_path):
    device = "sys/devices/pci0000:00/0000:01:00.0"
    link = (tarfile.SYMTYPE, "../../../devices/pci0000:00/0000:01:00.0")
    nodes = b'{"/sys/bus/pci/devices/0000:01:00.0": {"owner": "root", "group": "root"}}'
    path = packed(
        tmp_path / "a.tar.gz",
        ("box/" + device + "/vendor", b"0x10de\n"),
        ("box/sys/bus/pci/devices/0000:01:00.0", link),
        ("box/nodes.json", nodes),
        ("box/sys/class/a b.", b"x"),
    )
    trees = [Tree(unpacked(path, simple)) for simple in (False, True)]
    names = [name for _top, folders, files in os.walk(trees[1].root) for name in folders + files]
    assert not any(":" in name or name.endswith(".") for name in names)
    questions = [
        lambda tree: tree.find("/sys/bus/pci/devices/*"),
        lambda tree: tree.find("/sys/bus/pci/devices/*/vendor"),
        lambda tree: tree.read("/sys/bus/pci/devices/0000:01:00.0/vendor"),
        lambda tree: tree.link("/sys/bus/pci/devices/0000:01:00.0"),
        lambda tree: tree.listing("/sys/bus/pci/devices/*"),
        lambda tree: tree.read("/sys/class/a b."),
        lambda tree: tree.find("/sys/class/*"),
    ]
    assert [ask(trees[0]) for ask in questions] == [ask(trees[1]) for ask in questions]
    assert trees[1].read("/sys/bus/pci/devices/0000:01:00.0/vendor").body == "0x10de\n"
