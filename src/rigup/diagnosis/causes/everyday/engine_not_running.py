"""The container engine does not run: nothing listens on its socket."""

from rigup.diagnosis.rule import Params, mends, seen
from rigup.machine.kinds import Platform, Symptom


@mends("engine-not-running")
def who_runs_the_engine(knew: Params, platform: Platform | None = None, shown: Symptom | None = seen(tag="windows-in-words")) -> Params:
    """On Linux it is a service; elsewhere a program with a virtual machine."""
    system = platform.get("system") if platform is not None else "windows" if shown is not None else "linux"
    if knew.get("service") == "" or (system == "linux" and not (platform is not None and platform.get("wsl"))):
        return {"service": knew.get("service", "docker") or None}
    return {"desktop": "Docker Desktop"}
