"""Shares of memory that programs take beforehand, and cards that several processes share: told apart from a card that is too small."""

import pytest

LOADED = "[12:01:24] Load weight end. type=Qwen2ForCausalLM, avail mem={left} GB, mem usage={weights} GB.\n"
REFUSED = "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.\n"
FIGURES = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.68 GiB of which 1.19 GiB is free. {others}Including non-PyTorch memory, this process has {mine} GiB memory in use. Of the allocated memory {own} GiB is allocated by PyTorch, and 78.22 MiB is reserved by PyTorch but unallocated.\n"


def test_sglang_gets_a_larger_share_where_the_weights_leave_room(mended):
    body = "--mem-fraction-static 0.5\n" + LOADED.format(left="8.79", weights="14.33") + REFUSED
    assert mended("engine-memory-share-unfit", body) == ["start the program with --mem-fraction-static 0.85"]


def test_a_model_that_fills_the_card_gets_no_larger_share_named(named):
    body = "--mem-fraction-static 0.9\n" + LOADED.format(left="1.9", weights="21.4") + REFUSED
    assert "engine-memory-share-unfit" not in named(body)


@pytest.mark.parametrize(("typed", "option"), [("--mem-fraction-static 0.92", "0.82"), ("ServerArgs(mem_fraction_static=0.75)", "0.65")])
def test_graphs_get_room_by_a_smaller_share_than_was_asked_for(mended, typed, option):
    told = mended("engine-memory-share-unfit", f"{typed}\nException: Capture cuda graph failed: CUDA out of memory. Tried\n")
    assert told[0] == f"start the program with --mem-fraction-static {option}"


def test_vllm_with_less_than_nothing_for_its_cache_gets_a_smaller_model(mended):
    refused = (
        "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.\n"
    )
    short = "$ vllm serve m\nINFO Available KV cache memory: -4.10 GiB\n"
    assert "quantised build" in mended("oom-model-too-large", short + refused)[0]
    assert "--gpu-memory-utilization" in mended("oom-model-too-large", "$ vllm serve m\n" + refused)[0]


def test_what_jax_reserves_beside_torch_is_told(mended, named):
    body = "import jax\n" + FIGURES.format(others="", mine="22.47", own="4.21")
    assert "XLA_PYTHON_CLIENT_PREALLOCATE=false" in mended("framework-reserves-memory", body)[0]
    assert "framework-reserves-memory" not in named("import jax\n" + FIGURES.format(others="", mine="22.47", own="22.01"))
    assert "framework-reserves-memory" not in named(FIGURES.format(others="", mine="22.47", own="4.21"))


def test_ranks_that_hold_as_much_as_each_other_choose_their_own_cards(mended, named):
    ranks = "Process 511 has 6.01 GiB memory in use. Process 512 has 6.02 GiB memory in use. "
    told = mended("more-gpus-asked-than-there", "[rank0]: " + FIGURES.format(others=ranks, mine="10.1", own="9.7"))
    assert "LOCAL_RANK" in told[0]
    strangers = "Process 511 has 9.01 GiB memory in use. Process 512 has 1.02 GiB memory in use. "
    assert "more-gpus-asked-than-there" not in named("[rank0]: " + FIGURES.format(others=strangers, mine="10.1", own="9.7"))


def test_llama_cpp_gets_a_context_of_a_quarter(mended):
    body = "$ ./llama-server -m m.gguf -ngl 99\nllama_context: n_ctx         = 100000\nalloc_tensor_range: failed to allocate CUDA0 buffer of size 17179869184\nllama_init_from_model: failed to initialize the context: failed to allocate buffer for kv cache\n"
    assert mended("oom-model-too-large", body)[0] == "start the program with -c 16384 $ ./llama-server -m m.gguf -ngl 99 -c 16384"
