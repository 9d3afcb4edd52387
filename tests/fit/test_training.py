"""The closed forms of a training step, against steps of small models of the same kinds that really run."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.fit.errors import FitError
from rigup.fit.names import named
from rigup.fit.shapes import model_of
from rigup.fit.training import KINDS, OPTIMIZERS, PRECISIONS, SHARDINGS, Wish, largest_batch, training_step
from rigup.knowledge.model_shapes import Shape

_ROOT = Path(__file__).parents[2]
_GIB = 1 << 30


@pytest.fixture(scope="module")
def model():
    return model_of(named("llama 3.1 8b").shape, "BF16")


@pytest.mark.torch
@pytest.mark.slow
def test_closed_forms_are_near_the_peak_of_real_steps_and_hardly_below() -> None:
    python = os.environ.get("RIGUP_TORCH_PYTHON")
    if not python and importlib.util.find_spec("torch") is None:
        pytest.skip("no torch here, and RIGUP_TORCH_PYTHON names no interpreter that has it")
    done = subprocess.run(
        [python or sys.executable, "-W", "ignore", str(Path(__file__).with_name("transformer_cases.py"))],
        env={**os.environ, "PYTHONPATH": str(_ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    errors = []
    for one in map(json.loads, done.stdout.splitlines()):
        told = training_step(model_of(Shape(**one["shape"]), "F32"), Wish(**one["wish"])).total
        errors.append(told / one["real"] - 1)
    assert len(errors) >= 54
    assert sorted(map(abs, errors))[len(errors) // 2] <= 0.03
    assert min(errors) >= -0.05


def test_eight_thousand_million_weights_take_what_each_of_them_takes(model) -> None:
    wish = Wish(precision="mixed", kept=False, context=512)
    step = training_step(model, wish)
    assert step.parameters == 4 * model.parameters - 4 * 64  # the turning's factors are no weights
    assert step.optimizer == 2 * step.parameters


def test_adapters_take_a_small_part_and_four_bits_a_quarter(model) -> None:
    full, lora, qlora = (training_step(model, Wish(kind=kind, context=512)) for kind in KINDS)
    assert lora.optimizer < full.optimizer / 50
    assert qlora.parameters < lora.parameters / 2
    assert qlora.total < 12 * _GIB < lora.total < 24 * _GIB < full.total


def test_shards_take_their_part_of_what_is_sharded(model) -> None:
    step = {kind: training_step(model, Wish(devices=8, sharding=kind, kept=False, context=512)) for kind in SHARDINGS}
    assert step["zero1"].optimizer == step["ddp"].optimizer // 8
    assert step["zero3"].parameters < step["zero2"].parameters == step["zero1"].parameters
    assert step["zero3"].total < step["zero2"].total < step["zero1"].total < step["ddp"].total


def test_the_largest_batch_fits_and_one_more_does_not(model) -> None:
    wish = Wish(kind="qlora", kept=False)
    count = largest_batch(model, wish, 24 * _GIB)
    totals = [training_step(model, msgspec.structs.replace(wish, samples=number)).total for number in (count, count + 1)]
    assert totals[0] <= 24 * _GIB < totals[1]
    assert largest_batch(model, Wish(), 8 * _GIB) == 0


def test_layers_whose_activations_are_not_known_are_told() -> None:
    with pytest.raises(FitError, match=r"rigup\.fit\.module"):
        training_step(model_of(named("mamba 1.4b").shape, "BF16"), Wish())


@given(
    st.sampled_from(KINDS),
    st.sampled_from(sorted(OPTIMIZERS)),
    st.sampled_from(PRECISIONS),
    st.booleans(),
    st.booleans(),
    st.sampled_from(SHARDINGS),
    st.integers(1, 64),
    st.integers(1, 64),
)
def test_more_sequences_never_take_less(kind, optimizer, precision, kept, flash, sharding, devices, samples) -> None:
    small = model_of(named("qwen3 0.6b").shape, "BF16")
    wish = Wish(
        kind=kind,
        optimizer=optimizer,
        precision=precision,
        kept=kept,
        flash_attn=flash,
        sharding=sharding,
        devices=devices,
        samples=samples,
    )
    one, more = (training_step(small, msgspec.structs.replace(wish, samples=samples + extra)).total for extra in (0, 1))
    assert 0 < one <= more
