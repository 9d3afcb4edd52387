"""The kernel beneath a GPU whose driver is the kernel's own."""

from rigup.knowledge.cuda import version_key
from rigup.knowledge.kernels import kernel_minimum
from rigup.knowledge.rocm_install import newest_driver
from rigup.knowledge.surroundings import offered_kernel
from rigup.language import _
from rigup.stack.candidate import Change, Served, unserved
from rigup.stack.site import Device, Site


def on_kernel(served: Served, device: Device, site: Site) -> Served:
    """A device that is served, once its kernel is new enough.

    Raises:
        KnowledgeError: the table is malformed.

    """
    change = _change(device, site) if served.served else None
    if change is None:
        return served
    if site.root is False:
        return unserved(change.why, change.source)
    return Served(how=served.how, because=served.because, source=served.source, override=served.override, extra=served.extra, change=change)


def _makers_driver(device: Device, least: str, site: Site) -> str:
    """AMD's own driver, where the distribution has no kernel that is new enough; "" where it has, or there is none."""
    offered = offered_kernel(site.distribution, site.release)
    if device.vendor != "amd" or device.integrated or not offered or version_key(offered)[:2] >= version_key(least)[:2]:
        return ""
    return newest_driver(site.distribution, site.release)


def _change(device: Device, site: Site) -> Change | None:
    """A newer kernel; none where its maker's own driver was added, and inside WSL, whose kernel drives no GPU itself."""
    least = kernel_minimum(device.vendor, device.isa, device.architecture)
    own_driver = bool(site.amd_driver) and device.vendor == "amd"  # it drives no card of another maker
    if not least or own_driver or site.wsl or site.system != "linux":
        return None
    if not site.kernel:
        return _newer_release(device, least, site)
    if version_key(site.kernel)[:2] >= version_key(least):
        return None
    why = _("{device} is driven by Linux {least} and newer; {have} runs.")
    because = why.format(device=device.label, least=least, have=site.kernel)
    if own := _makers_driver(device, least, site):
        return Change(change="amdgpu", have=None, to=own, why=because, source="rocm_releases", root=True, weight=9)
    return Change(change="kernel", have=site.kernel, to=least, why=because, source="kernels", root=True, weight=8)


def _newer_release(device: Device, least: str, site: Site) -> Change | None:
    """The kernel is unknown, and not even the newest that the release offers would do."""
    offered = offered_kernel(site.distribution, site.release)
    if device.vendor != "intel" or not offered or version_key(offered)[:2] >= version_key(least)[:2]:
        return None
    template = _("{device} is driven by Linux {least} and newer; {system} offers {offered} at most.")
    system = f"{site.distribution} {site.release}"
    why = template.format(device=device.label, least=least, system=system, offered=offered)
    return Change(
        change="os", have=system, to=_("a release with Linux {least}").format(least=least), why=why, source="kernels", root=True, weight=12
    )
