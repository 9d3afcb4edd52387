"""Kernel modules: loaded, on the disk, configured, built by DKMS."""

from rigup.machine.kinds import DeadLine, DkmsBuild, DkmsTree, Kernel, KernelModule, KernelParameter, ModuleParameter


def modules(facts):
    return {module.name: module for module in facts.of(KernelModule)}


def test_a_folder_with_something_in_it_is_of_a_loaded_module(tree):
    assert modules(tree({"/sys/module/nvidia/initstate": "live\n"}))["nvidia"].loaded is True


def test_an_empty_folder_is_what_a_copy_left_over(tree):
    assert "nvidia" not in modules(tree({"/sys/module/ext4/initstate": "live\n"}, folders=["/sys/module/nvidia"]))


def test_loaded_modules_of_a_tree_and_of_lsmod(tree, pasted):
    live = tree(
        {"/proc/modules": "nvidia_uvm 4657152 0 - Live 0x0\nnvidia 54321152 12 nvidia_uvm, Live 0x0 (POE)\next4 1130496 1 - Live 0x0\n"}
    )
    said = pasted(
        "Module                  Size  Used by\nnvidia              56320000  3 nvidia_uvm\nnvidia-uvm           4657152  0\nsnd_hda_intel 61440 4\n"
    )
    for facts in (live, said):
        assert {name for name, module in modules(facts).items() if module.loaded} == {"nvidia", "nvidia_uvm"}


def test_for_which_kernels_there_is_a_module(tree):
    facts = tree(
        {
            "/lib/modules/6.8.0-40-generic/updates/dkms/nvidia.ko.zst": "",
            "/lib/modules/6.8.0-45-generic/modules.dep": "",
            "/lib/modules/5.14.0-427.el9.x86_64/extra/nvidia/nvidia.ko.xz": "",
            "/lib/modules/6.8.0-45-generic/kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko.zst": "",
        }
    )
    found = modules(facts)
    assert found["nvidia"].built_for == ["5.14.0-427.el9.x86_64", "6.8.0-40-generic"]
    assert found["amdgpu"].built_for == ["6.8.0-45-generic"]
    assert {kernel.release for kernel in facts.of(Kernel)} == {"5.14.0-427.el9.x86_64", "6.8.0-40-generic", "6.8.0-45-generic"}


def test_a_module_that_is_part_of_the_kernel(tree):
    facts = tree(
        {
            "/proc/version": "Linux version 6.6.1 (x) #1 SMP\n",
            "/lib/modules/6.6.1/modules.builtin": "kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko\n",
        }
    )
    assert modules(facts)["amdgpu"].built_in is True


def test_headers_tell_for_which_kernel_a_module_can_be_built(tree):
    facts = tree(
        {
            "/lib/modules/6.8.0-40-generic/build": "-> /usr/src/linux-headers-6.8.0-40-generic",
            "/lib/modules/6.8.0-45-generic/modules.dep": "",
        }
    )
    assert {kernel.release: kernel.get("headers") for kernel in facts.of(Kernel)} == {"6.8.0-40-generic": True, "6.8.0-45-generic": None}


def test_the_command_line_of_this_boot_and_of_the_next(tree):
    facts = tree(
        {
            "/proc/cmdline": "BOOT_IMAGE=/vmlinuz root=/dev/sda2 ro quiet iommu=pt amdgpu.gttsize=131072 modprobe.blacklist=nouveau,nova_core\n",
            "/etc/default/grub": 'GRUB_TIMEOUT=5\nGRUB_CMDLINE_LINUX_DEFAULT="quiet iommu=off ttm.pages_limit=27648000"\n',
        }
    )
    (iommu,) = facts.of(KernelParameter)
    assert (iommu.name, iommu.running, iommu.configured) == ("iommu", "pt", "off")
    assert {(p.module, p.name, p.configured) for p in facts.of(ModuleParameter)} == {
        ("amdgpu", "gttsize", "131072"),
        ("ttm", "pages_limit", "27648000"),
    }
    assert {name for name, module in modules(facts).items() if module.get("blacklisted")} == {"nouveau", "nova_core"}


def test_what_modprobe_is_told_and_what_it_ignores(tree):
    facts = tree(
        {
            "/etc/modprobe.d/gpu.conf": "# comment\noptions amdgpu gttsize=122800 noretry=0\nblacklist nouveau\ninstall nova_core /bin/false\namdgpu gttsize=1\n",
            "/etc/modprobe.d/sound.conf": "options snd_hda_intel power_save=0\n",
        }
    )
    assert {(p.module, p.name): p.configured for p in facts.of(ModuleParameter)} == {
        ("amdgpu", "gttsize"): "122800",
        ("amdgpu", "noretry"): "0",
    }
    assert {name for name, module in modules(facts).items() if module.blacklisted} == {"nouveau", "nova_core"}
    (dead,) = facts.of(DeadLine)
    assert (dead.path, dead.text, dead.because) == ("/etc/modprobe.d/gpu.conf", "amdgpu gttsize=1", "no-keyword")


def test_dkms_says_what_it_built(pasted):
    facts = pasted(
        "amdgpu/6.3.6-1739731.22.04, 5.15.0-91-generic, x86_64: installed\nnvidia, 470.82.01, 5.4.0-90-generic, x86_64: installed\n"
        "nvidia/550.90.07, 6.8.0-40-generic, x86_64: built\nnvidia/535.86: added\nrtl8812au/5.9.3, 6.8.0, x86_64: installed\n"
    )
    assert {(b.module, b.version, b.kernel): b.status for b in facts.of(DkmsBuild)} == {
        ("amdgpu", "6.3.6-1739731.22.04", "5.15.0-91-generic"): "installed",
        ("nvidia", "470.82.01", "5.4.0-90-generic"): "installed",
        ("nvidia", "550.90.07", "6.8.0-40-generic"): "built",
    }
    assert ("nvidia", "535.86") in {(told.module, told.version) for told in facts.of(DkmsTree)}
    assert modules(facts)["nvidia"].built_for == ["5.4.0-90-generic"]


def test_dkms_on_the_disk_with_and_without_its_source(tree):
    facts = tree(
        {
            "/var/lib/dkms/nvidia/550.90.07/6.8.0-40-generic/x86_64/log/make.log": "",
            "/var/lib/dkms/nvidia/550.90.07/source": "-> /usr/src/nvidia-550.90.07",
            "/var/lib/dkms/amdgpu/6.7.0-1787201.22.04/source": "-> /usr/src/amdgpu-6.7.0-1787201.22.04",
            "/usr/src/nvidia-550.90.07/dkms.conf": "",
        }
    )
    assert {(told.module, told.version): (told.get("registered"), told.get("source")) for told in facts.of(DkmsTree)} == {
        ("nvidia", "550.90.07"): (True, "/usr/src/nvidia-550.90.07"),
        ("amdgpu", "6.7.0-1787201.22.04"): (True, None),
    }
    assert [(build.module, build.kernel) for build in facts.of(DkmsBuild)] == [("nvidia", "6.8.0-40-generic")]


def test_a_whole_list_shows_what_is_not_loaded(tree):
    found = modules(tree({"/proc/modules": "i915 3000000 1 - Live 0x0\next4 1130496 1 - Live 0x0\n"}))
    assert {name: module.loaded for name, module in found.items()} == {"i915": True, "nvidia": False, "amdgpu": False, "nouveau": False}


def test_a_module_in_the_kernel_itself_is_at_work_though_no_list_names_it(tree):
    found = modules(tree({"/proc/modules": "ext4 1130496 1 - Live 0x0\n"}, folders=["/sys/module/amdgpu/parameters"]))
    assert found["amdgpu"].loaded is True


def test_a_search_in_the_list_shows_it_too(pasted):
    asked = "$ lsmod | grep -Ei 'amd|radeon'\nedac_mce_amd           45056  0\nkvm_amd               155648  0\n$ uname -r\n6.1.0\n"
    assert {name: module.loaded for name, module in modules(pasted(asked)).items()} == {"amdgpu": False}
    assert modules(pasted("$ lsmod | grep amdgpu\namdgpu 9584640 0\ndrm 1 1 amdgpu\n"))["amdgpu"].loaded is True
    assert modules(pasted("$ lsmod | grep nvidia\n")) == {}
