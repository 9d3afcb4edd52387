"""Ways said as the tool takes them that keeps the thing: a project's, a system's configuration, the command that started it; each from both sides."""

import pytest

from answer_data import diagnose

CPU = '{prompt} python -c "import torch; print(torch.__version__, torch.cuda.is_available())"\n2.5.1+cpu False\n$ nvidia-smi -L\nGPU 0: NVIDIA RTX A4000 (UUID: GPU-0e1f0a52-7d11-4c3f-9a3e-0a4f2f0c1b77)\n'
NUMPY = "A module that was compiled using NumPy 1.x cannot be run in\nNumPy 2.0.2 as it may crash.\nRuntimeError: Numpy is not available\n"
NO_TOOLKIT = 'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].\n'
DENIED = 'Unable to open /dev/kfd read-write: Permission denied\n{user} is not member of "render" group, the default DRM access group. Users must be a member of the "render" group or another DRM access group in order for ROCm applications to run successfully.\n'
BUS = "RuntimeError: DataLoader worker (pid 89) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.\n"
MISMATCH = "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.127\n"


def first(tmp_path, body):
    (tmp_path / "paste.txt").write_text(body, encoding="utf-8")
    return diagnose(str(tmp_path / "paste.txt"))["findings"][0]


def commands(finding, way=0):
    return [" ".join(argv) for step in finding["fixes"][way]["steps"] for argv in step["commands"]]


def check_of(finding):
    return [" ".join(argv) for argv in finding["fixes"][0]["check"]["commands"]]


@pytest.mark.parametrize(
    ("prompt", "way", "asks"),
    [
        ("$ uv run", "uv add torch==2.5.1 torchvision==0.20.1 --index pytorch-cu", "uv run python"),
        ("$ poetry run", "poetry add --source pytorch-cu", "poetry run python"),
        ("$ pixi run", "pixi add pytorch=2.5.*=cuda*", "pixi run python"),
        ("$", "python -m pip install --force-reinstall torch==2.5.1", "python -c"),
    ],
)
def test_a_project_keeps_its_packages_by_its_own_tool(tmp_path, prompt, way, asks):
    finding = first(tmp_path, CPU.format(prompt=prompt))
    assert any(line.startswith(way) for line in commands(finding))
    assert check_of(finding)[0].startswith(asks)


def test_of_two_tools_nobody_knows_which_one_keeps_the_environment(tmp_path):
    finding = first(tmp_path, "$ poetry install\n" + CPU.format(prompt="$ uv run"))
    assert commands(finding)[0].startswith("python -m pip install")


@pytest.mark.parametrize(
    ("shown", "way"),
    [
        ("$ uv run main.py\n", "uv add numpy<2"),
        ("$ poetry run python main.py\n", "poetry add numpy<2"),
        ("$ python main.py\n", "python -m pip install numpy<2"),
    ],
)
def test_a_package_without_an_index_goes_into_the_project(tmp_path, shown, way):
    assert commands(first(tmp_path, shown + NUMPY)) == [way]


@pytest.mark.parametrize(
    ("typed", "python"),
    [
        ("$ ~/envs/t/bin/python main.py", "~/envs/t/bin/python"),
        ("$ /opt/work/bin/python3.11 main.py", "/opt/work/bin/python"),
        ("PS C:\\lab> .\\.venv\\Scripts\\python.exe main.py", ".\\.venv\\Scripts\\python.exe"),
        ("$ /usr/bin/python3 main.py", "python"),
        ("$ ./one/bin/python main.py\n$ ./two/bin/python main.py", "python"),
    ],
)
def test_the_python_that_was_typed_by_its_path_gets_the_packages(tmp_path, typed, python):
    assert commands(first(tmp_path, f"{typed}\n{NUMPY}")) == [f"{python} -m pip install numpy<2"]


@pytest.mark.parametrize(
    ("system", "way"),
    [("NixOS 24.11\n", "nixos-rebuild switch"), ("Fedora 41\n", "dnf install -y nvidia-container-toolkit")],
)
def test_a_system_that_is_made_of_its_configuration_gets_a_line(tmp_path, system, way):
    finding = first(tmp_path, system + NO_TOOLKIT)
    assert way in commands(finding)
    assert ("hardware.nvidia-container-toolkit.enable" in finding["fixes"][0]["title"]) is system.startswith("NixOS")


def test_an_account_of_such_a_system_joins_a_group_there(tmp_path):
    finding = first(tmp_path, "NixOS 24.11, RX 7900 XT\n$ rocminfo\n" + DENIED.format(user="joe"))
    assert 'users.users.joe.extraGroups = [ "render" ];' in finding["fixes"][0]["title"]
    assert commands(finding) == ["nixos-rebuild switch"]


def test_the_account_that_the_message_names_joins_the_group(tmp_path):
    assert commands(first(tmp_path, "$ rocminfo\n" + DENIED.format(user="eva"))) == ["usermod -aG render eva"]


@pytest.mark.parametrize(
    ("started", "way"),
    [
        ("$ docker run --rm -v $PWD:/w pytorch/pytorch python /w/a.py", "docker run --shm-size=16g --rm -v .:/w pytorch/pytorch python /w/a.py"),
        ("$ docker run --rm --shm-size=1g pytorch/pytorch python a.py", "docker run --shm-size=16g --rm pytorch/pytorch python a.py"),
        ("$ docker run --rm \\\n  --gpus all \\\n  me/app python a.py", "docker run --shm-size=16g --rm --gpus all me/app python a.py"),
        ("$ docker run --rm me/app python a.py 2>&1 | tee log", "docker run --shm-size=16g --rm me/app python a.py"),
        ("$ docker run --rm -e KEY=$(cat key) me/app python a.py", None),
        ("$ docker run --privileged me/app python a.py", None),
        ("$ docker run me/one a.py\n$ docker run me/two a.py", None),
    ],
)  # fmt: skip
def test_the_command_that_started_it_gets_the_option(tmp_path, started, way):
    lines = commands(first(tmp_path, f"{started}\n{BUS}"))
    assert lines == ([way] if way else [])


def test_a_name_that_is_taken_is_freed_first(tmp_path):
    lines = commands(first(tmp_path, f"$ docker run -d --name app me/app python a.py\n{BUS}"))
    assert lines[:2] == ["docker stop app", "docker rename app app-before"]


def test_a_job_asks_in_the_partition_that_has_the_gpus(tmp_path):
    body = "$ sbatch --gres=gpu:2 job.sh\nsbatch: error: Batch job submission failed: Invalid generic resource (gres) specification\n$ sinfo -o '%P %G'\nPARTITION GRES\n{default}gpu:a100:4\n"
    lines = commands(first(tmp_path, body.format(default="cpu* (null)\ngpu ")))
    assert lines == ["sbatch --partition=gpu --gres=gpu:a100:2 job.sh"]
    lines = commands(first(tmp_path, body.format(default="gpu* ")))
    assert lines == ["sbatch --gres=gpu:a100:2 job.sh"]


@pytest.mark.parametrize(("shown", "drained"), [("[ana@node17 ~]$ squeue -w node17\n", True), ("$ ls\n", False)])
def test_a_node_of_a_cluster_is_drained_first(tmp_path, shown, drained):
    kinds = [step["kind"] for step in first(tmp_path, shown + MISMATCH)["fixes"][0]["steps"]]
    assert (kinds[0] == "drain-node") is drained


def test_what_needs_root_on_a_clusters_node_is_for_its_administrators(tmp_path):
    body = "$ srun --gres=gpu:1 rocminfo\n" + DENIED.format(user="u1234")
    kinds = [step["kind"] for step in first(tmp_path, body)["fixes"][0]["steps"]]
    assert kinds[:2] == ["ask-administrators", "join-group"]
