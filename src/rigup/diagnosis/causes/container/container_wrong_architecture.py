"""The image is made for another processor architecture."""

from rigup.diagnosis.rule import Params, mends, seen
from rigup.knowledge.jetson import jetpack_of_l4t, jetson_image
from rigup.machine.kinds import Jetson, Platform, Symptom, Torch

_HOSTS = {"x86_64": "amd64", "aarch64": "arm64"}  # as images call them


@mends("container-wrong-architecture")
def architecture_of_the_host(
    knew: Params,
    error: Symptom | None = seen("image-platform-differs", "image-no-manifest", "apptainer-wrong-architecture"),
    jetson: Jetson | None = None,
    platform: Platform | None = None,
    torch: Torch | None = None,
) -> Params:
    """What the host is, where the message or the machine tells it."""
    wanted = (error and error.get("want")) or knew.get("want")
    machine = (platform and platform.get("architecture")) or ("aarch64" if jetson is not None else "")
    want = wanted or _HOSTS.get(str(machine))
    release = jetpack_of_l4t(str(jetson.get("l4t") or "")) if jetson is not None else None
    jetsons = (release and torch is not None and jetson_image(release.release)) or None
    differs = error is not None and error.id == "image-platform-differs"
    return {
        "want": want,
        "jetsons": jetsons,
        "plain": None if jetsons else want,
        "tagged": f"--platform=linux/{want}" if differs and not jetsons else None,
    }
