"""The notebook's kernel runs another Python than the environment that you work in."""

from rigup.diagnosis.rule import Every, Params, Verdict, every, mends, one, rule, seen, text_rule
from rigup.machine.kinds import JupyterKernel, PythonEnv, Symptom, Torch

_FAILS = "module-not-found"
_OWN = ("/envs/", "/venv", "/.venv", "/virtualenvs/", "/.conda/")


@rule("jupyter-kernel-other-env")
def kernel_named_after_another(kernel: JupyterKernel, env: PythonEnv, torch: Torch, others: Every[Torch] = every(Torch)) -> Verdict:
    """It bears an environment's name, and starts the Python of another that has not the same torch, as by a link it would."""
    named = env.prefix.rstrip("/").rpartition("/")[2] in (kernel.get("shown"), kernel.get("name"))
    if not named or torch.env != env.prefix or kernel.prefix in (env.prefix, None):
        return False
    return all(other.get("version") != torch.get("version") for other in others if other.get("env") == kernel.prefix)


@rule("jupyter-kernel-other-env", strength="likely")
def no_kernel_has_the_framework(kernels: Every[JupyterKernel] = every(JupyterKernel), torches: Every[Torch] = every(Torch)) -> Verdict:
    """A person registered kernels, and none of them is in an environment that has torch."""
    own = [kernel for kernel in kernels if kernel.get("prefix") and "/.local/share/" in str(kernel.get("path", ""))]
    envs = {torch.env for torch in torches if torch.knows("env")}
    lost = [kernel for kernel in own if kernel.prefix not in envs]
    return bool(envs and own) and len(lost) == len(own) and {"kernel": lost[0], "python": min(envs) + "/bin/python"}


@rule("jupyter-kernel-other-env", strength="likely")
def kernel_of_an_environment_starts_another(kernel: JupyterKernel, env: PythonEnv, torch: Torch) -> Verdict:
    """What lies among an environment's own kernels is meant to start that environment."""
    own = str(kernel.get("path", "")).startswith(env.prefix.rstrip("/") + "/share/jupyter/")
    is_virtual = env.get("kind") in ("conda", "venv")  # a distribution's Python has its kernels in two places
    return is_virtual and own and torch.env == env.prefix and kernel.prefix not in (env.prefix, None)


@rule("jupyter-kernel-other-env")
def notebook_runs_another_python(
    kernel: JupyterKernel, env: PythonEnv = one(active=True), error: Symptom | None = seen("module-not-found")
) -> Verdict:
    """What the shell has is not what the notebook has."""
    return error is not None and bool(kernel.prefix) and kernel.prefix != env.prefix


@rule("jupyter-kernel-other-env", "likely")
def notebook_was_started_in_another(kernel: JupyterKernel = one(name="notebook"), env: PythonEnv = one(active=True)) -> Verdict:
    """Somebody asked both which Python they are, and they are not the same."""
    return bool(kernel.prefix) and kernel.prefix != env.prefix


@rule("jupyter-kernel-other-env", "likely")
def ipython_belongs_to_another_python(kernel: JupyterKernel = one(name="ipython"), _error: Symptom = seen("module-not-found")) -> Verdict:
    """Its banner is another distribution's than the interpreter's, and a module is missing in it."""
    return bool(kernel.shown)


@text_rule("jupyter-kernel-other-env", "likely")
def cell_has_another_prefix_than_the_shell(
    own: Symptom = seen("cell-prints-its-prefix"), shell: Symptom = seen("cell-asks-the-shell-which"), _error: Symptom = seen(_FAILS)
) -> Verdict:
    """A cell's own prefix is another than that of the Python which its shell finds, and the cell misses a module."""
    return str(own.prefix).rstrip("/") != str(shell.prefix).rstrip("/") and {"python": f"{own.prefix}/bin/python"}


@text_rule("jupyter-kernel-other-env", "likely")
def search_paths_of_two_environments(
    one_of: Symptom = seen("search-path-of-a-python-printed"),
    other: Symptom = seen("search-path-of-a-python-printed"),
    _where: Symptom = seen("home-of-ipython-in-a-search-path"),
) -> Verdict:
    """Somebody printed it twice, in a notebook at least once, and the Pythons are two."""
    return one_of.prefix.startswith(other.prefix + "/") and {"python": other.prefix + "/bin/python"}


def plain(path: object) -> str:
    """A path with slashes alone, as both systems write it."""
    return str(path).replace("\\\\", "/").replace("\\", "/")


@text_rule("jupyter-kernel-other-env", "likely")
def module_lies_in_two_environments(
    one_of: Symptom = seen("file-of-a-module-printed"),
    other: Symptom = seen("file-of-a-module-printed"),
    _cell: Symptom = seen(tag="jupyter-spoken-of"),
) -> Verdict:
    """A notebook and a shell print whence they load the same module, and the places are two; the base of conda is the notebook's."""
    below = plain(one_of.prefix).startswith(plain(other.prefix) + "/")
    return one_of.module == other.module and below and {"python": other.prefix + "/bin/python"}


def _of_the_shell(knew: Params) -> str:
    """The environment beside the notebook's own Python, which is what most rules name: the shell's, the longer search path's, the kernel folder's."""
    shell, listed, kernel = knew.get("shell") or knew.get("one_of"), knew.get("listed"), knew.get("kernel")
    if isinstance(shell, Symptom) and shell.get("prefix"):
        return str(shell.get("prefix")).replace("\\\\", "\\")
    if isinstance(listed, JupyterKernel):
        return str(listed.get("path") or "").partition("/share/jupyter/")[0]
    python = str(knew.get("python") or "")
    other = isinstance(kernel, JupyterKernel) and kernel.get("python") != python
    return python.removesuffix("/bin/python") if other and python.endswith("/bin/python") else ""


@mends("jupyter-kernel-other-env")
def the_environment_to_register(
    knew: Params,
    env: PythonEnv | None = None,
    torch: Torch | None = None,
    kernel: JupyterKernel | None = None,
    lies: Symptom | None = seen("requirement-lies-in-an-environment"),
    prompt: Symptom | None = seen("prompt-of-an-environment-asks-torch"),
    printed: Symptom | None = seen("shell-prints-its-python"),
) -> Params:
    """The environment that has what the notebook wants: by its folder, else by its name at the prompt where `python` is its own."""
    wanted = env is not None and (env.get("active") or (torch is not None and torch.get("env") == env.prefix))
    prefix = (
        env.prefix
        if wanted and env is not None
        else str((lies and lies.get("prefix")) or "") or _of_the_shell(knew) or str((printed and printed.get("prefix")) or "")
    )
    if not prefix:
        return {"python": "python", "name": str((prompt and prompt.get("env")) or "work")}
    home, mine, _ = str(kernel.get("path") if kernel else "").partition("/.local/share/jupyter/kernels/")
    folder, _, own = prefix.replace("\\", "/").rstrip("/").rpartition("/")
    name = (folder.rpartition("/")[2] if own.startswith(".") else own) or "work"  # a project's `.venv` goes by the project's name
    python = prefix.rstrip("/\\") + ("\\python.exe" if ":\\" in prefix else "/bin/python")
    return {"python": python, "name": name, **({"folder": home + mine + name} if mine else {})}


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
