"""Break, doctor, fix, doctor, undo, doctor: on a machine of the distribution's packages, with real commands.

Each test says what the machine is, what is broken on it, and by which program a person notices, where the doctor
does not see it by itself. The rest is the same for all: the cause is not there, then it is, then it is mended, and
after the undo the machine is as it was before, file by file.
"""

import shutil

import pytest

pytestmark = [pytest.mark.podman, pytest.mark.skipif(not shutil.which("podman"), reason="podman is not installed")]
PROFILE = "/home/ada/.profile"
DRIVER = ("linux-headers-generic", "nvidia-driver-550")


def around(box, cause, program=(), left=(), restarts=False):
    """Doctor, fix, doctor, undo, doctor. `left`: what cannot be as before, by the beginning of its name."""
    assert cause in box.causes(*program)
    before = box.state()
    told = box.fix(cause, *program)
    if restarts:
        assert "restart" in told.stdout + told.stderr
        box.restart()
        told = box.resume()
    assert cause not in box.causes(*program), told.stdout + told.stderr
    back = box.undo()
    assert back.returncode == 0, back.stdout + back.stderr
    if restarts:
        box.restart()
    after = box.state()
    changed = {name: (before.get(name), after.get(name)) for name in {*before, *after} if before.get(name) != after.get(name)}
    assert not [name for name in changed if not name.startswith(tuple(left) or ("?",))], changed
    assert cause in box.causes(*program)
    return told, back


# -- cards of AMD -------------------------------------------------------------------------------------------
def test_render_group_missing(machine):
    box = machine("amd-workstation")
    box.run("gpasswd", "-d", "ada", "render")
    around(box, "render-group-missing")


@pytest.mark.parametrize(
    ("cause", "lines"),
    [
        ("wrong-hsa-override", "export HSA_OVERRIDE_GFX_VERSION=gfx-1030\n"),
        ("double-visibility-mask", "export ROCR_VISIBLE_DEVICES=0\nexport HIP_VISIBLE_DEVICES=1\n"),
        ("cuda-visible-devices-wrong", "# of the old machine\nexport HIP_VISIBLE_DEVICES=7\n"),
    ],
    ids=("wrong-override", "two-masks", "mask-of-another-machine"),
)
def test_a_variable_in_a_login_file(machine, cause, lines):
    box = machine("amd-workstation")
    assert cause not in box.causes()
    box.sh('printf %s "$2" >> "$1"', PROFILE, lines)
    around(box, cause)


def test_a_variable_for_everybody(machine):
    box = machine("amd-workstation")
    box.sh('printf "%s\\n" HIP_VISIBLE_DEVICES=-1 >> /etc/environment')
    around(box, "cuda-visible-devices-wrong")


def test_override_not_in_service(machine):
    box = machine("amd-apu", "debian", "ollama")
    assert "override-not-in-service" not in box.causes()
    box.sh('echo "export HSA_OVERRIDE_GFX_VERSION=11.0.0" >> "$1"', PROFILE)
    around(box, "override-not-in-service")


def test_apu_gtt_limit_not_applied(machine):
    box = machine("amd-apu")
    box.write("/etc/modprobe.d/memory.conf", "ttm pages_limit=4500000\n")
    around(box, "apu-gtt-limit-not-applied", restarts=True)


# -- cards of NVIDIA ----------------------------------------------------------------------------------------
def test_nouveau_bound(machine):
    box = machine("nvidia-workstation", "ubuntu", *DRIVER)
    assert box.causes() == set()
    box.run("rm", "/usr/lib/modprobe.d/nvidia-graphics-drivers.conf")
    box.restart()
    around(box, "nouveau-bound", restarts=True)


def test_nvidia_driver_missing(machine):
    box = machine("nvidia-workstation", "ubuntu")
    box.write("/etc/modprobe.d/no-nouveau.conf", "blacklist nouveau\n")
    box.run("/hw/boot")
    around(box, "nvidia-driver-missing", restarts=True)


def test_kernel_module_not_built(machine):
    box = machine("nvidia-workstation", "ubuntu", "nvidia-driver-550")
    assert "kernel-module-not-built" in box.causes()
    built = box.sh("ls /lib/modules/*/updates/dkms 2>/dev/null || true")
    around(box, "kernel-module-not-built")
    assert "linux-headers" not in box.run("dpkg-query", "--show")
    assert box.sh("ls /lib/modules/*/updates/dkms 2>/dev/null || true") == built


def test_a_module_that_was_built_is_there_after_the_fix(machine):
    box = machine("nvidia-workstation", "ubuntu", "nvidia-driver-550")
    told = box.fix("kernel-module-not-built")
    assert told.returncode == 0, told.stdout + told.stderr
    box.restart()
    assert box.causes() == set()
    assert "installed" in box.run("dkms", "status")


def test_dkms_stale_tree(machine):
    box = machine("nvidia-workstation", "ubuntu", *DRIVER)
    box.sh("mkdir -p /var/lib/dkms/nvidia/535.54.03; ln -s /usr/src/nvidia-535.54.03 /var/lib/dkms/nvidia/535.54.03/source")
    around(box, "dkms-stale-tree")


def test_libcuda_stub_loaded(machine):
    box = machine("nvidia-workstation", "ubuntu", *DRIVER)
    box.sh("""d=/usr/local/cuda-12.4/targets/x86_64-linux/lib/stubs; mkdir -p $d
        cp -L /usr/lib/x86_64-linux-gnu/libcuda.so.1 $d/libcuda.so; ln -s libcuda.so $d/libcuda.so.1
        echo $d > /etc/ld.so.conf.d/000_cuda.conf; ldconfig""")
    around(box, "libcuda-stub-loaded")


def test_a_library_of_another_driver(machine):
    box = machine("nvidia-workstation", "ubuntu", *DRIVER)
    box.sh("""cp -L /usr/lib/x86_64-linux-gnu/libcuda.so.1 /usr/lib/libcuda.so.535.54.03
        ln -s libcuda.so.535.54.03 /usr/lib/libcuda.so.1; echo /usr/lib > /etc/ld.so.conf.d/000.conf; ldconfig""")
    around(box, "libcuda-differs-from-kernel-driver")


def test_a_driver_whose_package_fails_half_way(machine):
    box = machine("nvidia-workstation", "ubuntu")
    box.write("/etc/modprobe.d/no-nouveau.conf", "blacklist nouveau\n")
    box.run("/hw/boot")
    box.write("/etc/rigup-test-fails", "")
    before = box.state()
    assert "nvidia-driver-missing" in box.causes()
    told = box.fix("nvidia-driver-missing")
    assert told.returncode == 1
    assert "exit status 10" in told.stdout + told.stderr
    assert "half-configured" in box.run("dpkg", "--status", "nvidia-dkms-580-open", check=False)
    back = box.undo()
    assert back.returncode == 0, back.stdout + back.stderr
    after = box.state()
    assert {name for name in {*before, *after} if before.get(name) != after.get(name)} == set()


def test_container_toolkit_missing(machine):
    box = machine("nvidia-workstation", "ubuntu", *DRIVER, "docker.io")
    around(box, "container-toolkit-missing", ("docker", "run", "--rm", "--gpus", "all", "ubuntu", "nvidia-smi"))


def test_nvidia_driver_missing_on_debian(machine):
    box = machine("nvidia-workstation", "debian")
    box.write("/etc/modprobe.d/no-nouveau.conf", "blacklist nouveau\n")
    box.write("/etc/apt/sources.list.d/debian.sources", _SWITCHED_OFF)  # which the way to the driver widens
    box.run("/hw/boot")
    around(box, "nvidia-driver-missing", restarts=True)


_SWITCHED_OFF = "Enabled: no\nTypes: deb\nURIs: https://mirror.example/debian\nSuites: bookworm\nComponents: main\n"


def test_nova_core_bound(machine):
    box = machine("nvidia-workstation", "ubuntu", *DRIVER)
    assert box.causes() == set()
    box.sh('apt-get install -y "linux-modules-nova-$(uname -r)"')
    box.restart()
    around(box, "nova-core-bound", restarts=True)


def test_a_libcudart_that_the_loader_is_not_led_to(machine):
    box = machine("nvidia-workstation", "ubuntu", *DRIVER, "cuda-toolkit-11-8")
    program = ("python3", "-c", "import ctypes; ctypes.CDLL('libcudart.so.11.0')")
    around(box, "cuda-runtime-library-missing", program)
