"""The kinds of steps, by name. A new kind is one row in its family's file."""

from rigup.steps import checks, installing, kernel, programs, running, settings, software, starters, surroundings
from rigup.steps.step import Kind

KINDS: dict[str, Kind] = {
    **kernel.KINDS,
    **settings.KINDS,
    **installing.KINDS,
    **software.KINDS,
    **programs.KINDS,
    **surroundings.KINDS,
    **starters.KINDS,
    **running.KINDS,
    **checks.KINDS,
}
