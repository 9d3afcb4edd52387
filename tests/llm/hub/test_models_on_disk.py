"""`rigup models`: real folders as the programs make them, and hostile ones."""

import json
import os
import subprocess
import sys

import model_stores as stores
import pytest
from click.testing import CliRunner

from rigup import schemas
from rigup.cli import main
from rigup.llm.hub.places import places

MODEL, OTHER = stores.gguf(1), stores.gguf(2)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An account without models."""
    for name in [name for name in os.environ if name.startswith(("HF_", "HUGGING", "OLLAMA", "LLAMA_CACHE", "XDG_CACHE"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def run(*words, **more):
    return CliRunner().invoke(main, ["models", *words], standalone_mode=False, **more)


def asked(*words):
    told = json.loads(run("--json", *words).output)
    (kind,) = schemas.types_of("models")
    import msgspec

    return msgspec.convert(told, kind)


def by_name(answer):
    return {f"{one.source}:{one.name}": one for one in answer.models}


def removed(*words):
    done = run("remove", *words, "--yes", "--json")
    assert done.exception is None, done.exception
    return json.loads(done.output)


# -- listing -----------------------------------------------------------------------------------------


def test_every_program_that_keeps_models_is_looked_at(home):
    stores.hf(home / ".cache/huggingface/hub", "some/tiny-GGUF", {"tiny-Q8_0.gguf": MODEL, "README.md": b"hello"})
    stores.ollama(home / ".ollama/models", "tiny:1b", OTHER)
    stores.put(home / ".lmstudio/models/some/tiny/tiny.gguf", stores.gguf(3))
    stores.put(home / ".local/share/Jan/data/llamacpp/models/tiny-jan/model.gguf", stores.gguf(4))
    stores.put(home / ".cache/llama.cpp/some_tiny_tiny.gguf", stores.gguf(5))
    stores.put(home / "mine/deep/tiny.gguf", stores.gguf(6))
    told = by_name(asked("--in", str(home / "mine")))
    assert set(told) == {
        "huggingface:some/tiny-GGUF/tiny-Q8_0.gguf",
        "ollama:tiny:1b",
        "lmstudio:some/tiny/tiny.gguf",
        "jan:tiny-jan",
        "llama.cpp:some_tiny_tiny.gguf",
        "folder:deep/tiny.gguf",
    }
    for one in told.values():
        assert (one.state, one.architecture, one.quantisation, one.fits) == ("whole", "llama", "F16", True)
        assert one.last_used
    assert told["huggingface:some/tiny-GGUF/tiny-Q8_0.gguf"].bytes == len(MODEL)


@pytest.mark.parametrize(
    ("variable", "below"), [("HF_HUB_CACHE", ""), ("HUGGINGFACE_HUB_CACHE", ""), ("HF_HOME", "hub"), ("XDG_CACHE_HOME", "huggingface/hub")]
)
def test_variables_say_where_hugging_faces_cache_lies(home, monkeypatch, variable, below):
    stores.hf(home / "there" / below, "a/b", {"b.gguf": MODEL})
    stores.hf(home / ".cache/huggingface/hub", "not/this", {"b.gguf": MODEL})
    monkeypatch.setenv(variable, str(home / "there"))
    assert set(by_name(asked())) == {"huggingface:a/b/b.gguf"}


def test_the_folder_of_ollamas_service_is_read_from_its_unit(tmp_path):
    unit = tmp_path / "etc/systemd/system/ollama.service.d/override.conf"
    stores.put(unit, b'[Service]\nEnvironment="OLLAMA_HOST=0.0.0.0"\nEnvironment="OLLAMA_MODELS=/data/models"\n')
    assert ("ollama", "/data/models") in {(one.store, str(one.path)) for one in places({"HOME": "/h"}, root=str(tmp_path))}


def test_settings_name_the_folder_of_lm_studio_and_jan(home):
    stores.put(home / ".lmstudio/settings.json", json.dumps({"downloadsFolder": str(home / "lm")}).encode())
    stores.put(home / ".local/share/Jan/settings.json", json.dumps({"data_folder": str(home / "j")}).encode())
    stores.put(home / "lm/a/b.gguf", MODEL)
    stores.put(home / "j/llamacpp/models/c/model.gguf", OTHER)
    assert set(by_name(asked())) == {"lmstudio:a/b.gguf", "jan:c"}


def test_what_several_share_counts_once(home):
    cache = home / ".cache/huggingface/hub"
    stores.hf(cache, "a/b", {"b.gguf": MODEL})
    stores.hf(cache, "a/b", {"b.gguf": MODEL}, commit=stores.OLDER, main=False)
    blob = stores.ollama(home / ".ollama/models", "one:1b", OTHER, {"template": b"x" * 50})
    stores.ollama(home / ".ollama/models", "two:1b", OTHER)
    hard = home / ".lmstudio/models/x/y.gguf"
    hard.parent.mkdir(parents=True)
    os.link(cache / "models--a--b/blobs" / stores.digest(MODEL), hard)
    answer = asked()
    told = by_name(answer)
    assert set(told) == {"huggingface:a/b/b.gguf", "ollama:one:1b", "ollama:two:1b", "lmstudio:x/y.gguf"}
    assert told["ollama:one:1b"].used_with == ["ollama:two:1b"]
    assert told["lmstudio:x/y.gguf"].used_with == ["huggingface:a/b/b.gguf"]
    assert answer.bytes == len(MODEL) + len(OTHER) + 50 + len(b'{"model_format":"gguf"}')
    assert blob.is_file()


def test_an_older_revision_of_a_file_is_a_model_of_its_own(home):
    cache = home / ".cache/huggingface/hub"
    stores.hf(cache, "a/b", {"b.gguf": OTHER}, commit=stores.OLDER)
    stores.hf(cache, "a/b", {"b.gguf": MODEL})
    assert set(by_name(asked())) == {"huggingface:a/b/b.gguf", "huggingface:a/b/b.gguf@bbbbbbbb"}


def test_parts_of_one_model_are_one_and_one_that_lacks_is_told(home):
    keys, tensors = stores.ggufs.llama(width=64, layers=2, heads=2, shared=1, inner=128, words=256, length=32)
    head, size = stores.ggufs.header(keys, tensors[:3])
    other, more = stores.ggufs.header({"split.no": 1}, tensors[3:])
    folder = home / ".lmstudio/models/big"
    stores.put(folder / "b-00001-of-00002.gguf", head + bytes(size))
    one = by_name(asked())["lmstudio:big/b-00001-of-00002.gguf"]
    assert (one.state, one.fits) == ("partial", None)
    assert "1 of its 2" in one.fault
    stores.put(folder / "b-00002-of-00002.gguf", other + bytes(more))
    one = by_name(asked())["lmstudio:big/b-00001-of-00002.gguf"]
    assert (one.state, len(one.files)) == ("whole", 2)


def test_a_folder_of_safetensors_is_one_model_and_its_index_tells_what_lacks(home):
    entries = {"model.embed_tokens.weight": {"dtype": "BF16", "shape": [8, 8], "data_offsets": [0, 128]}}
    head = json.dumps(entries).encode()
    weights = len(head).to_bytes(8, "little") + head + bytes(128)
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "intermediate_size": 128,
        "vocab_size": 256,
    }
    index = {"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}}
    files = {"config.json": json.dumps(config).encode(), "model-00001-of-00002.safetensors": weights}
    cache = home / ".cache/huggingface/hub"
    stores.hf(cache, "a/whole", files)
    stores.hf(cache, "a/part", {**files, "model.safetensors.index.json": json.dumps(index).encode()})
    told = by_name(asked())
    assert (told["huggingface:a/whole"].state, told["huggingface:a/whole"].fits) == ("whole", True)
    assert told["huggingface:a/part"].state == "partial"
    assert "model-00002-of-00002" in told["huggingface:a/part"].fault


def test_what_broke_off_or_is_left_is_told_as_such(home):
    cache, models = home / ".cache/huggingface/hub", home / ".ollama/models"
    folder = stores.hf(cache, "a/b", {"b.gguf": MODEL})
    stores.put(folder / "blobs" / ("c" * 64 + ".incomplete"), b"x" * 9000)
    stores.put(folder / "blobs" / ("d" * 64), b"y" * 7000)
    manifest = stores.ollama(models, "gone:1b", OTHER)
    (models / "blobs" / f"sha256-{stores.digest(OTHER)}").unlink()
    stores.put(models / "blobs" / f"sha256-{'e' * 64}", b"z" * 5000)
    sparse = stores.put(models / "blobs" / f"sha256-{'f' * 64}-partial", b"")
    os.truncate(sparse, 1 << 30)
    stores.put(models / "blobs" / f"sha256-{'f' * 64}-partial-0", b"{}")
    stores.put(home / ".lmstudio/models/c/cut.gguf", MODEL[: len(MODEL) // 2])
    stores.put(home / ".lmstudio/models/c/text.gguf", b"<html>")
    stores.put(home / ".lmstudio/models/c/none.gguf", b"")
    told = {name: one.state for name, one in by_name(asked()).items()}
    assert told == {
        "huggingface:a/b/b.gguf": "whole",
        f"huggingface:a/b/blobs/{'c' * 64}.incomplete": "partial",
        f"huggingface:a/b/blobs/{'d' * 64}": "left",
        "ollama:gone:1b": "broken",
        f"ollama:sha256-{'e' * 12}": "left",
        f"ollama:sha256-{'f' * 12}-partial": "partial",
        "lmstudio:c/cut.gguf": "partial",
        "lmstudio:c/text.gguf": "broken",
        "lmstudio:c/none.gguf": "broken",
    }
    assert asked().bytes < 1 << 25
    assert manifest.is_file()
    assert "not whole" in run().output


def test_what_a_model_sees_with_is_no_broken_model(home):
    keys = {"general.architecture": "clip", "clip.vision.block_count": 2, "clip.has_vision_encoder": True}
    head, size = stores.ggufs.header(keys, [("v.patch_embd.weight", (14, 14, 3, 32), 0)])
    stores.put(home / "mine" / "eyes.gguf", head + bytes(size))
    (row,) = asked("--in", str(home / "mine")).models
    assert (row.state, row.form, row.fault, row.path) == ("whole", "other", None, None)


def test_a_look_at_a_header_is_no_use_of_the_model(home):
    path = stores.put(home / ".lmstudio/models/a.gguf", MODEL)
    os.utime(path, (1_700_000_000, 1_600_000_000))
    assert by_name(asked())["lmstudio:a.gguf"].last_used == "2023-11-14T22:13:20+00:00"
    assert path.stat().st_atime == 1_700_000_000


# -- hostile stores ----------------------------------------------------------------------------------


def test_pipes_devices_and_links_in_circles_hang_nothing(home):
    folder = home / ".lmstudio/models"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "pipe.gguf")
    (folder / "zero.gguf").symlink_to("/dev/zero")
    (folder / "self.gguf").symlink_to("self.gguf")
    (folder / "up").symlink_to("..")
    cache = home / ".cache/huggingface/hub/models--a--b"
    (cache / "snapshots" / stores.COMMIT).mkdir(parents=True)
    os.mkfifo(cache / "snapshots" / stores.COMMIT / "b.gguf")
    os.mkfifo(cache / "snapshots" / stores.COMMIT / "config.json")
    (cache / "refs").mkdir()
    stores.put(home / ".ollama/models/manifests/registry.ollama.ai/library/x/deep", b"[" * 100_000)
    stores.put(home / ".ollama/models/manifests/registry.ollama.ai/library/x/big", bytes(3 << 20))
    stores.put(
        home / ".ollama/models/manifests/registry.ollama.ai/library/x/up",
        json.dumps(
            {"layers": [{"digest": "sha256:../../../etc/passwd", "mediaType": "application/vnd.ollama.image.model"}, 3, {"digest": [1]}]}
        ).encode(),
    )
    told = by_name(asked())
    assert {one.state for one in told.values()} == {"broken"}
    assert len(told) == 7
    assert not any(one.path or one.bytes for one in told.values())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_store_of_somebody_else_is_told(home):
    models = home / ".ollama/models/manifests"
    models.mkdir(parents=True)
    models.chmod(0)
    try:
        (store,) = [one for one in asked().stores if one.fault]
    finally:
        models.chmod(0o755)
    assert store.source == "ollama"


def test_a_store_that_cannot_be_read_is_told_and_hides_no_other(home):
    stores.put(home / ".cache/huggingface/hub", b"a file in the way")
    stores.put(home / ".lmstudio/models/a.gguf", MODEL)
    answer = asked()
    assert [one.source for one in answer.stores if one.fault] == ["huggingface"]
    assert set(by_name(answer)) == {"lmstudio:a.gguf"}
    assert "cannot be read" in " ".join(run().output.split())


def test_a_further_folder_holds_also_for_what_is_done_in_it(home):
    stores.put(home / "mine/tiny.gguf", MODEL)
    assert "tiny.gguf" in run("--in", str(home / "mine"), "remove", "--dry-run", "tiny.gguf").output
    assert "without a checksum: 1" in run("--in", str(home / "mine"), "check").output
    assert "without a checksum: 0" in run("check").output


def test_a_folder_that_is_not_there_is_refused_and_none_of_the_places_need_be(home):
    assert isinstance(run("--in", str(home / "nowhere")).exception, Exception)
    assert asked().models == []
    assert "rigup pull" in run().output.partition("No model lies")[2]


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("a/b", "a/b/x-Q4_K_M.gguf"),
        ("a/b:q8_0", "a/b/x-Q8_0.gguf"),
        ("hf.co/a/b:Q8_0", "a/b/x-Q8_0.gguf"),
        ("a/b/x-Q8_0.gguf", "a/b/x-Q8_0.gguf"),
        ("tiny", "tiny:latest"),
        ("ollama:tiny:latest", "tiny:latest"),
        ("a/b:Q2_K", None),
        ("a/other", None),
        ("broken.gguf", None),
        ("nothing at all", None),
    ],
)
def test_a_word_means_the_model_that_an_engine_is_given(home, word, found):
    stores.hf(home / ".cache/huggingface/hub", "a/b", {"x-Q4_K_M.gguf": MODEL, "x-Q8_0.gguf": OTHER})
    stores.ollama(home / ".ollama/models", "tiny:latest", stores.gguf(3))
    stores.put(home / ".lmstudio/models/broken-00001-of-00002.gguf", MODEL)
    from rigup.llm.hub.on_disk import on_disk, runnable

    entry = runnable(word, on_disk(os.environ).entries)
    assert (entry and entry.name) == found
    assert entry is None or entry.model.is_file()


def test_a_word_that_means_several_models_is_refused(home):
    stores.put(home / ".lmstudio/models/a.gguf", MODEL)
    stores.put(home / ".cache/llama.cpp/a.gguf", OTHER)
    from rigup.llm.hub.errors import WrongNameError
    from rigup.llm.hub.on_disk import on_disk, runnable

    with pytest.raises(WrongNameError, match=r"llama\.cpp:a\.gguf"):
        runnable("a.gguf", on_disk(os.environ).entries)


def test_checksums_that_stores_keep_are_held_against_the_bytes(home):
    folder = stores.hf(home / ".cache/huggingface/hub", "a/b", {"b.gguf": MODEL})
    stores.ollama(home / ".ollama/models", "tiny:1b", OTHER)
    stores.put(home / ".lmstudio/models/a.gguf", stores.gguf(5))

    def verdicts(*words):
        done = run("check", *words, "--json")
        told = json.loads(done.output)
        return done.return_value, {f"{one['source']}:{one['name']}": one["verdict"] for one in told["files"]}

    assert verdicts() == (0, {"huggingface:a/b/b.gguf": "right", "ollama:tiny:1b": "right", "lmstudio:a.gguf": "unknown"})
    blob = folder / "blobs" / stores.digest(MODEL)
    blob.write_bytes(MODEL[:-1] + b"!")
    assert verdicts()[1]["huggingface:a/b/b.gguf"] == "wrong"
    assert verdicts("tiny:1b") == (0, {"ollama:tiny:1b": "right"})
    shown = run("check", "a/b/b.gguf")
    assert shown.return_value == 1
    assert "load it anew" in " ".join(shown.output.split())


# -- removal -----------------------------------------------------------------------------------------


def test_of_hugging_face_all_links_to_a_blob_go_with_it_and_the_rest_stays(home):
    cache = home / ".cache/huggingface/hub"
    folder = stores.hf(cache, "a/b", {"one.gguf": MODEL, "two.gguf": OTHER, "README.md": b"r"})
    stores.hf(cache, "a/b", {"one.gguf": MODEL}, commit=stores.OLDER, main=False)
    told = removed("a/b/one.gguf")
    assert told["frees"] == len(MODEL)
    left = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}
    assert left == {
        f"blobs/{stores.digest(OTHER)}",
        f"blobs/{stores.digest(b'r')}",
        f"snapshots/{stores.COMMIT}/two.gguf",
        f"snapshots/{stores.COMMIT}/README.md",
        "refs/main",
    }
    removed("huggingface:a/b/two.gguf")
    assert not folder.exists()


def test_a_blob_that_another_model_of_ollama_uses_stays_and_that_is_told(home):
    models = home / ".ollama/models"
    first = stores.ollama(models, "one:1b", MODEL, {"template": b"only one's"})
    second = stores.ollama(models, "two:1b", MODEL)
    told = removed("one:1b")
    assert told["used_by"] == ["ollama:two:1b"]
    assert told["frees"] == len(b"only one's")
    assert not first.exists()
    assert second.exists()
    assert by_name(asked())["ollama:two:1b"].state == "whole"
    assert removed("two:1b")["frees"] > len(MODEL)
    assert list((models / "blobs").iterdir()) == []


def test_a_hard_link_elsewhere_keeps_the_bytes_and_that_is_told(home):
    path = stores.put(home / ".lmstudio/models/a/a.gguf", MODEL)
    os.link(path, home / "mine.gguf")
    told = removed("a/a.gguf")
    assert told["frees"] == 0
    assert "hard link" in told["kept"][0]["because"]
    assert not path.exists()
    assert (home / "mine.gguf").read_bytes() == MODEL


def test_behind_a_link_out_of_the_store_nothing_is_removed(home):
    mine = stores.put(home / "mine/a.gguf", MODEL)
    models = home / ".lmstudio/models"
    models.mkdir(parents=True)
    (models / "a.gguf").symlink_to(mine)
    (models / "there").symlink_to(home / "mine")
    told = removed("a.gguf")
    assert "outside" in told["kept"][0]["because"]
    assert mine.read_bytes() == MODEL
    assert not os.path.lexists(models / "a.gguf")
    removed_by_folder = run("remove", "there/a.gguf", "--yes")
    assert mine.read_bytes() == MODEL, removed_by_folder.output


def test_a_blob_that_another_program_links_to_is_kept_with_the_repository(home):
    folder = stores.hf(home / ".cache/huggingface/hub", "a/b", {"b.gguf": MODEL})
    link = home / ".lmstudio/models/b.gguf"
    link.parent.mkdir(parents=True)
    link.symlink_to(folder / "blobs" / stores.digest(MODEL))
    told = removed("huggingface:a/b/b.gguf")
    assert told["used_by"] == ["lmstudio:b.gguf"]
    assert link.read_bytes() == MODEL
    removed("lmstudio:b.gguf")
    assert (folder / "blobs" / stores.digest(MODEL)).exists()


def test_a_manifest_that_is_another_models_blob_by_a_link_takes_nothing_from_it(home):
    models = home / ".ollama/models"
    manifest = stores.ollama(models, "good:1b", MODEL)
    (manifest.parent.parent / "evil").symlink_to(models / "blobs")
    names = {name for name, one in by_name(asked()).items() if name.startswith("ollama:evil")}
    assert names
    for name in names:
        run("remove", name, "--yes")
    assert by_name(asked())["ollama:good:1b"].state == "whole"


def test_what_programs_note_beside_a_model_goes_with_it(home):
    jan = stores.put(home / ".local/share/Jan/data/llamacpp/models/tiny/model.gguf", MODEL)
    stores.put(jan.with_name("model.yml"), b"name: tiny")
    other = stores.put(jan.parent.parent / "other/model.gguf", OTHER)
    cached = stores.put(home / ".cache/llama.cpp/x.gguf", stores.gguf(3))
    stores.put(cached.with_name("x.gguf.etag"), b'"1"')
    removed("jan:tiny")
    removed("llama.cpp:x.gguf")
    assert not jan.parent.exists()
    assert other.read_bytes() == OTHER
    assert list(cached.parent.iterdir()) == []


def test_nobody_is_asked_where_nobody_can_answer_and_a_dry_run_removes_nothing(home):
    path = stores.put(home / ".lmstudio/models/a.gguf", MODEL)
    assert run("remove", "a.gguf").exception is not None
    shown = run("remove", "a.gguf", "--dry-run")
    assert str(path) in "".join(shown.output.split())
    assert run("remove", "b.gguf", "--yes").exception is not None
    assert path.exists()


def test_a_name_of_several_stores_is_refused(home):
    stores.put(home / ".lmstudio/models/a.gguf", MODEL)
    stores.put(home / ".cache/llama.cpp/a.gguf", OTHER)
    done = run("remove", "a.gguf", "--yes")
    assert "lmstudio:a.gguf" in str(done.exception)
    assert "llama.cpp:a.gguf" in str(done.exception)
    removed("llama.cpp:a.gguf")
    assert (home / ".lmstudio/models/a.gguf").exists()


def test_a_file_that_was_changed_for_another_meanwhile_is_not_removed(home):
    from rigup.llm.hub.errors import ModelError
    from rigup.llm.hub.on_disk import on_disk
    from rigup.llm.hub.removal import carried_out, foreseen

    path = stores.put(home / ".lmstudio/models/a.gguf", MODEL)
    entries = on_disk(os.environ).entries
    removal = foreseen(entries[0], entries)
    stores.put(home / "new", OTHER).replace(path)
    with pytest.raises(ModelError, match="another file"):
        carried_out(removal)
    assert path.read_bytes() == OTHER


@pytest.mark.skipif(sys.platform != "linux", reason="open files are told by /proc")
def test_a_program_that_has_it_open_is_told(home):
    path = stores.put(home / ".lmstudio/models/a.gguf", MODEL)
    code = f"import mmap,sys; f=open({str(path)!r},'rb'); m=mmap.mmap(f.fileno(),0,access=mmap.ACCESS_READ); print(1,flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        program.stdout.readline()
        told = json.loads(run("remove", "a.gguf", "--dry-run", "--json").output)
        program.stdin.close()
    assert [one.split()[0] for one in told["running"]] == [str(program.pid)]
