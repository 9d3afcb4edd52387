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
        ("$ uv run", "uv add --frozen torch==2.5.1 torchvision==0.20.1 --index pytorch-cu", "uv run python"),
        ("$ poetry run", "poetry add --source pytorch-cu", "poetry run python"),
        ("$ pixi run", "pixi add pytorch=2.5.*=cuda*", "pixi run python"),
        ("$", "python -m pip install torch==2.5.1+cu", "python -c"),
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
    ("system", "way"), [("NixOS 24.11\n", "nixos-rebuild switch"), ("Fedora 41\n", "dnf install -y nvidia-container-toolkit")]
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
        (
            "$ docker run --rm -v $PWD:/w pytorch/pytorch python /w/a.py",
            "docker run --shm-size=16g --rm -v .:/w pytorch/pytorch python /w/a.py",
        ),
        ("$ docker run --rm --shm-size=1g pytorch/pytorch python a.py", "docker run --shm-size=16g --rm pytorch/pytorch python a.py"),
        ("$ docker run --rm \\\n  --gpus all \\\n  me/app python a.py", "docker run --shm-size=16g --rm --gpus all me/app python a.py"),
        ("$ docker run --rm me/app python a.py 2>&1 | tee log", "docker run --shm-size=16g --rm me/app python a.py"),
        ("$ docker run --rm -e KEY=$(cat key) me/app python a.py", None),
        ("$ docker run --privileged me/app python a.py", None),
        ("$ docker run me/one a.py\n$ docker run me/two a.py", None),
        ("$ docker run me/one a.py\n$ docker run me/one b.py", "docker run --shm-size=16g me/one a.py"),
        ("$ apptainer exec -C me.sif python a.py", "apptainer exec --bind=/dev/shm -C me.sif python a.py"),
    ],
)
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


CONDA = "RuntimeError: operator torchvision::nms does not exist\n(cv) $ conda list torch\n{torch}\ntorchvision  0.19.1  {build}\n"


def test_torch_of_conda_forge_is_changed_by_conda(tmp_path):
    torch = "pytorch  2.5.1  cuda126_py312h1763f6d_303  conda-forge"
    finding = first(tmp_path, CONDA.format(torch=torch, build="cpu_py312h8e0b2b3_0  conda-forge"))
    (line,) = commands(finding)
    assert line.startswith("conda install -y --override-channels -c conda-forge pytorch=2.5.1=cuda")
    assert line.endswith("torchvision=0.20.1")
    assert check_of(finding)[0].endswith(" torchvision")


def test_torch_of_a_channel_that_has_ended_goes_before_a_wheel(tmp_path):
    torch = "pytorch  2.4.1  py3.11_cuda12.1_cudnn9.1.0_0  pytorch\npytorch-cuda  12.1  ha16c6d3_6  pytorch"
    lines = commands(first(tmp_path, CONDA.format(torch=torch, build="py311_cu121  pytorch").replace("0.19.1", "0.18.0")))
    assert lines[0].startswith("conda remove -y pytorch pytorch-cuda")
    assert "pip install torch==2.4.1+cu121 torchvision==0.19.1+cu121" in lines[1]


MANAGED = "$ pip install torch\nerror: externally-managed-environment\n\n× This environment is externally managed\n"


@pytest.mark.parametrize(
    ("machine", "way"),
    [
        ("Debian 13, RTX 3060, driver 550.163.01\n", ".venv/bin/python -m pip install torch=="),
        ("macOS 15, M4\n", ".venv/bin/python -m pip install torch "),
    ],
)
def test_where_the_card_is_named_torch_is_chosen_for_the_new_environment(tmp_path, machine, way):
    finding = first(tmp_path, MANAGED + machine)
    assert commands(finding)[-1].startswith(way)


def test_where_nobody_names_the_card_who_asks_the_machine_chooses(tmp_path):
    kinds = [step["kind"] for step in first(tmp_path, MANAGED + "Debian 13\n")["fixes"][0]["steps"]]
    assert kinds[-1] == "choose-build"


BUS_LINE = "01:00.0 VGA compatible controller [0300]: NVIDIA Corporation TU116 [GeForce GTX 1660] [10de:2184] (rev a1)\n\tKernel driver in use: nouveau\n\tKernel modules: {modules}\n"


@pytest.mark.parametrize(
    ("shown", "modules", "kinds"),
    [
        ("openSUSE Leap 15.6\n", "nouveau", ["install-driver"]),
        ("openSUSE Leap 15.6\n", "nouveau, nvidia_drm, nvidia", ["blacklist-module", "restart-machine"]),
        (
            "Debian 12\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n",
            "nouveau",
            ["get-headers-of-running", "build-module", "blacklist-module", "restart-machine"],
        ),
    ],
)
def test_nouveau_goes_where_another_module_takes_its_place(tmp_path, shown, modules, kinds):
    finding = first(tmp_path, shown + "$ lspci -nnk -d 10de:\n" + BUS_LINE.format(modules=modules))
    assert finding["cause"] == "nouveau-bound"
    assert [step["kind"] for step in finding["fixes"][0]["steps"]] == kinds


GONE = "$ sudo modprobe nvidia\nmodprobe: FATAL: Module nvidia not found in directory /lib/modules/{kernel}\n"


@pytest.mark.parametrize(
    ("shown", "kernel", "way"),
    [
        ("Arch Linux\n", "6.11.6-arch1-1", "systemctl reboot"),
        ("Fedora 41\n$ rpm -q akmod-nvidia\nakmod-nvidia-565.77-1.fc41.x86_64\n", "6.12.5-200.fc41.x86_64", "akmods --force"),
        ("Ubuntu 24.04\n", "6.11.0-19-generic", "dkms autoinstall -k 6.11.0-19-generic"),
    ],
)
def test_a_module_is_built_by_what_builds_it_there(tmp_path, shown, kernel, way):
    silent = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n"
    found = commands(first(tmp_path, shown + silent + GONE.format(kernel=kernel)))
    assert way in found
    assert found[-1] in ("sudo modprobe nvidia", "systemctl reboot")  # a module that is built is not loaded yet


def test_nvidias_installer_is_run_again_when_the_headers_are_there(tmp_path):
    said = "openSUSE Tumbleweed\nERROR: Unable to find the kernel source tree for the currently running kernel.\n$ uname -r\n6.11.8-1-default\n"
    finding = first(tmp_path, said)
    assert [step["kind"] for step in finding["fixes"][0]["steps"]] == ["install-headers", "repeat-installer"]
    assert "kernel-default-devel" in commands(finding)[0]


@pytest.mark.parametrize(
    ("typed", "way"),
    [
        ("$ ollama serve\n", "systemctl restart ollama"),
        ("$ llama-server -m q.gguf -ngl 99\n", "cmake --build build-vulkan --config Release -j 4"),
    ],
)
def test_the_program_that_was_typed_gets_vulkan_in_its_own_way(tmp_path, typed, way):
    said = "rocBLAS error: Cannot read /opt/rocm/lib/rocblas/library/TensileLibrary.dat: No such file or directory for GPU arch : gfx1103\n"
    finding = first(tmp_path, typed + said)
    assert any(way in commands(finding, number) for number in range(len(finding["fixes"])))


@pytest.mark.parametrize(("mode", "named"), [("crw-rw-rw-", False), ("crw-rw----", True)])
def test_a_node_that_is_open_to_all_wants_no_group(tmp_path, mode, named):
    body = f'$ python -c "import torch; print(torch.__version__, torch.xpu.is_available())"\n2.7.1+xpu False\n$ uname -s\nLinux\nFedora 41\n$ ls -l /dev/dri\n{mode} 1 root render 226, 128 Dec  1 10:00 renderD128\n'
    (tmp_path / "paste.txt").write_text(body, encoding="utf-8")
    causes = [finding["cause"] for finding in diagnose(str(tmp_path / "paste.txt"))["findings"]]
    assert ("render-group-missing" in causes) is named


def test_a_service_looks_for_cards_again_after_its_module_was_loaded_anew(tmp_path):
    said = '$ journalctl -u ollama -n 3 --no-pager\nlevel=WARN source=gpu.go:613 msg="unable to load libcuda" library=/usr/lib/x86_64-linux-gnu/libcuda.so.550.120 error="cuda driver library init failure: 999"\n'
    assert commands(first(tmp_path, said))[-1] == "systemctl start ollama"


def test_uv_is_told_what_a_build_needs(tmp_path):
    said = "ModuleNotFoundError: No module named 'torch'\n      hint: This error likely indicates that `flash-attn@2.7.4.post1` depends on `torch`, but doesn't declare it as a build dependency.\n"
    assert "extra-build-dependencies" in first(tmp_path, "$ uv sync\n" + said)["fixes"][0]["title"]
    other = first(tmp_path, "$ pip install flash-attn\n" + said)
    assert commands(other)[-1].endswith("--no-build-isolation flash-attn")


def test_a_mac_has_a_device_of_its_own(tmp_path):
    finding = first(
        tmp_path, 'MacBook Pro M3, macOS 14.5\n>>> torch.zeros(1).to("cuda")\nAssertionError: Torch not compiled with CUDA enabled\n'
    )
    assert "mps" in finding["fixes"][0]["title"]


def test_answers_are_read_where_warnings_stand_between(tmp_path):
    said = '(v) $ python -c "import torch; print(torch.__version__); print(torch.cuda.is_available())"\n/v/lib/python3.12/site-packages/torch/cuda/__init__.py:235: UserWarning: CUDA initialization: The NVIDIA driver on your system is too old (found version 12020).\n2.9.1+cu130\nFalse\nRTX 3060, driver 535.54.03\n'
    assert any("torch==2.9.1" in line for line in commands(first(tmp_path, said)))


NEWER = """UserWarning: NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation.
The current PyTorch install supports CUDA capabilities sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90.
RuntimeError: CUDA error: no kernel image is available for execution on the device
torch 2.5.1+cu124
"""


@pytest.mark.parametrize(
    ("started", "kind"),
    [
        ("$ docker run --rm --gpus all -v data:/data me/app:1 python a.py", "image-line"),
        ("$ docker run -it --gpus all me/app:1 bash", "install-torch"),
        ("$ kubectl logs trainer-0", "image-line"),
        ("$ python a.py", "install-torch"),
    ],
)
def test_what_a_container_would_forget_goes_into_its_image(tmp_path, started, kind):
    finding = first(tmp_path, f"{started}\n{NEWER}")
    assert [step["kind"] for step in finding["fixes"][0]["steps"]] == [kind]
    if "--rm" in started:
        argv = finding["fixes"][0]["steps"][0]["commands"][0]
        assert argv[4] == "me/app:1"
        assert argv[-1] == "app:mended"
