"""`rigup cluster`: what of a Slurm cluster stands idle, who may use it, and what waits."""

import click

from rigup.cli.arguments import click_errors
from rigup.cli.data import data_text
from rigup.cli.env_group import Environments
from rigup.language import _, choose


@click.group("cluster", cls=Environments, invoke_without_command=True)
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
def command(
    context: click.Context, /, sources: tuple[str, ...], as_map: bool, page: str | None, names: bool, as_json: bool
) -> int:
    """Show which GPUs of a Slurm cluster stand idle, for whom, and what each is worth.

    Nothing is changed. Each of Slurm's commands is asked at most once, and its answer serves for half a minute.
    """
    if context.invoked_subcommand is not None:
        return 0
    if as_json:
        choose("en")  # data is the same in every language
    from rigup.cli.cluster_report import map_text, page_text, table_text
    from rigup.workflows.clusters import NoCluster, cluster

    try:
        with click_errors():
            answer = cluster(list(sources), names)
    except NoCluster as error:
        raise click.UsageError(str(error), context) from error
    if page is not None:
        with click_errors(), open(page, "w", encoding="utf-8") as file:
            file.write(page_text(answer))
    if as_json:
        click.echo(data_text(answer, with_values=True))
    elif page is None:
        click.echo(map_text(answer) if as_map else table_text(answer))
    else:
        click.echo(_("Written: {path}").format(path=page))
    return 0
