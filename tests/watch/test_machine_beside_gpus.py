"""The machine beside its GPUs: what is read of processors, memory, disks, network and processes, and how it is shown."""

import json
import re

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from watch_samples import gpu, process, sample

from rigup.cli.live.picture import compose
from rigup.cli.live.view import View, frame_of
from rigup.cli.watch import command
from rigup.cli.watch_host import host_rows, size
from rigup.cli.watch_table import table
from rigup.schemas.watch_host import Cpu, WatchedHost
from rigup.watch.files import Reopened
from rigup.watch.history import History
from rigup.watch.host import HostSampler
from rigup.watch.host_processes import HostProcesses

HOST = {
    "name": "node7",
    "load": [1.0, 0.5, 0.25],
    "cpu": {"cores": 4, "utilisation": 0.25, "temperature": 61.0},
    "running": 120,
    "memory": {"total": 2**34, "available": 2**33, "used": 2**33},
    "swap": {"total": 0, "used": 0},
    "disk": [{"mount": "/", "total": 2**40, "used": 2**39}],
    "disk_traffic": {"read": 1024.0, "written": 0.0},
    "network": {"rx": 2.0**21, "tx": 0.0},
}
OTHER = {"pid": 31, "name": "sshd", "command": "sshd: ada", "user": "ada", "cpu": 0.75, "rss": 5 * 2**20, "gpus": []}


class Tree:
    """Files that the test gives."""

    def __init__(self, files) -> None:
        self.files = files

    def read(self, path, most=65536) -> bytes:
        if path not in self.files:
            raise FileNotFoundError(path)
        return self.files[path][:most]

    def names(self, folder):
        found = sorted({path[len(folder) + 1 :].split("/")[0] for path in self.files if path.startswith(folder + "/")})
        if not found:
            raise FileNotFoundError(folder)
        return found

    def opened(self, path):
        return Reopened(self, path)


def stat(pid, parent=1, ticks=0, rss=1000, name=b"python") -> bytes:
    return b"%d (%s) S %d 0 0 0 0 0 0 0 0 0 %d 0 0 0 0 0 1 0 777 0 %d 0" % (pid, name, parent, ticks, rss)


def cpu(*lines) -> bytes:
    return b"".join(b"cpu%s %d 0 0 %d 0 0 0 0 0 0\n" % line for line in lines)


def test_rates_are_told_from_the_second_reading_on_and_never_invented() -> None:
    tree = Tree(
        {
            "/proc/stat": cpu((b"", 0, 0), (b"0", 0, 0), (b"1", 0, 0)),
            "/proc/diskstats": b"8 0 sda 1 0 0 0 1 0 0 0\n8 1 sda1 1 0 0 0 1 0 0 0\n",
            "/proc/net/dev": b"a\nb\n eth0: 0 0 0 0 0 0 0 0 0 0\n lo: 9 0 0 0 0 0 0 0 9 0\n",
            "/sys/class/hwmon/hwmon0/name": b"k10temp\n",
            "/sys/class/hwmon/hwmon0/temp1_input": b"61500\n",
            "/sys/class/hwmon/hwmon1/name": b"nvme\n",
            "/sys/class/hwmon/hwmon1/temp1_input": b"90000\n",
        }
    )
    sampler = HostSampler(tree, anonymous=True)
    first = sampler.read(0.0)
    assert first.cpu == Cpu(cores=2, temperature=61.5)
    assert not first.network
    assert not first.disk_traffic
    tree.files |= {
        "/proc/stat": cpu((b"", 100, 300), (b"0", 100, 100), (b"1", 0, 200)),
        "/proc/diskstats": b"8 0 sda 1 0 8 0 1 0 16 0\n8 1 sda1 1 0 8 0 1 0 16 0\n",
        "/proc/net/dev": b"a\nb\n eth0: 4000 0 0 0 0 0 0 0 2000 0\n lo: 9 0 0 0 0 0 0 0 9 0\n",
    }
    second = sampler.read(2.0)
    assert second.cpu.utilisation == 0.25
    assert second.cpu.each == [0.5, 0.0]
    assert (second.network.rx, second.network.tx) == (2000.0, 1000.0)
    assert (second.disk_traffic.read, second.disk_traffic.written) == (2048.0, 4096.0)  # of the disk, not of its part again


@given(
    st.dictionaries(
        st.sampled_from(["/proc/stat", "/proc/diskstats", "/proc/net/dev", "/proc/meminfo", "/proc/loadavg", "/proc/7/stat"]),
        st.binary(max_size=300),
    )
)
def test_hostile_files_are_read_without_an_exception_and_give_no_odd_share(files) -> None:
    sampler, processes = HostSampler(Tree(files), anonymous=True), HostProcesses(Tree(files))
    for now in (0.0, 1.0):
        host = sampler.read(now)
        processes.most(now, {})
        assert host.cpu is not None
        assert not host.cpu or not host.cpu.utilisation or 0 <= host.cpu.utilisation <= 1


def test_the_busiest_processes_come_first_and_threads_of_the_kernel_are_none() -> None:
    files = {f"/proc/{pid}/stat": stat(pid, rss=pid) for pid in range(10, 80)}
    files |= {"/proc/2/stat": stat(2, 0, name=b"kthreadd"), "/proc/5/stat": stat(5, 2, name=b"kworker")}
    tree = Tree(files)
    processes = HostProcesses(tree)
    processes.look(0.0)
    files |= {
        "/proc/11/stat": stat(11, ticks=150, name=b"a) b"),
        "/proc/12/stat": stat(12, ticks=50),
        "/proc/12/cmdline": b"python\0x.py\0",
    }
    found = processes.most(1.0, {})
    assert [(row.pid, round(row.cpu, 2)) for row in found[:3]] == [(11, 1.5), (12, 0.5), (79, 0.0)]
    assert found[0].name == "a) b"
    assert found[1].command == "python x.py"
    assert len(found) == 40
    assert not {2, 5} & {row.pid for row in found}
    assert processes.count == 72


def test_the_table_tells_of_the_machine_and_of_both_kinds_of_processes(monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = table(sample(host=HOST, processes=[process()], host_processes=[process(), OTHER]), color=False)
    for words in (
        "node7",
        "25% of 4 cores · 61 °C",
        "120 processes",
        "8.0 GiB / 16.0 GiB (50%)",
        "/ 512.0 GiB / 1.0 TiB (50%)",
        "read 1 KiB/s",
        "↓ 2.0 MiB/s",
        "sshd: ada",
        "75%",
    ):
        assert words in text, words
    assert text.count("python train.py") == 1  # not among the others again
    assert max(map(len, text.splitlines())) <= 80
    alone = table(sample(host=HOST, gpus=[], host_processes=[OTHER]), color=False)
    assert "There is no GPU here" in alone
    assert re.search(r"31 +ada +75% +5\.0 MiB +sshd: ada", alone)


def test_nothing_is_said_of_what_nobody_told() -> None:
    assert host_rows(WatchedHost()) == []
    assert host_rows(WatchedHost(cpu=Cpu(cores=2))) == [("CPU", "– of 2 cores")]
    assert [size(amount) for amount in (0, 2**20, 2**30, 2**41)] == ["0 KiB", "1.0 MiB", "1.0 GiB", "2.0 TiB"]


def test_once_has_rates_of_the_host_and_its_processes_and_a_stream_has_the_latter_without_gpus_alone() -> None:
    pytest.importorskip("resource")
    done = CliRunner().invoke(command, ["--once", "--json"], standalone_mode=False)
    answer = json.loads(done.output)
    if "host" not in answer or "cpu" not in answer["host"]:
        pytest.skip("no /proc here")
    assert 0 <= answer["host"]["cpu"]["utilisation"] <= 1
    assert answer["host"]["running"] > 0
    assert answer["host_processes"]
    assert all(row["gpus"] == [] and row["cpu"] >= 0 for row in answer["host_processes"])


def picture(watch, wide=80, high=24, view=None) -> str:
    history = History()
    history.add(watch)
    history.add(watch)
    lines = compose(frame_of(watch, history), view or View(), wide, high).lines
    return "\n".join("".join(span.text for span in line) for line in lines)


def test_a_machine_without_a_gpu_fills_the_live_view() -> None:
    text = picture(sample(host=HOST, gpus=[], host_processes=[OTHER]))
    for words in ("CPU 25%", "RAM 50%", "↓ 2.0 MiB/s", "CPU▼", "sshd: ada"):
        assert words in text, words
    assert "Memory" not in text
    assert "a all" not in text
    assert text.splitlines()[-1].rstrip().endswith("colours")


def test_beside_gpus_all_processes_are_shown_where_somebody_asks() -> None:
    watch = sample(host=HOST, gpus=[gpu()], processes=[process()], host_processes=[OTHER])
    assert "sshd" not in picture(watch)
    assert "sshd" in picture(watch, view=View(others=True, sort="cpu"))
    assert "Disk" not in picture(watch)
    assert "512.0 GiB" in picture(watch, high=45)


@pytest.mark.parametrize("wide", range(20, 121, 9))
def test_no_key_is_named_by_half(wide) -> None:
    last = picture(sample(host=HOST), wide=wide).splitlines()[-1]
    assert "…" not in last
