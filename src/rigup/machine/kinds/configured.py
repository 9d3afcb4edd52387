"""What is configured for later: the next boot, package sources, container runtimes, the cluster, room on disks."""

from rigup.machine.facts import MACHINE, PROCESS, Fact


class NextBoot(Fact, scope=MACHINE):
    """What the boot loader starts next."""

    release: str  # of the kernel
    because: str  # chosen: the boot loader names it; newest: nobody chose, and this is the newest one


class PackageSource(Fact, keys=("tool", "name", "path"), scope=PROCESS, title=("name",)):
    """Where pip, uv or conda were told to take packages from, and through what."""

    tool: str  # pip, uv, conda
    name: str  # index-url, extra-index-url, find-links, no-index, proxy, trusted-host, cert, channels …
    entries: list[str]
    path: str  # the file that says so


class CdiSpec(Fact, keys=("path",)):
    """A description of devices that container engines can hand on."""

    path: str
    kind: str  # nvidia.com/gpu
    devices: list[str]  # 0, all, GPU-…


class ContainerToolkit(Fact, keys=("path",)):
    """NVIDIA's container toolkit, as its configuration tells."""

    path: str
    no_cgroups: bool  # it leaves the control group's device rules alone: for rootless engines
    mode: str  # auto, legacy, cdi, csv


class SlurmSetting(Fact, keys=("path", "name"), scope=MACHINE, title=("name",)):
    """A setting of the cluster that decides how jobs get devices."""

    path: str
    name: str  # GresTypes, TaskPlugin, ConstrainDevices, AutoDetect …
    value: str


class SlurmNode(Fact, keys=("path", "nodes"), scope=MACHINE, title=("nodes",)):
    """Nodes of the cluster with their devices, as configured."""

    path: str
    nodes: str  # gpu[01-08]
    gres: str  # gpu:a100:4


class DiskSpace(Fact, keys=("path",)):
    """Room on the file system that holds a place which matters."""

    path: str
    total: int
    free: int
    filesystem: str
