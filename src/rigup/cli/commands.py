"""All commands: one file each, loaded when it is called. Help works even where detection fails."""

import importlib
import sys
from typing import Any

import click

from rigup import __version__
from rigup.cli.empty import refusing_empty
from rigup.cli.help import HELP_OPTIONS, translated
from rigup.language import N_, SUPPORTED, _, choose, sentences, speaks

# Name → (module, what it does): so that help names every command without importing one.
COMMANDS = {
    "doctor": ("rigup.cli.doctor", N_("Read this machine, or a report of another; name the root cause.")),
    "diff": ("rigup.cli.diff", N_("Tell what differs between two machines, or two states of one.")),
    "plan": ("rigup.cli.plan", N_("Choose a stack that this machine can run, with each step and why.")),
    "fix": ("rigup.cli.fix", N_("Show the steps that mend a finding; take them when you agree.")),
    "apply": ("rigup.cli.apply", N_("Make it so: take the steps of a plan, after asking.")),
    "undo": ("rigup.cli.undo", N_("Take the last run of apply or fix back.")),
    "history": ("rigup.cli.history", N_("Show what apply and fix have done here.")),
    "verify": ("rigup.cli.verify", N_("Prove on every device that an environment computes right.")),
    "env": ("rigup.cli.env", N_("List, show, copy, remove and export environments.")),
    "run": ("rigup.cli.run", N_("Run a program in an environment, with its devices' variables.")),
    "container": ("rigup.cli.container", N_("Start containers with the GPU; check the files that describe them.")),
    "lab": ("rigup.cli.lab", N_("Start Jupyter Lab here or elsewhere; look after its kernels.")),
    "launch": ("rigup.cli.launch", N_("Launch training on one node or many, and tell which rank failed.")),
    "train": ("rigup.cli.train", N_("Check training scripts, port them, or begin a new project.")),
    "advise": ("rigup.cli.advise", N_("Tell which allocation of the cluster ends the work soonest.")),
    "cluster": ("rigup.cli.cluster", N_("Show what of a Slurm cluster stands idle, and what it is worth.")),
    "lock": ("rigup.cli.lock", N_("Write what was resolved, with hashes and reasons, to make it anew.")),
    "bundle": ("rigup.cli.bundle", N_("Pack a lock with all its files, for machines without a network.")),
    "watch": ("rigup.cli.watch", N_("Watch every GPU: use, memory, heat, power, errors, processes.")),
    "bench": ("rigup.cli.bench", N_("Measure how fast each device is.")),
    "fit": ("rigup.cli.fit", N_("Tell whether a model fits, where, how fast, and what to change.")),
    "chat": ("rigup.cli.chat", N_("Talk to a language model, or ask it one thing from a script.")),
    "ollama": ("rigup.cli.ollama", N_("Tell what ollama's service really runs with, and configure it.")),
    "pull": ("rigup.cli.pull", N_("Load a language model, after telling whether it runs here.")),
    "serve": ("rigup.cli.serve", N_("Serve language models behind OpenAI's interface, with a key.")),
    "models": ("rigup.cli.models", N_("List the language models on this machine, and remove one.")),
    "capture": ("rigup.cli.capture", N_("Archive what the doctor reads here, without what is private.")),
    "explain": ("rigup.cli.explain", N_("Tell what a cause means, how it is recognised and what mends it.")),
    "knowledge": ("rigup.cli.knowledge", N_("Show a row of the tables of what is known, with its source.")),
    "schema": ("rigup.cli.schema", N_("Print the JSON Schema of what a command answers with --json.")),
    "completion": ("rigup.cli.completion", N_("Print the completion script of a shell.")),
}

# How help groups them: by what a person is about.
SECTIONS = {
    N_("Find what is wrong"): ("doctor", "fix", "explain", "diff", "capture"),
    N_("Set up an environment, and prove it"): ("plan", "apply", "undo", "history", "verify", "env", "run", "lock", "bundle"),
    N_("Run language models"): ("fit", "pull", "models", "chat", "serve", "ollama"),
    N_("Train, on one GPU or a cluster"): ("train", "launch", "advise", "cluster"),
    N_("Containers and notebooks"): ("container", "lab"),
    N_("Watch and measure"): ("watch", "bench"),
    N_("Look things up"): ("knowledge", "schema", "completion"),
}


class Commands(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """All commands, in the order in which help has them."""
        return [name for names in SECTIONS.values() for name in names]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """One command, imported."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[cmd_name][0]).command
        return refusing_empty(translated(command))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what a workflow refuses is raised as an error of click."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.Abort, click.exceptions.Exit, OSError):
            raise
        except Exception as error:
            from rigup.cli.failing import as_click_error

            if (click_error := as_click_error(error)) is None:
                raise
            raise click_error from error

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that a word names; of one that names none, the error lists those that are spelt like it."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            raise click.UsageError(sentences(error.message, _near(args[0])), ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The lists of commands, without importing them, with their texts in one column."""
        widest = max(map(len, COMMANDS))
        for title, names in SECTIONS.items():
            with formatter.section(_(title)):
                formatter.write_dl([(name.ljust(widest), _(COMMANDS[name][1])) for name in names])


def _near(word: str) -> str:
    """A sentence with the commands that are spelt like a word; "" without any."""
    import difflib

    near = difflib.get_close_matches(word, COMMANDS, 3)
    return _("Near it are: {near}.").format(near=", ".join(near)) if near else ""


def _language(_ctx: click.Context, _param: click.Parameter, value: str | None) -> None:
    if value is not None and not speaks(value):
        sentence = _("There is no language {language}. There are: {languages}.")
        raise click.BadParameter(sentence.format(language=value[:60], languages=", ".join(SUPPORTED)))
    choose(value)
    translated(main)


@click.group(cls=Commands, context_settings={"help_option_names": HELP_OPTIONS, "max_content_width": 100})
@click.version_option(__version__, prog_name="rigup", message="%(prog)s %(version)s")
@click.option(
    "--lang",
    metavar="LANGUAGE",
    expose_value=False,
    is_eager=True,
    callback=_language,
    help="Language of all texts: en, ru, zh_CN, zh_TW. By default your locale's.",
)
def main() -> None:
    """Take a machine with any GPU, or none, to a deep-learning environment that is proven to work.

    Start with `rigup doctor`. It changes nothing.
    """


def run(argv: list[str]) -> int:
    """Run one command line; its exit status."""
    choose()  # before click says anything: help and a wrong option are met before --lang is
    translated(main)
    return _status(main, argv)


def failed(error: BaseException, argv: list[str]) -> int:
    """Tell what went wrong in a command that was understood without click, as in any other; its exit status."""

    def again() -> None:
        raise error

    return _status(Commands("rigup", invoke_without_command=True, callback=again), argv, [])


def _status(command: click.Command, argv: list[str], words: list[str] | None = None) -> int:
    """Run a command with `argv`, or with other words; what it raises is told."""
    try:
        returned: Any = command.main(argv if words is None else words, prog_name="rigup", standalone_mode=False)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        _tell(error, argv)
        return int(getattr(error, "status", 2))
    except click.Abort:
        click.echo(_("Stopped; nothing was changed."), err=True)
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except Exception as error:
        from rigup.cli.own_fault import report_fault

        return report_fault(error)
    return returned if isinstance(returned, int) else 0


def _tell(error: click.ClickException, argv: list[str]) -> None:
    """How a command is used and what is wrong, in lines no wider than those of a report."""
    from io import StringIO

    from rigup.cli.layout import columns, width, wrapped

    shown = StringIO()
    error.show(file=shown)
    for line in _outward(shown.getvalue(), argv).splitlines():
        click.echo("\n".join(wrapped(line) if columns(line) > width() else [line]), err=True)


def _outward(message: str, argv: list[str]) -> str:
    """A message without its secrets; where the tables that find them cannot be read, the error instead.

    Words that were typed are looked through by themselves too: within a sentence their lines and quotes are others.
    """
    from rigup.knowledge.compile import KnowledgeError
    from rigup.machine.outward import outward_text

    try:
        for word in argv:
            if (clean := outward_text(word)) != word:
                message = message.replace(word, clean).replace(repr(word)[1:-1], repr(clean)[1:-1])
        return outward_text(message)
    except KnowledgeError as error:
        return str(error)
