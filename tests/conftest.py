"""What all tests share: the reference material, where a checkout has it, and a quick doctor."""

import gettext
import itertools
import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from slurm_cluster import slurm, slurm_session
from suite import (
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_report_to_serializable,
    pytest_unconfigure,
    pytest_xdist_auto_num_workers,
    pytest_xdist_make_scheduler,
)
from tiny_environments import bare, made, wheels

__all__ = ["bare", "made", "slurm", "slurm_session", "wheels"]
__all__ += ["pytest_addoption", "pytest_collection_modifyitems", "pytest_configure", "pytest_unconfigure"]
__all__ += ["pytest_report_to_serializable", "pytest_xdist_auto_num_workers", "pytest_xdist_make_scheduler"]

# A busy machine is no fault: no test asserts on wall time, those of properties neither.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

# Whoever starts us in the background may have us ignore these, and programs that tests start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
for name in ("SIGHUP", "SIGQUIT"):
    if hasattr(signal, name):
        signal.signal(getattr(signal, name), signal.SIG_DFL)

_numbers = itertools.count()
SHARED = Path(__file__).parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The reference material beside the checkout; a plain clone lacks it."""
    if not SHARED.is_dir():
        pytest.skip("the reference material is not beside this checkout")
    return SHARED


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch, tmp_path_factory):
    """No test depends on the person's language, folders or terminal."""
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("NO_COLOR", "1")
    # A test's own: what `rigup verify` found in one test is told by the doctor, and must not be by that of another.
    own = tmp_path_factory.getbasetemp() / "homes" / str(next(_numbers))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(own / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(own / "state"))
    monkeypatch.setenv("RIGUP_NO_RESOLVE", "1")  # no index is asked but by tests of that, which have their own
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
    assert "RIGUP_TEST" not in os.environ
    yield
    from rigup import language

    language._say, language._chosen = None, ""
    os.environ.pop("LANGUAGE", None)
    gettext.textdomain("messages")
