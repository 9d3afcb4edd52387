"""An answer on the screen as it comes: Markdown by blocks, and whatever a server sends made harmless first."""

import sys
import time
from typing import TYPE_CHECKING, Any, Protocol

import click

from rigup.cli.guard import style, unguarded
from rigup.language import _
from rigup.visible import visible

if TYPE_CHECKING:
    from rigup.llm.chat.endpoint import Answered
    from rigup.llm.chat.stream import Piece

_PAUSE = 0.06  # seconds between two pictures of what is not finished
_NEARLY_FULL = 0.9  # of the context


class Screen(Protocol):
    """Where an answer goes."""

    def piece(self, piece: "Piece") -> None:
        """A piece more."""

    def end(self) -> None:
        """Nothing more comes."""


class Plain:
    """Letters as they come; what was thought is dimmed, or left out where nobody watches."""

    def __init__(self, watched: bool) -> None:
        self._watched, self._thought, self._fresh = watched, False, True

    def piece(self, piece: "Piece") -> None:
        """Write it at once."""
        if piece.thought and not self._watched:
            return
        if self._thought and not piece.thought:
            click.echo("\n")
        self._thought = piece.thought
        click.echo(style(piece.text, dim=True) if piece.thought else piece.text, nl=False)
        sys.stdout.flush()
        self._fresh = piece.text.endswith("\n")

    def end(self) -> None:
        """The line ends where the answer does."""
        if not self._fresh:
            click.echo()


class Rendered:
    """Finished blocks as Markdown, which stay; what is not finished below them, as plain text."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live

        from rigup.llm.chat.blocks import Blocks

        self._console = Console(file=unguarded(sys.stdout), highlight=False, soft_wrap=False)
        self._live = Live(console=self._console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False)
        self._blocks, self._shown, self._thought = Blocks(), 0.0, False
        self._live.start()

    def piece(self, piece: "Piece") -> None:
        """Take it in; the picture follows a few times a second."""
        if piece.thought != self._thought:
            self._flush()
            self._thought = piece.thought
        for block in self._blocks.take(visible(piece.text)):
            self._print(block)
        now = time.monotonic()
        if now - self._shown >= _PAUSE:
            self._shown = now
            self._live.update(self._unfinished(), refresh=True)

    def _unfinished(self) -> Any:
        from rich.text import Text

        size = self._console.size
        room = max(2, size.height - 3)
        text = Text(self._blocks.unfinished(room, size.width), style="dim" if self._thought else "")
        lines = text.wrap(self._console, max(8, size.width))
        return Text("\n").join(lines[-room:])

    def _print(self, block: str) -> None:
        from rich.padding import Padding
        from rich.text import Text

        self._live.update(Text(""), refresh=True)
        try:
            content: Any = Text(block, style="dim") if self._thought else _markdown(block)
            self._console.print(Padding(content, (0, 0, 1, 0)))
        except (RecursionError, ValueError, KeyError, IndexError):  # what no renderer can take is shown as it is
            self._console.print(Text(block))

    def _flush(self) -> None:
        if left := self._blocks.rest().strip("\n"):
            self._print(left)

    def end(self) -> None:
        """What is left is finished now, and the screen is ours again."""
        try:
            self._flush()
        finally:
            self._live.stop()


def _markdown(block: str) -> Any:
    """Markdown without HTML, which would vanish, and with addresses written out, which else could lie."""
    from markdown_it import MarkdownIt
    from rich.markdown import Markdown

    markdown = Markdown("", hyperlinks=False)
    markdown.parsed = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"]).parse(block)
    return markdown


def screen(markdown: bool) -> Screen:
    """What fits where we write to."""
    from rigup.cli.fit import _wants_color

    return Rendered() if markdown and _wants_color() else Plain(sys.stdout.isatty())


def measured(answered: "Answered", context: int | None) -> str:
    """What an answer took, in one line; "" where nobody knows."""
    used = answered.end.usage
    parts = []
    if used.completion is not None:
        parts.append(_("{count} tokens").format(count=used.completion))
    if answered.speed is not None:
        parts.append(_("{speed} tokens/s").format(speed=f"{answered.speed:.1f}"))
    if answered.first is not None:
        parts.append(_("first after {seconds} s").format(seconds=f"{answered.first:.2f}"))
    if (taken := taken_of(answered)) is not None:
        parts.append(context_text(taken, context))
    return " · ".join(parts)


def taken_of(answered: "Answered") -> int | None:
    """Tokens of context that all that was said takes now."""
    used = answered.end.usage
    return None if used.prompt is None else used.prompt + (used.completion or 0)


def context_text(taken: int, context: int | None) -> str:
    """How full the context is."""
    if context is None:
        return _("context {taken}").format(taken=taken)
    sentence = _("context {taken} of {whole} ({share} %)").format(taken=taken, whole=context, share=round(100 * taken / context))
    return sentence if taken < _NEARLY_FULL * context else style(sentence, fg="yellow")
