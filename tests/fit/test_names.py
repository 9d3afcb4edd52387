"""Names as people write them, and what they resolve to."""

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from rigup.cli import main
from rigup.fit.config import shape_of
from rigup.fit.errors import FitError
from rigup.fit.names import named
from rigup.fit.shapes import model_of
from rigup.knowledge.model_shapes import file_type, shapes

_PATH = Path(__file__).parent / "data" / "names.csv"
_SHARE = 0.95


def _rows():
    with _PATH.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _met(row) -> bool:
    try:
        found = named(row["name"])
    except FitError:
        return not row["shape"]
    return found.shape.name == row["shape"] and row["type"] in ("", found.type)


def test_nearly_all_names_resolve_and_none_that_nobody_knows_is_guessed() -> None:
    rows = _rows()
    assert len(rows) >= 200
    missed = [row["name"] for row in rows if not _met(row)]
    assert len(missed) <= (1 - _SHARE) * len(rows), missed
    assert not [name for name in missed if not next(row["shape"] for row in rows if row["name"] == name)]


def test_what_was_taken_for_granted_is_said() -> None:
    assert any("Q4_K_M was taken" in note for note in named("qwen3 8b").notes)
    assert not any("was taken" in note for note in named("qwen3 8b q6_k").notes)


def test_an_unknown_name_gets_the_nearest_known_ones() -> None:
    with pytest.raises(FitError, match=r"gemma-3-12b"):
        named("gemma 4 12b")


@given(st.text(max_size=80))
def test_any_text_is_a_name_or_an_error(text: str) -> None:
    try:
        named(text)
    except FitError as error:
        assert "known here" in str(error)  # noqa: PT017  (any text may also be a name)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("model q4", "Q4_K_M"),
        ("iq2_xxs", "IQ2_XXS"),
        ("m-q5_k_s", "Q5_K_S"),
        ("awq", "Q4_K_M"),
        ("8-bit", "Q8_0"),
        ("qwq 32b", ""),
        ("phi-3-mini-4k", ""),
        ("ud-q6_k_xl", "Q6_K"),
        ("mxfp4", "MXFP4_MOE"),
        ("bf16", "BF16"),
    ],
)
def test_types_are_read_out_of_names(text: str, kind: str) -> None:
    assert file_type(text)[0] == kind


# Parameters in thousand millions as the models' own pages tell them.
@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("llama-3.1-8b", 8.030),
        ("llama-3.1-405b", 405.853),
        ("mixtral-8x22b", 140.63),
        ("qwen2.5-72b", 72.706),
        ("qwen3-30b-a3b", 30.532),
        ("deepseek-v3", 671.026),
        ("gpt-oss-20b", 20.915),
        ("phi-4-14b", 14.660),
        ("mistral-large-123b", 122.610),
        ("gemma-2-27b", 27.227),
        ("smollm2-135m", 0.1345),
    ],
)
def test_shapes_have_the_parameters_that_their_makers_tell(name: str, count: float) -> None:
    shape = next(one for one in shapes() if one.name == name)
    assert model_of(shape, "F16").parameters / 1e9 == pytest.approx(count, rel=0.0005)


@pytest.mark.long
def test_a_configuration_tells_the_same_shape_as_the_table(tmp_path: Path) -> None:
    told = {
        "model_type": "qwen3",
        "hidden_size": 4096,
        "num_hidden_layers": 36,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "intermediate_size": 12288,
        "vocab_size": 151936,
        "head_dim": 128,
        "max_position_embeddings": 40960,
        "tie_word_embeddings": False,
        "torch_dtype": "bfloat16",
    }
    (tmp_path / "config.json").write_text(json.dumps(told), encoding="utf-8")

    def memory(word: str, *more: str):
        done = CliRunner().invoke(main, ["fit", word, "--on", "cpu", "--json", *more], standalone_mode=False)
        return json.loads(done.output)["memory"]

    assert memory(str(tmp_path)) == memory("qwen3 8b bf16")
    assert memory(str(tmp_path), "--quant", "q4_k_m") == memory("Qwen3-8B-Q4_K_M.gguf")


@given(st.binary(max_size=200))
def test_any_bytes_as_a_configuration_are_an_error(text: bytes) -> None:
    with pytest.raises(FitError):
        shape_of(text, "config.json")


@given(
    st.dictionaries(
        st.sampled_from(
            ["hidden_size", "num_attention_heads", "num_hidden_layers", "vocab_size", "intermediate_size", "head_dim", "num_experts"]
        ),
        st.one_of(st.integers(-5, 2**70), st.text(max_size=3), st.none(), st.lists(st.integers(), max_size=2)),
    )
)
def test_a_configuration_with_odd_numbers_is_a_shape_or_an_error(told: dict) -> None:
    try:
        shape, _kind = shape_of(json.dumps({"model_type": "llama", **told}).encode(), "config.json")
    except FitError:
        return
    assert shape.width > 0
