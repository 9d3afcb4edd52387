"""What a wheel has packed is unpacked once, whole, and only where it is the account's own."""

import io
import os
import tarfile

import pytest

from rigup import language, shipped
from rigup.knowledge import tables


@pytest.fixture
def packed(tmp_path, monkeypatch):
    """An installed package with one packed file; the cache and temporary folders are empty."""
    package = tmp_path / "rigup"
    package.mkdir()
    archive = package / "shipped.tar.xz"
    with tarfile.open(archive, "w:xz") as file:
        member = tarfile.TarInfo("knowledge/table")
        member.size = 3
        file.addfile(member, io.BytesIO(b"abc"))
    monkeypatch.setattr(shipped, "ARCHIVE", archive)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(shipped, "_unpacked", shipped._unpacked.__wrapped__)
    return tmp_path


def test_it_is_unpacked_once(packed):
    path = shipped.path("knowledge/table")
    assert path.read_bytes() == b"abc"
    assert path.is_relative_to(packed / "cache" / "rigup")
    before = path.stat().st_ino
    assert shipped.path("knowledge/table").stat().st_ino == before
    assert [entry.name for entry in path.parent.parent.parent.iterdir()] == [path.parent.parent.name]


def test_what_stands_beside_the_code_is_taken_from_there(packed):
    (packed / "rigup" / "knowledge").mkdir()
    (packed / "rigup" / "knowledge" / "table").write_text("of a checkout")
    assert shipped.path("knowledge/table").read_text() == "of a checkout"
    assert not (packed / "cache").exists()


def test_where_the_cache_is_no_folder_it_is_among_temporary_files(packed):
    (packed / "cache").write_text("")
    path = shipped.path("knowledge/table")
    assert path.read_bytes() == b"abc"
    assert path.is_relative_to(packed / "tmp")


def test_a_folder_that_others_may_write_is_not_believed(packed):
    folder = shipped.path("knowledge/table").parent.parent
    os.chmod(folder, 0o777)
    assert shipped.path("knowledge/table").is_relative_to(packed / "tmp")


def test_where_it_can_be_unpacked_nowhere_the_tables_say_so_and_words_are_english(packed, monkeypatch):
    (packed / "cache").write_text("")
    monkeypatch.setattr("tempfile.tempdir", str(packed / "cache"))
    tables.forget()
    with pytest.raises(tables.KnowledgeError, match="it can be unpacked nowhere"):
        tables.default_store()
    tables.forget()
    assert language.spoken_in("ru")("Nothing is wrong here.") == "Nothing is wrong here."
