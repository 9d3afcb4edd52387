"""The weights that are trained are in half precision themselves, and the gradient scaler wants them in float32."""

from rigup.diagnosis.rule import Every, Params, every, mends, seen
from rigup.knowledge.abilities import lacking
from rigup.machine.kinds import Gpu, Symptom

_AUTOCAST = "autocast", "autocast(dtype=torch.bfloat16)"
_ACCELERATE = "--mixed_precision=fp16", "--mixed_precision=bf16"
_TRAINER = "fp16=True", "bf16=True"


@mends("half-weights-under-scaler")
def how_the_trainer_is_told(
    half: Symptom | None = seen("scaler-meets-half-gradients"),
    launched: Symptom | None = seen("accelerate-is-told-of-float16"),
    trainer: Symptom | None = seen("transformers-trains"),
    adapters: Symptom | None = seen("adapters-are-trained", "adapters-named", "script-trains-adapters"),
) -> Params:
    """Accelerate, the Trainer of transformers and plain torch have words of their own; adapters are small in float32."""
    return {
        "type": "float16" if half is not None else "bfloat16",
        "mixed": _words(launched, trainer)[0],
        "adapters": "adapters" if adapters is not None else None,
    }


@mends("half-weights-under-scaler")
def whether_the_chip_has_bfloat16(
    gpus: Every[Gpu] = every(Gpu),
    launched: Symptom | None = seen("accelerate-is-told-of-float16"),
    trainer: Symptom | None = seen("transformers-trains"),
) -> Params:
    """A scaler is there for chips without bfloat16: training in it is told only where every card is known to compute it."""
    known = [gpu for gpu in gpus if gpu.knows("isa") and gpu.knows("vendor")]
    lack = any(row.id == "bfloat16" for gpu in known for row in lacking(str(gpu.vendor), str(gpu.isa)))
    return {"bf16": _words(launched, trainer)[1]} if known and not lack else {}


def _words(launched: Symptom | None, trainer: Symptom | None) -> tuple[str, str]:
    """How float16 and bfloat16 are asked for."""
    return _ACCELERATE if launched is not None else _TRAINER if trainer is not None else _AUTOCAST
