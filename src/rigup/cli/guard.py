"""The way out: whatever a command writes for a person passes here, and what a terminal would obey is written out."""

import contextlib
import sys
from collections.abc import Iterator
from types import TracebackType
from typing import Any, TextIO, cast

from rigup.knowledge.patterns import lazy_regex
from rigup.visible import for_terminal, ours

_COLORS = {"red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35, "cyan": 36}
_BOLD, _DIM, _OFF = 1, 2, 22
_SEQUENCE = lazy_regex(r"\x1b\[[0-?]*[ -/]*[@-~]")


class Guarded:
    """A stream of text that obeys nobody but us. It has no `buffer`: nothing goes round it."""

    def __init__(self, inner: TextIO) -> None:
        self.inner = inner

    def write(self, text: str) -> int:
        """Write it harmlessly; what the stream's encoding lacks is written out, too."""
        harmless = for_terminal(text)
        try:
            self.inner.write(harmless)
        except UnicodeEncodeError as error:
            self.inner.write(harmless.encode(error.encoding, "backslashreplace").decode(error.encoding))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write each."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":
            raise AttributeError(name)
        return getattr(self.inner, name)


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Guard both outputs. An error that nobody caught is printed through the guard as well."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (_guard(stream) for stream in before)
    try:
        yield
    except Exception:
        sys.excepthook = _print_traceback
        raise
    finally:
        sys.stdout, sys.stderr = before


def _guard(stream: TextIO) -> TextIO:
    return stream if stream is None or isinstance(stream, Guarded) else cast("TextIO", Guarded(stream))


def unguarded(stream: TextIO) -> TextIO:
    """The stream itself, for the few words of our own that move the cursor."""
    return stream.inner if isinstance(stream, Guarded) else stream


def _print_traceback(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    import traceback

    with guarded():
        sys.stderr.write("".join(traceback.format_exception(kind, error, trace)))


def style(text: str, fg: str | None = None, bold: bool | None = None, dim: bool | None = None) -> str:
    """As `click.style`; its sequences are known as ours, whatever text they surround."""
    codes = [] if fg is None else [_COLORS[fg]]
    codes += [on if wanted else _OFF for on, wanted in ((_BOLD, bold), (_DIM, dim)) if wanted is not None]
    return ours("".join(f"\x1b[{code}m" for code in codes)) + text + ours("\x1b[0m")


def unstyled(text: str) -> str:
    """As `click.unstyle`: the text without such sequences, whoever's they are."""
    return _SEQUENCE.sub("", text)
