"""Environments of conda without a conda: made, changed, listed, cleaned against a channel that the test makes."""

import hashlib
import importlib.util
import io
import json
import os
import subprocess
import sys
import tarfile

import pytest

from rigup.plan.environments import condas, exporting, staged_swap, without_conda
from rigup.plan.environments.folder import environment_at
from rigup.plan.environments.history import history
from rigup.plan.environments.running import of_environment
from tiny_environments import says

needs_rattler = pytest.mark.skipif(not importlib.util.find_spec("rattler"), reason="py-rattler is not installed")
PLACEHOLDER = "/placeholder" * 15


def package(folder, name, version, files, depends=()):
    """A package of conda, and its row of the channel's list. A file's text may hold the placeholder for its place."""
    file = f"{name}-{version}-0.tar.bz2"
    about = {"name": name, "version": version, "build": "0", "build_number": 0, "depends": list(depends), "subdir": "noarch"}
    rows = []
    content = {"info/index.json": json.dumps(about).encode(), "info/files": "\n".join(files).encode()}
    for path, body in files.items():
        row = {"_path": path, "path_type": "hardlink", "size_in_bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}
        if PLACEHOLDER.encode() in body:
            row |= {"prefix_placeholder": PLACEHOLDER, "file_mode": "binary" if b"\0" in body else "text"}
        rows.append(row)
        content[path] = body
    content["info/paths.json"] = json.dumps({"paths_version": 1, "paths": rows}).encode()
    with tarfile.open(folder / file, "w:bz2") as archive:
        for path, body in content.items():
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(body), 0o755 if path.startswith("bin/") else 0o644
            archive.addfile(member, io.BytesIO(body))
    packed = (folder / file).read_bytes()
    return {file: {**about, "sha256": hashlib.sha256(packed).hexdigest(), "md5": hashlib.md5(packed).hexdigest(), "size": len(packed)}}


@pytest.fixture(scope="module")
def channel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("channel")
    (folder / "noarch").mkdir()
    library = b"\x7fELF\0" + (PLACEHOLDER + "/lib:rest").encode() + b"\0after"
    listed = {
        **package(folder / "noarch", "stone", "1.0", {"share/stone.txt": b"1.0"}),
        **package(folder / "noarch", "stone", "1.1", {"share/stone.txt": b"1.1"}),
        **package(
            folder / "noarch",
            "tool",
            "3.0",
            {"bin/tool": f'#!/bin/sh\necho "{PLACEHOLDER}/share"\n'.encode(), "lib/libtool.so": library},
            ("stone",),
        ),
    }
    told = {"info": {"subdir": "noarch"}, "packages": listed, "packages.conda": {}, "repodata_version": 1}
    (folder / "noarch" / "repodata.json").write_text(json.dumps(told))
    return folder


@pytest.fixture
def conda(channel, tmp_path, monkeypatch):
    """Run one command line against the channel."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def run(*words):
        asked = ["-c", channel.as_uri(), "--override-channels"] if words[0] in ("create", "install") else []
        return without_conda.main([*words, *asked])

    return run


@needs_rattler
def test_an_environment_is_made_changed_and_listed(conda, tmp_path, capsys):
    env = str(tmp_path / "my env")
    assert conda("create", "-y", "-p", env, "tool", "stone=1.0") == 0
    assert environment_at(tmp_path / "my env").kind == "conda"
    assert says(tmp_path / "my env" / "bin" / "tool") == env + "/share"
    assert conda("install", "-y", "-p", env, "stone=1.1") == 0
    capsys.readouterr()
    assert conda("list", "-p", env, "--json") == 0
    assert {row["name"]: row["version"] for row in json.loads(capsys.readouterr().out)} == {"stone": "1.1", "tool": "3.0"}
    told = history(environment_at(tmp_path / "my env"))
    assert [(one.by, one.ident, one.added, one.removed) for one in told] == [
        ("conda", "0", ["stone-1.0-0", "tool-3.0-0"], []),
        ("conda", "1", ["stone-1.1-0"], ["stone-1.0-0"]),
    ]


@needs_rattler
def test_what_cannot_be_solved_leaves_nothing(conda, tmp_path, capsys):
    assert conda("create", "-y", "-p", str(tmp_path / "env"), "nothing-such") == 1
    assert "nothing-such" in capsys.readouterr().err
    assert not [one for one in os.listdir(tmp_path) if "env" in one]


@needs_rattler
def test_a_clone_of_it_works_at_its_own_place_and_its_library_too(conda, tmp_path):
    source, target = tmp_path / "env", tmp_path / ("a much longer name " * 3)
    assert conda("create", "-y", "-p", str(source), "tool") == 0
    before = (source / "lib" / "libtool.so").read_bytes()
    staged_swap.clone(source, target)
    assert says(target / "bin" / "tool") == f"{target}/share"
    body = (target / "lib" / "libtool.so").read_bytes()
    assert (len(body), body.endswith(b"\0after")) == (len(before), True)
    assert os.fsencode(target) + b"/lib:rest\0" in body
    assert (source / "lib" / "libtool.so").read_bytes() == before


@needs_rattler
def test_a_place_that_is_taken_is_left_alone(conda, tmp_path):
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / "mine").write_text("x")
    assert conda("create", "-y", "-p", str(tmp_path / "env"), "stone") == 1
    assert os.listdir(tmp_path / "env") == ["mine"]


@needs_rattler
def test_variables_are_kept_as_conda_keeps_them(conda, tmp_path):
    env = str(tmp_path / "env")
    assert conda("create", "-y", "-p", env, "stone") == 0
    assert conda("env", "config", "vars", "set", "-p", env, "HSA_OVERRIDE_GFX_VERSION=10.3.0", "NOTE=a b=c") == 0
    told = {one.name: one.value for one in of_environment(environment_at(tmp_path / "env"))}
    assert told == {"HSA_OVERRIDE_GFX_VERSION": "10.3.0", "NOTE": "a b=c"}
    assert conda("env", "config", "vars", "unset", "-p", env, "NOTE") == 0
    assert json.loads((tmp_path / "env" / "conda-meta" / "state").read_text())["env_vars"] == {"HSA_OVERRIDE_GFX_VERSION": "10.3.0"}
    assert conda("env", "config", "vars", "set", "-p", env, "LD_PRELOAD=/tmp/x.so") == 1


@needs_rattler
def test_an_export_names_version_and_build(conda, tmp_path):
    assert conda("create", "-y", "-p", str(tmp_path / "env"), "tool", "stone=1.1") == 0
    assert '  - "stone=1.1=0"' in exporting.conda(environment_at(tmp_path / "env")).splitlines()


@needs_rattler
def test_removing_and_cleaning_leave_nothing(conda, tmp_path):
    assert conda("create", "-y", "-p", str(tmp_path / "env"), "stone") == 0
    assert conda("env", "remove", "-y", "-p", str(tmp_path / "env")) == 0
    assert conda("clean", "-y") == 0
    assert [str(one) for one in tmp_path.rglob("*") if "cache" not in str(one) and one.is_file()] == []
    assert not (tmp_path / "cache" / "rigup" / "conda").exists()


def test_a_folder_that_is_no_environment_is_not_removed(tmp_path):
    (tmp_path / "mine").mkdir()
    assert without_conda.main(["env", "remove", "-y", "-p", str(tmp_path / "mine")]) == 1
    (tmp_path / "mine" / "conda-meta").mkdir()
    assert without_conda.main(["env", "remove", "-y", "-p", str(tmp_path / "mine")]) == 1
    assert (tmp_path / "mine" / "conda-meta").is_dir()


def test_an_option_that_is_not_known_is_refused(capsys):
    assert without_conda.main(["create", "-p", "/tmp/x", "--use-local", "stone"]) == 2
    assert "--use-local" in capsys.readouterr().err


def test_it_is_a_program_of_its_own(tmp_path):
    command = [sys.executable, "-m", "rigup.plan.environments.without_conda", "list", "-p", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, "no environment of conda" in done.stderr) == (1, True)


# -- whose program -----------------------------------------------------------------------------------


def program(folder, name):
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("name", ["conda", "mamba", "micromamba"])
def test_the_persons_own_program_is_taken(tmp_path, name):
    path = program(tmp_path, name)
    assert condas.found_conda({"PATH": str(tmp_path)}) == condas.Conda(name, (path,))


def test_one_that_only_a_variable_names_is_taken(tmp_path):
    path = program(tmp_path, "micromamba")
    assert condas.found_conda({"PATH": "/nowhere", "MAMBA_EXE": path}) == condas.Conda("micromamba", (path,))


@needs_rattler
def test_without_any_it_is_ours():
    assert condas.found_conda({"PATH": "/nowhere"}).name == "rattler"


def test_a_command_line_is_said_in_the_programs_words():
    argv = ("conda", "create", "-y", "-p", "/x y", "python=3.11")
    assert condas.spoken_by(argv, condas.Conda("mamba", ("/bin/mamba",))) == ("/bin/mamba", *argv[1:])
    variables = ("conda", "env", "config", "vars", "set", "-p", "/x", "A=b")
    assert condas.spoken_by(variables, condas.Conda("conda", ("/bin/conda",))) == ("/bin/conda", *variables[1:])
    ours = condas.spoken_by(variables, condas.Conda("micromamba", ("/bin/micromamba",)))
    assert ours[:4] == (sys.executable, "-P", "-m", "rigup.plan.environments.without_conda")
    assert condas.spoken_by(("pip", "install"), condas.Conda("mamba", ("/bin/mamba",))) == ("pip", "install")
