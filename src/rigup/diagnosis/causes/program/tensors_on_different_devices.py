"""The program mixes data on several devices."""

from rigup.diagnosis.causes.grounds import ids_in
from rigup.diagnosis.rule import Params, mends


@mends("tensors-on-different-devices")
def one_gpu_where_two_are_mixed(knew: Params) -> Params:
    """Who sees one GPU mixes no two; data beside the GPUs stay where they are."""
    devices = {str(knew.get(name) or "") for name in ("one", "other")}
    several = all(device.startswith("cuda:") for device in devices) or "tensors-different-gpus" in ids_in(knew)
    return {"mask": "CUDA_VISIBLE_DEVICES" if several else None}
