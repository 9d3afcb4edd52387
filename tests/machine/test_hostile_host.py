"""A machine that is broken or hostile: garbage in every file, programs that hang, chatter or run on."""

import os
import random
import sys
import time

import pytest

from rigup.machine import feed, readers  # noqa: F401  (registers them)
from rigup.machine.facts import Place
from rigup.machine.host import LIMIT
from rigup.machine.kinds import Account, Gpu, PciDevice
from rigup.machine.local import Local
from rigup.machine.look import look
from rigup.machine.reader import READERS, File, Listing
from rigup.machine.sources import Source

FILLED = {
    "{PciDevice.address}": "0000:01:00.0",
    "{HomeFolder.path}": "/home/u",
    "{PythonEnv.prefix}": "/home/u/venv",
    "{Platform.release}": "6.8.0",
    "{SearchPath.path}": "/opt/l",
    "{LoaderEntry.path}": "/lib/libcudnn.so.9",
    "{UnitFile.path}": "/etc/default/x",
}
GARBAGE = {
    "nothing": b"",
    "bytes": random.Random(7).randbytes(3000),
    "nul": b"\0" * 500,
    "one long line": b"9" * 200_000,
    "numbers": b"18446744073709551616\n" * 50,
    "words": b'\xff\xfe[N/A]: {"a": [\n=ERR!\n<gpu>\n-1\n0x\n' * 20,
    "half a rune": "é".encode()[:1] * 99,
}


def paths(wanted):
    """Every path that some reader names below one folder, with names for its stars."""
    for reader in READERS.values():
        for given in reader.inputs:
            if isinstance(given, File | Listing):
                told = given.path
                for hole, value in FILLED.items():
                    told = told.replace(hole, value)
                yield from (path for path in feed.braced(told) if path.startswith(wanted))


def named(path):
    parts = (part.replace("[0-9]*", "0").replace("[an]*", "nvidia").replace("20*", "2025.1") for part in path.split("/"))
    return "/".join(part.replace("*", "0000:01:00.0" if part == "*" else "0") for part in parts)


@pytest.fixture
def spoilt(tmp_path):
    """A file system in which every file that readers name below these folders holds one kind of garbage."""

    def made(garbage, *folders):
        for path in sorted({named(path) for folder in folders for path in paths(folder)}):
            file = tmp_path / path.lstrip("/")
            try:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(garbage) if not file.exists() else None
            except (FileExistsError, NotADirectoryError, IsADirectoryError):
                continue  # one reader's file is another's folder
        return Local(str(tmp_path))

    return made


@pytest.mark.parametrize("kind", sorted(GARBAGE))
def test_garbage_in_every_file_of_the_kernel_costs_nothing_but_its_facts(spoilt, kind):
    facts = look([Source(Place(), spoilt(GARBAGE[kind], "/sys/", "/proc/"))])
    assert facts.troubles == []
    assert not [gpu for gpu in facts.of(Gpu) if gpu.knows("isa", "pci_id")]
    assert facts.of(Account)  # all others were read


@pytest.mark.parametrize("kind", sorted(GARBAGE))
def test_garbage_in_every_file_of_the_system_costs_nothing_but_its_facts(spoilt, kind):
    facts = look([Source(Place(), spoilt(GARBAGE[kind], "/etc/", "/usr/", "/home/", "/opt/", "/var/", "/lib/", "/boot/"))])
    assert facts.troubles == []
    assert sum(1 for _ in facts.all()) < 20_000


def test_the_spoilt_files_are_those_that_are_read(spoilt):
    host = spoilt(b"0x030000\n", "/sys/bus/pci/devices/*/class")
    (device,) = look([Source(Place(), host)]).of(PciDevice)
    assert device.address == "0000:01:00.0"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_files_that_may_not_be_read_are_refused(spoilt):
    host = spoilt(b"0x030000\n", "/sys/bus/pci/")
    os.chmod(host.root + "/sys/bus/pci/devices/0000:01:00.0", 0)
    facts = look([Source(Place(), host)])
    os.chmod(host.root + "/sys/bus/pci/devices/0000:01:00.0", 0o755)
    assert facts.troubles == []
    assert any(told.kind is PciDevice and told.coverage == "refused" for told in facts.looks)


def test_loops_and_devices_hold_nobody_up(tmp_path):
    devices = tmp_path / "sys/bus/pci/devices/0000:01:00.0"
    devices.mkdir(parents=True)
    (devices / "class").symlink_to("class")
    os.mkfifo(devices / "uevent")
    (tmp_path / "etc").mkdir()
    os.mkfifo(tmp_path / "etc/group")
    (tmp_path / "proc").symlink_to(".")
    facts = look([Source(Place(), Local(str(tmp_path)))])
    assert facts.troubles == []


# -- programs -------------------------------------------------------------------------------------------
def run(code, seconds=5.0):
    return Local().run((sys.executable, "-c", code), seconds)


def test_a_program_that_hangs_is_ended_with_its_children():
    code = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); import time; time.sleep(600)"
    answer = run(code, 1.0)
    assert (answer.state, answer.exit) == ("refused", 124)


def test_a_program_that_chatters_is_cut_off():
    answer = run("import sys\nwhile True: sys.stdout.write('y' * 65536)")
    assert len(answer.body) <= LIMIT


def test_a_program_that_closes_its_output_and_runs_on_is_ended():
    answer = run("import os, time; print('said', flush=True); os.close(1); os.close(2); time.sleep(600)")
    assert answer.body == "said\n"


def test_a_child_that_keeps_the_output_open_is_not_waited_for():
    code = "import subprocess, sys; print('said', flush=True); subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])"
    answer = run(code, 1.0)
    assert (answer.state, answer.exit) == ("refused", 124)


def test_what_a_program_prints_need_be_no_text():
    answer = run("import os; os.write(1, bytes(range(256)) * 10); os._exit(3)")
    assert "\ufffd" in answer.body
    assert answer.exit == 3


def test_no_thread_of_ours_outlives_a_look_by_much(tmp_path):
    import threading

    before = threading.active_count()
    look([Source(Place(), Local(str(tmp_path)))])
    deadline = time.monotonic() + 5
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert threading.active_count() <= before
