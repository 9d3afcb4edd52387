"""Drivers of Vulkan that are installed: their manifests, and the packages that bring them."""

from rigup.knowledge.vulkan import served
from rigup.machine.kinds import VulkanDriver
from rigup.machine.reader import Listing, Statements, reads
from rigup.machine.texts import Text

_MANIFEST = r"(?:[\w./-]{0,60}/)?(?P<driver>[a-z_]{3,16})_icd(?:32|64)?(?:\.(?:x86_64|i686|aarch64|arm64))?\.json"
_LISTED = rf"^(?:[l-][r-][\w-]{{8}}[^\n]{{5,80}} )?{_MANIFEST}(?: -> [^\n]{{1,120}})?(?=[ \t]*$|[ \t]+[a-z_]{{3,16}}_icd)|(?<=\.json)[ \t]{{1,24}}(?P<next>[a-z_]{{3,16}})_icd(?:32|64)?(?:\.\w{{4,8}})?\.json"
_PACKAGES = (
    r"^(?:local/|ii[ \t]{1,8})?(?P<name>[a-z][\w-]{4,40}?)(?::amd64|:arm64)?(?:-|[ \t]{1,40})\d[\w.:+~^-]{2,60}(?:[ \t][^\n]{0,120})?$"
)


@reads(VulkanDriver, inputs=[Listing("/{usr/share,usr/local/share,etc}/vulkan/icd.d/*.json")], marks=("_icd.", "_icd64.", "_icd32."))
def manifests(text: Text) -> Statements:
    """`/usr/share/vulkan/icd.d/radeon_icd.x86_64.json`: each names the library of one driver."""
    for hit in text.each(_LISTED):
        driver = hit["driver"] or hit["next"]
        for vendor in served(driver):
            yield hit.states(VulkanDriver, name=f"{driver}_icd", vendor=vendor)


@reads(marks=("ulkan-", "libvulkan_", "amdvlk"), adds=(VulkanDriver,))
def packages_of_drivers(text: Text) -> Statements:
    """`local/vulkan-swrast 1:24.3.4-1`, `ii  mesa-vulkan-drivers:amd64 …`, `libvulkan_lvp-24.1.3-1.x86_64`: as package managers list them."""
    for hit in text.each(_PACKAGES):
        for vendor in served(hit["name"]):
            yield hit.states(VulkanDriver, name=hit["name"], vendor=vendor)
