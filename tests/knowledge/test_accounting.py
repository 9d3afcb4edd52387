"""No signature matches more than its own kind over real texts, but for what is accounted for here."""

import json
import os
from pathlib import Path

import pytest

from rigup.diagnosis.findings import explained
from rigup.knowledge.doctor_tables import causes, signatures
from rigup.machine.matcher import match
from rigup.machine.paste import texts_of
from rigup.machine.sources import close_sources, decoded, open_source

# Why a message may stand in a text whose label it does not speak of.
ACCOUNTED = {
    ("cudnn-on-ld-library-path", "nv031-container-cudnn-8-4-1-older-than-built"): "torch's own advice, which names the variable",
    ("ggml-device-failed", "x107-llamacpp-windows-660m-gfx1035"): "the failed run that the wrong build leads to",
    ("hsa-out-of-resources", "x018-wsl-no-amd-gpu-at-all"): "rocminfo's word for a WSL without any AMD GPU",
    ("gsp-rpc-timeout", "linux-logs/gpud/nvidia_xid__dmesg-with-xid-119.log"): "a log of that very fault",
    ("gsp-waits-for-answer", "linux-logs/gpud/nvidia_xid__dmesg-with-xid-119.log"): "a log of that very fault",
    ("oom-killer", "linux-logs/gpud/components_memory__dmesg.decode.iso.log"): "a log of that very fault",
    ("rock-module-not-loaded", "no-gpu/rocminfo-5.2.3.txt"): "rocminfo on a machine without AMD's module",
    ("rocm-smi-amdgpu-not-found", "no-gpu/rocm-smi-5.2.3.txt"): "rocm-smi on a machine without AMD's module",
    ("nvitop-finds-no-management-library", "no-gpu/nvitop-1.7.2.txt"): "nvitop on a machine without NVIDIA's driver",
    ("radeontop-finds-no-radeon", "no-gpu/radeontop-intel_gpu_top.txt"): "radeontop on a machine without a card of AMD's",
}
MOST = 3_000_000  # bytes of a text


def loud(heard):
    """Messages that say something is wrong: they neither are harmless nor only state facts."""
    quiet = {row.id for row in signatures() if row.harmless or row.states}
    return {symptom.get("id") for symptom, _facts in heard} - quiet


@pytest.mark.cases
def test_every_message_of_a_labelled_case_is_accounted_for_by_its_label(shared):
    means = {row.id: row.means for row in signatures()}
    strange = []
    for label in sorted((shared / "cases").glob("*/case.json")):
        told = json.loads(label.read_text())
        known = [cause for cause in (told.get("cause"), *told.get("also", ())) if cause in causes()]
        account = {name for cause in known for name in (cause, *explained(cause))}
        try:
            heard = loud(found for source in open_source(str(label.parent)) for text in source.texts for found in match(text))
        finally:
            close_sources()
        strange += [(one, label.parent.name) for one in heard if not {one, means[one]} & account]
    assert [one for one in strange if one not in ACCOUNTED] == []


@pytest.mark.slow
@pytest.mark.machines
def test_no_message_of_trouble_stands_in_the_captures_of_sound_machines(shared):
    strange = []
    for folder, _folders, names in os.walk(shared / "machines"):
        for path in (Path(folder, name) for name in names):
            if path.is_symlink() or path.stat().st_size > MOST or path.name in ("README.md", "INDEX.tsv", "EXPECTED.json"):
                continue
            body = decoded(path.read_bytes()) or ""
            heard = loud(found for text in texts_of(path.name, body) for found in match(text))
            strange += [(one, str(path.relative_to(shared / "machines"))) for one in heard]
    assert [one for one in strange if one not in ACCOUNTED] == []
