"""Cards of AMD and Intel by their files: which source wins, what is not available, sleep and loss."""

import shutil
from pathlib import Path

import pytest
from test_gpu_metrics import table
from watched_cards import Card

from rigup.schemas.watch_gpu import WatchedGpu
from rigup.watch.sampler import Sampler


def only_gpu(root: Path) -> WatchedGpu:
    gpus = Sampler(str(root)).sample().gpus
    assert len(gpus) == 1
    return gpus[0]


def sensors(card: Card) -> None:
    card.write("gpu_busy_percent", 12)
    card.write("mem_info_vram_total", 24 * 2**30)
    card.write("mem_info_vram_used", 2**30)
    card.write("current_link_speed", "8.0 GT/s PCIe")
    card.write("current_link_width", 4)
    card.write("max_link_width", 16)
    for name, value in {
        "name": "amdgpu",
        "temp1_input": 45000,
        "temp1_label": "edge",
        "temp2_input": 61000,
        "temp2_label": "junction",
        "temp2_crit": 110000,
        "power1_average": 33_000_000,
        "power1_cap": 300_000_000,
        "freq1_input": 500_000_000,
        "freq1_label": "sclk",
        "fan1_input": 0,
        "pwm1": 255,
        "in0_input": 825,
        "in0_label": "vddgfx",
    }.items():
        card.write("hwmon/hwmon5/" + name, value)


def test_the_kernels_files_win_over_the_firmwares_table(amd: Card) -> None:
    sensors(amd)
    amd.write(
        "gpu_metrics",
        table("1.3", average_gfx_activity=99, temperature_edge=1, average_socket_power=299, current_uclk=1249, pcie_link_speed=3),
    )
    gpu = only_gpu(amd.root)
    assert (gpu.utilisation.gpu, gpu.source["utilisation.gpu"]) == (0.12, "sysfs")
    assert (gpu.temperature.edge, gpu.temperature.junction, gpu.temperature.limit) == (45, 61, 110)
    assert (gpu.power.draw, gpu.power.limit, gpu.power.scope) == (33, 300, "gpu")
    assert gpu.fan.rpm == 0
    assert gpu.fan.speed == 1
    assert gpu.pcie.speed == 8e9
    assert (gpu.clock.memory, gpu.source["clock.memory"]) == (1.249e9, "gpu_metrics 1.3")
    assert "utilisation.memory" in gpu.not_available
    assert "links" in gpu.not_available


def test_a_card_that_sleeps_is_not_read(amd: Card) -> None:
    sensors(amd)
    amd.write("power/runtime_status", "suspended")
    for name in ("gpu_busy_percent", "hwmon/hwmon5/temp1_input"):
        (amd.folder / name).unlink()
        (amd.folder / name).mkdir()  # reading it would be told as an error
    gpu = only_gpu(amd.root)
    assert gpu.state == "asleep"
    assert gpu.source == {}


def test_a_card_that_falls_off_the_bus_stays_in_the_list(amd: Card) -> None:
    sensors(amd)
    sampler = Sampler(str(amd.root))
    assert sampler.sample().gpus[0].state == "active"
    shutil.rmtree(amd.folder)
    (amd.root / "sys/bus/pci/devices" / amd.address).unlink()
    sample = sampler.sample()
    assert [gpu.state for gpu in sample.gpus] == ["lost"]
    assert sample.errors[0].because == "it is no more on the bus"


def test_links_that_were_copied_as_texts_are_followed(amd: Card) -> None:
    sensors(amd)
    for link in (amd.root / "sys/bus/pci/devices" / amd.address, amd.folder / "driver"):
        target = link.readlink()
        link.unlink()
        link.write_text(str(target))
    gpu = only_gpu(amd.root)
    assert gpu.pci_address == amd.address
    assert gpu.driver.name == "amdgpu"


def test_a_table_that_is_none_is_told_and_costs_itself_only(amd: Card) -> None:
    sensors(amd)
    amd.write("gpu_metrics", b"garbage")
    sample = Sampler(str(amd.root)).sample()
    assert sample.gpus[0].utilisation.gpu == 0.12
    assert [error.because for error in sample.errors] == ["revision 114.98 is not known"]


@pytest.mark.parametrize("said", ["", "nonsense", "-1", "18446744073709551615", "9" * 400, "101", "1e3"])
def test_a_file_without_a_share_gives_none(amd: Card, said: str) -> None:
    amd.write("gpu_busy_percent", said)
    assert "utilisation" in only_gpu(amd.root).not_available


def test_errors_of_blocks(amd: Card) -> None:
    amd.write("ras/umc_err_count", "ue: 1\nce: 22")
    amd.write("ras/gfx_err_count", "nonsense")
    errors = only_gpu(amd.root).errors
    assert (errors.ecc_uncorrected, errors.ecc_corrected) == (1, 22)
    assert set(errors.ras) == {"umc"}


def test_intels_power_is_the_growth_of_energy_and_its_use_the_time_that_is_not_idle(tmp_path: Path) -> None:
    card = Card(tmp_path, "0000:00:02.0", "0x8086", "0xe20b", "xe")
    card.write("tile0/gt0/freq0/act_freq", 1200)
    card.write("tile0/gt0/freq0/throttle/reason_pl1", 1)
    card.write("tile0/gt0/freq0/throttle/reason_thermal", 0)
    card.write("tile0/gt0/freq0/throttle/status", 1)
    card.write("hwmon/hwmon1/name", "xe")
    card.write("hwmon/hwmon1/energy1_label", "card")
    times = iter((100.0, 102.0))
    sampler = Sampler(str(tmp_path))
    for energy, idle in ((10_000_000, 5000), (90_000_000, 5500)):
        card.write("hwmon/hwmon1/energy1_input", energy)
        card.write("tile0/gt0/gtidle/idle_residency_ms", idle)
        values = _read(sampler, next(times))
    assert values["power.draw"] == pytest.approx(40)
    assert values["utilisation.gpu"] == pytest.approx(0.75)
    assert values["clock.graphics"] == 1.2e9
    assert values["throttle"] == ["power"]


def _read(sampler: Sampler, now: float) -> dict[str, object]:
    from rigup.watch.values import Values

    values = Values()
    sampler._look(now)
    sampler._read("0000:00:02.0", values, now)
    return values.known


def test_an_i915_card(tmp_path: Path) -> None:
    card = Card(tmp_path, "0000:00:02.0", "0x8086", "0x46a6", "i915")
    for name, value in {
        "gt_act_freq_mhz": 350,
        "gt_RP0_freq_mhz": 1400,
        "gt/gt0/throttle_reason_status": 1,
        "gt/gt0/throttle_reason_thermal": 1,
    }.items():
        card.write("drm/card0/" + name, value)
    gpu = only_gpu(tmp_path)
    assert (gpu.clock.graphics, gpu.clock_max.graphics) == (350e6, 1400e6)
    assert gpu.throttle == ["temperature"]


def test_processes_of_a_tree(amd: Card) -> None:
    root = amd.root
    for pid, client in ((10, 5), (11, 5)):  # the second inherited the first one's file
        folder = root / "proc" / str(pid)
        (folder / "fd").mkdir(parents=True)
        (folder / "fd" / "4").symlink_to("/dev/dri/renderD128")
        (folder / "fdinfo").mkdir()
        (folder / "fdinfo" / "4").write_text(
            f"drm-driver:\tamdgpu\ndrm-client-id:\t{client}\ndrm-pdev:\t{amd.address}\ndrm-memory-vram:\t100 KiB\ndrm-engine-compute:\t5 ns\n"
        )
    words = ["S", *["0"] * 10, "300", "100", *["0"] * 6, "5000", "0", "25", "0"]
    (root / "proc/10/stat").write_text("10 (py (thon)) " + " ".join(words))
    (root / "proc/10/cmdline").write_bytes(b"python\0train.py\0")
    (root / "proc/10/status").write_text("Name:\tpython\nUid:\t0\t0\t0\t0\n")
    (root / "proc/10/cgroup").write_text("0::/system.slice/slurmstepd.scope/job_77/step_0/user/task_0\n")
    (root / "proc/stat").write_text("cpu 1 2 3\nbtime 1700000000\n")
    sample = Sampler(str(root)).sample()
    assert [process.pid for process in sample.processes] == [10]
    process = sample.processes[0]
    assert (process.name, process.command, process.user, process.slurm_job) == ("py (thon)", "python train.py", "root", "77")
    assert process.gpus[0].memory.vram == 100 * 1024
    assert process.gpus[0].type == "compute"
