"""The loader: compiled file, staleness, overlays, hostile files."""

import os
import sys
from pathlib import Path

import msgspec
import pytest

from rigup.knowledge import compile as compiling
from rigup.knowledge import tables
from rigup.knowledge.doctor_tables import Wording
from rigup.knowledge.tables import KnowledgeError, Store

SHIPPED = """
[meta]
as_of = "2026-01-01"
keys = { card = ["name"], pair = ["a", "b"] }
source = "the maker"
checked = "2026-01-01"
how = "documented"

[meta.defaults.pair]
how = "reported"

[[card]]
name = "one"
size = 1

[[card]]
name = "two"
size = 2
source = "somebody else"

[[pair]]
a = "x"
b = ["y"]

[single]
text = "shipped"
"""


class Card(msgspec.Struct):
    name: str
    size: int = 0
    source: str = ""
    how: str = ""


@pytest.fixture
def place(tmp_path):
    (tmp_path / "data" / "family").mkdir(parents=True)
    (tmp_path / "data" / "cards.toml").write_text(SHIPPED)
    (tmp_path / "data" / "family" / "x.toml").write_text('[meta]\nas_of = "2026-02-02"\n')
    for name in ("site", "user"):
        (tmp_path / name).mkdir()
    return tmp_path


def store(place: Path) -> Store:
    return Store(place / "data", place / "compiled.msgpack", (place / "site", place / "user"))


def cards(place):
    return {row.name: row for row in store(place).rows("cards", "card", Card)}


def lay(place, who, text, name="cards"):
    path = place / who / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(text, bytes):
        path.write_bytes(text)
    else:
        path.write_text(text)
    return path


def test_rows_take_over_the_provenance_of_their_file(place):
    found = store(place).table("cards")
    assert [row["source"] for row in found["card"]] == ["the maker", "somebody else"]
    assert found["card"][0]["how"] == "documented"
    assert found["pair"][0]["how"] == "reported"
    assert store(place).table_date("cards") == "2026-01-01"


def test_names_and_prefixes(place):
    assert store(place).names() == ["cards", "family/x"]
    assert store(place).names("family/") == ["family/x"]


def test_compiled_file_is_written_and_then_read(place):
    store(place).table("cards")
    before = (place / "compiled.msgpack").stat().st_mtime_ns
    assert cards(place)["one"].size == 1
    assert (place / "compiled.msgpack").stat().st_mtime_ns == before
    assert not list(place.glob("*.tmp"))


def test_a_changed_source_is_seen(place):
    store(place).table("cards")
    (place / "data" / "cards.toml").write_text(SHIPPED.replace("size = 1", "size = 7"))
    future = (place / "compiled.msgpack").stat().st_mtime + 10
    os.utime(place / "data" / "cards.toml", (future, future))
    assert cards(place)["one"].size == 7


def test_a_newer_time_alone_changes_nothing(place):
    store(place).table("cards")
    content = (place / "compiled.msgpack").read_bytes()
    os.utime(place / "compiled.msgpack", (1, 1))
    store(place).table("cards")
    assert (place / "compiled.msgpack").stat().st_mtime == 1
    assert (place / "compiled.msgpack").read_bytes() == content


def test_a_new_and_a_removed_source_are_seen(place):
    store(place).names()
    (place / "data" / "late.toml").write_text("[meta]\n")
    assert "late" in store(place).names()
    (place / "data" / "late.toml").unlink()
    assert "late" not in store(place).names()


def test_without_sources_the_compiled_file_serves(place):
    store(place).table("cards")
    for path in sorted((place / "data").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    assert cards(place)["two"].size == 2


@pytest.mark.parametrize("content", [b"", b"\x00\xff" * 50, b"\x81\xa6format\x01"])
def test_a_broken_compiled_file_is_replaced(place, content):
    (place / "compiled.msgpack").write_bytes(content)
    assert cards(place)["one"].size == 1
    assert (place / "compiled.msgpack").read_bytes() != content


def test_a_folder_that_cannot_be_written_does_no_harm(place, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "no")

    monkeypatch.setattr(compiling, "write", refuse)
    assert cards(place)["one"].size == 1
    assert not (place / "compiled.msgpack").exists()


def test_a_malformed_source_costs_its_own_table_only(place):
    (place / "data" / "bad.toml").write_text("[meta]\nas_of = \n")
    found = store(place)
    assert found.table("cards")["card"]
    with pytest.raises(KnowledgeError) as caught:
        found.table("bad")
    assert caught.value.line == 2
    assert caught.value.path.endswith("bad.toml")
    with pytest.raises(KnowledgeError):
        compiling.compile_tables(place / "data", place / "compiled.msgpack")


def test_an_unknown_table_is_an_error_and_an_unknown_array_is_empty(place):
    with pytest.raises(KnowledgeError):
        store(place).table("nothing")
    assert store(place).rows("cards", "nothing", Card) == ()


def test_overlay_replaces_whole_rows_and_appends(place):
    lay(place, "user", '[meta]\nas_of = "2027-01-01"\n[[card]]\nname = "two"\nsize = 9\n[[card]]\nname = "three"\n')
    found = cards(place)
    assert (found["two"].size, found["two"].source) == (9, "")
    assert list(found) == ["one", "two", "three"]
    table = store(place).table("cards")
    assert table["card"][1][tables.OVERLAY].endswith("user/cards.toml")
    assert tables.OVERLAY not in table["card"][0]
    assert table["meta"]["as_of"] == "2027-01-01"


def test_the_person_overrides_the_administrator(place):
    lay(place, "site", '[[card]]\nname = "one"\nsize = 5\n[[card]]\nname = "two"\nsize = 5\n')
    lay(place, "user", '[[card]]\nname = "one"\nsize = 6\n')
    assert [row.size for row in cards(place).values()] == [6, 5]


def test_keys_of_lists_and_single_tables_are_replaced(place):
    lay(place, "user", '[[pair]]\na = "x"\nb = ["y"]\nc = 1\n[single]\ntext = "mine"\n')
    found = store(place).table("cards")
    assert [row.get("c") for row in found["pair"]] == [1]
    assert found["single"]["text"] == "mine"


def test_overlay_may_bring_a_new_table(place):
    lay(place, "user", '[meta]\n[[card]]\nname = "new"\n', "signatures/mine")
    assert "signatures/mine" in store(place).names("signatures/")
    assert store(place).rows("signatures/mine", "card", Card)[0].name == "new"


DEEP = "x = " + "[" * 5000 + "]" * 5000
HOSTILE = {
    "not toml": "[[card]\nname = 1",
    "binary": bytes(range(256)) * 8,
    "huge": b"# " + b"x" * (compiling.MAX_BYTES + 1),
    "deep": DEEP,
    "mixed": "card = [1, { name = 'a' }]",
    "meta": "meta = 3",
    "not rows": "card = 3",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_overlay_names_itself_and_spares_the_rest(place, name):
    path = lay(place, "user", HOSTILE[name])
    found = store(place)
    with pytest.raises(KnowledgeError) as caught:
        found.table("cards")
    assert caught.value.path == str(path)
    assert found.table("family/x")["meta"]["as_of"] == "2026-02-02"
    assert [problem.path for problem in found.problems()] == [str(path)]


def test_a_row_of_the_wrong_type_names_its_file(place):
    path = lay(place, "user", '[[card]]\nname = "one"\nsize = "large"\n')
    with pytest.raises(KnowledgeError) as caught:
        cards(place)
    assert caught.value.path == str(path)
    assert "size" in caught.value.problem


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes in folders")
def test_a_pipe_does_not_hang(place):
    os.mkfifo(place / "user" / "cards.toml")
    with pytest.raises(KnowledgeError):
        store(place).table("cards")


def test_a_folder_named_like_a_table_and_a_loop_of_links(place):
    (place / "user" / "cards.toml").mkdir()
    (place / "user" / "loop").symlink_to(place / "user")
    with pytest.raises(KnowledgeError):
        store(place).table("cards")
    assert len(store(place).names()) < 50


def test_xdg_folders_are_those_of_platformdirs(monkeypatch, tmp_path):
    import platformdirs

    for home in (str(tmp_path), ""):
        monkeypatch.setenv("XDG_CONFIG_HOME", home)
        monkeypatch.setenv("XDG_CONFIG_DIRS", f"{home}/etc:/x" if home else "")
        site, user = platformdirs.site_config_path("rigup"), platformdirs.user_config_path("rigup")
        assert tables.overlay_folders() == (site / "knowledge", user / "knowledge")


def test_forget_drops_what_was_worked_out(monkeypatch, tmp_path):
    from rigup.knowledge import chips

    overlay = tmp_path / "rigup" / "knowledge" / "gfx_targets.toml"
    overlay.parent.mkdir(parents=True)
    overlay.write_text('[[generic]]\ngeneric = "gfx11-generic"\nmembers = ["gfx1199"]\n')
    assert not chips.runs_on("gfx1199", ["gfx11-generic"])
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    tables.forget()
    try:
        assert chips.runs_on("gfx1199", ["gfx11-generic"])
    finally:
        monkeypatch.undo()
        tables.forget()
    assert not chips.runs_on("gfx1199", ["gfx11-generic"])


def test_explained_errors_name_place_and_remedy():
    text = tables.explain(KnowledgeError("/x/cards.toml", "not TOML", 3))
    assert "/x/cards.toml:3" in text
    assert "Correct" in text


def test_main_compiles_and_tells(monkeypatch, place, capsys):
    monkeypatch.setattr(compiling, "compile_tables", lambda: 7)
    assert compiling.main() == 0
    assert "7 bytes" in capsys.readouterr().out


def test_main_names_the_broken_table(monkeypatch, capsys):
    def fail():
        raise KnowledgeError("/x.toml", "broken", 3)

    monkeypatch.setattr(compiling, "compile_tables", fail)
    assert compiling.main() == 1
    assert "/x.toml:3" in capsys.readouterr().err


def test_a_wheels_tables_lack_what_tests_read_and_a_checkout_does_not_use_them(place):
    row = '[[signature]]\nid = "a"\nprogram = "pip"\nliteral = "b"\nregex = "b"\nexample = "b"\nnear_miss = "c"\n'
    (place / "data" / "signatures").mkdir()
    (place / "data" / "signatures" / "x.toml").write_text('[meta]\nas_of = "2026-01-01"\n' + row)
    compiling.compile_tables(place / "data", place / "compiled.msgpack", shipped=True)
    assert store(place).table("signatures/x")["signature"][0]["example"] == "b"
    compiling.compile_tables(place / "data", place / "compiled.msgpack", shipped=True)
    (place / "data").rename(place / "elsewhere")
    (held,) = store(place).table("signatures/x")["signature"]
    assert (held["regex"], "example" in held, "near_miss" in held) == ("b", False, False)


def test_a_wheels_tables_are_indexed_where_they_are_first_read(place):
    rows = "".join(
        f'[[signature]]\nid = "{id_}"\nprogram = "{program}"\nliteral = "{id_}"\nregex = "{id_}"\ntags = ["both"]\n{more}'
        for id_, program, more in (("first", "kernel", "beside = ['x']\n"), ("second", "pip", "means = ''\n"))
    )
    (place / "data" / "signatures").mkdir()
    (place / "data" / "signatures" / "x.toml").write_text('[meta]\nas_of = "2026-01-01"\n' + rows)
    whole = store(place)
    expected = ([(word.id, word.beside, word.may_say) for word in whole.wordings(Wording)], whole.tags(), whole.table("signatures/x"))
    assert [wording[0] for wording in expected[0]] == ["first", "second"]
    assert expected[1] == {"both": ["first", "second"]}
    compiling.compile_tables(place / "data", place / "compiled.msgpack", shipped=True)
    (place / "data").rename(place / "elsewhere")
    small = (place / "compiled.msgpack").stat().st_size
    for _read in range(2):
        read = store(place)
        wordings = [(word.id, word.beside, word.may_say) for word in read.wordings(Wording)]
        assert (wordings, read.tags(), read.table("signatures/x")) == expected
        assert (place / "compiled.msgpack").stat().st_size > small
        for wording in read.wordings(Wording):
            assert read.packed_row(wording.table, wording.start, wording.end, dict)[1]["id"] == wording.id


def test_an_empty_compiled_file_is_written_anew(place):
    (place / "compiled.msgpack").write_bytes(b"")
    assert cards(place)["one"].size == 1
    assert (place / "compiled.msgpack").stat().st_size > 0
