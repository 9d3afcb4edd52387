"""A service that is judged: its image, its command, and what it asks of the engine."""

import re

from rigup.container.images import Image, image
from rigup.container.lint.case import Built, Found, of_cpu, of_gpu
from rigup.container.lint.services import Marked, Service
from rigup.schemas.shared import Severity
from rigup.stack.site import Site

_GPU_DEVICES = re.compile(r"/dev/(?:nvidia|kfd|dri|dxg)|\.com/gpu|\.com/mig")


class Judged:
    """A service with its image and what it asks for."""

    def __init__(self, service: Service, built: Built | None, site: Site | None) -> None:
        self.service, self.built, self.site = service, built, site
        name = service.image.text if service.image and not (service.build and built) else ""
        self.image: Image = built.base if built else image(name or "scratch", site.machine if site else "x86_64")
        self.named = service.image if name else None
        start = built.start[0] if built and not service.words else ""
        self.command = " ".join(service.words) or start
        if service.dev:
            self.command = " ".join(
                node.text
                for key in ("postCreateCommand", "postStartCommand", "postAttachCommand")
                if (node := service.all.get(key)) is not None
            )
        self.options = [node.text for node in (service.all.get("runArgs") or Marked([], 0, 0)).items]

    @property
    def devices(self) -> list[str]:
        """Devices by path or name."""
        node = self.service.all.get("devices")
        found = [(node.get("source") or node).text for node in node.items] if node else []
        return found + list(self._values("--device"))

    def _values(self, name: str) -> list[str]:
        words_of = self.options
        return [words_of[n + 1] for n in range(len(words_of) - 1) if words_of[n] == name] + [
            word.partition("=")[2] for word in words_of if word.startswith(name + "=")
        ]

    @property
    def reservations(self) -> Marked | None:
        """The request for devices."""
        return self.service.all.get("deploy", "resources", "reservations", "devices")

    @property
    def runtime(self) -> str:
        """The engine's runtime that is asked for."""
        node = self.service.all.get("runtime")
        return node.text if node else next(iter(self._values("--runtime")), "")

    @property
    def asks(self) -> bool:
        """Something asks for a GPU."""
        every = self.service.all
        gpu = every.get("hostRequirements", "gpu")
        limits = every.get("deploy", "resources", "limits", "devices")
        by_option = any(option.partition("=")[0] == "--gpus" for option in self.options)
        features = any("nvidia-cuda" in key for key in (every.get("features") or Marked({}, 0, 0)).keys)
        return bool(
            self.reservations
            or limits
            or every.get("gpus")
            or self.runtime
            or by_option
            or self.privileged
            or any(_GPU_DEVICES.search(device) for device in self.devices)
            or (gpu is not None and gpu.value not in (False, "false") and not features)
        )

    @property
    def privileged(self) -> bool:
        """Everything is allowed to it."""
        node = self.service.all.get("privileged")
        return bool(node and node.value is True) or "--privileged" in self.options

    @property
    def off(self) -> bool:
        """It is meant for the processor."""
        visible = self.service.variables.get("CUDA_VISIBLE_DEVICES", ("x", 0))[0]
        return of_cpu(self.command) or (visible in ("-1", "") and not self.asks)

    @property
    def for_gpu(self) -> bool:
        """Its image or its command is for a GPU."""
        if self.off:
            return False
        vendor = self.image.vendor
        if vendor in ("nvidia", "amd", "intel") and self.image.kind.framework != "ollama":
            return True
        return of_gpu(self.command) or bool(self.built and self.built.wants_gpu and not self.built.asks_gpu)

    @property
    def root(self) -> bool:
        """It runs as root."""
        every = self.service.all
        user = next((node.text for key in ("user", "remoteUser", "containerUser") if (node := every.get(key)) is not None), "")
        user = user or next(iter([*self._values("--user"), *self._values("-u")]), "")
        kept = (every.get("userns_mode") or Marked("", 0, 0)).text + " ".join(self._values("--userns"))
        if user:
            return user.split(":")[0] in ("root", "0")
        return not kept.startswith("keep-id") and not (self.built.user if self.built else self.image.kind.user)

    @property
    def shared(self) -> bool:
        """Its processes have memory to share."""
        every = self.service.all
        tmpfs = every.get("tmpfs")
        mounts = " ".join([tmpfs.text, *(node.text for node in tmpfs.items)]) if tmpfs else ""
        mounts += " ".join((node.get("target") or node).text for node in (every.get("volumes") or Marked([], 0, 0)).items)
        by_key = (every.get("ipc") or Marked("", 0, 0)).text in ("host", "shareable") or every.get("shm_size") or "/dev/shm" in mounts
        return bool(by_key) or any(option.startswith(("--ipc", "--shm-size")) for option in self.options)

    def whole(self, cause: str, severity: Severity, evidence: str = "") -> Found:
        """A finding of the whole service."""
        service = self.service
        return Found(
            cause, severity, service.first, service.last, evidence or service.name or (service.image.text if service.image else "")
        )
