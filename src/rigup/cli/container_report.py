"""What `rigup container run` says for people, and the command while it runs."""

import os
import shlex
import sys
from collections.abc import Mapping

import click

from rigup.cli.layout import wrapped
from rigup.language import _
from rigup.schemas.container import Container, ContainerLint, From


def shown_text(answer: Container) -> str:
    """The command that can be pasted, then why each part is in it."""
    lines = before(answer)
    for file in answer.files:
        lines += [_("{path}:").format(path=file.path), *("    " + line for line in file.text.splitlines()), ""]
    lines += [_line(answer), ""]
    for reason in answer.because:
        sentence = _("{part}: {why}").format(part=shlex.join(reason.part), why=reason.why)
        lines += wrapped(sentence, "  ", "      ")
    return "\n".join(lines).rstrip()


def before(answer: Container) -> list[str]:
    """What has to be known before it is run, in lines; a command stands whole in one, so that it can be pasted."""
    notices = [_("Warning: {text}").format(text=warning.text) for warning in answer.warnings]
    unserved = [device for device in answer.devices if not device.served]
    notices += [_("{device} is not served: {because}").format(device=device.name, because=device.because) for device in unserved]
    if answer.verdict == "possible":
        notices.append(_("It works after these steps:"))
    elif answer.verdict == "impossible":
        notices.append(_("It does not work on this machine."))
    lines = [line for notice in notices for line in wrapped(notice)]
    for step in answer.steps if answer.verdict == "possible" else ():
        lines += [*wrapped(step.title, "  - ", "    "), *(f"      {shlex.join(argv)}" for argv in step.commands)]
    return [*lines, ""] if lines else []


def _line(answer: Container) -> str:
    """The command as a shell takes it, with what stands in front of it."""
    exports = [
        f'{name}="${value.from_}"' if isinstance(value, From) else f"{name}={shlex.quote(value)}" for name, value in answer.exports.items()
    ]
    return " ".join([*exports, shlex.join(answer.argv)])


def started(answer: Container, typed: Mapping[str, str]) -> int:
    """Run the command; its exit status and signals are kept, and what it dies of is diagnosed.

    Args:
        answer: with the command.
        typed: variables with their values; those that the command takes by name are put into its environment.

    """
    for line in before(answer):
        click.echo(line, err=True)
    if answer.verdict != "ready":
        return 1
    os.environ.update({name: typed[name] for name, value in answer.environment.items() if isinstance(value, From) and name in typed})
    os.environ.update(exported(answer, os.environ))
    from rigup.cli.program_report import run_and_diagnose

    color = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    return run_and_diagnose(tuple(answer.argv), as_json=False, verbose=0, wake=False, color=color)


def exported(answer: Container, variables: Mapping[str, str]) -> dict[str, str]:
    """Variables that the engine itself is given; one of the caller's that is not there is left out."""
    found = {name: variables.get(given.from_) if isinstance(given, From) else given for name, given in answer.exports.items()}
    return {name: value for name, value in found.items() if value is not None}


def linted_text(answer: ContainerLint) -> str:
    """A finding a paragraph: where, what, and what mends it."""
    words = {"error": _("error"), "warning": _("warning"), "note": _("note")}
    lines = []
    for finding in answer.findings:
        template = _("{file}:{line}: {severity}: {title} ({cause})")
        head = template.format(
            file=finding.file, line=finding.line[0], severity=words[finding.severity], title=finding.title, cause=finding.cause
        )
        lines += [*wrapped(head, "", "    "), *wrapped(finding.evidence[0], "    "), *wrapped(finding.fixes[0].title, "    ")]
    if answer.fixed:
        lines += wrapped(_("Mended in the files: {count}.").format(count=answer.fixed))
    return "\n".join(lines or wrapped(_("Nothing is wrong with it.")))
