"""No reader of files fails or hangs, whatever it is given."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rigup.machine.readers  # noqa: F401  (registers them)
from rigup.machine.reader import READERS
from rigup.machine.texts import Text

OURS = {
    f"rigup.machine.readers.{name}"
    for name in ("amd", "bus", "installed", "jupyter", "loader", "modules", "nvidia", "python", "services", "system")
}
MINE = sorted(name for name, reader in READERS.items() if reader.read.__module__ in OURS)
PATHS = (
    "text",
    "",
    "/",
    "/sys/bus/pci/devices/0000:01:00.0/uevent",
    "/sys/bus/pci/devices/0000:01:00.0/vendor",
    "/sys/class/drm/card0/device/uevent",
    "/sys/class/drm/card0/device/mem_info_vram_total",
    "/sys/class/kfd/kfd/topology/nodes/1/properties",
    "/sys/class/kfd/kfd/topology/nodes/1/mem_banks/0/properties",
    "/etc/modprobe.d/a.conf",
    "/a/lib/python3.11/site-packages/torch/version.py",
    "/a/lib/python3.11/site-packages/torch-2.dist-info/WHEEL",
    "/h/.local/share/jupyter/kernels/a/kernel.json",
    "/etc/systemd/system/a.service",
    "/etc/systemd/system/a.service.d/b.conf",
    "/proc/driver/nvidia/gpus/0000:01:00.0/information",
    "/sys/module/amdgpu/parameters/gttsize",
    "/usr/local/cuda/version.json",
    "/opt/rocm/.info/version",
    "/venv/pyvenv.cfg",
)
PIECES = (
    "DRIVER=",
    "PCI_ID=10DE:2204",
    "PCI_CLASS=30000",
    "PCI_SLOT_NAME=0000:01:00.0",
    "0x030000",
    "0x10de",
    "01:00.0 ",
    "VGA compatible controller",
    "3D controller [0302]: ",
    "NVIDIA Corporation ",
    "[10de:2204]",
    "(rev a1)",
    "Kernel driver in use: ",
    "Kernel modules: ",
    "simd_count 80",
    "gfx_target_version 90402",
    "vendor_id 4098",
    "location_id 768",
    "heap_type 1",
    "size_in_bytes ",
    "99999999999999999999",
    "Model: \t",
    "GPU UUID: \t",
    "Bus Location: \t",
    "options amdgpu ",
    "gttsize=",
    "blacklist ",
    "nvidia/550, ",
    "x86_64: installed",
    "BOOT_IMAGE= ",
    "iommu=pt ",
    "amdgpu.",
    "__version__ = '",
    "cuda: Optional[str] = ",
    "None",
    "'12.4'",
    '{"argv": ["',
    '", "display_name": "',
    '"env": {',
    "\\",
    "\\u12",
    "}",
    "]",
    '"',
    "'",
    "[Service]",
    "Environment=",
    "User=",
    "ExecStart=",
    "export ",
    "A=b ",
    "$(",
    "libcuda.so.1 -> libcuda.so.550.90.07",
    "/usr/local/cuda/lib64/stubs/",
    "/lib/modules/6.8/updates/",
    "nvidia.ko",
    " (libc6,x86-64) => ",
    "Linux ",
    "6.8.0-40-generic ",
    "x86_64",
    "\n",
    "\n",
    "\n\n",
    " ",
    "\t",
    "\0",
    "\r",
    "é",
    "\ud7ff",
    "video:x:44:",
    "home = ",
    "version = 3.1",
    "ldd (",
    ") 2.35",
)
SOUP = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=12)), max_size=60).map("".join)
LONG = (
    "a",
    " ",
    "0",
    "=",
    "/",
    "/a",
    '"',
    "\\",
    "\n",
    "a \n",
    'Environment="a',
    ": installed",
    " -> ",
    "01:00.0 ",
    "/lib/modules/",
    "Linux ",
    '"argv":["',
    "torch/_C.",
    "amdgpu.a=",
)


@pytest.mark.long
@pytest.mark.parametrize("name", MINE)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(body=SOUP, path=st.sampled_from(PATHS))
def test_no_text_makes_a_reader_fail(name, body, path):
    for fact in READERS[name].read(Text(path, body, whole=True)):
        assert fact.fields
        assert all(reading.where.source == path for reading in fact.fields.values())


@pytest.mark.long
@pytest.mark.parametrize("name", MINE)
def test_no_long_text_makes_a_reader_hang(name):
    for piece in LONG:
        for _ in zip(range(100), READERS[name].read(Text(PATHS[3], piece * (60_000 // len(piece)))), strict=False):
            pass
