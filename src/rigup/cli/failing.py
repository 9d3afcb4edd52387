"""What a workflow raises, as the command line tells it: exit status 1 where the work failed, 2 where the request is wrong."""

import click

from rigup.workflows.errors import CannotBeDoneError, UnclearMachineError, WorkflowError, workflow_error_of


class CannotBeDone(click.ClickException):
    """The work failed, or there is nothing to work on; the text says what, where, and what to do next."""

    status = 1


class WrongRequest(click.ClickException):
    """What was asked for cannot be understood, or names what is not there."""

    exit_code = 2


def as_click_error(error: Exception) -> click.ClickException | None:
    """The error of click for one of a workflow; None for a fault of rigup's own."""
    if isinstance(error, OSError) or (workflow_error := workflow_error_of(error)) is None:
        return None
    return _kind(workflow_error)(str(workflow_error))


def _kind(error: WorkflowError) -> type[click.ClickException]:
    """What cannot be done now is no fault of who asked for it."""
    if isinstance(error, CannotBeDoneError):
        return CannotBeDone
    return click.UsageError if isinstance(error, UnclearMachineError) else WrongRequest
