"""Packages are asked for, or installed, that do not go together."""

from rigup.diagnosis.rule import Params, mends, seen
from rigup.machine.kinds import Symptom


@mends("package-versions-clash")
def versions_that_go_together(
    knew: Params, by: Symptom | None = seen("package-imports-from-another"), array: Symptom | None = seen("package-compiled-for-numpy")
) -> Params:
    """pip's own words name who asks for what; else the package that stopped is the one that is out of date."""
    owner, version = str(knew.get("owner") or ""), str(knew.get("version") or "")
    if owner and version:
        return {"owner": f"{owner}=={version}", "want": str(knew.get("want")).strip()}
    if knew.get("wanting"):
        wished = f"{knew['major']}.{knew['minor']}" if knew.get("major") else None
        return {"override": "CONDA_OVERRIDE_CUDA", "wished": wished, "check": None if wished else "all"}
    if knew.get("argument"):
        return {"importer": str(knew.get("importer")).replace("_", "-"), "check": "all"}
    if knew.get("name"):
        importer = str(by.importer).replace("_", "-") if by is not None else ""
        package = str(knew.get("package") or "").replace("_", "-")
        return {"importer": importer or None, "user": importer or "the program", "package": package}
    compiled = str(array.package) if array is not None else None
    return {"compiled": compiled, "package": None, "check": None if knew.get("requirement") or compiled else "all"}
