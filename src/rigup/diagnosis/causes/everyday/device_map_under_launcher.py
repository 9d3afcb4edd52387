"""Each process of a launcher spreads the model over all cards, or loads it onto another's."""

from rigup.diagnosis.rule import Params, mends, seen
from rigup.machine.kinds import Symptom


@mends("device-map-under-launcher")
def whole_model_on_the_ranks_own_card(_said: Symptom = seen("spread-model-under-a-launcher")) -> Params:
    """torchrun and accelerate tell each process its number on the node."""
    return {"call": "from_pretrained", "argument": 'device_map={"":int(os.environ["LOCAL_RANK"])}'}
