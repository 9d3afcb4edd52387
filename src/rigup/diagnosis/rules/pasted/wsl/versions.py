"""What versions, and a tool that finds no WSL where one is, tell of its two sides."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.pasted.heard import WSL_NAMED, WSL_SPOKEN_OF
from rigup.knowledge import wsl
from rigup.machine.kinds import Gpu, Platform, Symptom, SystemPackage

_NEAR = 10  # branches between the release for Linux and the one for Windows that come out together
_NO_LIBRARY = ("container-tool-cannot-load-the-management-library", "container-cli-no-driver-library", "container-cli-driver-error", "container-cli-no-nvml-library", "container-cli-driver-not-loaded")  # fmt: skip


@rule("wsl-linux-driver-inside", "likely")
def tool_is_of_another_time_than_the_driver(
    told: Symptom = seen("tool-and-driver-of-nvidia-told"), guest: Platform | None = one(wsl=2), spoken: Symptom | None = seen(*WSL_SPOKEN_OF, *WSL_NAMED),
) -> Verdict:  # fmt: skip
    """Windows brings its own nvidia-smi into a WSL, of the driver's time; one of another time came with a Linux package."""
    tool, driver = (int(told.get(name) or told.get(name + "2") or 0) for name in ("tool", "driver"))
    return bool(guest or spoken) and not inside(told) and abs(tool - driver) > _NEAR and {"said": told.id}


@rule("wsl-windows-too-old", "possible")
def container_tool_takes_a_spoken_wsl_for_another_linux(
    said: Symptom = seen("container-no-dxcore"), _failed: Symptom = seen(*_NO_LIBRARY), _spoken: Symptom = seen(*WSL_SPOKEN_OF, *WSL_NAMED), card: Gpu | None = one(vendor="nvidia"),
    package: SystemPackage | None = one(state="installed"),
) -> Verdict:  # fmt: skip
    """It finds none of what Windows would show there, and the person speaks of a WSL: its Windows is from before that, or it is a first WSL."""
    ours = package is not None and wsl.shadows(package.name)
    return card is None and not ours and {"minimum": "Windows build " + wsl.minimum()[0], "said": said.id}
