"""What a wheel has packed is unpacked once, whole, and only where it is the account's own."""

import gettext
import io
import os
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def test_what_earlier_releases_left_is_removed_but_for_what_a_process_uses(packed):
    fcntl = pytest.importorskip("fcntl")
    left, used = (packed / "cache" / "rigup" / name for name in ("shipped-1-1", "shipped-2-2"))
    for folder in (left, used):
        (folder / "knowledge").mkdir(parents=True)
    handle = os.open(used, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_SH)
    try:
        assert shipped.path("knowledge/table").read_bytes() == b"abc"
        assert used.is_dir()
        assert not left.exists()
    finally:
        os.close(handle)


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


_MESSAGE = st.text(st.characters(exclude_characters="\1\2", exclude_categories=["Cs"]), min_size=1, max_size=20).map(str.encode)


@given(st.dictionaries(st.sampled_from(["ru", "zh_CN", "zh_TW"]), st.dictionaries(_MESSAGE, _MESSAGE, min_size=1), min_size=1))
def test_packed_catalogues_come_back_as_they_were(catalogues):
    assert shipped.unpack_catalogues(shipped.pack_catalogues(catalogues)) == catalogues


def test_a_message_that_separates_is_not_packed():
    with pytest.raises(ValueError, match="control character"):
        shipped.pack_catalogues({"ru": {b"a\1b": b"c"}})


def test_unpacked_catalogues_speak(packed):
    header = b"Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=2; plural=n != 1;\n"
    russian = {b"": header, b"yes": "да".encode(), b"%d GPU\0%d GPUs": "%d карта\0%d карты".encode()}
    content = shipped.pack_catalogues({"ru": russian, "zh_CN": {b"": header, b"yes": "是".encode()}})
    with tarfile.open(shipped.ARCHIVE, "w:xz") as file:
        member = tarfile.TarInfo(shipped.CATALOGUES)
        member.size = len(content)
        file.addfile(member, io.BytesIO(content))
    folder = shipped.path("locales")
    spoken = {name: gettext.translation("rigup", folder, [name]) for name in ("ru", "zh_CN")}
    assert [catalogue.gettext("yes") for catalogue in spoken.values()] == ["да", "是"]
    assert spoken["ru"].ngettext("%d GPU", "%d GPUs", 2) == "%d карты"
    assert spoken["zh_CN"].gettext("no") == "no"
    assert not (folder / "catalogues").exists()
