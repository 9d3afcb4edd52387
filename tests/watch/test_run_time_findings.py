"""What is told of samples, and where nothing is; each by a cause that `rigup explain` knows, with ways that hold for that card."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from watch_samples import gpu, process, sample

from rigup.knowledge.doctor_tables import causes, texts
from rigup.knowledge.xids import meaning_of_xid
from rigup.machine.matcher import match
from rigup.machine.texts import Text
from rigup.watch.findings import causes_of_rules, findings
from rigup.watch.history import LENGTH, History, Ring
from rigup.watch.ways import Surroundings, first_way
from rigup.workflows.explaining import explained


def told(*samples) -> list[str]:
    history = History()
    for each in samples:
        history.add(each)
    return [finding.cause for finding in findings(history)]


def over(seconds: int, memory, **parts):
    """Samples ten seconds apart; `memory` gives a process's bytes at a time."""
    return [
        sample(interval=10.0, processes=[process(memory(at), **parts)], gpus=[gpu(utilisation={"gpu": parts.get("busy", 0.5)})])
        for at in range(0, seconds, 10)
    ]


def found(*samples, surroundings=Surroundings()):
    history = History()
    for each in samples:
        history.add(each)
    return findings(history, surroundings)


def test_each_cause_is_one_that_explain_tells_in_every_language() -> None:
    assert causes_of_rules() <= set(causes())
    assert {row.id for row in causes().values() if row.family == "running"} <= causes_of_rules()
    for cause in causes_of_rules():
        (entry,) = explained(cause).causes
        assert all((entry.meaning, entry.recognise, entry.mends, entry.in_vain))
        assert all(texts(language)[cause].language == language for language in ("ru", "zh_CN", "zh_TW")), cause


def test_a_healthy_gpu_is_silent() -> None:
    assert told(*[sample(processes=[process()])] * 5) == []


@pytest.mark.parametrize(
    ("part", "cause"),
    [
        ({"throttle": ["temperature"]}, "throttled"),
        ({"throttle": ["external"]}, "throttled"),
        ({"throttle": ["reliability"]}, "throttled"),
        ({"throttle": ["power"], "power": {"draw": 200, "limit": 200, "limit_default": 300}}, "power-limit-lowered"),
        ({"state": "lost", "because": "GPU is lost"}, "gpu-fell-off-bus"),
        ({"state": "lost", "vendor": "nvidia", "because": "NVML: Driver Not Loaded"}, "nvidia-module-not-loaded"),
        ({"errors": {"xid": [{"code": 79, "time": 990.0}]}}, "gpu-fell-off-bus"),
        ({"errors": {"xid": [{"code": 62, "time": 990.0}]}}, "xid"),
        ({"errors": {"ras": {"umc": {"corrected": 0, "uncorrected": 1}}}}, "gpu-memory-ecc-error"),
        ({"errors": {"ecc_uncorrected": 1}}, "gpu-memory-ecc-error"),
        ({"errors": {"remap_pending": True}}, "gpu-memory-ecc-error"),
        ({"pcie": {"width": 4, "width_max": 16}}, "link-narrower-than-card"),
        ({"memory": {"vram": {"total": 100, "used": 90, "reserved": 9}}}, "memory-almost-full"),
    ],
)
def test_what_is_wrong_with_a_gpu(part, cause) -> None:
    assert told(sample(gpus=[gpu(**part)])) == [cause]


@pytest.mark.parametrize(
    "part",
    [
        {"throttle": ["power"], "power": {"draw": 300, "limit": 300, "limit_default": 300}},  # every GPU that works arrives there
        {"throttle": ["sync"]},
        {"errors": {"xid": [{"code": 79, "time": -4000.0}]}},  # more than an hour ago
        {"errors": {"ras": {"umc": {"corrected": 5, "uncorrected": 0}}}},
        {"errors": {"xid": [], "ecc_uncorrected": 0, "ecc_corrected": 4, "remap_pending": False}},
        {"pcie": {"width": 16, "width_max": 16, "speed": 2.5e9, "speed_max": 16e9}},  # once, as an idle link is
        {"pcie": {"width": 4, "width_max": 16}, "integrated": True},
        {"state": "asleep"},
        {"memory": {"vram": {"total": 100, "used": 90}}},
    ],
)
def test_what_is_not(part) -> None:
    assert told(sample(gpus=[gpu(**part)])) == []


def test_a_short_peak_of_heat_is_no_throttling() -> None:
    calm, hot = sample(), sample(gpus=[gpu(throttle=["temperature"])])
    assert told(calm, calm, hot) == []
    assert told(calm, hot, hot, hot) == ["throttled"]


def test_a_slow_link_counts_while_the_gpu_works() -> None:
    slow = {"speed": 8e9, "speed_max": 16e9}
    assert told(*[sample(gpus=[gpu(pcie=slow, utilisation={"gpu": 0.9})])] * 3) == ["link-narrower-than-card"]
    assert told(*[sample(gpus=[gpu(pcie=slow, utilisation={"gpu": 0.1})])] * 3) == []


def test_memory_that_only_grows() -> None:
    assert told(*over(1200, lambda at: 2**30 + at * 2**20)) == ["memory-leak"]


@pytest.mark.parametrize(
    "memory",
    [
        lambda at: 2**30 + min(at, 300) * 2**22,  # a cache that fills
        lambda at: 2**30 + at % 60 * 2**22,  # a saw
        lambda _at: 2**30,
        lambda at: 2**30 + at * 2**10,  # too little
    ],
)
def test_memory_that_does_not(memory) -> None:
    assert told(*over(1200, memory)) == []


def test_memory_that_grew_for_a_short_time() -> None:
    assert told(*over(300, lambda at: 2**30 + at * 2**22)) == []


def test_a_gpu_that_is_held_and_idle() -> None:
    assert told(*over(400, lambda _at: 2**30, busy=0.0, cpu=0.0)) == ["gpu-asked-for-and-idle"]
    assert told(*over(400, lambda _at: 2**30, busy=0.0, cpu=1.5)) == ["works-on-the-cpu"]
    assert told(*over(200, lambda _at: 2**30, busy=0.0, cpu=1.5)) == []
    assert told(*over(400, lambda _at: 2**20, busy=0.0, cpu=1.5)) == []


def test_history_does_not_grow_without_end() -> None:
    history = History(length=50)
    for number in range(1000):
        history.add(sample(interval=10.0, processes=[process(pid=number)]))
    assert {len(values) for series in history.series.values() for values in series.values()} == {50}
    assert len(history.lives) < 20
    assert LENGTH >= 3600


@pytest.mark.parametrize(
    ("vendor", "part", "way", "command"),
    [
        ("nvidia", {"throttle": ["temperature"]}, "stop the work on the card", "nvidia-smi -q -d POWER"),
        ("amd", {"throttle": ["temperature"]}, "clean fans", "/hwmon/hwmon*/temp*' sh 0000:00:00.0"),
        ("intel", {"throttle": ["external"]}, "power cables", ""),
        ("amd", {"throttle": ["reliability"]}, "Against heat", ""),  # no step holds, so that sentences tell
        (
            "nvidia",
            {"throttle": ["power"], "power": {"limit": 200, "limit_default": 300}},
            "to 300 W",
            "sudo nvidia-smi -i 0000:00:00.0 -pl 300",
        ),
        ("amd", {"throttle": ["power"], "power": {"limit": 200, "limit_default": 300}}, "card's own", "power1_cap_default"),
        ("nvidia", {"errors": {"ecc_uncorrected": 1}}, "reset the GPU", "sudo nvidia-smi --gpu-reset -i 0000:00:00.0"),
        ("amd", {"errors": {"ecc_uncorrected": 1}}, "restart the machine", "sudo systemctl reboot"),
        ("nvidia", {"errors": {"xid": [{"code": 62, "time": 990.0}]}}, "Xid 62", "journalctl -k -b --grep Xid"),
        ("amd", {"pcie": {"width": 4, "width_max": 16}}, "all its lanes", "lspci -vv -s 0000:00:00.0"),
    ],
)
def test_the_first_way_holds_for_that_card(vendor, part, way, command) -> None:
    (finding,) = found(sample(gpus=[gpu(vendor=vendor, **part)]))
    title, commands = first_way(finding)
    assert way in title
    assert command in "\n".join(commands)
    assert bool(commands) == bool(command)
    others = {"nvidia-smi"} if vendor != "nvidia" else {"hwmon"}
    assert not [word for word in others if any(word in line for line in commands)]
    assert bool(finding.mends) != bool(finding.fixes)


def test_a_job_is_ended_by_its_scheduler_and_a_process_looked_at() -> None:
    (of_slurm,) = found(*over(400, lambda _at: 2**30, busy=0.0, cpu=0.0))
    assert first_way(of_slurm)[1] == ["scancel 77"]
    (alone,) = found(*over(400, lambda _at: 2**30, busy=0.0, cpu=0.0, slurm_job=""))
    assert "ps -o" in first_way(alone)[1][0]


def test_in_a_container_what_is_done_to_a_kernel_is_done_at_its_owners() -> None:
    part = gpu(vendor="nvidia", throttle=["power"], power={"limit": 200, "limit_default": 300})
    (inside,) = found(sample(gpus=[part]), surroundings=Surroundings("container"))
    assert inside.fixes[0].steps[0].where == "host-of-container"
    (windows,) = found(sample(gpus=[part]), surroundings=Surroundings(wsl=True))
    assert windows.fixes[0].steps[0].where == "windows-host"
    assert first_way(windows)[1] == ["nvidia-smi -i 0000:00:00.0 -pl 300"]


def test_a_number_of_the_driver_means_the_same_as_its_line_means_to_the_doctor() -> None:
    """One id for one thing: whichever heard of it."""
    for code in range(1, 200):
        line = f"[ 12.5] NVRM: Xid (PCI:0000:01:00): {code}, pid=1234, name=python"
        decided = {row.means for row in _rows(line) if row.means}
        cause, _severity = meaning_of_xid(code)
        assert decided <= {cause}, code
    (lost,) = found(sample(gpus=[gpu(vendor="nvidia", errors={"xid": [{"code": 79, "time": 990.0}]})]))
    assert lost.explains == ["xid"]


def _rows(line: str):
    from rigup.knowledge.doctor_tables import signatures_of

    return signatures_of({symptom.values()["id"] for symptom, _facts in match(Text("kernel", line))})


def test_two_ways_to_know_the_same_are_one_finding() -> None:
    (both,) = found(sample(gpus=[gpu(vendor="nvidia", errors={"xid": [{"code": 63, "time": 990.0}], "ecc_uncorrected": 1})]))
    assert both.severity == "error"
    assert both.explains == ["xid"]
    assert {line.fact for line in both.evidence} == {"errors.xid", "errors.ecc_uncorrected"}


@given(
    st.lists(st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)), max_size=40), st.integers(1, 12), st.integers(0, 15)
)
def test_a_ring_holds_the_last_values_as_a_list_would(values, length, count) -> None:
    ring = Ring(length)
    for value in values:
        ring.append(value)
    kept = values[-length:]
    assert len(ring) == len(kept)
    assert ring.last(count) == (kept[-count:] if count else [])
