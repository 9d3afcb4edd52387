"""`rigup advise`: which allocation of the cluster ends a piece of work soonest, and which costs least."""

import gc
import re
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rigup.cli.arguments import click_errors
from rigup.cli.data import data_text
from rigup.language import _, choose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rigup.schemas.advise import Advise
    from rigup.train.advise.inputs import Question, Rate

_OPTIMIZERS = ("adamw", "adam", "adamw8bit", "lion", "momentum", "adagrad", "rmsprop", "sgd", "adafactor")
_WORK = re.compile(r"(?P<count>\d{1,9}(?:\.\d{1,6})?)\s*(?:epochs?)?")


@click.command("advise")
@click.argument("script", default="", metavar="[SCRIPT]")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[-- WORD...]")
@click.option("--rates", default="", metavar="TABLE", help="A TOML file of measured rates: seconds of an epoch.")
@click.option(
    "--history", "histories", multiple=True, metavar="RUN", help="A folder of a recorded training run: its rate and memory count."
)
@click.option("--samples", type=click.IntRange(1), default=None, metavar="N", help="Of an epoch; --history needs it.")
@click.option("--model", default="", metavar="MODEL", help="As `rigup fit` takes it: what a step of its training needs counts.")
@click.option("--train", type=click.Choice(["full", "lora", "qlora"]), default=None, help="How MODEL is trained.")
@click.option("--optimizer", type=click.Choice(_OPTIMIZERS), default=None, help="Of its training.")
@click.option("--precision", type=click.Choice(["fp32", "bf16", "mixed"]), default=None, help="Of its training.")
@click.option("--context", type=click.IntRange(1, 1 << 24), default=None, metavar="N", help="Tokens of a sequence.")
@click.option("--batch", type=click.IntRange(1, 1 << 16), default=None, metavar="N", help="Sequences on each GPU.")
@click.option("--gpu-memory", default="", metavar="SIZE", help="That every GPU needs, such as 14G.")
@click.option("--memory", default="", metavar="SIZE", help="Of the node, for each GPU.")
@click.option("--cpus", type=click.IntRange(1, 4096), default=1, metavar="N", help="Processors for each GPU.")
@click.option("--scenario", default="", metavar="DIR", help="A folder of dumps: no Slurm is called.")
@click.option("--work", default="20 epochs", metavar="N epochs", help="How much there is to do.")
@click.option("--startup", type=click.FloatRange(0, 1e7), default=60.0, metavar="SECONDS", help="Of every start.")
@click.option("--on", "allocations", multiple=True, metavar="PARTITION/DEVICE:NODESxGPUS", help="Judge these alone.")
@click.option("--requeue", is_flag=True, help="It writes checkpoints, and may be requeued at its time limit.")
@click.option("--accept-preemption", is_flag=True, help="Partitions whose jobs are preempted may be first.")
@click.option("--test-only", is_flag=True, help="Also ask `sbatch --test-only` of the first; it uses up a job id.")
@click.option("--picture", default="", metavar="FILE", help="Also draw it: a .png, .svg or .pdf.")
@click.option("--launch", is_flag=True, help="Hand the first to `rigup launch`, with WORDs.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as data (schema rigup.advise/1).")
def command(script: str, words: tuple[str, ...], picture: str, launch: bool, as_json: bool, **wish: Any) -> int:
    """Tell which partition, how many nodes and GPUs end the work soonest, and when: as intervals of 10 to 90 %.

    Speed is a law fitted to measured rates, waiting the queue replayed. What cannot be told apart is called a tie, and
    what can never run says why. The exit status is 1 where no allocation can run.
    """
    if as_json:
        choose("en")  # data is the same in every language
    if launch and not script:
        raise click.UsageError(_("--launch needs SCRIPT: what is to be launched."))
    if launch and (as_json or wish["scenario"]):
        raise click.UsageError(_("--launch starts a job on this cluster: it goes with neither --json nor --scenario."))
    with click_errors(), _without_collector():
        answer = _answer({**wish, "script": script})
    if picture:
        _draw(answer, Path(picture))
    if as_json:
        click.echo(data_text(answer))
    else:
        from rigup.cli.advise_report import shown

        click.echo(shown(answer))
    if launch and answer.best:
        return _launched(answer, [script, *words])
    return 0 if answer.allocations else 1


@contextmanager
def _without_collector() -> "Iterator[None]":
    """No search for cycles: among the rows of a large queue there are none, and it takes a fifth of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _answer(wish: dict[str, Any]) -> "Advise":
    from rigup.machine.local import Local
    from rigup.machine.slurm.asking import MOST
    from rigup.train.advise.answer import advice
    from rigup.train.advise.scenario import scenario

    host = Local(most=MOST)
    if wish["scenario"]:
        return advice(scenario(host, wish["scenario"]))
    if not wish["rates"] and not wish["histories"] and not (wish["script"] and wish["samples"]):
        raise click.UsageError(
            _(
                "Give --rates TABLE with measured seconds of an epoch, --history RUN, or --scenario DIR; of SCRIPT, --samples N counts its recorded runs."
            )
        )
    if wish["histories"] and not wish["samples"]:
        raise click.UsageError(_("--history needs --samples N: how many an epoch has."))
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
    from rigup.cluster.asking import kept_folder
    from rigup.train.advise import live
    from rigup.train.advise.inputs import InputError, Question, Work, allocation
    from rigup.train.advise.recorded import as_rates, recorded, runs_of

    found = _WORK.fullmatch(wish["work"].strip())
    if not found or not float(found["count"]):
        raise click.UsageError(_("{word} is no amount of work: write a number of epochs.").format(word=repr(wish["work"])[:80]))
    runs = [recorded(host, folder) for folder in wish["histories"]]
    if not runs and wish["script"] and wish["samples"]:
        runs = runs_of(host, Path(wish["script"]).resolve(), Path.cwd())
        if not runs and not wish["rates"]:
            raise InputError(_("{folder} has no history of a training run.").format(folder=wish["script"][:200]))
    measured = _measured(host, wish["rates"])
    asked = [allocation(words) for words in wish["allocations"]]
    state = live.now(host, live.you(host), kept_folder())
    known = live.devices(state)
    measured += as_rates(runs, known, wish["samples"] or 1)
    memory = _size(wish["gpu_memory"]) or max((run.peak for run in runs), default=0)
    shared, assumed = 0, list[str]()
    if not memory and (wish["model"] or wish["script"]):
        memory, shared, assumed = _by_fit(wish)
    work = Work(
        float(found["count"]),
        wish["startup"],
        requeue=wish["requeue"],
        accept_preemption=wish["accept_preemption"],
        cpus_per_gpu=wish["cpus"],
        gpu_memory=memory or None,
        gpu_memory_sharded=shared or None,
        host_memory_per_gpu=_size(wish["memory"]),
    )
    all_rates = live.with_catalogue(measured, known, live.benched({*known, *(rate.device for rate in measured)}))
    rated = {rate.device for rate in all_rates}
    candidates, more = (asked, 0) if asked else live.candidates(state, work, rated)
    if more:
        assumed.append(_("{count} more allocations are not judged: name those that matter with --on.").format(count=more))
    return Question(work, candidates, known, all_rates, state, assumed=assumed)


def _by_fit(wish: dict[str, Any]) -> tuple[int, int, list[str]]:
    """Bytes of each GPU, bytes that all share, and what was taken for granted; 0 where nothing can be worked out, and why."""
    from rigup.cli.fit_asked import asked_of
    from rigup.fit.errors import FitError
    from rigup.fit.judge import Asked
    from rigup.sizes import size
    from rigup.train.advise.needed import Described, described, needed
    from rigup.train.check.python.modules import UnreadableError

    description = Described()
    try:
        if wish["script"]:
            path = Path(wish["script"])
            description = described(_script(path) or "", path.name, lambda name: _script(path.parent / name))
        given = {
            "model": wish["model"],
            "kind": wish["train"],
            "optimizer": wish["optimizer"],
            "precision": wish["precision"],
            "context": wish["context"],
            "samples": wish["batch"],
        }
        description = description._replace(**{name: value for name, value in given.items() if value})
        if not description.model:
            sentence = _("How much memory the training needs is not known: {script} does not name its model. --model does.")
            return 0, 0, [sentence.format(script=wish["script"])]
        asked = asked_of(description.model, "", "BF16")
        if not isinstance(asked, Asked):
            sentence = _("How much memory the training needs is not known: {model} makes pictures.")
            return 0, 0, [sentence.format(model=description.model[:120])]
        found = needed(asked.model, description)
    except (FitError, click.ClickException, UnreadableError, OSError) as error:
        return 0, 0, [_("How much memory the training needs is not known: {why}").format(why=str(error)[:300])]
    least = _("Memory of a GPU is by fit's estimate of a step of {model}: {size}.")
    if found.unknown:
        least = _("Memory of a GPU is by fit's estimate of a step of {model}: at least {size}, for not told is: {unknown}.")
    estimate = least.format(model=description.model[:120], size=size(found.each + found.shared), unknown=", ".join(found.unknown))
    return found.each, found.shared, [estimate]


def _script(path: Path) -> str | None:
    """The text of a Python file; None where there is none."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(2_000_000)
    except (OSError, ValueError):
        return None


def _measured(host: Any, path: str) -> "list[Rate]":
    """The rates of a table, none where none is given. Raises InputError."""
    from rigup.train.advise.inputs import InputError
    from rigup.train.advise.scenario import rates

    text = host.read(path).body if path else ""
    if text is None:
        raise InputError(_("{path} cannot be read.").format(path=path[:200]))
    return rates(text, path)


def _size(words: str) -> int | None:
    """Bytes. Raises click.UsageError."""
    from rigup.machine.slurm.words import size

    if words and not size(words, "G"):
        raise click.UsageError(_("{word} is no size: write it as 14G.").format(word=repr(words)[:80]))
    return size(words, "G")


def _draw(answer: "Advise", path: Path) -> None:
    from rigup.train.advise.picture import PictureError, drawn

    try:
        drawn(answer, path)
    except PictureError as error:
        raise click.UsageError(str(error)) from error
    except OSError as error:
        raise click.ClickException(_("{path}: {why}.").format(path=path, why=error.strerror)) from error


def _launched(answer: "Advise", words: list[str]) -> int:
    """Run `rigup launch` with the choice; its exit status is ours."""
    import subprocess

    first = answer.allocations[0]
    argv = [
        "launch",
        "run",
        "--partition",
        first.partition,
        "--nodes",
        str(first.nodes),
        "--gpus",
        f"{first.device}:{first.gpus_per_node}",
        "--cpus",
        str(answer.job.cpus_per_gpu),
        "--time",
        str(-(-first.asked // 60)),
        *([] if answer.job.requeue else ["--no-requeue"]),
    ]
    if answer.job.host_memory_per_gpu:
        argv += ["--mem", f"{-(-answer.job.host_memory_per_gpu * first.gpus_per_node >> 20)}M"]
    sys.stdout.flush()
    return subprocess.run([sys.executable, "-m", "rigup", *argv, *words], check=False).returncode
