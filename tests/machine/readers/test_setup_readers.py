"""What is configured: package sources, the next boot, immutable systems, buses, containers, Slurm, disks, rpm."""

import pytest

from rigup.machine.kinds import (
    CdiSpec,
    ContainerEngine,
    ContainerToolkit,
    DiskSpace,
    Distribution,
    Kernel,
    KfdNode,
    NextBoot,
    PackageSource,
    PciDevice,
    Platform,
    SlurmNode,
    SlurmSetting,
    SystemPackage,
)

CARD = "/sys/bus/pci/devices/0000:03:00.0/"


def sources(facts):
    return {(one.tool, one.name): one.entries for one in facts.of(PackageSource)}


# -- where packages come from ------------------------------------------------------------------------------
def test_pips_files_and_variables(tree):
    facts = tree(
        {
            "/etc/pip.conf": "[global]\nindex-url = https://me:secret@mirror.example/simple\ntimeout = 60\n",
            "/home/u/.config/pip/pip.conf": "[install]\nfind-links =\n    /opt/wheels\n    /srv/wheels\n# find-links = /no\n",
        },
        who={"environment": {"PIP_NO_INDEX": "1", "UV_INDEX_URL": "https://mirror.example/uv", "PIPX_HOME": "/x"}},
    )
    assert sources(facts) == {
        ("pip", "index-url"): ["https://mirror.example/simple"],
        ("pip", "find-links"): ["/opt/wheels", "/srv/wheels"],
        ("pip", "no-index"): ["1"],
        ("uv", "index-url"): ["https://mirror.example/uv"],
    }


def test_uvs_file_and_its_part_of_a_project(tree):
    facts = tree(
        {
            "/etc/uv/uv.toml": 'offline = true\n[[index]]\nname = "ours"\nurl = "https://mirror.example/simple"\n[pip]\ntorch-backend = "cu124"\n',
            "/home/u/pyproject.toml": '[project]\nname = "x"\n[tool.uv]\nfind-links = ["/opt/wheels"]\n',
        }
    )
    assert sources(facts) == {
        ("uv", "offline"): ["true"],
        ("uv", "index"): ["https://mirror.example/simple"],
        ("uv", "torch-backend"): ["cu124"],
        ("uv", "find-links"): ["/opt/wheels"],
    }


def test_a_project_without_uv_and_a_broken_file_say_nothing(tree):
    facts = tree({"/home/u/pyproject.toml": '[project]\nindex-url = "x"\n', "/etc/uv/uv.toml": "index-url = [[[["})
    assert sources(facts) == {}


def test_pips_list_as_pasted(pasted):
    said = "$ pip config list\nglobal.extra-index-url='https://mirror.example/a https://mirror.example/b'\nglobal.timeout='9'\n"
    assert sources(pasted(said)) == {("pip", "extra-index-url"): ["https://mirror.example/a", "https://mirror.example/b"]}


def test_condas_channels(tree):
    facts = tree({"/home/u/.condarc": "channels:\n  - nvidia\n  - conda-forge\nshow_channel_urls: true\n"})
    assert sources(facts) == {("conda", "channels"): ["nvidia", "conda-forge"]}


# -- the next boot ------------------------------------------------------------------------------------------
def boot(files):
    return {"/boot/vmlinuz-6.8.0-9-generic": "", "/boot/vmlinuz-6.8.0-45-generic": "", **files}


def test_without_a_choice_the_newest_is_started(tree):
    facts = tree(boot({}))
    (told,) = facts.of(NextBoot)
    assert (told.release, told.because) == ("6.8.0-45-generic", "newest")
    assert {kernel.release for kernel in facts.of(Kernel)} == {"6.8.0-9-generic", "6.8.0-45-generic"}


@pytest.mark.long
@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("/etc/default/grub", 'GRUB_DEFAULT="Advanced options for Ubuntu>Ubuntu, with Linux 6.8.0-9-generic"'),
        ("/boot/grub2/grubenv", "saved_entry=5c1a9e2b7f6d4c0f8f2e9d1b3a4c5d6e-6.8.0-9-generic"),
        ("/boot/grub/grubenv", "saved_entry=gnulinux-6.8.0-9-generic-advanced-1f0e-22"),
        ("/boot/loader/loader.conf", "default 5c1a9e2b7f6d4c0f8f2e9d1b3a4c5d6e-6.8.0-9-generic.conf"),
    ],
)
def test_a_chosen_kernel_goes_before_the_newest(tree, path, line):
    (told,) = tree(boot({path: line + "\n"})).of(NextBoot)
    assert (told.release, told.because) == ("6.8.0-9-generic", "chosen")


@pytest.mark.parametrize("line", ["GRUB_DEFAULT=0", "GRUB_DEFAULT=saved", 'GRUB_DEFAULT="1>2"', "GRUB_TIMEOUT=6.8.0"])
def test_an_entry_by_its_number_names_no_kernel(tree, line):
    (told,) = tree(boot({"/etc/default/grub": line + "\n"})).of(NextBoot)
    assert told.because == "newest"


# -- what kind of system ------------------------------------------------------------------------------------
@pytest.mark.long
@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ({"/run/ostree-booted": ""}, "ostree"),
        ({"/etc/NIXOS": ""}, "nixos"),
        ({"/etc/os-release": "ID=fedora\nVARIANT_ID=silverblue\nOSTREE_VERSION='41.1'\n"}, "ostree"),
        ({"/etc/os-release": "ID=steamos\n"}, "steamos"),
    ],
)
def test_a_system_that_is_no_place_for_packages(tree, files, kind):
    assert tree(files).of(Distribution)[0].immutable == kind


def test_an_ordinary_system_is_not_said_to_be_one(tree):
    assert not tree({"/etc/os-release": "ID=ubuntu\nVARIANT_ID=server\n"}).of(Distribution)[0].knows("immutable")


def test_keys_that_the_owner_enrolled(tree, pasted):
    name = b"DKMS module signing key"
    certificate = b"\x07\0\0\0\x30\x82\x03\x01\x06\x03U\x04\x03\x0c" + bytes([len(name)]) + name + b"\xff\xfe\x80"
    facts = tree({"/sys/firmware/efi/mok-variables/MokListRT": certificate.decode("utf-8", "replace")})
    assert facts.of(Platform)[0].mok == ["DKMS module signing key"]
    listed = "[key 1]\nSHA1 Fingerprint: 76:a0\n        Issuer: CN=x\n        Subject: CN=ubuntu Secure Boot Module Signature key\n"
    assert pasted(listed).of(Platform)[0].mok == ["ubuntu Secure Boot Module Signature key"]


# -- between card and memory --------------------------------------------------------------------------------
def test_how_the_iommu_treats_a_card(tree):
    facts = tree(
        {
            CARD + "class": "0x030000\n",
            CARD + "vendor": "0x1002\n",
            CARD + "iommu_group": "-> ../../../kernel/iommu_groups/14",
            "/sys/bus/kernel/iommu_groups/14/type": "identity\n",
        }
    )
    (device,) = facts.of(PciDevice)
    assert (device.iommu_group, device.iommu) == (14, "identity")


NODE = "/sys/class/kfd/kfd/topology/nodes/1/"
PROPERTIES = "cpu_cores_count {cores}\nsimd_count 160\ngfx_target_version 100300\nvendor_id 4098\ndevice_id 29631\nlocation_id 768\n"


@pytest.mark.parametrize(("flags", "carries"), [(1, True), (13, False), (5, False)])
def test_whether_the_path_to_a_card_carries_atomics(tree, flags, carries):
    facts = tree(
        {
            NODE + "properties": PROPERTIES.format(cores=0),
            NODE + "io_links/0/properties": f"type 2\nnode_from 1\nnode_to 0\nweight 20\nflags {flags}\n",
        }
    )
    assert [node.atomics for node in facts.of(KfdNode)] == [carries]
    assert [device.atomics for device in facts.of(PciDevice)] == [carries]


@pytest.mark.parametrize(
    ("cores", "link"),
    [
        (8, "type 2\nnode_from 1\nnode_to 0\nflags 13\n"),
        (0, "type 11\nnode_from 1\nnode_to 0\nflags 13\n"),
        (0, "type 2\nnode_from 1\nnode_to 2\nflags 13\n"),
    ],
)
def test_a_processors_own_gpu_and_other_links_tell_nothing_of_a_slot(tree, cores, link):
    facts = tree({NODE + "properties": PROPERTIES.format(cores=cores), NODE + "io_links/0/properties": link})
    assert not [device for device in facts.of(PciDevice) if device.knows("atomics")]


# -- containers ---------------------------------------------------------------------------------------------
def test_what_engines_may_hand_on(tree):
    facts = tree(
        {
            "/etc/cdi/nvidia.yaml": "cdiVersion: 0.5.0\ncontainerEdits:\n  deviceNodes:\n  - path: /dev/nvidiactl\ndevices:\n- containerEdits:\n    deviceNodes:\n"
            '    - path: /dev/nvidia0\n  name: "0"\n- name: all\nkind: nvidia.com/gpu\n',
            "/etc/nvidia-container-runtime/config.toml": '[nvidia-container-cli]\nno-cgroups = true\n#no-cgroups = false\n[nvidia-container-runtime]\nmode = "auto"\n',
            "/etc/docker/daemon.json": '{"default-runtime": "nvidia", "runtimes": {"nvidia": {"path": "nvidia-container-runtime"}}}',
            "/etc/containerd/config.toml": 'version = 2\n[plugins."io.containerd.grpc.v1.cri".containerd]\ndefault_runtime_name = "nvidia"\n'
            '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]\nruntime_type = "x"\n',
        }
    )
    (spec,), (kit,) = facts.of(CdiSpec), facts.of(ContainerToolkit)
    assert (spec.kind, spec.devices) == ("nvidia.com/gpu", ["0", "all"])
    assert (kit.no_cgroups, kit.mode) == (True, "auto")
    assert {(one.name, tuple(one.runtimes), one.default_runtime) for one in facts.of(ContainerEngine)} == {
        ("docker", ("nvidia",), "nvidia"),
        ("containerd", ("nvidia",), "nvidia"),
    }


def test_the_same_as_pasted(pasted):
    facts = pasted(
        " Server Version: 27.1\n Runtimes: io.containerd.runc.v2 nvidia runc\n Default Runtime: runc\n",
        "nvidia.com/gpu=0\nnvidia.com/gpu=all\n",
    )
    (engine,) = facts.of(ContainerEngine)
    assert ("nvidia" in engine.runtimes, engine.default_runtime) == (True, "runc")
    assert facts.of(CdiSpec)[0].devices == ["0", "all"]


# -- Slurm, disks, rpm --------------------------------------------------------------------------------------
def test_how_a_cluster_hands_out_devices(tree):
    facts = tree(
        {
            "/etc/slurm/slurm.conf": "GresTypes=gpu\n#TaskPlugin=task/none\nTaskPlugin = task/affinity,task/cgroup\nNodeName=gpu[01-08] CPUs=64 \\\n  Gres=gpu:a100:4 State=UNKNOWN\n",
            "/etc/slurm/gres.conf": "AutoDetect=off\nNodeName=gpu[01-08] Name=gpu Type=a100 File=/dev/nvidia[0-3]\n",
            "/etc/slurm/cgroup.conf": "ConstrainDevices=yes\n",
        }
    )
    assert {one.name: one.value for one in facts.of(SlurmSetting)} == {
        "GresTypes": "gpu",
        "TaskPlugin": "task/affinity,task/cgroup",
        "AutoDetect": "off",
        "ConstrainDevices": "yes",
    }
    assert {(one.nodes, one.gres) for one in facts.of(SlurmNode)} == {("gpu[01-08]", "gpu:a100:4"), ("gpu[01-08]", "gpu:a100")}


def test_a_node_as_scontrol_shows_it(pasted):
    said = (
        "NodeName=gpu01 Arch=x86_64 CoresPerSocket=32\n   CPUAlloc=0 CPUEfctv=64\n   Gres=gpu:a100:4(S:0-1)\n   CfgTRES=cpu=64,gres/gpu=4\n"
    )
    assert [(one.nodes, one.gres) for one in pasted(said).of(SlurmNode)] == [("gpu01", "gpu:a100:4")]


@pytest.mark.parametrize(
    "said",
    [
        "Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/sda2 104857600 52428800 52428800 50% /\ntmpfs 100 1 99 1% /run\n",
        "Filesystem      Size  Used Avail Use% Mounted on\n/dev/sda2       100G   50G   50G  50% /\n/dev/loop3 56M 56M 0 100% /snap/core\n",
    ],
)
def test_room_on_disks(pasted, said):
    (disk,) = pasted(said).of(DiskSpace)
    assert (disk.path, disk.total, disk.free) == ("/", 100 * 2**30, 50 * 2**30)


def test_packages_of_rpm(tree, pasted):
    said = (
        "$ rpm -qa | grep nvidia\nakmod-nvidia-550.67-1.fc40.x86_64\nnvidia-gpu-firmware-20240312-1.fc40.noarch\nbash-5.2-1.fc40.x86_64\n"
    )
    assert {one.name: one.version for one in pasted(said).of(SystemPackage)} == {
        "akmod-nvidia": "550.67-1.fc40",
        "nvidia-gpu-firmware": "20240312-1.fc40",
    }
    listed = "nvidia-driver.x86_64              3:550.90.07-1.el9              @cuda-rhel9-x86_64\n"
    assert [(one.name, one.version) for one in pasted(listed).of(SystemPackage)] == [("nvidia-driver", "550.90.07-1.el9")]
    assert tree({"/var/lib/dpkg/status": ""}).of(SystemPackage) == []


def test_rpm_is_asked_where_it_has_a_database(tree):
    from rigup.machine.reader import READERS

    argv = list(READERS["rpm_database"].inputs[0].argv)
    commands = [{"argv": argv, "exit": 0, "stdout": "nvidia-driver 550.90.07-1.el9\ndkms 3.0.13-1.el9\n", "stderr": ""}]
    facts = tree({"/var/lib/rpm/rpmdb.sqlite": ""}, commands=commands)
    assert {one.name for one in facts.of(SystemPackage)} == {"nvidia-driver", "dkms"}
