"""Cards that people name in short are known by the catalogue; ports, prices, models and letters are none."""

import pytest

from rigup.machine.kinds import Gpu
from rigup.machine.look import look
from rigup.machine.sources import open_source


def cards(tmp_path, body):
    (tmp_path / "said.txt").write_text(body + "\n", "utf-8")
    return {gpu.get("isa") for gpu in look(open_source(str(tmp_path)), False).of(Gpu)}


@pytest.mark.parametrize(
    ("body", "isa"),
    [
        ("I have 2x A6000 and run out of memory", "sm_86"),
        ("on an L40S with vllm", "sm_89"),
        ("4x H100 SXM node", "sm_90"),
        ("T4 on Colab", "sm_75"),
        ("P100 on Kaggle", "sm_60"),
        ("rtx3080 10gb", "sm_86"),
        ("1660 super, black images", "sm_75"),
        ("4070 Ti Super 16GB", "sm_89"),
        ("laptop 4060 8gb", "sm_89"),
        ("my 7900XTX", "gfx1100"),
    ],
)
def test_a_short_name_is_a_card(tmp_path, body, isa):
    assert cards(tmp_path, body) == {isa}


@pytest.mark.parametrize(
    "body",
    [
        "listening on 0.0.0.0:4090",
        "paid 1060 EUR for the server with a 970 GB disk",
        "commit a6000ff, build 4060",
        "llama-3.1-70b with 5080 tokens of context",
        "an A4 page of 100 lines",
        "port 3090 for a 1080 p video",
        "an A100 40GB and an H100 80GB",
    ],
)
def test_numbers_and_letters_are_none_and_of_two_nobody_knows(tmp_path, body):
    assert not cards(tmp_path, body)


def test_what_a_tool_names_counts_alone(tmp_path):
    assert cards(tmp_path, "better than an A100 80GB?\nGPU 0: NVIDIA GeForce RTX 3090 (UUID: GPU-0e5b3c1f)") == {"sm_86"}
