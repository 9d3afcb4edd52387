"""Captured machines by `rigup watch --from`: no crash, and no value that no GPU can have."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rigup.cli.watch import command

SHARED = Path(__file__).parents[3] / "shared" / "machines"
TREES = sorted({path.parent for path in SHARED.glob("*/*/sys")})


@pytest.mark.machines
@pytest.mark.parametrize("tree", TREES or [None], ids=lambda tree: tree.name if tree else "none")
def test_a_captured_tree(tree) -> None:
    if tree is None:
        pytest.skip("no captures")
    done = CliRunner().invoke(command, ["--from", str(tree), "--once", "--json"], standalone_mode=False)
    assert done.exception is None
    for gpu in json.loads(done.output)["gpus"]:
        assert all(0 <= share <= 1 for share in gpu.get("utilisation", {}).values())
        assert all(
            0 <= kind.get("used", 0) <= kind.get("total", 2**60) < 2**50 for kind in gpu.get("memory", {}).values()
        )
        assert all(-50 < heat < 200 for heat in gpu.get("temperature", {}).values())
        assert 0 <= gpu.get("power", {}).get("draw", 0) < 5000


@pytest.mark.machines
@pytest.mark.skipif(not (SHARED / "drm-sysfs/procfs-card0").is_dir(), reason="no captures")
def test_a_vega_whose_files_are_known() -> None:
    done = CliRunner().invoke(
        command, ["--from", str(SHARED / "drm-sysfs/procfs-card0"), "--once", "--json"], standalone_mode=False
    )
    (gpu,) = json.loads(done.output)["gpus"]
    assert gpu["utilisation"]["gpu"] == 0.04
    vram = gpu["memory"]["vram"]
    assert (vram["total"], vram["used"]) == (8573157376, 1490378752)
