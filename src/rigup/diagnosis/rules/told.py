"""Fields that a rule wants by a test instead of a list: `one(name=Told(is_of_nvidia))`."""

from collections.abc import Callable
from typing import Any, Self


class Told(tuple[Any, ...]):
    """Stands for all values that pass a test; a table behind it is read when there is a fact to be tested."""

    test: Callable[[Any], bool]

    def __new__(cls, test: Callable[[Any], bool]) -> Self:
        """Of the test's name only, so that it can be shown."""
        made = super().__new__(cls, (test.__name__,))
        made.test = test
        return made

    def __contains__(self, value: object) -> bool:
        return value is not None and bool(self.test(value))
