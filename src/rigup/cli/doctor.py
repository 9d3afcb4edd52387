"""`rigup doctor`: read a machine, name the root cause."""

import sys
from typing import TYPE_CHECKING, Any

import click

from rigup.cli.data import data_text
from rigup.cli.doctor_answer import look, rendered, shareable, status, wants_color
from rigup.language import _, choose

if TYPE_CHECKING:
    from rigup.schemas.doctor import Doctor


@click.command("doctor")
@click.option("--from", "source", metavar="PATH", help="A report, a log, a folder of them or a captured tree; - reads standard input.")
@click.option(
    "--host",
    "hosts",
    multiple=True,
    metavar="USER@NODE",
    help="Another machine, asked by your own ssh; nothing is installed or left there. May be given several times.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.doctor/1).")
@click.option("-v", "--verbose", count=True, help="-v: all evidence with its sources; -vv: every fact.")
@click.option("--html", "page", metavar="FILE", help="Write the report as one HTML file, too.")
@click.option(
    "--with-values",
    is_flag=True,
    help="Leave in what is left out by default: values of variables that GPUs do not need, and what looks like a secret.",
)
@click.option("--issue", is_flag=True, help="Print a short Markdown report for a forum, without what is private.")
@click.option("--devices", "of_devices", is_flag=True, help="Tell of each device what it cannot do, and who says so.")
@click.option("--since-ok", is_flag=True, help="Tell what has changed since the last run that found all well.")
@click.option("--show-access", is_flag=True, help="Print exactly what is read on this machine, and read nothing.")
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar="[-- PROGRAM [ARGUMENT]...]")
@click.option("--wake", is_flag=True, help="Ask also cards that are asleep; this wakes them.")
def command(source: str | None, hosts: tuple[str, ...], program: tuple[str, ...], wake: bool, **form: Any) -> int:
    """Read this machine and name the root cause of what keeps a GPU from its work.

    Nothing is changed, and nothing is sent anywhere. With --from the same is done for somebody else's
    machine: give the text that a program printed, or several of them in a folder. With -- and a program
    that is run, its exit status is kept, and what it dies of is diagnosed.
    """
    if form["as_json"]:
        choose("en")  # data is the same in every language
    if form["show_access"]:
        click.echo(access())
        return 0
    if program:
        from rigup.cli.program_report import run_and_diagnose

        return run_and_diagnose(program, form["as_json"], form["verbose"], wake, wants_color(), form["since_ok"], form["with_values"])
    if form["since_ok"] and (hosts or source is not None):
        raise click.UsageError(_("--since-ok is about this machine; two others are compared with `rigup diff A B`."))
    if hosts:
        return _others(source, hosts, form, wake)
    if form["issue"]:
        return _issue(source, wake)
    answer = look(source, wake, form["since_ok"])
    if form["page"] == "-":
        click.echo(_page(answer, source is None, form["with_values"]), nl=False)
        return status(answer)
    if form["page"]:
        _write_page(form["page"], answer, source is None, form["with_values"])
    click.echo(_render(shareable(answer, form["with_values"]), form, source is None), color=wants_color())
    return status(answer)


def _render(answer: "Doctor", form: dict[str, Any], here: bool) -> str:
    """The answer in the form that was asked for."""
    if form["of_devices"]:
        from rigup.cli.devices import text as of_devices
        from rigup.cli.devices import with_limits

        answer = with_limits(answer)
        if not form["as_json"]:
            return of_devices(answer, wants_color())
    return rendered(answer, form["as_json"], form["verbose"], here, form["with_values"])


def _page(answer: "Doctor", here: bool, with_values: bool) -> str:
    from rigup.cli.page import page
    from rigup.machine.outward import for_others

    return page(answer if with_values else for_others(answer), here)


def _write_page(path: str, answer: "Doctor", here: bool, with_values: bool) -> None:
    """The page is for its owner alone to read, follows no link and replaces nothing unless somebody says so."""
    from rigup.machine.private_file import write

    body = _page(answer, here, with_values).encode("utf-8", "replace")
    try:
        write(path, lambda file: file.write(body), _may_replace(path))
    except FileExistsError as error:
        sentence = _("{path} exists and is left as it is. Give another name.")
        raise click.ClickException(sentence.format(path=path)) from error
    except OSError as error:
        sentence = _("The report could not be written to {path}: {error}.")
        raise click.ClickException(sentence.format(path=path, error=error.strerror)) from error


def _may_replace(path: str) -> bool:
    """Whether something stands there, and a person says that it may go."""
    import os

    asks = os.path.lexists(path) and sys.stdin.isatty() and sys.stderr.isatty()
    return asks and click.confirm(_("{path} exists. Replace it?").format(path=path), default=False, err=True)


def _issue(source: str | None, wake: bool) -> int:
    from rigup.cli.issue import issue

    report, status = issue(source, wake)
    click.echo(report)
    return status


def _others(source: str | None, hosts: tuple[str, ...], form: dict[str, Any], wake: bool) -> int:
    """Other machines. One that answers is printed as this one would be, several as a table and then each."""
    from rigup.cli.hosts import answers, text
    from rigup.cli.hosts import status as status_of_all
    from rigup.machine.outward import outward_text
    from rigup.schemas.doctor import Doctor, Hosts

    if source is not None:
        raise click.UsageError(_("Give --from or --host: a report of a machine, or a machine to ask."))
    by_name = answers(hosts, wake)
    by_host = {outward_text(name): shareable(answer, form["with_values"]) for name, answer in by_name.items()}
    if not form["as_json"]:
        click.echo(text(by_host, form["verbose"], wants_color()), color=wants_color())
        return status_of_all(by_host)
    alone = next(iter(by_host.values())) if len(by_host) == 1 else None
    click.echo(data_text(alone if isinstance(alone, Doctor) else Hosts(hosts=dict(by_host)), with_values=True))
    return status_of_all(by_host)


def access() -> str:
    """Everything that the doctor reads, by what it looks for."""
    from rigup.machine import readers  # noqa: F401  (registers them)
    from rigup.machine.reader import READERS, shown

    lines = [_("rigup doctor reads these files and runs these programs, and nothing else:"), ""]
    for name in sorted(READERS):
        inputs = [shown(query) for query in READERS[name].inputs]
        if inputs:
            about = ", ".join(kind.__name__ for kind in READERS[name].about)
            lines += [name.replace("_", " ") + " (" + about + ")", *("    " + query for query in inputs)]
    return "\n".join(lines)
