"""How everyday errors are mended: by the package that was asked for, the system's own tools, the torch that is there."""

import pytest

MANAGED = "$ pip install {}\nerror: externally-managed-environment\n"
XFORMERS = "WARNING[XFORMERS]: xFormers can't load C++/CUDA extensions. xFormers was built for:\n    PyTorch 2.3.0+cu121 with CUDA 1201 (you have 2.4.1+cu124)\n"
HEADERS = "main.c:5:10: fatal error: Python.h: No such file or directory\n"
COMPILER = "RuntimeError: Failed to find C compiler. Please specify via CC environment variable.\n"


@pytest.mark.parametrize(
    ("body", "way"),
    [
        ("Ubuntu 24.04\n" + MANAGED.format("torch"), "install -y python3-venv"),
        ("Fedora 42\n" + MANAGED.format("torch"), "$ python3 -m venv .venv"),
        (MANAGED.format("einops"), "$ .venv/bin/python -m pip install einops"),
        (MANAGED.format("-r requirements.txt"), "make the environment .venv with Python 3"),
    ],
)
def test_a_system_that_keeps_its_python_gets_an_environment_beside_it(mended, body, way):
    first = mended("python-managed-by-system", body)[0]
    assert way in first
    assert "--break-system-packages" not in first


def test_a_build_that_hides_torch_is_told_to_see_it(mended):
    said = "$ pip install flash-attn\n      File \"<string>\", line 22, in <module>\n      ModuleNotFoundError: No module named 'torch'\n      [end of output]\n"
    (way,) = mended("build-hides-torch", said)
    assert way.endswith("--no-build-isolation flash-attn")


@pytest.mark.parametrize(
    ("body", "command"),
    [
        ("Debian 12\n" + COMPILER, "apt-get install -y gcc g++"),
        ("Fedora 42\n" + HEADERS, "dnf install -y python3-devel"),
        ("/home/a/miniconda3/envs/w/bin/python\n" + COMPILER, "conda install -y -c conda-forge gxx"),
        ("RuntimeError: Compiler: cl is not found.\n", "winget install"),
    ],
)
def test_tools_come_from_whom_the_system_has_them(mended, body, command):
    (way,) = mended("build-tools-missing", body)
    assert command in way


def test_an_extension_is_brought_to_the_torch_that_is_there(mended):
    assert (
        "xformers torch==2.4.1+cu124 --index-url https://download.pytorch.org/whl/cu124"
        in mended("torch-torchvision-mismatch", XFORMERS)[0]
    )
    missing = "Could not find the bitsandbytes CUDA binary at PosixPath('/v/bitsandbytes/libbitsandbytes_cuda126.so')\n"
    assert (
        mended("torch-torchvision-mismatch", missing)[0]
        == "install the newest release of bitsandbytes $ python -m pip install --upgrade bitsandbytes"
    )


def test_a_hot_card_is_not_given_another_supply(mended):
    active = "            HW {} Slowdown           : Active\n"
    assert "clean fans" in mended("throttled", active.format("Thermal"))[0]
    assert "power cables" in mended("throttled", active.format("Power Brake"))[0]
