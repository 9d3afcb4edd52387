"""Tasks that hang, fail and come back."""

import threading

from rigup.watch.rates import Rates
from rigup.watch.rounds import Rounds


def test_all_are_done_in_order() -> None:
    done: list[int] = []
    assert Rounds(5).run([(str(number), lambda number=number: done.append(number)) for number in range(20)]) == {}
    assert done == list(range(20))


def test_one_that_fails_costs_itself_only() -> None:
    done: list[str] = []

    def fail() -> None:
        raise ValueError("broken")

    failed = Rounds(5).run([("a", lambda: done.append("a")), ("b", fail), ("c", lambda: done.append("c"))])
    assert failed == {"b": "ValueError: broken"}
    assert done == ["a", "c"]


def test_one_that_hangs_is_left_behind_until_it_ends() -> None:
    wait, done = threading.Event(), threading.Event()
    rounds = Rounds(0.05)
    calls: list[str] = []

    def hang() -> None:
        calls.append("hang")
        wait.wait(20)
        done.set()

    tasks = [("a", lambda: calls.append("a")), ("slow", hang), ("c", lambda: calls.append("c"))]
    assert rounds.run(tasks) == {"slow": "no answer"}
    assert calls == ["a", "hang", "c"]
    assert rounds.run(tasks) == {"slow": "no answer"}
    assert calls == ["a", "hang", "c", "a", "c"]
    wait.set()
    assert done.wait(20)
    rounds._hanging["slow"].wait(20)
    rounds.run(tasks)
    assert calls[-3:] == ["a", "hang", "c"]


def test_a_counter_that_wraps_where_its_width_is_known() -> None:
    rates = Rates()
    assert rates.per_second("x", 2**32 - 10, 1.0, 32) is None
    rates.next()
    assert rates.per_second("x", 20, 2.0, 32) == 30


def test_a_counter_that_was_reset_has_no_rate_once() -> None:
    rates = Rates()
    found = []
    for count, now in ((100, 1.0), (50, 2.0), (60, 3.0), (60, 3.0)):
        found.append(rates.per_second("x", count, now))
        rates.next()
    assert found == [None, None, 10, None]
