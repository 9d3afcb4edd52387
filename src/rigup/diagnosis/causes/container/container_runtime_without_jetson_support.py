"""The runtime looks for a desktop driver's files, which a Jetson does not have."""

from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen
from rigup.machine.kinds import Jetson, Symptom, World


@rule("container-runtime-without-jetson-support")
def no_desktop_libraries_on_a_jetson(_jetson: Jetson, _error: Symptom = seen("apptainer-no-nv-files")) -> Verdict:
    """What --nv looks for are a desktop driver's files."""
    return True


@mends("container-runtime-without-jetson-support")
def what_it_was_started_with(
    world: World | None = one(container=("apptainer", "singularity")),
    files: Symptom | None = seen("apptainer-no-nv-files", "apptainer-in-words"),
) -> Params:
    """Apptainer can take the module's files through NVIDIA's tool."""
    return {"nvccli": "--nvccli" if world is not None or files is not None else None}
