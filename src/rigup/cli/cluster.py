"""`rigup cluster`: what of a Slurm cluster stands idle, who may use it, and what waits."""

from typing import IO, TYPE_CHECKING

import click

from rigup.cli.arguments import click_errors
from rigup.cli.failing import WrongRequest
from rigup.cli.groups import CommandGroup
from rigup.language import _, choose

if TYPE_CHECKING:
    from rigup.workflows.cluster_doctor import Deeper


@click.group("cluster", cls=CommandGroup, invoke_without_command=True)
@click.option(
    "--from",
    "sources",
    multiple=True,
    type=click.Path(exists=True),
    metavar="PATH",
    help="Dumps of Slurm's commands: files, or a folder of them.",
)
@click.option("--map", "as_map", is_flag=True, help="Show every node as a letter.")
@click.option("--html", "page", type=click.Path(dir_okay=False), metavar="FILE", help="Write a page.")
@click.option("--names", is_flag=True, help="Show other people's names, too.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.cluster/1).")
@click.pass_context
def command(context: click.Context, /, sources: tuple[str, ...], as_map: bool, page: str | None, names: bool, as_json: bool) -> int:
    """Show which GPUs of a Slurm cluster stand idle, for whom, and what each is worth.

    Nothing is changed. Each of Slurm's commands is asked at most once, and its answer serves for half a minute.
    """
    if context.invoked_subcommand is not None:
        return 0
    if as_json:
        choose("en")  # data is the same in every language
    import msgspec

    from rigup.cli.cluster_report import map_text, page_text, table_text
    from rigup.workflows.clusters import NoCluster, cluster

    try:
        with click_errors():
            answer = cluster(list(sources), names)
    except NoCluster as error:
        raise WrongRequest(str(error)) from error
    if page is not None:
        with click_errors(), open(page, "w", encoding="utf-8") as file:
            file.write(page_text(answer))
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(answer), indent=1).decode())
    elif page is None:
        click.echo(map_text(answer) if as_map else table_text(answer))
    else:
        click.echo(_("Written: {path}").format(path=page))
    return 0


@command.command("doctor")
@click.option("--partition", default="", metavar="NAME", help="The nodes of one partition.")
@click.option("--hosts", type=click.File(), metavar="FILE", help="Hosts for ssh in place of Slurm's nodes, a name or a range a line.")
@click.option("--deep", is_flag=True, help="Also verify devices, and measure disks and links; takes whole nodes.")
@click.option("--env", "environment", default="", metavar="ENV", help="With --deep: the environment that computes.")
@click.option("--python", default="", metavar="PATH", help="In its place: an interpreter as nodes call it.")
@click.option("--seconds", type=click.FloatRange(1, 3600), default=120.0, metavar="N", help="That devices of a node may take.")
@click.option("--disk", "folders", multiple=True, metavar="FOLDER", help="With --deep: disks to be measured.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.doctor/1).")
@click.pass_context
def doctor(
    context: click.Context,
    /,
    partition: str,
    hosts: IO[str] | None,
    deep: bool,
    environment: str,
    python: str,
    seconds: float,
    folders: tuple[str, ...],
    as_json: bool,
) -> int:
    """Examine every node, and tell what is wrong or not as on its sisters.

    One srun asks all nodes that have a processor free, or ssh the hosts of a file. Nothing is changed or left there.
    With --deep it has whole nodes for some minutes: torch of ENV computes on their devices, and an all-reduce crosses links.
    """
    if as_json:
        choose("en")
    from rigup.cli.cluster_doctor_report import doctor_text
    from rigup.cli.data import data_text
    from rigup.cli.hosts import error as failure_told
    from rigup.workflows.cluster_doctor import of_hosts, of_slurm
    from rigup.workflows.clusters import NoCluster, kept_folder

    if not deep and (environment or python or folders):
        raise click.UsageError(_("--env, --python and --disk go with --deep."), context)
    try:
        with click_errors():
            deeper = _deeper(environment, python, seconds, folders) if deep else None
            answer = (
                of_hosts(hosts.read(), lambda failure: failure_told(failure).because, deeper)
                if hosts
                else of_slurm(partition, kept_folder(), deeper)
            )
    except NoCluster as error:
        raise WrongRequest(str(error)) from error
    click.echo(data_text(answer) if as_json else doctor_text(answer))
    return {"unknown": 2, "healthy": 0}.get(answer.verdict, 1)


def _deeper(environment: str, python: str, seconds: float, folders: tuple[str, ...]) -> "Deeper":
    """What is to be measured. Raises click.ClickException."""
    import os

    from rigup.verify.environment import VerifyError, interpreter
    from rigup.workflows.cluster_doctor import Deeper

    if python.startswith("-") or any(not folder.startswith("/") for folder in folders):
        raise click.UsageError(_("--python is an interpreter, and --disk a folder by its whole path."))
    try:
        python = python or interpreter(environment, os.environ)
    except VerifyError as error:
        raise click.ClickException(str(error)) from error
    return Deeper(python, seconds, folders, lambda text: click.echo(text, err=True))


@command.command("report")
@click.option(
    "--from", "sources", multiple=True, type=click.Path(exists=True), metavar="PATH", help="Dumps of sacct: files, or a folder of them."
)
@click.option("--days", type=click.IntRange(1, 3660), default=7, show_default=True, help="How far back.")
@click.option("--accounts", is_flag=True, help="Add sums by account, for administrators.")
@click.option("--names", is_flag=True, help="Show other people's names, too.")
@click.option("--html", "page", type=click.Path(dir_okay=False), metavar="FILE", help="Write a page.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.cluster-report/1).")
def report(sources: tuple[str, ...], days: int, accounts: bool, names: bool, page: str | None, as_json: bool) -> int:
    """Tell which GPUs and how much memory jobs asked for and did not use, and how long they waited.

    From Slurm's accounting, and from the histories of your own trainings. Nothing is changed.
    """
    if as_json:
        choose("en")
    from rigup.cli.cluster_usage import report_page, report_text
    from rigup.cli.data import data_text
    from rigup.workflows.cluster_reporting import cluster_report
    from rigup.workflows.clusters import NoCluster

    try:
        with click_errors():
            answer = cluster_report(list(sources), days, accounts, names)
            if page is not None:
                with open(page, "w", encoding="utf-8") as file:
                    file.write(report_page(answer))
    except NoCluster as error:
        raise WrongRequest(str(error)) from error
    if as_json:
        click.echo(data_text(answer))
    else:
        click.echo(report_text(answer) if page is None else _("Written: {path}").format(path=page))
    return 0
