"""More GPUs are asked for than there are."""

from rigup.diagnosis.causes.memory_sizes import size
from rigup.diagnosis.rule import Params, Verdict, mends, seen, text_rule
from rigup.machine.kinds import Symptom


@mends("more-gpus-asked-than-there")
def as_many_as_there_are(symptom: Symptom = seen("vllm-world-too-large")) -> Params:
    """The number that the message names."""
    return {"option": f"--tensor-parallel-size {symptom.have}"} if symptom.get("have") not in (None, "0") else {}


@text_rule("more-gpus-asked-than-there")
def ray_has_fewer_than_the_engine_wants(
    symptom: Symptom = seen("ray-has-too-few-for-the-engine", "ray-cannot-place-a-group"), counted: Symptom = seen("ray-counts-its-gpus")
) -> Verdict:
    """What the cluster has stands in its status."""
    enough = int(symptom.get("wanted") or 0) in range(1, int(counted.there) + 1)  # they are there, and others hold them
    return not enough and {"said": symptom.id, "cluster": "ray", "have": counted.there}


@text_rule("more-gpus-asked-than-there", "likely")
def ranks_that_hold_the_same_card(held: Symptom = seen("ranks-hold-the-same-card")) -> Verdict:
    """A rank meets several others on its card, which hold as much as each other: none chose its own."""
    one, other = size(held.held) or 0, size(held.second) or 0
    alike = abs(one - other) < 0.2 * max(one, other)
    return alike and {"said": held.id, "shared": held.rank}


@mends("more-gpus-asked-than-there")
def card_of_each_process(knew: Params) -> Params:
    """Each process takes the card of its number on the node."""
    local = {"binding": "torch.cuda.set_device", "local": "int(os.environ['LOCAL_RANK'])"}
    return local if knew.get("shared") is not None else {}


@mends("more-gpus-asked-than-there")
def as_many_as_ray_has(knew: Params) -> Params:
    """Ray's cluster is as large as the nodes that joined it."""
    have = str(knew.get("have") or "")
    return {"option": f"--tensor-parallel-size {have}"} if knew.get("cluster") and have.strip("0") else {}


@mends("more-gpus-asked-than-there")
def card_of_each_rank(_said: Symptom = seen("nccl-duplicate-gpu", "nccl-ranks-on-one-gpu")) -> Params:
    """torchrun tells each process its number on the node; the program has to choose its card by it."""
    return {"binding": "torch.cuda.set_device", "local": "int(os.environ['LOCAL_RANK'])"}
