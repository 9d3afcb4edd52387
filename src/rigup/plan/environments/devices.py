"""What the devices of this machine need of a program's variables, worked out from the facts."""

import os
from collections.abc import Iterator

from packaging.version import InvalidVersion, Version

from rigup.language import _
from rigup.machine.kinds import LoaderEntry
from rigup.machine.store import Facts
from rigup.plan.environments.running import Setting
from rigup.stack.choose import choose
from rigup.stack.site import Site
from rigup.stack.wish import Wish

_FRAMEWORKS = ("torch", "tensorflow", "jax", "onnxruntime", "vllm")
# The driver's library that a program of each vendor loads by name, and folders that no loader looks in by itself.
_LIBRARY = {"nvidia": "libcuda.so.1"}
_FOLDERS = ("/usr/lib/wsl/lib", "/run/opengl-driver/lib", "/usr/local/nvidia/lib64", "/.singularity.d/libs")


def needed(site: Site) -> list[Setting]:
    """Overrides, and which devices are hidden: what the stack for the frameworks that are there would set.

    Raises:
        KnowledgeError: a table is malformed.

    """
    if not any(device.vendor == "amd" for device in site.gpus):  # no other vendor's devices need one
        return []
    framework = next((name for name in _FRAMEWORKS if _is_version(site.installed.get(name, ""))), "")
    wish = f"{framework}=={site.installed[framework]}" if framework else "torch"
    choice = choose(Wish(packages=(wish,)), site)  # the very build: another may hold the device's code, and this one not
    because = _("The devices of this machine need it.")
    return [Setting(name, value, because) for name, value in sorted(choice.variables.items())]


def _is_version(text: str) -> bool:
    """What stands in a package's folder may be anything."""
    try:
        return bool(Version(text))
    except InvalidVersion:
        return False


def libraries(facts: Facts, site: Site) -> list[Setting]:
    """Folders of the driver's libraries that the loader does not look in by itself, where the facts show that."""
    return list(_libraries(facts, {device.vendor for device in site.gpus}))


def _libraries(facts: Facts, vendors: set[str]) -> Iterator[Setting]:
    known = {entry.get("soname") for entry in facts.of(LoaderEntry)}
    for vendor in sorted(vendors & _LIBRARY.keys()):
        soname = _LIBRARY[vendor]
        folder = next((path for path in _FOLDERS if os.path.exists(f"{path}/{soname}")), "")
        if soname not in known and folder:
            because = _("{library} of the driver lies there, and the loader's cache does not name it.")
            yield Setting("LD_LIBRARY_PATH", folder, because.format(library=soname))
