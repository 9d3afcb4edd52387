"""NVIDIA's kernel modules and the packages beside them, and whether their versions agree."""

from rigup.knowledge.cuda import version_key

NOVA = ("nova_core", "nova-core", "NovaCore")
USER_SPACE = (
    "nvidia-utils",
    "libnvidia-compute",
    "nvidia-driver",
    "nvidia-compute-utils",
    "libnvidia-ml1",
    "nvidia-smi",
    "xorg-x11-drv-nvidia",
)


def same_version(one_version: str, other: str) -> bool:
    """Equal as far as both are known: 570.124 may be cut from 570.124.06."""
    return version_key(one_version)[: len(version_key(other))] == version_key(other)[: len(version_key(one_version))]
