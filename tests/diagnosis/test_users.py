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
