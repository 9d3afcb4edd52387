"""Recipes of images, really built, upon a root that is made here: no registry is asked."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from bases import loaded, python_root, wheel, wheels_of

from rigup.plan.render import rendered
from rigup.stack.choose import choose
from rigup.stack.profile import read_profile
from rigup.stack.site import Sources
from rigup.stack.wish import Wish

pytestmark = [
    pytest.mark.podman,
    pytest.mark.skipif(not shutil.which("podman"), reason="podman is not installed"),
    pytest.mark.skipif(sys.platform != "linux", reason="images are built on Linux"),
]
BASE = "localhost/rigup-test-base"
_VARIABLES = ("--change", "ENV PATH=/usr/bin:/bin", "--change", "ENV PYTHONPATH=/opt/pip")
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


class Podman:
    """podman with a store of its own; a chroot is isolation enough, and works inside a container too."""

    def __init__(self, folder, driver):
        self.run = tempfile.mkdtemp(prefix="rigup-")  # podman takes no longer path than one of 50 characters
        # without a folder of its own for what runs, a reset takes away that of every podman here
        self.store = ["--root", str(folder / "root"), "--runroot", self.run, "--tmpdir", self.run + "/tmp", "--storage-driver", driver]

    def __call__(self, *argv, **options):
        return subprocess.run(["podman", *self.store, *argv], capture_output=True, text=True, timeout=900, check=False, **options)

    def build(self, recipe, tag, folder, *options):
        (folder / "Dockerfile").write_text(recipe)
        done = self("build", "--isolation=chroot", "--build-arg", f"BASE={BASE}", *options, "-t", tag, "-f", "Dockerfile", ".", cwd=folder)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def says(self, image, folder, *argv):
        """What a program prints in an image, by one more layer of it."""
        return self.build(f"FROM {image}\nRUN {json.dumps(argv)}\n", "localhost/asked", folder)


@pytest.fixture(scope="module")
def podman(tmp_path_factory):
    """With layers where they can be mounted; else each layer is a whole copy."""
    folder = tmp_path_factory.mktemp("podman")
    tar = python_root(folder / "base.tar")
    for driver in ("overlay", "vfs"):
        made = Podman(folder / driver, driver)
        done = made("import", *_VARIABLES, str(tar), BASE)
        if not done.returncode:
            break
        shutil.rmtree(made.run, ignore_errors=True)
    else:
        pytest.skip("podman cannot make an image here: " + done.stderr[-200:])
    yield made
    made("system", "reset", "--force")
    shutil.rmtree(made.run, ignore_errors=True)


@pytest.fixture
def offline(chosen, tmp_path):
    """A choice whose packages lie in a folder with an odd name."""

    def made(profile, *wishes):
        folder = tmp_path / "my wheels"
        site = read_profile(f"{profile}, python {PYTHON}, no network").but(sources=Sources(find_links=(str(folder),)))
        choice = chosen("", *wishes, site=site)
        wheels_of(choice, folder)
        return choice, folder

    return made


def test_a_dockerfile_builds_and_holds_what_was_planned(podman, offline, tmp_path):
    choice, folder = offline("Radeon 680M, ubuntu 24.04", "torch==2.7.1", "numpy<2,>=1.26")
    podman.build(rendered(choice, "dockerfile"), "localhost/planned", tmp_path, "--build-context", f"wheels1={folder}")
    code = (
        "import os; from importlib.metadata import version as v; "
        "print('HAS', v('torch'), v('numpy'), os.environ['HSA_OVERRIDE_GFX_VERSION'])"
    )
    assert f"HAS {choice.packages['torch']} 1.26.4 10.3.0" in podman.says("localhost/planned", tmp_path, "python", "-c", code)


def test_a_value_with_signs_of_a_shell_reaches_the_image_as_it_is(podman, offline, tmp_path):
    import msgspec

    choice, folder = offline("no gpu, debian 13", "torch")
    value = 'a "b" $HOME \\ `id` it\'s'
    odd = msgspec.structs.replace(choice, variables={"RIGUP_X": value})
    podman.build(rendered(odd, "dockerfile"), "localhost/odd", tmp_path, "--build-context", f"wheels1={folder}")
    assert f"HAS {value}" in podman.says("localhost/odd", tmp_path, "python", "-c", "import os; print('HAS', os.environ['RIGUP_X'])")


def test_an_apptainer_definitions_sections_run_in_the_same_base(podman, offline, tmp_path):
    choice, folder = offline("Radeon 680M, ubuntu 24.04", "torch==2.7.1", "numpy<2,>=1.26")
    sections = parts(rendered(choice, "apptainer"))
    assert sections["files"].split(" /wheels1")[0].strip() == f'"{folder}"'
    (tmp_path / "post.sh").write_text(sections["post"])
    code = "import os, torch; print('HAS', torch.__version__, os.environ['HSA_OVERRIDE_GFX_VERSION'])"
    (tmp_path / "run.sh").write_text(sections["environment"] + f'\npython -c "{code}"\n')
    recipe = f"FROM {BASE}\nCOPY --from=wheels1 / /wheels1/\nCOPY post.sh run.sh /\n"
    recipe += 'RUN ["sh", "/post.sh"]\nRUN ["sh", "/run.sh"]\n'
    said = podman.build(recipe, "localhost/sections", tmp_path, "--build-context", f"wheels1={folder}")
    assert f"HAS {choice.packages['torch']} 10.3.0" in said


def parts(definition):
    """The sections of an Apptainer definition by name."""
    found, name = {}, ""
    for line in definition.splitlines():
        if line.startswith("%"):
            name = line[1:].strip()
        found[name] = found.get(name, "") + ("" if line.startswith("%") else line + "\n")
    return found


BACKEND = """import os, zipfile

def build_wheel(folder, config_settings=None, metadata_directory=None):
    name = "flash_attn-2.8.3-py3-none-any.whl"
    about = "flash_attn-2.8.3.dist-info/"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as archive:
        archive.writestr("flash_attn/__init__.py", "CARDS = %r" % os.environ.get("TORCH_CUDA_ARCH_LIST"))
        archive.writestr(about + "METADATA", "Metadata-Version: 2.1\\nName: flash-attn\\nVersion: 2.8.3\\n")
        archive.writestr(about + "WHEEL", "Wheel-Version: 1.0\\nGenerator: tests\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        archive.writestr(about + "RECORD", "")
    return name
"""
COMPILER = 20_000_000  # bytes


def sdist(folder):
    """The sources of flash-attn, as far as pip looks at them: built by what is in them."""
    import io
    import tarfile

    with tarfile.open(folder / "flash_attn-2.8.3.tar.gz", "w:gz") as tar:
        for name, text in (
            ("pyproject.toml", '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'),
            ("backend.py", BACKEND),
            ("PKG-INFO", "Metadata-Version: 2.1\nName: flash-attn\nVersion: 2.8.3\n"),
        ):
            entry = tarfile.TarInfo("flash_attn-2.8.3/" + name)
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text.encode()))


@pytest.fixture(scope="module")
def compiled(podman, tmp_path_factory):
    """The recipe of an environment with flash-attn, built as localhost/compiled upon localhost/runtime and localhost/devel."""
    tmp_path, wish = tmp_path_factory.mktemp("compiled"), Wish(packages=("torch", "flash-attn"), manager="docker")
    choice = choose(wish, read_profile("RTX 3090, driver 580.95.05, ubuntu 24.04"))
    recipe = rendered(choice, "dockerfile")
    assert "-devel\nFROM ${BUILD} AS build\n" in recipe
    assert recipe.index('ARG TORCH_CUDA_ARCH_LIST="8.6"') < recipe.index('"wheel", "--no-deps"') < recipe.index("FROM ${BASE}")
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for name in ("setuptools", "wheel", "packaging", "ninja", "psutil", "einops"):
        wheel(wheels, name, "99.0")
    (tmp_path / "pip.conf").write_text("[global]\nno-index = true\nfind-links = /wheels\n")
    link = 'RUN ["python", "-c", "import os; os.symlink(\'python\', \'/usr/bin/python3\')"]\n'
    podman.build(f"FROM {BASE}\nCOPY pip.conf /etc/pip.conf\nCOPY wheels /wheels\n{link}", "localhost/runtime", tmp_path)
    sdist(wheels)
    (tmp_path / "compiler").write_bytes(b"x" * COMPILER)
    podman.build("FROM localhost/runtime\nCOPY wheels /wheels\nCOPY compiler /compiler\n", "localhost/devel", tmp_path)
    done = podman(
        "build",
        "--isolation=chroot",
        "--build-arg",
        "BASE=localhost/runtime",
        "--build-arg",
        "BUILD=localhost/devel",
        "-t",
        "localhost/compiled",
        "-",
        input=recipe,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return recipe


@pytest.mark.torch
@pytest.mark.skipif(not os.environ.get("RIGUP_TORCH_PYTHON"), reason="RIGUP_TORCH_PYTHON names no interpreter with torch")
def test_verify_proves_torch_inside_an_image_of_two_stages(podman, compiled, tmp_path):
    """torch lies where it lies here, and is mounted: the account, its home and what the image lacks are the recipe's."""
    torch_home = Path(os.environ["RIGUP_TORCH_PYTHON"]).parent.parent
    homes = {torch_home, Path(sys.base_prefix), Path(sys.executable).parent.parent, Path(__file__).parents[2] / "src"}
    homes |= {Path(path).parent for path in loaded(sys.executable) if "/ld-" not in path}
    volumes = [word for home in sorted(homes) for word in ("--volume", f"{home}:{home}:ro")]
    words = [sys.executable, "-m", "rigup", "verify", "--quick", "--json", str(torch_home)]
    said = podman.build(f"FROM localhost/compiled\nRUN {json.dumps(words)}\n", "localhost/proven", tmp_path, *volumes)
    answer = json.loads(said[said.index("{\n") : said.rindex("\n}") + 2])
    assert answer["verdict"] == "verified", said[-3000:]


def test_what_has_to_be_compiled_is_compiled_in_a_stage_that_does_not_come_along(podman, compiled, tmp_path):
    said = podman.says(
        "localhost/compiled",
        tmp_path,
        "python3",
        "-c",
        "import flash_attn, os; print('HAS', flash_attn.CARDS, os.getuid(), os.path.exists('/compiler'), os.environ.get('TORCH_CUDA_ARCH_LIST'))",
    )
    assert "HAS 8.6 1000 False None" in said
    sizes = [
        int(podman("image", "inspect", "--format", "{{.Size}}", f"localhost/{name}").stdout) for name in ("runtime", "devel", "compiled")
    ]
    assert sizes[1] > sizes[0] + COMPILER
    assert sizes[2] < sizes[0] + COMPILER / 2
    assert not re.search(r"COPY .*wheels", compiled)


def test_local_folders_lie_in_no_layer(podman, offline, tmp_path):
    choice, folder = offline("no gpu, debian 13", "torch")
    (folder / "big-1.0-py3-none-any.whl").write_bytes(b"x" * COMPILER)
    podman.build(rendered(choice, "dockerfile"), "localhost/light", tmp_path, "--build-context", f"wheels1={folder}")
    base, light = (int(podman("image", "inspect", "--format", "{{.Size}}", name).stdout) for name in (BASE, "localhost/light"))
    assert light < base + COMPILER / 2
