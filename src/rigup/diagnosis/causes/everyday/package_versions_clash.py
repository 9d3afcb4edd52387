"""Packages are asked for, or installed, that do not go together."""

from rigup.diagnosis.rule import HasForm, Params, mends, one, seen
from rigup.machine.kinds import Package, Symptom


@mends("package-versions-clash")
def versions_that_go_together(
    knew: Params, by: Symptom | None = seen("package-imports-from-another"), array: Symptom | None = seen("package-compiled-for-numpy")
) -> Params:
    """pip's own words name who asks for what; else the package that stopped is the one that is out of date."""
    owner, version = str(knew.get("owner") or ""), str(knew.get("version") or "")
    if owner and version:
        return {"owner": f"{owner}=={version}", "want": str(knew.get("want")).strip()}
    if knew.get("wanting") or knew.get("virtual"):  # builds of CUDA 12 ask for any driver of that major
        wished = f"{knew['major']}.{knew['minor']}" if knew.get("major") else None
        return {"override": "CONDA_OVERRIDE_CUDA", "wished": wished, "check": None if wished else "all"}
    if knew.get("argument"):
        return {"importer": str(knew.get("importer")).replace("_", "-"), "check": "all"}
    if knew.get("name"):
        importer = str(by.importer).replace("_", "-") if by is not None else ""
        package = str(knew.get("package") or "").replace("_", "-")
        return {"importer": importer or None, "user": importer or "the program", "package": package}
    compiled = str(array.package) if array is not None else None
    known = knew.get("requirement") or knew.get("of_conda") or compiled
    return {"compiled": compiled, "package": None, "check": None if known else "all"}


@mends("package-versions-clash")
def parts_of_jax(
    knew: Params,
    jax: Package | None = one(name="jax"),
    part: Package | None = one(name=HasForm(r"jax-cuda1\d-plugin")),
    _said: Symptom = seen("jax-leaves-its-plugin-aside", "jaxlib-is-newer-than-jax"),
) -> Params:
    """jax, jaxlib and the parts for CUDA are of one release; its extra brings them all at that of jax, where it is shown."""
    release = (jax.get("version") if jax else None) or knew.get("jax") or knew.get("have")
    cuda = knew.get("cuda") or (part.name[8:10] if part else None)
    return {"together": f"jax[cuda{cuda}]=={release}" if cuda else f"jax=={release}, jaxlib=={release}", "package": None, "check": None}
