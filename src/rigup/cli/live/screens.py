"""What is laid over the view: a text to read, and the question before a signal is sent."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import Click, Key
from textual.screen import ModalScreen
from textual.widgets import Static

from rigup.cli.live.signals import OFFERED
from rigup.cli.live.spans import harmless
from rigup.cli.live.view import words_of
from rigup.language import _
from rigup.schemas.watch import WatchedProcess

_CSS = """
{name} {{ align: center middle; background: transparent; }}
{name} > VerticalScroll {{ width: auto; max-width: 92%; height: auto; max-height: 90%; border: round ansi_blue; padding: 0 1; background: ansi_default; color: ansi_default; }}
{name} Static {{ width: auto; max-width: 100%; }}
"""


class TextScreen(ModalScreen[None]):
    """A text; any key but those that scroll closes it."""

    CSS = _CSS.format(name="TextScreen")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "app.quit", show=False, priority=True)]
    _SCROLLING = ("up", "down", "pageup", "pagedown", "home", "end")

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title, self._text = title, text

    def compose(self) -> ComposeResult:
        """The text in a box that scrolls."""
        with VerticalScroll() as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content(_("any key closes this"))
            yield Static(Content(self._text))

    def on_key(self, event: Key) -> None:
        """Close it, or let it scroll."""
        if event.key not in self._SCROLLING:
            event.stop()
            self.dismiss(None)

    def on_click(self, _event: Click) -> None:
        """Close it."""
        self.dismiss(None)


class SignalScreen(ModalScreen[str]):
    """Which signal, and whether really; the answer is its name, "" for none."""

    CSS = _CSS.format(name="SignalScreen")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "app.quit", show=False, priority=True)]

    def __init__(self, process: WatchedProcess) -> None:
        super().__init__()
        self._process, self._chosen = process, ""

    def compose(self) -> ComposeResult:
        """The signals by number."""
        with VerticalScroll(can_focus=False) as box:
            box.border_title = Content(_("Signal to {pid}").format(pid=self._process.pid))
            yield Static(Content(self._question()), id="question")

    def _question(self) -> str:
        words = harmless(words_of(self._process))[:70]
        if not self._chosen:
            rows = [f"{number}  {name}" for number, name in enumerate(OFFERED, 1)]
            return "\n".join([words, "", *rows, "", _("A number chooses, Esc leaves it.")])
        sentence = _("Send {signal} to {pid}? y sends it, any other key does not.")
        return "\n".join([words, "", sentence.format(signal=self._chosen, pid=self._process.pid)])

    def on_key(self, event: Key) -> None:
        """A number, then y."""
        event.stop()
        if self._chosen:
            self.dismiss(self._chosen if event.character in ("y", "Y") else "")
        elif event.character and event.character.isascii() and event.character.isdecimal() and 0 < int(event.character) <= len(OFFERED):
            self._chosen = OFFERED[int(event.character) - 1]
            self.query_one("#question", Static).update(Content(self._question()))
        else:
            self.dismiss("")
