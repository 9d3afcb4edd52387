"""What a container's start asks of a machine beside its devices: engines, CDI descriptions, nodes, folders, variables."""

import re

import msgspec

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}


class Engine(msgspec.Struct, frozen=True, kw_only=True):
    """A container engine.

    Attributes:
        flavour: "engine", or what keeps it in a virtual machine ("desktop", "colima", "podman-machine").
        cdi: reads CDI descriptions; None where only the release tells.
        no_cgroups: NVIDIA's hook leaves cgroups alone.
        oci_runtime, oci_runtimes: of podman, the one in force and those that are there.
        more_ids: a rootless podman's account has numbers beside its own (/etc/subuid); None where nobody told.
        compose: the release of its compose; "" where nobody told.

    """

    name: str
    version: str = ""
    flavour: str = "engine"
    rootless: bool = False
    runtimes: tuple[str, ...] = ()
    default_runtime: str = ""
    cdi: bool | None = None
    cgroup_driver: str = ""
    no_cgroups: bool = False
    oci_runtime: str = ""
    oci_runtimes: tuple[str, ...] = ()
    more_ids: bool | None = None
    compose: str = ""
    backend: str = ""

    @property
    def podman(self) -> bool:
        """It is podman, on this kernel or in a machine of its own."""
        return self.name == "podman"

    @property
    def hpc(self) -> bool:
        """It runs images as the caller, without a daemon: Apptainer or Singularity."""
        return self.name in ("apptainer", "singularity")

    @property
    def in_machine(self) -> bool:
        """Its containers run in a virtual machine."""
        return self.flavour in ("desktop", "colima", "podman-machine")


class Spec(msgspec.Struct, frozen=True, kw_only=True):
    """A CDI description.

    Attributes:
        kind: "nvidia.com/gpu".
        devices: whole names.
        driver: the driver that it was written for; "" where nobody told.

    """

    file: str = ""
    cdi_version: str = ""
    kind: str = ""
    devices: tuple[str, ...] = ()
    driver: str = ""


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """A device node. `gpu` is the position of its GPU among the machine's."""

    gid: int = 0
    mode: str = "0660"
    gpu: int | None = None

    @property
    def open(self) -> bool:
        """Everybody may read and write it."""
        return re.fullmatch(r"[0-7]*[67]", self.mode) is not None


class Instance(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a GPU (MIG): `index` is GPU:INSTANCE."""

    gpu: int
    index: str
    uuid: str = ""
    profile: str = ""


class Folder(msgspec.Struct, frozen=True, kw_only=True):
    """A folder that is there, its file system and what is free on it; "" where nobody told."""

    fs: str = ""
    free: str = ""

    @property
    def room(self) -> float | None:
        """Bytes that are free."""
        found = re.fullmatch(r"(\d{1,18}(?:\.\d{1,6})?) ?([KMGTP]?)(?:i?B)?", self.free, re.IGNORECASE)
        return float(found[1]) * _UNITS[found[2].upper()] if found else None


class Host(msgspec.Struct, frozen=True, kw_only=True):
    """What is there; what is not listed is not.

    Attributes:
        nvidia_toolkit: its version; False: not installed; None: nobody looked.
        amdgpu: "inbox", or the release of AMD's kernel driver.
        docker_config_proxies: docker's client sets proxies itself.

    """

    user: str = ""
    uid: int = 0
    gid: int = 0
    home: str = "/root"
    cwd: str = "/"
    groups: dict[str, int] = {}
    environment: dict[str, str] = {}
    engines: tuple[Engine, ...] = ()
    nvidia_toolkit: str | bool | None = None
    amd_toolkit: str | bool | None = None
    cdi: tuple[Spec, ...] = ()
    nodes: dict[str, Node] = {}
    mig: tuple[Instance, ...] = ()
    selinux: str = "absent"
    container_selinux: str = ""
    selinux_booleans: dict[str, bool] = {}
    amdgpu: str = ""
    folders: dict[str, Folder] = {}
    docker_config_proxies: bool = False

    def has(self, path: str) -> bool:
        """A folder or file is known to be there."""
        return path in self.folders
