"""More GPUs are asked for than there are."""

from rigup.diagnosis.rule import Params, mends, seen
from rigup.machine.kinds import Symptom


@mends("more-gpus-asked-than-there")
def as_many_as_there_are(symptom: Symptom = seen("vllm-world-too-large")) -> Params:
    """The number that the message names."""
    return {"option": f"--tensor-parallel-size {symptom.have}"} if symptom.get("have") not in (None, "0") else {}


@mends("more-gpus-asked-than-there")
def card_of_each_rank(_said: Symptom = seen("nccl-duplicate-gpu", "nccl-ranks-on-one-gpu")) -> Params:
    """torchrun tells each process its number on the node; the program has to choose its card by it."""
    return {"binding": "torch.cuda.set_device", "local": "int(os.environ['LOCAL_RANK'])"}
