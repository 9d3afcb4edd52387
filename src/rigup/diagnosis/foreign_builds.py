"""Builds of torch of which the tables of PyTorch's own wheels tell nothing."""

from rigup.knowledge.chips import is_of_a_module
from rigup.machine.kinds import Torch


def is_of_unknown_hands(torch: Torch, isa: str) -> bool:
    """Whether the table of PyTorch's wheels tells what a plain version on a Jetson holds: there it is NVIDIA's or somebody else's build."""
    by_table = torch.knows("code") and torch.fields["code"].where.source == "knowledge/torch_builds"
    return by_table and is_of_a_module(isa) and "+" not in str(torch.get("version"))
