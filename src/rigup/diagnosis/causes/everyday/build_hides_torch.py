"""The build of an extension does not see the torch that is installed."""

from msgspec.structs import replace

from rigup.diagnosis.causes.framework.torch_builds import Machine, holes_of
from rigup.diagnosis.rule import Params, mends, one, seen
from rigup.knowledge.torch_changes import nearest_build
from rigup.machine.kinds import Driver, Gpu, Platform, PythonEnv, Symptom, Torch


@mends("build-hides-torch")
def package_that_was_built(
    _said: Symptom = seen("build-finds-no-torch"),
    asked: Symptom | None = seen("package-is-asked-for"),
    named: Symptom | None = seen("uv-names-what-it-built"),
    project: Symptom | None = seen("uv-project-at-work"),
    typed: Symptom | None = seen("uv-pip-is-typed"),
    hint: Symptom | None = seen("uv-names-the-missing-build-dependency"),
) -> Params:
    """The one that uv names, else the command line; in a project of uv's its file says how it is built."""
    package = next((symptom.package for symptom in (hint, named, asked) if symptom is not None), None)
    pinned = asked is not None and asked.package == package and asked.get("version")
    by_project = project is not None and typed is None and (named is not None or hint is not None)
    return {"of_project": package} if by_project else {"plain": f"{package}=={asked.version}" if pinned and asked is not None else package}


@mends("build-hides-torch")
def torch_that_is_not_there_at_all(
    knew: Params,
    _missed: Symptom = seen("torch-is-missed-at-a-prompt"),
    torch: Torch | None = None,
    gpu: Gpu | None = None,
    driver: Driver | None = one(vendor="nvidia"),
    python: PythonEnv | None = None,
    platform: Platform | None = None,
) -> Params:
    """Where the environment has none either, it comes first: the build for card and driver, else what the machine's own plan chooses."""
    if torch is not None or not knew.get("plain"):
        return {}
    wish = Machine(gpu, driver, python, platform, None).wish()
    row = nearest_build(wish) or nearest_build(replace(wish, python="")) if wish.kind and wish.isa else None
    return {"package": knew["plain"], "plain": None, "wish": None if row else "torch", **holes_of(row)}
