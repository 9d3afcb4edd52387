"""`rigup advise`: which allocation of the cluster ends a piece of work soonest, and which costs least."""

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rigup.cli.arguments import click_errors
from rigup.cli.data import data_text
from rigup.language import _, choose

if TYPE_CHECKING:
    from rigup.schemas.advise import Advise, Advised
    from rigup.train.advise.inputs import Question

_WORK = re.compile(r"(?P<count>\d{1,9}(?:\.\d{1,6})?)\s*(?:epochs?)?")


@click.command("advise")
@click.argument("script", default="", metavar="[SCRIPT]")
@click.option("--rates", default="", metavar="TABLE", help="A TOML file of measured rates: seconds of an epoch.")
@click.option("--scenario", default="", metavar="DIR", help="A folder of dumps: no Slurm is called.")
@click.option("--work", default="20 epochs", metavar="N epochs", help="How much there is to do.")
@click.option("--startup", type=click.FloatRange(0, 1e7), default=60.0, metavar="SECONDS", help="Of every start.")
@click.option("--on", "allocations", multiple=True, metavar="PARTITION/DEVICE:NODESxGPUS", help="Judge these alone.")
@click.option("--requeue", is_flag=True, help="It writes checkpoints, and may be requeued at its time limit.")
@click.option("--accept-preemption", is_flag=True, help="Partitions whose jobs are preempted may be first.")
@click.option("--test-only", is_flag=True, help="Also ask `sbatch --test-only` of the first; it uses up a job id.")
@click.option("--picture", default="", metavar="FILE", help="Also draw it: a .png, .svg or .pdf.")
@click.option("--launch", is_flag=True, help="Hand the first allocation to `rigup launch`.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.advise/1).")
def command(script: str, picture: str, launch: bool, as_json: bool, **wish: Any) -> int:
    """Tell which partition, how many nodes and GPUs end the work soonest, and when: as intervals of 10 to 90 %.

    Speed is a law fitted to measured rates, waiting the queue replayed. What cannot be told apart is called a tie, and
    what can never run says why. The exit status is 1 where no allocation can run.
    """
    if as_json:
        choose("en")  # data is the same in every language
    if launch and not script:
        raise click.UsageError(_("--launch needs SCRIPT: what is to be launched."))
    with click_errors():
        answer = _answer(wish)
    if picture:
        _draw(answer, Path(picture))
    if as_json:
        click.echo(data_text(answer))
    else:
        from rigup.cli.advise_report import shown

        click.echo(shown(answer))
    if launch and answer.best:
        return _launched(answer.allocations[0], script)
    return 0 if answer.allocations else 1


def _answer(wish: dict[str, Any]) -> "Advise":
    from rigup.machine.local import Local
    from rigup.train.advise.answer import advice
    from rigup.train.advise.scenario import scenario

    host = Local()
    if wish["scenario"]:
        return advice(scenario(host, wish["scenario"]))
    if not wish["rates"]:
        raise click.UsageError(_("Give --rates TABLE with measured seconds of an epoch, or --scenario DIR."))
    question = _question(host, wish)
    answer = advice(question)
    if wish["test_only"] and answer.best:
        from rigup.train.advise.inputs import allocation
        from rigup.train.advise.live import trial

        first = answer.allocations[0]
        opinion = trial(host, question, allocation(first.allocation), first.asked)
        answer = advice(question._replace(second=[opinion]))
    return answer


def _question(host: Any, wish: dict[str, Any]) -> "Question":
    """What the options ask of the cluster at hand. Raises click.UsageError and InputError."""
    from rigup.train.advise import live
    from rigup.train.advise.inputs import InputError, Question, Work, allocation
    from rigup.train.advise.scenario import rates

    found = _WORK.fullmatch(wish["work"].strip())
    if not found or not float(found["count"]):
        raise click.UsageError(
            _("{word} is no amount of work: write a number of epochs.").format(word=repr(wish["work"])[:80])
        )
    text = host.read(wish["rates"]).body
    if text is None:
        raise InputError(_("{path} cannot be read.").format(path=wish["rates"][:200]))
    measured = rates(text, wish["rates"])
    asked = [allocation(words) for words in wish["allocations"]]
    state = live.now(host)
    known = live.devices(state)
    work = Work(
        float(found["count"]), wish["startup"], requeue=wish["requeue"], accept_preemption=wish["accept_preemption"]
    )
    all_rates = live.with_catalogue(measured, known)
    rated = {rate.device for rate in all_rates}
    candidates = asked or [one for one in live.candidates(state, work) if one.device in rated]
    return Question(work, candidates, known, all_rates, state)


def _draw(answer: "Advise", path: Path) -> None:
    from rigup.train.advise.picture import PictureError, drawn

    try:
        drawn(answer, path)
    except PictureError as error:
        raise click.UsageError(str(error)) from error
    except OSError as error:
        raise click.ClickException(_("{path}: {why}.").format(path=path, why=error.strerror)) from error


def _launched(first: "Advised", script: str) -> int:
    """Run `rigup launch` with the choice; its exit status is ours."""
    import subprocess

    minutes = -(-first.asked // 60)
    argv = [
        sys.executable, "-m", "rigup", "launch", "run", "--partition", first.partition, "--nodes", str(first.nodes),
        "--gpus", f"{first.device}:{first.gpus_per_node}", "--time", str(minutes), "--", script,
    ]  # fmt: skip
    return subprocess.run(argv, check=False).returncode
