"""`rigup lab`: Jupyter Lab in an environment, here or elsewhere."""

from typing import Any

import click

from rigup.cli.groups import CommandGroup
from rigup.cli.lab_kernels import kernels
from rigup.language import choose


@click.group("lab", cls=CommandGroup, invoke_without_command=True)
@click.option(
    "--env", "name", default="", metavar="ENV", help="The environment: a path or a name; by default the active one, or the one beside."
)
@click.option(
    "--container", "image", default="", metavar="IMAGE|WISH", help="In a container of this image, with the devices of this machine."
)
@click.option("--dir", "folder", default=".", metavar="FOLDER", help="Where notebooks lie; by default here.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="By default one that is free.")
@click.option(
    "--host", default="", metavar="[USER@]HOST", help="Start it on another machine, by your own ssh; --env and --dir are that machine's."
)
@click.option(
    "--partition",
    default="",
    metavar="NAME",
    help="Run it as a job of a Slurm cluster: here on the login node, or with --host on that one.",
)
@click.option("--time", "limit", default="", metavar="TIME", help="How long the job may run, as Slurm takes it: 90, 4:00:00, 1-0.")
@click.option(
    "--gpus", default="", metavar="[TYPE:]N", help="GPUs that the job shall have; of a container all, none, or numbers such as 0,1."
)
@click.option("--account", default="", metavar="NAME", help="Whose share of the cluster the job is.")
@click.option(
    "--grace",
    type=click.FloatRange(10, 86400),
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="With --host or a job: how long the server waits for a broken connection.",
)
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Holds the token; by default one is made for each run.",
)
@click.option("--extensions", is_flag=True, help="Install also what shows memory and GPUs, git, and a language server.")
@click.option("--log", "logged", is_flag=True, help="Pass on what Jupyter says.")
@click.option("--print", "only", is_flag=True, help="Print the command and the variables; start nothing.")
@click.option(
    "--install-service",
    is_flag=True,
    help="Let your systemd start it when you log in: shows the steps, with --yes takes them; `rigup undo` takes them back.",
)
@click.option("--remove-service", is_flag=True, help="Take that service away: shows the steps, with --yes takes them.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask before something is installed.")
@click.option("--json", "as_json", is_flag=True, help="Print addresses and process as data once it serves (schema rigup.lab/1).")
@click.pass_context
def command(context: click.Context, /, as_json: bool, **wish: Any) -> int:
    """Start Jupyter Lab in an environment, with the variables that the devices need; or look after kernels.

    It listens on this machine alone, and lets in whoever has the token. What the environment lacks is installed by the
    steps of a plan, when you agree. Ctrl-C ends it with its kernels.
    """
    if context.invoked_subcommand is not None:
        return 0
    if as_json:
        choose("en")  # data is the same in every language
    if wish["install_service"] or wish["remove_service"]:
        from rigup.cli.lab_service import service

        return service(context, wish, as_json=as_json)
    if wish["image"]:
        from rigup.cli.lab_container import lab_in_container

        return lab_in_container(wish, as_json)
    if wish["host"] or any(wish[name] for name in ("partition", "limit", "gpus", "account")):
        from rigup.cli.lab_remote import lab_elsewhere

        return lab_elsewhere(wish, as_json)
    from rigup.cli.lab_serving import lab

    return lab(wish, as_json)


command.add_command(kernels)
