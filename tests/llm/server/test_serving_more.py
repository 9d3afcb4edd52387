"""`rigup serve` beyond chats: texts that are ranked, drafts by a small model, models that are loaded and ended by request."""

import json
import threading

import pytest
from servers import KEY, LONG, WAIT, Running, post, raw, wish
from tiny_models import sentence_pieces_of

from rigup.fit.pools import Pool
from rigup.fit.request import Request
from rigup.llm.engines.errors import EngineError
from rigup.llm.engines.running import start
from rigup.llm.engines.settings import changes_for, llama_words, settings_of

pytestmark = pytest.mark.llm
CHAT = {"messages": [{"role": "user", "content": "count from 3 to 9"}], "temperature": 0, "max_tokens": 40}
GIB = 1 << 30


def ask(server, path, body):
    head, _gap, text = raw(server.port, post(path, json.dumps(body).encode())).partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(text)


def listed(server):
    head = f"GET /v1/models HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {KEY}\r\n\r\n"
    rows = json.loads(raw(server.port, head.encode()).partition(b"\r\n\r\n")[2])["data"]
    return {row["id"]: row["status"]["value"] for row in rows}


def test_texts_are_ranked_by_what_they_hold(ranking_model, engine_python):
    with Running([wish(ranking_model, engine_python, "rank", context=1024)]) as server:
        texts = ["blue dog", "old red cat", "green moon tree", "cat house"]
        status, told = ask(server, "/v1/rerank", {"model": "rank", "query": "cat", "documents": texts})
        assert status == 200
        scores = {row["index"]: row["relevance_score"] for row in told["results"]}
        assert min(scores[1], scores[3]) > 0.8
        assert max(scores[0], scores[2]) < 0.2
        long = "blue dog " * 150  # more than llama.cpp's own batch, in which a text that is pooled must lie as a whole
        status, told = ask(server, "/v1/rerank", {"query": "cat", "documents": [long]})
        assert (status, told["usage"]["prompt_tokens"] > 512) == (200, True)
        status, told = ask(server, "/v1/embeddings", {"input": "cat"})
        assert (status, told["error"]["code"]) == (400, "unsupported")


def test_a_model_that_does_not_rank_says_so(tiny_model, engine_python):
    with Running([wish(tiny_model, engine_python, "tiny", embeddings=False)]) as server:
        status, told = ask(server, "/v1/rerank", {"query": "cat", "documents": ["a"]})
        assert (status, "--rerank" in told["error"]["message"]) == (400, True)
        status, told = ask(server, "/v1/embeddings", {"input": "cat"})
        assert (status, "--no-embeddings" in told["error"]["message"]) == (400, True)


def test_a_draft_is_checked_and_says_the_same(tiny_model, engine_python):
    with Running([wish(tiny_model, engine_python, "tiny", draft=str(tiny_model))]) as server:
        status, told = ask(server, "/v1/chat/completions", CHAT)
        assert (status, told["choices"][0]["message"]["content"]) == (200, "3 4 5 6 7 8 9")
        assert told["timings"]["draft_n_accepted"] > 2
        assert not any("draft" in line for line in server.said)


def test_a_draft_of_another_vocabulary_is_told(tiny_model, engine_python):
    with Running([wish(tiny_model, engine_python, "tiny", draft=str(sentence_pieces_of(tiny_model)))]) as server:
        assert ask(server, "/v1/chat/completions", CHAT)[1]["choices"][0]["message"]["content"] == "3 4 5 6 7 8 9"
        assert any("draft model is not used" in line and "vocab" in line for line in server.said)


def test_a_broken_draft_is_told_by_its_name(tiny_model, engine_python, tmp_path):
    odd = tmp_path / "odd.gguf"
    odd.write_bytes(tiny_model.read_bytes().replace(b"\x05\0\0\0\0\0\0\0gpt-2", b"\x05\0\0\0\0\0\0\0gpx-2"))
    with pytest.raises(EngineError, match=r"odd\.gguf"):
        start(wish(tiny_model, engine_python, "tiny", draft=str(odd)))


def test_a_draft_takes_its_memory_first(tiny_model):
    """What it takes is no longer there for the model, in the memory that holds it."""
    card = Pool(name="CUDA0", kind="vram", backend="cuda", total=8 * GIB, free=8 * GIB)
    shared = Pool(name="GPU0", kind="shared", backend="rocm", total=8 * GIB, free=8 * GIB, within=True)
    ram = Pool(name="RAM", kind="ram", backend="cpu", total=16 * GIB, free=16 * GIB)
    for device, whole in ((card, False), (shared, True)):
        alone = settings_of(wish(tiny_model, "", "tiny"), (device, ram))
        both = settings_of(wish(tiny_model, "", "tiny", draft=str(tiny_model)), (device, ram))
        taken = [before.free - after.free for before, after in zip((device, ram), both.pools, strict=True)]
        assert both.draft_layers == alone.request.gpu_layers == both.request.gpu_layers
        assert taken[0] > both.on_devices - alone.on_devices > 0
        assert (taken[1] > taken[0]) is whole
    words = llama_words(wish(tiny_model, "", "tiny", draft=str(tiny_model)), both, 1)
    assert words[words.index("--gpu-layers-draft") + 1] == str(both.draft_layers)
    assert "no draft model" in changes_for(wish(tiny_model, "", "tiny", draft=str(tiny_model)), both)


def test_models_are_loaded_and_ended_by_request(tiny_model, engine_python):
    with Running([wish(tiny_model, engine_python, name) for name in ("first", "second")], most=2) as server:
        assert listed(server) == {"first": "unloaded", "second": "unloaded"}
        assert ask(server, "/models/load", {"model": "first"}) == (200, {"success": True})
        assert listed(server) == {"first": "loaded", "second": "unloaded"}
        for _again in range(2):  # what is not loaded stays so
            assert ask(server, "/models/unload", {"model": "first"}) == (200, {"success": True})
            assert listed(server) == {"first": "unloaded", "second": "unloaded"}
        assert ask(server, "/models/unload", {"model": "third"})[0] == 404
        assert ask(server, "/models/unload", {})[0] == 404
        assert ask(server, "/v1/chat/completions", {"model": "first", **CHAT})[0] == 200


def test_an_answer_on_its_way_is_whole_before_its_model_is_ended(tiny_model, engine_python):
    with Running([wish(tiny_model, engine_python, "tiny", LONG, settings=Request(outputs=1))]) as server:
        body = {**CHAT, "max_tokens": 300, "ignore_eos": True}
        found = []
        reader = threading.Thread(target=lambda: found.append(ask(server, "/v1/chat/completions", body)))
        reader.start()
        model = server.server.models.all["tiny"]
        while not model.active:
            reader.join(0.01)
        assert ask(server, "/models/unload", {"model": "tiny"})[0] == 200
        reader.join(WAIT)
        assert found[0][1]["usage"]["completion_tokens"] == 300
        assert server.engine("tiny") is None
