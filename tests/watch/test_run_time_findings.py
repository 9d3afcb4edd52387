"""What is told of samples, and where nothing is."""

import pytest
from watch_samples import gpu, process, sample

from rigup.watch.finding_texts import TEXTS
from rigup.watch.findings import RULES, findings
from rigup.watch.history import LENGTH, History


def told(*samples) -> list[str]:
    history = History()
    for each in samples:
        history.add(each)
    return [finding.cause for finding in findings(history)]


def over(seconds: int, memory, **parts):
    """Samples ten seconds apart; `memory` gives a process's bytes at a time."""
    return [
        sample(
            interval=10.0,
            processes=[process(memory(at), **parts)],
            gpus=[gpu(utilisation={"gpu": parts.get("busy", 0.5)})],
        )
        for at in range(0, seconds, 10)
    ]


def test_each_rule_has_a_text_and_each_text_a_rule() -> None:
    assert set(RULES) == set(TEXTS)


def test_a_healthy_gpu_is_silent() -> None:
    assert told(*[sample(processes=[process()])] * 5) == []


@pytest.mark.parametrize(
    ("part", "cause"),
    [
        ({"throttle": ["temperature"]}, "throttled"),
        ({"throttle": ["power"], "power": {"draw": 200, "limit": 200, "limit_default": 300}}, "power-limit-lowered"),
        ({"state": "lost", "because": "GPU is lost"}, "gpu-lost"),
        ({"errors": {"xid": [{"code": 79, "time": 1.0}]}}, "xid"),
        ({"errors": {"ecc_uncorrected": 1}}, "memory-errors"),
        ({"errors": {"remap_pending": True}}, "memory-remap-pending"),
        ({"pcie": {"width": 4, "width_max": 16}}, "link-narrower-than-card"),
        ({"memory": {"vram": {"total": 100, "used": 90, "reserved": 9}}}, "memory-almost-full"),
    ],
)
def test_what_is_wrong_with_a_gpu(part, cause) -> None:
    assert told(sample(gpus=[gpu(**part)])) == [cause]


@pytest.mark.parametrize(
    "part",
    [
        {
            "throttle": ["power"],
            "power": {"draw": 300, "limit": 300, "limit_default": 300},
        },  # every GPU that works arrives there
        {"throttle": ["sync"]},
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
