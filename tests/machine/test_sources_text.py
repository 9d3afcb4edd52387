"""A file that is surely a text is read as one without anything that unpacks; every archive is still known as one."""

import io
import tarfile
import zipfile

import pytest

from rigup.machine.sources import _is_text


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_no_tar_is_taken_for_a_text(tmp_path, mode):
    path = tmp_path / "sent"
    with tarfile.open(path, mode) as archive:
        member = tarfile.TarInfo("a.txt")
        member.size = 3
        archive.addfile(member, io.BytesIO(b"abc"))
    assert not _is_text(str(path))


@pytest.mark.parametrize("before", [b"", b"some words before it\n" * 100])
@pytest.mark.parametrize("comment", [b"", b"x" * 65_535])
def test_no_zip_is_taken_for_a_text(tmp_path, before, comment):
    path = tmp_path / "sent"
    path.write_bytes(before)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("a.txt", "abc")
        archive.comment = comment
    assert zipfile.is_zipfile(path)
    assert not _is_text(str(path))


@pytest.mark.parametrize("text", ["", "x\n", "\x1b[31mred\x1b[0m\tя 猫\r\n", "Zippy PK words\n" * 9000])
def test_what_people_paste_is_a_text(tmp_path, text):
    path = tmp_path / "sent"
    path.write_text(text, encoding="utf-8")
    assert _is_text(str(path))
