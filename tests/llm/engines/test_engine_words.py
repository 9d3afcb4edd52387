"""What is made of an engine's words, and which engine is chosen: no engine is needed for that."""

import re
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from each import each
from rigup.fit.answers import best
from rigup.fit.judge import of_file
from rigup.fit.pools import Pool
from rigup.fit.request import Request
from rigup.held_process import Child, Log
from rigup.knowledge import tables
from rigup.llm.engines.choosing import chosen, ollama_address
from rigup.llm.engines.errors import EngineError
from rigup.llm.engines.failure import _Failure, _texts, why
from rigup.llm.engines.gpu_use import gpu_use, witnessed
from rigup.llm.engines.model_files import model_of
from rigup.llm.engines.settings import changes_for, prompt_cache, settings_of
from rigup.llm.engines.wish import StartRequest

sys.path.insert(0, str(Path(__file__).parents[2] / "fit"))
import ggufs

CARD = Pool(name="CUDA0", kind="vram", backend="cuda", total=8 << 30, free=8 << 30)
RAM = Pool(name="RAM", kind="ram", backend="cpu", total=16 << 30, free=16 << 30)
ON_DEVICE = """
load_tensors: offloaded 29/29 layers to GPU
load_tensors:   CPU_Mapped model buffer size =   308.23 MiB
load_tensors:        CUDA0 model buffer size =  1834.82 MiB
"""
ON_PROCESSOR = "load_tensors:   CPU_Mapped model buffer size =  2143.05 MiB\n"


def test_every_row_is_met_by_its_example():
    each(tables.table("engine_failures")["failure"], meets, lambda row: row["id"])
    assert {row.id for row in tables.rows("engine_failures", "failure", _Failure)} <= _texts().keys()


def meets(row):
    found = why("load: fine\n" + row["example"] + "\nexiting", 1, "MODEL")
    assert found.kind == row["id"]
    assert "{" not in found.text


def test_what_is_not_known_is_shown_as_it_was_said():
    found = why("I fine\nE something odd failed\n", 3, "MODEL")
    assert found.kind == "ended"
    assert "something odd" in found.text
    assert "3" in found.text


def test_memory_that_lacks_says_what_to_change():
    assert re.search(r"kv q8_0\.", why("cudaMalloc failed: out of memory", 1, "MODEL", ["kv q8_0"]).text)
    assert "fit" not in why("cudaMalloc failed: out of memory", 1, "MODEL").text


def test_layers_on_a_device_are_seen():
    use = gpu_use(ON_DEVICE, (CARD, RAM), 29)
    assert (use.used, use.layers, use.of, use.text) == (True, 29, 29, "")
    assert gpu_use(ON_DEVICE, (CARD, RAM), 40).text


def test_a_device_that_is_left_alone_is_told():
    assert "CUDA0" in gpu_use(ON_PROCESSOR, (CARD, RAM), 29).text
    assert gpu_use(ON_PROCESSOR, (RAM,), 29).text == ""
    assert gpu_use(ON_PROCESSOR, (CARD, RAM), 0).text == ""
    assert gpu_use("", (CARD, RAM), 29).used is None


GROWN = [  # what the log says, bytes that the card holds more, of how many; then: used, and a word of the text
    (ON_DEVICE, 1900, 1835, True, ""),
    (ON_DEVICE, 300, 1835, None, "315 MB more"),
    (ON_DEVICE, -900, 1835, None, "0 B more"),
    (ON_PROCESSOR, 1900, 1835, False, "is not used"),
    ("", 1900, 1835, True, ""),
    ("", 300, 1835, False, "probably not used"),
    ("", 1900, 0, None, ""),
]


@pytest.mark.parametrize(("log", "grown", "weights", "used", "text"), GROWN)
def test_the_memory_of_a_card_is_a_second_witness(log, grown, weights, used, text):
    before, after = CARD, replace(CARD, free=CARD.free - (grown << 20))
    use = witnessed(gpu_use(log, (CARD, RAM), None), (before, RAM), (after, RAM), weights << 20)
    assert (use.used, use.grown) == (used, grown << 20)
    assert text in use.text
    assert bool(use.text) == bool(text)


def test_memory_that_is_not_read_is_no_witness():
    use = gpu_use(ON_DEVICE, (CARD, RAM), None)
    reckoned, gone = replace(CARD, assumed=True), replace(CARD, name="CUDA1")
    for before, after in (((reckoned, RAM), (reckoned, RAM)), ((CARD, RAM), (gone, RAM)), ((CARD, RAM), (RAM,)), ((), ())):
        assert witnessed(use, before, after, 1 << 30) == use


def test_prompts_that_are_kept_take_a_part_of_what_is_free():
    assert prompt_cache((CARD, RAM)) == 2048
    assert prompt_cache((replace(RAM, free=500 << 30),)) == 8192
    assert prompt_cache((replace(RAM, free=None),)) == 0


def test_a_log_is_bounded():
    log = Log()
    for number in range(100_000):
        log.add(f"line {number}\n")
    log.add("x" * 10_000_000)
    text = log.text()
    assert len(text) < 500_000
    assert text.startswith("line 0\n")
    assert "line 99999\n" in text
    assert log.left_out


def test_nothing_that_can_run_it_is_told_one_by_one(tmp_path):
    (tmp_path / "odd").write_text("no model")
    with pytest.raises(EngineError) as error:
        chosen(StartRequest(model=str(tmp_path / "odd")), {"PATH": str(tmp_path), "OLLAMA_HOST": "127.0.0.1:1"})
    for name in ("llama-server", "xllamacpp", "ollama", "vllm"):
        assert name in str(error.value)


def test_a_model_that_is_nowhere_is_told_as_such(tmp_path, monkeypatch):
    environ = {"PATH": str(tmp_path), "OLLAMA_HOST": "127.0.0.1:1", "HOME": str(tmp_path)}
    with pytest.raises(EngineError, match="There is no model nothing:1b") as error:
        chosen(StartRequest(model="nothing:1b"), environ)
    assert "127.0.0.1:1" in str(error.value)
    assert "llama-server" not in str(error.value)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(EngineError, match=r"There is no model none\.gguf"):
        model_of("none.gguf", environ)
    for name in ("a.gguf", "b-00001-of-00002.gguf", "b-00002-of-00002.gguf"):
        (tmp_path / name).write_bytes(b"GGUF")
    with pytest.raises(EngineError, match=r"a\.gguf, b-00001-of-00002\.gguf\."):
        model_of(str(tmp_path), environ)
    (tmp_path / "a.gguf").unlink()
    assert model_of(str(tmp_path), environ).model == str(tmp_path / "b-00001-of-00002.gguf")


@pytest.mark.parametrize(("status", "kind"), [(-9, "killed"), (137, "killed"), (132, "instruction-missing"), (127, "ended"), (1, "ended")])
def test_a_signal_is_known_by_either_form_of_a_status(status, kind):
    assert why("load: fine", status, "MODEL").kind == kind


@pytest.mark.parametrize(
    ("told", "address"),
    [("", "http://127.0.0.1:11434"), ("0.0.0.0", "http://127.0.0.1:11434"), ("box:1", "http://box:1"), ("https://box:2/", "https://box:2")],
)
def test_where_ollama_listens(told, address):
    assert ollama_address({"OLLAMA_HOST": told}) == address


def test_a_child_that_cannot_start_says_so(tmp_path):
    with pytest.raises(OSError, match="No such file"):
        Child([str(tmp_path / "none")], {})


def test_a_child_that_does_not_listen_is_ended_all_the_same():
    words = (
        "import signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); sys.stderr.write('up\\n'); sys.stderr.flush(); signal.pause()"
    )
    child = Child([sys.executable, "-c", words], {})
    child.stop(0.5)
    assert child.status == -9


def test_what_would_fit_is_of_each_sequence_and_does_fit(tmp_path):
    """Half of the memory that all sequences want: each has half of its context then, or one alone has all of it."""
    path = tmp_path / "model.gguf"
    keys, tensors = ggufs.llama(width=64, layers=4, heads=2, shared=1, inner=128, words=256, length=32, context=1 << 20)
    ggufs.write(path, keys, tensors)
    wish = StartRequest(model=str(path), context=1 << 20, settings=Request(outputs=4, parallel=4))
    whole = best(of_file(path).model, settings_of(wish, (RAM,)).request, (RAM,))[1].sum
    room = replace(RAM, free=whole.total - whole.kv // 2)
    settings = settings_of(wish, (room,))
    assert settings.fits is False
    found = dict(change.rsplit(" ", 1) for change in changes_for(wish, settings))
    assert found["parallel"] == "1"
    longest = int(found["context"])
    for context, fits in ((longest, True), (longest + 256, False)):
        assert settings_of(replace(wish, context=context), (room,)).fits is fits
    assert settings_of(replace(wish, settings=Request(outputs=1)), (room,)).fits
    assert not any(change.startswith("parallel") for change in changes_for(wish, settings_of(wish, (replace(RAM, free=1),))))
