"""The answer is in the language in which a person wrote, where neither `--lang` nor the locale names one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.cli import run
from rigup.cli.prose_language import prose_language
from rigup.language import choose

OUTPUT = "$ nvidia-smi\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n"
RUSSIAN = "После обновления ядра видеокарта пропала, что делать?\n"
CHINESE = "更新内核以后显卡不见了，应该怎么办？\n"
TAIWANESE = "更新核心以後顯示卡不見了，應該怎麼辦？\n"
LOCALE = ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")


@pytest.mark.parametrize(
    ("words", "language"),
    [
        (RUSSIAN, "ru"),
        (CHINESE, "zh_CN"),
        (TAIWANESE, "zh_TW"),
        ("Після оновлення ядра відеокарта зникла, що робити?\n", ""),
        ("カーネルを更新した後、GPUが見えなくなりました。\n", ""),
        ("Nach dem Update ist die Karte weg, läuft nichts mehr für mich.\n", ""),
        ("ls: невозможно\n", ""),
        ("/home/ли/模型/cache: No such file or directory\n", ""),
        ("", ""),
    ],
)
def test_the_language_of_a_persons_words_is_known_and_no_neighbours(words, language):
    assert prose_language([OUTPUT + words]) == language
    assert prose_language([OUTPUT, words]) == language


@given(st.lists(st.text()))
def test_any_text_is_read(texts):
    assert prose_language(texts) in ("", "ru", "zh_CN", "zh_TW")


@pytest.fixture
def said(tmp_path, monkeypatch, capsys):
    """The first line that the doctor prints of a text, in a locale, with more words before the command."""

    def doctor(text: str, locale: str, *words: str) -> str:
        for name in LOCALE:
            monkeypatch.delenv(name, raising=False)
        if locale:
            monkeypatch.setenv("LANG", locale)
        path = tmp_path / "said.txt"
        path.write_text(OUTPUT + text, encoding="utf-8")
        run([*words, "doctor", "--from", str(path)])
        return capsys.readouterr().out.splitlines()[0]

    yield doctor
    choose("en")


@pytest.mark.parametrize("locale", ["", "C", "C.UTF-8", "POSIX"])
def test_a_locale_without_a_language_leaves_the_answer_to_the_text(said, locale):
    assert "Найдена" in said(RUSSIAN, locale)
    assert said(CHINESE, locale).startswith("发现")
    assert said("", locale).startswith("A fault")


def test_who_names_a_language_is_answered_in_it(said):
    assert said(RUSSIAN, "en_US.UTF-8").startswith("A fault")
    assert said(RUSSIAN, "C.UTF-8", "--lang", "en").startswith("A fault")
    assert "Найдена" in said(CHINESE, "ru_RU.UTF-8")
