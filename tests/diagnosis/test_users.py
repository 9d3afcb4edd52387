"""A fix that replaces a package says who else stands on it."""

from answer_data import diagnose

REPORT = """\
PyTorch version: 2.5.1+cpu
Is debug build: False
CUDA used to build PyTorch: None
ROCM used to build PyTorch: N/A

OS: Ubuntu 22.04.4 LTS (x86_64)
Python version: 3.11.9 (main, Apr  6 2024, 17:59:24) [GCC 11.4.0] (64-bit runtime)
Is CUDA available: False
GPU models and configuration: GPU 0: NVIDIA GeForce RTX 3060
Nvidia driver version: 550.54.15

Versions of relevant libraries:
[pip3] numpy==1.26.4
[pip3] torch==2.5.1
{more}
"""


def first_fix(tmp_path, more):
    (tmp_path / "report.txt").write_text(REPORT.format(more=more))
    finding = diagnose(str(tmp_path / "report.txt"))["findings"][0]
    assert finding["cause"] == "cpu-only-torch"
    return finding["fixes"][0]


def test_packages_that_stand_on_the_replaced_torch_are_named(tmp_path):
    fix = first_fix(tmp_path, "[pip3] xformers==0.0.28.post3\n[pip3] flash-attn==2.7.0")
    assert fix["used_by"] == ["flash-attn 2.7.0", "xformers 0.0.28.post3"]


def test_where_nobody_stands_on_it_nothing_is_said(tmp_path):
    assert "used_by" not in first_fix(tmp_path, "[pip3] requests==2.32.0")


def test_who_was_made_for_the_release_that_stays_needs_nothing(tmp_path):
    listed = "torch 2.4.0\ntorchaudio 2.5.1+cu124\ntorchvision 0.20.1+cu124\ntriton 3.0.0\nxformers 0.0.27.post2\n"
    (tmp_path / "paste.txt").write_text(
        "$ pip list\n" + listed + "RuntimeError: operator torchvision::nms does not exist\n", encoding="utf-8"
    )
    fix = diagnose(str(tmp_path / "paste.txt"))["findings"][0]["fixes"][0]
    assert "used_by" not in fix
    assert {"torch==2.4.0+cu121", "torchvision==0.19.0+cu121", "torchaudio==2.4.0+cu121"} <= set(fix["steps"][0]["commands"][0])
