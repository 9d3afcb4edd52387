"""The model does not fit into the GPU's memory: what is missing, and what can make up for it."""

from rigup.diagnosis.rule import Params, mends, seen
from rigup.machine.kinds import Symptom

_LITTLE = 20  # per cent: so much a shorter context and a smaller cache may save
_LONG = 16384  # tokens, from which on the context takes a good part
_SHARE_OF_WEIGHTS, _GB_OF_A_BILLION = (0.85, 0.6)  # of four bits and a little more each (Q4_K_M), beside context and buffers


@mends("model-split-with-cpu")
def what_is_missing(row: Symptom = seen("ollama-splits-the-model")) -> Params:
    """A gap that no setting closes is told in figures: a smaller model, or another card."""
    size, cpu = row.get("size"), int(row.cpu)
    if not size or cpu <= _LITTLE or int(row.get("context") or 0) >= _LONG:
        return {"closable": row.model}
    gap = float(size) * cpu / 100
    room = float(size) - gap
    billions = round(room * _SHARE_OF_WEIGHTS / _GB_OF_A_BILLION)
    return {"size": size, "gap": f"{gap:.0f}", "room": f"{room:.0f}", "billions": str(billions)}
