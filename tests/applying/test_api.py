"""rigup as a library: typed answers and errors, nothing printed, nobody asked."""

import os

import pytest
from small_wheels import wheel
from small_world import World

from rigup import api
from rigup.schemas.apply import ApplyEnded, ApplyNothing
from rigup.schemas.doctor import Doctor
from rigup.schemas.explain import Explain
from rigup.schemas.plan import Plan

CARD = "RTX 4070, driver 570.86.15, ubuntu 24.04, python 3.12"


@pytest.fixture
def here(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """This process stands in the world: its folder, its journal, and no index."""
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    settings = {
        "XDG_STATE_HOME": str(world.state),
        "XDG_CONFIG_HOME": str(world.state / "config"),
        "PIP_NO_INDEX": "1",
        "HOME": str(world.state.parent / "home"),
        "PIP_CONFIG_FILE": os.devnull,
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(world.files)
    return world


def test_the_doctor_answers_by_its_type_of_a_text(tmp_path) -> None:
    log = tmp_path / "log.txt"
    log.write_text("RuntimeError: CUDA error: no kernel image is available for execution on the device\n")
    told = api.doctor(str(log))
    assert isinstance(told, Doctor)
    assert told.findings


def test_what_cannot_be_read_is_a_request_error(tmp_path) -> None:
    with pytest.raises(api.RequestError, match=r"nowhere\.txt"):
        api.doctor(str(tmp_path / "nowhere.txt"))


def test_a_plan_for_a_machine_in_words(capsys) -> None:
    told = api.plan("torch", machine=CARD, resolve=False)
    assert isinstance(told, Plan)
    assert told.verdict == "possible"
    assert "torch" in told.packages
    assert capsys.readouterr() == ("", "")


def test_a_machine_that_lacks_something_is_asked_back() -> None:
    with pytest.raises(api.UnclearMachineError):
        api.plan("torch", machine="a toaster")


@pytest.mark.parametrize("request_", [{"python": "three"}, {"files": ("no-such-file.txt",)}])
def test_a_request_that_cannot_be_understood(request_) -> None:
    with pytest.raises(api.RequestError):
        api.plan("torch", machine=CARD, resolve=False, **request_)


def test_a_cause_and_a_message_are_explained() -> None:
    told = api.explain("cpu-only-torch")
    assert isinstance(told, Explain)
    assert [cause.cause for cause in told.causes] == ["cpu-only-torch"]
    assert told.causes[0].meaning
    assert len(api.explain().causes) > 50
    assert api.explain("zzzz qqqq").causes == []


@pytest.mark.usefixtures("here")
def test_nothing_to_take_back_cannot_be_done() -> None:
    with pytest.raises(api.CannotBeDoneError, match="rigup history"):
        api.undo()
    with pytest.raises(api.RequestError):
        api.undo(7)


@pytest.mark.packages
def test_a_wish_is_made_so_and_taken_back(here: World, monkeypatch, capsys) -> None:
    folder = here.state.parent / "wheels"
    folder.mkdir()
    wheel(folder, "torch", "2.6.0+cpu")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    done = api.apply("torch==2.6.0")
    assert isinstance(done, ApplyEnded)
    assert (done.verdict, done.number) == ("finished", 1)
    assert (here.files / ".venv" / "pyvenv.cfg").is_file()
    again = api.apply("torch==2.6.0")
    assert isinstance(again, ApplyNothing)
    assert again.verdict == "ready"
    assert api.undo(done.number).verdict == "taken-back"
    assert not (here.files / ".venv").exists()
    assert capsys.readouterr() == ("", "")


@pytest.mark.packages
def test_what_lies_in_the_way_is_left(here: World, monkeypatch) -> None:
    folder = here.state.parent / "wheels"
    folder.mkdir()
    wheel(folder, "torch", "2.6.0+cpu")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    place = here.files / "mine"
    place.mkdir()
    (place / "notes.txt").write_text("mine")
    with pytest.raises(api.RequestError, match="mine is there already"):
        api.apply("torch==2.6.0", environment=str(place))
    assert (place / "notes.txt").read_text() == "mine"
