"""A command while it is put together: options with their reasons, what it warns of, and the steps that it still needs."""

from collections.abc import Iterable
from typing import Any

from rigup.container.asked import Asked, Mount
from rigup.container.host import Engine, Host
from rigup.container.images import Image
from rigup.schemas.container import From, Reason, Warned
from rigup.schemas.shared import Step
from rigup.stack.site import Device, Site

DOCKER_RUN = "https://docs.docker.com/reference/cli/docker/container/run/"
PODMAN_RUN = "https://docs.podman.io/en/latest/markdown/podman-run.1.html"
APPTAINER = "https://apptainer.org/docs/user/latest/environment_and_metadata.html"
CDI = "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/cdi-support.html"
HOOK = "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html"
ROCM = "https://rocm.docs.amd.com/projects/install-on-linux/en/latest/how-to/docker.html"
SELINUX = "https://github.com/containers/container-selinux"


class Draft:
    """What is known, and what has been decided so far."""

    def __init__(self, asked: Asked, site: Site, host: Host, engine: Engine, image: Image, devices: tuple[Device, ...]) -> None:
        self.asked, self.site, self.host, self.engine, self.image = asked, site, host, engine, image
        self.devices = devices
        """Those that the container gets."""
        self.options: list[tuple[str, str]] = []
        self.before: list[tuple[str, str]] = []
        """Options of the engine itself, before `run`."""
        self.mounts: list[tuple[Mount, str]] = []
        """Each with its flag of SELinux."""
        self.variables: dict[str, str | None] = {}
        self.exports: dict[str, str | From] = {}
        self.because: list[Reason] = []
        self.warnings: list[Warned] = []
        self.steps: list[Step] = []
        self.impossible = False
        self.unserved: dict[int, tuple[str, str]] = {}
        """Devices by index that the engine or the driver keeps from the container, each with why and the source."""

    def add(self, name: str, value: str = "", why: str = "", source: str = DOCKER_RUN) -> None:
        """An option, once."""
        if (name, value) not in self.options:
            self.options.append((name, value))
            if why:
                self.tell((name, *([value] if value else [])), why, source)

    def tell(self, part: Iterable[str], why: str, source: str) -> None:
        """Why a part of the command is there."""
        self.because.append(Reason(part=list(part), why=why, source=source))

    def set(self, name: str, value: str | None, why: str, source: str = DOCKER_RUN) -> None:
        """A variable of the program; None: the caller's value, passed by name."""
        if name not in self.variables:
            self.variables[name] = value
            self.tell(("--env", name if value is None else f"{name}={value}"), why, source)

    def mount(self, mount: Mount, why: str, source: str = DOCKER_RUN) -> None:
        """A folder, unless it is there already."""
        if all(mount.target != present.target for present, _flag in self.mounts):
            self.mounts.append((mount, ""))
            self.tell((self.mount_word, f"{mount.source}:{mount.target}"), why, source)

    def warn(self, cause: str, text: str) -> None:
        """What a person ought to know before."""
        if all(warning.cause != cause for warning in self.warnings):
            self.warnings.append(Warned(cause=cause, text=text))

    def need(self, kind: str, params: dict[str, str] | None = None, commands: tuple[tuple[str, ...], ...] = (), **notes: Any) -> None:
        """A step that must be taken first; `commands` in place of those of its kind."""
        from rigup.steps import make, make_as

        step = make_as(kind, params or {}, commands, **notes) if commands else make(kind, params or {}, **notes)
        self.steps.append(step)

    @property
    def mount_word(self) -> str:
        """What mounts a folder."""
        return "--bind" if self.engine.hpc else "-v"

    def of(self, vendor: str) -> tuple[Device, ...]:
        """The devices of a maker that the container gets."""
        return tuple(device for device in self.devices if device.vendor == vendor)

    def position(self, device: Device) -> int:
        """Its number among those of its maker, as the maker's tools count."""
        return [gpu.index for gpu in self.site.gpus if gpu.vendor == device.vendor].index(device.index)

    @property
    def whole(self) -> bool:
        """All GPUs of the makers in question are handed over."""
        makers = {device.vendor for device in self.devices}
        return len(self.devices) == len([device for device in self.site.gpus if device.vendor in makers])
