"""The doctor on every node of a cluster: by the cluster's own srun, or by plain ssh."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from rigup.cluster.asking import NoCluster
from rigup.cluster.grouping import Examined, grouped
from rigup.cluster.states import UP, state_of
from rigup.language import _
from rigup.machine.collect.ssh import Failure
from rigup.machine.slurm.asking import Slurm
from rigup.machine.slurm.hostlist import expand, fold
from rigup.machine.slurm.values import Node
from rigup.machine.store import Facts
from rigup.schemas.cluster import ClusterDoctor, NodeDiffers, NodeFinding, NodeGroup, NodeNotAsked

_SIDE_BY_SIDE = 8
_MOST_HOSTS = 20_000


def of_slurm(partition: str = "", kept: str = "") -> ClusterDoctor:
    """Every node that has room for the question, asked by one srun.

    Raises:
        NoCluster: there is no Slurm here, it does not answer, or there is no such partition.

    """
    nodes = _nodes(partition, kept)
    free = {name: node for name, node in nodes.items() if not _barred(node)}
    away = {name: _barred(node) for name, node in nodes.items() if _barred(node)}
    examined: dict[str, Examined] = {}
    if free:
        answers, said = _by_srun(list(free), partition)
        examined = {name: _examined(facts, _expected(free[name])) for name, facts in answers.items() if name in free}
        because = _("It did not answer: {said}").format(said=said) if said else _("It did not answer in time.")
        away |= {name: because for name in free if name not in examined}
    classes: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for name in examined:
        node = nodes[name]
        classes[node.partitions[:1], tuple((gpus.type, gpus.total) for gpus in node.gpus)].append(name)
    return _answer(examined, classes.values(), away)


def of_hosts(text: str, refused: Callable[[Failure], str]) -> ClusterDoctor:
    """Hosts of a file, a name or a range a line, each by the person's own ssh. `refused` tells why one gave no answer."""
    from concurrent.futures import ThreadPoolExecutor

    from rigup.machine.collect import tree

    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    names = list(dict.fromkeys(name for line in lines for name in expand(line.replace(" ", ","))))[:_MOST_HOSTS]
    try:
        with ThreadPoolExecutor(_SIDE_BY_SIDE) as workers:
            answers = dict(zip(names, workers.map(lambda name: _by_ssh(name, refused), names), strict=True))
    finally:
        tree.discard()
    examined = {name: answer for name, answer in answers.items() if isinstance(answer, Examined)}
    return _answer(
        examined, [list(examined)], {name: answer for name, answer in answers.items() if isinstance(answer, str)}
    )


def _by_ssh(host: str, refused: Callable[[Failure], str]) -> Examined | str:
    from rigup.workflows.diagnosing import facts_of_host

    try:
        return _examined(facts_of_host(host, quiet=True), None)
    except Failure as failure:
        return refused(failure)


def _nodes(partition: str, kept: str) -> dict[str, Node]:
    slurm = Slurm(kept=kept)
    if not slurm.there:
        raise NoCluster(_("Slurm's programs are not on this machine. Ask on a login node, or name hosts with --hosts."))
    slurm.nodes()
    if slurm.dump.nodes is None:
        raise NoCluster(
            _(
                "Slurm does not answer: {said} Ask again later; `scontrol ping` tells whether its controller is up."
            ).format(said=slurm.asked[-1].said)
        )
    nodes = {node.name: node for node in slurm.dump.nodes if not partition or partition in node.partitions}
    if not nodes:
        raise NoCluster(_("No node is in a partition {partition}.").format(partition=partition))
    return nodes


def _barred(node: Node) -> str:
    """Why a node cannot be asked; "" where it can."""
    if state_of(node) not in UP:
        return _("Slurm gives it no jobs: {state}.").format(
            state=" ".join(filter(None, (state_of(node) + ",", node.reason))).rstrip(",. ")
        )
    if node.cpus is not None and node.cpus_allocated is not None and node.cpus_allocated >= node.cpus:
        return _("No processor is free.")
    return ""


def _expected(node: Node) -> int | None:
    return sum(gpus.total for gpus in node.gpus) if node.gpus else None


def _by_srun(names: list[str], partition: str) -> tuple[dict[str, Facts], str]:
    from rigup.machine.collect import remote, srun, tree
    from rigup.machine.collect.ssh import cleaned
    from rigup.machine.collect.stream import parse

    try:
        heard = srun.asked(names, partition)
    except OSError as error:
        raise NoCluster(_("srun could not be started: {error}.").format(error=error.strerror)) from error
    found: dict[str, Facts] = {}
    try:
        for name, body in heard.answers.items():
            collected = parse(body)
            if collected.system:
                found[name] = remote.seen(collected, name)
    finally:
        tree.discard()
    return found, (cleaned(heard.said).splitlines() or [""])[-1]


def _examined(facts: Facts, expected: int | None) -> Examined:
    """What a node's facts say: findings louder than a note, what lasts, its GPUs."""
    from rigup.diagnosis.answer import Diagnosis, answer
    from rigup.diagnosis.judge import judged
    from rigup.machine.fingerprint import fingerprint
    from rigup.machine.kinds import Gpu

    doctor = answer(Diagnosis(facts, *judged(facts)))
    findings = tuple((finding.cause, finding.title) for finding in doctor.findings if finding.severity != "note")
    gpus = tuple(str(gpu.get("name") or "GPU") for gpu in facts.of(Gpu))
    return Examined(fingerprint(facts), findings, gpus, expected)


def _answer(examined: Mapping[str, Examined], alike: Iterable[list[str]], away: Mapping[str, str]) -> ClusterDoctor:
    silent: dict[str, list[str]] = defaultdict(list)
    for name, because in away.items():
        silent[because].append(name)
    return ClusterDoctor(
        groups=[
            NodeGroup(
                nodes=fold(group.nodes), count=len(group.nodes), findings=[NodeFinding(cause=cause, title=title) for cause, title in group.findings],
                differs=[NodeDiffers(fact=row.fact, value=row.value, usual=row.usual) for row in group.differs],
            )
            for group in grouped(examined, alike)
        ],
        not_asked=[NodeNotAsked(nodes=fold(names), because=because) for because, names in silent.items()],
    )  # fmt: skip
