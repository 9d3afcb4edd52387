"""Steps inside the person's own reach: the environment, its packages, its variables."""

from collections.abc import Iterator

from rigup.language import _
from rigup.stack.choice import Choice
from rigup.stack.site import Site
from rigup.stack.weigh import Judged
from rigup.steps import KINDS, Step, make

DEFAULT = ".venv"


def steps(choice: Choice) -> Iterator[Step]:
    """Make the environment, install into it, set its variables."""
    yield _make(choice)
    for one in choice.chosen:
        yield _install(choice, one)
    if choice.requirements:
        yield _install_rest(choice)
    for name, value in choice.variables.items():
        yield make(
            "set-environment-variable", {"name": name, "value": value, "environment": folder(choice)}, KINDS,
            because=_("The devices need it; it is set in this environment alone."),
        )  # fmt: skip


def folder(choice: Choice) -> str:
    """Where the environment lies."""
    return choice.site.environment or DEFAULT


def interpreter(choice: Choice) -> str:
    """The environment's own Python."""
    inside = "Scripts/python.exe" if choice.site.system == "windows" else "bin/python"
    return folder(choice) + "/" + inside


def _make(choice: Choice) -> Step:
    if choice.wish.manager == "conda":
        return make("make-conda-environment", {"environment": folder(choice), "python": choice.python}, KINDS)
    params = {
        "environment": folder(choice),
        "python": choice.python,
        "starter": " ".join(_starter(choice.site, choice.python)),
    }
    kind = "make-environment-windows" if choice.site.system == "windows" else "make-environment"
    return make(kind, params, KINDS)


def _starter(site: Site, python: str) -> tuple[str, ...]:
    return ("py", "-" + python) if site.system == "windows" else ("python" + python,)


def _install(choice: Choice, one: Judged) -> Step:
    names = set(one.build.packages)
    mine = {
        name: version
        for name, version in choice.packages.items()
        if name.partition("[")[0] in {n.partition("[")[0] for n in names}
    }
    wanted = [f"{name}=={version}" if version else name for name, version in mine.items()]
    params = {
        "python": interpreter(choice),
        "packages": " ".join(wanted),
        "sources": " ".join(_sources(choice.site, one)),
    }
    return make("install-into-environment", params, KINDS, because=_because(one))


def _because(one: Judged) -> str:
    """Why this build; a CPU build on a machine with a GPU says so first."""
    if one.build.kind == "cpu" and one.served:
        return _("This build runs on the CPU alone: the GPU here is not served.")
    told = next((told.because for told in one.served if told.served), "")
    return told or _("It runs on the CPU.")


def _sources(site: Site, one: Judged) -> list[str]:
    """Options that say where packages lie; the person's own places are kept."""
    options: list[str] = []
    if one.build.index:
        options += ["--index-url", one.build.index]
    for url in (*one.build.extra_indexes, *site.sources.extra_indexes):
        options += ["--extra-index-url", url]
    for place in site.sources.find_links:
        options += ["--find-links", place]
    return options


def _install_rest(choice: Choice) -> Step:
    params = {"python": interpreter(choice), "packages": " ".join(choice.requirements), "sources": ""}
    return make(
        "install-into-environment", params, KINDS, because=_("It was asked for beside; any release that fits is taken.")
    )


def satisfied(step: Step, choice: Choice) -> bool:
    """Whether a step's result is there already."""
    have = choice.site.installed
    if step.kind.startswith("make-"):
        return bool(have) and choice.site.python == choice.python
    if step.kind == "install-into-environment" and step.params["packages"] != " ".join(choice.requirements):
        return all(have.get(name.partition("[")[0]) == version for name, version in choice.packages.items())
    if step.kind == "set-environment-variable":
        return choice.site.variables.get(step.params["name"]) == step.params["value"]
    return step.kind == "install-into-environment" and all(name in have for name in choice.requirements)
