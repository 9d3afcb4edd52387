"""`rigup plan`: choose what should be there; nothing is changed."""

import os
import re
from typing import TYPE_CHECKING, Any

import click

from rigup.cli.data import data_text
from rigup.cli.meant import beside, defaults, in_full
from rigup.language import _, choose

if TYPE_CHECKING:
    from rigup.stack.choice import Choice
    from rigup.stack.site import Site
    from rigup.stack.terms import Terms

_MADE_FOR = {"dockerfile": "docker", "apptainer": "apptainer", "conda": "conda"}
_OF_PIP = ("dockerfile", "apptainer", "pyproject", "poetry")
_FORMS = ("text", "script", "dockerfile", "apptainer", "conda", "pyproject", "poetry", "json")


@click.command("plan")
@click.argument("wishes", nargs=-1, metavar="[WISH]...")
@click.option(
    "-r", "--requirement", "files", multiple=True, metavar="FILE", help="A requirements.txt or a pyproject.toml."
)
@click.option("--for", "profile", metavar="PROFILE", help="Another machine: words, a TOML file, a report or a capture.")
@click.option(
    "--env",
    "environment",
    default="",
    metavar="PATH",
    help="The environment to plan for; by default the active one, else .venv.",
)
@click.option("--python", default="", metavar="VERSION", help="The Python of the environment.")
@click.option(
    "--in",
    "manager",
    type=click.Choice(["venv", "conda", "docker", "apptainer"]),
    help="What holds it; by default venv, or what the form is made for.",
)
@click.option(
    "--prefer", type=click.Choice(["least-change", "newest"]), default="least-change", help="What counts more."
)
@click.option("--no-root", is_flag=True, help="Plan nothing that needs root.")
@click.option("--with-rigup", is_flag=True, help="Put rigup.torch into the environment, for programs that use it.")
@click.option("--mirror", default="", metavar="NAME", help="Take packages from a mirror of the tables.")
@click.option("--link", default="", metavar="SPEED", help="Tell how long it takes on a link, such as 50Mbit.")
@click.option(
    "--no-resolve",
    "resolve",
    is_flag=True,
    flag_value=False,
    default=True,
    help="Ask no index: what the tables do not name stays open.",
)
@click.option("--explain", "explained", is_flag=True, help="Tell of every newer build why it was turned down.")
@click.option("--as", "form", type=click.Choice(_FORMS), default="text", help="The form of the answer.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.plan/1).")
def command(
    wishes: tuple[str, ...], files: tuple[str, ...], profile: str | None, environment: str, form: str, as_json: bool,
    explained: bool, link: str, resolve: bool, **options: Any,
) -> int:  # fmt: skip
    """Choose a stack that this machine can run, and tell each step and why.

    WISH is a package with or without a version: torch, "torch>=2.4,<2.8", tensorflow, jax, vllm; or a
    requirements.txt or pyproject.toml. Without one the newest torch is chosen that the machine can run, or the one
    that stands there already. Nothing is changed.
    """
    if as_json or form == "json":
        choose("en")  # data is the same in every language
    bits = _speed(link)
    options["manager"] = options["manager"] or _MADE_FOR.get(form, "venv")
    if profile is None and options["manager"] == "venv" and (as_json or form in ("text", "json")):
        environment = environment or beside()
    try:
        choice = chosen_for(wishes, files, profile, environment, options, resolve=resolve)
    except NotUnderstood as error:
        if as_json or form == "json":  # whoever reads data gets one object, with what has to be told
            click.echo(data_text(_asked_back(wishes, str(error))))
        raise
    click.echo(_shown(choice, "json" if as_json else form, explained, bits), nl=False)
    return int(not choice.possible)


def chosen_for(
    wishes: tuple[str, ...], files: tuple[str, ...], profile: str | None, environment: str, options: dict[str, Any], *,
    resolve: bool = False, terms: "Terms | None" = None,
) -> "Choice":  # fmt: skip
    """The stack for wishes and files of wishes, resolved if that is asked for; `terms` go with wishes that files made before.

    Raises:
        ClickException: they cannot be understood.

    """
    import msgspec

    from rigup.knowledge.tables import KnowledgeError
    from rigup.machine.sources import SourceError
    from rigup.plan.environments.rigup_torch import wheel_folder
    from rigup.plan.term_files import elsewhere, write_files
    from rigup.stack.asked import asked_in, fits_python, wished
    from rigup.stack.choose import choose as chosen
    from rigup.stack.doubts import sorted_out
    from rigup.stack.profile import ProfileError
    from rigup.stack.wish import WishError

    _is_python(options["python"])
    try:
        typed, named = sorted_out(wishes)
        asked = asked_in(typed, (*files, *named))
        asked = asked._replace(terms=terms) if terms is not None else asked
        usual = defaults().mirror if profile is None else ""
        if options.get("with_rigup"):
            wheel_folder()  # the file that the plan names is there for who types its commands
        wish, machine = wished(asked, site(profile, environment), usual_mirror=usual, **options)
        found = chosen(wish, machine)
        fits_python(wish, found.python)
        found = _resolved(found, profile) if resolve else found
        write_files(found)
        return msgspec.structs.replace(found, warnings=(*found.warnings, *elsewhere(found)))
    except ProfileError as error:
        raise NotUnderstood(str(error)) from error
    except (WishError, SourceError, KnowledgeError, OSError) as error:
        raise click.ClickException(str(error)) from error


class NotUnderstood(click.UsageError):
    """A machine that was told in words cannot be planned for before something of it is told."""


def _asked_back(wishes: tuple[str, ...], question: str) -> dict[str, Any]:
    """The answer where a profile is not understood: nothing is promised, and the question stands in it."""
    from rigup.plan.answer import SCHEMA

    return {"schema": SCHEMA, "verdict": "impossible", "wish": list(wishes), "packages": {}, "requirements": [], "indexes": [],
            "variables": {}, "system": [], "devices": [], "turned_down": [], "smallest_change": question, "steps": []}  # fmt: skip


def _resolved(choice: "Choice", profile: str | None) -> "Choice":
    """With every package that comes, found by a real resolver."""
    from rigup.cli.progress import Waiting
    from rigup.plan.resolution.resolve import resolved

    with Waiting(_("Resolving …")):
        return resolved(choice, here=profile is None)


def site(profile: str | None, environment: str = "") -> "Site":
    """The machine to plan for: this one, one in words, or one that was captured or reported."""
    from rigup.stack.profile import read_profile, read_profile_table

    if profile is not None and profile.endswith(".toml") and os.path.isfile(profile):
        with open(profile, encoding="utf-8", errors="replace") as file:
            return read_profile_table(file.read(1_000_000))
    if profile is None or os.path.exists(profile):
        from rigup.plan.environments.settings import with_settings
        from rigup.stack.seen import look_at

        machine = look_at(profile, in_full(environment) if profile is None else environment, judge=True)
        return with_settings(machine, defaults()) if profile is None else machine
    return read_profile(profile)


def _is_python(version: str) -> None:
    """Raise UsageError for a word that cannot be a version of Python."""
    if version and not re.fullmatch(r"\d{1,2}(\.\d{1,3}){1,2}t?", version, re.ASCII):
        raise click.UsageError(
            _("{version} is no version of Python: write for instance 3.12.").format(version=version[:60])
        )


def _speed(link: str) -> int:
    """Bits a second; 0 where nobody said."""
    from rigup.plan.cost import LinkError, speed

    try:
        return speed(link) if link else 0
    except LinkError as error:
        raise click.UsageError(str(error)) from error


def _shown(choice: "Choice", form: str, explained: bool, link: int = 0) -> str:
    from rigup.plan.answer import answer

    if form == "json":
        return data_text(answer(choice, link)) + "\n"
    if form == "text" or not choice.possible:  # of nothing no file can be made: the report says why
        from rigup.cli.plan_report import text
        from rigup.machine.outward import outward

        return text(outward(answer(choice, link)), explained) + "\n"
    from rigup.plan.render import rendered
    from rigup.plan.term_files import unkept

    if left := unkept(choice, form):
        told = _("A file for {form} cannot keep {options}, which {files} say. The script and `rigup lock` do.")
        raise click.UsageError(
            told.format(form=form, options=", ".join(left), files=", ".join(choice.wish.terms.files))
        )
    if form in _OF_PIP and any(one.build.conda for one in choice.chosen):
        told = _("A file for {form} names packages of pip, and these are conda-forge's: write --as conda.")
        raise click.UsageError(told.format(form=form))
    return rendered(choice, form, defaults().images)
