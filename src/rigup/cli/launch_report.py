"""What `rigup launch` says for people, and a job while it is followed."""

import codecs
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

import click

from rigup.cli.data import data_text
from rigup.cli.layout import wrapped
from rigup.language import _
from rigup.schemas.launch import Launch, LaunchList, State

if TYPE_CHECKING:
    from rigup.train.launch.record import Run

_BY_SIGNAL, _BAD, _TIMEOUT = 128, 1, 124


def plan_text(run: "Run") -> str:
    """The batch script, or the commands where there is no scheduler."""
    import shlex

    from rigup.train.launch.script import batch_script
    from rigup.workflows.launching_elsewhere import commands_elsewhere

    if run.launcher == "slurm":
        return batch_script(run.job)
    return "".join(shlex.join(words) + "\n" for words in commands_elsewhere(run))


def checked(run: "Run", only: bool, keep_signal: bool) -> "Run":
    """The run with what the check found, which is shown. Raises WorkflowError for errors; where nothing is launched they are shown alone."""
    import msgspec

    from rigup.cli.train_check import findings_text
    from rigup.train.launch.script import SCRIPT
    from rigup.workflows.launch_checking import checked_run, refusal

    now, remark = checked_run(run, keep_signal)
    if remark:
        _tell(remark)
    if now.findings:
        batch = str(now.folder / SCRIPT)  # which is not written yet
        shown = [msgspec.structs.replace(each, file=SCRIPT if each.file == batch else each.file) for each in now.findings]
        click.echo("\n".join(findings_text(shown)), err=True)
    if not only:
        refusal(now)
    return now


def followed(run: "Run", as_json: bool, wait: bool) -> int:
    """Show the log until the job ends; its exit status. Ctrl-C leaves the job as it is."""
    from rigup.cli.stopping import stopped, stopping
    from rigup.train.launch.answer import answer
    from rigup.workflows.launching import facts_of, follow

    if not wait:
        now = answer(run, facts_of(run))
        click.echo(data_text(now) if as_json else "\n".join(wrapped(_submitted(now))))
        return 0
    click.echo("\n".join(wrapped(_submitted(answer(run, [])))), err=True)
    with stopping() as signals:
        try:
            now = follow(run, shown_on(sys.stderr if as_json else sys.stdout), _tell)
        except KeyboardInterrupt:
            sentence = _("The job goes on. `rigup launch logs --follow {id}` shows it again, `rigup launch cancel {id}` ends it.")
            raise stopped(sentence.format(id=run.folder.name), signals) from None
    if as_json:
        click.echo(data_text(now))
    else:
        click.echo("\n" + status_text(now), err=True)
        _diagnosed(now)
    return status_of(now)


def _submitted(now: Launch) -> str:
    template = _("Job {job} is submitted. Its script and its log are in {folder}.")
    return template.format(job=now.job, folder=now.script.rpartition("/")[0])


def shown_on(stream: TextIO) -> Callable[[bytes], None]:
    """What shows pieces of a log, of which one may end in the midst of a letter."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def show(piece: bytes) -> None:
        stream.write(decoder.decode(piece))
        stream.flush()

    return show


def _tell(sentence: str) -> None:
    if sentence:
        click.echo("\n".join(wrapped(sentence)), err=True)


def status_of(now: Launch) -> int:
    """The exit status of the rank that failed of itself, before that of those who were ended for its sake; the job's own; a shell's."""
    if now.state == "completed":
        return 0
    if now.state == "timeout":
        return _TIMEOUT
    own = now.failing.exit if now.failing is not None else None
    if own is not None:
        return own if own > 0 else _BY_SIGNAL - own
    return now.exit or _BAD


def begun_here(run: "Run", as_json: bool) -> int:
    """Run a job without a scheduler to its end."""
    from rigup.cli.stopping import stopped, stopping
    from rigup.train.launch.answer import answer
    from rigup.train.launch.record import load
    from rigup.workflows.launching_elsewhere import run_elsewhere

    with stopping() as signals:
        try:
            status = run_elsewhere(run, shown_on(sys.stderr if as_json else sys.stdout))
        except KeyboardInterrupt:
            raise stopped(_("{id} was stopped; all of its ranks have ended.").format(id=run.folder.name), signals) from None
    now = answer(load(run.folder), [])
    if as_json:
        click.echo(data_text(now))
    elif status:
        click.echo("\n" + status_text(now), err=True)
        _diagnosed(now)
    return status_of(now) if status else 0


def status_text(now: Launch) -> str:
    """What became of a job: its state, its starts, the rank that failed."""
    head = _("{id}: {state}").format(id=now.id, state=_word(now.state))
    lines = wrapped(head)
    if now.reason and now.state in ("pending", "requeued"):
        lines += wrapped(_("It waits: {reason}.").format(reason=now.reason), "  ")
    for start in now.attempts:
        end = _("it has not come to its end") if start.exit is None else _("status {status}").format(status=start.exit)
        template = _("Attempt {number} on {nodes}: {end}.")
        lines += wrapped(template.format(number=start.number, nodes=start.nodes, end=end), "  ")
    lines += _progress_lines(now)
    for element in now.array:
        template = _("Run {number} ({words}): {state}.")
        lines += wrapped(template.format(number=element.number, words=" ".join(element.words), state=_word(element.state)), "  ")
    if now.failing is not None:
        lines += _failing_lines(now)
    return "\n".join([*lines, *wrapped(_("Log: {log}").format(log=now.log), "  ")])


def _progress_lines(now: Launch) -> list[str]:
    """What ranks recorded of their steps, and how that grew with their number."""
    lines: list[str] = []
    for attempt in now.progress:
        head = _("Attempt {number} on {ranks} x {device}: {steps} steps, {rate} a second.")
        rate = f"{attempt.steps_per_second:.3g}"
        lines += wrapped(
            head.format(number=attempt.attempt, ranks=attempt.world_size, device=attempt.device, steps=attempt.steps, rate=rate), "  "
        )
        if (
            attempt.gpus_asked
            and attempt.gpus_used is not None
            and attempt.gpus_used < attempt.gpus_asked
            and attempt.bottleneck != "unused-gpus"
        ):
            unused = _("{count} of the {asked} GPUs of a node are not used.")
            lines += wrapped(unused.format(count=attempt.gpus_asked - attempt.gpus_used, asked=attempt.gpus_asked), "    ")
        lines += wrapped(attempt.sentence, "    ") if attempt.sentence else []
    for grown in now.scaling:
        sentence = _("{ranks} ranks are {speedup} times as fast as {of} on {device}: {efficiency} of what they could be.")
        words = {
            "ranks": grown.world_size,
            "of": grown.of,
            "device": grown.device,
            "speedup": f"{grown.speedup:.2f}",
            "efficiency": f"{grown.efficiency:.0%}",
        }
        lines += wrapped(sentence.format(**words), "  ")
    return lines


def _failing_lines(now: Launch) -> list[str]:
    failing = now.failing
    if failing is None:
        return []
    template = _("It failed:") if failing.node is None else _("It failed on {node}:")
    if failing.rank is not None:
        template = _("Rank {rank} on {node} failed of itself:")
    lines = wrapped(template.format(rank=failing.rank, node=failing.node or _("an unknown node")), "  ")
    return [*lines, *("    " + line for line in failing.error.splitlines())]


def _word(state: State) -> str:
    words = {
        "written": _("written, not submitted"),
        "submitted": _("submitted"),
        "pending": _("waits"),
        "running": _("runs"),
        "requeued": _("waits for its next attempt"),
        "completed": _("completed"),
        "failed": _("failed"),
        "cancelled": _("cancelled"),
        "timeout": _("ended by its time limit"),
        "out-of-memory": _("ended for want of memory"),
        "node-fail": _("lost its node"),
        "preempted": _("ended for another job"),
    }
    return words.get(state, _("nobody knows: Slurm has forgotten it"))


def list_text(runs: LaunchList) -> str:
    """A run a line."""
    lines = [
        _("{id}  job {job}  {state}").format(id=run.id, job=run.job if run.job is not None else "-", state=_word(run.state))
        for run in runs.runs
    ]
    return "\n".join(lines or wrapped(_("No run was launched from this folder.")))


def _diagnosed(now: Launch) -> None:
    """What the doctor makes of the log; nothing where it knows nothing of it."""
    import os

    from rigup.cli.report import text
    from rigup.diagnosis.answer import answer, examined
    from rigup.knowledge.tables import KnowledgeError
    from rigup.machine.sources import SourceError, close_sources, open_source

    if now.state in ("completed", "cancelled") or not os.path.isfile(now.log) or any(not check.passed for check in now.preflight):
        return
    try:
        doctor = answer(examined(open_source(now.log)))
        if any(finding.confidence != "possible" for finding in doctor.findings):  # a guess would lead astray here
            click.echo("\n" + text(doctor, 0, False, False), err=True)
    except (SourceError, KnowledgeError):
        return
    finally:
        close_sources()
