"""The model does not fit into the GPU's memory: what is missing, and what can make up for it."""

import re

from rigup.diagnosis.rule import Params, mends, seen
from rigup.machine.kinds import Symptom

_LITTLE = 20  # per cent: so much a shorter context and a smaller cache may save
_LONG = 16384  # tokens, from which on the context takes a good part
_USUAL = 8192  # tokens of a context that is of use for most work
_SHARE_OF_WEIGHTS, _GB_OF_A_BILLION = (0.85, 0.6)  # of four bits and a little more each (Q4_K_M), beside context and buffers


@mends("model-split-with-cpu")
def what_is_missing(
    row: Symptom = seen("ollama-splits-the-model"), service: Symptom | None = seen("ollama-context-of-its-service")
) -> Params:
    """A gap that no setting closes is told in figures: a smaller model, or another card. What a long context takes a shorter one frees."""
    size, cpu, context = row.get("size"), int(row.cpu), int(row.get("context") or 0)
    if context >= _LONG and not _too_large_by_its_name(row):
        whose = "of_service" if service and int(service.tokens) == context else "of_model"
        return {"closable": row.model, "tokens": str(_USUAL), whose: str(context)}
    if not size or cpu <= _LITTLE:
        return {"closable": row.model}
    gap = float(size) * cpu / 100
    room = float(size) - gap
    billions = round(room * _SHARE_OF_WEIGHTS / _GB_OF_A_BILLION)
    return {"size": size, "gap": f"{gap:.0f}", "room": f"{room:.0f}", "billions": str(billions)}


def _too_large_by_its_name(row: Symptom) -> bool:
    """Whether the weights of `gpt-oss:20b` alone take more than lies on the card: then no shorter context brings all of it there."""
    billions = re.search(r":(\d+(?:\.\d+)?)b\b", str(row.model))
    on_the_card = float(row.get("size") or 0) * int(row.gpu) / 100
    return billions is not None and float(billions[1]) * _GB_OF_A_BILLION > on_the_card * _SHARE_OF_WEIGHTS
