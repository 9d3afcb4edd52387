"""The language in which a person wrote beside what programs printed: of those that rigup has texts in."""

import re
from collections.abc import Iterable

_MOST = 200_000  # characters of a text in which a person's own words are looked for
_CYRILLIC, _HAN = re.compile("[а-яё]", re.IGNORECASE), re.compile("[\u4e00-\u9fff]")
# Letters of neighbours: Ukrainian, Belarusian, Serbian and Macedonian; the kana of Japanese.
_NOT_RUSSIAN, _NOT_CHINESE = re.compile("[іїєґўђћљњџјѓќѕ]", re.IGNORECASE), re.compile("[\u3040-\u30ff]")
# Signs that one of the two scripts alone has, of words that such texts are full of.
_SIMPLIFIED = frozenset("们个么这时为说对样没还过给让进动见长问题现发点电开关网错误显驱装载运环机务启报无会后")
_TRADITIONAL = frozenset("們個麼這時為說對樣沒還過給讓進動見長問題現發點電開關網錯誤顯驅裝載運環機務啟報無會後")
_PRINTED = re.compile(r"^\s*\[|\d\d:\d\d:\d\d|\b(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b|^\s*(?:[$#>%]|File \")")
_ENOUGH = {"ru": 20, "zh": 8}  # letters or signs: a word or two may be a file's name
_SHARE = {"ru": 0.5, "zh": 0.2}  # of the letters in a line; a sign stands for a word


def prose_language(texts: Iterable[str]) -> str:
    """The code of the language, `ru`, `zh_CN` or `zh_TW`; "" where people wrote in another one, or not at all."""
    lines = [
        line
        for text in texts
        if not text.isascii()
        for line in text[:_MOST].splitlines()
        if not line.isascii() and not _PRINTED.search(line)
    ]
    russian, chinese = _written(lines, _CYRILLIC, _SHARE["ru"]), _written(lines, _HAN, _SHARE["zh"])
    if len(_CYRILLIC.findall(russian)) >= _ENOUGH["ru"] and not _NOT_RUSSIAN.search(russian):
        return "ru"
    if len(_HAN.findall(chinese)) < _ENOUGH["zh"] or _NOT_CHINESE.search(chinese):
        return ""
    traditional = sum(sign in _TRADITIONAL for sign in chinese) - sum(sign in _SIMPLIFIED for sign in chinese)
    return "zh_TW" if traditional > 0 else "zh_CN"


def _written(lines: Iterable[str], letters: re.Pattern[str], share: float) -> str:
    """The lines of which such letters are at least that share."""
    return "\n".join(line for line in lines if len(letters.findall(line)) >= share * sum(map(str.isalpha, line)) > 0)
