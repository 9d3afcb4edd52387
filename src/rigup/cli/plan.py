"""`rigup plan`: choose what should be there; nothing is changed."""

from typing import TYPE_CHECKING, Any

import click

from rigup.cli.data import data_text
from rigup.language import _, choose

if TYPE_CHECKING:
    from rigup.schemas.plan import NotUnderstood
    from rigup.stack.choice import Choice

_MADE_FOR = {"dockerfile": "docker", "apptainer": "apptainer", "conda": "conda"}
_OF_PIP = ("dockerfile", "apptainer", "pyproject", "poetry")
_OF_CONTAINERS = ("compose", "devcontainer")
_FORMS = ("text", "script", "dockerfile", "apptainer", *_OF_CONTAINERS, "conda", "pyproject", "poetry", "json")


@click.command("plan")
@click.argument("wishes", nargs=-1, metavar="[WISH]...")
@click.option("-r", "--requirement", "files", multiple=True, metavar="FILE", help="A requirements.txt or a pyproject.toml.")
@click.option("--for", "profile", metavar="PROFILE", help="Another machine: words, a TOML file, a report or a capture.")
@click.option(
    "--env", "environment", default="", metavar="PATH", help="The environment to plan for; by default the active one, else .venv."
)
@click.option("--python", default="", metavar="VERSION", help="The Python of the environment.")
@click.option(
    "--in",
    "manager",
    type=click.Choice(["venv", "conda", "docker", "apptainer"]),
    help="What holds it; by default venv, or what the form is made for.",
)
@click.option("--prefer", type=click.Choice(["least-change", "newest"]), default="least-change", help="What counts more.")
@click.option("--no-root", is_flag=True, help="Plan nothing that needs root.")
@click.option("--with-rigup", is_flag=True, help="Put rigup.torch into the environment, for programs that use it.")
@click.option("--mirror", default="", metavar="NAME", help="Take packages from a mirror of the tables.")
@click.option("--link", default="", metavar="SPEED", help="Tell how long it takes on a link, such as 50Mbit.")
@click.option(
    "--no-resolve", "resolve", is_flag=True, flag_value=False, default=True, help="Ask no index: what the tables do not name stays open."
)
@click.option("--explain", "explained", is_flag=True, help="Tell of every newer build why it was turned down.")
@click.option(
    "--as",
    "form",
    type=click.Choice(_FORMS),
    default="text",
    metavar="FORM",
    help="text, script, dockerfile, apptainer, compose, devcontainer, conda, pyproject, poetry or json.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.plan/1).")
def command(
    wishes: tuple[str, ...],
    files: tuple[str, ...],
    profile: str | None,
    environment: str,
    form: str,
    as_json: bool,
    explained: bool,
    link: str,
    resolve: bool,
    **options: Any,
) -> int:
    """Choose a stack that this machine can run, and tell each step and why.

    WISH is a package with or without a version: torch, "torch>=2.4,<2.8", tensorflow, jax, vllm; or a
    requirements.txt or pyproject.toml. Without one the newest torch is chosen that the machine can run, or the one
    that stands there already. Nothing is changed.
    """
    from rigup.cli.progress import Waiting
    from rigup.workflows.environments import in_this_folder
    from rigup.workflows.errors import UnclearMachineError
    from rigup.workflows.planning import Request, chosen

    if as_json or form == "json":
        choose("en")  # data is the same in every language
    bits = _speed(link)
    if form in _OF_CONTAINERS and not as_json:
        return _container(wishes, form, profile)
    options["manager"] = options["manager"] or _MADE_FOR.get(form, "venv")
    if profile is None and options["manager"] == "venv" and (as_json or form in ("text", "json")):
        environment = environment or in_this_folder()
    request = Request(wishes=wishes, files=files, profile=profile, environment=environment, **options)
    try:
        choice = chosen(request, resolve=resolve, waiting=Waiting)
    except UnclearMachineError as error:
        if as_json or form == "json":  # whoever reads data gets one object, with what has to be told
            click.echo(data_text(_asked_back(wishes, str(error))))
        raise
    click.echo(_render(choice, "json" if as_json else form, explained, bits), nl=False)
    return int(not choice.possible)


def _container(wishes: tuple[str, ...], form: str, profile: str | None) -> int:
    """The file that starts the image of a wish with the devices, as `rigup container run --as` writes it."""
    from rigup.workflows.containers import Words, container

    if len(wishes) > 1:
        raise click.UsageError(_("A container is started from one image: name one wish."))
    answer = container(Words(what=wishes[0] if wishes else "torch", form=form), profile)
    click.echo(answer.files[0].text, nl=False)
    return int(answer.verdict == "impossible")


def _asked_back(wishes: tuple[str, ...], question: str) -> "NotUnderstood":
    """The answer where a profile is not understood: nothing is promised, and the question stands in it."""
    from rigup.schemas.plan import NotUnderstood

    return NotUnderstood(wish=list(wishes), smallest_change=question)


def _speed(link: str) -> int:
    """Bits a second; 0 where it was not given."""
    from rigup.plan.cost import LinkError, speed

    try:
        return speed(link) if link else 0
    except LinkError as error:
        raise click.UsageError(str(error)) from error


def _render(choice: "Choice", form: str, explained: bool, link: int = 0) -> str:
    from rigup.plan.answer import answer

    if form == "json":
        return data_text(answer(choice, link)) + "\n"
    if form == "text" or not choice.possible:  # of nothing no file can be made: the report says why
        from rigup.cli.plan_report import text
        from rigup.machine.outward import outward

        return text(outward(answer(choice, link)), explained) + "\n"
    from rigup.plan.render import rendered
    from rigup.plan.term_files import unkept
    from rigup.workflows.environments import defaults

    if left := unkept(choice, form):
        sentence = _("A file for {form} cannot keep {options}, which {files} say. The script and `rigup lock` do.")
        raise click.UsageError(sentence.format(form=form, options=", ".join(left), files=", ".join(choice.wish.terms.files)))
    if form in _OF_PIP and any(pick.build.conda for pick in choice.chosen):
        sentence = _("A file for {form} names packages of pip, and these are conda-forge's: write --as conda.")
        raise click.UsageError(sentence.format(form=form))
    return rendered(choice, form, defaults().images)
