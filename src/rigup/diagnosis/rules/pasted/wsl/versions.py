"""What versions, and a tool that finds no WSL where one is, tell of its two sides."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.machine.kinds import Platform, Symptom

_NEAR = 10  # branches between the release for Linux and the one for Windows that come out together


@rule("wsl-linux-driver-inside", "likely")
def tool_is_of_another_time_than_the_driver(
    statement: Symptom = seen("tool-and-driver-of-nvidia-told"), guest: Platform | None = one(wsl=2), spoken: Symptom | None = seen(tag="wsl-spoken-of"),
) -> Verdict:  # fmt: skip
    """Windows brings its own nvidia-smi into a WSL, of the driver's time; one of another time came with a Linux package."""
    tool, driver = (int(statement.get(name) or statement.get(name + "2") or 0) for name in ("tool", "driver"))
    return bool(guest or spoken) and not inside(statement) and abs(tool - driver) > _NEAR and {"said": statement.id}
