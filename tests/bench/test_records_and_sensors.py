"""What was measured is kept line by line; what is watched is read from files, and a device without them costs nothing."""

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from answer_data import as_data, bench_of
from rigup.bench.records import earlier, keep, run_of
from rigup.bench.sensors import _of_amd, _of_processor, busy_cores, summarize
from rigup.machine.local import Local
from rigup.schemas.bench import Bench


def run(moment: str) -> Bench:
    """A run of nothing."""
    return bench_of({"recorded_at": moment, "devices": []})


def test_runs_are_kept_in_order() -> None:
    keep("/an/environment", run("1"))
    keep("/an/environment", run("2"))
    assert [kept["recorded_at"] for kept in earlier("/an/environment")][-2:] == ["1", "2"]


def test_a_line_of_nonsense_costs_itself_only() -> None:
    path = keep("/another", run("1"))
    assert path is not None
    with open(path, "ab") as file:
        file.write(b"{half\n[1, 2]\n" + b'{"devices": 3}\n')
    keep("/another", run("2"))
    assert [kept["recorded_at"] for kept in earlier("/another")] == ["1", "2"]


OLD = {
    "devices": [
        3,
        {"results": None},
        {
            "name": None,
            "vendor": "cpu",
            "later": 1,
            "results": [
                "x",
                {"name": "launch", "unit": "s", "median": "fast"},
                {"name": "launch", "unit": "s", "median": None, "best": 2.0},
                {"name": "matmul", "type": None, "unit": "FLOP/s", "median": 5, "sweep": 7},
            ],
        },
        {"name": ["no", "name"], "results": []},
    ]
}


def test_of_a_run_that_another_release_wrote_all_is_read_that_can_be() -> None:
    read = run_of(OLD)
    assert [(device.vendor or "", len(device.results)) for device in read.devices] == [("", 0), ("cpu", 1)]
    (figure,) = read.devices[1].results
    assert (figure.median, figure.best, figure.type or "") == (5.0, 5.0, "")
    assert (read.recorded_at, read.prefix) == ("", "")


def test_no_record_is_no_error() -> None:
    assert earlier("/never/measured") == []


def files(folder: Path, contents: dict[str, str]) -> Local:
    """A machine whose sysfs lies in a folder."""
    for path, body in contents.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(body)
    return Local(str(folder))


def test_an_amd_card_is_read_from_its_sensors(tmp_path: Path) -> None:
    where = "sys/class/drm/card1/device/hwmon/hwmon3/"
    host = files(
        tmp_path,
        {
            where + "name": "amdgpu\n",
            where + "freq1_input": "2400000000\n",
            where + "temp1_input": "65000\n",
            where + "power1_average": "120000000\n",
        },
    )
    samples = [sample for _address, sample in _of_amd(host)]
    assert samples == [{"clock_mhz": 2400.0, "power_w": 120.0, "temperature_c": 65.0}]


def test_sensors_of_other_things_are_not_a_cards(tmp_path: Path) -> None:
    assert not list(_of_amd(files(tmp_path, {"sys/class/drm/card0/device/hwmon/hwmon1/name": "nvme\n"})))


def test_garbage_in_a_sensor_costs_that_reading_only(tmp_path: Path) -> None:
    where = "sys/class/drm/card1/device/hwmon/hwmon3/"
    host = files(tmp_path, {where + "name": "amdgpu\n", where + "freq1_input": "fast\n", where + "temp1_input": "65000\n"})
    assert [sample for _address, sample in _of_amd(host)] == [{"temperature_c": 65.0}]


def test_a_processor_without_sensors_says_nothing(tmp_path: Path) -> None:
    assert not list(_of_processor(files(tmp_path, {})))


STAT = "cpu  {} 0 100 {} 0 0 0 0 0 0\ncpu0 1 1 1 1 0 0 0 0 0 0\ncpu1 1 1 1 1 0 0 0 0 0 0\nintr 1\n"


class _Counting:
    """A machine whose counters go on from one look to the next."""

    def __init__(self, *bodies: str) -> None:
        self.bodies = [*bodies]

    def read(self, _path: str, _most: int = 0) -> Any:
        return type("Answer", (), {"body": self.bodies.pop(0) if len(self.bodies) > 1 else self.bodies[0]})


def counting(*bodies: str) -> Any:
    """A machine that answers with one text after another."""
    return _Counting(*bodies)


def test_cores_that_others_keep_busy_are_counted() -> None:
    assert busy_cores(counting(STAT.format(1000, 1000), STAT.format(1300, 1100)), 0.0) == {"busy_cores": 1.5}
    assert busy_cores(counting(STAT.format(1000, 1000), STAT.format(1000, 1400)), 0.0) == {"busy_cores": 0.0}


@given(st.text(max_size=200), st.text(alphabet="cpu 0123456789\n", max_size=200))
def test_where_nothing_tells_of_cores_nothing_is_said(before: str, after: str) -> None:
    cores = busy_cores(counting(before, after), 0.0)
    assert cores == {} or cores["busy_cores"] >= 0


def test_what_held_a_device_back_is_told_as_a_share() -> None:
    samples: list[dict[str, Any]] = [{"clock_mhz": 1000.0, "held_back": "power"}, {"clock_mhz": 2000.0}]
    summary = summarize(samples)
    assert as_data(summary.clock_mhz) == {"least": 1000.0, "median": 2000.0, "most": 2000.0}
    assert summary.held_back == {"power": 0.5}
