"""The report of twelve machines in four languages, word for word: what a person reads is changed on purpose alone.

RIGUP_WRITE_GOLDENS=1 writes them anew; then read each aloud.
"""

import os
from pathlib import Path

import pytest

from packs import machine_folder
from rigup import language
from rigup.cli.layout import columns
from rigup.cli.report import text
from rigup.diagnosis.answer import diagnose

HERE = Path(__file__).parent
MACHINES = {
    "nvidia-healthy": "nvidia-workstation",
    "nvidia-broken": "../docs/examples/cpu-build.txt",
    "nvidia-server": "rhel-h100-hgx",
    "amd-healthy": "amd-workstation",
    "amd-apu-broken": "goldens/machines/ollama-apu.txt",
    "apple": "macbook",
    "intel": "arc-b580",
    "two-makers": "hybrid-laptop",
    "wsl": "wsl-radeon",
    "container": "inside-container",
    "colab": "goldens/machines/colab.txt",
    "cluster-log": "goldens/machines/cluster-log.txt",
    "windows": "windows-radeon",
    "no-gpu": "cpu-server",
}


@pytest.mark.long
@pytest.mark.parametrize("code", language.SUPPORTED)
@pytest.mark.parametrize("name", MACHINES)
def test_a_report_reads_as_it_was_read_aloud(name, code, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    language.choose(code)
    folder = HERE / MACHINES[name] if "/" in MACHINES[name] else machine_folder(MACHINES[name])
    told = text(diagnose(str(folder)), here=False) + "\n"
    golden = HERE / "goldens" / code / (name + ".txt")
    if os.environ.get("RIGUP_WRITE_GOLDENS"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(told, encoding="utf-8")
    assert told == golden.read_text(encoding="utf-8")
    prose = [line for line in told.splitlines() if not line.strip().startswith(("sudo ", "python "))]
    assert [line for line in prose if columns(line) > 80] == []
