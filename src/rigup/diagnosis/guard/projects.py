"""Environments that a tool keeps as its project says: what pip or conda put there goes again at the tool's next run."""

from collections.abc import Callable

from msgspec import structs

from rigup.diagnosis.guard.setting import Setting
from rigup.knowledge.conda_forge import any_with_cuda
from rigup.knowledge.own_pythons import own_python
from rigup.steps import Step, make

Argv = tuple[str, ...]
_PIP, _CONDA, _PIXI_TAKES = ("python", "-m", "pip"), ("conda", "install"), ("pixi", "add")
_ADDED = ("uv", "add", "--frozen")  # written into the project alone
_OF_TORCH = ("install-torch", "install-torch-with-audio")
_ANEW = ("--force-reinstall", "--no-cache-dir", "--no-deps")
_WITH_A_VALUE = ("-c", "-f", "-r", "--find-links", "--extra-index-url", "--constraint", "--requirement")


def in_the_project(steps: list[Step], setting: Setting) -> list[Step]:
    """Packages by the project's own tool, where one is seen at work."""
    if _is_uvs_tool(setting):
        return [_of_the_tool(step, setting) for step in steps]
    translate = _TOOLS.get(setting.project)
    if translate is None:
        return steps
    told = [structs.replace(step, commands=tuple(argv for old in step.commands for argv in translate(old, setting))) for step in steps]
    return [part for step in told for part in (step, *_index_alone(step))]


def python_of_the_project(steps: list[Step], setting: Setting) -> list[Step]:
    """A project has one environment: another Python is told to its tool, which installs again what the project asks for."""
    python = next((step.params["python"] for step in steps if step.kind == "new-environment"), "")
    if not setting.project or not python.replace(".", "").isdigit():
        return steps
    rest = [step for step in steps if step.kind not in ("new-environment", "choose-build")]
    return [make(f"python-of-{setting.project}-project", {"python": python}), *rest]


def _is_uvs_tool(setting: Setting) -> bool:
    owner = own_python(setting.python)
    return owner is not None and owner.packages == "uv-tool"


def _of_the_tool(step: Step, setting: Setting) -> Step:
    """What `uv tool` installed it makes anew, with the releases that the tool asks for."""
    owner, variant = own_python(setting.python), step.params.get("index", "").rpartition("/whl/")[2]
    if owner is None or step.kind not in _OF_TORCH or not variant:
        return step
    return make("install-tool-anew", {"tool": owner.tool, "backend": variant})


def _index_alone(step: Step) -> list[Step]:
    """uv asks an index that `uv add` was told for every package, unless its table says otherwise."""
    named = next((argv[-1].partition("=")[0] for argv in step.commands if argv[:3] == _ADDED), "")
    return [make("ask-index-alone", {"index": named})] if named else []


def _read(argv: Argv) -> tuple[str, list[str], set[str], str]:
    """What pip is told: its verb, packages, options, and the index; ("", …) where it is told what no project takes over."""
    verb, words = argv[3], list(argv[4:])
    index = words.pop(words.index("--index-url") + 1) if "--index-url" in words else ""
    if any(word in _WITH_A_VALUE for word in words):
        return "", [], set(), ""
    options = {word for word in words if word.startswith("-")}
    return verb, [word for word in words if not word.startswith("-")], options, index


def _named(index: str) -> str:
    parts = index.rstrip("/").split("/")
    return "-".join(("pytorch" if "pytorch.org" in index else "index", parts[-1]))


def _by_uv(argv: Argv, _setting: Setting) -> list[Argv]:
    verb, packages, options, index = _read(argv) if argv[:3] == _PIP else ("", [], set(), "")
    if verb == "uninstall":
        return [("uv", "remove", *packages)]
    if verb != "install":
        return [argv]
    if index:
        return [(*_ADDED, *packages, "--index", f"{_named(index)}={index}")]
    if options.intersection(_ANEW):
        return [("uv", "sync", *(word for name in packages for word in ("--reinstall-package", name)))]
    each = "--upgrade-package" if "--upgrade" in options else ""
    each = "--no-build-isolation-package" if "--no-build-isolation" in options else each
    return [("uv", "add", *packages, *(word for name in packages if each for word in (each, name)))]


def _by_poetry(argv: Argv, _setting: Setting) -> list[Argv]:
    verb, packages, options, index = _read(argv) if argv[:3] == _PIP else ("", [], set(), "")
    if verb == "uninstall":
        return [("poetry", "remove", *packages)]
    if verb == "install" and index:
        source = _named(index)
        return [("poetry", "source", "add", "--priority=explicit", source, index), ("poetry", "add", "--source", source, *packages)]
    if verb != "install" or options.difference(("--upgrade",)):
        return [("poetry", "run", *argv)] if argv[:1] == ("python",) else [argv]
    latest = "@latest" if "--upgrade" in options else ""
    return [("poetry", "add", *(name + latest for name in packages))]


def _by_pixi(argv: Argv, setting: Setting) -> list[Argv]:
    """Its solver knows of the driver what the project says; builds for CUDA want it said."""
    verb, packages, options, index = _read(argv) if argv[:3] == _PIP else ("", [], set(), "")
    if argv[:2] == _CONDA:
        plain = [word for word in argv[2:] if not word.startswith("-")]
        wanted = plain[1:] if "-c" in argv else plain
        return [*_driver_said(wanted, setting), (*_PIXI_TAKES, *wanted)]
    if verb == "uninstall":
        return [("pixi", "remove", "--pypi", *packages)]
    torch = next((name.partition("==")[2] for name in packages if name.startswith("torch==")), "")
    if verb == "install" and index and torch and "/cu" in index:
        wanted = [*any_with_cuda("torch", torch), *(name.partition("==")[0] for name in packages[1:])]
        return [*_driver_said(wanted, setting), (*_PIXI_TAKES, *wanted)]
    if verb != "install" or index or options:
        return [("pixi", "run", *argv)] if argv[:1] == ("python",) else [argv]
    return [(*_PIXI_TAKES, "--pypi", *packages)]


def _driver_said(packages: list[str], setting: Setting) -> list[Argv]:
    wanted = setting.carries and any("cuda" in name for name in packages)
    return [("pixi", "workspace", "system-requirements", "add", "cuda", setting.carries.partition(".")[0])] if wanted else []


_TOOLS: dict[str, Callable[[Argv, Setting], list[Argv]]] = {"uv": _by_uv, "poetry": _by_poetry, "pixi": _by_pixi}
