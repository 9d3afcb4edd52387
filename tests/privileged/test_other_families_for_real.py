"""The same on machines whose packages come by dnf, zypper and pacman: driver missing, mended, taken back, missing again."""

import json
import shutil
from pathlib import Path

import pytest
from node import PERSON
from roots import RUNTIME
from test_steps_for_real import around

from answer_data import as_data
from rigup.steps import make

pytestmark = [pytest.mark.podman, pytest.mark.skipif(not shutil.which("podman"), reason="podman is not installed")]


def test_nvidia_driver_missing_where_dnf_installs(other_machine):
    box = other_machine("rocky", "nvidia-workstation")
    box.write("/etc/modprobe.d/no-nouveau.conf", "blacklist nouveau\n")
    box.run("/hw/boot")
    around(box, "nvidia-driver-missing", restarts=True)


def test_nvidia_driver_missing_where_zypper_installs(other_machine):
    box = other_machine("opensuse", "nvidia-workstation")
    box.write("/etc/modprobe.d/no-nouveau.conf", "blacklist nouveau\n")
    box.run("/hw/boot")
    around(box, "nvidia-driver-missing", restarts=True)


def test_nvidia_driver_missing_where_pacman_installs(other_machine):
    box = other_machine("arch", "nvidia-workstation")
    box.write("/etc/modprobe.d/no-nouveau.conf", "blacklist nouveau\n")
    box.run("/hw/boot")
    around(box, "nvidia-driver-missing", restarts=True)


DRIVE = Path(__file__).parents[1] / "applying" / "drive.py"
SYSTEMS = {"rocky": "rocky", "opensuse": "opensuse-leap", "arch": "arch"}
OLDER = {
    "rocky": (("dnf", "install", "-y", "gpu-tool-1.0", "gpu-extra"),),
    "opensuse": (("zypper", "--non-interactive", "install", "gpu-tool=1.0", "gpu-extra"),),
    "arch": (
        ("pacman", "-Sy", "--noconfirm", "gpu-tool", "gpu-extra"),
        ("sh", "-ec", "mv /srv/older/* /srv/extra/; cd /srv/extra; repo-add -q extra.db.tar.gz gpu-tool-2.0-*.zst"),
    ),
}


def taken(box, steps):
    """What `rigup fix` does with steps, for steps of our own."""
    told = {"title": "a test", "steps": [{**as_data(step), "state": "needed"} for step in steps]}
    box.write("/tmp/intent.json", json.dumps(told))
    box.write("/tmp/drive.py", DRIVE.read_text())
    argv = f"{RUNTIME}/bin/python3 /tmp/drive.py /tmp/intent.json go"
    return box.podman("exec", box.name, "su", "--login", PERSON, "--command", argv)


@pytest.mark.parametrize("family", SYSTEMS)
def test_packages_that_were_updated_and_removed_come_back_at_their_versions(other_machine, family):
    box = other_machine(family, "nvidia-workstation")
    for argv in OLDER[family]:
        box.run(*argv)
    before = box.state()
    update = make("update-system-package", {"package": "gpu-tool"}, distribution=SYSTEMS[family])
    remove = make("purge-packages", {"packages": "gpu-extra"}, distribution=SYSTEMS[family])
    told = taken(box, [update, remove])
    assert told.returncode == 0, told.stdout + told.stderr
    assert box.run("cat", "/usr/share/gpu-tool/release") == "2.0\n"
    assert "gpu-extra" not in " ".join(box.state())
    back = box.undo()
    assert back.returncode == 0, back.stdout + back.stderr
    after = box.state()
    assert {name: (before.get(name), after.get(name)) for name in {*before, *after} if before.get(name) != after.get(name)} == {}
