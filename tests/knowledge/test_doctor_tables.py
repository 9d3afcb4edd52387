"""Signatures, speakers, causes and texts as the doctor gets them."""

import pytest

from rigup.knowledge import doctor_tables, tables
from rigup.knowledge.tables import Store

FILES = {
    "layers": 'layers = ["driver", "library"]\n',
    "signatures/x": """
[meta]
checked = "2026-01-01"
how = "reported"
[[signature]]
id = "s"
program = "torch"
literal = "no kernel image"
regex = "no kernel image"
means = "c"
example = "no kernel image is available"
near_miss = "no image"
source = "torch"
states = [{ kind = "Gpu", isa = "sm_61" }]
[[place]]
literal = "systemd[1]"
regex = "systemd"
kind = "service"
source = "journal"
""",
    "causes/x": '[[cause]]\nid = "c"\nlayer = "library"\nfixes = [["pip", "torch"]]\n',
    "texts/en/x": '[c]\ntitle = ["A {gpu}", "A"]\nmeaning = "m"\nsources = ["s"]\n[d]\ntitle = ["D"]\n',
    "texts/ru/x": '[c]\ntitle = ["Б"]\n',
    "texts/zh_TW/x": '[d]\ntitle = ["台"]\n',
}


@pytest.fixture
def own(tmp_path, monkeypatch):
    def lay(**more):
        for name, text in {**FILES, **more}.items():
            path = tmp_path / "data" / f"{name}.toml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        tables.forget()
        store = Store(tmp_path / "data", tmp_path / "c.msgpack")
        monkeypatch.setattr(tables, "default_store", lambda: store)

    yield lay
    monkeypatch.undo()
    tables.forget()


def test_all_forms(own):
    own()
    (signature,) = doctor_tables.signatures()
    assert (signature.family, signature.lines, signature.scope, signature.strength) == ("x", 1, "process", "certain")
    assert signature.states == [{"kind": "Gpu", "isa": "sm_61"}]
    assert signature.how == "reported"
    (speaker,) = doctor_tables.speakers()
    assert speaker.kind == "service"
    cause = doctor_tables.causes()["c"]
    assert (cause.family, cause.severity, cause.fixes) == ("x", "error", [["pip", "torch"]])
    assert doctor_tables.layers() == ("driver", "library")


@pytest.mark.parametrize(
    ("language", "c", "d"),
    [("en", "en", "en"), ("ru", "ru", "en"), ("ru_RU.UTF-8", "ru", "en"), ("zh_TW", "en", "zh_TW"), ("xx", "en", "en")],
)
def test_texts_fall_back_to_english_cause_by_cause(own, language, c, d):
    own()
    found = doctor_tables.texts(language)
    assert (found["c"].language, found["d"].language) == (c, d)


def test_a_text_of_the_wrong_form_names_its_table(own):
    own(**{"texts/en/y": "[bad]\ntitle = 3\n"})
    with pytest.raises(tables.KnowledgeError, match="bad"):
        doctor_tables.texts("en")
