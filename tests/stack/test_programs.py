"""Wishes for programs: what is said of them, and what is planned."""

import pytest

from answer_data import plan_of as answer
from rigup.stack.asked import of_file
from rigup.stack.choose import choose
from rigup.stack.profile import read_profile
from rigup.stack.wish import Wish, read_wishes

PROFILE = "RTX 4070, driver 580.95.05, ubuntu 24.04, python 3.12"


def planned(*words, **options):
    return answer(choose(Wish(packages=read_wishes(words), **options), read_profile(PROFILE)))


@pytest.mark.parametrize(
    ("word", "said"), [("comfyui", "git clone https://github.com/comfyanonymous/ComfyUI"), ("llama.cpp", "llama-cpp-python")]
)
def test_a_program_is_told_apart_from_the_package_of_its_name(word, said):
    assert any(any(part in told for part in said.split("|")) for told in planned(word)["warnings"])


@pytest.mark.parametrize("word", ["ollama", "lmstudio"])
def test_a_program_whose_library_has_its_name_is_told_apart_from_it(word):
    plan = planned(word)
    assert plan["verdict"] == "impossible"
    assert plan["steps"] == []
    assert f"{word}>=0" in plan["turned_down"][0]["because"]
    library = planned(word + ">=0")
    assert word + ">=0" in library["requirements"]
    assert library["warnings"] == [] or not any("installer of its own" in told for told in library["warnings"])


def test_a_file_of_requirements_means_the_library(tmp_path):
    path = tmp_path / "requirements.txt"
    path.write_text("ollama\nhttpx\n")
    assert of_file(str(path)).words == ("ollama>=0", "httpx")


def test_a_program_brings_the_python_that_it_runs_on():
    plan = planned("stable-diffusion-webui")
    assert plan["environment"]["python"] in ("3.10", "3.11")
    why = next(change["why"] for change in plan["system"] if change["change"] == "python")
    assert why.startswith("Stable Diffusion web UI does not run on Python 3.12.")
    assert not any(change["change"] == "python" for change in planned("comfyui")["system"])


def test_a_program_without_a_package_installs_nothing_and_says_where_it_is_had():
    plan = planned("lm-studio")
    assert plan["verdict"] == "impossible"
    assert plan["steps"] == []
    assert "lmstudio.ai/download" in plan["turned_down"][0]["because"]


def test_a_program_beside_a_package_is_left_out_and_the_package_stays():
    plan = planned("torch", "lm-studio")
    assert "torch" in plan["packages"]
    assert "lm-studio" not in str(plan["steps"])
    assert any("LM Studio" in told for told in plan["warnings"])


def test_a_package_is_no_program():
    assert not any("program" in told for told in planned("torch", "transformers")["warnings"])
    assert not any(step["kind"] == "clone-program" for step in planned("torch")["steps"])


@pytest.mark.parametrize(("word", "package"), [("sklearn", "scikit-learn"), ("cv2", "opencv-python"), ("PIL", "pillow")])
def test_other_names_are_those_of_pypi(word, package):
    assert read_wishes([word]) == (package,)


def test_numpy_that_was_named_stays_and_is_warned_of():
    plan = planned("torch==2.1.2", "numpy==2.1.0", python="3.11")
    assert "numpy==2.1.0" in plan["requirements"]
    assert any("NumPy below 2" in told for told in plan["warnings"])
    assert not any("NumPy" in told for told in planned("torch==2.1.2", "numpy<2", python="3.11")["warnings"])
