"""What a chip computes in itself, without emulation.

torch answers whether bfloat16 can be used, and that with emulation: True also where it is slower than float32.
Sources: https://docs.nvidia.com/cuda/cuda-c-programming-guide/ (compute capabilities: bfloat16 from 8.0 on),
https://rocm.docs.amd.com/en/latest/reference/precision-support.html (CDNA from gfx908, RDNA from gfx11).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rigup.torch import DeviceFacts

_FIRST_CUDA = 80  # as in sm_80
_AMD = re.compile(r"gfx(?:908|90a|94\d|95\d|11\w\w|12\w\w)")


def has_bf16(chip: DeviceFacts) -> bool | None:
    """Whether a chip has instructions for bfloat16; None where that is not known."""
    if chip.kind == "cuda":
        hit = re.fullmatch(r"sm_(\d{2,3})", chip.isa)
        return None if hit is None else int(hit[1]) >= _FIRST_CUDA
    if chip.kind == "rocm":
        return _AMD.fullmatch(chip.isa) is not None if chip.isa.startswith("gfx") else None
    return True if chip.kind == "xpu" else None
