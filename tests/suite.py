"""What of the tests is run, and what stays together: marks that fixtures imply, `--quick`, and groups for pytest-xdist."""

import os
import zlib

import pytest
from hypothesis import settings

HEAVY = frozenset({"browser", "packages", "podman", "slow", "ssh", "torch"})  # `--quick` leaves them out
IMPLIED = {"bare": "packages", "daemon": "ssh", "torch_python": "torch"}  # by the fixture that a test asks for
ONE_IN = 10  # of the cases, with `--quick`
EXAMPLES = 10  # of a property, with `--quick`


def pytest_addoption(parser):
    words = f"leave out what takes long ({', '.join(sorted(HEAVY))}), and try a fixed tenth of the cases"
    parser.addoption("--quick", action="store_true", help=words)


def pytest_configure(config):
    if config.getoption("quick"):
        settings.register_profile("quick", settings.get_profile("patient"), max_examples=EXAMPLES)
        settings.load_profile("quick")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """Every core that this process may use: a hyperthread too, and no core that a container keeps from it."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    for item in items:
        for mark in {IMPLIED[name] for name in item.fixturenames if name in IMPLIED}:
            item.add_marker(mark)
        if group := group_of(item):
            item.add_marker(pytest.mark.xdist_group(group))
    if config.getoption("quick"):
        kept = [item for item in items if is_quick(item)]
        config.hook.pytest_deselected(items=[item for item in items if not is_quick(item)])
        items[:] = kept
    items.sort(key=turn)  # stable: within a turn they stay as pytest-randomly shuffled them


def is_quick(item) -> bool:
    """Whether `--quick` runs a test: none that takes long, and of the cases those whose names' sum says so."""
    if HEAVY & {mark.name for mark in item.iter_markers()}:
        return False
    return item.path.name != "test_cases.py" or "[" not in item.name or zlib.crc32(item.name.encode()) % ONE_IN == 0


def group_of(item) -> str:
    """Tests of one group run in one worker, so that what they share is made once; "" for a test that shares nothing."""
    if item.get_closest_marker("podman"):
        return "podman"  # machines of one name and one store
    file = item.nodeid.partition("::")[0]
    shared = [
        made
        for name in item.fixturenames
        for made in item._fixtureinfo.name2fixturedefs.get(name, ())
        if made.scope == "module" and made.baseid == file
    ]
    return file if shared else ""


def turn(item) -> int:
    """What takes longest begins first, so that no worker is left alone with it at the end."""
    marks = {mark.name for mark in item.iter_markers()}
    return 0 if "podman" in marks else 1 if marks & HEAVY or "xdist_group" in marks else 2
