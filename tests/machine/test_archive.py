"""Archives that somebody sent: nothing in them leads outside or takes more than its share."""

import gzip
import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from rigup.machine import archive
from rigup.machine.archive import ArchiveError, is_archive, unpacked
from rigup.machine.sources import SourceError, open_source


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
    assert source.host.find("/sys/class/kfd/kfd/topology/nodes/*/properties") == [
        "/sys/class/kfd/kfd/topology/nodes/0/properties"
    ]
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
    monkeypatch.setattr(archive, "_MOST_BYTES", 1000)
    with pytest.raises(ArchiveError, match="more than a capture"):
        unpacked(packed(tmp_path / "a.tar.gz", ("proc/big", b"0" * 5000)))


def test_a_file_is_cut_whatever_its_header_claims(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "_MOST_OF_ONE", 100)
    folder = unpacked(packed(tmp_path / "a.tar.gz", ("proc/big", b"0" * 5000)))
    assert os.path.getsize(os.path.join(folder, "proc/big")) == 100


def test_too_many_entries_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "_MOST_MEMBERS", 10)
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
    from rigup.diagnosis.answer import diagnose

    path = packed(tmp_path / "a.tar.gz", ("proc/version", b"Linux version 6.8\n"))
    diagnose(path)
    assert archive._KEPT == []
