"""What a model takes, against what llama.cpp's own planner said of the same shapes (MiB, from its log)."""

from functools import cache

import ggufs
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.fit.answers import best, best_quantisation, changes, fits, longest_context
from rigup.fit.errors import HeaderError
from rigup.fit.gguf import read_header
from rigup.fit.mixtures import requantised
from rigup.fit.model import Model
from rigup.fit.placement import placed
from rigup.fit.plan import planned
from rigup.fit.pools import Pool
from rigup.fit.request import Request, refused_cache
from rigup.fit.source import Held
from rigup.fit.speed import decode

MIB, GIB = 1 << 20, 1 << 30
RAM = Pool(name="RAM", kind="ram", backend="cpu", total=64 * GIB, free=60 * GIB)
_SHAPES = {"llama": ggufs.llama, "sliding": ggufs.sliding, "experts": ggufs.experts}


@cache
def model(kind: str, **more: int) -> Model:
    return Model(read_header(Held(ggufs.header(*_SHAPES[kind](**more))[0], "model.gguf", 1 << 40)))


def _card(free: int) -> Pool:
    return Pool(name="card", kind="vram", backend="cuda", total=free, free=free)


# A shape, what differs from 4096 tokens of context, and KV and compute buffer as llama.cpp (ggml 0.25.3) told them.
_TOLD = [
    ("llama", {"context": 2048}, 64.0, 258.5),
    ("llama", {}, 128.0, 258.5),
    ("llama", {"flash_attn": False}, 128.0, 286.01),
    ("llama", {"context": 32768, "flash_attn": False}, 1024.0, 2134.01),
    ("llama", {"ubatch": 128}, 128.0, 64.63),
    ("llama", {"ubatch": 2048, "flash_attn": False}, 128.0, 1144.04),
    ("llama", {"kv_type_k": "q8_0", "kv_type_v": "q8_0"}, 68.0, 262.5),
    ("llama", {"context": 16384, "parallel": 4}, 512.0, 258.5),
    ("llama", {"outputs": 1}, 128.0, 68.01),
    ("llama", {"context": 32768, "outputs": 1}, 1024.0, 96.01),
    ("sliding", {}, 38.0, 516.5),
    ("sliding", {"context": 2048}, 30.0, 518.75),
    ("sliding", {"context": 32768, "flash_attn": False}, 150.0, 559.25),
    ("sliding", {"context": 131072, "flash_attn": False}, 534.0, 1294.76),
    ("sliding", {"context": 16384, "parallel": 4}, 152.0, 516.5),
    ("sliding", {"context": 16384, "parallel": 4, "kv_unified": True}, 119.0, 518.75),
    ("sliding", {"context": 131072, "swa_whole": True}, 3328.0, 516.5),
    ("sliding", {"ubatch": 2048}, 71.0, 2066.01),
    ("sliding", {"kv_type_k": "q4_0", "kv_type_v": "q4_0"}, 10.69, 516.5),
]


@pytest.mark.parametrize(("kind", "asked", "kv", "compute"), _TOLD)
def test_cache_and_work_space_are_what_llama_cpp_plans(kind: str, asked: dict, kv: float, compute: float) -> None:
    part = planned(model(kind), Request(**asked), [RAM]).sum
    assert part.kv / MIB == pytest.approx(kv, abs=0.01)
    assert part.compute / MIB == pytest.approx(compute, abs=0.01)


def test_a_quick_plan_is_nearly_the_whole_one() -> None:
    deep = model("experts", layers=48)
    for asked in (Request(), Request(context=32768, flash_attn=False)):
        whole, quick = (planned(deep, asked, [RAM], quick=quick).sum.total for quick in (False, True))
        assert quick == pytest.approx(whole, rel=0.002)


@pytest.mark.parametrize(("layers", "on_card"), [(0, 0), (1, 1), (8, 8), (17, 17), (99, 17)])
def test_layers_go_on_devices_from_the_last_the_output_first(layers: int, on_card: int) -> None:
    found = placed(model("llama"), Request(gpu_layers=layers), (1.0,))
    assert found.on_devices == on_card
    assert list(found.layers) == sorted(found.layers, reverse=True)
    assert found.of_tensor("token_embd.weight") == found.host


def test_a_table_of_tokens_that_is_the_output_too_lies_in_both_memories() -> None:
    plan = planned(model("llama"), Request(gpu_layers=99), [_card(80 * GIB), RAM])
    table = 2048 * 128256 * 2
    assert plan.parts[1].weights == table
    assert plan.sum.weights - sum(one.bytes for one in model("llama").tensors) == pytest.approx(table, abs=4096)


def test_experts_may_stay_in_main_memory() -> None:
    plan = planned(model("experts"), Request(gpu_layers=99, cpu_experts=8), [_card(80 * GIB), RAM])
    experts = sum(one.bytes for one in model("experts").tensors if "_exps" in one.name)
    assert plan.parts[1].weights >= experts
    assert plan.parts[0].weights < experts


def test_two_devices_share_layers_by_what_is_free() -> None:
    plan = planned(model("llama"), Request(gpu_layers=99), [_card(24 * GIB), _card(8 * GIB), RAM])
    assert plan.placement.layers.count(0) == 13
    assert plan.placement.layers.count(1) == 3


# Mistral Nemo's shape over two devices, as llama.cpp's scheduler told it: inputs and what passes between devices lie there
# four times, for the batches that run one behind another.
def test_what_passes_between_two_devices_is_there_for_each_batch_on_its_way() -> None:
    nemo = model("llama", width=5120, layers=40, heads=32, shared=8, inner=14336, words=131072, length=128, tied=False)
    for shares in ((1.0, 1.0), (3.0, 1.0)):
        asked = Request(context=8192, gpu_layers=99, tensor_split=shares)
        plan = planned(nemo, asked, [_card(24 * GIB), _card(24 * GIB), RAM])
        assert [round(part.compute / MIB) for part in plan.parts] == [184, 416, 82]


def test_as_many_layers_as_fit_are_placed_and_no_more() -> None:
    pools = [_card(2 * GIB), RAM]
    request, plan = best(model("llama"), Request(), pools)
    assert fits(plan, pools)
    assert 0 < plan.placement.on_devices < 17
    more = msgspec.structs.replace(request, gpu_layers=plan.placement.on_devices + 1)
    assert not fits(planned(model("llama"), more, pools), pools)


def test_what_fits_is_told_so_that_asking_for_more_does_not() -> None:
    pools = [Pool(name="RAM", kind="ram", backend="cpu", total=4 * GIB, free=4 * GIB)]
    longest = longest_context(model("llama"), Request(), pools)
    assert longest
    assert fits(planned(model("llama"), Request(context=longest), pools), pools)
    assert not fits(planned(model("llama"), Request(context=longest + 1024), pools), pools)


def test_each_sequence_may_have_the_context_that_the_model_was_trained_for() -> None:
    alone, four = (longest_context(model("llama"), Request(parallel=count), [RAM]) for count in (1, 4))
    assert alone == model("llama").number("context_length")
    assert four == 4 * alone


def test_no_context_is_promised_where_the_weights_alone_are_too_much() -> None:
    pools = [Pool(name="RAM", kind="ram", backend="cpu", total=GIB, free=GIB)]
    assert longest_context(model("llama"), Request(), pools) is None


def test_the_finest_quantisation_that_fits_is_named_and_every_change_frees_something() -> None:
    pools = [Pool(name="RAM", kind="ram", backend="cpu", total=2 * GIB, free=2 * GIB)]
    assert best_quantisation(model("llama"), Request(), pools, "F16") == "Q8_0"
    assert best_quantisation(model("llama"), Request(), [RAM], "F16") == "F16"
    found = changes(model("llama"), Request(), pools, "F16")
    assert {change.change for change in found} >= {"kv", "context", "quantisation", "outputs"}
    assert all(change.frees > 0 for change in found)
    assert [change.to for change in found if change.change == "quantisation"] == ["Q8_0", "Q6_K"]


@pytest.mark.parametrize(
    ("length", "asked", "refused"),
    [
        (64, {"kv_type_k": "q8_0", "kv_type_v": "q8_0"}, ""),
        (80, {}, ""),
        (80, {"kv_type_k": "bf16", "flash_attn": False}, ""),
        (80, {"kv_type_k": "q8_0"}, "80 numbers, and a block 32"),
        (80, {"kv_type_v": "q4_0"}, "80 numbers, and a block 32"),
        (64, {"kv_type_v": "q8_0", "flash_attn": False}, "flash attention alone"),
        (64, {"kv_type_k": "q8_0", "flash_attn": False}, ""),
    ],
)
def test_a_cache_that_llama_cpp_does_not_make_is_refused(length: int, asked: dict, refused: str) -> None:
    said = refused_cache(model("llama", length=length), Request(**asked))
    assert refused in said
    assert bool(said) == bool(refused)


def test_no_coarser_cache_is_proposed_where_llama_cpp_makes_none() -> None:
    pools = [Pool(name="RAM", kind="ram", backend="cpu", total=2 * GIB, free=2 * GIB)]
    assert not [change for change in changes(model("llama", length=80), Request(), pools, "F16") if change.change == "kv"]


# Bytes that `llama-quantize --dry-run` told of the same shape, in MiB.
@pytest.mark.parametrize(
    ("kind", "size"), [("Q8_0", 1252.41), ("Q6_K", 967.0), ("Q5_K_M", 861.81), ("Q4_K_M", 762.81), ("Q4_0", 727.75), ("Q3_K_M", 651.37)]
)
def test_sizes_by_type_are_what_llama_quantize_writes(kind: str, size: float) -> None:
    found = sum(one.bytes for one in requantised(model("llama"), kind)) / MIB
    assert found == pytest.approx(size, abs=0.02)


@given(st.sampled_from(sorted(_SHAPES)), st.data())
def test_a_header_of_any_numbers_is_planned_or_told(kind: str, data: st.DataObject) -> None:
    keys, tensors = _SHAPES[kind](layers=2)
    for key in data.draw(st.lists(st.sampled_from([key for key in keys if "." in key]), max_size=4)):
        keys[key] = data.draw(
            st.one_of(
                st.integers(0, 2**32 - 1), st.just("text"), st.floats(allow_nan=True, width=32), st.lists(st.integers(0, 9), max_size=3)
            )
        )
    kept = data.draw(st.integers(0, len(tensors)))
    try:
        shape = Model(read_header(Held(ggufs.header(keys, tensors[:kept] or tensors)[0], "model.gguf", 1 << 40)))
        planned(shape, Request(context=1024), [_card(GIB), RAM])
    except HeaderError as error:
        assert str(error)  # noqa: PT017  (whatever it is, it is told)


@pytest.mark.parametrize("kind", ["llama", "experts"])
@pytest.mark.parametrize("file_type", ["Q4_K_M", "Q8_0"])
def test_a_model_in_another_type_is_planned_as_if_it_had_been_read_so(kind: str, file_type: str) -> None:
    whole = model(kind)
    planned(whole, Request(), [_card(8 * GIB), RAM])
    tensors = requantised(whole, file_type)
    again, anew = whole.retyped(tensors), Model(whole.header, tensors)
    for asked in (Request(), Request(cpu_experts=2), Request(gpu_layers=3)):
        assert planned(again, asked, [_card(8 * GIB), RAM]).parts == planned(anew, asked, [_card(8 * GIB), RAM]).parts


@pytest.mark.parametrize("free", [2, 3, 5])
def test_the_layers_that_are_put_on_a_card_are_the_most_that_it_holds(free: int) -> None:
    deep, pools = model("experts", layers=24), [_card(free * GIB), RAM]

    def held(count: int) -> bool:
        part = planned(deep, Request(gpu_layers=count), pools, quick=True).parts[0]
        return part.total <= free * GIB

    chosen = best(deep, Request(), pools, quick=True)[0].gpu_layers
    assert chosen == max(count for count in range(deep.layers + 2) if count == 0 or held(count))


def test_layers_of_experts_take_a_time_of_their_own_on_every_back_end() -> None:
    def likely(kind: str, backend: str) -> float:
        pool = msgspec.structs.replace(_card(64 * GIB), backend=backend, bandwidth=4e11)
        asked = Request(gpu_layers=99)
        return decode(model(kind), asked, planned(model(kind), asked, [pool, RAM]), [pool, RAM]).likely

    assert likely("llama", "cuda") == likely("llama", "metal")
    assert likely("experts", "cuda") == likely("experts", "rocm") > likely("experts", "metal") > likely("experts", "sycl")


@pytest.mark.long
def test_as_few_experts_as_must_be_are_put_into_main_memory() -> None:
    deep, pools = model("experts", layers=24), [_card(6 * GIB), RAM]
    (aside,) = [change for change in changes(deep, Request(), pools, "F16") if change.change == "cpu_experts"]
    assert aside.whole
    assert 0 < aside.to < deep.layers
    fewer = Request(gpu_layers=deep.layers + 1, cpu_experts=aside.to - 1)
    assert not fits(planned(deep, fewer, pools, quick=True), pools)
