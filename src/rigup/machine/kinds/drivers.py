"""Drivers: kernels, modules and their parameters, libraries of a driver."""

from rigup.machine.facts import MACHINE, Fact, Reading


class Driver(Fact, keys=("vendor",), scope=MACHINE):
    """The GPU driver in force: of the loaded kernel module, or of Windows in a WSL."""

    vendor: str
    version: str
    cuda: str | None  # the CUDA version that it shows
    branch: str
    flavour: str  # open, proprietary


class KernelModule(Fact, keys=("name",), scope=MACHINE):
    """A kernel module by name."""

    name: str
    loaded: bool
    version: str
    built_for: list[str]  # kernels for which a module file is there
    blacklisted: bool
    built_in: bool  # part of the kernel itself
    packaged: str  # what the names of its packages begin with, before the kernel's release; "akmods" where that builds them

    def absorb(self, fields: dict[str, Reading]) -> None:
        """Each folder tells of its own kernels; they add up."""
        held, new = self.fields.get("built_for"), fields.get("built_for")
        if held and new and held.value != new.value:
            both = Reading(sorted({*held.value, *new.value}), held.where, max(held.rank, new.rank))
            self.fields["built_for"], fields = both, {**fields, "built_for": both}
        super().absorb(fields)


class VulkanDriver(Fact, keys=("name", "vendor")):
    """A driver of Vulkan that is installed, for one maker's cards."""

    name: str  # of its manifest, or of the package that brings it
    vendor: str  # amd, intel, nvidia, nouveau, windows (in a WSL), guest (of a virtual machine), board, software (llvmpipe)


class UnloadedModule(Fact, keys=("name",), scope=MACHINE):
    """A module that somebody looked for by name among the loaded ones, in vain."""

    name: str


class ModuleParameter(Fact, keys=("module", "name"), scope=MACHINE, title=("name",)):
    """A parameter of a kernel module: as running, as configured."""

    module: str
    name: str
    running: str
    configured: str


class KernelParameter(Fact, keys=("name",), scope=MACHINE):
    """A word of the kernel's command line: iommu=pt, nomodeset."""

    name: str
    running: str  # this boot's
    configured: str  # the boot loader's, for the next one


class DeadLine(Fact, keys=("path", "text"), scope=MACHINE, title=("text",)):
    """A line of a configuration file that its reader ignores."""

    path: str
    text: str
    module: str
    name: str
    because: str  # no-keyword


class DkmsTree(Fact, keys=("module", "version"), scope=MACHINE, title=("module", "version")):
    """A module that DKMS is to build."""

    module: str
    version: str
    registered: bool
    source: str | None  # folder with its dkms.conf


class DkmsBuild(Fact, keys=("module", "version", "kernel"), scope=MACHINE, title=("module", "version", "kernel")):
    """What DKMS made of a module for one kernel."""

    module: str
    version: str
    kernel: str
    status: str  # added, built, installed


class Kernel(Fact, keys=("release",), scope=MACHINE):
    """A kernel that is installed."""

    release: str
    headers: bool  # what is needed to build modules for it is there
    initramfs: bool  # its initial file system lies beside it


class DriverLibrary(Fact, keys=("soname", "path")):
    """A user-space library of a GPU driver as installed in a world."""

    soname: str
    version: str
    path: str


class Toolkit(Fact, keys=("name", "path")):
    """A toolkit on the disk: CUDA as nvcc tells its version, ROCm as its folder does."""

    name: str  # cuda, rocm
    version: str
    path: str


class KernelLibrary(Fact, keys=("path",)):
    """A folder of compiled kernels that a mathematical library of ROCm loads from."""

    path: str
    name: str  # rocblas, hipblaslt
    code: list[str]  # targets that it has files for
    owner: str  # rocm, torch, ollama: whose it is; shown: a person listed it
