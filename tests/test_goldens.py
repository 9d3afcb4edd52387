"""The report of twelve machines in four languages, word for word: what a person reads is changed on purpose alone.

RIGUP_WRITE_GOLDENS=1 writes them anew; then read each aloud.
"""

import os
from pathlib import Path

import pytest

from rigup import language
from rigup.cli.layout import columns
from rigup.cli.report import text
from rigup.diagnosis.answer import diagnose

HERE = Path(__file__).parent
MACHINES = {
    "nvidia-healthy": "machines/nvidia-workstation",
    "nvidia-broken": "../docs/examples/cpu-build.txt",
    "nvidia-server": "machines/rhel-h100-hgx",
    "amd-healthy": "machines/amd-workstation",
    "amd-apu-broken": "goldens/machines/ollama-apu.txt",
    "apple": "machines/macbook",
    "intel": "machines/arc-b580",
    "two-makers": "machines/hybrid-laptop",
    "wsl": "machines/wsl-radeon",
    "container": "machines/inside-container",
    "colab": "goldens/machines/colab.txt",
    "cluster-log": "goldens/machines/cluster-log.txt",
    "windows": "machines/windows-radeon",
    "no-gpu": "machines/cpu-server",
}


@pytest.mark.parametrize("code", language.SUPPORTED)
@pytest.mark.parametrize("name", MACHINES)
def test_a_report_reads_as_it_was_read_aloud(name, code, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    language.choose(code)
    told = text(diagnose(str(HERE / MACHINES[name])), here=False) + "\n"
    golden = HERE / "goldens" / code / (name + ".txt")
    if os.environ.get("RIGUP_WRITE_GOLDENS"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(told, encoding="utf-8")
    assert told == golden.read_text(encoding="utf-8")
    prose = [line for line in told.splitlines() if not line.strip().startswith(("sudo ", "python "))]
    assert [line for line in prose if columns(line) > 80] == []
