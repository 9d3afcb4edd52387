"""A machine as planning sees it: devices, driver, system, Python, and what was assumed of the rest."""

from typing import Any

import msgspec

from rigup.stack.system_state import SystemState
from rigup.stack.troubles import Trouble

NONE = ""
"""Known not to be there, of a driver or a runtime; None is: nobody knows."""


class Device(msgspec.Struct, frozen=True, kw_only=True):
    """A device that a stack may serve.

    Attributes:
        index: position among the machine's devices.
        vendor: who made the chip.
        isa: what the chip is ("sm_86", "gfx1103"), None where the catalogue does not tell.
        architecture: the catalogue's name of its generation, "" if not known.
        integrated: shares the system's memory as its only memory; None if not known.

    """

    index: int
    vendor: str
    name: str = ""
    isa: str | None = None
    pci_id: str = ""
    pci_address: str = ""
    architecture: str = ""
    integrated: bool | None = None
    memory: dict[str, int] = {}

    @property
    def label(self) -> str:
        """How a person knows it."""
        return self.name or self.pci_id or self.vendor


class Sources(msgspec.Struct, frozen=True, kw_only=True):
    """Where the person's own tools look for packages: kept and handed on.

    Attributes:
        index: the index in place of the default one, "" for the default.
        extra_indexes, find_links: further places.
        proxy: what traffic goes through.
        no_index: indexes are not to be asked, the folders alone are.

    """

    index: str = ""
    extra_indexes: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()
    proxy: str = ""
    no_index: bool = False


class Site(msgspec.Struct, frozen=True, kw_only=True):
    """A machine as planning sees it. None is: nobody knows; "" or False: known not to be so.

    Attributes:
        system: "linux", "windows" or "macos"; a WSL is "linux" with `wsl`.
        distribution, release: "ubuntu", "22.04".
        machine: "x86_64", "aarch64" or "arm64".
        glibc: its version; NONE on musl.
        nvidia_driver: version of the loaded driver (of Windows', under WSL); NONE where there is none.
        toolkit: the CUDA toolkit that is there ("12.4"); NONE where there is none.
        lacks: instruction sets that the processor is known to lack ("avx2").
        amd_driver: AMD's release of the kernel driver where one is installed ("6.3"); NONE for the kernel's own.
        in_words: it was described in words, so that what a look would show of it is unknown.
        python: the one that is there.
        own_python: the Python is unknown: it is the one that the distribution has for its own.
        pythons: all that are there.
        interpreters: programs of those that can be started by a path ("3.12": "/opt/…/bin/python3.12").
        bare: those that cannot make environments, for the distribution keeps that part in a package of its own.
        installed: packages of the environment that the plan is for.
        environment: path of that environment, "" where a new one is made.
        stands: it is there, also where nothing is installed in it.
        holder: what will hold the environment, as a wish names it ("venv", "conda" …).
        system_state: what stands on it already.
        troubles: what the doctor found there; empty also where nobody asked.
        assumed: what the answer took for granted, as sentences.

    """

    system: str = "linux"
    distribution: str = ""
    release: str = ""
    kernel: str = ""
    machine: str = "x86_64"
    glibc: str | None = None
    wsl: bool = False
    windows: str = ""
    container: bool = False
    virtual: bool = False
    jetpack: str = ""
    colab: bool = False
    rosetta: bool = False
    macos: str = ""
    devices: tuple[Device, ...] | None = None
    nvidia_driver: str | None = None
    open_module: bool | None = None
    amd_driver: str | None = None
    toolkit: str | None = None
    lacks: tuple[str, ...] = ()
    in_words: bool = False
    python: str | None = None
    own_python: bool = False
    pythons: tuple[str, ...] = ()
    interpreters: dict[str, str] = {}
    bare: tuple[str, ...] = ()
    conda: bool = False
    ram: int | None = None
    disk: int | None = None
    network: bool | None = None
    root: bool | None = None
    secure_boot: bool | None = None
    nvswitch: bool = False
    sources: Sources = Sources()
    installed: dict[str, str] = {}
    environment: str = ""
    stands: bool = False
    holder: str = "venv"
    variables: dict[str, str] = {}
    system_state: SystemState = SystemState()
    troubles: tuple[Trouble, ...] = ()
    assumed: tuple[str, ...] = ()

    @property
    def gpus(self) -> tuple[Device, ...]:
        """The devices; none where nobody knows of any."""
        return self.devices or ()

    @property
    def has_environment(self) -> bool:
        """There is one already, made with `python`."""
        return self.stands or bool(self.installed)

    @property
    def uv(self) -> bool:
        """A uv is there that a plain command starts."""
        return self.system_state.uv

    def but(self, **changes: Any) -> "Site":
        """The same machine, with changes."""
        return msgspec.structs.replace(self, **changes)


def wanted(site: Site) -> tuple[Device, ...]:
    """The devices that the work is for: an integrated one beside a card of its own is for the screen."""
    cards = tuple(device for device in site.gpus if not device.integrated)
    return cards or site.gpus
