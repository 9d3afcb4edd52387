"""Captured machines by `rigup watch --from`: no crash, and no value that no GPU can have."""

import contextlib
import json
import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from rigup.cli.watch import command

SHARED = Path(__file__).parents[3] / "shared" / "machines"
TREES = sorted({path.parent for path in SHARED.glob("*/*/sys")})
ARCHIVES = sorted(path for path in SHARED.rglob("*.tar.*") if path.suffix in (".gz", ".bz2", ".xz"))
MOST = 300 * 2**20  # bytes that an archive may unpack to
IDENTITY = ("index", "vendor", "name", "isa", "pci_address", "integrated", "driver", "uuid", "state", "because", "source", "not_available")


def watched(tree: Path) -> dict:
    done = CliRunner().invoke(command, ["--from", str(tree), "--once", "--json"], standalone_mode=False)
    assert done.exception is None, done.exception
    return json.loads(done.output)


def leaves(value, path=""):
    """Every value of an answer with its dotted path; a list is one."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from leaves(part, f"{path}.{name}" if path else name)
    else:
        yield path, value


def check(answer: dict) -> None:
    """No value that no GPU can have, and none that nothing told."""
    for card in answer["gpus"]:
        assert all(0 <= share <= 1 for share in card.get("utilisation", {}).values())
        assert all(0 <= kind.get("used", 0) <= kind.get("total", 2**60) < 2**50 for kind in card.get("memory", {}).values())
        assert all(-50 < heat < 200 for heat in card.get("temperature", {}).values())
        assert 0 <= card.get("power", {}).get("draw", 0) < 5000
        assert 0 <= card.get("power", {}).get("limit", 0) < 5000
        assert all(0 <= clock < 10e9 for clock in card.get("clock", {}).values())
        assert 0 <= card.get("pcie", {}).get("width", 0) <= 32
        paths = {path for path, _value in leaves({name: part for name, part in card.items() if name not in IDENTITY})}
        assert paths <= set(card["source"]), paths - set(card["source"])
        assert not paths & set(card["not_available"])


@pytest.mark.machines
@pytest.mark.parametrize("tree", TREES or [None], ids=lambda tree: tree.name if tree else "none")
def test_a_captured_tree(tree) -> None:
    if tree is None:
        pytest.skip("no captures")
    check(watched(tree))


@pytest.mark.machines
@pytest.mark.parametrize("archive", ARCHIVES or [None], ids=lambda archive: archive.name if archive else "none")
def test_a_captured_archive(archive, tmp_path) -> None:
    """Whole machines as hwloc, ghw and others keep them: each folder that holds a `sys` is a machine."""
    if archive is None:
        pytest.skip("no captures")
    with tarfile.open(archive) as packed:
        members = [member for member in packed if member.isdir() or member.issym() or (member.isreg() and member.size < 2**20)]
        if sum(member.size for member in members) > MOST:
            pytest.skip("too large")
        for member in members:
            with contextlib.suppress(tarfile.FilterError, OSError):  # names that lead out of it are left out
                packed.extract(member, tmp_path, filter="data")
    roots = {path.parent for path in tmp_path.rglob("sys") if path.is_dir()} or {tmp_path}
    for root in sorted(roots)[:4]:
        check(watched(root))


@pytest.mark.machines
@pytest.mark.skipif(not (SHARED / "drm-sysfs/procfs-card0").is_dir(), reason="no captures")
def test_a_vega_whose_files_are_known() -> None:
    done = CliRunner().invoke(command, ["--from", str(SHARED / "drm-sysfs/procfs-card0"), "--once", "--json"], standalone_mode=False)
    (gpu,) = json.loads(done.output)["gpus"]
    assert gpu["utilisation"]["gpu"] == 0.04
    vram = gpu["memory"]["vram"]
    assert (vram["total"], vram["used"]) == (8573157376, 1490378752)
