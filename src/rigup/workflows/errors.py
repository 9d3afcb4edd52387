"""What a workflow raises: each text has what happened, where, and what to do next."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from rigup.language import _


class WorkflowError(Exception):
    """What was asked for did not come about. Its text is for a person."""


class RequestError(WorkflowError):
    """The request itself cannot be understood, or names what is not there."""


class UnclearMachineError(RequestError):
    """A machine that was described in words lacks something that planning needs."""


class CannotBeDoneError(WorkflowError):
    """The request is right; the work failed, or there is nothing to work on."""


@contextmanager
def as_workflow_errors() -> Iterator[None]:
    """Within it, what the stations and the system raise as an answer is raised as a `WorkflowError`; faults go through."""
    try:
        yield
    except Exception as error:
        if (failure := workflow_error_of(error)) is None:
            raise
        raise failure from error


def workflow_error_of(error: Exception) -> WorkflowError | None:
    """An error of a station as a workflow's; None for a fault of rigup's own."""
    if isinstance(error, WorkflowError):
        return error
    if isinstance(error, OSError):
        return RequestError(_of_system(error))
    refused, failed = _of_stations()
    if isinstance(error, failed):
        return CannotBeDoneError(str(error))
    return RequestError(str(error)) if isinstance(error, refused) else None


def _of_system(error: OSError) -> str:
    path = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else ""
    sentence = _("{path}: {why}.").format(path=path, why=error.strerror or type(error).__name__)
    return sentence.removeprefix(": ")


def _of_stations() -> tuple[tuple[type[Exception], ...], tuple[type[Exception], ...]]:
    """Classes that refuse a request, and classes that say that the work failed; imported where something was raised."""
    from rigup.container.asked import ContainerError
    from rigup.knowledge.tables import KnowledgeError
    from rigup.lab.errors import LabError
    from rigup.machine.sources import SourceError
    from rigup.plan.applying.journal import BusyError, JournalError
    from rigup.plan.applying.taking import Failed
    from rigup.plan.environments.found import NoEnvironment
    from rigup.plan.environments.kernels import KernelError
    from rigup.plan.environments.lock_fields import CannotBeHadError, LockError
    from rigup.plan.environments.settings import SettingsError
    from rigup.plan.environments.shells import CannotTell
    from rigup.stack.wish import WishError
    from rigup.train.advise.inputs import InputError
    from rigup.train.launch.shape import LaunchError
    from rigup.verify.environment import VerifyError

    refused = (
        KnowledgeError,
        SourceError,
        JournalError,
        NoEnvironment,
        KernelError,
        LockError,
        SettingsError,
        CannotTell,
        WishError,
        VerifyError,
        ContainerError,
        InputError,
        LaunchError,
    )
    return refused, (BusyError, Failed, CannotBeHadError, LabError)
