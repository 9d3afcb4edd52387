"""Whether the machine comes back with its GPU: what its next start needs of a driver's change.

Asked before a restart, on facts that are read after the change: everything here can still be mended then.
"""

import re
from collections.abc import Iterator

from rigup.knowledge.package_managers import PackageManager, headers_package, package_manager
from rigup.language import _
from rigup.machine.kinds import (
    DiskSpace,
    Distribution,
    DkmsBuild,
    DkmsTree,
    Driver,
    Kernel,
    KernelModule,
    NextBoot,
    PciDevice,
    Platform,
    SystemPackage,
)
from rigup.machine.store import Facts

_NVIDIA = "10de"
_IN_THE_WAY = ("nouveau", "nova_core")
_LEAST_ROOM = 150 * 2**20  # bytes: an initial file system with a GPU's firmware is that large
_READY = ("installed", "built")
_OF_A_MAKER = re.compile(r"(?i)certificate authority|\bCA\b|\bsigner\b|microsoft|canonical ltd")  # no owner's key


def next_boot(facts: Facts) -> list[str]:
    """What is wrong with the next start, each with what to do; nothing where all is well, or nobody can tell."""
    release = release_of(facts)
    checks = (
        _half_installed(facts),
        _not_built(facts, release),
        _not_signed(facts, release),
        _kept_out(facts),
        _in_the_way(facts, release),
        _initramfs(facts, release),
        _room(facts),
    )
    return [problem for check in checks for problem in check]


def release_of(facts: Facts) -> str:
    """The kernel that starts next: the one that the boot loader starts, else the one that runs; "" if unknown."""
    releases = [boot.get("release") for boot in facts.of(NextBoot)] + [at.get("release") for at in facts.of(Platform)]
    return next((str(release) for release in releases if release), "")


def _half_installed(facts: Facts) -> Iterator[str]:
    broken = sorted({str(package.get("name")) for package in facts.of(SystemPackage) if package.get("state") == "broken"})
    if broken:
        template = _(
            "Half installed: {packages}. Let the package manager finish them (`dpkg --configure -a`, `dnf check`) before the restart."
        )
        yield template.format(packages=", ".join(broken))


# -- the module for that kernel ------------------------------------------------------------------------


def _not_built(facts: Facts, release: str) -> Iterator[str]:
    for name in ("nvidia", "amdgpu"):
        if release and _expected(facts, name) and not _has_module(facts, name, release):
            yield _building(facts, name, release)


def _expected(facts: Facts, name: str) -> bool:
    """Somebody installed a driver that is no part of the kernel: DKMS keeps it, or files of it are there."""
    module = _module(facts, name)
    built = bool(module and module.get("built_for"))
    return bool(_trees(facts, name)) or (name == "nvidia" and (built or _drives(facts, name)))


def _drives(facts: Facts, vendor: str) -> bool:
    return any(driver.get("vendor") == vendor and driver.get("version") for driver in facts.of(Driver))


def _has_module(facts: Facts, name: str, release: str) -> bool:
    """For that kernel there is a module: built by DKMS, a file of it, or a part of the kernel. Unseen counts as there."""
    module = _module(facts, name)
    if module and (module.get("built_in") or release in (module.get("built_for") or ())):
        return True
    builds = [build for build in facts.of(DkmsBuild) if _is(str(build.get("module")), name) and build.get("kernel") == release]
    if any(build.get("status", "installed") in _READY for build in builds):
        return True
    return not (_trees(facts, name) or (module and module.get("built_for")))


def _building(facts: Facts, name: str, release: str) -> str:
    headers = next((kernel.get("headers") for kernel in facts.of(Kernel) if kernel.get("release") == release), None)
    template = _("For the kernel {kernel}, which starts next, there is no module of {driver}: `dkms autoinstall -k {kernel}` builds it.")
    if not headers and _trees(facts, name):
        template = _(
            "For the kernel {kernel}, which starts next, there is no module of {driver}, and its headers are "
            "missing: install {headers}, then `dkms autoinstall -k {kernel}` builds it."
        )
    elif not _trees(facts, name):
        template = _(
            "For the kernel {kernel}, which starts next, there is no module of {driver}: install the driver's "
            "package for that kernel, or start the kernel that has one."
        )
    return template.format(kernel=release, driver=name, headers=_headers(facts, release))


def _headers(facts: Facts, release: str) -> str:
    manager = _manager(facts)
    return headers_package(release, manager) if manager else "linux-headers-" + release


def _not_signed(facts: Facts, release: str) -> Iterator[str]:
    """Under Secure Boot a module that was built here needs a key which the machine's owner has enrolled."""
    guarded = [at for at in facts.of(Platform) if at.get("secure_boot")]
    own = [build for build in facts.of(DkmsBuild) if build.get("kernel") == release and _is(str(build.get("module")), "nvidia")]
    keys = guarded[0].get("mok") if guarded else None
    if own and keys is not None and all(_OF_A_MAKER.search(key) for key in keys):
        template = _(
            "Secure Boot is on, the module was built and signed on this machine, and its key is not enrolled: the "
            "kernel {kernel} will not load it. Offer the key with `mokutil --import`, and confirm it on the "
            "screen at the restart."
        )
        yield template.format(kernel=release)


# -- who else takes the card ---------------------------------------------------------------------------


def _kept_out(facts: Facts) -> Iterator[str]:
    for name in ("nvidia", "amdgpu"):
        module = _module(facts, name)
        if module and module.get("blacklisted") and _expected(facts, name):
            template = _(
                "The module {driver} is kept from loading by a line in /etc/modprobe.d or on the kernel's command line: take that line out."
            )
            yield template.format(driver=name)


def _in_the_way(facts: Facts, release: str) -> Iterator[str]:
    """NVIDIA's cards have other drivers in the kernel; the first to come takes the card."""
    card = any(device.get("vendor_id") == _NVIDIA for device in facts.of(PciDevice))
    if not (card and _expected(facts, "nvidia")):
        return
    for name in _IN_THE_WAY:
        module = _module(facts, name)
        comes = (module and _comes_up(module, release)) or _holds(facts, name)
        if comes and not (module and module.get("blacklisted")):
            template = _(
                "Nothing keeps {driver} from taking the card at the next start: blacklist it in /etc/modprobe.d and "
                "rebuild the initial file system."
            )
            yield template.format(driver=name)


def _comes_up(module: KernelModule, release: str) -> bool:
    return bool(module.get("loaded") or release in (module.get("built_for") or ()))


def _holds(facts: Facts, name: str) -> bool:
    drivers = {str(card.get("driver")).lower().replace("-", "").replace("_", "") for card in facts.of(PciDevice)}
    return name.replace("_", "") in drivers


# -- /boot ---------------------------------------------------------------------------------------------


def _initramfs(facts: Facts, release: str) -> Iterator[str]:
    """Where other kernels have one, so must this; a system that keeps them elsewhere yields nothing."""
    having = {str(kernel.get("release")) for kernel in facts.of(Kernel) if kernel.get("initramfs")}
    known = {str(kernel.get("release")) for kernel in facts.of(Kernel)}
    if having and release in known and release not in having:
        template = _(
            "The kernel {kernel}, which starts next, has no initial file system in /boot, and may not find its disk: run `{command}`."
        )
        manager = _manager(facts)
        command = " ".join(manager.initramfs) if manager else "update-initramfs -c -k " + release
        yield template.format(kernel=release, command=command.replace(" -u ", " -c "))


def _room(facts: Facts) -> Iterator[str]:
    for disk in facts.of(DiskSpace):
        free = disk.get("free")
        if disk.get("path") == "/boot" and free is not None and free < _LEAST_ROOM:
            template = _(
                "On /boot only {free} MB are free: the next initial file system may be written in part. Remove "
                "kernels that are no longer used."
            )
            yield template.format(free=free // 10**6)


# -- what several ask ----------------------------------------------------------------------------------


def _module(facts: Facts, name: str) -> KernelModule | None:
    return next((module for module in facts.of(KernelModule) if module.get("name") == name), None)


def _trees(facts: Facts, name: str) -> list[DkmsTree]:
    return [tree for tree in facts.of(DkmsTree) if tree.get("registered") and _is(str(tree.get("module")), name)]


def _is(module: str, name: str) -> bool:
    """Debian and others give each branch a name of its own: nvidia_current, nvidia_open, nvidia_srv."""
    return module == name or module.startswith(name + "_")


def _manager(facts: Facts) -> PackageManager | None:
    """Of the system that owns the kernel; nothing where several come into question."""
    known = {str(system.get("id")) for system in facts.of(Distribution) if system.get("id") and system.place.world in ("", "host")}
    return package_manager(known.pop()) if len(known) == 1 else None
