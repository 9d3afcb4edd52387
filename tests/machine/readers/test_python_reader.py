"""Python environments and their packages, from files and names."""

import pytest

from rigup.machine.kinds import Account, HomeFolder, JupyterKernel, Package, PythonEnv, Torch, Variable

ADA = {
    "user": "ada",
    "uid": 1000,
    "groups": ["ada"],
    "environment": {"HOME": "/home/ada", "VIRTUAL_ENV": "/home/ada/dl", "PATH": "/usr/bin"},
}
SITE = "/home/ada/dl/lib/python3.11/site-packages/"
VERSION = "from typing import Optional\n\n__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip']\n__version__ = '{}'\ndebug = False\ncuda: Optional[str] = {}\ngit_version = 'abc'\nhip: Optional[str] = {}\n"
GPU = VERSION.format("2.6.0+cu124", "'12.4'", "None")


def test_the_environment_in_force_its_torch_and_its_packages(tree):
    facts = tree(
        {
            "/home/ada/dl/pyvenv.cfg": "home = /usr/bin\ninclude-system-site-packages = false\nversion = 3.11.4\n",
            SITE + "torch/version.py": GPU,
            SITE + "torch-2.6.0+cu124.dist-info/METADATA": "",
            SITE + "nvidia_cudnn_cu12-9.1.0.70.dist-info/METADATA": "",
            SITE + "requests-2.32.0.dist-info/METADATA": "",
            SITE + "torch/_C.cpython-311-x86_64-linux-gnu.so": "",
        },
        who=ADA,
    )
    (env,) = facts.of(PythonEnv)
    assert (env.prefix, env.kind, env.version, env.base, env.active, env.machine) == (
        "/home/ada/dl",
        "venv",
        "3.11.4",
        "/usr",
        True,
        "x86_64",
    )
    (torch,) = facts.of(Torch)
    assert (torch.env, torch.version, torch.cuda, torch.hip, torch.platform) == (
        "/home/ada/dl",
        "2.6.0+cu124",
        "12.4",
        None,
        "linux-x86_64",
    )
    assert {(package.name, package.version) for package in facts.of(Package)} == {
        ("torch", "2.6.0+cu124"),
        ("nvidia-cudnn-cu12", "9.1.0.70"),
    }


@pytest.mark.long
@pytest.mark.parametrize(
    ("body", "cuda", "hip"),
    [
        (VERSION.format("2.7.1+cpu", "None", "None"), None, None),
        (VERSION.format("2.7.1+rocm6.3", "None", "'6.3.42134-a9a80e791'"), None, "6.3.42134-a9a80e791"),
        ("__version__ = '1.6.0'\ndebug = False\ncuda = '10.2'\ngit_version = 'b31f58'\n", "10.2", None),
        ("__version__ = '2.8.0+cu128'\ncuda: str | None = '12.8'\nhip: str | None = None\nxpu: str | None = None\n", "12.8", None),
    ],
)
def test_what_a_build_says_of_itself(tree, body, cuda, hip):
    (torch,) = tree({SITE + "torch/version.py": body}, who=ADA).of(Torch)
    assert (torch.cuda, torch.hip) == (cuda, hip)


def test_an_environment_of_conda(tree):
    base = "/home/ada/miniconda3/envs/dl/"
    facts = tree(
        {
            base + "conda-meta/history": "",
            base + "conda-meta/python-3.10.14-hd12c33a_0_cpython.json": "",
            base + "conda-meta/pytorch-2.5.1-py3.10_cuda12.4_cudnn9.1.0_0.json": "",
            base + "conda-meta/zlib-1.3.1-hb9d3cd8_2.json": "",
        },
        who={"user": "ada", "groups": ["ada"]},
    )
    env = next(env for env in facts.of(PythonEnv) if env.prefix.endswith("/dl"))
    assert (env.kind, env.version) == ("conda", "3.10.14")
    (package,) = facts.of(Package)
    assert (package.name, package.version, package.build, package.manager) == ("pytorch", "2.5.1", "py3.10_cuda12.4_cudnn9.1.0_0", "conda")
    assert [(torch.version, torch.cuda) for torch in facts.of(Torch)] == [("2.5.1", "12.4")]


def test_a_kernel_of_another_environment_leads_to_its_torch(tree):
    facts = tree(
        {
            "/home/ada/.local/share/jupyter/kernels/py/kernel.json": '{"argv": ["/opt/other/bin/python", "-m", "ipykernel_launcher"], "display_name": "other", "env": {"CUDA_VISIBLE_DEVICES": "1"}}',
            "/opt/other/lib/python3.10/site-packages/torch/version.py": VERSION.format("2.7.1+cpu", "None", "None"),
        },
        who=ADA,
    )
    (kernel,) = facts.of(JupyterKernel)
    assert (kernel.name, kernel.shown, kernel.python, kernel.prefix) == ("py", "other", "/opt/other/bin/python", "/opt/other")
    assert [torch.version for torch in facts.of(Torch) if torch.env == "/opt/other"] == ["2.7.1+cpu"]
    assert [(v.name, v.value) for v in facts.of(Variable) if v.place.process == "kernel:py"] == [("CUDA_VISIBLE_DEVICES", "1")]


def test_a_kernel_with_a_bare_python_is_of_the_environment_it_lies_in(tree):
    facts = tree(
        {
            "/home/ada/dl/share/jupyter/kernels/python3/kernel.json": '{"argv": ["python", "-m", "ipykernel_launcher"], "display_name": "Python 3"}'
        },
        who=ADA,
    )
    (kernel,) = facts.of(JupyterKernel)
    assert kernel.prefix == "/home/ada/dl"


def test_several_kernels_of_one_name_stay_apart(tree):
    body = '{"argv": ["python"], "display_name": "Python 3"}'
    facts = tree(
        {"/usr/share/jupyter/kernels/python3/kernel.json": body, "/home/ada/dl/share/jupyter/kernels/python3/kernel.json": body}, who=ADA
    )
    assert {kernel.prefix for kernel in facts.of(JupyterKernel)} == {"/usr", "/home/ada/dl"}


def test_kernels_as_jupyter_lists_them(pasted):
    facts = pasted(
        "Available kernels:\n  dl         /home/ada/.local/share/jupyter/kernels/dl\n  python3    /usr/share/jupyter/kernels/python3\n"
    )
    assert {kernel.name: kernel.path for kernel in facts.of(JupyterKernel)} == {
        "dl": "/home/ada/.local/share/jupyter/kernels/dl/kernel.json",
        "python3": "/usr/share/jupyter/kernels/python3/kernel.json",
    }


def test_homes_of_others_are_nobodys_business(tree):
    facts = tree({"/home/ada/.bashrc": "", "/home/bob/.bashrc": "export HSA_OVERRIDE_GFX_VERSION=10.3.0\n"}, who=ADA)
    assert {folder.path for folder in facts.of(HomeFolder)} == {"/home/ada"}
    assert not [v for v in facts.of(Variable) if v.name.startswith("HSA")]


def test_the_only_home_of_a_capture_that_tells_nobody(tree):
    assert [folder.path for folder in tree({"/home/ada/.bashrc": ""}).of(HomeFolder)] == ["/home/ada"]


def test_virtual_environments_win_over_conda(tree):
    who = {"user": "ada", "groups": [], "environment": {"VIRTUAL_ENV": "/home/ada/dl", "CONDA_PREFIX": "/opt/conda"}}
    assert {env.prefix: env.active for env in tree({}, who=who).of(PythonEnv)} == {"/home/ada/dl": True, "/opt/conda": False}


def test_groups_that_count_from_the_next_login_on(tree):
    facts = tree({"/etc/group": "root:x:0:\nvideo:x:44:ada\nrender:x:993:ada,bob\nsudo:x:27:bob\n"}, who=ADA)
    (who,) = facts.of(Account)
    assert (who.groups, who.assigned) == (["ada"], ["render", "video"])


def test_a_torch_of_this_machine_was_built_for_it(tree):
    facts = tree(
        {
            "/proc/version": "Linux version 6.8.0-1013-nvidia-64k (x) #1 SMP\n",
            "/proc/sys/kernel/arch": "aarch64\n",
            SITE + "torch/version.py": GPU,
        },
        who=ADA,
    )
    (torch,) = facts.of(Torch)
    assert torch.platform == "linux-aarch64"


def test_what_a_wheel_was_built_for_counts_more_than_the_machine_it_is_on(tree):
    facts = tree(
        {
            "/proc/version": "Linux version 6.8.0 (x) #1 SMP\n",
            "/proc/sys/kernel/arch": "aarch64\n",
            SITE + "torch/version.py": GPU,
            SITE + "torch-2.6.0+cu124.dist-info/WHEEL": "Wheel-Version: 1.0\nTag: cp311-cp311-manylinux_2_28_x86_64\n",
        },
        who=ADA,
    )
    assert facts.of(Torch)[0].platform == "linux-x86_64"
