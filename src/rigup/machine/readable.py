"""Bytes that are no text, made readable: what comes in from a machine can be printed, written and sent.

Where a name or a variable holds bytes that are not UTF-8, Python keeps them as surrogates, which nothing can write.
"""

from typing import Any

_MOST_DEEP = 20


def readable(text: str) -> str:
    """The text with U+FFFD for what is no sign; as it is where every sign is one."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogateescape" if _only_bytes(text) else "replace").decode("utf-8", "replace")
    return text


def _only_bytes(text: str) -> bool:
    """Whether all surrogates stand for bytes: others come from escapes in JSON."""
    return not any("\ud800" <= sign <= "\udc7f" or "\udd00" <= sign <= "\udfff" for sign in text)


def all_readable(value: Any, deep: int = 0) -> Any:
    """The same for plain data: lists and tables of texts."""
    if isinstance(value, str):
        return value if value.isascii() else readable(value)
    if deep > _MOST_DEEP:
        return value
    if isinstance(value, dict):
        return {all_readable(key, deep + 1): all_readable(inner, deep + 1) for key, inner in value.items()}
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return type(value)(all_readable(item, deep + 1) for item in value)
    return value


class OddNames:
    """Paths whose names are no text: shown readably, and found again by what was shown."""

    def __init__(self) -> None:
        self._real: dict[str, str] = {}

    def shown(self, folder: str, names: list[str]) -> list[str]:
        """The names of a folder, readable. Two that read the same are one."""
        if "".join(names).isascii():
            return names
        return [name if name.isascii() else self._readable_name(folder, name) for name in names]

    def _readable_name(self, folder: str, name: str) -> str:
        shown = readable(name)
        if shown != name:
            self._real.setdefault(folder + "/" + shown, self.real(folder) + "/" + name)
        return shown

    def readable(self, text: str) -> str:
        """A text that may name folders, readable: each of them is found again."""
        if text.isascii() or (shown := readable(text)) == text:
            return text
        for part in text.split(":"):
            if part.startswith("/") and readable(part) != part:
                self._real.setdefault(readable(part), part)
        return shown

    def real(self, path: str) -> str:
        """The path that was shown so; itself for all others."""
        if not self._real or path.isascii():
            return path
        above, rest = path, ""
        while above:
            if above in self._real:
                return self._real[above] + rest
            above, _slash, name = above.rpartition("/")
            rest = "/" + name + rest
        return path
