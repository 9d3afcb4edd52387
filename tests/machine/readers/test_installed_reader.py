"""The package managers' own files."""

from rigup.machine.kinds import SystemPackage

STATUS = """Package: adduser
Status: install ok installed
Version: 3.118

Package: nvidia-utils-550
Status: install ok installed
Priority: optional
Description: NVIDIA driver support binaries
Version: 550.90.07-0ubuntu0.22.04.1

Package: libnvidia-compute-535
Status: deinstall ok config-files
Version: 535.183.01-0ubuntu1

Package: nvidia-dkms-550
Status: install ok half-configured
Version: 550.90.07-0ubuntu0.22.04.1
"""


def told(facts):
    return {package.name: (package.version, package.state, package.manager) for package in facts.of(SystemPackage)}


def test_debians_records(tree):
    assert told(tree({"/var/lib/dpkg/status": STATUS})) == {
        "nvidia-utils-550": ("550.90.07-0ubuntu0.22.04.1", "installed", "dpkg"),
        "libnvidia-compute-535": ("535.183.01-0ubuntu1", "removed", "dpkg"),
        "nvidia-dkms-550": ("550.90.07-0ubuntu0.22.04.1", "broken", "dpkg"),
    }


def test_archs_folders(tree):
    facts = tree({}, folders=["/var/lib/pacman/local/nvidia-utils-560.35.03-2", "/var/lib/pacman/local/zlib-1.3.1-1"])
    assert told(facts) == {"nvidia-utils": ("560.35.03-2", "installed", "pacman")}
