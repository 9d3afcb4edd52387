"""An integrated GPU's two pools as people note them down: thousands with commas, a word beside the number."""

from rigup.machine.kinds import Gpu
from rigup.machine.reader import Statements, reads
from rigup.machine.texts import Text

_POOL = (
    r"^[ \t]{0,8}GPU\[(?P<index>\d{1,3})\][ \t:]{1,8}(?P<pool>VRAM|GTT) {1,4}Total Memory \(B\): {1,8}(?P<size>\d{1,3}(?:,\d{3}){2,5})\b"
)


@reads(marks=("Total Memory (B):",), adds=(Gpu,), rank=0)
def noted_pools(text: Text) -> Statements:
    """`GPU[0] VRAM Total Memory (B): 8,589,934,592 (~8 GiB)`; rocm-smi itself prints no commas."""
    for hit in text.each(_POOL):
        pool = {"VRAM": "vram", "GTT": "gtt"}[hit["pool"]]
        yield hit.states(Gpu, vendor="amd", nvml_index=int(hit["index"]), **{pool: int(hit["size"].replace(",", ""))})


_USAGE = r"^[ \t]{0,8}\[?(?P<pool>VRAM|GTT)\]?[ \t]{1,20}:? ?usage[ \t]{1,8}\d{1,8} MiB, total[ \t]{1,8}(?P<mib>\d{1,8}) MiB"
_METRIC = r"^[ \t]{1,16}TOTAL_(?P<pool>VRAM|GTT): (?P<mib>\d{1,8}) MB[ \t]*$"


@reads(marks=(" MiB (usable ", "TOTAL_GTT: "), adds=(Gpu,), rank=-1)
def pools_of_monitors(text: Text) -> Statements:
    """amdgpu_top's `GTT : usage 36 MiB, total 15864 MiB (usable …)`, amd-smi's `TOTAL_GTT: 13649 MB`, of one GPU."""
    for pattern in (_USAGE, _METRIC):
        hits = {hit["pool"]: hit for hit in text.each(pattern)}
        if len(hits) == len(list(text.each(pattern))):
            for pool, hit in hits.items():
                yield hit.states(Gpu, vendor="amd", nvml_index=0, **{pool.lower(): int(hit["mib"]) << 20})
