"""ollama's server does not run: nothing answers at its address."""

from rigup.diagnosis.rule import Params, mends, seen
from rigup.machine.kinds import Platform, Symptom


@mends("ollama-not-running")
def who_starts_ollama(knew: Params, platform: Platform | None = None, shown: Symptom | None = seen(tag="windows-in-words")) -> Params:
    """Its installer for Linux makes a service; elsewhere it is an app."""
    if knew.get("base"):
        return {}
    app = shown is not None or (platform is not None and platform.get("system") in ("windows", "macos"))
    return {"desktop": "Ollama"} if app else {"service": "ollama"}
