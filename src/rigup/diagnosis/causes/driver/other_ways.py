"""What mends a card that the newest driver does not serve, or that is none of ours."""

from rigup.diagnosis.rule import Params
from rigup.knowledge.gpus import driver_branch_for
from rigup.knowledge.torch_builds import index_url
from rigup.machine.kinds import Gpu, Torch


def build_for_the_processor(_torch: Torch | None = None) -> Params:
    """Where to get a build that needs no GPU."""
    return {"cpu": "pip install torch --index-url " + index_url("cpu")}


def last_branch_for_it(gpu: Gpu) -> Params:
    """The last branch that drives the chip, if there is one."""
    last = driver_branch_for(gpu.isa)
    return {"branch": last} if last else {}
