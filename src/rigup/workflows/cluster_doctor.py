"""The doctor on every node of a cluster: by the cluster's own srun, or by plain ssh."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from rigup.cluster.asking import NoCluster
from rigup.cluster.differs import Differs
from rigup.cluster.grouping import Examined, Group, grouped
from rigup.cluster.states import UP, state_of
from rigup.language import _
from rigup.machine.collect.ssh import Failure
from rigup.machine.slurm.asking import Slurm
from rigup.machine.slurm.hostlist import expand, fold
from rigup.machine.slurm.values import Node
from rigup.machine.store import Facts
from rigup.schemas.doctor import Doctor, Verdict
from rigup.schemas.machine import Machine
from rigup.schemas.nodes import Deep, NodeDiffers, NodeGroup, NodeNotAsked

if TYPE_CHECKING:
    from rigup.cluster.deep import Measured
    from rigup.workflows.cluster_talk import Talk

_SIDE_BY_SIDE = 8
_MOST_HOSTS = 20_000


class Deeper(NamedTuple):
    """What is to be measured beside.

    Attributes:
        python: the interpreter on the nodes, whose torch computes.
        seconds: that verification of a node's devices may take.
        folders: whose disks are measured; none: that of temporary files.
        tell: is told what comes next.

    """

    python: str
    seconds: float = 120.0
    folders: tuple[str, ...] = ()
    tell: Callable[[str], None] = lambda _text: None


def of_slurm(partition: str = "", kept: str = "", deeper: Deeper | None = None) -> Doctor:
    """Every node that has room for the question, asked by one srun. To measure, it must have the whole node.

    Raises:
        NoCluster: there is no Slurm here, it does not answer, or there is no such partition.

    """
    nodes = _nodes(partition, kept)
    barred = {name: _barred(node) or (_busy(node) if deeper else "") for name, node in nodes.items()}
    free = {name: node for name, node in nodes.items() if not barred[name]}
    away = {name: because for name, because in barred.items() if because}
    examined: dict[str, Examined] = {}
    found: Measured | None = None
    if free:
        if deeper:
            answers, error_text, found = _deep_by_srun(list(free), partition, deeper)
        else:
            answers, error_text = _by_srun(list(free), partition)
        examined = {name: _examined(facts, _expected(free[name])) for name, facts in answers.items() if name in free}
        because = _("It did not answer: {said}").format(said=error_text) if error_text else _("It did not answer in time.")
        away |= {name: because for name in free if name not in examined}
    classes: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for name in examined:
        node = nodes[name]
        classes[node.partitions[:1], tuple((gpus.type, gpus.total) for gpus in node.gpus)].append(name)
    return _answer(examined, classes.values(), away, found)


def of_hosts(text: str, refused: Callable[[Failure], str], deeper: Deeper | None = None) -> Doctor:
    """Hosts of a file, a name or a range a line, each by the person's own ssh. `refused` tells why one gave no answer."""
    from concurrent.futures import ThreadPoolExecutor

    from rigup.machine.collect import tree

    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    names = list(dict.fromkeys(name for line in lines for name in expand(line.replace(" ", ","))))[:_MOST_HOSTS]
    if deeper:
        return _deep_by_ssh(names, refused, deeper)
    try:
        with ThreadPoolExecutor(_SIDE_BY_SIDE) as workers:
            answers = dict(zip(names, workers.map(lambda name: _by_ssh(name, refused), names), strict=True))
    finally:
        tree.discard()
    examined = {name: answer for name, answer in answers.items() if isinstance(answer, Examined)}
    return _answer(examined, [list(examined)], {name: answer for name, answer in answers.items() if isinstance(answer, str)})


def _by_ssh(host: str, refused: Callable[[Failure], str]) -> Examined | str:
    from rigup.workflows.diagnosing import facts_of_host

    try:
        return _examined(facts_of_host(host, quiet=True), None)
    except Failure as failure:
        return refused(failure)


def _deep_by_srun(names: list[str], partition: str, deeper: Deeper) -> "tuple[dict[str, Facts], str, Measured | None]":
    from rigup.machine.collect.ssh import cleaned
    from rigup.workflows.cluster_deep import minutes
    from rigup.workflows.cluster_talk import by_srun

    _not_too_many(names)
    try:
        talk = by_srun(names, partition, deeper.python, minutes(deeper.seconds, len(deeper.folders)))
    except OSError as error:
        raise NoCluster(_("srun could not be started: {error}.").format(error=error.strerror)) from error
    with talk:
        facts, found = _answers_of(talk, names, deeper)
        return facts, (cleaned(talk.last_words()).splitlines() or [""])[-1], found


def _deep_by_ssh(names: list[str], refused: Callable[[Failure], str], deeper: Deeper) -> Doctor:
    from rigup.machine.collect import ssh
    from rigup.workflows.cluster_talk import by_ssh

    _not_too_many(names)
    sound = [name for name in names if ssh.fit(name)]
    away = {name: refused(Failure("name")) for name in names if name not in sound}
    try:
        talk = by_ssh(sound, deeper.python)
    except OSError as error:
        raise NoCluster(refused(Failure("no-ssh", str(error)))) from error
    with talk:
        facts, found = _answers_of(talk, sound, deeper)
        away |= {name: refused(ssh.failed(talk.last_words(name))) for name in sound if name not in facts}
    examined = {name: _examined(seen, None) for name, seen in facts.items()}
    return _answer(examined, [list(examined)], away, found)


def _not_too_many(names: list[str]) -> None:
    from rigup.workflows.cluster_deep import MOST_NODES

    if len(names) > MOST_NODES:
        template = _("These are {count} nodes, and {most} at most are measured at once: name a part of them with --partition or --hosts.")
        raise NoCluster(template.format(count=len(names), most=MOST_NODES))


def _answers_of(talk: "Talk", names: list[str], deeper: Deeper) -> "tuple[dict[str, Facts], Measured]":
    """What nodes say of themselves, and what is measured on those that did."""
    from rigup.machine.collect import srun
    from rigup.workflows.cluster_deep import measured

    begun = sorted(talk.begun(names, srun.SECONDS))
    facts = _seen({name: bytes(talk.facts[name]) for name in begun})
    return facts, measured(talk, [name for name in names if name in facts], deeper.seconds, list(deeper.folders), deeper.tell)


def _nodes(partition: str, kept: str) -> dict[str, Node]:
    slurm = Slurm(kept=kept)
    if not slurm.is_installed:
        raise NoCluster(_("Slurm's programs are not on this machine. Ask on a login node, or name hosts with --hosts."))
    slurm.nodes()
    if slurm.dump.nodes is None:
        raise NoCluster(
            _("Slurm does not answer: {said} Ask again later; `scontrol ping` tells whether its controller is up.").format(
                said=slurm.asked[-1].said
            )
        )
    nodes = {node.name: node for node in slurm.dump.nodes if not partition or partition in node.partitions}
    if not nodes:
        raise NoCluster(_("No node is in a partition {partition}.").format(partition=partition))
    return nodes


def _barred(node: Node) -> str:
    """Why a node cannot be asked; "" where it can."""
    if state_of(node) not in UP:
        return _("Slurm gives it no jobs: {state}.").format(
            state=" ".join(filter(None, (_(state_of(node)) + ",", node.reason))).rstrip(",. ")
        )
    if node.cpus is not None and node.cpus_allocated is not None and node.cpus_allocated >= node.cpus:
        return _("No processor is free.")
    return ""


def _busy(node: Node) -> str:
    """Why nothing can be measured on a node; "" where it can."""
    used = node.cpus_allocated or sum(gpus.allocated or 0 for gpus in node.gpus)
    return _("Jobs run there, so nothing is measured: it is examined without --deep.") if used else ""


def _expected(node: Node) -> int | None:
    return sum(gpus.total for gpus in node.gpus) if node.gpus else None


def _by_srun(names: list[str], partition: str) -> tuple[dict[str, Facts], str]:
    from rigup.machine.collect import srun
    from rigup.machine.collect.ssh import cleaned

    try:
        reply = srun.asked(names, partition, srun.SECONDS)
    except OSError as error:
        raise NoCluster(_("srun could not be started: {error}.").format(error=error.strerror)) from error
    return _seen(reply.answers), (cleaned(reply.said).splitlines() or [""])[-1]


def _seen(answers: Mapping[str, bytes]) -> dict[str, Facts]:
    from rigup.machine.collect import remote, tree
    from rigup.machine.collect.stream import parse

    found: dict[str, Facts] = {}
    try:
        for name, body in answers.items():
            collected = parse(body)
            if collected.system:
                found[name] = remote.seen(collected, name)
    finally:
        tree.discard()
    return found


def _examined(facts: Facts, expected: int | None) -> Examined:
    """What a node's facts say: findings louder than a note, what lasts, its GPUs."""
    from rigup.cluster.links import links_of
    from rigup.diagnosis.answer import Diagnosis, answer
    from rigup.diagnosis.judge import judged
    from rigup.machine.fingerprint import fingerprint
    from rigup.machine.kinds import Gpu

    doctor = answer(Diagnosis(facts, *judged(facts)))
    whole = tuple(finding for finding in doctor.findings if finding.severity != "note")
    findings = tuple((finding.cause, finding.title) for finding in whole)
    gpus = tuple(str(gpu.get("name") or "GPU") for gpu in facts.of(Gpu))
    return Examined(fingerprint(facts), findings, gpus, expected, whole, links=links_of(facts))


def _answer(
    examined: Mapping[str, Examined], alike: Iterable[list[str]], away: Mapping[str, str], found: "Measured | None" = None
) -> Doctor:
    from rigup.cluster import links

    silent: dict[str, list[str]] = defaultdict(list)
    deep: Deep | None = None
    alike = [list(names) for names in alike]
    reached = {name: node.links for name, node in examined.items() if node.links}
    rows: Mapping[str, tuple[Differs, ...]] = links.differences(reached, alike)
    if found is not None:
        from rigup.cluster.deep import differences

        more, deep = differences(found)
        rows = {name: (*rows.get(name, ()), *more.get(name, ())) for name in examined}
    examined = {name: node._replace(measured=rows.get(name, ())) for name, node in examined.items()}
    for name, because in away.items():
        silent[because].append(name)
    groups = grouped(examined, alike)
    findings = [replace(finding, place=name) for name, node in examined.items() for finding in node.whole]
    return Doctor(
        verdict=_verdict(groups, deep),
        machine=Machine(displays=[], drivers=[]),
        failed_verifications=[],
        findings=findings,
        skipped=[],
        unexplained=[],
        unexplained_said=[],
        near=[],
        troubles=[],
        unanswered=[],
        groups=[
            NodeGroup(
                nodes=fold(group.nodes),
                count=len(group.nodes),
                findings=[cause for cause, _title in group.findings],
                differs=[NodeDiffers(fact=row.fact, value=row.value, usual=row.usual) for row in group.differs],
            )
            for group in groups
        ],
        not_asked=[NodeNotAsked(nodes=fold(names), because=because) for because, names in silent.items()],
        links=links.shared(reached, alike),
        deep=UNSET if deep is None else deep,
    )


def _verdict(groups: list[Group], deep: Deep | None) -> Verdict:
    """Of all nodes together: unknown where none was examined."""
    if not groups:
        return "unknown"
    return (
        "degraded"
        if any(group.findings or group.differs for group in groups) or (deep and any(link.alone for link in deep.links))
        else "healthy"
    )
