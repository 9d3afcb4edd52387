"""Help in the language in force, laid out by width as it is seen: click counts letters, not columns."""

from collections.abc import Iterable, Iterator

import click

from rigup.language import _, current

HELP_OPTIONS = ["-h", "--help"]
_WIDEST_NAME = 30  # columns of an option's names, before its help takes a line of its own


class Formatter(click.HelpFormatter):
    """Click's formatter, for scripts whose letters take two columns and do not part words by blanks."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """How a command is called; no blank behind a colon that takes two columns."""
        from rigup.cli.layout import wrapped

        head = prefix or _("{label}: ").format(label=_("Usage:").rstrip(":："))
        self._lines(wrapped(args, " " * self.current_indent + head + prog + " ", most=self.width))

    def write_heading(self, heading: str) -> None:
        """A heading, with the colon of its script."""
        self.write(" " * self.current_indent + _("{label}: ").format(label=heading).rstrip() + "\n")

    def write_text(self, text: str) -> None:
        """Paragraphs, each wrapped."""
        from rigup.cli.layout import unbroken, wrapped

        for number, paragraph in enumerate(text.split("\n\n")):
            if number:
                self.write("\n")
            self._lines(wrapped(unbroken(paragraph), " " * self.current_indent, most=self.width))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = _WIDEST_NAME, col_spacing: int = 2) -> None:
        """Names with what they mean, in two columns."""
        from rigup.cli.layout import columns, padded, wrapped

        rows = list(rows)
        indent = " " * self.current_indent
        room = min(max((columns(name) for name, _told in rows), default=0), col_max) + col_spacing
        for name, meaning in rows:
            head = indent + padded(name, room)
            if columns(name) + col_spacing > room:
                self.write(indent + name + "\n")
                head = indent + " " * room
            self._lines(wrapped(meaning, head, most=self.width) if meaning else [head.rstrip()])

    def _lines(self, lines: list[str]) -> None:
        self.write("".join(line + "\n" for line in lines))


click.Context.formatter_class = Formatter


def spoken(command: click.Command | None) -> Iterator[str]:
    """The texts of a command that its help shows."""
    if command is None:
        return
    if command.help:
        yield _plain(command.help)
    yield from (option.help for option in command.params if isinstance(option, click.Option) and option.help)
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        yield from spoken(inner)


def _plain(text: str) -> str:
    """A docstring's text without its indentation: what translators see."""
    from inspect import cleandoc

    return cleandoc(text)


def translated(command: click.Command) -> click.Command:
    """The command, its help in the language in force."""
    if current() != "en" or "source_help" in command.__dict__:
        _translate(command)
        # Click makes this one by itself, once, in the language in force then: for `rigup` before --lang is read.
        if help_option := command.get_help_option(click.Context(command, help_option_names=HELP_OPTIONS)):
            help_option.help = _("Show this message and exit.")
        for option in command.params:
            if isinstance(option, click.Option):
                _translate(option)
        for inner in command.commands.values() if isinstance(command, click.Group) else ():
            translated(inner)
    return command


def _translate(command: click.Command | click.Option) -> None:
    """Always from the source text: a process may be asked in two languages."""
    source = command.__dict__.setdefault("source_help", command.help)
    if source:
        command.help = _(_plain(source))
