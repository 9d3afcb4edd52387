"""`rigup train port SCRIPT`: what turns it into one for any device and for many, as a diff to agree to."""

import sys
from typing import TYPE_CHECKING

import click

from rigup.cli.arguments import click_errors
from rigup.cli.data import data_text
from rigup.language import _, choose

if TYPE_CHECKING:
    from rigup.schemas.train_port import TrainPort


@click.command("port")
@click.argument("script", metavar="SCRIPT")
@click.option("--write", is_flag=True, help="Change the file; shows the diff and asks first.")
@click.option("--yes", is_flag=True, help="Do not ask before --write.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.train-port/1).")
def command(script: str, write: bool, yes: bool, as_json: bool) -> int:
    """Show what turns a script for one CUDA card into one that runs on any device, and on many.

    SCRIPT is plain PyTorch; it is read and not run. The diff is what is sure; what needs your judgement is told with its
    line and not changed. Alone, on the CPU, on a GPU of any maker or under torchrun, the ported script is the same.
    """
    from rigup.workflows.train_porting import porting

    if as_json:
        choose("en")  # data is the same in every language
    with click_errors():
        found = porting(script)
        answer = found.answer(False)
        if not as_json:
            click.echo(_text(answer))
        if write and answer.changes and (yes or as_json or _agreed(script)):
            found.write()
            answer = found.answer(True)
            if not as_json:
                click.echo(_("Written: {path}.").format(path=script))
    if as_json:
        click.echo(data_text(answer))
    return 0


def _agreed(script: str) -> bool:
    return sys.stdin.isatty() and click.confirm(_("Change {path} so?").format(path=script))


def _text(answer: "TrainPort") -> str:
    """The diff, why, and what is left to judgement."""
    from rigup.cli.layout import wrapped

    lines = [answer.diff, ""] if answer.diff else []
    lines += wrapped(_verdict(answer))
    if answer.changes:
        lines += ["", _("Why:")]
        for why, numbers in _grouped([(change.why, change.line) for change in answer.changes]):
            lines += wrapped(_("{why} (line {lines})").format(why=why, lines=numbers), "  ", "    ")
    if answer.remarks:
        lines += ["", _("Left to your judgement:")]
        for remark in sorted(answer.remarks, key=lambda remark: (not remark.stops, remark.line)):
            lines += wrapped(_("line {line}: {text}").format(line=remark.line, text=remark.text), "  ", "    ")
    return "\n".join(lines)


def _verdict(answer: "TrainPort") -> str:
    if answer.verdict == "already":
        return _("{path} is ported already: {framework} places its work.").format(path=answer.script, framework=answer.framework)
    if answer.verdict == "unchanged":
        undecided = _("Nothing in {path} is changed: what is told below is yours to decide.")
        nothing = _("Nothing in {path} is to be changed, as far as can be seen.")
        return (undecided if answer.remarks else nothing).format(path=answer.script)
    lines = _numbers([remark.line for remark in answer.remarks if remark.stops == "devices"])
    if answer.verdict == "device":
        alone = _("{path} would run on any device; it would not train on many processes yet.")
        partly = _(
            "{path} would run on other devices than CUDA's once you have seen to line {lines}; it would not train on many processes yet."
        )
    else:
        alone = _("{path} would train on any device, and on many: `rigup launch {path} --gpus 2`.")
        partly = _(
            "{path} would train on many: `rigup launch {path} --gpus 2`; on other devices than CUDA's once you have seen to line {lines}."
        )
    return (partly if lines else alone).format(path=answer.script, lines=lines)


def _grouped(pairs: list[tuple[str, int]]) -> list[tuple[str, str]]:
    """Equal reasons together, each with its lines."""
    found: dict[str, list[int]] = {}
    for why, line in pairs:
        if line not in found.setdefault(why, []):
            found[why].append(line)
    return [(why, _numbers(lines)) for why, lines in found.items()]


def _numbers(lines: list[int]) -> str:
    """Lines for a sentence."""
    once = sorted(set(lines))
    return ", ".join(map(str, once[:12])) + (", …" if len(once) > 12 else "")
