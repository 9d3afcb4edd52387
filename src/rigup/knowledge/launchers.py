"""Programs whose starter makes an environment of its own, and how it is told the Python (data/launchers.toml)."""

import msgspec

from rigup.knowledge import tables


class Launcher(msgspec.Struct, frozen=True, kw_only=True):
    """One of them on one system.

    Attributes:
        names: beginnings of its folders' names, in lower case.
        python: for which it pins its packages.
        file: that its user writes options into.
        line: what it is to say there, with holes for the Python.

    """

    names: list[str]
    system: str
    python: str
    file: str
    line: str

    def line_for(self, python: str) -> str:
        """The line for a Python ("3.10")."""
        return self.line.format(python=python, digits=python.replace(".", ""))


def launcher_of(folder: str, system: str) -> Launcher | None:
    """The program of a folder, and on any but Windows its starter for Unix; None for an unknown one. Raises KnowledgeError."""
    rows = tables.rows("launchers", "launcher", Launcher)
    own = [row for row in rows if (row.system == "windows") == (system == "windows")]
    return next((row for row in own if folder.lower().startswith(tuple(row.names))), None)
