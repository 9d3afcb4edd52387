"""The real llama.cpp plans models that are made here, and the closed forms are set beside it."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import ggufs
import pytest
from click.testing import CliRunner

from rigup.cli import main
from rigup.fit.engine import planned_by_engine
from rigup.fit.judge import of_file
from rigup.fit.plan import planned
from rigup.fit.pools import Pool
from rigup.fit.request import Request

pytestmark = pytest.mark.frameworks
MIB = 1 << 20
_RAM = Pool(name="RAM", kind="ram", backend="cpu", total=64 << 30, free=60 << 30)
_ASKED = [
    {},
    {"context": 32768, "flash_attn": False},
    {"ubatch": 2048},
    {"parallel": 4, "context": 16384},
    {"parallel": 4, "context": 16384, "kv_unified": True},
    {"kv_type_k": "q8_0", "kv_type_v": "q8_0"},
    {"outputs": 1},
    {"swa_whole": True},
]


@pytest.fixture(scope="module")
def python() -> str:
    """The interpreter that RIGUP_FRAMEWORKS_PYTHON names, or this one."""
    named = os.environ.get("RIGUP_FRAMEWORKS_PYTHON")
    if not named and importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("no xllamacpp here, and RIGUP_FRAMEWORKS_PYTHON names no interpreter that has it")
    return named or sys.executable


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    made = {"llama": ggufs.llama(layers=4), "sliding": ggufs.sliding(layers=12), "experts": ggufs.experts(layers=3)}
    return {name: ggufs.write(folder / f"{name}.gguf", *parts) for name, parts in made.items()}


@pytest.mark.parametrize("asked", _ASKED, ids=str)
@pytest.mark.parametrize("kind", ["llama", "sliding", "experts"])
def test_the_closed_forms_are_what_the_engine_plans(python: str, files: dict[str, Path], kind: str, asked: dict) -> None:
    request = Request(**asked)
    told = planned_by_engine(files[kind], request, python)
    assert told is not None
    part = planned(of_file(files[kind]).model, request, [_RAM]).sum
    assert part.kv / MIB == pytest.approx(told.kv / MIB, abs=0.02)
    assert part.output / MIB == pytest.approx(told.output / MIB, abs=0.02)
    # Its newer releases also keep room for what is no token (a batch's embeddings and masks), and hold it to the end.
    model = of_file(files[kind]).model
    extra = 4 * request.tokens * (4 * model.width + request.cells + request.window_cells(model.window))
    assert -0.02 * MIB < told.compute - part.compute < extra + MIB


def test_the_answer_says_that_the_engine_planned_it_and_which(python: str, files: dict[str, Path]) -> None:
    words = ["fit", str(files["llama"]), "--on", "cpu", "--engine-python", python, "--json"]
    told = json.loads(CliRunner().invoke(main, words, standalone_mode=False).output)
    assert told["exact"] is True
    assert "xllamacpp" in told["runtime"]


def test_a_model_that_the_engine_refuses_is_reckoned(python: str, tmp_path: Path) -> None:
    keys, tensors = ggufs.llama(layers=2)
    keys["llama.attention.layer_norm_rms_epsilon"] = "none"
    path = ggufs.write(tmp_path / "odd.gguf", keys, tensors)
    assert planned_by_engine(path, Request(), python) is None


def test_an_interpreter_without_an_engine_is_no_fault(files: dict[str, Path]) -> None:
    assert planned_by_engine(files["llama"], Request(), "/nowhere/python") is None


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Small models whose weights are random numbers."""
    folder = tmp_path_factory.mktemp("filled")
    made = {
        "llama": ggufs.llama(width=512, layers=6, heads=8, shared=4, inner=1536, words=8000, length=64),
        "sliding": ggufs.sliding(layers=6, width=256, heads=4, inner=512, words=4000, length=64, window=512),
        "experts": ggufs.experts(width=512, layers=3, heads=8, shared=2, inner=256, words=8000, length=64, count=16, used=4),
    }
    return {name: ggufs.write_filled(folder / f"{name}.gguf", *parts) for name, parts in made.items()}


@pytest.mark.slow
@pytest.mark.parametrize("asked", [(2048, 512, 1, 1), (4096, 256, 0, 1), (2048, 512, 0, 0)])
@pytest.mark.parametrize("kind", ["llama", "sliding", "experts"])
def test_a_real_load_takes_no_more_than_was_reckoned(
    python: str, filled: dict[str, Path], kind: str, asked: tuple[int, int, int, int]
) -> None:
    context, ubatch, outputs, flash = asked
    script = Path(__file__).with_name("real_load.py")
    done = subprocess.run(
        [python, "-I", str(script), str(filled[kind]), *map(str, asked), "512"], capture_output=True, text=True, check=True, timeout=120
    )
    _word, answer, peak = done.stdout.split()[-3:]
    assert answer == "0"  # it was computed
    request = Request(context=context, ubatch=ubatch, outputs=outputs, flash_attn=bool(flash))
    told = planned(of_file(filled[kind]).model, request, [_RAM]).sum
    assert told.weights < int(peak) <= told.total + 16 * MIB
