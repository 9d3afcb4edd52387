"""The catalogues of messages: complete and well formed in every language, and Chinese set as its readers expect it."""

import ast
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from string import Formatter

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from rigup import language
from rigup.cli import COMMANDS, run
from rigup.cli.layout import columns
from rigup.language import SUPPORTED

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "scripts" / "messages"
LANGUAGES = tuple(code for code in SUPPORTED if code != "en")
CHINESE = ("zh_CN", "zh_TW")
LABELS = ("Why:", "Seen:", "Check:", "Mend:", "or:", "In vain:", "More:")  # of the report, each before a text that begins in column 9


def loaded(name, path):
    """A module by its path."""
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


messages = loaded("messages_script", SCRIPT)
chinese = loaded("checks_of_chinese", ROOT / "tests" / "knowledge" / "test_chinese.py")


def translations(language):
    """Pairs of every text and its translation; of a plural, its first form with each that the language has."""
    for message in messages.read(language):
        if message.id:
            source = message.id if isinstance(message.id, str) else message.id[0]
            told = [message.string] if isinstance(message.string, str) else message.string
            yield from ((source, one) for one in told)


def test_no_text_hides_within_an_f_string_where_the_catalogues_do_not_find_it():
    hidden = [
        f"{path.name}:{call.lineno}"
        for path in (ROOT / "src" / "rigup").rglob("*.py")
        for string in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(string, ast.JoinedStr)
        for call in ast.walk(string)
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("_", "N_") and isinstance(call.args[0], ast.Constant)
    ]
    assert hidden == []


def forms(text):
    """What is filled into a text, with how it is written, in braces."""
    return {(name, how, shape) for _text, name, shape, how in Formatter().parse(text) if name is not None}


def marks(text):
    """What is filled into a text in the manner of `%(name)s`."""
    return {piece.partition(")")[0] for piece in text.split("%(")[1:]}


@pytest.fixture(scope="module")
def faults():
    """What the script finds, in a process of its own: here, another test may have asked for help in any language."""
    english = {**os.environ, "LANGUAGE": "en", "LC_ALL": "C.UTF-8", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--check"], cwd=ROOT, env=english, capture_output=True, encoding="utf-8", timeout=300, check=False
    )
    assert done.stdout.rstrip().endswith("to look at"), done.stderr
    return done.stdout.splitlines()


def test_the_script_knows_the_languages_of_the_program():
    folders = {path.name for path in messages.LOCALES.iterdir() if path.is_dir()}
    assert set(messages.LANGUAGES) == set(LANGUAGES) == folders


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_message_is_translated_and_well_formed(language, faults):
    assert [line for line in faults if line.startswith(language + ":")] == [], "run scripts/messages, then translate"


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_filled_in_keeps_its_form(language):
    def changed(source, told):
        return marks(source) != marks(told) or not forms(told) <= forms(source) | plural.get(source, set())

    held = [message.id for message in messages.read(language) if isinstance(message.id, tuple)]
    plural = {one: forms(many) for one, many in held}
    assert [(source, told) for source, told in translations(language) if told and changed(source, told)] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_paragraphs_stay_paragraphs(language):
    parts = [(source, told, text.count("\n\n")) for source, told in translations(language) if told for text in (source,)]
    assert [source for source, told, blank in parts if told.count("\n\n") != blank or "\n " in told] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_labels_fit_their_column(language):
    told = dict(translations(language))
    assert [label for label in LABELS if columns(told[label]) > 8] == []


@pytest.mark.parametrize("language", CHINESE)
def test_messages_are_set_as_chinese(language):
    told = [chinese.CODE.sub("`x`", text) for _source, text in translations(language)]
    assert [(text, bad) for text in told if (bad := chinese.badly_set(text))] == []


@pytest.mark.parametrize("language", CHINESE)
def test_script_and_terms_are_the_readers_own(language):
    told = [chinese.CODE.sub("`x`", text) for _source, text in translations(language)]
    assert [(text, bad) for text in told if (bad := chinese.foreign(text, language) + chinese.outside(text, language))] == []


@pytest.mark.parametrize("language", CHINESE)
def test_a_sentence_ends_where_the_english_one_does(language):
    def ends(text):
        return text.rstrip("）)").endswith((".", "。")) and not text.endswith("...")

    assert [(source, told) for source, told in translations(language) if told and ends(source) != ends(told)] == []


def test_a_message_that_is_missing_stale_or_malformed_is_named(monkeypatch):
    said, held = Catalog(locale="ru"), Catalog(locale="ru")
    for text in ("new", "empty", "a {hole}", "run `it`", "unsure"):
        said.add(text)
    for text, told in (("empty", ""), ("a {hole}", "{other}"), ("run `it`", "it"), ("old", "old")):
        held.add(text, told)
    held.add("unsure", "unsure", flags=["fuzzy"])
    monkeypatch.setattr(messages, "read", lambda _language: held)
    assert sorted(messages.faults("ru", said)) == [
        "ru: fuzzy: unsure",
        "ru: missing: new",
        "ru: not translated: empty",
        "ru: other placeholders: a {hole}",
        "ru: stale: old",
        "ru: without `it`: run `it`",
    ]


# -- the catalogues in use ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The catalogues as a wheel has them; a checkout may have none, or older ones."""
    folder = tmp_path_factory.mktemp("locales")
    for code in LANGUAGES:
        target = folder / code / "LC_MESSAGES" / "rigup.mo"
        target.parent.mkdir(parents=True)
        with target.open("wb") as file:
            write_mo(file, messages.read(code))
    return folder


@pytest.fixture
def speaking(compiled, monkeypatch):
    """Fix the language that the surroundings ask for."""
    monkeypatch.setattr(language, "_CATALOGUES", compiled)
    return lambda code: monkeypatch.setenv("LANG", code + ".UTF-8")


@pytest.mark.parametrize("code", CHINESE)
def test_the_first_help_is_in_the_language_of_the_surroundings(code, speaking, capsys):
    speaking(code)
    assert run(["--help"]) == 0
    told = capsys.readouterr().out
    source = dict(translations(code))
    assert told.startswith("用法：rigup ")
    assert all(source[text] in " ".join(told.split()) for text in ("Show the version and exit.", COMMANDS["explain"][1]))


@pytest.mark.parametrize("code", CHINESE)
def test_a_mistake_before_any_command_is_told_in_the_language_of_the_surroundings(code, speaking, capsys):
    speaking(code)
    assert run(["--bogus"]) == 2
    assert dict(translations(code))["No such option {name!r}."].format(name="--bogus") in capsys.readouterr().err


@pytest.mark.parametrize("code", SUPPORTED)
def test_a_long_mistake_is_told_in_lines_of_a_terminal(code, speaking, capsys):
    speaking(code)
    assert run(["plan", "--for", "no such card"]) == 2
    told = capsys.readouterr().err
    assert "no such card" in told
    assert [line for line in told.splitlines() if columns(line) > 80] == []


def test_sentences_are_joined_as_the_script_joins_them(speaking):
    language.choose("en")
    assert language.sentences("One.", "", "Two.") == "One. Two."
    assert (language.sentences(), language.sentences("One.")) == ("", "One.")
    speaking("zh_TW")
    language.choose()
    assert language.sentences("一。", "二。", "三。") == "一。二。三。"
