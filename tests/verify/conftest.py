"""An interpreter with torch, for the tests that measure."""

import importlib.util
import os
import sys

import pytest


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Threads of a probe that wait for each other spin: beside other tests that takes more than it gives."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        yield


@pytest.fixture(scope="session")
def torch_python():
    """This interpreter, or the one that RIGUP_TORCH_PYTHON names."""
    named = os.environ.get("RIGUP_TORCH_PYTHON")
    if named is None and importlib.util.find_spec("torch") is None:
        pytest.skip("no torch here, and RIGUP_TORCH_PYTHON names no interpreter that has it")
    return named or sys.executable


@pytest.fixture(scope="session")
def jax_variables(tmp_path_factory) -> dict[str, str]:
    """For JAX on the processor: what one test had compiled is kept for the others, for most of its time is XLA's."""
    base = tmp_path_factory.getbasetemp()
    kept = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "compiled-by-xla"
    return {
        "JAX_PLATFORMS": "cpu",
        "JAX_COMPILATION_CACHE_DIR": str(kept),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }
