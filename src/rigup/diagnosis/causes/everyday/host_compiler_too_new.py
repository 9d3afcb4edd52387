"""The C++ compiler is newer than this CUDA toolkit knows."""

from rigup.diagnosis.rule import Params, mends, one, seen
from rigup.knowledge.host_compilers import is_release_known, older_compiler
from rigup.knowledge.package_managers import package_manager
from rigup.machine.kinds import Distribution, PythonEnv, Symptom


@mends("host-compiler-too-new")
def compiler_that_fits(
    refused: Symptom = seen("nvcc-refuses-the-compiler"),
    system: Distribution | None = None,
    conda: Symptom | None = seen(tag="conda-shown"),
    env: PythonEnv | None = one(kind="conda"),
) -> Params:
    """What the distribution's release has beside the newest; Debian's kin each under its number; conda has them for its environments."""
    most = str(refused.get("most"))
    name, release = (str(system.get(part) or "") for part in ("id", "version")) if system is not None else ("", "")
    if found := older_compiler(name, release, int(most)):
        return {"older": ", ".join(found.packages), "compiler": found.program, "cmakes": found.program}
    manager = package_manager(str(system.get("id"))) if system is not None and system.get("id") else None
    if manager is not None and manager.family == "debian" and not is_release_known(name, release):
        return {"older": f"gcc-{most}, g++-{most}", "compiler": f"/usr/bin/g++-{most}", "cmakes": f"/usr/bin/g++-{most}"}
    return {"of_conda": f"gxx_linux-64={most}.*"} if conda is not None or env is not None else {}
