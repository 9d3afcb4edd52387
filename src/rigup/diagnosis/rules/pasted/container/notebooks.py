"""Notebooks that run another Python than the one that was set up."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.machine.kinds import JupyterKernel, PythonEnv, Symptom, Torch

_CELL = ("cell-prints-its-python", "notebooks-own-python", "path-of-the-modules-printed", "kernel-selected-in-an-editor", "ipykernel-runs-from")  # fmt: skip
_SHELL = ("shell-prints-its-python", "cell-asks-the-shell-which", "python-of-an-environment-called", "package-lies-in", "shells-own-environment", "pips-own-environment")  # fmt: skip
_NOTEBOOK = ("notebook-cell-shown", "jupyter-named", "notebook-named", "kernel-selected-in-an-editor")
_FAILS = "module-not-found"
_OWN = ("/envs/", "/venv", "/.venv", "/virtualenvs/", "/.conda/")


def _plain(path: object) -> str:
    return str(path).replace("\\\\", "/").replace("\\", "/")


def _apart(python: str, prefix: str) -> bool:
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
def kernel_is_named_after_the_active_one(
    kernel: JupyterKernel, env: PythonEnv = one(active=True), torch: Torch | None = None
) -> Verdict:
    """It bears the name of the environment in use, and starts another one's Python; where environments were looked into, they tell."""
    named = env.prefix.rstrip("/").rpartition("/")[2] in (kernel.get("shown"), kernel.get("name"))
    looked_into = torch is not None and torch.knows("env")
    return named and not looked_into and kernel.get("prefix") is not None and kernel.prefix != env.prefix


@rule("jupyter-kernel-other-env", "likely")
def notebook_misses_what_the_environment_has(
    own: Symptom = seen("notebooks-own-python"), shell: Symptom = seen("shells-own-environment", "pips-own-environment"), _error: Symptom = seen("module-not-found"),
) -> Verdict:  # fmt: skip
    """The notebook's Python lies outside the environment that the shell, or pip, names, and a module is missing."""
    home, python = (str(text).replace("\\\\", "\\") for text in (shell.prefix, own.python))
    return not python.startswith(home) and {"python": python}


@rule("jupyter-kernel-other-env", "likely")
def cell_and_shell_name_two_pythons(
    own: Symptom = seen(*_CELL), shell: Symptom = seen(*_SHELL), _where: Symptom = seen(*_NOTEBOOK)
) -> Verdict:
    """Somebody asked both, and the notebook's is none of the shell's environment."""
    return _apart(_plain(own.python), _plain(shell.prefix)) and {"python": own.python}


@rule("jupyter-kernel-other-env", "likely")
def cell_misses_what_the_shells_python_has(
    own: Symptom = seen(*_CELL), shell: Symptom = seen(*_SHELL), _error: Symptom = seen(_FAILS)
) -> Verdict:
    """The same where a module is missing and nobody says that it is a notebook."""
    return _apart(_plain(own.python), _plain(shell.prefix)) and {"python": own.python}


@rule("jupyter-kernel-other-env", "likely")
def cell_runs_beside_the_active_environment(
    own: Symptom = seen(*_CELL), env: PythonEnv = one(active=True), _error: Symptom = seen(_FAILS, *_NOTEBOOK)
) -> Verdict:
    """`which python` told of the environment, and the cell of another Python."""
    return _apart(_plain(own.python), _plain(env.prefix)) and {"python": own.python}


@rule("jupyter-kernel-other-env", "likely")
def cell_misses_what_a_named_environment_has(
    own: Symptom = seen(*_CELL), shell: Symptom = seen("prompt-of-an-environment-asks-torch"), _error: Symptom = seen(_FAILS)
) -> Verdict:  # fmt: skip
    """The shell's prompt names an environment in which the framework answers; the notebook's Python is not of that name."""
    return f"/{shell.env}/" not in _plain(own.python) and {"python": own.python}


@rule("jupyter-kernel-other-env", "likely")
def pip_and_cell_are_of_two_versions(
    pip: Symptom = seen("pip-has-it-for-a-python"), own: Symptom = seen("python-version-printed"), _error: Symptom = seen(_FAILS)
) -> Verdict:  # fmt: skip
    """pip has the module for one Python, and the one that misses it is another."""
    return str(pip.minor).replace(".", "") != str(own.minor).replace(".", "")


@rule("jupyter-kernel-other-env", "likely")
def kernel_of_a_folder_starts_another_python(
    kernel: JupyterKernel, listed: JupyterKernel, _error: Symptom = seen(_FAILS)
) -> Verdict:
    """A kernel that lies in an environment's own folder starts a Python elsewhere, and a module is missing."""
    home = str(listed.get("path") or "").partition("/share/jupyter/")[0]
    own = any(mark in home for mark in _OWN)
    return own and bool(kernel.get("prefix")) and _apart(_plain(kernel.python), home) and {"python": kernel.python}


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
def cell_misses_what_pip_has_in_an_environment(
    pip: Symptom = seen("requirement-lies-in-an-environment"), error: Symptom = seen(_FAILS), _cell: Symptom = seen("notebook-cell-shown")
) -> Verdict:  # fmt: skip
    """A shell's pip finds the module in its environment, and a cell does not find it."""
    return error.get("module") == pip.module and {"environment": pip.prefix}


@rule("jupyter-kernel-other-env", "likely")
def cell_misses_what_answers_in_a_named_environment(
    shell: Symptom = seen("prompt-of-an-environment-asks-torch"), error: Symptom = seen(_FAILS), _cell: Symptom = seen("notebook-cell-shown")
) -> Verdict:  # fmt: skip
    """The framework answers at the prompt of an environment, and a cell does not find that framework."""
    return error.get("module") in ("torch", "tensorflow") and {"environment": shell.env}


@rule("jupyter-kernel-other-env", "likely")
def cell_has_another_release_than_the_shell(
    own: Symptom = seen("cell-prints-torchs-version"), shell: Symptom = seen("shell-prints-torchs-version"),
) -> Verdict:  # fmt: skip
    """The same question, and two answers."""
    return own.version != shell.version and {"own": own.version, "shell": shell.version}


@rule("jupyter-kernel-other-env", "likely")
def module_lies_in_two_environments(
    one_of: Symptom = seen("file-of-a-module-printed"), other: Symptom = seen("file-of-a-module-printed"), _cell: Symptom = seen(*_NOTEBOOK),
) -> Verdict:  # fmt: skip
    """A notebook and a shell print whence they load the same module, and the places are two; the base of conda is the notebook's."""
    below = _plain(one_of.prefix).startswith(_plain(other.prefix) + "/")
    return one_of.module == other.module and below and {"python": other.prefix + "/bin/python"}
