"""Words that a person may have mistyped: told before anything of that name is fetched, and others left alone."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.stack.doubts import sorted_out
from rigup.stack.wish import WishError


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("pytroch", "pytorch"),
        ("tensoflow", "tensorflow"),
        ("torch-vision", "torchvision"),
        ("xformer", "xformers"),
        ("onnx-runtime", "onnxruntime"),
        ("TensorFlwo", "tensorflow"),
        ("torhc", "torch"),
        ("bitsandbyte", "bitsandbytes"),
    ],
)
def test_a_slip_is_told_with_what_was_meant(word, meant):
    with pytest.raises(WishError, match=rf"Did you mean {meant}\?"):
        sorted_out([word])


@pytest.mark.parametrize(
    "word",
    [
        "torch",
        "pytorch",
        "numpy",
        "optuna",
        "torchx",
        "torch==2.6",
        "pytroch==1.0",
        "jax[cuda12]",
        "torch>=2.4,<2.8",
        "mlx-lm",
        "cupy",
        "faster-whisper",
        "scipy",
        "my-own-package",
    ],
)
def test_a_name_that_is_known_far_from_all_or_given_with_its_version_stands(word):
    assert sorted_out([word]) == ([word], [])


@pytest.mark.parametrize("word", ["requirements.txt", "./pyproject.toml", "missing/reqs.in", "torch.whl", "env.yml"])
def test_a_word_that_looks_like_a_file_which_is_not_there_says_so(word, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WishError, match="looks like a file"):
        sorted_out([word])


def test_a_file_of_wishes_that_is_there_is_taken_as_one(tmp_path):
    path = tmp_path / "requirements.txt"
    path.write_text("torch==2.6\n")
    assert sorted_out(["jax", str(path)]) == (["jax"], [str(path)])


def test_a_file_that_holds_no_wishes_is_told(tmp_path):
    path = tmp_path / "train.py"
    path.write_text("import torch\n")
    with pytest.raises(WishError, match="no file of wishes"):
        sorted_out([str(path)])


def test_an_address_is_left_to_the_wish_that_tells_of_it():
    assert sorted_out(["torch @ https://mirror.example/simple/torch.whl"])[1] == []


@given(st.text(max_size=300))
def test_any_word_is_sorted_or_refused(word):
    with suppress(WishError):
        wishes, files = sorted_out([word])
        assert [*wishes, *files] == [word]


@pytest.mark.parametrize("word", ["./package", "x-1-py3-none-any.whl", "x-1.tar.gz"])
def test_a_folder_or_a_package_that_is_there_is_refused_with_what_to_do(word, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "package").mkdir()
    (tmp_path / "x-1-py3-none-any.whl").touch()
    (tmp_path / "x-1.tar.gz").touch()
    with pytest.raises(WishError, match="rigup run -- python -m pip install"):
        sorted_out([word])


@pytest.mark.parametrize("word", ["git+https://h.example/x", "https://h.example/x-1-py3-none-any.whl", "x @ https://h.example/x.whl"])
def test_an_address_is_refused_with_what_to_do(word):
    from rigup.stack.wish import installed_by_hand, read_wishes

    with pytest.raises(WishError) as told:
        read_wishes([word])
    assert str(told.value) == installed_by_hand(word)
