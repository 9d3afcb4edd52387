"""The state of a cluster, for whoever asks here."""

from rigup.cluster.asking import NoCluster, from_files, kept_folder, live
from rigup.cluster.overview import You, overview
from rigup.machine.local import Local
from rigup.schemas.cluster import Cluster

__all__ = ["NoCluster", "cluster", "kept_folder"]


def cluster(paths: list[str], names: bool = False) -> Cluster:
    """What stands idle, now or in dumps.

    Args:
        paths: dumps, or folders of them; empty: Slurm is asked.
        names: whether other people's names are told.

    Raises:
        NoCluster: there is no answer of Slurm.
        OSError: a file cannot be read.

    """
    you = _you(names)
    if paths:
        dump, sources, now = from_files(paths)
        return overview(dump, sources, now, You(names=names))
    dump, sources, now = live(you.user, kept=kept_folder())
    return overview(dump, sources, now, you)


def _you(names: bool) -> You:
    """The account that asks, as `id` tells it."""
    import re

    account = Local().account().body or ""
    user = re.search(r"uid=\d+\(([^)]*)\)", account)
    groups = re.findall(r"\(([^()]*)\)", account.partition("groups=")[2])
    return You(user=user[1] if user else "", groups=frozenset(groups), names=names)
