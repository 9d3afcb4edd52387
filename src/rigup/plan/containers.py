"""Steps for work in containers: the engine, NVIDIA's toolkit beside it, the image."""

from collections.abc import Iterator

from msgspec import structs

from rigup.knowledge.surroundings import container_toolkit, engine_package
from rigup.language import _
from rigup.plan.place import inside
from rigup.stack.candidate import Change
from rigup.stack.choice import Choice
from rigup.stack.site import Site
from rigup.steps import Step, make, make_as

_ENGINES = ("docker", "podman", "apptainer", "containerd", "crio")
IMAGE = "rigup-environment"


def toolkit_steps(change: Change, site: Site) -> Iterator[Step]:
    """NVIDIA's container toolkit, registered with the engine that the change names, else docker."""
    engine = next((name for name in _ENGINES if name in change.to.lower()), "docker")
    yield from _toolkit(site, engine, change.why)


def _toolkit(site: Site, engine: str, because: str) -> Iterator[Step]:
    recipe = container_toolkit("" if site.container else site.distribution)
    commands = tuple(map(tuple, recipe.commands)) if recipe else ()
    undo = tuple(map(tuple, recipe.undo)) if recipe else None
    writes = tuple(recipe.writes) if recipe else ()
    yield _at_host(make_as("set-up-container-toolkit", {}, commands, undo, writes=writes, because=because), site)
    if engine in ("podman", "apptainer"):
        reason = _("{engine} takes the devices from this description.").format(engine=engine)
        yield _at_host(make("describe-devices", {}, because=reason), site)
    else:
        argv = (("nvidia-ctk", "runtime", "configure", "--runtime=" + engine), ("systemctl", "restart", engine))
        yield _at_host(make_as("tell-engine", {"engine": engine}, argv), site)


def _at_host(step: Step, site: Site) -> Step:
    """Engines are set up where they run: here, unless this is a container itself."""
    return structs.replace(step, where="host-of-container" if site.container or site.colab else "here")


def engine_steps(change: Change, site: Site) -> Iterator[Step]:
    """A container engine from the distribution."""
    engine = next((name for name in _ENGINES if name in change.to.lower()), "podman")
    params = {"engine": engine, "package": engine_package(engine, site.distribution)}
    yield make("install-engine", {k: v for k, v in params.items() if v}, because=change.why, **inside(site))


def image_steps(choice: Choice) -> Iterator[Step]:
    """Build an image of the plan and start it with the devices."""
    if choice.wish.manager == "apptainer":
        yield from _with_apptainer(choice)
        return
    engine, site = _engine(choice.site), choice.site
    changed = {change.change for change in choice.changes}
    if "nvidia" in _vendors(choice) and not (site.wsl or site.system == "windows") and "container-toolkit" not in changed:
        why = _("With it an engine gives NVIDIA's devices to a container; the driver stays the host's.")
        yield from _toolkit(site, engine, why)
    recipe = "Dockerfile"
    yield make("write-recipe", {"file": recipe, "form": "dockerfile"})
    build = (engine, "build", "-t", IMAGE, "-f", recipe, ".")
    yield make_as("build-image", {"image": IMAGE, "file": recipe}, (build,), ((engine, "rmi", IMAGE),))
    start = (engine, "run", "--rm", "-it", *_devices(choice, engine), IMAGE)
    yield make_as("start-image", {"image": IMAGE}, (start,))


def _engine(site: Site) -> str:
    """docker, or podman where that alone was seen: it takes the same commands."""
    seen = site.system_state.engines
    return "podman" if "podman" in seen and "docker" not in seen else "docker"


def _with_apptainer(choice: Choice) -> Iterator[Step]:
    vendors, recipe, image = _vendors(choice), "rigup.def", IMAGE + ".sif"
    yield make("write-recipe", {"file": recipe, "form": "apptainer"})
    build = ("apptainer", "build", image, recipe)
    yield make_as("build-image", {"image": image, "file": recipe}, (build,), (("rm", "-f", image),))
    flags = ["--nv"] * ("nvidia" in vendors) + ["--rocm"] * ("amd" in vendors)
    yield make_as("start-image", {"image": image}, (("apptainer", "run", *flags, image),))


def _vendors(choice: Choice) -> set[str]:
    """Makers of the devices that are served."""
    return {device.vendor for device, served in choice.devices if served.served}


def _devices(choice: Choice, engine: str) -> list[str]:
    """What lets a container at the served devices."""
    vendors = _vendors(choice)
    every = ["--device", "nvidia.com/gpu=all"] if engine == "podman" else ["--gpus", "all"]
    flags = every if "nvidia" in vendors else []
    if "amd" in vendors and choice.site.wsl:
        flags += ["--device=/dev/dxg", "-v", "/usr/lib/wsl/lib:/usr/lib/wsl/lib:ro"]
    elif "amd" in vendors:
        flags += ["--device=/dev/kfd", "--device=/dev/dri", "--group-add=video", "--ipc=host", "--security-opt=seccomp=unconfined"]
    if "intel" in vendors:
        flags += ["--device=/dev/dri"]
    return flags
