"""The recipe of an image for people's own work: really built where podman is, and judged by rigup's own rules."""

import shutil
import subprocess
import sys
import tempfile

import pytest

from rigup.container.lint.check import lint
from rigup.plan.render import rendered
from rigup.stack.choose import choose
from rigup.stack.profile import read_profile
from rigup.stack.wish import Wish


def recipe(choice):
    return rendered(choice, "dockerfile")


def made(profile, *packages):
    return choose(Wish(packages=packages or ("torch",), manager="docker"), read_profile(profile))


@pytest.mark.parametrize(
    "profile",
    ["RTX 3090, driver 550.163.01, ubuntu 22.04", "RX 7900 XTX, ubuntu 24.04", "no gpu, ubuntu 24.04", "Jetson AGX Orin, jetpack 6.2"],
)
def test_a_recipe_breaks_none_of_its_own_rules(profile):
    text = recipe(made(profile, "torch", "numpy"))
    findings = [(finding.cause, finding.evidence) for finding in lint("Dockerfile", text, lambda _path: "", read_profile(profile))]
    assert findings == []
    assert "\nUSER 1000:1000\n" in text
    assert ("--mount=type=cache,target=/root/.cache/pip [" in text) == ('"pip", "install"' in text)


@pytest.mark.podman
@pytest.mark.skipif(not shutil.which("podman") or sys.platform != "linux", reason="podman is not installed")
def test_a_recipe_is_built_and_its_program_is_not_root(tmp_path):
    sys.path.insert(0, str(__import__("pathlib").Path(__file__).parents[1] / "plan"))
    from bases import python_root

    run = tempfile.mkdtemp(prefix="rigup-")
    store = ["podman", "--root", str(tmp_path / "store"), "--runroot", run, "--storage-driver", "vfs"]
    tar, base = python_root(tmp_path / "base.tar"), "localhost/rigup-test-base"
    done = subprocess.run(
        [*store, "import", "--change", "ENV PATH=/usr/bin:/bin", "--change", "ENV PYTHONPATH=/opt/pip", str(tar), base],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode:
        pytest.skip("podman cannot make an image here: " + done.stderr[-200:])
    text = recipe(made("RTX 3090, driver 550.163.01, ubuntu 22.04"))
    asked = '\nRUN ["/usr/bin/python", "-c", "import os; print(\'IS\', os.getuid(), os.getcwd(), os.environ[\'HOME\'])"]\n'
    built = subprocess.run(
        [*store, "build", "--isolation=chroot", "--build-arg", f"BASE={base}", "-t", "localhost/made", "-"],
        input=text + asked,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    assert "IS 1000 /work /tmp" in built.stdout + built.stderr
    shutil.rmtree(run, ignore_errors=True)
