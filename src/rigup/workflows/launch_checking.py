"""The check of `rigup train check` before a launch: over the person's script and the batch script that would be written."""

import msgspec

from rigup.language import _
from rigup.train.launch.record import Run
from rigup.train.launch.script import SCRIPT, batch_script
from rigup.workflows.errors import RequestError, WorkflowError
from rigup.workflows.train_checking import checked_text, partitions_here

# Of the batch script: the folders of a run are made before it is submitted, and --address is what a person wants.
_SEEN_TO = frozenset(["sbatch-output-folder-missing", "master-address-hard-coded"])
_UNHANDLED = "signal-without-handler"


def checked_run(run: Run, keep_signal: bool) -> tuple[Run, str]:
    """The run with what was found, and a remark on it or "".

    A signal that nobody asked for (`keep_signal` False) is left out where it would end the program, which has no handler.
    """
    program = run.job.program
    if not program.script.endswith(".py"):
        return run, ""
    batch = str(run.folder / SCRIPT) if run.launcher == "slurm" else ""
    text = batch_script(run.job, bare=True) if batch else ""
    try:
        found = checked_text(program.script, batch, text, partitions_here() if batch else {})
    except WorkflowError as error:  # what this Python cannot parse, that of the job may
        return run, _("The script is launched unchecked. {why}").format(why=error)
    findings = tuple(each for each in found.answer.findings if each.file != batch or each.cause not in _SEEN_TO)
    if not keep_signal and any(finding.cause == _UNHANDLED for finding in findings):
        shape = msgspec.structs.replace(run.job.shape, signal=None)
        without = msgspec.structs.replace(run, job=msgspec.structs.replace(run.job, shape=shape))
        remark = _(
            "No signal is sent before the time limit: {script} is not seen to handle one. `rigup.train` saves a checkpoint then, and goes on in a new attempt; --signal USR1 sends it all the same."
        )
        return checked_run(without, keep_signal=True)[0], remark.format(script=program.script.rpartition("/")[2])
    return msgspec.structs.replace(run, checked=True, findings=findings), ""


def refusal(run: Run) -> None:
    """Raises RequestError where the check found errors."""
    errors = [finding.cause for finding in run.findings if finding.severity == "error"]
    if errors:
        template = _(
            "Nothing was launched: the check found errors ({causes}). Mend them, or launch it so with --no-check; --print shows the batch script."
        )
        raise RequestError(template.format(causes=", ".join(dict.fromkeys(errors))))
