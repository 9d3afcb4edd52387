"""An integrated GPU's two pools as people note them down: thousands with commas, a word beside the number."""

from rigup.machine.kinds import Gpu
from rigup.machine.reader import Statements, reads
from rigup.machine.texts import Text

_POOL = r"^[ \t]{0,8}GPU\[(?P<index>\d{1,3})\][ \t:]{1,8}(?P<pool>VRAM|GTT) {1,4}Total Memory \(B\): {1,8}(?P<size>\d{1,3}(?:,\d{3}){2,5})\b"


@reads(marks=("Total Memory (B):",), adds=(Gpu,), rank=0)
def noted_pools(text: Text) -> Statements:
    """`GPU[0] VRAM Total Memory (B): 8,589,934,592 (~8 GiB)`; rocm-smi itself prints no commas."""
    for hit in text.each(_POOL):
        pool = {"VRAM": "vram", "GTT": "gtt"}[hit["pool"]]
        yield hit.states(Gpu, vendor="amd", nvml_index=int(hit["index"]), **{pool: int(hit["size"].replace(",", ""))})
