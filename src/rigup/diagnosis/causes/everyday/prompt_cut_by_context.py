"""The prompt is longer than the context that the engine holds: its beginning is cut off, or the request refused."""

from rigup.diagnosis.causes.services import service_of
from rigup.diagnosis.rule import Every, Params, every, mends, one, seen
from rigup.machine.kinds import Platform, Symptom

_VARIABLE = "OLLAMA_CONTEXT_LENGTH"
_OPTIONS = {"llama.cpp": "-c {tokens}", "vLLM": "--max-model-len {tokens}", "LM Studio": "Context Length = {tokens}"}
_LEAST, _ROOM = 8192, 1.1  # tokens; what the answer needs beside the prompt


def _wanted(messages: list[Symptom], most: int | None) -> int:
    """The power of two that holds the longest prompt with room for an answer, as far as the model goes."""
    known = [int(message.prompt) for message in messages if message.get("prompt")]
    told = [int(message.limit) for message in messages if message.get("limit")]
    wish, tokens = max([int(n * _ROOM) for n in known] or [n * 2 for n in told] or [_LEAST]), _LEAST
    while tokens < wish:
        tokens *= 2
    return min(tokens, most) if most else tokens


@mends("prompt-cut-by-context")
def context_that_holds_it(
    knew: Params,
    symptom: Symptom,
    said: Every[Symptom] = every(Symptom),
    shown: Symptom | None = seen("context-of-the-model-shown"),
    elsewhere: Symptom | None = seen(tag="windows-in-words macs"),
    platform: Platform | None = one(system=("windows", "macos")),
) -> Params:
    """By the variable of ollama's server where that was started, by an option of the others; never more than the model was made for."""
    program, most = str(knew.get("program")), int(shown.tokens) if shown is not None else None
    tokens = _wanted([part for part in said if part.id == symptom.id], most)
    holds = most is None or all(int(part.get("prompt") or 0) < most for part in said if part.id == symptom.id)
    common = {"tokens": str(tokens), "most": None if holds else str(most)}
    if program != "ollama":
        return {**common, "option": _OPTIONS[program].format(tokens=tokens)}
    if symptom.place.world.startswith("container"):
        return {**common, "boxed": f"-e {_VARIABLE}={tokens}"}
    app = elsewhere is not None or platform is not None
    return {**common, "variable": _VARIABLE if app else None, "service": None if app else service_of(symptom.place.process)}
