"""What is said of the next start before a restart: each lack alone, and silence where all is well."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rigup.machine import readers  # noqa: F401  (registers them)
from rigup.machine.look import look
from rigup.machine.sources import open_source
from rigup.machine.store import Facts
from rigup.plan.applying.next_boot import next_boot, release_of

RUNS, NEXT = "6.8.0-49-generic", "6.8.0-51-generic"
_OWN = "\x06\x03U\x04\x03\x0c\x13DKMS module signing"
_MAKERS = "\x06\x03U\x04\x03\x0c\x17Canonical Ltd. Secure CA"
_CARD = "/sys/bus/pci/devices/0000:01:00.0/"


def files(without=(), **other):
    """A workstation after an update: a newer kernel, all made ready for it."""
    made = {
        "/etc/os-release": "ID=ubuntu\nVERSION_ID=24.04\n",
        "/proc/version": f"Linux version {RUNS} (buildd@x)\n",
        "/proc/modules": "nvidia 1 0 - Live 0x0\n" + "".join(f"m{n} 1 0 - Live 0x0\n" for n in range(20)),
        "/proc/cmdline": "BOOT_IMAGE=/boot/vmlinuz root=/dev/sda1 ro quiet\n",
        "/etc/modprobe.d/nvidia.conf": "blacklist nouveau\n",
        f"{_CARD}class": "0x030000\n",
        f"{_CARD}vendor": "0x10de\n",
        f"{_CARD}device": "0x2684\n",
        f"{_CARD}revision": "0xa1\n",
        "/usr/src/nvidia-580.95.05/dkms.conf": "",
        "/var/lib/dpkg/status": "Package: nvidia-dkms-580-open\nStatus: install ok installed\nVersion: 580.95.05\n\n",
    }
    for release in (RUNS, NEXT):
        made |= {
            f"/boot/vmlinuz-{release}": "",
            f"/boot/initrd.img-{release}": "",
            f"/lib/modules/{release}/updates/dkms/nvidia.ko": "",
            f"/lib/modules/{release}/build/Makefile": "",
            f"/lib/modules/{release}/kernel/drivers/gpu/drm/nouveau/nouveau.ko": "",
            f"/var/lib/dkms/nvidia/580.95.05/{release}/x86_64/log": "",
            f"/usr/src/linux-headers-{release}/Makefile": "",
        }
    return {path: body for path, body in {**made, **other}.items() if not any(part in path for part in without)}


@pytest.fixture
def told(tmp_path):
    """The sentences for a tree of such files."""

    def made(tree, df=""):
        for path, body in tree.items():
            file = tmp_path / path.lstrip("/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(body.encode())
        rows = [{"argv": ["df"], "exit": 0, "stdout": df}] if df else []
        (tmp_path / "commands.json").write_text(json.dumps(rows))
        facts = look(open_source(str(tmp_path)))
        assert release_of(facts) == NEXT
        return next_boot(facts)

    return made


def test_where_all_is_ready_nothing_is_said(told):
    assert told(files()) == []


@pytest.mark.parametrize(
    ("without", "words"),
    [
        ([f"{NEXT}/updates/", f"580.95.05/{NEXT}"], ("no module of nvidia", f"dkms autoinstall -k {NEXT}")),
        (
            [f"{NEXT}/updates/", f"580.95.05/{NEXT}", f"headers-{NEXT}", f"{NEXT}/build"],
            ("headers are missing", f"install linux-headers-{NEXT}"),
        ),
        (["dkms", f"{NEXT}/updates/"], ()),
        ([f"initrd.img-{NEXT}"], (NEXT, "no initial file system", "update-initramfs -c -k all")),
        (["modprobe.d"], ("Nothing keeps nouveau", "blacklist")),
    ],
)
def test_each_lack_is_told_with_what_to_do(told, without, words):
    sentences = told(files(without))
    assert len(sentences) == (1 if words else 0)
    assert all(word in sentences[0] for word in words)


def test_a_module_without_dkms_for_another_kernel_alone_is_told(told):
    tree = {
        path.replace("updates/dkms", "kernel/nvidia-580-open"): body
        for path, body in files(["lib/dkms", "nvidia-580.95.05/dkms", f"{NEXT}/updates"]).items()
    }
    (sentence,) = told(tree)
    assert "install the driver's package for that kernel" in sentence


def test_a_blacklisted_driver_is_told(told):
    (sentence,) = told(files(**{"/etc/modprobe.d/old.conf": "blacklist nvidia\n"}))
    assert "nvidia is kept from loading" in sentence


@pytest.mark.parametrize(("keys", "wrong"), [(_MAKERS, True), (_MAKERS + _OWN, False)])
def test_under_secure_boot_a_module_of_ones_own_needs_the_owners_key(told, keys, wrong):
    firmware = {
        "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c": "\x06\x00\x00\x00\x01",
        "/sys/firmware/efi/mok-variables/MokListRT": "x" + keys,
    }
    sentences = told(files(**firmware))
    assert [("not enrolled" in one) for one in sentences] == ([True] if wrong else [])


@pytest.mark.parametrize(("free", "wrong"), [(40_000, True), (900_000, False)])
def test_a_full_boot_disk_is_told(told, free, wrong):
    df = f"Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/sda2 1000000 {1000000 - free} {free} 90% /boot\n"
    assert [("On /boot only" in one) for one in told(files(), df)] == ([True] if wrong else [])


def test_a_half_installed_package_is_told(told):
    status = "Package: nvidia-dkms-580-open\nStatus: install ok half-configured\nVersion: 580.95.05\n\n"
    (sentence,) = told(files(**{"/var/lib/dpkg/status": status}))
    assert "Half installed: nvidia-dkms-580-open" in sentence


def test_a_machine_of_which_nothing_is_known_is_not_spoken_of():
    assert next_boot(Facts()) == []


@pytest.mark.long
@settings(max_examples=15)
@given(dropped=st.sets(st.sampled_from(sorted(files()))))
def test_whatever_is_not_there_it_never_fails(dropped, tmp_path_factory):
    folder = tmp_path_factory.mktemp("partly")
    for path, body in files(dropped).items():
        file = folder / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(body)
    (folder / "commands.json").write_text("[]")
    assert all(isinstance(one, str) and "{" not in one for one in next_boot(look(open_source(str(folder)))))
