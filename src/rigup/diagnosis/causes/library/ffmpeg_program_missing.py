"""The program ffmpeg is not there."""

from rigup.diagnosis.causes.library.ffmpeg_libraries_missing import whoever_has_them_there
from rigup.diagnosis.rule import Params, mends, one
from rigup.knowledge.package_managers import package_manager
from rigup.machine.kinds import Distribution, Platform

mends("ffmpeg-program-missing")(whoever_has_them_there)


@mends("ffmpeg-program-missing")
def formula_that_is_on_the_path(_mac: Platform = one(system="macos")) -> Params:
    """Those of an older release lie beside the PATH."""
    return {"formula": "ffmpeg"}


@mends("ffmpeg-program-missing")
def package_of_any_release(knew: Params, system: Distribution) -> Params:
    """The program may be of any release; what is built after Red Hat's has it in further sources alone."""
    name = str(system.get("id"))
    manager = package_manager(name)
    if manager is None or knew.get("of_conda"):
        return {}
    return {"packages": "ffmpeg" if manager.family != "fedora" else "ffmpeg-free" if name in ("fedora", "nobara") else None}
