"""The way out: whatever a command writes for a person passes here, and what a terminal would obey is written out."""

import contextlib
import sys
from collections.abc import Iterator
from types import TracebackType
from typing import Any, TextIO, cast

import click

from rigup.visible import for_terminal, ours


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


def style(text: str, **how: Any) -> str:
    """As `click.style`; its sequences are known as ours, whatever text they surround."""
    before, _, after = click.style("\0", **how).partition("\0")
    return ours(before) + text + ours(after)
