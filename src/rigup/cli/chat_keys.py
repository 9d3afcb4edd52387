"""The line that a person types: several lines of it, earlier ones, and commands that complete themselves."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.output.defaults import create_output

from rigup.cli.guard import unguarded

if TYPE_CHECKING:
    from prompt_toolkit.formatted_text import AnyFormattedText

_PROMPT, _MORE = "› ", "… "


class Kept(History):
    """What was typed in this and in earlier chats."""

    def load_history_strings(self) -> Iterable[str]:
        """The newest first."""
        from rigup.llm.chat import history

        return history.lines()

    def store_string(self, string: str) -> None:
        """Keep it for later ones."""
        from rigup.llm.chat import history

        history.add(string)


class _Commands(Completer):
    def __init__(self, words: Callable[[str], Iterable[str]]) -> None:
        self._words = words

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:  # noqa: ARG002
        """Words that begin as the one at the cursor, where the line is a command."""
        line = document.text_before_cursor
        if not line.startswith("/") or "\n" in line:
            return
        word = line.rpartition(" ")[2]
        for candidate in self._words(line):
            if candidate.startswith(word):
                yield Completion(candidate, start_position=-len(word))


class Keys:
    """What a person types, line by line. `ask` raises EOFError at the end, KeyboardInterrupt for Ctrl-C."""

    def __init__(self, words: Callable[[str], Iterable[str]], status: Callable[[], str], keep: bool) -> None:
        output = create_output(stdout=unguarded(sys.stdout))
        plain = bool(os.environ.get("NO_COLOR"))
        self._session: PromptSession[str] = PromptSession(
            history=Kept() if keep else InMemoryHistory(),
            completer=_Commands(words),
            multiline=True,
            output=output,
            complete_while_typing=Condition(lambda: self._session.default_buffer.text.startswith("/")),
            key_bindings=_bindings(),
            prompt_continuation=_MORE,
            bottom_toolbar=lambda: self._toolbar(status()),
            color_depth=ColorDepth.DEPTH_1_BIT if plain else None,
            enable_open_in_editor=True,
            reserve_space_for_menu=4,
        )

    def _toolbar(self, text: str) -> "AnyFormattedText":
        return text or None

    def when_drawn(self, begin: Callable[[], None]) -> None:
        """Call it each time that the line has been drawn."""
        self._session.app.after_render += lambda _app: begin()

    def renew(self, leave: bool) -> None:
        """Draw what is told anew, or leave the line that is typed; from any thread."""
        if leave:
            self.end(EOFError())
        elif self._is_asking:
            self._session.app.loop.call_soon_threadsafe(self._session.app.invalidate)  # type: ignore[union-attr]

    @property
    def _is_asking(self) -> bool:
        app = self._session.app
        return app.loop is not None and app.is_running

    def end(self, error: BaseException) -> bool:
        """Let `ask` raise this, once the terminal is as it was; from any thread or signal. False where it is not asking."""
        if not self._is_asking:
            return False
        self._session.app.loop.call_soon_threadsafe(self._end, error)  # type: ignore[union-attr]
        return True

    def _end(self, error: BaseException) -> None:
        if self._session.app.is_running and not self._session.app.is_done:
            self._session.app.exit(exception=error)

    def ask(self, begun: str = "") -> str:
        """One message or command; `begun` stands there already."""
        return self._session.prompt(_PROMPT, default=begun)


def _bindings() -> KeyBindings:
    """Enter sends; Alt-Enter, Ctrl-J and a backslash before Enter begin another line."""
    keys = KeyBindings()

    @keys.add("enter")
    def send(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state and buffer.complete_state.current_completion:
            buffer.complete_state = None
        elif buffer.document.char_before_cursor == "\\" and buffer.document.is_cursor_at_the_end:
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            buffer.validate_and_handle()

    @keys.add("escape", "enter")
    @keys.add("c-j")
    def another_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys
