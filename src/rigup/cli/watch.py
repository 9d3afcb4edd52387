"""`rigup watch`: every GPU of this machine, live, recorded and exported."""

import contextlib
import sys
from typing import Any

import click

from rigup.cli.arguments import click_errors
from rigup.cli.env_group import Environments
from rigup.language import choose

_LEAST = 0.1  # seconds between two samples


class _Watch(Environments):
    """What stands behind `--` is a program's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Options and a command; the program is kept aside."""
        at = args.index("--") if "--" in args else len(args)
        ctx.meta["program"] = tuple(args[at + 1 :])
        return super().parse_args(ctx, args[:at])


@click.group("watch", cls=_Watch, invoke_without_command=True)
@click.option("--once", is_flag=True, help="One sample as a table.")
@click.option(
    "--json", "as_json", is_flag=True, help="Samples as data, one a line (schema rigup.watch/1); with --once one alone."
)
@click.option("--jsonl", is_flag=True, help="As --json.")
@click.option("--csv", "as_csv", is_flag=True, help="Samples as rows of numbers, a row a GPU.")
@click.option(
    "--interval", type=click.FloatRange(min=_LEAST), default=1.0, metavar="SECONDS", help="Time between two samples."
)
@click.option("--count", type=click.IntRange(min=1), default=None, metavar="N", help="End after so many samples.")
@click.option(
    "--from",
    "tree",
    type=click.Path(exists=True, file_okay=False),
    default=None,
    metavar="TREE",
    help="A captured machine: one sample.",
)
@click.option("--anonymous", is_flag=True, help="Leave the name of this machine out.")
@click.pass_context
def command(context: click.Context, /, as_json: bool, jsonl: bool, as_csv: bool, **options: Any) -> int:
    """Watch every GPU: use, memory, heat, power, links, errors, and the processes on them.

    Nothing is changed, and a card that sleeps is not woken. What the hardware does not tell is shown as a dash.
    """
    if context.invoked_subcommand is not None:
        return 0
    if as_json or jsonl or as_csv:
        choose("en")  # data is the same in every language
    with click_errors():
        return _stream(options, "csv" if as_csv else "json" if as_json or jsonl else "table")


def _stream(options: dict[str, Any], form: str) -> int:
    """Samples to standard output, until there are enough or somebody stops it."""
    from rigup.watch.watcher import Watcher

    watcher = Watcher(options["tree"], options["anonymous"])
    single = options["once"] or options["tree"] is not None
    count = 1 if single else options["count"]
    with contextlib.closing(watcher):
        status = 0
        with contextlib.suppress(KeyboardInterrupt):
            for number, sample in enumerate(watcher.samples(options["interval"], count)):
                _print(sample, form, number)
                status = int(any(finding.severity == "error" for finding in sample.findings))
        return status if form == "table" else 0


def _print(sample: Any, form: str, number: int) -> None:
    if form == "table":
        from rigup.cli.watch_table import table

        click.echo(table(sample, sys.stdout.isatty()))
    elif form == "csv":
        from rigup.cli.watch_csv import rows

        click.echo(rows(sample, with_head=number == 0), nl=False)
    else:
        click.echo(json_line(sample))
    sys.stdout.flush()


def json_line(sample: Any) -> str:
    """A sample as one line, without what is private."""
    import json

    import msgspec

    from rigup.machine.outward import outward

    return json.dumps(outward(msgspec.to_builtins(sample)), ensure_ascii=False)
