"""The look: side by side, isolated, time-boxed; every look on record."""

import time

import pytest

from rigup.machine import look as looking
from rigup.machine import (
    order,
    readers,  # noqa: F401
)
from rigup.machine.facts import Place
from rigup.machine.host import Answer
from rigup.machine.kinds import Torch, Variable
from rigup.machine.look import look
from rigup.machine.reader import DERIVED, READERS, File, Reader, Run, derives
from rigup.machine.sources import Source
from rigup.machine.texts import Text


class Made:
    """A host made of a few answers; counts what it is asked."""

    def __init__(self, files=None, programs=None):
        self.files, self.programs, self.asked = files or {}, programs or {}, []

    def find(self, pattern):
        return [path for path in self.files if path.startswith(pattern.split("*")[0])]

    def read(self, path, limit=0):
        self.asked.append(path)
        return Answer(self.files[path]) if path in self.files else Answer(None, "absent")

    def run(self, argv, seconds=0):
        self.asked.append(argv)
        return self.programs.get(argv, Answer(None, "absent"))

    def link(self, path):
        return Answer(None, "absent")

    def listing(self, pattern):
        return Answer(None, "absent")

    def variables(self):
        return Answer(None, "unseen")

    account = variables

    def recorded(self):
        return []


@pytest.fixture
def only(monkeypatch):
    """A look with these readers and no others."""

    def use(*given):
        monkeypatch.setattr(looking, "READERS", {reader.name: reader for reader in given})
        monkeypatch.setattr(looking, "DERIVED", {})

    return use


def reader(name, read, *inputs, about=(Variable,), marks=()):
    return Reader(name, about, read, inputs, marks, "", False, Place(), 1)


def states(text: Text):
    for hit in text.each(r"(?P<name>\w+)=(?P<value>\w+)"):
        yield hit.states(Variable, **hit.found())


def fails(text: Text):
    yield from states(text)
    raise ZeroDivisionError("nonsense")


def hangs(text: Text):
    time.sleep(30)
    yield from states(text)


def test_a_reader_that_fails_costs_its_own_facts_only(only):
    only(reader("good", states, File("/a")), reader("bad", fails, File("/b")))
    facts = look([Source(Place(), Made({"/a": "X=1", "/b": "Y=2"}))])
    assert [v.name for v in facts.of(Variable)] == ["X"]
    assert facts.troubles == ["bad: ZeroDivisionError: nonsense"]


def test_a_reader_that_hangs_is_given_up(only, monkeypatch):
    monkeypatch.setattr(looking, "_SLACK", 0.2)
    only(reader("good", states, File("/a")), reader("slow", hangs, File("/a")))
    facts = look([Source(Place(), Made({"/a": "X=1"}))])
    assert [v.name for v in facts.of(Variable)] == ["X"]
    assert facts.troubles == ["slow: no answer in time"]


def test_to_find_nothing_is_a_whole_look_and_to_be_refused_is_none(only):
    only(reader("file", states, File("/a")), reader("tool", states, Run(("tool",)), about=(Torch,)))
    facts = look([Source(Place(), Made(programs={("tool",): Answer(None, "refused", "no answer")}))])
    assert {(seen.kind, seen.coverage) for seen in facts.looks} == {(Variable, "whole"), (Torch, "refused")}


def test_a_program_that_failed_and_said_nothing_known_is_no_look(only):
    only(reader("tool", states, Run(("tool",))))
    facts = look([Source(Place(), Made(programs={("tool",): Answer("no permission", exit=1)}))])
    assert [seen.coverage for seen in facts.looks] == ["refused"]


def test_a_path_out_of_a_fact_makes_a_second_wave(only):
    def environment(text):
        for hit in text.each(r"prefix=(?P<env>\S+)"):
            yield hit.states(Torch, env=hit["env"])

    second = reader("second", states, File("{Torch.env}/version"))
    only(second, reader("first", environment, File("/conf"), about=(Torch,)))
    host = Made({"/conf": "prefix=/venv", "/venv/version": "V=2"})
    facts = look([Source(Place(), host)])
    assert [v.name for v in facts.of(Variable)] == ["V"]


def test_sleeping_cards_are_not_woken(only):
    def bus(text):
        from rigup.machine.kinds import PciDevice

        for hit in text.each(r"power (?P<power>\w+)"):
            yield hit.states(PciDevice, address="0000:01:00.0", vendor_id="10de", power=hit["power"])

    from rigup.machine.kinds import PciDevice

    host = Made({"/bus": "power suspended"}, {("vendor-tool",): Answer("X=1")})
    only(reader("bus", bus, File("/bus"), about=(PciDevice,)), reader("tool", states, Run(("vendor-tool",), wakes="10de")))
    assert not look([Source(Place(), host)]).of(Variable)
    assert ("vendor-tool",) not in host.asked
    assert look([Source(Place(), host)], wake=True).of(Variable)


def test_a_pasted_text_is_known_by_its_marks(only):
    only(reader("marked", states, marks=("NVRM version:",)))
    texts = (Text("a", "NVRM version:\nX=1"), Text("b", "Y=2"))
    assert [v.name for v in look([Source(Place(), None, texts)]).of(Variable)] == ["X"]


def test_every_real_reader_tells_what_would_have_to_be_read():
    assert all(made.makes for made in READERS.values())


def test_the_real_graph_has_no_circle():
    import graphlib

    assert list(graphlib.TopologicalSorter(order.graph(tuple(READERS.values()), tuple(DERIVED.values()))).static_order())


def test_a_derivation_that_fails_costs_itself_only(only, monkeypatch):
    only(reader("good", states, File("/a")))

    def broken(variable: Variable):
        yield variable
        raise ValueError(variable.name)

    derives(Torch)(broken)
    monkeypatch.setattr(looking, "DERIVED", {"broken": DERIVED.pop("broken")})
    facts = look([Source(Place(), Made({"/a": "X=1"}))])
    assert facts.troubles == ["broken: ValueError: X"]
