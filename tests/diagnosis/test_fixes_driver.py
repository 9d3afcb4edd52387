"""How drivers and modules are mended: by what their text shows, for their maker, in their distribution's way."""

import pytest

SILENT = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n"
FAILED = (
    "Error! Bad return status for module build on kernel: {1} (x86_64)\nConsult /var/lib/dkms/{0}/build/make.log for more information.\n"
)
NOT_BUILT = "kernel-module-not-built"


def test_nvidias_module_is_never_mended_by_leaving_amds_out(mended):
    ways = mended(NOT_BUILT, FAILED.format("nvidia/550.120", "6.14.0-27-generic"))
    assert ways[0].startswith("install the headers of the kernel 6.14.0-27-generic")
    assert "install the NVIDIA driver 580 or newer" in ways[1]
    assert not any("ROCm" in way or "amdgpu" in way for way in ways)


def test_amds_module_that_does_not_build_is_left_out(mended):
    ways = mended(
        NOT_BUILT, FAILED.format("amdgpu/6.10.5-2109964.22.04", "6.14.0-27-generic") + "WARNING: amdgpu dkms failed for running kernel\n"
    )
    assert "--no-dkms" in ways[0]
    assert not any("NVIDIA" in way for way in ways)


@pytest.mark.parametrize(("version", "first"), [("550.54.14", "install the NVIDIA driver 580 or newer"), ("470.256.02", "older kernel")])
def test_sources_that_do_not_compile_are_not_built_again(mended, version, first):
    """Of a branch that is some card's last, no newer one is told: it would leave that card without a driver."""
    error = f"/var/lib/dkms/nvidia/{version}/build/nvidia/nv-acpi.c:84:19: error: initialization from incompatible pointer type\n"
    ways = mended(NOT_BUILT, error + FAILED.format(f"nvidia/{version}", "6.12.9-amd64"))
    assert first in ways[0]
    assert any("older kernel" in way for way in ways)
    assert not any("headers" in way for way in ways)
    assert version.startswith("550") or not any("newer release" in way for way in ways)


def test_missing_headers_are_installed_and_the_driver_kept(mended):
    said = "Error! Your kernel headers for kernel 6.8.0-71-generic cannot be found.\nnvidia/535.183.01: added\n"
    ways = mended(NOT_BUILT, said)
    assert ways[0].startswith("install the headers of the kernel 6.8.0-71-generic")
    assert not any("newer release" in way for way in ways)


def test_what_akmods_builds_is_built_by_akmods(mended):
    ways = mended(NOT_BUILT, "Building and installing nvidia-kmod                        [FAILED]\n" + SILENT)
    assert "akmods --force" in ways[0]
    assert not any("dkms" in way for way in ways)


def test_a_prebuilt_module_comes_as_the_package_for_this_kernel(mended):
    listed = (
        "$ uname -r\n6.8.0-71-generic\nii  linux-modules-nvidia-570-6.8.0-63-generic  6.8.0-63.66  amd64  Linux kernel nvidia modules\n"
    )
    ways = mended(NOT_BUILT, listed + SILENT)
    assert "linux-modules-nvidia-570-6.8.0-71-generic" in ways[0]
    assert not any("dkms" in way for way in ways)


@pytest.mark.parametrize(
    ("system", "key"),
    [
        ('NAME="Ubuntu"\nID=ubuntu\nVERSION_ID="24.04"\n', "/var/lib/shim-signed/mok/MOK.der"),
        ('NAME="Fedora Linux"\nID=fedora\nVERSION_ID=42\n', "/etc/pki/akmods/certs/public_key.der"),
        ("ID=debian\nNAME=Debian\nVERSION_ID=12\n", "/var/lib/dkms/mok.pub"),
    ],
)
def test_the_key_is_where_the_distribution_keeps_it(mended, system, key):
    refused = "modprobe: ERROR: could not insert 'nvidia': Key was rejected by service\n"
    assert key in mended("secure-boot-module-unsigned", f"$ cat /etc/os-release\n{system}$ sudo modprobe nvidia\n{refused}")[0]


def test_the_newest_of_the_keys_is_taken_where_the_distribution_is_not_known(mended):
    ways = mended("secure-boot-module-unsigned", "modprobe: ERROR: could not insert 'nvidia': Key was rejected by service\n")
    assert "ls -t $1" in ways[0]
    assert "/var/lib/shim-signed/mok/MOK.der /var/lib/dkms/mok.pub /etc/pki/akmods/certs/public_key.der" in ways[0]
    assert ways[0].startswith("enrol the key")
    assert "Secure Boot off" in ways[1]


def test_a_tool_that_has_a_command_is_told_with_it(mended):
    said = "$ supergfxctl -g\nIntegrated\n$ nvidia-smi\n" + SILENT
    assert mended("hybrid-laptop-gpu-powered-off", said)[0].endswith("supergfxctl --mode Hybrid")


def test_firmware_that_is_missing_is_brought_first(mended):
    said = (
        "[    5.219] amdgpu 0000:03:00.0: Direct firmware load for amdgpu/gc_11_0_3_mes.bin failed with error -2\n"
        "[    5.221] amdgpu: Fatal error during GPU init\n"
        "[    5.224] amdgpu: probe of 0000:03:00.0 failed with error -2\n"
    )
    ways = mended("amdgpu-not-loaded", said)
    assert ways[0].startswith("update the package linux-firmware")


def test_the_driver_is_named_where_the_card_is_not(mended):
    asked = "PS C:\\> Get-PnpDevice -Class Display\nError      Display  Microsoft Basic Display Adapter   PCI\\VEN_10DE&DEV_FFFF&SUBSYS\n"
    missing = "RuntimeError: Found no NVIDIA driver on your system.\n"
    assert mended("nvidia-driver-missing", asked + missing)[0].startswith("install the NVIDIA driver ")


@pytest.mark.parametrize(("spoken", "given"), [("", False), ("$ docker run --rm --gpus all trainer:latest python train.py\n", True)])
def test_a_node_is_given_to_containers_alone(mended, spoken, given):
    said = "crw-rw-rw- 1 root root 195,   0 Mar  2 08:14 /dev/nvidia0\ncrw-rw-rw- 1 root root 195, 255 Mar  2 08:14 /dev/nvidiactl\nls: cannot access '/dev/nvidia-uvm': No such file or directory\n"
    gone = "RuntimeError: CUDA unknown error - this may be due to an incorrectly set up environment, e.g. changing env variable CUDA_VISIBLE_DEVICES after program start. Setting the available devices to be zero.\n"
    assert any("start the container" in way for way in mended("uvm-device-missing", spoken + said + gone)) is given


def test_module_that_the_kernel_has_in_the_same_version_is_not_built_again(titled):
    told = titled(
        "kernel-module-not-built",
        "Error! Module version 5.18.13 for amdgpu.ko\nis not newer than what is already found in kernel 5.19.0-46-generic (5.18.13).\nYou may override by specifying --force.\n",
    )
    assert len(told) == 1
    assert "--no-dkms" in told[0]
    told = titled(
        "kernel-module-not-built",
        "$ uname -r\n6.8.0-40-generic\n$ dkms status\namdgpu/6.10.5-2095006.22.04, 6.5.0-45-generic, x86_64: installed (original_module exists)\n$ rocminfo\nROCk module is NOT loaded, possibly no GPU devices\n",
    )
    assert "headers of the kernel 6.8.0-40-generic" in told[0]
