"""How much memory is left, in control groups of both versions, as the kernel's own files tell them."""

import sys
from pathlib import Path

from rigup.torch.groups import limits
from rigup.torch.host import host_memory

sys.path.insert(0, str(Path(__file__).parent))
from made_up import GIB

MACHINE = {"/proc/meminfo": f"MemTotal:       {64 * GIB >> 10} kB\nMemFree:  1 kB\nMemAvailable:   {40 * GIB >> 10} kB\n"}
SECOND = "35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
FIRST = "40 32 0:35 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
OTHER = "39 32 0:34 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
NO_LIMIT = str(0x7FFFFFFFFFFFF000)


def told(groups="", mounts="", **files):
    """The total and the free memory where these files are read."""
    read = {**MACHINE, "/proc/self/cgroup": groups, "/proc/self/mountinfo": mounts, **files}
    found = host_memory(lambda path: read.get(path, ""))
    return found.total / GIB, found.free / GIB


def second(folder, limit, used=0, dropped=0):
    """A group of version 2."""
    at = "/sys/fs/cgroup" + folder
    return {
        at + "/memory.max": f"{limit}\n",
        at + "/memory.current": f"{int(used * GIB)}\n",
        at + "/memory.stat": f"anon 5\ninactive_file {int(dropped * GIB)}\nactive_file 7\n",
    }


def first(folder, limit, used=0, dropped=0):
    """A group of version 1."""
    at = "/sys/fs/cgroup/memory" + folder
    return {
        at + "/memory.limit_in_bytes": f"{limit}\n",
        at + "/memory.usage_in_bytes": f"{int(used * GIB)}\n",
        at + "/memory.stat": f"inactive_file 9\ntotal_inactive_file {int(dropped * GIB)}\n",
    }


def test_without_groups_it_is_the_machines():
    assert told() == (64, 40)
    assert told("0::/\n", SECOND) == (64, 40)


def test_the_group_of_a_container_that_sees_itself_as_the_top():
    assert told("0::/\n", SECOND, **second("", 8 * GIB, 3)) == (8, 5)
    assert told("4:memory:/\n0::/\n", OTHER + FIRST, **first("", 8 * GIB, 3)) == (8, 5)


def test_a_group_above_with_a_limit_counts():
    files = {**second("/slurm", 16 * GIB, 2), **second("/slurm/job_7", "max", 2), **second("/slurm/job_7/step_0", "max", 1)}
    assert told("0::/slurm/job_7/step_0\n", SECOND, **files) == (16, 14)
    files = {**first("/slurm", 16 * GIB, 2), **first("/slurm/job_7", NO_LIMIT, 2)}
    assert told("7:cpu,cpuacct:/other\n4:memory:/slurm/job_7\n", OTHER + FIRST, **files) == (16, 14)


def test_of_several_limits_the_smallest_is_the_total_and_the_fullest_tells_what_is_free():
    files = {**second("/a", 8 * GIB, 7.5), **second("/a/b", 12 * GIB, 1), **second("/a/b/c", 10 * GIB, 1)}
    assert told("0::/a/b/c\n", SECOND, **files) == (8, 0.5)
    files = {**second("/a", 20 * GIB, 19), **second("/a/b", 4 * GIB, 1)}
    assert told("0::/a/b\n", SECOND, **files) == (4, 1)


def test_no_limit_is_none():
    assert told("0::/a\n", SECOND, **second("/a", "max", 3)) == (64, 40)
    assert told("4:memory:/a\n", FIRST, **first("/a", NO_LIMIT, 3)) == (64, 40)
    assert told("0::/a\n", SECOND, **second("/a", 128 * GIB, 3)) == (64, 40)


def test_files_that_the_kernel_would_drop_are_free():
    assert told("0::/a\n", SECOND, **second("/a", 8 * GIB, 6, dropped=4)) == (8, 6)
    assert told("4:memory:/a\n", FIRST, **first("/a", 8 * GIB, 6, dropped=4)) == (8, 6)


def test_the_machine_may_have_less_than_the_group_allows():
    assert told("0::/a\n", SECOND, **second("/a", 60 * GIB, 1)) == (60, 40)


def test_a_group_that_is_mounted_as_the_top_of_a_container():
    mount = "35 24 0:30 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
    assert told("4:memory:/docker/abc\n", mount, **first("", 8 * GIB, 1)) == (8, 7)
    assert told("4:memory:/docker/abc/inner\n", mount, **first("/inner", 4 * GIB, 1)) == (4, 3)
    assert told("4:memory:/elsewhere\n", mount, **first("", 8 * GIB, 1)) == (8, 7)
    assert told("0::/../other\n", SECOND, **second("", 8 * GIB, 1)) == (8, 7)


def test_both_versions_at_once():
    mounts = FIRST + OTHER + "45 32 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
    assert told("4:memory:/job\n1:name=systemd:/job\n0::/job\n", mounts, **first("/job", 6 * GIB, 1)) == (6, 5)


def test_trees_that_lie_elsewhere():
    mounts = "35 24 0:30 / /dev/my\\040groups rw - cgroup2 none rw\n"
    files = {"/dev/my groups/a/memory.max": str(2 * GIB), "/dev/my groups/a/memory.current": "0"}
    assert told("0::/a\n", mounts, **files) == (2, 2)


def test_nonsense_is_no_limit():
    for groups, mounts in (
        ("\0", "x - y"),
        ("0::", SECOND),
        ("a:b", "1 2 3 4 5 - cgroup2"),
        (":" * 9, "-" * 9),
        ("0::/" + "x/" * 500, SECOND),
    ):
        assert told(groups, mounts) == (64, 40)
    for limit in ("", "-1", "lots", "1e9", "0x10"):
        assert limits({"/proc/self/cgroup": "0::/", "/proc/self/mountinfo": SECOND, "/sys/fs/cgroup/memory.max": limit}.get) == []
