"""Plans that are really carried out, with packages made here: by pip, by uv, by conda's solver."""

import asyncio
import hashlib
import http.server
import importlib.util
import io
import json
import re
import shutil
import subprocess
import sys
import tarfile
import threading
import tomllib
from functools import partial
from pathlib import Path

import msgspec
import pytest
from bases import wheel, wheels_of

from rigup.plan.render import rendered
from rigup.stack.profile import read_profile
from rigup.stack.site import Sources

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
UV = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32" or not shutil.which(f"python{PYTHON}"), reason="python is not on the path")
def test_a_script_makes_the_environment_that_was_planned(chosen, tmp_path):
    folder = tmp_path / "my wheels"
    site = read_profile(f"Radeon 680M, ubuntu 24.04, python {PYTHON}, no network").but(
        sources=Sources(find_links=(str(folder),)), environment=str(tmp_path / "an env")
    )
    choice = chosen("", "torch==2.7.1", "numpy<2,>=1.26", site=site)
    wheels_of(choice, folder)
    (tmp_path / "plan.sh").write_text(rendered(choice, "script"))
    done = subprocess.run(["sh", "plan.sh"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    code = "import os, torch, numpy; print(torch.__version__, numpy.__version__, os.environ['HSA_OVERRIDE_GFX_VERSION'])"
    said = subprocess.run(
        ["sh", "-c", '. "$1/bin/activate"; python -c "$2"', "sh", str(tmp_path / "an env"), code],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout
    assert said.split() == [choice.packages["torch"], "1.26.4", "10.3.0"]


@pytest.fixture
def served(tmp_path):
    """Two indexes on loopback: one of torch's kind, one for all else."""
    root = tmp_path / "www"
    for index, name, version in (("cu126", "torch", "2.9.1+cu126"), ("simple", "torch", "2.9.1"), ("simple", "numpy", "1.26.4")):
        page = root / index / name
        page.mkdir(parents=True)
        made = wheel(page, name, version)
        digest = hashlib.sha256(made.read_bytes()).hexdigest()
        (page / "index.html").write_text(f'<a href="{made.name.replace("+", "%2B")}#sha256={digest}">{made.name}</a>')
    handler = partial(Quiet, directory=str(root))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_said):
        """Say nothing."""


@pytest.mark.skipif(not UV, reason="uv is not installed")
def test_uv_locks_each_package_from_its_own_index(chosen, served, tmp_path):
    site = read_profile(f"RTX 3060, driver 560.35, ubuntu 24.04, python {PYTHON}").but(sources=Sources(index=served + "/simple"))
    made = chosen("", "torch==2.9.1+cu126", "numpy<2,>=1.26", site=site)
    one = made.chosen[0]
    build = msgspec.structs.replace(one.build, index=served + "/cu126")
    choice = msgspec.structs.replace(made, chosen=(msgspec.structs.replace(one, build=build),))
    (tmp_path / "pyproject.toml").write_text(rendered(choice, "pyproject"))
    argv = [UV, "lock", "--python", sys.executable, "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    locked = {one["name"]: one for one in tomllib.loads((tmp_path / "uv.lock").read_text())["package"]}
    assert locked["torch"]["version"] == "2.9.1+cu126"
    assert locked["torch"]["source"] == {"registry": served + "/cu126"}
    assert locked["numpy"]["source"] == {"registry": served + "/simple"}


# -- conda ---------------------------------------------------------------------------------------------


def conda_package(folder: Path, name: str, version: str) -> dict:
    """A package that holds one file, and its row of the channel's list."""
    file = f"{name}-{version}-0.tar.bz2"
    about = {"name": name, "version": version, "build": "0", "build_number": 0, "depends": [], "subdir": "noarch"}
    content = {
        "info/index.json": json.dumps(about),
        "info/files": f"share/{name}.txt\n",
        f"share/{name}.txt": version,
        "info/paths.json": json.dumps(
            {
                "paths_version": 1,
                "paths": [
                    {
                        "_path": f"share/{name}.txt",
                        "path_type": "hardlink",
                        "size_in_bytes": len(version),
                        "sha256": hashlib.sha256(version.encode()).hexdigest(),
                    }
                ],
            }
        ),
    }
    with tarfile.open(folder / file, "w:bz2") as archive:
        for path, text in content.items():
            member = tarfile.TarInfo(path)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    packed = (folder / file).read_bytes()
    return {file: {**about, "sha256": hashlib.sha256(packed).hexdigest(), "md5": hashlib.md5(packed).hexdigest(), "size": len(packed)}}


def channel(folder: Path, packages: dict[str, str]) -> Path:
    (folder / "noarch").mkdir(parents=True)
    listed = {}
    for name, version in packages.items():
        listed |= conda_package(folder / "noarch", name, version)
    told = {"info": {"subdir": "noarch"}, "packages": listed, "packages.conda": {}, "repodata_version": 1}
    (folder / "noarch" / "repodata.json").write_text(json.dumps(told))
    return folder


@pytest.mark.skipif(not importlib.util.find_spec("rattler"), reason="py-rattler is not installed")
def test_an_environment_file_is_solved_with_the_toolkit_from_its_label(chosen, tmp_path):
    import rattler

    from rigup.stack.candidate import Change

    made = chosen(f"RTX 3060, driver 560.35, ubuntu 24.04, python {PYTHON}", "torch", manager="conda")
    toolkit = Change(change="toolkit", have=None, to="CUDA 12.4", why="Something is built.")
    lines = rendered(msgspec.structs.replace(made, changes=(toolkit,)), "conda").splitlines()
    names = [line.strip("- ") for line in lines[lines.index("channels:") + 1 : lines.index("dependencies:")]]
    specs = [json.loads(line.strip("- ")) for line in lines[lines.index("dependencies:") + 1 : lines.index("  - pip:")]]
    assert names[0].startswith("nvidia/label/cuda-12.4")
    channel(tmp_path / names[0], {"cuda-toolkit": "12.4.1"})
    channel(tmp_path / "conda-forge", {"cuda-toolkit": "13.9", "python": f"{PYTHON}.9", "pip": "26.0"})
    asked = [rattler.Channel((tmp_path / name).as_uri()) for name in names if name != "nodefaults"]
    records = asyncio.run(rattler.solve(asked, specs, gateway=rattler.Gateway(cache_dir=tmp_path / "cache"), platforms=["noarch"]))
    found = {record.name.normalized: str(record.version) for record in records}
    assert found == {"cuda-toolkit": "12.4.1", "python": f"{PYTHON}.9", "pip": "26.0"}
    asyncio.run(rattler.install(records, target_prefix=tmp_path / "env", cache_dir=tmp_path / "packages"))
    assert (tmp_path / "env" / "share" / "cuda-toolkit.txt").read_text() == "12.4.1"


def test_the_lines_for_pip_are_those_of_a_requirements_file(chosen):
    text = rendered(chosen("RTX 3060, driver 560.35, ubuntu 24.04, python 3.12", "torch==2.7.1+cu118"), "conda")
    found = [json.loads(line.strip("- ")) for line in text.splitlines() if re.match(r" {6}- ", line)]
    assert found[0] == "--extra-index-url https://download.pytorch.org/whl/cu118"
    assert found[1] == "torch==2.7.1+cu118"
