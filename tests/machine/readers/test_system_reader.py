"""Kernel, distribution, processor, memory, world."""

import pytest

from rigup.machine.kinds import Cpu, Distribution, Memory, Platform, World

UBUNTU = 'PRETTY_NAME="Ubuntu 22.04.4 LTS"\nNAME="Ubuntu"\nVERSION_ID="22.04"\nID=ubuntu\nID_LIKE=debian\n'


def platform(facts):
    (found,) = facts.of(Platform)
    return found


@pytest.mark.long
@pytest.mark.parametrize(
    ("release", "wsl"),
    [("6.8.0-40-generic", None), ("5.15.153.1-microsoft-standard-WSL2", 2), ("4.4.0-19041-Microsoft", 1), ("5.10.120-tegra", None)],
)
def test_the_kernel_and_whose_it_is(tree, release, wsl):
    found = platform(
        tree({"/proc/version": f"Linux version {release} (builder@host) (gcc 12) #1 SMP\n", "/proc/sys/kernel/osrelease": release + "\n"})
    )
    assert (found.system, found.release, found.wsl) == ("linux", release, wsl)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "Linux box 6.8.0-45-generic #45~22.04.1-Ubuntu SMP PREEMPT_DYNAMIC Wed Sep 11 15:25:05 UTC 2 x86_64 x86_64 x86_64 GNU/Linux",
            ("linux", "6.8.0-45-generic", "x86_64"),
        ),
        (
            "ada@box:~$ uname -a\nLinux localhost 5.10.120-tegra #1 SMP PREEMPT Tue Aug 1 12:32:50 PDT 2023 aarch64 GNU/Linux",
            ("linux", "5.10.120-tegra", "aarch64"),
        ),
        (
            "Darwin mac.local 23.4.0 Darwin Kernel Version 23.4.0: Fri Mar 15 00:10:42 PDT 2024; root:xnu-10063/RELEASE_ARM64_T6000 arm64",
            ("macos", "23.4.0", "arm64"),
        ),
        (
            "Darwin mac.local 23.4.0 Darwin Kernel Version 23.4.0: Fri Mar 15; root:xnu-10063/RELEASE_ARM64_T6000 x86_64",
            ("macos", "23.4.0", "arm64"),
        ),
    ],
)
def test_uname_as_people_paste_it(pasted, line, expected):
    found = platform(pasted(line + "\n"))
    assert (found.system, found.release, found.architecture) == expected


def test_secure_boot_from_the_firmware_and_from_the_tool(tree, pasted):
    path = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
    assert platform(tree({path: "\x06\0\0\0\x01"})).secure_boot is True
    assert platform(pasted("SecureBoot disabled\nPlatform is in Setup Mode\n")).secure_boot is False


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("  Secure Boot: enabled (user)", True),
        ("Secure Boot:    ✗ Disabled", False),
        ("Secure Boot: Enabled", True),
        ("Secure Boot State\tOn", True),
        ("[    0.000000] Secure boot disabled", False),
    ],
)
def test_secure_boot_as_tools_and_reports_tell_it(pasted, line, expected):
    assert platform(pasted(line + "\n")).secure_boot is expected


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "expected"),
    [("VMware, Inc.\n", "vmware"), ("QEMU\n", "qemu"), ("innotek GmbH\n", "virtualbox"), ("ASUSTeK COMPUTER INC.\n", None)],
)
def test_whose_machine_the_firmware_says_it_is(tree, name, expected):
    facts = tree(
        {"/sys/class/dmi/id/sys_vendor": name, "/proc/cpuinfo": "processor\t: 0\nmodel name\t: Some CPU\nflags\t\t: fpu sse2 avx2\n\n"}
    )
    assert platform(facts).hypervisor == expected


def test_the_flag_alone_tells_that_it_is_a_guest(tree):
    facts = tree({"/proc/cpuinfo": "processor\t: 0\nmodel name\t: Some CPU\nflags\t\t: fpu hypervisor avx2\n\nprocessor\t: 1\n"})
    assert platform(facts).hypervisor == "unknown"
    (cpu,) = facts.of(Cpu)
    assert (cpu.model, cpu.cores, "avx2" in cpu.flags) == ("Some CPU", 2, True)


def test_an_arm_processor_has_features(tree):
    facts = tree({"/proc/cpuinfo": "processor\t: 0\nFeatures\t: fp asimd sve\nCPU implementer\t: 0x41\n"})
    assert facts.of(Cpu)[0].flags == ["fp", "asimd", "sve"]
    assert facts.of(Platform) == []


def test_the_distribution_and_its_c_library(tree):
    facts = tree({"/etc/os-release": UBUNTU, "/usr/bin/ldd": "#! /bin/bash\n    echo 'ldd (Ubuntu GLIBC 2.35-0ubuntu3.8) 2.35'\n"})
    (found,) = facts.of(Distribution)
    assert (found.id, found.version, found.name, found.glibc) == ("ubuntu", "22.04", "Ubuntu 22.04.4 LTS", "2.35")


def test_a_c_library_that_is_not_glibc(tree):
    (found,) = tree({"/etc/os-release": "ID=alpine\nVERSION_ID=3.20.0\n", "/lib/ld-musl-x86_64.so.1": ""}).of(Distribution)
    assert (found.id, found.glibc) == ("alpine", None)


def test_ldd_as_people_paste_it(pasted):
    assert pasted("ldd (GNU libc) 2.38\nCopyright (C) 2023\n").of(Distribution)[0].glibc == "2.38"


@pytest.mark.long
@pytest.mark.parametrize(
    ("files", "engine"),
    [
        ({"/.dockerenv": ""}, "docker"),
        ({"/run/.containerenv": 'engine="podman-4.9"\n'}, "podman"),
        ({"/.singularity.d/runscript": ""}, "apptainer"),
        ({"/proc/1/cgroup": "12:devices:/kubepods/besteffort/pod1/abc\n"}, "kubernetes"),
        ({"/run/systemd/container": "lxc\n"}, "lxc"),
        ({"/proc/1/cgroup": "0::/init.scope\n"}, None),
    ],
)
def test_what_kind_of_world_it_is(tree, files, engine):
    assert tree(files).of(World)[0].container == engine


def test_memory_in_bytes(tree):
    (found,) = tree({"/proc/meminfo": "MemTotal:       65764368 kB\nMemFree: 1 kB\nMemAvailable:   61000000 kB\n"}).of(Memory)
    assert (found.total, found.available) == (65764368 * 1024, 61000000 * 1024)


@pytest.mark.parametrize(
    "text",
    [
        "ProductName:\t\tmacOS\nProductVersion:\t\t12.2.1\nBuildVersion:\t\t21D62\n",
        "<key>ProductVersion</key>\n\t<string>12.2.1</string>\n",
    ],
)
def test_macos(pasted, text):
    assert platform(pasted(text)).version == "12.2.1"


def test_windows(pasted):
    found = platform(pasted("Microsoft Windows [Version 10.0.22631.3447]\n(c) Microsoft Corporation.\n"))
    assert (found.system, found.version) == ("windows", "10.0.22631.3447")
