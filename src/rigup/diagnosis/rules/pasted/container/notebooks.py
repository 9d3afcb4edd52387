"""Notebooks that run another Python than the one that was set up."""

from rigup.diagnosis.rule import Verdict, rule, seen
from rigup.machine.kinds import Symptom

_FAILS = "module-not-found"
_OWN = ("/envs/", "/venv", "/.venv", "/virtualenvs/", "/.conda/")


def plain(path: object) -> str:
    """A path with slashes alone, as both systems write it."""
    return str(path).replace("\\\\", "/").replace("\\", "/")


def apart(python: str, prefix: str) -> bool:
    """Whether that Python is none of the environment's; the base of conda and an environment below it are two.

    What an account has for itself, and Debian's folder for what the system did not bring, serve the system's Python.
    """
    python, prefix = python.lower(), prefix.lower().rstrip("/")
    below = python.removeprefix(prefix + "/")
    inside = below != python and not any(mark in "/" + below for mark in _OWN)
    shared = prefix.endswith("/.local") or "appdata/roaming" in prefix
    systems = prefix in ("/usr", "/usr/local") and python.startswith("/usr/")
    return len(prefix) > 3 and not (inside or shared or systems)


@rule("jupyter-kernel-other-env", "likely")
def cell_has_another_prefix_than_the_shell(
    own: Symptom = seen("cell-prints-its-prefix"), shell: Symptom = seen("cell-asks-the-shell-which"), _error: Symptom = seen(_FAILS),
) -> Verdict:  # fmt: skip
    """A cell's own prefix is another than that of the Python which its shell finds, and the cell misses a module."""
    return str(own.prefix).rstrip("/") != str(shell.prefix).rstrip("/") and {"python": f"{own.prefix}/bin/python"}


@rule("jupyter-kernel-other-env", "likely")
def search_paths_of_two_environments(
    one_of: Symptom = seen("search-path-of-a-python-printed"), other: Symptom = seen("search-path-of-a-python-printed"),
    _where: Symptom = seen("home-of-ipython-in-a-search-path"),
) -> Verdict:  # fmt: skip
    """Somebody printed it twice, in a notebook at least once, and the Pythons are two."""
    return one_of.prefix.startswith(other.prefix + "/") and {"python": other.prefix + "/bin/python"}


@rule("jupyter-kernel-other-env", "likely")
def module_lies_in_two_environments(
    one_of: Symptom = seen("file-of-a-module-printed"), other: Symptom = seen("file-of-a-module-printed"), _cell: Symptom = seen(tag="jupyter-spoken-of"),
) -> Verdict:  # fmt: skip
    """A notebook and a shell print whence they load the same module, and the places are two; the base of conda is the notebook's."""
    below = plain(one_of.prefix).startswith(plain(other.prefix) + "/")
    return one_of.module == other.module and below and {"python": other.prefix + "/bin/python"}
