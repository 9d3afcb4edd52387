"""The program ffmpeg is not there."""

from rigup.diagnosis.causes.library.ffmpeg_libraries_missing import whoever_has_them_there
from rigup.diagnosis.rule import Params, mends, one
from rigup.machine.kinds import Platform

mends("ffmpeg-program-missing")(whoever_has_them_there)


@mends("ffmpeg-program-missing")
def formula_that_is_on_the_path(_mac: Platform = one(system="macos")) -> Params:
    """Those of an older release lie beside the PATH."""
    return {"formula": "ffmpeg"}
