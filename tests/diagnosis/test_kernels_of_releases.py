"""A newer kernel is one that the release of the system offers; the running kernel tells the release only where no other has it."""

import pytest

from answer_data import diagnose

CARD = """03:00.0 VGA compatible controller [0300]: Advanced Micro Devices, Inc. [AMD/ATI] Navi 48 [Radeon RX 9070/9070 XT/9070 GRE] [1002:7550] (rev c0)
	Kernel modules: amdgpu
"""
BUILT = "Linux box {kernel}-generic #45{older}-Ubuntu SMP PREEMPT_DYNAMIC Wed Sep 11 15:25:05 UTC 2 x86_64 x86_64 x86_64 GNU/Linux\n"
RELEASE = '$ cat /etc/os-release\nID=ubuntu\nVERSION_ID="{release}"\n'


def ways(tmp_path, shown):
    """The first way of the finding, as kinds of steps and commands."""
    (tmp_path / "said.txt").write_text(f"{shown}$ lspci -nnk | grep -A3 VGA\n{CARD}$ ls /dev/dri\ncard0\n", "utf-8")
    finding = diagnose(str(tmp_path / "said.txt"))["findings"][0]
    assert finding["cause"] == "amd-kernel-too-old"
    (step,) = finding["fixes"][0]["steps"]
    return step["kind"], " ".join(step["commands"][-1])


@pytest.mark.parametrize(
    ("shown", "kind", "command"),
    [
        (
            "$ uname -r\n6.8.0-45-generic\n" + RELEASE.format(release="24.04"),
            "install-kernel",
            "apt-get install -y linux-generic-hwe-24.04",
        ),
        ("$ uname -a\n" + BUILT.format(kernel="6.8.0-45", older=""), "install-kernel", "apt-get install -y linux-generic-hwe-24.04"),
        ("$ uname -a\n" + BUILT.format(kernel="6.8.0-45", older="~22.04.1"), "upgrade-release", "do-release-upgrade"),
        ("$ uname -r\n6.8.0-45-generic\n" + RELEASE.format(release="22.04"), "upgrade-release", "do-release-upgrade"),
    ],
)
def test_the_kernel_is_of_the_release_that_is_shown(tmp_path, shown, kind, command):
    assert ways(tmp_path, shown) == (kind, command)


def test_of_two_releases_with_such_a_kernel_the_machine_says_which_it_is(tmp_path):
    kind, command = ways(tmp_path, "$ uname -r\n6.8.0-45-generic\n")
    assert kind == "install-kernel"
    assert "$VERSION_ID" in command
