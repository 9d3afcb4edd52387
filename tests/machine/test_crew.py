"""Who does the reading: jobs in a row, a late one given up, those behind it done all the same."""

import threading

from rigup.machine.worker_pool import WorkerPool


def all_of(crew):
    told = {}
    while crew.busy:
        told |= {done.name: done for done in crew.finished()}
    crew.dismiss()
    return told


def test_every_job_comes_back_with_its_value():
    crew = WorkerPool()
    for number in range(50):
        crew.give(str(number), lambda number=number: number * 2, 30.0, alone=number % 10 == 0)
    assert {name: done.value for name, done in all_of(crew).items()} == {str(n): n * 2 for n in range(50)}


def test_a_job_that_raises_tells_what_went_wrong():
    crew = WorkerPool()
    crew.give("bad", lambda: 1 / 0, 30.0, alone=False)
    crew.give("good", lambda: "fine", 30.0, alone=False)
    told = all_of(crew)
    assert told["bad"].trouble.startswith("ZeroDivisionError")
    assert told["good"].value == "fine"


def test_what_stands_behind_a_job_that_hangs_is_done_by_another():
    crew, never = WorkerPool(), threading.Event()
    crew.give("hangs", never.wait, 0.1, alone=False)
    for name in ("second", "third"):
        crew.give(name, lambda name=name: name, 30.0, alone=False)
    told = all_of(crew)
    never.set()
    assert told["hangs"].trouble == "no answer in time"
    assert (told["second"].value, told["third"].value) == ("second", "third")


def test_what_a_late_job_says_at_last_is_not_taken_for_anothers():
    crew, go = WorkerPool(), threading.Event()
    crew.give("late", lambda: go.wait(30) and "late", 0.05, alone=True)
    assert [done.trouble for done in crew.finished()] == ["no answer in time"]
    crew.give("next", lambda: go.set() or "next", 30.0, alone=False)
    assert {name: done.value for name, done in all_of(crew).items()} == {"next": "next"}


def test_a_second_wave_is_served_too():
    crew = WorkerPool()
    for wave in ("one", "two"):
        crew.give(wave, lambda wave=wave: wave, 30.0, alone=False)
        assert [done.value for done in crew.finished()] == [wave]
    crew.dismiss()
