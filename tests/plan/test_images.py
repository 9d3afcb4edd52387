"""Recipes of images, really built, upon a root that is made here: no registry is asked."""

import shutil
import subprocess
import sys
import tempfile

import pytest
from bases import python_root, wheels_of

from rigup.plan.render import rendered
from rigup.stack.profile import read_profile
from rigup.stack.site import Sources

pytestmark = [
    pytest.mark.podman,
    pytest.mark.skipif(not shutil.which("podman"), reason="podman is not installed"),
    pytest.mark.skipif(sys.platform != "linux", reason="images are built on Linux"),
]
BASE = "localhost/rigup-test-base"
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


class Podman:
    """podman with a store of its own; a chroot is isolation enough, and works inside a container too."""

    def __init__(self, folder):
        self.run = tempfile.mkdtemp(prefix="rigup-")  # podman takes no longer path than one of 50 characters
        self.store = ["--root", str(folder / "root"), "--runroot", self.run, "--storage-driver", "vfs"]

    def __call__(self, *argv, **options):
        return subprocess.run(
            ["podman", *self.store, *argv], capture_output=True, text=True, timeout=300, check=False, **options
        )

    def build(self, recipe, tag, folder, *options):
        (folder / "Dockerfile").write_text(recipe)
        done = self(
            "build",
            "--isolation=chroot",
            "--build-arg",
            f"BASE={BASE}",
            *options,
            "-t",
            tag,
            "-f",
            "Dockerfile",
            ".",
            cwd=folder,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def says(self, image, folder, *argv):
        """What a program prints in an image, by one more layer of it."""
        import json

        return self.build(f"FROM {image}\nRUN {json.dumps(argv)}\n", "localhost/asked", folder)


@pytest.fixture(scope="module")
def podman(tmp_path_factory):
    folder = tmp_path_factory.mktemp("podman")
    made = Podman(folder)
    tar = python_root(folder / "base.tar")
    done = made("import", "--change", "ENV PATH=/usr/bin:/bin", "--change", "ENV PYTHONPATH=/opt/pip", str(tar), BASE)
    if done.returncode:
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
    assert f"HAS {choice.packages['torch']} 1.26.4 10.3.0" in podman.says(
        "localhost/planned", tmp_path, "python", "-c", code
    )


def test_a_value_with_signs_of_a_shell_reaches_the_image_as_it_is(podman, offline, tmp_path):
    import msgspec

    choice, folder = offline("no gpu, debian 13", "torch")
    value = 'a "b" $HOME \\ `id` it\'s'
    odd = msgspec.structs.replace(choice, variables={"RIGUP_X": value})
    podman.build(rendered(odd, "dockerfile"), "localhost/odd", tmp_path, "--build-context", f"wheels1={folder}")
    assert f"HAS {value}" in podman.says(
        "localhost/odd", tmp_path, "python", "-c", "import os; print('HAS', os.environ['RIGUP_X'])"
    )


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
