"""vLLM and ollama: what each makes of a machine, and the words that start it so."""

import json

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from rigup.cli import main
from rigup.fit.engines import as_ollama, usual_context
from rigup.fit.errors import FitError
from rigup.fit.names import named
from rigup.fit.pools import Pool
from rigup.fit.request import Request
from rigup.fit.shapes import model_of
from rigup.fit.vllm import Wish, served

GIB = 1 << 30
RAM = Pool(name="RAM", kind="ram", backend="cpu", total=64 * GIB, free=60 * GIB)


def _cards(size: int, count: int = 1) -> list[Pool]:
    return [*(Pool(name=f"card {n}", kind="vram", backend="cuda", total=size, free=size) for n in range(count)), RAM]


def _model(name: str, kind: str = "BF16"):
    return model_of(named(name).shape, kind)


def _fit(*words: str) -> dict:
    return json.loads(CliRunner().invoke(main, ["fit", *words, "--json"], standalone_mode=False).output)


def test_the_cache_is_what_weights_and_work_leave_of_the_share() -> None:
    plan = served(_model("llama 3.1 8b"), Wish(context=8192), _cards(24 * GIB))
    assert plan.parts[0].total == pytest.approx(0.92 * 24 * GIB, rel=1e-6)
    assert plan.tokens == plan.blocks * 16
    # 32 layers, keys and values of 8 heads of 128 numbers in half precision: 128 KiB a token
    assert plan.blocks == plan.parts[0].kv // (16 * 131072)


@pytest.mark.parametrize("name", ["llama 3.1 8b", "qwen3 30b a3b", "gemma 3 12b", "deepseek v2 lite", "gpt-oss 20b"])
def test_ranks_have_their_part_of_the_weights_and_no_less(name: str) -> None:
    model = _model(name)
    whole = sum(one.bytes for one in model.tensors)
    for count in (1, 2, 4):
        parts = served(model, Wish(context=4096, tensor=count), _cards(80 * GIB, count)).parts
        assert whole * 0.999 <= sum(part.weights for part in parts) < whole * 1.1
    stages = served(model, Wish(context=4096, tensor=1, pipeline=2), _cards(80 * GIB, 2)).parts
    assert sum(part.weights for part in stages) >= whole * 0.999


def test_compressed_keys_lie_whole_on_every_rank() -> None:
    one, two = (served(_model("deepseek v2 lite"), Wish(context=4096, tensor=count), _cards(80 * GIB, count)) for count in (1, 2))
    row = 27 * 576 * 2
    assert one.blocks == one.parts[0].kv // (16 * row)
    assert two.blocks == two.parts[0].kv // (16 * row)


def test_the_longest_context_fits_and_one_block_more_does_not() -> None:
    model, cards = _model("llama 3.1 8b"), _cards(20 * GIB)
    longest = served(model, Wish(context=1024), cards).longest
    assert longest
    assert served(model, Wish(context=longest), cards).sequences == 1
    assert served(model, Wish(context=longest + 16), cards).sequences == 0


def test_a_coarser_cache_holds_twice_as_many_and_windows_more() -> None:
    half, eighth = (served(_model("llama 3.1 8b"), Wish(context=8192, kv=kind), _cards(24 * GIB)) for kind in ("f16", "q8_0"))
    assert eighth.blocks == pytest.approx(2 * half.blocks, abs=1)
    sliding = served(_model("gemma 3 12b"), Wish(context=32768), _cards(48 * GIB))
    assert sliding.sequences > sliding.tokens // 32768


def test_no_more_is_taken_than_is_free() -> None:
    busy = [Pool(name="card", kind="vram", backend="cuda", total=24 * GIB, free=20 * GIB), RAM]
    assert served(_model("qwen3 4b"), Wish(context=4096), busy).share == 0.83


def test_what_it_cannot_do_is_told() -> None:
    model = _model("qwen3 8b")
    for wish, pools, said in (
        (Wish(context=4096), [RAM], "GPUs"),
        (Wish(context=4096, kv="q4_0"), _cards(24 * GIB), "q4_0"),
        (Wish(context=4096, tensor=3), _cards(24 * GIB, 3), "divisible"),
        (Wish(context=4096, tensor=4), _cards(24 * GIB), "4 GPUs"),
    ):
        with pytest.raises(FitError, match=said):
            served(model, wish, pools)


def test_the_words_that_start_it_are_a_list_of_arguments() -> None:
    told = _fit("qwen3 8b", "--engine", "vllm", "--on", "2x RTX 3090, ram 64GB", "--kv", "q8_0")
    assert told["start"]["words"][:3] == ["vllm", "serve", "MODEL"]
    assert told["start"]["words"][3:] == [
        "--max-model-len",
        "8192",
        "--gpu-memory-utilization",
        "0.92",
        "--tensor-parallel-size",
        "2",
        "--kv-cache-dtype",
        "fp8",
        "--max-num-seqs",
        str(told["answers"]["sequences"]),
    ]
    assert told["runtime"].startswith("vllm ")
    assert told["fits"] is True


def test_weights_of_four_bits_are_offered_where_half_precision_does_not_fit() -> None:
    told = _fit("qwen3 32b", "--engine", "vllm", "--on", "RTX 3090, ram 64GB")
    assert told["fits"] is False
    assert [one["to"] for one in told["answers"]["changes"]] == ["AWQ"]


@pytest.mark.parametrize(("room", "tokens"), [(8, 4096), (24, 32768), (40, 32768), (80, 131072)])
def test_ollama_takes_a_context_by_the_gpu_and_no_more_than_the_model_knows(room: int, tokens: int) -> None:
    assert usual_context(_model("llama 3.1 8b"), _cards(room * GIB), {}) == tokens
    assert usual_context(_model("llama 3.1 8b"), _cards(room * GIB), {"OLLAMA_CONTEXT_LENGTH": "6000"}) == 6000


def test_ollamas_settings_count_unless_somebody_says_otherwise() -> None:
    environ = {"OLLAMA_NUM_PARALLEL": "3", "OLLAMA_KV_CACHE_TYPE": "q8_0", "OLLAMA_FLASH_ATTENTION": "0"}
    found = as_ollama(Request(context=4096), environ, {})
    assert (found.context, found.parallel, found.outputs, found.kv_type_v, found.flash_attn) == (12288, 3, 3, "q8_0", False)
    assert (found.batch, found.ubatch) == (512, 512)
    said = as_ollama(Request(context=4096), environ, {"parallel": True, "kv": True, "flash_attn": True})
    assert (said.context, said.parallel, said.kv_type_k, said.flash_attn) == (4096, 1, "f16", True)


@given(
    st.dictionaries(
        st.sampled_from(["OLLAMA_NUM_PARALLEL", "OLLAMA_KV_CACHE_TYPE", "OLLAMA_FLASH_ATTENTION", "OLLAMA_CONTEXT_LENGTH"]),
        st.text(max_size=12),
    )
)
def test_odd_settings_of_ollama_are_no_settings(environ: dict) -> None:
    found = as_ollama(Request(context=4096), environ, {})
    assert 1 <= found.parallel <= 256
    assert found.kv_type_k in ("f16", "q8_0", "q4_0")
    assert usual_context(_model("qwen3 8b"), _cards(8 * GIB), environ) >= 1


def test_llama_server_is_started_with_what_was_reckoned(tmp_path) -> None:
    told = _fit("llama 3.1 8b q4", "--on", "RTX 3090, ram 64GB", "--kv", "q8_0", "--context", "16384")
    words = told["start"]["words"]
    assert words[:5] == ["llama-server", "-m", "MODEL.gguf", "-c", "16384"]
    assert words[words.index("-ngl") + 1] == "33"
    assert words[words.index("--cache-type-v") + 1] == "q8_0"
