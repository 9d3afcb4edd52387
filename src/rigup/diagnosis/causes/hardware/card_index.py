"""The number by which NVIDIA's tools name a card."""

from rigup.diagnosis.rule import Params
from rigup.machine.kinds import Gpu


def index_of_the_card(gpu: Gpu) -> Params:
    """As nvidia-smi counts."""
    return {"index": gpu.nvml_index}


def index_of(gpu: Gpu) -> Params:
    """What a fix names the card by: NVIDIA's number, else the card itself."""
    return {"index": gpu.get("nvml_index")} if gpu.get("nvml_index") is not None else {"gpu": gpu}
