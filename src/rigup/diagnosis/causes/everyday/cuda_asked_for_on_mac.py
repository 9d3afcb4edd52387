"""The program asks for CUDA on a Mac: its GPU is the device mps."""

from rigup.diagnosis.rule import Params, mends, seen
from rigup.machine.kinds import Platform, Symptom


@mends("cuda-asked-for-on-mac")
def device_in_its_place(_said: Symptom = seen("device-option-names-cuda")) -> Params:
    """The option that the command line shows."""
    return {"option": "--device mps"}


@mends("cuda-asked-for-on-mac")
def device_in_the_program(knew: Params, _any: Platform | None = None) -> Params:
    """Where no option names the device, the program's own lines do."""
    return {} if knew.get("option") else {"device": "mps"}
