"""`rigup knowledge` as a person and a program use it; and what it costs to import the package."""

import gettext
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from rigup.cli.knowledge import command
from rigup.knowledge import tables
from rigup.knowledge.tables import Store
from rigup.shipped import CATALOGUES, compiled_catalogue, unpack_catalogues

ROOT = Path(__file__).parents[2]


@pytest.fixture
def run():
    return lambda *words: CliRunner().invoke(command, words)


@pytest.fixture
def overlay(tmp_path, monkeypatch):
    folder = tmp_path / "rigup" / "knowledge"
    folder.mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr(tables, "overlay_folders", lambda: (folder,))
    tables.forget()
    yield folder
    monkeypatch.undo()
    tables.forget()


def test_found_rows_show_their_origin(run):
    result = run("gfx1103", "--table", "gfx_overrides")
    assert result.exit_code == 0
    assert "value: 11.0.0" in result.output
    assert "(reported, checked 2026-" in result.output


def test_nothing_found_is_1_and_wrong_usage_2(run):
    assert run("nosuchthing").exit_code == 1
    assert run("x", "--table", "nosuchtable").exit_code == 2
    assert run("x", "--limit", "0").exit_code == 2


def test_the_list_of_tables(run):
    result = run()
    assert result.exit_code == 0
    assert "torch_builds" in result.output
    assert "2026-" in result.output


def test_limit_is_told(run):
    result = run("RTX", "--limit", "2")
    assert "2 of " in result.output


@pytest.mark.long
def test_json(run):
    answer = json.loads(run("RTX", "3090", "--json", "--limit", "1").output)
    assert answer["schema"] == "rigup.knowledge/1"
    assert answer["found"] > len(answer["hits"]) == 1
    assert answer["hits"][0]["row"]["isas"] == ["sm_86"]
    assert json.loads(run("nosuchthing", "--json").output)["hits"] == []
    listed = json.loads(run("--json").output)["tables"]
    assert all(row["rows"] >= 0 and row["table"] for row in listed)


@pytest.mark.long
def test_overlays_are_shown_and_their_faults_told(run, overlay):
    (overlay / "displays.toml").write_text('[[display]]\nvendor_id = "ffff"\nkind = "zebra"\nsource = "me"\n')
    (overlay / "apple.toml").write_text("x = = 1")
    result = run("zebra")
    assert result.exit_code == 0
    assert str(overlay / "displays.toml") in result.output
    assert "apple.toml:1" in result.output
    assert "Traceback" not in result.output
    assert "apple" in json.loads(CliRunner().invoke(command, ["zebra", "--json"]).stdout)["problems"][0]


def test_importing_the_package_reads_nothing():
    code = (
        "import sys, rigup.knowledge as k;"
        "assert 'msgspec' not in sys.modules and 'click' not in sys.modules;"
        "k.runs_on('sm_86', ['sm_80']);"
        "assert 'platformdirs' not in sys.modules or sys.platform != 'linux'"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, cwd=ROOT / "src")
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.slow
def test_the_build_hook_compiles_and_ships(tmp_path):
    pytest.importorskip("hatchling")
    import importlib.util
    import shutil
    import tarfile

    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    hook_module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook_module)
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "*.msgpack", "*.mo"))
    hook = hook_module.CustomBuildHook(str(tmp_path), {}, None, None, str(tmp_path / "dist"), "wheel")
    build_data = {"artifacts": [], "force_include": {}}
    hook.initialize("standard", build_data)
    included = {name: path for path, name in build_data["force_include"].items()}
    indexes = {"rigup/diagnosis/files.msgpack", "rigup/machine/readers.msgpack"}
    assert included.keys() == {"rigup/shipped.tar.xz", *indexes}
    with tarfile.open(included["rigup/shipped.tar.xz"]) as archive:
        sizes = {member.name: member.size for member in archive}
        catalogues = unpack_catalogues(archive.extractfile(CATALOGUES).read())
        (tmp_path / "compiled.msgpack").write_bytes(archive.extractfile("knowledge/compiled.msgpack").read())
    tables_and_texts = {"knowledge/compiled.msgpack", "knowledge/text_classifier.bin", CATALOGUES}
    probes = {
        path.relative_to(tmp_path / "src" / "rigup").as_posix()
        for room in ("verify", "bench")
        for path in (tmp_path / "src" / "rigup" / room / "probe").rglob("*.py")
    }
    assert len(probes) > 100
    assert sizes.keys() == tables_and_texts | probes
    assert min(sizes[name] for name in tables_and_texts) > 10_000
    for language, catalogue in catalogues.items():
        source = tmp_path / "src" / "rigup" / "locales" / language / "LC_MESSAGES" / "rigup.mo"
        with io.BytesIO(compiled_catalogue(catalogue)) as ours, source.open("rb") as theirs:
            assert gettext.GNUTranslations(ours)._catalog == gettext.GNUTranslations(theirs)._catalog
    unpacked = Store(tmp_path / "none", tmp_path / "compiled.msgpack")
    whole = tables.default_store()
    for name in whole.names("causes/"):
        assert unpacked.table(name) == whole.table(name)
    assert unpacked.tags() == whole.tags()
    hook.finalize("standard", build_data, "")
    assert not list((tmp_path / "dist").iterdir())
