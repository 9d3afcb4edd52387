"""A text names a maker, a scheduler or a system, or it does not."""

import pytest

from rigup.knowledge.named import names


@pytest.mark.parametrize(
    ("text", "of", "id_"),
    [
        ("RuntimeError: HIP error: invalid device function", "maker", "amd"),
        ("hipMemGetInfo: free 8 total 4", "maker", "amd"),
        ("torch 2.9.0+xpu", "maker", "intel"),
        ("device mps", "maker", "apple"),
        ("an RTX 3060", "maker", "nvidia"),
        ("sbatch job.sh", "family", "scheduler"),
        ("microsoft-standard-WSL2", "family", "wsl"),
        ("torch_directml", "family", "directml"),
        ("whatever", "family", "hardware"),
    ],
)
def test_it_is_named(text, of, id_):
    assert names(text, of, id_)


@pytest.mark.parametrize(
    ("text", "of", "id_"),
    [
        ("CUDA out of memory", "maker", "amd"),
        ("the champion ships", "maker", "amd"),
        ("No platform detected", "maker", "intel"),
        ("maps and mpstat", "maker", "apple"),
        ("torchrun --nnodes 2", "family", "scheduler"),
        ("Ubuntu 24.04", "family", "wsl"),
    ],
)
def test_it_is_not_named(text, of, id_):
    assert not names(text, of, id_)
