"""What `rigup.doctor()` returns: the answer as a plain value that a notebook shows as a page."""

from typing import Any

import msgspec

from rigup.schemas.doctor import Doctor


class Report(dict[str, Any]):
    """The doctor's answer (schema rigup.doctor/1); rich in a notebook, text elsewhere.

    What a notebook shows is kept in its file and given to others: it goes without secrets and names unless
    `with_values` is set.
    """

    here = True
    with_values = False

    def _shareable(self) -> Doctor:
        from rigup.machine.outward import for_others

        answer = msgspec.convert(dict(self), Doctor)
        return answer if self.with_values else for_others(answer)

    def __repr__(self) -> str:
        """The report as a terminal shows it."""
        from rigup.cli.report import text

        return text(self._shareable(), here=self.here)

    def _repr_html_(self) -> str:
        """The report as a notebook shows it."""
        from rigup.cli.page import fragment

        return fragment(self._shareable(), self.here)
