"""The language of what a person reads. English is the source; catalogues are found beside the package.

The choice falls once, at the first text: `choose()` (from `--lang`), else the locale's variables.
gettext is imported only where another language than English is wanted.
"""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SUPPORTED = ("en", "ru", "zh_CN", "zh_TW")
_CATALOGUES: "Path | None" = None  # where they are, if not where they came with the package
_say: Callable[[str], str] | None = None
_chosen, _is_asked_for = "", False


def choose(language: str | None = None) -> str:
    """Fix the language of this process; None takes the locale's. Returns the code in force."""
    global _say, _chosen, _is_asked_for
    wanted = language or _from_locale()
    _chosen, _is_asked_for = known(wanted), bool(wanted)
    _say = _translator(_chosen)
    return _chosen


def is_asked_for() -> bool:
    """Whether `--lang` or the locale named the language in force; the locales C and POSIX name none."""
    current()
    return _is_asked_for


def speaks(language: str) -> bool:
    """Whether a word names a language that rigup has texts in, in any of its spellings."""
    return known(language) != "en" or language.lower().startswith("en")


def current() -> str:
    """The code of the language in force: `en`, `ru`, `zh_CN` or `zh_TW`."""
    return _chosen or choose()


def _(text: str) -> str:
    """The text in the language in force; what is not translated stays English."""
    if _say is None:
        choose()
    return _say(text) if _say and text else text


def N_(text: str) -> str:  # noqa: N802  (gettext's own name for it)
    """Mark a text for the catalogues that is translated later, where it is shown."""
    return text


def sentences(*texts: str) -> str:
    """Sentences one after another; not every script parts them by a blank. Empty ones are left out."""
    present = [sentence for sentence in texts if sentence]
    text = present[0] if present else ""
    for sentence in present[1:]:
        text = _("{first} {second}").format(first=text, second=sentence)
    return text


def _from_locale() -> str:
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(name, ""):
            return "" if value.partition(".")[0] in ("C", "POSIX") else value.split(":")[0]
    return ""


def known(wanted: str) -> str:
    """The code of the language that a name means: `zh_HK.UTF-8` reads Traditional Chinese, `ru_UA` Russian, what is not known English."""
    code = wanted.partition(".")[0].partition("@")[0].replace("-", "_")
    if code.lower().startswith("zh"):
        traditional = any(mark in code.lower() for mark in ("tw", "hk", "mo", "hant"))
        return "zh_TW" if traditional else "zh_CN"
    return next((known for known in SUPPORTED if known == code.partition("_")[0]), "en")


def _translator(code: str) -> Callable[[str], str]:
    if code == "en":
        return str
    import gettext

    # click speaks through gettext's own functions, which ask the variables for the language.
    os.environ["LANGUAGE"] = code
    gettext.bindtextdomain("rigup", _catalogues())
    gettext.textdomain("rigup")
    return spoken_in(code)


def spoken_in(code: str) -> Callable[[str], str]:
    """What translates into one language and changes nothing: for a reader who is not who started rigup."""
    import gettext

    return gettext.translation("rigup", _catalogues(), languages=[code], fallback=True).gettext


def _catalogues() -> str:
    """The folder of the catalogues."""
    from rigup import shipped

    try:
        return str(_CATALOGUES or shipped.path("locales"))
    except OSError:  # English is in the code
        return ""
