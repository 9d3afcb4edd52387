"""The memory that GPU and system share is used up."""

from rigup.diagnosis.causes.less_memory import less_on_a_mac, signs_of_the_program
from rigup.diagnosis.rule import Verdict, mends, rule, seen, text_rule
from rigup.machine.kinds import Symptom


@rule("mps-oom-watermark", "likely")
def more_than_the_working_set(over: Symptom = seen("ggml-metal-over-the-set"), _failed: Symptom = seen("ggml-metal-failed")) -> Verdict:
    """More was allocated than Metal keeps at hand, and the computation ended."""
    return {"said": over.id}


@rule("mps-oom-watermark", "likely")
def more_buffers_than_the_working_set(
    statement: Symptom = seen("metal-buffers-beside-the-set"), _failed: Symptom = seen("ggml-metal-failed", "ggml-metal-assertion")
) -> Verdict:
    """llama.cpp prints what it holds beside what Metal recommends."""
    return float(statement.held) > float(statement.most) and {"held": statement.held, "most": statement.most}


@rule("mps-oom-watermark", "possible")
def computation_failed_for_no_told_reason(
    failed: Symptom = seen("ggml-metal-failed"),
    why: Symptom | None = seen("metal-out-of-memory", "ggml-metal-over-the-set", "metal-buffers-beside-the-set"),
) -> Verdict:
    """Status 5 is "error"; mostly it is memory."""
    return why is None and {"said": failed.id}


@text_rule("mps-oom-watermark", "likely")
def model_of_mlx_is_larger_than_the_set(
    statement: Symptom = seen("mlx-model-beside-the-set"), _failed: Symptom = seen("mlx-command-failed")
) -> Verdict:
    """mlx-lm prints what the model needs beside what Metal recommends."""
    return float(statement.held) > float(statement.most) and {"held": statement.held, "most": statement.most}


mends("mps-oom-watermark")(signs_of_the_program)
mends("mps-oom-watermark")(less_on_a_mac)
