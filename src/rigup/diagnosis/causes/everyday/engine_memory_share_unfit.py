"""The share of the GPU's memory that an engine takes beforehand is too small for the model, or leaves too little beside it."""

from rigup.diagnosis.rule import Params, Verdict, mends, seen, text_rule
from rigup.machine.kinds import Symptom

_SPARE = 0.12  # of the card: with so much left beside the weights it is the share that is too small
_LEAST = 0.5


@text_rule("engine-memory-share-unfit")
def weights_leave_room_that_sglang_may_not_use(
    refusal: Symptom = seen("server-has-no-room"),
    loaded: Symptom = seen("sglang-weights-are-loaded"),
    share: Symptom = seen("sglang-share-named"),
) -> Verdict:
    """The weights are on the card and much of it is free: what may be taken ends before the cache."""
    left, weights, given = float(loaded.left), float(loaded.weights), _share(share)
    spare = left / (left + weights)
    small = spare > _SPARE and given < 1 - spare + _SPARE
    return small and {"said": refusal.id, "program": "SGLang", "small": _written(given)}


@text_rule("engine-memory-share-unfit", "likely")
def vllm_may_take_less_than_half(refusal: Symptom = seen("vllm-no-room-for-cache"), share: Symptom = seen("vllm-small-share")) -> Verdict:
    """Who wished it to take so little gets what he asked for."""
    return {"said": refusal.id, "program": "vLLM", "small": share.share}


@mends("engine-memory-share-unfit")
def larger_share(knew: Params) -> Params:
    """What each takes where nobody says otherwise, or nearly."""
    option = {"SGLang": "--mem-fraction-static 0.85", "vLLM": "--gpu-memory-utilization 0.9"}
    return {"larger": option.get(str(knew.get("program")))} if knew.get("small") else {}


@mends("engine-memory-share-unfit")
def smaller_share_for_graphs(
    _said: Symptom = seen("sglang-graphs-find-no-room"), share: Symptom | None = seen("sglang-share-named")
) -> Params:
    """The message's own figure where no share is named."""
    given = _share(share) if share is not None else 0.9
    return {
        "smaller": f"--mem-fraction-static {_written(max(given - 0.1, _LEAST))}",
        "graphs": "--cuda-graph-max-bs 16",
        "large": _written(given) if share is not None else None,
    }


@mends("engine-memory-share-unfit")
def smaller_share_for_the_sampler(
    _said: Symptom = seen("vllm-warms-up-in-vain"), share: Symptom | None = seen("vllm-share-named")
) -> Params:
    """Its requests at once are what the sampler is tried with."""
    given = float(share.share) if share is not None else 0.9
    return {
        "smaller": f"--gpu-memory-utilization {_written(max(given - 0.05, _LEAST))}",
        "graphs": "--max-num-seqs 64",
        "large": _written(given) if share is not None else None,
    }


def _share(share: Symptom) -> float:
    return float(share.get("typed") or share.get("shown"))


def _written(share: float) -> str:
    return f"{share:.3g}"
