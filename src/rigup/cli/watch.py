"""`rigup watch`: every GPU of this machine, live, recorded and exported."""

import contextlib
import itertools
import os
import sys
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import click

from rigup.cli.arguments import BehindDashes, click_errors
from rigup.cli.groups import CommandGroup
from rigup.cli.lasting import lasts
from rigup.language import _, choose

if TYPE_CHECKING:
    from rigup.schemas.watch import Watch

_LEAST = 0.1  # seconds between two samples


class _Watch(BehindDashes, CommandGroup):
    """What stands behind `--` is a program's."""


@click.group("watch", cls=_Watch, invoke_without_command=True)
@click.option("--once", is_flag=True, help="One sample as a table.")
@click.option("--json", "as_json", is_flag=True, help="Samples as data, one a line (schema rigup.watch/1); with --once one alone.")
@click.option("--jsonl", is_flag=True, help="As --json.")
@click.option("--csv", "as_csv", is_flag=True, help="Samples as rows of numbers, a row a GPU.")
@click.option("--interval", type=click.FloatRange(min=_LEAST), default=1.0, metavar="SECONDS", help="Time between two samples.")
@click.option("--count", type=click.IntRange(min=1), default=None, metavar="N", help="End after so many samples.")
@click.option(
    "--record", type=click.Path(dir_okay=False), default=None, metavar="FILE", help="Write the samples into a file (SQLite), too."
)
@click.option(
    "--replay",
    type=click.Path(exists=True, dir_okay=False),
    default=None,
    metavar="FILE",
    help="The samples of a recording in place of new ones.",
)
@click.option("--plain", is_flag=True, help="Live as a plain table, without graphs and keys.")
@click.option(
    "--theme",
    type=click.Choice(["terminal", "dark", "light", "contrast", "plain"]),
    default=None,
    help="Colours of the live view; NO_COLOR takes none.",
)
@click.option("--exporter", is_flag=True, help="Serve the samples to Prometheus.")
@click.option("--web", is_flag=True, help="Serve a page that shows the samples in a browser.")
@click.option(
    "--host",
    "hosts",
    multiple=True,
    metavar="[USER@]HOST",
    help="With --web: another machine that has rigup, by your own ssh. May be repeated.",
)
@click.option(
    "--node",
    "--scrape",
    "nodes",
    multiple=True,
    metavar="HOST[:PORT]",
    help="With --web: another machine, by its exporter or the address of one. May be repeated.",
)
@click.option(
    "--node-token-file",
    type=click.Path(exists=True, dir_okay=False),
    default=None,
    metavar="FILE",
    help="With --node: the token that those exporters ask for.",
)
@click.option(
    "--listen", default=None, metavar="HOST:PORT", help="Where the exporter (127.0.0.1:9836) or the page (127.0.0.1:9837) listens."
)
@click.option("--per-process", is_flag=True, help="With --exporter: series of each process, too.")
@click.option(
    "--names",
    type=click.Choice(["rigup", "dcgm"]),
    default="rigup",
    help="With --exporter: dcgm adds the series of NVIDIA's DCGM exporter that dashboards ask for.",
)
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False),
    default=None,
    metavar="FILE",
    help="With --exporter and --web: the token that clients must show.",
)
@click.option("--install-service", is_flag=True, help="Let systemd run the exporter for you: shown, and with --yes done.")
@click.option("--remove-service", is_flag=True, help="Take that service away.")
@click.option("-y", "--yes", is_flag=True, help="With --install-service and --remove-service: do it.")
@click.option(
    "--from", "tree", type=click.Path(exists=True, file_okay=False), default=None, metavar="TREE", help="A captured machine: one sample."
)
@click.option("--anonymous", is_flag=True, help="Leave the name of this machine out.")
@click.pass_context
def command(context: click.Context, /, as_json: bool, jsonl: bool, as_csv: bool, **options: Any) -> int:
    """Watch every GPU: use, memory, heat, power, links, errors, and the processes on them.

    `rigup watch -- PROGRAM` records while a program runs, and says what it used. Nothing is changed, and a card that sleeps is not woken. What the hardware does not tell is shown as a dash.
    """
    if context.invoked_subcommand is not None:
        return 0
    if as_json or jsonl or as_csv:
        choose("en")  # data is the same in every language
    program = context.meta["behind"]
    options["listen"] = options["listen"] or ("127.0.0.1:9837" if options["web"] else "127.0.0.1:9836")
    with click_errors():
        if program:
            from rigup.cli.watch_record import run_recorded

            return run_recorded(program, options["record"] or "rigup-watch.db", options["interval"])
        if options["install_service"] or options["remove_service"]:
            from rigup.cli.watch_export import service

            return service(options, options["remove_service"], options["yes"])
        if options["web"]:
            from rigup.cli.watch_web import serve

            return serve(options)
        if options["hosts"] or options["nodes"]:
            raise click.UsageError(_("--host and --node are shown by --web; `rigup watch cluster` asks exporters in a table."))
        if options["exporter"]:
            from rigup.cli.watch_export import export

            return export(options)
        return _stream(context, options, "csv" if as_csv else "json" if as_json or jsonl else "table")


@command.command("report")
@click.argument("file", type=click.Path(exists=True, dir_okay=False), metavar="FILE")
@click.option("--html", "page", type=click.Path(dir_okay=False), default="", metavar="FILE", help="Write one page with plots and tables.")
@click.option("--png", type=click.Path(dir_okay=False), default="", metavar="FILE", help="Write the plots as a picture.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as data (schema rigup.watch-report/1).")
def report(file: str, page: str, png: str, as_json: bool) -> int:
    """Sum a recording up: for each GPU, job and process mean use, most memory, energy, time slowed down."""
    from rigup.cli.watch_record import report as summed_up

    if as_json:
        choose("en")
    with click_errors():
        return summed_up(file, page, png, as_json)


@command.command("cluster")
@click.argument("nodes", nargs=-1, required=True, metavar="HOST[:PORT]...")
@click.option(
    "--token-file", type=click.Path(exists=True, dir_okay=False), default=None, metavar="FILE", help="The token that the exporters ask for."
)
@click.option("--once", is_flag=True, help="One table.")
@click.option("--interval", type=click.FloatRange(min=1), default=5.0, metavar="SECONDS", help="Time between two tables.")
@click.option("--count", type=click.IntRange(min=1), default=None, metavar="N", help="End after so many.")
@click.option("--json", "as_json", is_flag=True, help="As data, one a line (schema rigup.watch-cluster/1).")
def cluster(nodes: tuple[str, ...], token_file: str | None, once: bool, interval: float, count: int | None, as_json: bool) -> int:
    """Watch nodes by their exporters (rigup's or DCGM's), which are asked and nothing else."""
    from rigup.cli.watch_web import cluster as watched

    if as_json:
        choose("en")
    with click_errors():
        return watched(nodes, token_file, interval, 1 if once else count, as_json)


@command.command("prometheus")
@click.argument("what", type=click.Choice(["alerts", "board", "scrape"]))
def prometheus(what: str) -> int:
    """Print alert rules for Prometheus, a board for Grafana, or what makes Prometheus scrape the exporter."""
    from rigup.watch import board

    click.echo({"alerts": board.alerts, "board": board.board, "scrape": board.scraping}[what](), nl=what == "board")
    return 0


def _stream(context: click.Context, options: dict[str, Any], form: str) -> int:
    """Samples to standard output, until there are enough or somebody stops it."""
    single = options["once"] or options["tree"] is not None
    count = 1 if single else options["count"]
    if count != 1:
        lasts()
    status = 0
    drawn_over = form == "table" and not single and sys.stdout.isatty()
    if drawn_over and not options["plain"]:
        from rigup.cli.live.start import can_be_live, has_textual, live, without

        if can_be_live(os.environ):
            return live(options)
        if not has_textual():
            context.call_on_close(without)
    with contextlib.suppress(KeyboardInterrupt), contextlib.closing(_samples(options, count)) as samples:
        for number, sample in enumerate(samples):
            try:
                _print(sample, form, number, drawn_over)
            except BrokenPipeError:  # whoever read has enough; what is recorded is whole all the same
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                return 0
            status = int(any(finding.severity == "error" for finding in sample.findings))
    return status if form == "table" and single else 0


def _samples(options: dict[str, Any], count: int | None) -> "Generator[Watch, None, None]":
    """New samples or those of a recording, written into a file as they pass where that was asked for."""
    from rigup.watch.watcher import Watcher

    if options["replay"]:
        from rigup.cli.watch_record import replayed

        yield from itertools.islice(replayed(options["replay"]), count)
        return
    with contextlib.closing(Watcher(options["tree"], options["anonymous"])) as watcher:
        if options["once"] and options["tree"] is None:
            watcher.prime()
        samples = watcher.samples(options["interval"], count)
        if options["record"]:
            from rigup.cli.watch_record import recorded

            samples = recorded(samples, options["record"])
        with contextlib.closing(samples):
            yield from samples


def _print(sample: "Watch", form: str, number: int, drawn_over: bool) -> None:
    if form == "table":
        from rigup.cli.guard import unguarded
        from rigup.cli.watch_table import table

        text = table(sample, sys.stdout.isatty())
        if drawn_over:  # over the picture before, as many lines as the terminal has
            unguarded(sys.stdout).write("\x1b[H\x1b[J")
            text = "\n".join(text.splitlines()[: max(os.get_terminal_size().lines - 1, 5)])
        click.echo(text)
    elif form == "csv":
        from rigup.cli.watch_csv import rows

        click.echo(rows(sample, with_head=number == 0), nl=False)
    else:
        from rigup.cli.data import json_line

        click.echo(json_line(sample))
    sys.stdout.flush()
