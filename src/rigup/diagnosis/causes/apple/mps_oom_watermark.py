"""The memory that GPU and system share is used up."""

from rigup.diagnosis.rule import Params, Verdict, mends, rule, seen, text_rule
from rigup.language import _
from rigup.machine.kinds import Symptom, Torch

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


@rule("mps-oom-watermark", "likely")
def more_than_the_working_set(
    over: Symptom = seen("ggml-metal-over-the-set"), _failed: Symptom = seen("ggml-metal-failed")
) -> Verdict:
    """More was allocated than Metal keeps at hand, and the computation ended."""
    return {"said": over.id}


@rule("mps-oom-watermark", "likely")
def more_buffers_than_the_working_set(
    statement: Symptom = seen("metal-buffers-beside-the-set"),
    _failed: Symptom = seen("ggml-metal-failed", "ggml-metal-assertion"),
) -> Verdict:
    """llama.cpp prints what it holds beside what Metal recommends."""
    return float(statement.held) > float(statement.most) and {"held": statement.held, "most": statement.most}


@rule("mps-oom-watermark", "possible")
def computation_failed_for_no_told_reason(
    failed: Symptom = seen("ggml-metal-failed"), why: Symptom | None = seen("metal-out-of-memory", "ggml-metal-over-the-set", "metal-buffers-beside-the-set")
) -> Verdict:  # fmt: skip
    """Status 5 is "error"; mostly it is memory."""
    return why is None and {"said": failed.id}


@text_rule("mps-oom-watermark", "likely")
def model_of_mlx_is_larger_than_the_set(
    statement: Symptom = seen("mlx-model-beside-the-set"), _failed: Symptom = seen("mlx-command-failed")
) -> Verdict:
    """mlx-lm prints what the model needs beside what Metal recommends."""
    return float(statement.held) > float(statement.most) and {"held": statement.held, "most": statement.most}


def _bytes(size: str) -> float:
    """`7.42 GB`."""
    number, _gap, unit = size.partition(" ")
    return float(number) * _UNITS.get(unit[:1], 1) if number.replace(".", "", 1).isdigit() else 0.0


@mends("mps-oom-watermark")
def what_to_shrink(
    symptom: Symptom | None = seen("mps-out-of-memory", "metal-out-of-memory"), mlx: Symptom | None = seen("mlx-command-failed", "mlx-in-words"), torch: Torch | None = None,
) -> Params:  # fmt: skip
    """More is held by others, or by this program itself; MLX has options of its own."""
    if mlx is not None and torch is None:
        return {
            "how": _(
                "a model of 4 bits (mlx-community has them) or a smaller one; for training --batch-size 1, fewer --num-layers, a shorter --max-seq-length and --grad-checkpoint"
            )
        }
    mine, others = (_bytes(symptom.get(name, "") if symptom else "") for name in ("allocated", "beside"))
    closing, shrinking = (
        _("close other programs, then a smaller batch or model"),
        _("half precision (torch_dtype=torch.float16), a smaller batch, input or model"),
    )
    return {"how": closing if others > mine else shrinking}
