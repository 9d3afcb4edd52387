"""Devices of torch, by one manner over CUDA, ROCm, MPS, XPU, DirectML and the CPU.

This is `rigup.torch` where it is installed without the rest of rigup, by the distribution rigup-torch: there this file
is `rigup/torch.py`, and the others lie in `_rigup_torch`. Where rigup itself is installed too, its own package
`rigup/torch/` goes before a module of that name, so that neither distribution has a file of the other.
"""

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _rigup_torch import *  # noqa: F403
else:
    # A module with a path is a package: `rigup.torch.moving` is found there, under the name that it has in rigup.
    __path__ = [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "_rigup_torch")]
    from rigup.torch.__init__ import *  # noqa: F403
    from rigup.torch.__init__ import __all__  # noqa: F401
