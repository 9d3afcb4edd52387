"""The report of what was asked for and not used, for whoever asks here."""

import os
import re

import platformdirs

from rigup.cluster.asking import NoCluster, asked_commands, kept_folder, records_from_files
from rigup.cluster.overview import You
from rigup.cluster.usage import Trained, report, trained
from rigup.language import _
from rigup.machine.local import Local
from rigup.machine.slurm.asking import Slurm
from rigup.machine.training import run_history
from rigup.schemas.cluster_report import ClusterReport
from rigup.workflows.clusters import you_here

_MOST_RUNS = 10_000


def cluster_report(paths: list[str], days: int, accounts: bool, names: bool) -> ClusterReport:
    """What jobs of the last days, or of dumps, asked for and did not use.

    Args:
        paths: dumps of `sacct`, or folders of them; empty: Slurm is asked.
        days: how far back Slurm is asked.
        accounts: whether sums by account are wanted.
        names: whether other people's names are told.

    Raises:
        NoCluster: there is no accounting, or the sums by account are not for whoever asks.
        OSError: a file cannot be read.

    """
    you = you_here(names)
    if paths:
        dump, sources = records_from_files(paths)
        return report(dump, sources, {}, You(names=names), accounts)
    slurm = Slurm(kept=kept_folder())
    if not slurm.is_installed:
        raise NoCluster(_("Slurm's programs are not on this machine. Ask on a login node, or read dumps with --from."))
    if accounts and os.getuid() and not slurm.administrates(you.user):
        raise NoCluster(_("Sums by account are for Slurm's administrators and operators. Leave --accounts out."))
    slurm.records(f"now-{days}days")
    if slurm.dump.records is None:
        words = slurm.asked[-1].said.splitlines() or [""]
        template = _("sacct tells nothing: {said} Without an accounting database there is no report.")
        raise NoCluster(template.format(said=words[-1].rstrip(".") + "."))
    return report(slurm.dump, asked_commands(slurm), _trained(), you, accounts)


def _trained() -> dict[str, Trained]:
    """By job, what the histories of your own trainings tell."""
    host = Local()
    folder = os.environ.get("RIGUP_TRAIN_HISTORY", "").strip()
    above = str(platformdirs.user_state_path("rigup") / "training")
    folders = [folder] if folder else sorted({os.path.dirname(path) for path in host.find(f"{above}/slurm-*/rank-*.jsonl")})
    ranks = (lines for run in folders[-_MOST_RUNS:] for lines in run_history(host, re.sub(r"([][*?])", r"[\1]", run)).values())
    return trained(ranks)
