"""The doctor's answer where it takes more than one look: against the last healthy state, with a program's end, of many hosts."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from msgspec import UNSET, structs

from rigup.machine.store import Facts
from rigup.schemas.doctor import Doctor, NotAsked, Program, Rank, SinceOk
from rigup.schemas.shared import Finding

if TYPE_CHECKING:
    from rigup.machine.collect.ssh import Failure
    from rigup.machine.sources import Source
    from rigup.machine.witness import Ended

Asked = Doctor | NotAsked
HERE = "localhost"  # this machine, without ssh
_SIDE_BY_SIDE = 8
_ASKABLE = ("host-key", "refused")  # what a person at the terminal can answer


def this_machine(wake: bool = False, compare: bool = False) -> Doctor:
    """The doctor's answer for this machine; a healthy run leaves a record, `compare` tells what has changed since one."""
    from rigup.diagnosis.answer import answer, examined
    from rigup.machine.sources import close_sources, open_source

    try:
        seen = examined(open_source(None), wake)
    finally:
        close_sources()
    report = answer(seen)
    if compare:
        report = structs.replace(report, since_ok=since_ok(seen.facts, report.findings))
    elif report.verdict == "healthy":  # who compares wants the record as it is
        from rigup.machine.baseline import record

        record(seen.facts)
    return report


def since_ok(facts: Facts, findings: list[Finding]) -> SinceOk:
    """What differs from the last healthy state that differs at all; findings tell what to suspect first."""
    from rigup.diagnosis.suspects import ranked
    from rigup.machine.baseline import records
    from rigup.machine.difference import differences
    from rigup.machine.fingerprint import fingerprint
    from rigup.workflows.differences import difference_rows

    states, now = records(facts), fingerprint(facts)
    compared = ((state, differences(state.machine, now)) for state in states)
    last, differing = next(((state, changes) for state, changes in compared if changes), (states[0] if states else None, []))
    causes = [finding.cause for finding in findings]
    return SinceOk(
        recorded_at=last.recorded_at if last else None,
        environment=(last and last.environment) or None,
        differences=difference_rows(ranked(differing, findings), causes),
        unchanged_since=states[0].recorded_at if last and last is not states[0] else UNSET,
    )


# -- programs ----------------------------------------------------------------------------------------


def of_program(ended: "Ended", wake: bool = False, compare: bool = False) -> Doctor:
    """The doctor's answer after a program has ended, with how and where it ended."""
    from rigup.diagnosis.answer import answer, examined
    from rigup.machine.witness import witnessed

    seen = examined(witnessed(ended), wake)
    report = structs.replace(answer(seen), program=_program(ended))
    if compare:
        report = structs.replace(report, since_ok=since_ok(seen.facts, report.findings))
    return report


def _program(ended: "Ended") -> Program:
    """How it ended and in which environment."""
    from rigup.machine.ranks import failed_first

    failed = failed_first(ended.output.decode("utf-8", "replace"))
    variables = ended.variables or {}
    return Program(
        argv=ended.argv,
        signal=-ended.status if ended.status < 0 else UNSET,
        status=ended.status if ended.status >= 0 else UNSET,
        interpreter=ended.interpreter or None,
        environment=variables.get("VIRTUAL_ENV") or variables.get("CONDA_PREFIX"),
        rank=failed and Rank(**failed._asdict()),
    )


def after_running(argv: tuple[str, ...]) -> "list[Source]":
    """What this machine and a program's end tell together; the program is run.

    Raises:
        RequestError: it cannot be started.

    """
    from rigup.language import _
    from rigup.machine.witness import witnessed
    from rigup.workflows.errors import RequestError
    from rigup.workflows.supervision import supervised

    try:
        return witnessed(supervised(argv, aside=True))
    except OSError as error:
        template = _("{name} could not be started: {error}.")
        raise RequestError(template.format(name=argv[0], error=error.strerror or type(error).__name__)) from error


# -- hosts -------------------------------------------------------------------------------------------


def of_hosts(
    hosts: Iterable[str],
    wake: bool,
    refused: "Callable[[Failure], NotAsked]",
    *,
    can_ask: bool = False,
    asking: Callable[[str], None] = lambda _host: None,
) -> dict[str, Asked]:
    """The doctor's answer for each host, or an error as a value, in the order in which they are named.

    Several are asked side by side without questions; those that need a password or a word about a key are asked again one
    by one, where there is somebody to answer.

    Args:
        hosts: as ssh takes them; `localhost` is this machine.
        wake: whether cards that are asleep are woken.
        refused: makes a value of a failure.
        can_ask: whether somebody at a terminal can answer what ssh asks.
        asking: called with each host before it is asked.

    """
    from rigup.machine.collect import tree

    def answered(name: str, quiet: bool) -> Asked:
        return _answered(name, wake, quiet, refused, asking)

    names = list(dict.fromkeys(hosts))
    try:
        if len(names) == 1:
            return {name: answered(name, False) for name in names}
        answers = _side_by_side(names, answered)
        again = [name for name, answer in answers.items() if can_ask and isinstance(answer, NotAsked) and answer.error in _ASKABLE]
        return answers | {name: answered(name, False) for name in again}
    finally:
        tree.discard()


def _side_by_side(names: list[str], answered: Callable[[str, bool], Asked]) -> dict[str, Asked]:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_SIDE_BY_SIDE) as workers:
        return dict(zip(names, workers.map(lambda name: answered(name, True), names), strict=True))


def _answered(host: str, wake: bool, quiet: bool, refused: "Callable[[Failure], NotAsked]", asking: Callable[[str], None]) -> Asked:
    from rigup.machine.collect.ssh import Failure

    asking(host)
    try:
        return _here(wake) if host == HERE else _diagnose_host(host, wake, quiet)
    except Failure as failure:
        return refused(failure)


def _here(wake: bool) -> Doctor:
    from rigup.diagnosis.answer import diagnose

    return diagnose(None, wake)


def _diagnose_host(host: str, wake: bool, quiet: bool) -> Doctor:
    from rigup.diagnosis.answer import Diagnosis, answer
    from rigup.diagnosis.judge import judged

    facts = facts_of_host(host, wake, quiet)
    return answer(Diagnosis(facts, *judged(facts)))


def facts_of_host(host: str, wake: bool = False, quiet: bool = False) -> Facts:
    """What a machine is at the other end of the person's own ssh.

    Args:
        host: as ssh takes it.
        wake: whether cards that are asleep are woken.
        quiet: whether ssh asks nothing.

    Raises:
        Failure: it could not be asked.

    """
    from rigup.machine.collect import remote
    from rigup.machine.collect.ssh import Connection, Failure

    connection = Connection(host, quiet=quiet)
    try:
        collected = remote.collected(connection.trip, wake)
    finally:
        connection.close()
    if not collected.system:
        raise Failure("no-shell")
    return remote.seen(collected, node_of(host), wake)


def node_of(host: str) -> str:
    """The node's name: `ssh://ada@node7:2222` and `ada@node7` are node7."""
    return host.removeprefix("ssh://").rpartition("@")[2].partition("/")[0].partition(":")[0]
