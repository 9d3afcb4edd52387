"""Patterns that are compiled when one is first tried: most texts of a machine meet few of them.

Compiling all when their modules are loaded took a tenth of what the doctor takes as a whole.
"""

import re
from typing import Any, cast

_USES = ("match", "search", "fullmatch", "sub", "findall", "finditer", "split")


class _Late:
    def __init__(self, regex: str, flags: int) -> None:
        self.regex, self.wanted = regex, flags

    def __getattr__(self, name: str) -> Any:
        """Called once only: then the compiled pattern's own methods stand here."""
        form = re.compile(self.regex, self.wanted)
        self.__dict__.update({use: getattr(form, use) for use in _USES})
        return getattr(form, name)


def lazy_regex(regex: str, flags: int = 0) -> re.Pattern[str]:
    """The pattern, compiled at its first use; a regex that is none raises `re.error` there."""
    return cast("re.Pattern[str]", _Late(regex, int(flags)))
