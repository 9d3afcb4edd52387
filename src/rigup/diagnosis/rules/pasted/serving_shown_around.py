"""Notebooks and the shells beside them: which Python each one runs; and which of several devices an engine took."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.machine.kinds import JupyterKernel, PythonEnv, Symptom

_CELL = ("cell-prints-its-python", "notebooks-own-python", "path-of-the-modules-printed", "kernel-selected-in-an-editor", "ipykernel-runs-from")  # fmt: skip
_SHELL = ("shell-prints-its-python", "cell-asks-the-shell-which", "python-of-an-environment-called", "package-lies-in", "shells-own-environment", "pips-own-environment")  # fmt: skip
_NOTEBOOK = ("notebook-cell-shown", "jupyter-named", "notebook-named", "kernel-selected-in-an-editor")
_FAILS = ("module-not-found", "notebook-module-missing")
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
def cell_and_shell_name_two_pythons(
    own: Symptom = seen(*_CELL), shell: Symptom = seen(*_SHELL), _where: Symptom = seen(*_NOTEBOOK)
) -> Verdict:
    """Somebody asked both, and the notebook's is none of the shell's environment."""
    return _apart(_plain(own.python), _plain(shell.prefix)) and {"python": own.python}


@rule("jupyter-kernel-other-env", "likely")
def cell_misses_what_the_shells_python_has(
    own: Symptom = seen(*_CELL), shell: Symptom = seen(*_SHELL), _error: Symptom = seen(*_FAILS)
) -> Verdict:
    """The same where a module is missing and nobody says that it is a notebook."""
    return _apart(_plain(own.python), _plain(shell.prefix)) and {"python": own.python}


@rule("jupyter-kernel-other-env", "likely")
def cell_runs_beside_the_active_environment(
    own: Symptom = seen(*_CELL), env: PythonEnv = one(active=True), _error: Symptom = seen(*_FAILS, *_NOTEBOOK)
) -> Verdict:
    """`which python` told of the environment, and the cell of another Python."""
    return _apart(_plain(own.python), _plain(env.prefix)) and {"python": own.python}


@rule("jupyter-kernel-other-env", "likely")
def cell_misses_what_a_named_environment_has(
    own: Symptom = seen(*_CELL), shell: Symptom = seen("prompt-of-an-environment-asks-torch"), _error: Symptom = seen(*_FAILS)
) -> Verdict:  # fmt: skip
    """The shell's prompt names an environment in which the framework answers; the notebook's Python is not of that name."""
    return f"/{shell.env}/" not in _plain(own.python) and {"python": own.python}


@rule("jupyter-kernel-other-env", "likely")
def pip_and_cell_are_of_two_versions(
    pip: Symptom = seen("pip-has-it-for-a-python"), own: Symptom = seen("python-version-printed"), _error: Symptom = seen(*_FAILS)
) -> Verdict:  # fmt: skip
    """pip has the module for one Python, and the one that misses it is another."""
    return str(pip.minor).replace(".", "") != str(own.minor).replace(".", "")


@rule("jupyter-kernel-other-env", "likely")
def kernel_of_a_folder_starts_another_python(
    kernel: JupyterKernel, listed: JupyterKernel, _error: Symptom = seen(*_FAILS)
) -> Verdict:
    """A kernel that lies in an environment's own folder starts a Python elsewhere, and a module is missing."""
    home = str(listed.get("path") or "").partition("/share/jupyter/")[0]
    own = any(mark in home for mark in _OWN)
    return own and bool(kernel.get("prefix")) and _apart(_plain(kernel.python), home) and {"python": kernel.python}


# -- devices
@rule("igpu-visible-beside-dgpu", "likely")
def weights_lie_in_the_processors_graphics(
    weights: Symptom = seen("weights-on-a-vulkan-device"), small: Symptom = seen("vulkan-device-of-shared-memory"), _large: Symptom = seen("vulkan-device-of-its-own-memory")
) -> Verdict:  # fmt: skip
    """Of two devices the engine took the one that shares the system's memory."""
    return weights.index == small.index and {"igpu": small.name}


@rule("gpu-arch-newer-than-wheel")
def head_line_shows_code_below_the_card(said: Symptom = seen("sdnext-device-and-its-code")) -> Verdict:
    """The last of what torch was built for, and the card's capability beside it."""
    return int(said.major) > int(said.code[:-1])
