"""What is started for a word of `rigup chat` and `rigup serve`: a path, a model of a store with what it sees by, or the word itself."""

import sys
from pathlib import Path

import pytest

from rigup.llm.engines.model_files import model_of
from rigup.llm.hub import on_disk
from rigup.llm.hub.entry import WHOLE, Entry, File
from rigup.llm.hub.errors import WrongNameError
from rigup.llm.hub.on_disk import Disk

sys.path.insert(0, str(Path(__file__).parents[2] / "fit"))
import ggufs


def found(word):
    """What an engine is given, and by what it sees."""
    given = model_of(word, {})
    return given.model, given.projector


def entry(name, *files, state=WHOLE):
    """A model of a store; the first file is what runs."""
    held = tuple(File(Path(one), Path(one), 1, (1, number), 1, 0.0) for number, one in enumerate(files))
    return Entry(name=name, store="huggingface", root=Path("/models"), files=held, model=Path(files[0]), form="gguf", state=state)


@pytest.fixture
def store(monkeypatch):
    """Stores with these models."""

    def fill(*entries):
        monkeypatch.setattr(on_disk, "on_disk", lambda _environ: Disk(list(entries), [], []))

    return fill


def test_a_path_is_what_it_is(store, tmp_path):
    store()
    (tmp_path / "a.gguf").write_bytes(b"GGUF")
    (tmp_path / "mmproj.gguf").write_bytes(b"GGUF")
    assert found(str(tmp_path / "a.gguf")) == (str(tmp_path / "a.gguf"), "")


def test_a_name_is_the_file_of_its_store_with_what_it_sees_by(store):
    store(entry("a/vl:Q4", "/models/vl-Q4.gguf", "/models/mmproj-F16.gguf"), entry("b/text:Q4", "/models/text.gguf"))
    assert found("a/vl:Q4") == ("/models/vl-Q4.gguf", "/models/mmproj-F16.gguf")
    assert found("b/text:Q4") == ("/models/text.gguf", "")


def test_of_several_that_it_may_see_by_none_is_guessed(store):
    store(entry("a/vl:Q4", "/models/vl-Q4.gguf", "/models/mmproj-F16.gguf", "/models/mmproj-Q8.gguf"))
    assert found("a/vl:Q4") == ("/models/vl-Q4.gguf", "")


def test_a_name_that_no_store_has_is_left_to_the_engines(store):
    store(entry("half", "/models/half.gguf", state="partial"))
    assert found("half") == ("half", "")
    assert found("llama3.2:3b") == ("llama3.2:3b", "")


def test_a_name_that_means_several_is_told(store):
    store(entry("twin", "/a/x.gguf"), entry("twin", "/b/x.gguf"))
    with pytest.raises(WrongNameError, match="means several"):
        found("twin")


def test_of_a_store_that_names_files_by_their_bytes_the_header_says_what_sees(store, tmp_path):
    head, size = ggufs.header({"general.architecture": "clip"}, [("v.patch_embd.weight", (14, 14, 3, 32), 0)])
    (tmp_path / "sha256-1").write_bytes(b"GGUF")
    (tmp_path / "sha256-2").write_text("{}")
    (tmp_path / "sha256-3").write_bytes(head + bytes(size))
    store(entry("llava:7b", *(str(tmp_path / f"sha256-{number}") for number in (1, 2, 3))))
    assert found("llava:7b") == (str(tmp_path / "sha256-1"), str(tmp_path / "sha256-3"))
