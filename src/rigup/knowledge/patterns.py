"""Patterns that are compiled when one is first tried, and kept from one run to the next.

Most texts of a machine meet few of all patterns, so each is compiled at its first use. That is done by the standard
library in Python, which took a tenth of what the doctor takes as a whole: the `rigup` command keeps what came of it,
as Python keeps bytecode, in a file of the account's own. Nothing depends on that file: without it, or where it is of
another release of Python or of rigup, patterns are compiled as ever.
"""

import array
import itertools
import marshal
import mmap
import os
import re
import sys
from importlib import import_module
from typing import Any, cast

from rigup.version import __version__

_USES = ("match", "search", "fullmatch", "sub", "findall", "finditer", "split")
_MOST_BYTES = 4_000_000  # of the file: what it costs to read it is less than what it spares
_LENGTH = 4  # bytes in which the file tells where its entries begin
_Span = tuple[int, int]
"""The first byte of an entry in the file, and the one after its last."""


class KeptPatterns:
    """Compiled patterns in a file: by regex and flags, the arguments of `_sre.compile`.

    That function is private to CPython; its code is of one release, so the file names the release, and the function
    itself refuses code that is none (RuntimeError).
    """

    def __init__(self, path: str) -> None:
        _sre: Any = import_module("_sre")
        self.path, self._make = path, _sre.compile
        parts = (__version__, sys.version, _sre.MAGIC, _sre.CODESIZE, sys.byteorder)
        self._head = " ".join(map(str, parts))
        self._content: mmap.mmap | bytes = b""
        self._packed = self._read()
        self._count = len(self._packed)

    def _read(self) -> dict[tuple[str, int], bytes | _Span]:
        """Where in the file each pattern is; nothing where it is another account's, too large, of another release or none."""
        try:
            with open(self.path, "rb") as file:
                status = os.fstat(file.fileno())
                if status.st_uid != os.geteuid() or status.st_mode & 0o022 or status.st_size > _MOST_BYTES:
                    return {}
                self._content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            start = int.from_bytes(self._content[:_LENGTH], "little")
            head, spans = marshal.loads(self._content[_LENGTH:start])  # noqa: S302  (the account's own file)
        except (OSError, ValueError, EOFError, TypeError):
            return {}
        return spans if head == self._head and isinstance(spans, dict) else {}

    def _entry(self, packed: bytes | _Span) -> bytes:
        """One that the file has is read when it is wanted: of thousands a run wants a few hundred."""
        return packed if isinstance(packed, bytes) else self._content[packed[0] : packed[1]]

    def compiled(self, regex: str, flags: int) -> "re.Pattern[str]":
        """The pattern, of the file if it has it. Raises `re.error`."""
        flags = int(flags)  # one of `re`'s own cannot be packed
        packed = self._packed.get((regex, flags))
        if packed is None:
            return self._compiled_anew(regex, flags)
        try:
            all_flags, code, groups, names = marshal.loads(self._entry(packed))  # noqa: S302
            return self._pattern(regex, all_flags, array.array("I", code).tolist(), groups, dict(names))
        except (ValueError, EOFError, TypeError, RuntimeError, IndexError):  # of a file that something has spoilt
            return self._compiled_anew(regex, flags)

    def _compiled_anew(self, regex: str, flags: int) -> "re.Pattern[str]":
        """Compile it as `re.compile` does, and note what came of it."""
        compiler, parser = cast("Any", re)._compiler, cast("Any", re)._parser
        parsed = parser.parse(regex, flags)
        code, state = compiler._code(parsed, flags), parsed.state
        entry = (flags | state.flags, array.array("I", code).tobytes(), state.groups, tuple(state.groupdict.items()))
        self._packed[regex, flags] = marshal.dumps(entry)
        return self._pattern(regex, entry[0], code, state.groups, dict(state.groupdict))

    def _pattern(self, regex: str, flags: int, code: list[int], groups: int, names: dict[str, int]) -> "re.Pattern[str]":
        """`groups` counts the whole match too; `names` are numbers of groups by name."""
        by_number: list[str | None] = [None] * groups
        for name, number in names.items():
            by_number[number] = name
        return cast("re.Pattern[str]", self._make(regex, flags, code, groups - 1, names, tuple(by_number)))

    def save(self) -> None:
        """Write the file anew, whole, where patterns were compiled that it has not."""
        if len(self._packed) == self._count:
            return
        content = self._whole(dict(self._packed))
        part = f"{self.path}.{os.getpid()}"
        try:
            os.makedirs(os.path.dirname(self.path), 0o700, exist_ok=True)
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(content if len(content) <= _MOST_BYTES else self._whole({}))
            os.replace(part, self.path)
        except OSError:  # a full disk, a home that nobody may write: it is only slower
            return

    def _whole(self, packed: dict[tuple[str, int], bytes | _Span]) -> bytes:
        """The file: where its entries begin, the head with the place of each, and the entries."""
        entries = {key: self._entry(value) for key, value in packed.items()}
        start = _LENGTH + len(self._spans(entries, 0))
        return start.to_bytes(_LENGTH, "little") + self._spans(entries, start) + b"".join(entries.values())

    def _spans(self, entries: dict[tuple[str, int], bytes], start: int) -> bytes:
        """Of one length wherever the entries begin: small numbers are packed as large ones."""
        ends = list(itertools.accumulate(map(len, entries.values()), initial=start))
        return marshal.dumps((self._head, dict(zip(entries, itertools.pairwise(ends), strict=True))), 2)


_kept: KeptPatterns | None = None


def keep() -> None:
    """Keep patterns from now on, in this account's cache folder: for the process of the `rigup` command."""
    global _kept  # noqa: PLW0603
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if sys.implementation.name == "cpython" and os.name == "posix" and os.path.isabs(base):
        _kept = KeptPatterns(os.path.join(base, "rigup", f"patterns-{sys.implementation.cache_tag}"))


def save() -> None:
    """Write what is to be kept."""
    if _kept is not None:
        _kept.save()


def compiled(regex: str, flags: int = 0) -> "re.Pattern[str]":
    """The pattern of a regex that stands in the program or its tables: never of one made of somebody's words.

    Raises:
        re.error: it is none.

    """
    return re.compile(regex, flags) if _kept is None else _kept.compiled(regex, flags)


class _Late:
    def __init__(self, regex: str, flags: int) -> None:
        self.regex, self.wanted = regex, flags

    def __getattr__(self, name: str) -> Any:
        """Called once only: then the compiled pattern's own methods stand here."""
        form = compiled(self.regex, self.wanted)
        self.__dict__.update({use: getattr(form, use) for use in _USES})
        return getattr(form, name)


def lazy_regex(regex: str, flags: int = 0) -> re.Pattern[str]:
    """The pattern, compiled at its first use; a regex that is none raises `re.error` there."""
    return cast("re.Pattern[str]", _Late(regex, int(flags)))
