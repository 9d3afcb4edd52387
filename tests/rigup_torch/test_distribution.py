"""The distribution rigup-torch: `rigup.torch` alone, beside rigup, and after either was taken away."""

import hashlib
import importlib.util
import os
import subprocess
import sys
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import pytest
from test_rigup_torch import interpreter

from rigup.plan.environments import rigup_torch
from rigup.version import __version__

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
pytestmark = pytest.mark.slow
USE = """
import torch, rigup.torch, rigup.torch.facts
from rigup.torch import device, same_device, to, DeviceError
batch = to({"x": [torch.ones(2)]}, "meta")
assert batch["x"][0].device.type == "meta" and same_device(torch.ones(1), batch={}) == device("cpu")
assert DeviceError is rigup.torch.facts.DeviceError and DeviceError.__module__ == "rigup.torch.facts"
print(rigup.torch.__file__)
"""


def built(tmp_path_factory, source):
    """A wheel by the build backend, without a network."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheels")
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-index", "--no-build-isolation", "--no-deps", "-w", str(folder)]
    subprocess.run([*command, str(source)], check=True, timeout=300)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The wheel of rigup."""
    return built(tmp_path_factory, ROOT)


@pytest.fixture(scope="module")
def part(tmp_path_factory):
    """The wheel of rigup-torch."""
    return built(tmp_path_factory, ROOT / "packages" / "rigup-torch")


class Environment:
    """An environment that sees the torch of another Python, and no rigup but what is installed into it."""

    def __init__(self, folder):
        subprocess.run([interpreter(), "-m", "venv", "--without-pip", str(folder)], check=True, timeout=120)
        self.python = str(folder / "bin" / "python")
        found = importlib.util.find_spec("torch") if interpreter() == sys.executable else None
        asked = "import torch; print(torch.__path__[0])"
        at = found.submodule_search_locations[0] if found else self.output(interpreter(), "-c", asked)
        (folder / "torch").mkdir()
        self.torch = str(Path(at).parent)

    def output(self, *argv, **variables):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_"))}
        done = subprocess.run(
            argv,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            cwd="/",
            env={**kept, "PYTHONDONTWRITEBYTECODE": "1", **variables},
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout.strip()

    def pip(self, *words):
        return self.output(sys.executable, "-m", "pip", "--python", self.python, *words, "-q", "--disable-pip-version-check")

    def install(self, *wheels):
        self.pip("install", "--no-index", "--no-deps", *map(str, wheels))

    def use(self, code=USE):
        return self.output(self.python, "-W", "ignore", "-c", code, PYTHONPATH=self.torch)


@pytest.fixture
def environment(tmp_path):
    return Environment(tmp_path / "env")


def files(wheel):
    with zipfile.ZipFile(wheel) as packed:
        return {name: packed.read(name) for name in packed.namelist() if ".dist-info/" not in name}


def metadata(wheel):
    with zipfile.ZipFile(wheel) as packed:
        name = next(name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
        headers = HeaderParser().parsestr(packed.read(name).decode())
    return {key: headers[key] for key in ("Name", "Version", "Summary", "License-Expression", "Requires-Python", "Requires-Dist")}


@pytest.mark.torch
def test_alone_it_is_all_that_a_program_needs(environment, part):
    environment.install(part)
    assert environment.use().endswith("rigup/torch.py")
    assert environment.use("import rigup; print(hasattr(rigup, 'doctor'))") == "False"


@pytest.mark.torch
def test_alone_it_passes_the_same_checks(environment):
    environment.install(rigup_torch.wheel_folder(Path(environment.python).parent) / rigup_torch.wheel_name())
    output = environment.output(
        environment.python,
        str(HERE / "run_checks.py"),
        *(str(HERE / "checks" / name) for name in ("moving.py", "containers.py")),
        PYTHONPATH=environment.torch,
    )
    assert output.count('"passed": true') > 30
    assert '"failed"' not in output


@pytest.mark.torch
@pytest.mark.parametrize("order", ["whole first", "part first"])
@pytest.mark.parametrize("gone", ["rigup", "rigup-torch"])
def test_beside_rigup_either_may_be_taken_away(environment, whole, part, order, gone):
    for wheel in (whole, part) if order == "whole first" else (part, whole):
        environment.install(wheel)
    assert environment.use().endswith("rigup/torch/__init__.py")
    environment.pip("uninstall", "-y", gone)
    left = "rigup/torch.py" if gone == "rigup" else "rigup/torch/__init__.py"
    assert environment.use().endswith(left)
    if gone == "rigup-torch":
        assert environment.use("import rigup; print(rigup.__version__)") == __version__


def test_the_two_have_no_file_in_common(whole, part):
    assert set(files(whole)) & set(files(part)) == set()
    assert set(files(whole)) & set(files(rigup_torch.wheel_folder(part.parent) / rigup_torch.wheel_name())) == set()


def test_both_say_that_they_are_typed(whole, part):
    assert "rigup/py.typed" in files(whole)
    assert {"rigup/torch/py.typed", "_rigup_torch/py.typed"} <= set(files(part))


def test_it_is_for_older_pythons_and_asks_for_nothing(part):
    headers = metadata(part)
    assert (headers["Requires-Python"], headers["Requires-Dist"], headers["Version"]) == (">=3.9", None, __version__)


def test_the_wheel_that_rigup_makes_itself_is_that_of_the_build(part, tmp_path):
    path = rigup_torch.wheel_folder(tmp_path) / rigup_torch.wheel_name()
    assert path.name == part.name
    assert files(path) == files(part)
    assert metadata(path) == metadata(part)


def test_a_source_distribution_makes_the_same(part, tmp_path, tmp_path_factory):
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT / "packages" / "rigup-torch", check=True, capture_output=True, timeout=120)
    (archive,) = tmp_path.glob("*.tar.gz")
    again = built(tmp_path_factory, archive)
    assert files(again) == files(part)
    assert metadata(again) == metadata(part)


def test_an_installed_rigup_makes_the_same_wheel(whole, tmp_path):
    with zipfile.ZipFile(whole) as packed:
        packed.extractall(tmp_path)
    code = "from rigup.plan.environments import rigup_torch as r; print(r.sha256(), r.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    digest, place = done.stdout.split()
    assert place.startswith(str(tmp_path))
    assert digest == rigup_torch.sha256()


def test_the_requirement_names_a_file_that_is_there(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "a folder"))
    name, at, url = rigup_torch.requirement().partition(" @ ")
    assert (name, at, url.startswith("file:///")) == ("rigup-torch", " @ ", True)
    path = rigup_torch.wheel_folder() / rigup_torch.wheel_name()
    assert path.as_uri() == url
    assert hashlib.sha256(path.read_bytes()).hexdigest() == rigup_torch.sha256()
    path.write_bytes(b"half of it")
    assert rigup_torch.wheel_folder() == path.parent
    assert path.read_bytes() == rigup_torch.wheel()
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_the_wheel_records_every_file_with_its_hash():
    import io

    with zipfile.ZipFile(io.BytesIO(rigup_torch.wheel())) as packed:
        assert packed.testzip() is None
        record = packed.read(next(name for name in packed.namelist() if name.endswith("RECORD"))).decode()
        assert [row.partition(",")[0] for row in record.splitlines()] == packed.namelist()
        assert {entry.compress_type for entry in packed.infolist()} == {zipfile.ZIP_STORED}
