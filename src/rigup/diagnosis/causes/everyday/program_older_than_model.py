"""The program is older than the model that it is to load."""

from rigup.diagnosis.rule import Params, mends, seen
from rigup.knowledge.program_builds import engine_of
from rigup.machine.kinds import Symptom


@mends("program-older-than-model")
def engine_within_a_program(knew: Params, named: Symptom = seen(tag="program-around-llama-cpp")) -> Params:
    """What speaks is llama.cpp, and what a person updates is the program around it, or the engine that this keeps apart."""
    engine = engine_of(str(named.program)) if knew.get("program") == "llama.cpp" else None
    if engine is None:
        return {}
    return {"keeper": engine.name, "place": engine.place, "program": None} if engine.place else {"program": engine.name}


@mends("program-older-than-model")
def engine_within_a_package(knew: Params, _loads: Symptom = seen("llama-cpp-python-loads")) -> Params:
    """llama.cpp comes inside a package of Python, and a newer one with a newer release of that."""
    return {"binding": "llama-cpp-python", "program": None} if knew.get("program") == "llama.cpp" else {}
