"""The texts of all causes in every language: whole, made from today's English, and free of slips of the pen."""

import re
import runpy
import unicodedata
from pathlib import Path

import pytest

from rigup.diagnosis.wording import holes
from rigup.knowledge import doctor_tables, tables
from rigup.knowledge.tables import Store

SCRIPT = Path(__file__).parents[2] / "scripts" / "translations"
TOOL = runpy.run_path(str(SCRIPT))
TEXTS, PARTS, CHOICES = TOOL["TEXTS"], TOOL["PARTS"], TOOL["CHOICES"]
ENGLISH = {cause: row for cause, (_path, row) in TOOL["rows"](TEXTS / "en").items()}
LANGUAGES = {code: TOOL["rows"](TEXTS / code) for code in TOOL["languages"](TEXTS)}
FILES = [(code, path.name) for code, found in LANGUAGES.items() for path in sorted({path for path, _row in found.values()})]
UNTRANSLATED = {tuple(line.split()) for line in (Path(__file__).parent / "untranslated.txt").read_text(encoding="utf-8").splitlines()}
"""Language and cause of what is told in English for now, since nobody here could translate it."""

RUSSIAN = [name for code, name in FILES if code == "ru"]
SCRIPTS = {"ru": "CYRILLIC", "zh": "CJK UNIFIED"}
"""How Unicode's names of a language's letters begin."""

NOT_PROSE = {("apu-gtt-limit-not-applied", "in_vain"), ("mps-float64-unsupported", "recognise")}
"""Parts that hold names only, so that nothing is left to translate."""

SAID_OTHERWISE: set[tuple[str, str, str]] = set()
"""Language, cause, and code or a quotation that a translation rightly leaves out."""

BOTH_SPELLINGS = {"все", "всем", "чем", "нем"}
"""Russian words that mean one thing with е and another with ё."""

_SPAN = re.compile(r"`[^`]{1,300}`")
_QUOTED = re.compile(r'"([^"]{1,300})"')
_NAMED = re.compile(r"(?<![\w/.<-])(?:--?[a-z][\w=-]*\w|/\w[\w/.*-]*\w|[A-Za-z]\w*_\w+(?:=[\w:]*\w)?)")
"""Options, paths and identifiers that stand outside of code spans."""


def parts(row):
    """Each sentence of a row with its name; titles are numbered."""
    yield from ((f"title {number}", text) for number, text in enumerate(row["title"]))
    yield from ((part, row[part]) for part in PARTS)
    yield from ((f"{part} {number}", text) for part in CHOICES for number, text in enumerate(row.get(part, [])))


def both(code, file):
    """Cause, name of the part, English and translated sentence, for all of a file."""
    for cause, (path, row) in LANGUAGES[code].items():
        if path.name == file and cause in ENGLISH:
            ours = dict(parts(row))
            yield from ((cause, name, text, ours[name]) for name, text in parts(ENGLISH[cause]) if name in ours)


def prose(text):
    """A sentence with a sign in place of each piece of code."""
    return _SPAN.sub("⌘", text)


def letter_for_letter(english):
    """What may not change in a translation."""
    told = prose(english)
    return {*_SPAN.findall(english), *_QUOTED.findall(told), *_NAMED.findall(_QUOTED.sub("⌘", told))}


def stands(text, ours):
    """Whether a text occurs, and not as a part of a longer word."""
    return re.search(r"(?<![A-Za-z0-9])" + re.escape(text) + r"(?![A-Za-z0-9])", ours)


def translated(code, english, ours):
    """Whether a sentence has letters of its language, or for a language in Latin letters at least other words."""
    script = SCRIPTS.get(code.partition("_")[0])
    return ours != english if script is None else any(unicodedata.name(each, "").startswith(script) for each in ours)


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_cause_is_told_and_none_that_is_not_there(code):
    there = {(cause, path.name) for cause, (path, _row) in LANGUAGES[code].items()}
    wanted = {(cause, path.name) for cause, (path, _row) in TOOL["rows"](TEXTS / "en").items()}
    missing = {(cause, file) for cause, file in wanted - there if (code, cause) not in UNTRANSLATED}
    told = [f"{cause}: translate it in texts/{code}/{file}, or name it in tests/knowledge/untranslated.txt" for cause, file in missing]
    assert not told, "\n".join(told)
    assert not there - wanted, "not in English, or in another file"


def test_what_is_listed_as_untranslated_is():
    there = {(code, cause) for code, found in LANGUAGES.items() for cause in found}
    assert not UNTRANSLATED & there
    assert {cause for _code, cause in UNTRANSLATED} <= set(ENGLISH)


@pytest.mark.parametrize("code", LANGUAGES)
def test_rows_are_made_from_the_english_of_today(code):
    missing = tuple(f"[{cause}] is missing" for language, cause in UNTRANSLATED if language == code)
    lagging = [line for line in TOOL["lagging"](TEXTS, code) if not line.endswith(missing)]
    assert not lagging, "mend the texts, then run scripts/translations --digest " + code + " CAUSE"


@pytest.mark.parametrize("code", LANGUAGES)
def test_rows_have_the_same_parts(code):
    for cause in set(LANGUAGES[code]) & set(ENGLISH):
        row, english = LANGUAGES[code][cause][1], ENGLISH[cause]
        assert set(row) | {"sources"} == set(english) | {"sources", "english"}, cause
        assert all(len(row[part]) == len(english[part]) for part in ("title", *CHOICES) if part in english), cause
        addresses = {source for source in english["sources"] if source.startswith("http")}
        assert "sources" not in row or addresses <= set(row["sources"]), cause


@pytest.mark.parametrize(("code", "file"), FILES)
def test_sentences_name_the_same_values(code, file):
    slips = [(cause, name) for cause, name, english, ours in both(code, file) if holes(ours) != holes(english)]
    assert not slips


@pytest.mark.parametrize(("code", "file"), FILES)
def test_code_and_messages_stand_letter_for_letter(code, file):
    slips = [
        (cause, name, text)
        for cause, name, english, ours in both(code, file)
        for text in letter_for_letter(english)
        if not stands(text, ours) and (code, cause, text) not in SAID_OTHERWISE
    ]
    slips += [(cause, name, "`") for cause, name, _english, ours in both(code, file) if ours.count("`") % 2]
    assert not slips


@pytest.mark.parametrize(("code", "file"), FILES)
def test_sentences_are_really_translated(code, file):
    slips = [
        (cause, name)
        for cause, name, english, ours in both(code, file)
        if prose(english).strip("⌘ .,;") and not translated(code, prose(english), prose(ours))
    ]
    assert not set(slips) - NOT_PROSE


@pytest.mark.parametrize(("code", "file"), FILES)
def test_sentences_are_typed_cleanly(code, file):
    """No blank too many, no sign that nobody sees, no letter put together from two."""
    slips = [
        (cause, name)
        for cause, name, _english, ours in both(code, file)
        if ours != ours.strip()
        or "  " in ours
        or any(unicodedata.category(letter) in ("Cc", "Cf", "Co", "Cn", "Zl", "Zp") for letter in ours)
        or ours != unicodedata.normalize("NFC", ours)
    ]
    assert not slips


@pytest.mark.parametrize("file", RUSSIAN)
def test_russian_quotes_are_russian(file):
    for cause, name, _english, text in both("ru", file):
        told = re.sub(r"(?<=[A-Za-z])'(?=[a-z])", "", prose(text))  # couldn't, in a quoted message
        assert not set("\"“”„'’") & set(told), (cause, name)
        depths = [text.count("«", 0, end) - text.count("»", 0, end) for end in range(len(text) + 1)]
        assert (min(depths), depths[-1]) == (0, 0), (cause, name)


@pytest.mark.parametrize("file", RUSSIAN)
def test_no_latin_letter_hides_in_a_russian_word(file):
    mixed = re.compile(r"\w*(?:[A-Za-z][а-яёА-ЯЁ]|[а-яёА-ЯЁ][A-Za-z])\w*")
    slips = [(cause, name, mixed.findall(text)) for cause, name, _english, text in both("ru", file)]
    assert not [slip for slip in slips if slip[-1]]


@pytest.mark.parametrize("file", RUSSIAN)
def test_russian_is_punctuated(file):
    """Sentences end in a stop and titles do not; dashes are long; no blank before a comma."""
    for cause, name, _english, text in both("ru", file):
        assert text.endswith(".") != name.startswith("title"), (cause, name)
        assert not re.search(r"\s-\s|\s[,;:.!?](?:\s|$)|[,;:!?][А-Яа-яЁё]", prose(text)), (cause, name)


def test_yo_is_written_everywhere():
    said = " ".join(text for _path, row in LANGUAGES.get("ru", {}).values() for _name, text in parts(row)).lower()
    words = set(re.findall(r"[а-яё]+", said))
    slips = {word for word in words if "ё" in word and word.replace("ё", "е") in words - BOTH_SPELLINGS}
    assert not slips, "both spellings occur"


ROW = '[{cause}]\ntitle = ["{title}"]\nmeaning = "m"\nrecognise = "r"\nmends = "d"\nin_vain = "v"\n'


@pytest.fixture
def two_languages(tmp_path):
    """English with the causes a and b, and a Russian that has noted nothing yet."""
    for code in ("en", "ru"):
        (tmp_path / code).mkdir()
        rows = ROW.format(cause="a", title="A " + code) + "\n" + ROW.format(cause="b", title="B " + code)
        (tmp_path / code / "x.toml").write_text("[meta]\nas_of = 2026-01-01\n\n" + rows)
    return tmp_path


def run(*argv):
    return TOOL["main"]([str(part) for part in argv])


def test_the_script_notes_what_was_checked(two_languages, capsys):
    assert run("--texts", two_languages, "--stale") == 1
    assert capsys.readouterr().out.count("was made from another English text") == 2
    assert run("--texts", two_languages, "--digest", "ru", "b") == 0
    assert run("--texts", two_languages, "--stale") == 1
    assert capsys.readouterr().out == "b\nru/x.toml: [a] was made from another English text\n"
    assert run("--texts", two_languages, "--digest", "ru") == 0
    assert run("--texts", two_languages, "--stale") == 0


def test_the_script_sees_a_change_of_the_english(two_languages, capsys):
    run("--texts", two_languages, "--digest", "ru")
    english = two_languages / "en" / "x.toml"
    english.write_text(english.read_text().replace("A en", "Other") + ROW.format(cause="c", title="C"))
    noted = (two_languages / "ru" / "x.toml").read_text()
    capsys.readouterr()
    assert run("--texts", two_languages, "--stale") == 1
    assert capsys.readouterr().out.splitlines() == ["ru/x.toml: [c] is missing", "ru/x.toml: [a] was made from another English text"]
    run("--texts", two_languages, "--digest", "ru", "a")
    changed = set((two_languages / "ru" / "x.toml").read_text().splitlines()) - set(noted.splitlines())
    assert [line[:11] for line in changed] == ['english = "']


def test_the_script_does_not_note_what_is_not_there(two_languages, capsys):
    with pytest.raises(SystemExit):
        run("--texts", two_languages, "--digest", "ru", "nothing-such")
    assert "nothing-such" in capsys.readouterr().err


def test_a_translation_without_sources_has_those_of_the_english(tmp_path, monkeypatch):
    for code, more in (("en", 'sources = ["s"]'), ("ru", 'english = "00000000"'), ("zh_CN", 'sources = ["z"]')):
        (tmp_path / "texts" / code).mkdir(parents=True)
        (tmp_path / "texts" / code / "x.toml").write_text(ROW.format(cause="a", title=code) + more + "\n")
    store = Store(tmp_path, tmp_path / "compiled")
    tables.forget()
    with monkeypatch.context() as patched:
        patched.setattr(tables, "default_store", lambda: store)
        found = {code: doctor_tables.texts(code)["a"] for code in ("en", "ru", "zh_CN")}
    tables.forget()
    assert {code: text.sources for code, text in found.items()} == {"en": ["s"], "ru": ["s"], "zh_CN": ["z"]}
    assert found["ru"].english == "00000000"
