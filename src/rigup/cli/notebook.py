"""What `rigup.doctor()` returns: the answer as a plain value that a notebook shows as a page."""

from typing import Any


class Report(dict[str, Any]):
    """The doctor's answer (schema rigup.doctor/1); rich in a notebook, text elsewhere."""

    here = True

    def __repr__(self) -> str:
        """The report as a terminal shows it."""
        from rigup.cli.report import text

        return text(self, here=self.here)

    def _repr_html_(self) -> str:
        """The report as a notebook shows it."""
        from rigup.cli.page import fragment

        return fragment(self, self.here)
