"""What of the tests is run, and what stays together: marks that fixtures imply, `--quick`, and groups for pytest-xdist."""

import functools
import os
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import settings

import packs

HERE = Path(__file__).parent
HEAVY = frozenset(
    {"browser", "frameworks", "jupyter", "llm", "long", "packages", "podman", "prometheus", "slow", "slurm", "ssh", "torch", "training"}
)  # `--quick` leaves them out
IMPLIED = {
    "bare": "packages",
    "daemon": "ssh",
    "jupyter_python": "jupyter",
    "slurm_session": "slurm",
    "torch_python": "torch",
}  # by the fixture that a test asks for
MANY, ONE_IN = 8, 10  # of a test with more cases than that, one in so many with `--quick`
LONG = frozenset(
    HERE / folder / f"test_{name}.py"
    for folder, names in {
        ".": "contributing docs messages suite",
        "applying": "persons_work taking",
        "bench": "picture time tokens",
        "cli": "capture commands failing_programs progress hostile_text no_traceback overview run since supervision supervision_memory "
        "supervision_terminal",
        "cluster": "cluster_deep",
        "container": "container_started",
        "diagnosis": "fixes_framework guard guesses kernels_of_releases options_in_commands_that_were_typed",
        "environments": "running staged_swap",
        "fit": "fit_command remote",
        "knowledge": "accounting data text_classifier",
        "llm/hub": "models_on_disk pull",
        "llm/ollama": "ollama_configure ollama_doctor",
        "lab": "lab_container lab_kernels lab_service notebook_magics",
        "machine": "archive capture_replay collect_posix difference hostile_host people_and_logs proofs thinning unanswered",
        "machine/readers": "every_reader_hostile forms_reader listings_cut",
        "machine/reports": "batch_reports report_any_text",
        "plan": "cost next_boot taken",
        "plugins": "plugins",
        "privacy": "attacks planted through_commands",
        "schemas": "answers doctor_answers",
        "steps": "hostile_values",
        "train/advise": "advise_command advise_replay",
        "train/launch": "launch_preflight",
        "train/port": "train_port",
        "verify": "child companions which_python whole_way",
        "watch": "captured_trees_watched live_by_keys live_in_a_terminal nvidia_watched recordings",
    }.items()
    for name in names.split()
)  # files of which `--quick` takes less: a tenth of their cases would take a second and a half, and some ten
ONE_IN_LONG = 40
MANY_ROWS = 100  # of a table that one test goes through
EXAMPLES = 5  # of a property, with `--quick`
WAITED_FOR = ("podman", "slurm")  # groups whose tests take long and mostly wait
WAITING = 2  # workers more than cores: while their tests wait, others have the processor
Row = TypeVar("Row")


_chosen = {"quick": False}  # as the command line has it


def pytest_addoption(parser):
    words = f"leave out what takes long ({', '.join(sorted(HEAVY))}), and try a fixed tenth of many cases"
    parser.addoption("--quick", action="store_true", help=words)


def pytest_configure(config):
    _chosen["quick"] = config.getoption("quick")
    if _chosen["quick"]:
        settings.register_profile("quick", settings(), max_examples=EXAMPLES)
        settings.load_profile("quick")


def pytest_unconfigure(config):
    packs.clean_up()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """A worker for every core that this process may use: a hyperthread too, and no core that a container keeps from it.

    Two more (at most twice as many) where the long tests are run as well: clusters, machines, servers and terminals are
    waited for, which takes no processor. With `--quick` nobody waits for long, and each worker collects all tests anew.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores if config.getoption("quick") else cores + min(cores, WAITING)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    for item in items:
        for mark in {IMPLIED[name] for name in item.fixturenames if name in IMPLIED}:
            item.add_marker(mark)
    if config.getoption("quick"):
        keep_quick(config, items)
    items.sort(key=turn)  # stable: within a turn they stay as pytest-randomly shuffled them


def few(rows: list[Row], name: Callable[[Row], str], many: int = MANY_ROWS) -> list[Row]:
    """All rows; with `--quick`, of more than `many` a tenth: the same each time, chosen by their names."""
    thinned = _chosen["quick"] and len(rows) > many
    return [row for row in rows if not (thinned and is_thinned(name(row)))]


def is_thinned(name: str, one_in: int = ONE_IN) -> bool:
    """Whether it is one of the nine in ten that `--quick` leaves out."""
    return bool(zlib.crc32(name.encode()) % one_in)


def keep_quick(config, items) -> None:
    """Leave out what takes long, and of a test with many cases all but a tenth: the same each time, chosen by their names."""
    count = Counter((item.path, item.originalname) for item in items)
    kept, left_out = [], []
    for item in items:
        heavy = HEAVY & {mark.name for mark in item.iter_markers()}
        many = count[item.path, item.originalname] > MANY
        thinned = is_thinned(item.name, ONE_IN_LONG) if item.path in LONG else many and is_thinned(item.name)
        itself = item.get_closest_marker("thinned")  # its rows are thinned
        (left_out if heavy or (thinned and not itself) else kept).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left_out)


def turn(item) -> int:
    """What takes longest begins first, so that no worker is left alone with it at the end."""
    group = group_of(item.path)
    heavy = HEAVY & {mark.name for mark in item.iter_markers()}
    return 0 if group.startswith(WAITED_FOR) else 1 if group or heavy else 2


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable():
    """What a worker tells is sent as UTF-8: names that are none, as tests of such make them, are written out."""
    return written_out((yield))


def written_out(told):
    """The same data, whose texts every encoding can hold."""
    if isinstance(told, str):
        return told.encode("utf-8", "backslashreplace").decode()
    if isinstance(told, dict):
        return {written_out(name): written_out(value) for name, value in told.items()}
    if isinstance(told, (list, tuple)):
        return type(told)(map(written_out, told))
    return told


# -- pytest-xdist ----------------------------------------------------------------------------------------


@functools.cache
def group_of(file: Path) -> str:
    """Tests of one group run in one worker, so that what they share is made once; "" for a file that shares nothing.

    The process that shares tests out knows their names alone, so a group is known by the file.
    """
    text = file.read_text(encoding="utf-8")
    own = 'scope="module"' in text
    if "pytest.mark.podman" in text:  # whole machines are of one store, other files have stores of their own
        return f"podman {file}" if own or "privileged" not in file.parts else "podman machines"
    if "pytest.mark.slurm" in text:  # a cluster for each half
        return "slurm for training" if "train" in file.parts else "slurm"
    if "cli" in file.parts and "host-memory-exhausted" in text:  # real kills, in the one log of the kernel
        return "kills for memory"
    return str(file) if own else ""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Share out by load, but files of a group as one; xdist's own marks of groups are lost with pytest 9.2."""
    if config.getoption("dist") != "load":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Groups(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return group_of(config.rootpath / nodeid.partition("::")[0]) or nodeid

    config.option.loadscopereorder = False  # they come in the order of their turns
    return Groups(config, log)
