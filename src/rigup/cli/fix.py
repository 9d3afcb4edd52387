"""`rigup fix`: the steps that mend one finding. It shows them; nothing is changed."""

import json
from typing import TYPE_CHECKING, Any

import click

from rigup.cli.layout import wrapped
from rigup.language import _, choose

if TYPE_CHECKING:
    from rigup.stack.site import Site

Answer = dict[str, Any]
SCHEMA = "rigup.fix/1"
_FRAMEWORKS = ("torch", "torchvision", "torchaudio", "tensorflow", "jax", "vllm", "onnxruntime-gpu", "onnxruntime")


@click.command("fix")
@click.argument("cause")
@click.option("--from", "source", metavar="PATH", help="A report, a log, a folder of them or a captured tree.")
@click.option("--env", "environment", default="", metavar="PATH", help="The environment; by default the active one.")
@click.option("--explain", "explained", is_flag=True, help="Tell of each step why it is taken.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.fix/1).")
def command(cause: str, source: str | None, environment: str, explained: bool, as_json: bool) -> int:
    """Show the steps that mend one finding of the doctor, as `rigup plan` would take them.

    CAUSE is the name that the doctor gives, such as cpu-only-torch. Nothing is changed.
    """
    if as_json:
        choose("en")  # data is the same in every language
    _known(cause)
    told = _fixed(cause, source, environment)
    if as_json:
        click.echo(json.dumps(told, ensure_ascii=False, indent=1, default=str))
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
        near = ", ".join(difflib.get_close_matches(cause, causes(), 3)) or _("none")
        told = _("{cause} is no cause that the doctor knows. Near it are: {near}. `rigup explain` lists all.")
        raise click.UsageError(told.format(cause=cause[:60], near=near))


def _fixed(cause: str, source: str | None, environment: str) -> Answer:
    from rigup.diagnosis.answer import answer, examined
    from rigup.knowledge.tables import KnowledgeError
    from rigup.machine.sources import SourceError, close_sources, open_source
    from rigup.stack.seen import site_of

    try:
        diagnosis = examined(open_source(source))
        findings = [finding for finding in answer(diagnosis)["findings"] if finding["cause"] == cause]
        site = site_of(diagnosis.facts, environment)
        return {"schema": SCHEMA, "cause": cause, **_answer(findings, site)}
    except (SourceError, KnowledgeError) as error:
        raise click.ClickException(str(error)) from error
    finally:
        close_sources()


def _answer(findings: list[Answer], site: "Site") -> Answer:
    from rigup.plan.mend import OF_THE_STACK, mended

    kinds = {step["kind"] for finding in findings for fix in finding["fixes"] for step in fix["steps"]}
    told = [{**finding, "fixes": [mended(fix, site) for fix in finding["fixes"]]} for finding in findings]
    return {"findings": told, "plan": _plan(site) if kinds & set(OF_THE_STACK) and site.devices else None}


def _plan(site: "Site") -> Answer | None:
    """The stack that the machine would be given for the frameworks which are there."""
    from rigup.plan.answer import answer
    from rigup.stack.choose import choose as chosen
    from rigup.stack.wish import Wish

    there = tuple(name for name in _FRAMEWORKS if name in site.installed) or ("torch",)
    choice = chosen(Wish(packages=there), site)
    served = any(told.served for _device, told in choice.devices)
    return answer(choice) if choice.possible and served else None


def _text(told: Answer, explained: bool) -> str:
    from rigup.cli.plan_report import steps_text, text

    parts: list[str] = []
    for finding in told["findings"]:
        parts.append("\n".join(wrapped(click.style(finding["title"], bold=True))))
        if told["plan"] is None:
            parts += ["\n".join(steps_text(fix["steps"], explained)) for fix in finding["fixes"][:2]]
    if told["plan"] is not None:
        parts.append(text(told["plan"], explained))
    return "\n\n".join(parts)
