"""`rigup fix`: the steps that mend a finding, shown, and taken when you agree; then the doctor looks again."""

import sys
from typing import TYPE_CHECKING, Any

import click

from rigup.cli.data import data_text
from rigup.cli.guard import style
from rigup.cli.layout import wrapped
from rigup.cli.meant import in_full
from rigup.language import _, choose, sentences

if TYPE_CHECKING:
    from rigup.stack.site import Site

Answer = dict[str, Any]
SCHEMA = "rigup.fix/1"
_BUILDS = ("install-torch", "install-torch-with-audio", "choose-build")
_FRAMEWORKS = ("torch", "torchvision", "torchaudio", "tensorflow", "jax", "vllm", "onnxruntime-gpu", "onnxruntime")


@click.command("fix")
@click.argument("cause", required=False)
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar="[-- PROGRAM [ARGUMENT]...]")
@click.option("--all-safe", is_flag=True, help="Mend all that can be mended by safe steps alone.")
@click.option("--from", "source", metavar="PATH", help="A report, a log, a folder of them or a captured tree.")
@click.option(
    "--env",
    "environment",
    default="",
    metavar="PATH",
    help="The environment: a path or a name; by default the active one, else the one in this folder.",
)
@click.option("--explain", "explained", is_flag=True, help="Tell of each step why it is taken.")
@click.option("-y", "--yes", is_flag=True, help="Take the steps without asking.")
@click.option("--dry-run", is_flag=True, help="Show exactly what would be run, and change nothing.")
@click.option("-q", "--quiet", is_flag=True, help="Say only what fails.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.fix/1).")
def command(
    cause: str | None, program: tuple[str, ...], all_safe: bool, source: str | None, environment: str, explained: bool,
    yes: bool, dry_run: bool, quiet: bool, as_json: bool,
) -> int:  # fmt: skip
    """Show the steps that mend a finding of the doctor; take them when you agree, and look again.

    CAUSE is the name that the doctor gives, such as cpu-only-torch. What only a program's words tell is found by
    running that program (-- PROGRAM), before and after. Of another machine (--from) the steps are shown alone. What
    was done is taken back by `rigup undo`.
    """
    from rigup.cli.meant import folder_of
    from rigup.cli.mending import mend
    from rigup.cli.taking import Manner, on_record

    if as_json:
        choose("en")  # data is the same in every language
    _one_of(cause, all_safe, source)
    if program and source is not None:
        raise click.UsageError(_("Give --from or a program: a report of a machine, or what to run on this one."))
    manner = Manner(yes=yes and source is None, dry_run=dry_run, quiet=quiet, as_json=as_json, schema=SCHEMA)
    with on_record(manner, (cause or "--all-safe",)) as manner:
        told = _fixed(cause, source, environment if source is not None else folder_of(environment), program)
        if source is None and told["findings"] and (yes or dry_run or (sys.stdin.isatty() and not as_json)):
            return mend(told, all_safe, manner, _text(told, explained), program)
    return _shown(cause, told, explained, as_json)


def _one_of(cause: str | None, all_safe: bool, source: str | None) -> None:
    """Raise UsageError where it is not clear what is to be mended."""
    if cause is not None and not all_safe:
        _known(cause)
    elif cause is not None or not all_safe:
        raise click.UsageError(_("Name one cause, or --all-safe for all that safe steps mend. `rigup doctor` tells which there are."))  # fmt: skip
    elif source is not None:
        raise click.UsageError(
            _("--all-safe mends this machine; of another one name a cause, and its steps are shown.")
        )


def _shown(cause: str | None, told: Answer, explained: bool, as_json: bool) -> int:
    if as_json:
        click.echo(data_text(told))
    elif not told["findings"] and cause is None:
        click.echo(_("The doctor finds nothing that safe steps could mend."))
        return 0
    elif not told["findings"]:
        sentence = _("{cause} is not found there. `rigup doctor` tells what is, `rigup explain {cause}` what it means.")
        click.echo("\n".join(wrapped(sentence.format(cause=cause))), err=True)
    else:
        click.echo(_text(told, explained))
    return int(not told["findings"])


def _known(cause: str) -> None:
    """Raise UsageError for a cause that there is not, with those whose names are near."""
    import difflib

    from rigup.knowledge.doctor_tables import causes

    if cause not in causes():
        told = _("{cause} is no cause that the doctor knows. `rigup explain` lists all.").format(cause=cause[:60])
        if near := difflib.get_close_matches(cause, causes(), 3):
            told = sentences(told, _("Near it are: {near}.").format(near=", ".join(near)))
        raise click.UsageError(told)


def _fixed(cause: str | None, source: str | None, environment: str, program: tuple[str, ...]) -> Answer:
    from rigup.cli.attend import sources_of
    from rigup.diagnosis.answer import answer, examined
    from rigup.knowledge.tables import KnowledgeError
    from rigup.machine.sources import SourceError, close_sources, open_source
    from rigup.stack.seen import site_of

    try:
        diagnosis = examined(sources_of(program) if program else open_source(source))
        findings = [finding for finding in answer(diagnosis)["findings"] if cause in (None, finding["cause"])]
        site = site_of(diagnosis.facts, in_full(environment) if source is None else environment)
        return {
            "schema": SCHEMA,
            "cause": cause,
            "environment": environment or None,
            **_answer(findings, site, here=source is None),
        }
    except (SourceError, KnowledgeError) as error:
        raise click.ClickException(str(error)) from error
    finally:
        close_sources()


def _answer(findings: list[Answer], site: "Site", here: bool) -> Answer:
    from rigup.plan.mend import OF_THE_STACK, mended

    kinds = {step["kind"] for finding in findings for fix in finding["fixes"] for step in fix["steps"]}
    told = [{**finding, "fixes": [mended(fix, site) for fix in finding["fixes"]]} for finding in findings]
    plan = (
        _plan(site, here, _release(findings))
        if kinds & set(OF_THE_STACK) and site.devices and _wants_a_stack(kinds, site)
        else None
    )
    return {"findings": told, "plan": plan and {**plan, "steps": _with_removals(plan["steps"], told)}}


def _wants_a_stack(kinds: set[str], site: "Site") -> bool:
    """A driver that is missing is mended by a driver: nobody is given an environment who has none."""
    return bool(kinds & set(_BUILDS)) or any(name in site.installed for name in _FRAMEWORKS)


def _with_removals(steps: list[Answer], findings: list[Answer]) -> list[Answer]:
    """A plan's steps with what findings want removed first: no plan of a stack takes packages away."""
    first = [step for finding in findings for fix in finding["fixes"][:1] for step in fix["steps"]]
    gone = [step for step in first if step["kind"] == "remove-packages"]
    at = next((place for place, step in enumerate(steps) if step["kind"].startswith("install-")), len(steps))
    return [*steps[:at], *gone, *steps[at:]]


def _release(findings: list[Answer]) -> str:
    """The torch that the doctor's first way names: the plan is to install the same."""
    first = [step for finding in findings for fix in finding["fixes"][:1] for step in fix["steps"]]
    return next(
        (step["params"]["torch"] for step in first if step["kind"] in ("install-torch", "install-torch-with-audio")), ""
    )


def _plan(site: "Site", here: bool, release: str) -> Answer | None:
    """The stack that the machine would be given for the frameworks which are there; with the release of torch that the doctor names, if it can be had."""
    from rigup.plan.answer import answer
    from rigup.plan.resolution.resolve import resolved
    from rigup.stack.choose import choose as chosen
    from rigup.stack.wish import Wish

    there = tuple(name for name in _FRAMEWORKS if name in site.installed) or ("torch",)
    same = tuple(f"torch=={release}" if name == "torch" and release else name for name in there)
    choice = chosen(Wish(packages=same), site)
    if not choice.possible and same != there:
        choice = chosen(Wish(packages=there), site)
    served = any(told.served for _device, told in choice.devices)
    if choice.possible and served:
        found = resolved(choice, here=here)
        choice = found if found.possible else choice
    return answer(choice) if choice.possible and served else None


def _text(told: Answer, explained: bool) -> str:
    from rigup.cli.plan_report import steps_text, text
    from rigup.cli.report import after
    from rigup.machine.outward import outward

    told = outward(told)
    parts: list[str] = []
    for finding in told["findings"]:
        parts.append("\n".join(wrapped(style(finding["title"], bold=True))))
        if told["plan"] is None:
            ways = [
                "\n".join([*steps_text(fix["steps"], explained), *after(fix, "     ")]) for fix in finding["fixes"][:2]
            ]
            parts += [_("or:") + "\n" + way if number else way for number, way in enumerate(ways)]
    if told["plan"] is not None:
        parts.append(text(told["plan"], explained))
    return "\n\n".join(parts)
