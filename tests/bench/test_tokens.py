"""Tokens a second: what `llama-bench` tells is read, and the model that it is given is one that llama.cpp would take."""

import importlib
import importlib.util
import io
import json
import os
import shutil
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from rigup.bench.bench import _PROBE
from rigup.cli import main
from rigup.verify.child import PROBE

ROW = {
    "build_commit": "8cf427ff",
    "cpu_info": "A Processor",
    "gpu_info": "A Card",
    "backends": "CUDA",
    "model_type": "llama 7B Q4_0",
    "model_size": 3825065984,
    "n_threads": 8,
    "n_prompt": 512,
    "n_gen": 0,
    "avg_ts": 7100.0,
    "samples_ts": [6863.1, 7147.55],
}
DEVICES = """ggml_cuda_init: found 1 CUDA devices:
  Device 0: A Card, compute capability 8.9, VMM: yes
Available devices:
  CUDA0: A Card (24000 MiB, 23500 MiB free)
  Vulkan1: AMD Radeon Graphics (RADV) (16000 MiB, 15000 MiB free)
"""


@pytest.fixture(scope="module")
def modules() -> Iterator[None]:
    """The probes' own modules, as they know each other."""
    sys.path[:0] = [str(_PROBE), str(PROBE)]
    spec = importlib.util.spec_from_file_location("rigup_probe", PROBE / "__main__.py")
    assert spec is not None
    assert spec.loader is not None
    sys.modules["rigup_probe"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["rigup_probe"])
    yield
    del sys.path[:2], sys.modules["rigup_probe"]


@pytest.fixture
def tool(modules: None) -> Any:
    """What reads `llama-bench`."""
    return importlib.import_module("rigup_bench_llama_tool")


@pytest.fixture
def gguf(modules: None) -> Any:
    """What writes models."""
    return importlib.import_module("rigup_probe_gguf")


@pytest.fixture
def bench(modules: None) -> Any:
    """What measures tokens."""
    return importlib.import_module("rigup_bench_llama")


def test_rates_are_read_with_each_go_and_the_models_name(tool: Any) -> None:
    rates = tool.rates(json.dumps([ROW, {**ROW, "n_prompt": 0, "n_gen": 128, "samples_ts": [119.0, 120.0]}]))
    assert rates == {"model": "llama 7B Q4_0", "prefill": [6863.1, 7147.55], "decode": [119.0, 120.0]}


def test_the_mean_serves_where_no_goes_are_told(tool: Any) -> None:
    rates = tool.rates(json.dumps([{name: value for name, value in ROW.items() if name != "samples_ts"}]))
    assert rates["prefill"] == [7100.0]


def test_a_go_that_reads_and_writes_is_neither(tool: Any) -> None:
    rates = tool.rates(json.dumps([{**ROW, "n_gen": 128}]))
    assert (rates["prefill"], rates["decode"]) == ([], [])


@given(
    st.one_of(
        st.text(max_size=300),
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.integers() | st.sampled_from(["n_prompt", "samples_ts"]),
            lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from([*ROW]), inner, max_size=4),
            max_leaves=12,
        ).map(json.dumps),
    )
)
def test_whatever_it_says_is_rates_or_nothing(output: str) -> None:
    sys.path[:0] = [str(_PROBE), str(PROBE)]
    tool = importlib.import_module("rigup_bench_llama_tool")
    for rates in (tool.rates(output), tool.rates(f"[{output}]")):
        assert all(isinstance(rate, float) and 0 < rate < float("inf") for rate in rates["prefill"] + rates["decode"])
    assert all(device["id"] and device["type"] == "gpu" for device in tool.listed(output))
    del sys.path[:2]


def test_devices_are_listed_with_their_makers(tool: Any) -> None:
    devices = [(device["id"], device["name"], device["name_there"], device["vendor"]) for device in tool.listed(DEVICES)]
    assert devices == [("cuda0", "A Card", "CUDA0", "nvidia"), ("vulkan1", "AMD Radeon Graphics (RADV)", "Vulkan1", "amd")]
    assert tool.listed("Available devices:\n  (none)\n") == []


def test_a_model_says_what_it_holds_and_has_its_size(gguf: Any, bench: Any) -> None:
    shape = gguf.Shape(width=64, heads=2, layers=1, inner=96, vocabulary=300, context=128)
    parts = [bench._part(name, *sizes) for name, sizes in gguf.matrices(shape).items()]
    out = io.BytesIO()
    gguf.write(out, shape, parts)
    body = out.getvalue()
    magic, version, tensors, facts = struct.unpack_from("<4sIQQ", body)
    assert (magic, version, tensors) == (b"GGUF", 3, len(parts))
    assert facts > 10
    weights = sum(rows * columns for rows, columns in gguf.matrices(shape).values() if rows > 1)
    assert sum(part.size for part in parts if part.kind == gguf.Q4_0) == weights // 32 * 18
    assert all(len(part.made()) == part.size for part in parts)
    assert len(body) % 32 == 0


def test_fewer_tokens_are_read_and_written_where_a_go_would_take_all_the_time(bench: Any) -> None:
    assert bench._sizes((10000.0, 1000.0), 4.0) == (512, 64)
    read, written = bench._sizes((30.0, 3.0), 4.0)
    assert (read, written) == (32, 8)


@pytest.fixture
def tool_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program of that name, which answers as llama-bench's documentation shows."""
    if os.name != "posix":
        pytest.skip("the program is a script")
    row = json.dumps(ROW)
    (tmp_path / "llama-bench").write_text(
        f"#!{sys.executable}\nimport json, sys\nrow = json.loads({row!r})\n"
        "open(sys.argv[0] + '.log', 'a').write(' '.join(sys.argv[1:]) + chr(10))\n"
        "if '--list-devices' in sys.argv:\n    sys.exit(print('Available devices:'))\n"
        "if 'none' in sys.argv:\n    sys.exit('error: invalid parameter for argument: -dev')\n"
        "print(json.dumps([row, dict(row, n_prompt=0, n_gen=64, samples_ts=[100.0, 102.0])]))\n"
    )
    (tmp_path / "llama-bench").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


def test_an_environment_without_either_is_measured_by_the_program_on_the_path(tool_on_path: Path) -> None:
    import venv

    venv.create(tool_on_path / "e", with_pip=False)
    done = CliRunner().invoke(main, ["bench", str(tool_on_path / "e"), "--json"])
    answer = json.loads(done.stdout)
    results = {result["name"]: result for result in answer["devices"][0]["results"]}
    assert results["prefill"]["best"] == 7147.55
    assert results["decode"]["median"] == 101.0
    assert results["decode"]["type"] == "171M Q4_0"


@pytest.mark.long
def test_a_model_of_ones_own_is_called_as_llama_cpp_calls_it(tool_on_path: Path) -> None:
    import venv

    venv.create(tool_on_path / "e", with_pip=False)
    (tool_on_path / "mine.gguf").write_bytes(b"GGUF")
    words = ["bench", str(tool_on_path / "e"), "--model", str(tool_on_path / "mine.gguf"), "--json"]
    answer = json.loads(CliRunner().invoke(main, words).stdout)
    assert {result["type"] for result in answer["devices"][0]["results"]} == {"llama 7B Q4_0"}
    asked = (tool_on_path / "llama-bench.log").read_text()
    assert str(tool_on_path / "mine.gguf") in asked


@pytest.mark.skipif(not shutil.which("llama-bench"), reason="llama.cpp's own program is not on the path")
def test_the_real_program_measures_the_model_that_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import venv

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    venv.create(tmp_path / "e", with_pip=False)
    answer = json.loads(CliRunner().invoke(main, ["bench", str(tmp_path / "e"), "--devices", "cpu", "--json"]).stdout)
    assert {result["name"] for result in answer["devices"][0]["results"]} == {"prefill", "decode"}
    assert all(result["median"] > 0 for result in answer["devices"][0]["results"])


LLAMA = os.environ.get("RIGUP_LLAMA_PYTHON") or os.environ.get("RIGUP_FRAMEWORKS_PYTHON")


@pytest.mark.skipif(not LLAMA, reason="no variable names a Python with llama.cpp: RIGUP_LLAMA_PYTHON")
@pytest.mark.slow
def test_a_pythons_own_llama_cpp_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    words = ["bench", str(LLAMA), "--devices", "cpu", "--only", "tokens", "--json"]
    answer = json.loads(CliRunner().invoke(main, words).stdout)
    assert {result["name"] for result in answer["devices"][0]["results"]} == {"prefill", "decode"}
