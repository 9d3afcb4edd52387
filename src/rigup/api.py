"""rigup for other programs: diagnose, plan, apply, take back, verify and explain, with typed answers and errors.

Nothing is printed and nobody is asked: who calls `apply` has agreed. Answers are the types of `rigup.schemas`, the same that
`--json` prints (`rigup schema` tells them key by key); secrets, and values of variables that GPUs do not need, are left out.
Texts are in the language of `rigup.language`, English unless a program chooses another.
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rigup.workflows.errors import CannotBeDoneError, RequestError, UnclearMachineError, WorkflowError, as_workflow_errors

if TYPE_CHECKING:
    from rigup.plan.applying.journal import Intent
    from rigup.schemas.apply import ApplyBlocked, ApplyEnded, ApplyNothing
    from rigup.schemas.doctor import Doctor
    from rigup.schemas.explain import Explain
    from rigup.schemas.plan import Plan
    from rigup.schemas.undo import Undone
    from rigup.schemas.verify import Verify
    from rigup.workflows.applying import Refusal

__all__ = [
    "CannotBeDoneError",
    "RequestError",
    "UnclearMachineError",
    "WorkflowError",
    "apply",
    "doctor",
    "explain",
    "plan",
    "undo",
    "verify",
]


def doctor(source: str | None = None, *, wake: bool = False, with_values: bool = False) -> "Doctor":
    """What a machine is, and what is wrong with it.

    Args:
        source: a report, a log, a folder of them or a captured tree; None for this machine.
        wake: whether cards that are asleep are asked too, which wakes them.
        with_values: whether what looks like a secret, and all values of variables, are left in.

    Raises:
        RequestError: the source cannot be read.

    """
    from rigup.diagnosis.answer import diagnose
    from rigup.machine.outward import outward
    from rigup.workflows.diagnosing import this_machine

    with as_workflow_errors():
        answer = this_machine(wake) if source is None else diagnose(source, wake)
        return answer if with_values else outward(answer)


def plan(*wishes: str, machine: str | None = None, resolve: bool = True, **request: Any) -> "Plan":
    """What should be there for wishes, and the steps that lead to it; nothing is changed.

    Args:
        wishes: packages with or without a version, or files of them; none for the newest torch that the machine runs.
        machine: another machine: words, a TOML file, a report or a capture; None for this one.
        resolve: whether a real resolver is asked for every package that comes.
        request: further fields of `rigup.workflows.planning.Request`: environment, files, python, manager, prefer …

    Raises:
        UnclearMachineError: the machine was told in words that lack something.
        RequestError: the wishes cannot be understood.

    """
    from rigup.machine.outward import outward
    from rigup.plan.answer import answer
    from rigup.workflows.planning import Request, chosen

    with as_workflow_errors():
        asked = Request(wishes=wishes, profile=machine, **request)
        return outward(answer(chosen(asked, resolve=resolve)))


def apply(*wishes: str, environment: str = "", **request: Any) -> "ApplyEnded | ApplyBlocked | ApplyNothing":
    """Choose a stack that this machine can run, and make it so. Who calls this has agreed; nobody is asked for a password.

    Args:
        wishes: as of `plan`.
        environment: the environment to make or to change; "" for the active one, else .venv in this folder.
        request: as of `plan`.

    Raises:
        RequestError: the wishes cannot be understood, or something that is no environment is in the way.
        CannotBeDoneError: a step needs root that is not given, or another run is under way.

    """
    from rigup.plan.answer import answer
    from rigup.workflows import applying, intents
    from rigup.workflows.environments import in_this_folder
    from rigup.workflows.planning import Request, chosen

    with as_workflow_errors(), applying.announced(wishes) as record:
        asked = Request(wishes=wishes, environment=environment or in_this_folder(), **request)
        choice = chosen(asked, resolve=True)
        found = answer(choice)
        intent = intents.of_request(asked, choice, found)
        if refused := applying.refusal(found):
            return _refused(refused, found)
        return _carried_out(intent, record)


def _refused(refused: "Refusal", plan: "Plan") -> "ApplyBlocked | ApplyNothing":
    from rigup.machine.outward import outward
    from rigup.schemas.apply import ApplyBlocked, ApplyNothing

    if refused.kind in ("ready", "impossible"):
        return outward(ApplyNothing(verdict=refused.kind, plan=plan))
    return outward(ApplyBlocked(verdict="blocked", because=refused.because, steps=plan.steps))


def _carried_out(intent: "Intent", record: Any) -> "ApplyEnded":
    from rigup.schemas.apply import ApplyEnded
    from rigup.workflows.applying import carried_out, must_be_free, reached
    from rigup.workflows.dialogue import Unattended

    nobody = Unattended()
    must_be_free(intent.environment)
    run, outcome = carried_out(intent, reached(intent, nobody), nobody, record)
    log = str(run.log(outcome.step)) if outcome.step >= 0 else None
    return ApplyEnded(verdict=outcome.end, because=outcome.because or None, number=run.number, log=log)


def undo(number: int | None = None) -> "Undone":
    """Take a run of `apply` back: its steps in reverse order.

    Args:
        number: the run's, as `apply` answers it; None for the last one.

    Raises:
        RequestError: there is no such run.
        CannotBeDoneError: there is nothing to take back, a later run changed the same environment, or root is not given.

    """
    from rigup.workflows import undoing
    from rigup.workflows.dialogue import Unattended

    with as_workflow_errors():
        record = undoing.run_to_take_back(number)
        undoing.settled(record)
        undoing.must_be_last(record)
        return undoing.answer(record, undoing.taken_back(record, undoing.ways(record), Unattended()))


def verify(environment: str = "", *, full: bool = False, devices: Sequence[str] = ()) -> "Verify":
    """Prove on every device that an environment computes right, in its own Python.

    Args:
        environment: its folder, its interpreter or its name; "" for the active one, else the one in this folder.
        full: whether it also trains, takes most of the memory, and compiles.
        devices: names as the framework calls them (`cuda:0`, `cpu`); none for all.

    Raises:
        RequestError: there is no such environment, or its interpreter cannot be asked.

    """
    from rigup.machine.outward import outward
    from rigup.verify.verify import verify as verified
    from rigup.workflows.environments import folder_of

    with as_workflow_errors():
        return outward(verified(folder_of(os.fspath(environment)), full, tuple(devices)))


def explain(asked: str = "") -> "Explain":
    """What a cause means, or which causes a message may mean; all causes where nothing is asked."""
    from rigup.workflows.explaining import explained

    with as_workflow_errors():
        return explained(asked)
