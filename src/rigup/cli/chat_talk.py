"""The talk at a terminal: what is typed is asked, answers come, and commands begin with a slash."""

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from rigup.cli.chat_aside import Aside, Interrupts
from rigup.cli.chat_screen import context_text, measured, screen, taken_of
from rigup.cli.guard import style
from rigup.cli.layout import wrapped
from rigup.language import N_, _, sentences
from rigup.llm.chat import conversation as talks
from rigup.llm.chat.parameters import SYSTEM, TEMPLATE, ParameterError, named, parameters, value_of
from rigup.llm.chat.stream import EndpointError
from rigup.visible import visible

if TYPE_CHECKING:
    from rigup.cli.chat_engine import Engines
    from rigup.cli.chat_keys import Keys
    from rigup.llm.chat.conversation import Conversation, Message
    from rigup.llm.chat.endpoint import Answered, Endpoint

_MOST_NAMES = 30


class Options(NamedTuple):
    """How the talk is to be.

    Attributes:
        markdown: whether answers are rendered.
        keep: whether what is typed is kept for later talks.
        engines: starts other models, where rigup started the one that answers; None where it did not.

    """

    markdown: bool
    keep: bool
    engines: "Engines | None" = None


class Leave(Exception):
    """The person has had enough."""


class Talk:
    """One talk, until the person leaves."""

    def __init__(self, endpoint: "Endpoint", conversation: "Conversation", options: Options, look: Aside) -> None:
        self.endpoint, self.said, self._options, self._look = endpoint, conversation, options, look
        self._files: list[tuple[str, str]] = []
        self._images: list[str] = []
        self._last: Answered | None = None
        self._begun = ""
        self._interrupts = Interrupts()

    def attach(self, files: list[tuple[str, str]], images: list[str]) -> None:
        """What goes with the next message."""
        self._files += files
        self._images += images

    def run(self) -> None:
        """Ask and answer until the end of what is typed. Raises EndpointError where nobody answers at all."""
        from rigup.cli.chat_keys import Keys

        keys = Keys(self._words, self._toolbar, self._options.keep)
        self._interrupts.end = keys.end
        with self._interrupts:
            self._run(keys)

    def _run(self, keys: "Keys") -> None:
        self._look.when_over(lambda: keys.renew(leave=self._look.error is not None))
        keys.when_drawn(self._look.begin)
        while True:
            begun, self._begun = self._begun, ""
            try:
                line = keys.ask(begun) if self._look.error is None else ""
            except KeyboardInterrupt:  # it clears the line
                continue
            except EOFError:
                if self._look.error is not None:
                    raise self._look.error from None
                return
            self._look.wait()
            try:
                self._take_line(line)
            except Leave:
                return
            except (ParameterError, talks.ConversationError, EndpointError) as error:
                say(style(str(error), fg="red"))

    def _toolbar(self) -> str:
        """What stands below the line that is typed."""
        parts = [visible(self.said.model)[:60] or self.endpoint.base]
        if self._last is not None and (taken := taken_of(self._last)) is not None:
            parts.append(click.unstyle(context_text(taken, self.endpoint.about.context)))
        if held := len(self._files) + len(self._images):
            parts.append(_("{count} attached").format(count=held))
        return " " + " · ".join(parts)

    def _words(self, line: str) -> Iterable[str]:
        """What the word at the cursor may become."""
        command, blank, _rest = line.partition(" ")
        if not blank:
            return sorted("/" + name for name in COMMANDS)
        if command in ("/set", "/unset"):
            return [parameter.name for parameter in parameters()]
        return self._models() if command == "/model" else ()

    def _models(self) -> list[str]:
        """Models that can be talked to; the one of now first, where it lies in no store."""
        engines = self._options.engines
        if engines is None:
            return self.endpoint.about.models
        names = engines.names()
        return names if self.said.model in ("", *names) else [self.said.model, *names]

    def _take_line(self, line: str) -> None:
        if not line.strip():
            return
        if line.startswith("/") and not line.startswith("//"):
            name, _blank, rest = line[1:].partition(" ")
            self._command(name.strip(), rest.strip())
            return
        text = talks.with_files(line.removeprefix("/") if line.startswith("//") else line, self._files)
        self.said.messages.append(talks.Message(role="user", text=text, images=self._images))
        self._files, self._images = [], []
        self.answer()

    def _command(self, name: str, rest: str) -> None:
        import difflib

        if name not in COMMANDS:
            near = difflib.get_close_matches(name, COMMANDS, 1)
            template = _("There is no command /{name}; /help lists them, and // begins a message with a slash.")
            say(style(template.format(name=visible(name)[:40]) + (f" /{near[0]}?" if near else ""), fg="red"))
            return
        COMMANDS[name].act(self, rest)

    # -- answers -----------------------------------------------------------------------------------------

    def answer(self) -> None:
        """The model's answer to what was said; one that breaks off or is stopped stays as far as it came."""
        shown = screen(self._options.markdown)
        message = talks.Message(role="assistant", text="")
        trouble = ""
        try:
            with self._interrupts.stop():
                for piece in self.endpoint.answer(self.said.model, self.said.sent(), self.said.settings):
                    _keep(message, piece.text, piece.thought)
                    shown.piece(piece)
        except KeyboardInterrupt:
            trouble, message.cut = _("Stopped."), True
        except EndpointError as error:
            ended = self._options.engines.why() if self._options.engines else ""
            trouble, message.cut = sentences(str(error), ended), True
        finally:
            shown.end()
        self._last = self.endpoint.measure
        if message.text or message.thought:
            self.said.messages.append(message)
        self._measure(message, trouble)

    def _measure(self, message: "Message", trouble: str) -> None:
        """What it took, and what went wrong."""
        if trouble:
            say(style(trouble, fg="yellow"))
            say(style(_("/retry asks again."), dim=True))
        elif self.endpoint.measure.end.finish == "length":
            say(style(_("The answer was cut at its longest: max-tokens, or the end of the context."), fg="yellow"))
        elif not message.text:
            say(style(_("The model said nothing."), fg="yellow"))
        if figures := measured(self.endpoint.measure, self.endpoint.about.context):
            click.echo(style(figures, dim=True))
        click.echo()

    # -- commands ----------------------------------------------------------------------------------------

    def help(self, _rest: str) -> None:
        """All commands."""
        for name, command in COMMANDS.items():
            click.echo("\n".join(wrapped(_(command.told), f"  {('/' + name + ' ' + _(command.words)).strip():<22}", " " * 24)))
        say(_("Enter sends; Alt-Enter, Ctrl-J or a backslash before Enter begins another line. Ctrl-C stops an answer, Ctrl-D leaves."))

    def model(self, rest: str) -> None:
        """Show models, or talk to another."""
        listed = self._models()
        if not rest:
            for name in listed[:_MOST_NAMES]:
                click.echo(("* " if name == self.said.model else "  ") + name)
            if not listed:
                say(_("The endpoint lists no models."))
            return
        if self._options.engines is not None:
            self._start(rest)
            return
        if listed and rest not in listed:
            raise ParameterError(_("The endpoint has no model {name}; /model lists them.").format(name=rest[:100]))
        self.said.model = rest
        self._last = None

    def _start(self, model: str) -> None:
        """Another engine, or the one before where it does not start. What was said stays."""
        engines = self._options.engines
        assert engines is not None  # noqa: S101
        self.endpoint.close()
        engines.settings = self.said.settings
        try:
            with self._interrupts.stop():
                engines.start(model)
        except KeyboardInterrupt:
            raise EndpointError("engine", _("Stopped; no engine runs now. /model NAME starts one.")) from None
        finally:
            if engines.endpoint is not None:
                self.endpoint = engines.endpoint
                self.endpoint.look()
                self.said.model, self._last = self.endpoint.called, None

    def system(self, rest: str) -> None:
        """Show the system prompt, or set it."""
        if rest:
            self.said.settings[SYSTEM] = value_of(named(SYSTEM), rest)
        say(str(self.said.settings.get(SYSTEM) or _("There is no system prompt.")))

    def set(self, rest: str) -> None:
        """Set a parameter."""
        name, _blank, value = rest.partition(" ")
        row = named(name)
        if value.strip():
            self.said.settings[row.name] = value_of(row, value.strip())
            if row.name == TEMPLATE and self._options.engines is not None:
                self._start(self._options.engines.model)  # an engine reads it at its start
            elif not row.names.get(self.endpoint.about.kind) and row.name != SYSTEM:
                say(style(_("This endpoint does not take {name}; it is not sent.").format(name=row.name), fg="yellow"))
            return
        say(f"{row.name} = {self.said.settings.get(row.name, row.usual)}  ({row.range_text()})")
        say(_(row.effect))

    def unset(self, rest: str) -> None:
        """Take a parameter back."""
        name = named(rest).name
        self.said.settings.pop(name, None)
        if name == TEMPLATE and self._options.engines is not None and self._options.engines.template:
            self._options.engines.template = ""
            self._start(self._options.engines.model)

    def params(self, _rest: str) -> None:
        """All parameters, as they are."""
        apart = (SYSTEM,) if self._options.engines is None else (SYSTEM, TEMPLATE)
        click.echo(parameter_lines(self.said.settings, self.endpoint.about.kind, apart))

    def save(self, rest: str, replace: bool = False) -> None:
        """Keep the talk in a file."""
        if not rest:
            raise talks.ConversationError(_("Name a file: /save talk.json"))
        try:
            talks.save(self.said, rest, replace)
        except FileExistsError as error:
            raise talks.ConversationError(_("{path} exists; /save! replaces it.").format(path=rest[:300])) from error
        say(_("Saved to {path}, for you alone to read.").format(path=rest))

    def replace(self, rest: str) -> None:
        """Keep it in a file that exists."""
        self.save(rest, replace=True)

    def load(self, rest: str) -> None:
        """Go on with a talk that was kept."""
        found = talks.load(rest)
        found.model = self.said.model  # whoever saved it had other models
        self.said, self._last = found, None
        say(_("{count} messages; the talk goes on from there.").format(count=len(found.messages)))

    def retry(self, _rest: str) -> None:
        """Ask the last question again."""
        last = self.said.taken_back()
        if last is None:
            raise talks.ConversationError(_("Nothing was asked yet."))
        self.said.messages.append(last)
        if self._options.engines is not None and self._options.engines.why():
            self._start(self._options.engines.model)
        self.answer()

    def edit(self, _rest: str) -> None:
        """Change the last question, and ask it."""
        last = self.said.taken_back()
        if last is None:
            raise talks.ConversationError(_("Nothing was asked yet."))
        self._begun, self._images = last.text, last.images

    def image(self, rest: str) -> None:
        """Show an image with the next message."""
        if self.endpoint.about.sees is False:
            say(style(_("This model does not see; it is likely to be refused."), fg="yellow"))
        self._images.append(talks.picture_of(rest))

    def file(self, rest: str) -> None:
        """Put a file's text behind the next message."""
        self._files.append(talks.text_of(rest))

    def clear(self, _rest: str) -> None:
        """Forget what was said."""
        self.said.messages.clear()
        self._files, self._images, self._last = [], [], None
        say(_("What was said is forgotten; the settings stay."))

    def quit(self, _rest: str) -> None:
        """Leave."""
        raise Leave


class Command(NamedTuple):
    """A command: what follows its name, what it does in words, and what does it."""

    words: str
    told: str
    act: Callable[[Talk, str], None]


COMMANDS = {
    "help": Command("", N_("what can be typed"), Talk.help),
    "model": Command(N_("[NAME]"), N_("the models, or talk to another"), Talk.model),
    "system": Command(N_("[TEXT]"), N_("the system prompt, or another; @FILE reads it"), Talk.system),
    "set": Command(N_("NAME [VALUE]"), N_("what a parameter is, or another value"), Talk.set),
    "unset": Command(N_("NAME"), N_("a parameter as it is usually"), Talk.unset),
    "params": Command("", N_("all parameters, with ranges and effects"), Talk.params),
    "image": Command(N_("PATH"), N_("an image with the next message"), Talk.image),
    "file": Command(N_("PATH"), N_("a file's text behind the next message"), Talk.file),
    "retry": Command("", N_("the last question again"), Talk.retry),
    "edit": Command("", N_("change the last question, and ask it"), Talk.edit),
    "save": Command(N_("FILE"), N_("keep the talk in a file"), Talk.save),
    "save!": Command(N_("FILE"), N_("the same, over a file that exists"), Talk.replace),
    "load": Command(N_("FILE"), N_("go on with a talk that was kept"), Talk.load),
    "clear": Command("", N_("forget what was said"), Talk.clear),
    "quit": Command("", N_("leave (or Ctrl-D)"), Talk.quit),
}


def _keep(message: "Message", text: str, thought: bool) -> None:
    if thought:
        message.thought += text
    else:
        message.text += text


def say(text: str) -> None:
    """A paragraph."""
    click.echo("\n".join(wrapped(text)))
    sys.stdout.flush()


def parameter_lines(settings: dict[str, object], kind: str = "", apart: Sequence[str] = ()) -> str:
    """The table of parameters: name, value, range, effect; what the endpoint does not take is marked.

    Those of `apart` are no part of a request, and hold all the same.
    """
    lines = []
    for row in parameters():
        value = settings.get(row.name, row.usual)
        shown = str(value).replace("\n", " ")
        taken = not kind or row.name in apart or bool(row.names.get(kind))
        head = f"{row.name:<18} {shown[:20] or '-':<8} {row.range_text()}"
        effect = sentences("" if taken else _("This endpoint does not take it."), _(row.effect))
        lines += [style(head, bold=row.name in settings), *wrapped(effect, "    ", "    ")]
    return "\n".join(lines)
