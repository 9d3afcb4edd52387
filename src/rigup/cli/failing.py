"""What a command could not do although it was asked rightly: exit status 1, where wrong usage is 2."""

import click


class CannotBeDone(click.ClickException):
    """The work failed, or there is nothing to work on; the text says what, where, and what to do next."""

    status = 1


def spoken(error: Exception) -> click.ClickException:
    """An error as a command tells it: what cannot be done now is no fault of who asked for it."""
    from rigup.plan.applying.journal import BusyError
    from rigup.plan.applying.taking import Failed
    from rigup.plan.environments.lock_fields import CannotBeHadError

    now = isinstance(error, BusyError | CannotBeHadError | Failed)
    return (CannotBeDone if now else click.ClickException)(str(error))
