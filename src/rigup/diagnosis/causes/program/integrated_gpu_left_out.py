"""A server leaves the graphics of a processor out until it is told to take them."""

from rigup.diagnosis.causes.rocm.who_computes import boxed
from rigup.diagnosis.rule import Params, mends, one
from rigup.knowledge.amd_ways import setting
from rigup.machine.kinds import Platform


@mends("integrated-gpu-left-out")
def where_the_server_reads_it(knew: Params, windows: Platform | None = one(system="windows")) -> Params:
    """The service's own variables, the container's, or those of Windows."""
    switch, box = setting("integrated-taken-by-ollama"), boxed(knew)
    place = "option" if box and windows is None else "variable" if windows is not None else "service"
    value = {"option": f"-e {switch.name}={switch.value}", "variable": switch.name, "service": "ollama"}[place]
    return {"name": switch.name, "value": switch.value, place: value}
