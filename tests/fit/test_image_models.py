"""Models that make pictures, by the headers of their files; and the bars of every answer as a page and a picture."""

import functools
import http.server
import json
import threading
from pathlib import Path

import pytest
import test_safetensors as made
from click.testing import CliRunner

from rigup.cli import main

GIB = 1 << 30
XL = {
    "model.diffusion_model.input_blocks.0.0.weight": 2600 << 20,
    "model.diffusion_model.label_emb.0.0.weight": 1 << 20,
    "conditioner.embedders.0.transformer.text_model.x": 120 << 20,
    "conditioner.embedders.1.model.x": 690 << 20,
    "first_stage_model.decoder.x": 84 << 20,
}
OLD = {
    "model.diffusion_model.input_blocks.0.0.weight": 860 << 20,
    "cond_stage_model.transformer.x": 123 << 20,
    "first_stage_model.x": 84 << 20,
}
FLUX = {"double_blocks.0.img_attn.qkv.weight": 6000 << 20, "single_blocks.0.linear1.weight": 5900 << 20}


def write(path: Path, tensors: dict[str, int], kind: str = "F16", each: int = 2) -> Path:
    """A header and a hole: so many numbers of each tensor."""
    at, entries = 0, {}
    for name, count in tensors.items():
        entries[name] = made.entry(at, count, kind=kind, each=each)
        at += count * each
    head = made.header(entries)
    with path.open("wb") as file:
        file.write(head)
        file.truncate(len(head) + at)
    return path


def _run(*words: str):
    return CliRunner().invoke(main, ["fit", *words], standalone_mode=False)


@pytest.mark.parametrize(("tensors", "family"), [(XL, "Stable Diffusion XL"), (OLD, "Stable Diffusion 1.5 or 2"), (FLUX, "Flux")])
def test_a_single_file_is_known_by_its_tensors(tmp_path: Path, tensors: dict, family: str) -> None:
    told = json.loads(_run(str(write(tmp_path / "m.safetensors", tensors)), "--on", "RTX 3090, ram 64GB", "--json").output)
    assert told["model"]["family"] == family
    assert told["model"]["parameters"] == sum(tensors.values())
    assert sum(one["bytes"] for one in told["parts"]) == 2 * sum(tensors.values())
    assert told["estimate"] is True


def test_parts_one_after_another_take_less_than_all_at_once_and_a_small_card_holds_those_alone(tmp_path: Path) -> None:
    file = str(write(tmp_path / "flux.safetensors", FLUX))
    told = json.loads(_run(file, "--on", "RTX 3090, ram 64GB", "--json").output)
    need = {one["way"]: one["card"] for one in told["ways"]}
    assert need["pieces"] < need["all"] * 1.5
    assert need["parts"] <= need["all"]
    small = json.loads(_run(file, "--on", "GTX 1050 Ti, ram 64GB", "--json").output)
    assert [one["fits"] for one in small["ways"]][:2] == [False, False]


def test_single_precision_is_loaded_as_half_and_larger_pictures_take_more(tmp_path: Path) -> None:
    file = str(write(tmp_path / "m.safetensors", OLD, "F32", 4))
    small, large = (json.loads(_run(file, "--on", "RTX 3090, ram 64GB", "--side", side, "--json").output) for side in ("512", "1024"))
    assert sum(one["bytes"] for one in small["parts"]) == 2 * sum(OLD.values())
    assert large["work"] == 4 * small["work"]


def test_a_folder_of_diffusers_is_read_part_by_part(tmp_path: Path) -> None:
    names = {
        "unet": {"down_blocks.0.attentions.0.x": 800},
        "vae": {"decoder.x": 80},
        "text_encoder": {"text_model.x": 120},
        "text_encoder_2": {"text_model.x": 60},
    }
    for name, tensors in names.items():
        (tmp_path / name).mkdir()
        write(tmp_path / name / "model.safetensors", tensors)
    (tmp_path / "model_index.json").write_text(
        json.dumps({"_class_name": "StableDiffusionPipeline", **{name: ["a", "b"] for name in names}})
    )
    told = json.loads(_run(str(tmp_path), "--on", "RTX 3090, ram 64GB", "--json").output)
    assert {one["name"]: one["bytes"] for one in told["parts"]} == {"denoiser": 1600, "vae": 160, "text encoders": 360}


@pytest.mark.parametrize("text", ["", "[]", "{}", "{" * 9000, '{"unet": 1}'])
def test_a_broken_index_of_a_pipeline_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "model_index.json").write_text(text)
    assert str(tmp_path) in str(_run(str(tmp_path), "--on", "cpu").exception)


def test_a_file_of_another_kind_tells_what_is_lacking(tmp_path: Path) -> None:
    assert "config.json" in str(_run(str(write(tmp_path / "m.safetensors", {"model.layers.0.x": 8})), "--on", "cpu").exception)


@pytest.mark.parametrize("language", ["en", "ru", "zh_CN", "zh_TW"])
def test_pictures_and_training_are_told_in_every_language(tmp_path: Path, language: str) -> None:
    file = str(write(tmp_path / "m.safetensors", XL))
    for words, english in (([file], "makes pictures"), (["qwen3 0.6b", "--train", "full"], "At its peak")):
        found = CliRunner().invoke(main, ["--lang", language, "fit", *words, "--on", "RTX 3090, ram 64GB"], standalone_mode=False)
        assert "3090" in found.output
        assert (english in found.output) == (language == "en")


@pytest.mark.long
@pytest.mark.parametrize("words", [["qwen3 8b"], ["qwen3 8b", "--train", "lora"], ["qwen3 8b", "--engine", "vllm"], ["PICTURES"]])
def test_bars_are_drawn_as_a_page_and_as_a_picture(tmp_path: Path, words: list[str]) -> None:
    file = str(write(tmp_path / "m.safetensors", XL))
    words = [file if word == "PICTURES" else word for word in words]
    page, picture = tmp_path / "bars.html", tmp_path / "bars.png"
    found = _run(*words, "--on", "RTX 3090, ram 64GB", "--html", str(page), "--png", str(picture))
    assert found.exception is None
    assert picture.read_bytes().startswith(b"\x89PNG")
    text = page.read_text(encoding="utf-8")
    assert "3090" in text
    assert 'class="bar' in text
    assert "<script" not in text
    assert page.stat().st_mode & 0o077 == 0
    assert "is there already" in str(_run(*words, "--on", "RTX 3090, ram 64GB", "--html", str(page)).exception)


def test_a_name_of_markup_stays_text_on_the_page(tmp_path: Path) -> None:
    file, page = write(tmp_path / "<b onload=x>.safetensors", OLD), tmp_path / "bars.html"
    _run(str(file), "--on", "RTX 3090, ram 64GB", "--html", str(page))
    assert "<b onload" not in page.read_text(encoding="utf-8")


PIPELINE = {
    "unet/diffusion_pytorch_model.safetensors": {"down_blocks.0.x": 800},
    "unet/diffusion_pytorch_model.fp16.safetensors": {"down_blocks.0.x": 800},
    "vae/model.fp16.safetensors": {"decoder.x": 80},
    "text_encoder/model.safetensors": {"text_model.x": 120},
    "safety_checker/model.safetensors": {"vision.x": 9999},
}


def pipeline(folder: Path) -> Path:
    for name, tensors in PIPELINE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write(folder / name, tensors)
    (folder / "model_index.json").write_text('{"_class_name": "StableDiffusionXLPipeline"}')
    return folder


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A hub on loopback that has one repository, and answers without ranges."""
    home = tmp_path / "hub"
    made = pipeline(home / "own" / "pictures" / "resolve" / "main")
    listed = [{"path": path.relative_to(made).as_posix(), "size": 1} for path in made.rglob("*") if path.is_file()]
    tree = home / "api" / "models" / "own" / "pictures" / "tree" / "main"
    tree.parent.mkdir(parents=True)
    tree.write_text(json.dumps(listed))
    handler = functools.partial(_Quiet, directory=str(home))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        yield tree
        server.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_what: object) -> None:
        return


@pytest.mark.long
@pytest.mark.usefixtures("hub")
def test_a_repository_of_diffusers_is_told_as_the_folder_that_it_would_become(tmp_path: Path) -> None:
    there, here = (
        json.loads(_run(word, "--on", "RTX 3090, ram 64GB", "--json").output) for word in ("own/pictures", str(pipeline(tmp_path / "here")))
    )
    assert {one["name"]: one["bytes"] for one in here["parts"]} == {"denoiser": 1600, "vae": 160, "text encoders": 240}
    assert (there["parts"], there["model"]["family"]) == (here["parts"], "Stable Diffusion XL")


def test_a_repository_without_weights_of_a_known_form_is_told(hub: Path) -> None:
    hub.write_text(json.dumps([{"path": "model_index.json", "size": 1}, {"path": "unet/model.bin", "size": 9}]))
    assert "has neither GGUF files nor safetensors" in str(_run("own/pictures", "--on", "cpu").exception)
