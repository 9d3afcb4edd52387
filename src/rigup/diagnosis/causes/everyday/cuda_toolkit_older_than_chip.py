"""The CUDA toolkit that compiles here is older than the GPU."""

from rigup.diagnosis.causes.everyday.nvcc import NVCC
from rigup.diagnosis.rule import Params, mends
from rigup.knowledge.cuda import toolkits_knowing


@mends("cuda-toolkit-older-than-chip")
def toolkit_that_knows_the_chip(knew: Params) -> Params:
    """The first release whose compiler knows it, beside the one that is there."""
    version = toolkits_knowing("sm_" + str(knew.get("arch"))) if knew.get("arch") else None
    return {"toolkit": version, "compiler": NVCC.format(version=f"-{version}") if version else None}
