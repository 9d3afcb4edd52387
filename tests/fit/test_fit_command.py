"""`rigup fit` as it is typed."""

import json
from pathlib import Path

import ggufs
import pytest
from click.testing import CliRunner

from rigup.cli import main


def _run(*words: str):
    return CliRunner().invoke(main, ["fit", *words], standalone_mode=False)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(ggufs.write(tmp_path_factory.mktemp("models") / "tiny-F16.gguf", *ggufs.llama()))


def test_the_answer_as_data_has_the_shape_of_its_contract(file: str) -> None:
    told = json.loads(_run(file, "--on", "cpu", "--context", "4096", "--json").output)
    assert told["schema"] == "rigup.fit/1"
    assert set(told["model"]) >= {"name", "architecture", "parameters", "quantisation", "file_bytes", "context_trained"}
    assert set(told["memory"]) == {"weights", "kv", "recurrent", "compute", "output", "projector", "overhead", "total"}
    assert told["memory"]["total"] == sum(size for name, size in told["memory"].items() if name != "total")
    assert set(told["answers"]) >= {"best_quantisation", "longest_context", "gpu_layers", "changes"}
    assert told["memory"]["kv"] == 128 << 20
    assert told["exact"] is False
    assert "llama.cpp" in told["runtime"]


def test_a_card_in_words_gets_a_plan_a_speed_and_a_verdict(file: str) -> None:
    found = _run(file, "--on", "RTX 3090, ram 64GB", "--json")
    told = json.loads(found.output)
    assert found.return_value == 0
    assert [one["kind"] for one in told["devices"]] == ["vram", "ram"]
    assert told["devices"][0]["name"] == "NVIDIA GeForce RTX 3090"
    assert told["decode"]["low"] < told["decode"]["likely"] < told["decode"]["high"]
    assert told["prefill"]["low"] < told["prefill"]["high"]
    assert told["request"]["gpu_layers"] == 17


def test_what_does_not_fit_ends_with_one_and_tells_what_to_change(file: str) -> None:
    found = _run(file, "--on", "GTX 1050 Ti, ram 4GB", "--context", "131072", "--flash-attn", "off")
    assert found.return_value == 1
    assert "does not fit" in found.output
    assert "--kv q8_0" in found.output


@pytest.mark.parametrize("language", ["en", "ru", "zh_CN", "zh_TW"])
def test_the_report_is_told_in_every_language(file: str, language: str) -> None:
    found = CliRunner().invoke(main, ["--lang", language, "fit", file, "--on", "RTX 3090, ram 64GB"], standalone_mode=False)
    assert "3090" in found.output
    assert ("It writes about" in found.output) == (language == "en")


def test_no_line_of_the_report_is_wider_than_its_terminal(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.chdir(Path(file).parent)  # a path in a command is not broken, however long it is
    for where in ("RTX 3090, ram 64GB", "GTX 1050 Ti, ram 4GB"):
        assert max(map(len, _run(Path(file).name, "--on", where).output.splitlines())) <= 60


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["/nowhere/model.gguf"], "There is no file"),
        (["{text}"], "is no GGUF file"),
        (["{file}", "--on", "an abacus"], "abacus"),
        (["{file}", "--tensor-split", "a,b"], "no list of shares"),
    ],
)
def test_what_cannot_be_judged_is_told(file: str, tmp_path: Path, words: list[str], said: str) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("these are notes about a model", encoding="utf-8")
    found = _run(*[word.format(file=file, text=other) for word in words])
    assert said in str(found.exception)


def test_the_parts_of_a_split_model_are_counted_together(tmp_path: Path) -> None:
    keys, tensors = ggufs.llama()
    whole = ggufs.write(tmp_path / "whole.gguf", keys, tensors)
    first = ggufs.write(tmp_path / "model-00001-of-00002.gguf", keys, tensors[:60])
    assert "model-00002-of-00002.gguf is not beside it" in str(_run(str(first), "--on", "cpu").exception)
    ggufs.write(tmp_path / "model-00002-of-00002.gguf", {"split.no": 1}, tensors[60:])
    both, one = (json.loads(_run(str(path), "--on", "cpu", "--json").output) for path in (first, whole))
    assert both["memory"] == one["memory"]


def test_what_bench_measured_on_this_machine_counts_for_more_than_a_guess(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rigup.machine.baseline import state_folder

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    before = json.loads(_run(file, "--on", "cpu", "--json").output)["decode"]
    folder = state_folder("bench")
    folder.mkdir(parents=True)
    results = [{"name": "memory-read", "median": 5e10, "unit": "B/s"}, {"name": "memory-copy", "median": "odd", "unit": "B/s"}]
    run = {"recorded_at": "2026-01-01", "devices": [{"vendor": "cpu", "name": "some processor", "results": results}, 7]}
    (folder / "some.jsonl").write_text("no json\n" + json.dumps(run) + "\n[]\n", encoding="utf-8")
    after = json.loads(_run(file, "--on", "cpu", "--json").output)["decode"]
    assert after["high"] / after["low"] < before["high"] / before["low"]
    assert "measured on this machine" in " ".join(after["because"])


def test_models_are_ranked_for_a_machine() -> None:
    small, large = (
        json.loads(_run("--list", "--on", where, "--json").output)["models"] for where in ("GTX 1050 Ti, ram 16GB", "RTX 3090, ram 64GB")
    )
    assert 0 < len(small) < len(large)
    assert [one["parameters"] for one in large] == sorted((one["parameters"] for one in large), reverse=True)
    assert all(one["total"] < 24 << 30 for one in large)
    assert {one["name"] for one in small} <= {one["name"] for one in large}
    assert "qwen3-30b-a3b" in _run("--list", "--on", "RTX 3090, ram 64GB").output


@pytest.mark.parametrize("words", [[], ["model.gguf", "--list"]])
def test_either_a_model_or_the_list_is_asked_for(words: list[str]) -> None:
    assert "--list" in str(_run(*words).exception)


def test_a_card_of_which_there_are_two_sizes_is_asked_about_and_never_left_out(file: str) -> None:
    assert "RTX 3060 12GB" in str(_run(file, "--on", "RTX 3060, ram 32GB").exception)
    told = json.loads(_run(file, "--on", "2x RTX 3060 12GB, ram 32GB", "--json").output)
    assert [one["total_memory"] for one in told["devices"][:2]] == [12 << 30, 12 << 30]
    assert told["devices"][0]["kind"] == "vram"


def test_a_folder_without_a_model_is_told_from_one_with_several(tmp_path: Path) -> None:
    assert "holds no model" in _said(tmp_path)
    for name in ("one", "other"):
        ggufs.write(tmp_path / f"{name}.gguf", *ggufs.llama())
    assert "one.gguf, other.gguf" in _said(tmp_path)


def _said(folder: Path) -> str:
    found = CliRunner().invoke(main, ["fit", str(folder), "--on", "cpu"])
    assert found.exit_code != 0
    return " ".join(found.output.split())


@pytest.mark.parametrize(("on", "devices"), [("ram 64GB", 1), ("RTX 3090, ram 64GB", 2)])
def test_a_draft_takes_its_memory_first(file: str, on: str, devices: int) -> None:
    """What it takes is no longer free for the model, and the words that start the engine name both."""
    alone = json.loads(_run(file, "--on", on, "--json").output)
    told = json.loads(_run(file, "--on", on, "--draft", file, "--json").output)
    draft = told["draft"]
    assert len(draft["of_devices"]) == devices
    assert sum(draft["of_devices"]) == draft["total"] == alone["memory"]["total"]
    assert draft["same_words"] is True
    for before, after, taken in zip(alone["devices"], told["devices"], draft["of_devices"], strict=True):
        assert before["free"] is None or before["free"] - after["free"] == taken
    words = told["start"]["words"]
    assert words[words.index("--model-draft") + 1] == file
    assert words[words.index("--gpu-layers-draft") + 1] == str(draft["gpu_layers"])
    assert draft["gpu_layers"] == (17 if devices > 1 else 0)
    assert "draft" not in alone
    report = " ".join(_run(file, "--on", on, "--draft", file).output.split())
    assert "what is free below is what it leaves" in report
    assert "goes on without it" not in report


def test_a_draft_may_be_what_no_longer_fits(file: str) -> None:
    assert _run(file, "--on", "ram 8GB", "--context", "65536").return_value == 0
    assert _run(file, "--on", "ram 8GB", "--context", "65536", "--draft", file).return_value == 1


def test_a_draft_of_another_vocabulary_is_told(file: str, tmp_path: Path) -> None:
    keys, tensors = ggufs.llama()
    other = str(ggufs.write(tmp_path / "other.gguf", {**keys, "tokenizer.ggml.model": "gpt2"}, tensors))
    same = str(ggufs.write(tmp_path / "same.gguf", {**keys, "tokenizer.ggml.model": "llama"}, tensors))
    assert "goes on without it" in " ".join(_run(same, "--on", "cpu", "--draft", other).output.split())
    assert "goes on without it" not in _run(same, "--on", "cpu", "--draft", same).output


@pytest.mark.parametrize("more", [["--engine", "ollama"], ["--engine", "vllm"], ["--train", "lora"]])
def test_a_draft_goes_with_llama_alone(file: str, more: list[str]) -> None:
    found = CliRunner().invoke(main, ["fit", file, "--on", "cpu", "--draft", file, *more])
    assert (found.exit_code, "llama.cpp alone" in found.output) == (2, True)


@pytest.mark.parametrize(("context", "parallel"), [("524288", "1"), ("1048576", "2")])
def test_more_context_than_the_model_was_made_for_is_one_sentence(file: str, context: str, parallel: str) -> None:
    told = " ".join(_run(file, "--on", "RTX 3090, ram 640GB", "--context", context, "--parallel", parallel).output.split())
    assert f"with {context} tokens of context" in told
    assert "The model was made for 131072 tokens of context: more fits, and it answers worse beyond those." in told
    assert "The longest context that fits" not in told


def test_the_longest_context_is_told_where_memory_bounds_it(file: str) -> None:
    told = " ".join(_run(file, "--on", "GTX 1050 Ti, ram 4GB", "--context", "4096").output.split())
    assert "The longest context that fits like this" in told
    assert "The model was made for" not in told
