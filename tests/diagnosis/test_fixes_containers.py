"""What people are told to do for containers, notebooks, device nodes, WSL and a foreign libcuda, in each place where it is done."""

import pytest

from answer_data import diagnose


@pytest.fixture
def ways(tmp_path):
    """The ways to mend a cause: the titles of their steps, and the commands, in one text a way; the first first."""

    def told(cause, body):
        (tmp_path / "said.txt").write_text(body, "utf-8")
        found = diagnose(str(tmp_path))["findings"]
        mine = next((one for one in found if one["cause"] == cause), None)
        assert mine is not None, [one["cause"] for one in found]
        return [
            " > ".join(f"[{step['where']}] {step['title']} $ " + "; ".join(map(" ".join, step["commands"])) for step in fix["steps"])
            for fix in mine["fixes"]
        ]

    return told


TORCH_ALONE = "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver\n"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("$ docker run --rm img python t.py\n" + TORCH_ALONE, "--gpus=all"),
        ("$ podman run --rm img python t.py\n" + TORCH_ALONE, "--device=nvidia.com/gpu=all"),
        ("$ apptainer exec img.sif python t.py\n" + TORCH_ALONE, "--nv"),
        ("$ singularity exec img.sif python t.py\n" + TORCH_ALONE, "--nv"),
        ("services:\n  app:\n    image: me/train\n$ docker compose logs app\napp-1  | " + TORCH_ALONE, "deploy: {resources:"),
        (
            "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: a\n    image: me/train\n$ kubectl logs a\n" + TORCH_ALONE,
            "nvidia.com/gpu: 1",
        ),
        ("$ docker run --rm img rocminfo\nUnable to open /dev/kfd read-write: No such file or directory\n", "/dev/kfd"),
    ],
)
def test_gpus_are_asked_for_in_the_words_of_what_starts_the_container(ways, body, words):
    first = ways("container-without-gpu", body)[0]
    assert words in first


def test_a_pod_and_a_compose_file_are_told_no_options_of_docker_run(ways):
    pod = "$ kubectl logs trainer-0\nRuntimeError: DataLoader worker (pid 41) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory.\n"
    told = ways("shm-too-small", pod)
    assert "emptyDir: {medium: Memory}" in told[0]
    assert not any("--shm-size" in way or "--ipc" in way for way in told)
    composed = pod.replace("kubectl logs trainer-0", "docker compose up")
    told = ways("shm-too-small", composed)
    assert "shm_size: 16gb" in told[0]
    assert not any("--shm-size" in way for way in told)


def test_a_plain_container_keeps_the_options_of_docker_run(ways):
    body = "$ docker run --gpus all img python t.py\nRuntimeError: DataLoader worker (pid 41) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory.\n"
    told = ways("shm-too-small", body)
    assert "--shm-size=16g" in told[0]
    assert "--ipc=host" in told[1]


@pytest.mark.parametrize(
    ("head", "command"),
    [
        ('NAME="Ubuntu"\nID=ubuntu\nVERSION_ID="24.04"\n', "apt-get install -y nvidia-container-toolkit"),
        ('NAME="Fedora Linux"\nID=fedora\nVERSION_ID=42\n', "dnf install -y nvidia-container-toolkit"),
    ],
)
def test_the_toolkit_comes_from_nvidias_source_for_the_distribution(ways, head, command):
    body = '$ docker run --gpus all ubuntu nvidia-smi\ndocker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].\n'
    first = ways("container-toolkit-missing", "ada@box:~$ cat /etc/os-release\n" + head + "ada@box:~" + body)[0]
    assert command in first
    assert "nvidia.github.io/libnvidia-container" in first


def test_docker_desktop_of_windows_is_told_of_wsl_and_no_package_manager(ways):
    body = 'Microsoft Windows [Version 10.0.22631.1]\nPS C:\\> docker run --gpus all ubuntu nvidia-smi\ndocker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].\n'
    told = ways("container-toolkit-missing", body)
    assert "WSL 2" in told[0]
    assert not any("systemctl" in way or "apt-get" in way for way in told)


def test_the_hosts_engine_for_an_amd_card_needs_no_toolkit_of_nvidia(ways):
    body = 'Ubuntu 22.04, AMD Radeon RX 7900 XTX\n$ docker context ls\ndesktop-linux *   Docker Desktop   unix:///home/ada/.docker/desktop/docker.sock\n$ docker run --device /dev/kfd rocm/pytorch\ndocker: Error response from daemon: error gathering device information while adding custom device "/dev/kfd": no such file or directory\n'
    told = ways("docker-flavour-without-gpu", body)
    assert "docker context use default" in told[0]
    assert not any("NVIDIA" in way for way in told)


def test_podman_gets_a_description_and_no_runtime(ways):
    body = "$ podman run --device nvidia.com/gpu=all ubuntu nvidia-smi\nError: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all\n"
    told = ways("container-toolkit-missing", body)
    assert "nvidia-ctk cdi generate" in told[0]
    assert not any("runtime configure" in way for way in told)


def test_nodes_of_a_cluster_are_set_up_each(ways):
    body = "$ kubectl -n kube-system logs nvidia-device-plugin-daemonset-x2\nE0506 17:45:45.421965       1 factory.go:113] If this is a GPU node, did you configure the NVIDIA Container Toolkit?\n"
    told = ways("container-toolkit-missing", body)
    assert told[0].startswith("[by-hand] on a cluster's node this is for its administrators")
    assert "[every-gpu-node]" in told[0]
    assert "--runtime=containerd" in told[0]
    assert not any("docker" in way for way in told)


def test_the_snap_of_docker_is_removed_and_no_context_is_switched(ways):
    body = "$ docker info | grep Root\n Docker Root Dir: /var/snap/docker/common/var-lib-docker\n$ docker run --gpus all ubuntu\nnvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such file or directory: unknown.\n"
    told = ways("docker-flavour-without-gpu", body)
    assert "snap remove docker" in told[0]
    assert not any("docker context" in way for way in told)


def test_docker_desktop_gives_way_to_the_hosts_engine(ways):
    body = "$ docker info | grep Operating\n Operating System: Docker Desktop\n$ docker run --gpus all ubuntu\nnvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such file or directory: unknown.\n"
    told = ways("docker-flavour-without-gpu", body)
    assert "docker context use default" in told[0]
    assert "snap remove" not in told[0]


def test_compatibility_libraries_are_taken_off_by_their_folder(ways):
    body = "$ docker run --gpus all img python t.py\nError 804: forward compatibility was attempted on non supported HW\n$ ldconfig -p | grep libcuda\n\tlibcuda.so.1 (libc6,x86-64) => /usr/local/cuda-12.4/compat/libcuda.so.1\n"
    told = ways("cuda-compat-libs-on-unsupported-gpu", body)
    assert any("/usr/local/cuda-12.4/compat" in way for way in told)
    assert not any("unset LD_LIBRARY_PATH" in way for way in told)


def test_a_container_that_lost_its_gpu_may_have_cgroupfs(ways):
    body = "$ docker exec app nvidia-smi\nFailed to initialize NVML: Unknown Error\n$ nvidia-smi -L\nGPU 0: NVIDIA A10 (UUID: GPU-0f0f61e0-9d3a-e3d8-7a6f-8a6d4d6dbf2a)\n"
    told = ways("container-lost-gpu-after-daemon-reload", body)
    assert "native.cgroupdriver=cgroupfs" in told[0]
    assert "docker restart app" in told[0]
    assert not any("create-dev-char-symlinks" in way for way in told)
    pod = ways("container-lost-gpu-after-daemon-reload", body.replace("docker exec app", "kubectl exec app -- "))
    assert not any("cgroupfs" in way for way in pod)
    assert "create-dev-char-symlinks" in pod[0]


def test_a_clusters_node_sets_up_the_runtime_that_it_names(ways):
    body = "If this is a GPU node, did you configure the NVIDIA Container Toolkit?\n$ docker run --rm --gpus all ubuntu nvidia-smi -L\nGPU 0: NVIDIA A10 (UUID: GPU-0f0f61e0-9d3a-e3d8-7a6f-8a6d4d6dbf2a)\n$ kubectl get node g -o jsonpath='{.status.nodeInfo.containerRuntimeVersion}'\ncontainerd://1.7.25\n"
    told = ways("container-toolkit-missing", body)
    assert "--runtime=containerd" in told[0]
    assert not any("docker" in way for way in told)
    dockers = body.replace("containerd://1.7.25", "docker://27.5.1")
    assert any("--runtime=docker" in way for way in ways("container-toolkit-missing", dockers))


def test_an_image_of_another_architecture_is_told_where_nobody_names_the_machine(ways):
    told = ways(
        "container-wrong-architecture", "$ docker run --rm img\nqemu: uncaught target signal 11 (Segmentation fault) - core dumped\n"
    )
    assert "architecture of the machine" in told[0]


def test_the_image_for_a_named_architecture_says_it(ways):
    body = "WARNING: The requested image's platform (linux/arm64) does not match the detected host platform (linux/amd64/v3) and no specific platform was requested\n"
    told = ways("container-wrong-architecture", body)
    assert "made for amd64" in told[0]
    assert not any("architecture of the machine" in way for way in told)


def test_apptainer_on_a_module_may_use_nvidias_tool_and_switches_no_context(ways):
    body = "$ cat /etc/nv_tegra_release\n# R36 (release), REVISION: 4.3, GCID: 38968081, BOARD: generic, EABI: aarch64\n$ apptainer exec --nv a.sif python3\nINFO:    Could not find any nv files on this host!\n"
    told = ways("container-runtime-without-jetson-support", body)
    assert "docker run --runtime=nvidia" in told[0]
    assert any("--nvccli" in way for way in told)
    assert not any("docker context" in way for way in told)


def test_a_module_whose_release_is_known_gets_the_wheel_of_the_table(ways):
    body = "$ cat /etc/nv_tegra_release\n# R36 (release), REVISION: 4.3, GCID: 38968081, BOARD: generic, EABI: aarch64\n$ python -c 'import torch; print(torch.__version__, torch.cuda.is_available())'\n2.5.1+cpu False\n"
    told = ways("jetson-generic-wheel", body)
    assert "--index-url" in told[0]
    assert "torch==" in told[0]


def test_jupyters_images_give_the_home_away_as_root_and_others_run_by_the_persons_numbers(ways):
    jupyter = "$ docker run -v data:/home/jovyan/work quay.io/jupyter/base-notebook\nPermissionError: [Errno 13] Permission denied: '/home/jovyan/work/a.ipynb'\n"
    assert "CHOWN_HOME=yes" in ways("container-files-root-owned", jupyter)[0]
    assert not any(" chown " in way for way in ways("container-files-root-owned", jupyter))


def test_the_kernel_is_registered_from_the_environment_of_the_prompt(ways):
    body = "(pt) $ python -c 'import torch; print(torch.cuda.is_available())'\nTrue\nCell In[2], line 1\nModuleNotFoundError: No module named 'torch'\n"
    told = ways("jupyter-kernel-other-env", body)
    assert "python -m ipykernel install --user --name pt" in told[0]


def test_selinux_is_told_only_where_it_is_spoken_of(ways):
    closed = "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\ncould not open /dev/nvidiactl: Permission denied\n"
    told = ways("device-node-permissions", closed)
    assert "group that owns /dev/nvidiactl" in told[0]
    assert not any("SELinux" in way or "keep-groups" in way for way in told)
    told = ways("device-node-permissions", closed + "It is Fedora with SELinux enforcing.\n")
    assert "SELinux" in told[0]


def test_the_number_of_the_nodes_group_is_looked_up_on_the_host(ways):
    refused = "Unable to open /dev/kfd read-write: Permission denied\n"
    told = ways("container-render-group-mismatch", "$ docker run --device=/dev/kfd --device=/dev/dri img rocminfo\n" + refused)
    assert "--group-add=$(stat -c %g /dev/kfd)" in told[0]
    told = ways("container-render-group-mismatch", "$ podman run --device=/dev/kfd --device=/dev/dri img rocminfo\n" + refused)
    assert "--group-add=keep-groups" in told[0]


WSL = "$ uname -r\n5.15.153.1-microsoft-standard-WSL2\n"


def test_packages_of_a_linux_driver_in_wsl_are_found_where_none_is_listed(ways):
    told = ways("wsl-linux-driver-inside", WSL + "Commandline: apt install nvidia-driver-550\n")
    assert "apt-get purge" in told[0]
    assert "nvidia-cuda-toolkit" not in told[0]


def test_listed_packages_of_a_linux_driver_in_wsl_are_named(ways):
    listed = "$ dpkg -l | grep nvidia\nii  libnvidia-compute-535  535.183.01-0ubuntu1  amd64  NVIDIA libcompute package\nii  nvidia-cuda-toolkit  12.0.140  amd64  NVIDIA CUDA development toolkit\n"
    told = ways("wsl-linux-driver-inside", WSL + listed)
    assert "purge -y libnvidia-compute-535 >" in told[0]
    assert "takes nvidia-cuda-toolkit along" in told[0], "apt removes what needs the library"


def test_the_first_generation_is_converted_by_the_name_in_the_list(ways):
    listed = "PS> wsl -l -v\n  NAME              STATE           VERSION\n* Ubuntu-20.04      Running         1\n"
    told = ways("wsl-windows-too-old", listed)
    assert "wsl --set-version Ubuntu-20.04 2" in told[0]


def test_an_old_windows_is_updated_to_the_build_of_the_table(ways):
    body = "Microsoft Windows [Version 10.0.18362.1]\n\nme@LAPTOP:~$ nvidia-smi\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n"
    body += "I use WSL 2.\n"
    assert "build 19044" in ways("wsl-windows-too-old", body)[0]


def test_torchs_own_runtime_is_set_aside_where_python_finds_it(ways):
    body = "Running WSL with ROCm by AMD's guide on a 7900 XTX. It was there until I installed the requirements of the program, now:\nRuntimeError: No HIP GPUs are available\n"
    told = ways("wsl-wheel-bundled-hsa-runtime", body)
    assert "find_spec" in told[0]


def test_an_image_with_a_drivers_libraries_is_built_without_them(ways):
    body = "root@7c1fe0a9b3d2:/# ls -lah /usr/lib/x86_64-linux-gnu/libcuda.so*\nlrwxrwxrwx 1 root root 20 Mar  2 09:10 /usr/lib/x86_64-linux-gnu/libcuda.so.1 -> libcuda.so.560.35.03\n-rw-r--r-- 1 root root 27M Jan 14 03:22 /usr/lib/x86_64-linux-gnu/libcuda.so.550.90.07\n"
    told = ways("libcuda-differs-from-kernel-driver", body)
    assert "without packages of the driver" in told[0]
    assert not any("modprobe" in way or "reboot" in way for way in told)


LINK = "| NVIDIA-SMI 535.129.03       Driver Version: 535.129.03       CUDA Version: 12.2     |\nlrwxrwxrwx 1 root root 20 Jan  4 10:11 /usr/lib/x86_64-linux-gnu/libcuda.so.1 -> libcuda.so.{version}\nRuntimeError: No CUDA GPUs are available\n"


def test_an_older_libcuda_that_was_left_is_removed_and_a_newer_one_waits_for_the_module(ways):
    old = ways("libcuda-differs-from-kernel-driver", LINK.format(version="525.85.12"))
    assert "remove the driver library" in old[0]
    assert not any("modprobe" in way for way in old)
    new = ways("libcuda-differs-from-kernel-driver", LINK.format(version="550.54.15"))
    assert "modprobe" in new[0]
    assert not any("remove the driver library" in way for way in new)


def test_the_cuda_that_a_driver_carries_is_told_by_its_version_and_not_by_the_compatibility_package(ways):
    table = "Error 804: forward compatibility was attempted on non supported HW\n| NVIDIA-SMI 525.147.05   Driver Version: 525.147.05   CUDA Version: {}     |\n|   0  NVIDIA GeForce RTX 3080   On | 00000000:01:00.0 Off |\n"
    assert "CUDA 12.0 or older" in ways("cuda-compat-libs-on-unsupported-gpu", table.format("12.3"))[0]
    assert "CUDA 12.0 or older" in ways("cuda-compat-libs-on-unsupported-gpu", table.format("12.0"))[0]


def test_nodes_of_k3s_are_told_no_runtime_that_the_toolkit_does_not_know(ways):
    body = "factory.go:113] If this is a GPU node, did you configure the NVIDIA Container Toolkit?\n"
    told = ways("container-toolkit-missing", "The cluster is a k3s of two nodes.\n" + body)
    assert "systemctl restart k3s*" in told[0]
    assert not any("runtime configure" in way for way in told)
    told = ways("container-toolkit-missing", body)
    assert "--runtime=containerd --set-as-default" in told[0]


def test_numbers_of_the_host_count_for_nothing_in_a_user_namespace(ways):
    refused = 'Unable to open /dev/kfd read-write: Permission denied\n{0} is not member of "{1}" group, the default DRM access group. Users must be a member of the "{1}" group or another DRM access group in order for ROCm applications to run successfully.\n'
    told = ways("container-render-group-mismatch", refused.format("root", "nogroup"))
    assert "--group-add=keep-groups" in told[0]
    assert "gid=GID" in told[1]
    told = ways(
        "container-render-group-mismatch",
        "$ docker run --device=/dev/kfd --device=/dev/dri img rocminfo\n" + refused.format("app", "render"),
    )
    assert "--group-add=$(stat -c %g /dev/kfd)" in told[0]
    assert not any("gid=GID" in way for way in told)


def test_capabilities_that_are_asked_of_the_engine_are_asked_of_it_again(ways):
    error = "app-1  | ImportError: libcuda.so.1: cannot open shared object file: No such file or directory\n"
    asked = "services:\n  app:\n    image: me/train\n    deploy:\n      resources:\n        reservations:\n          devices:\n            - driver: nvidia\n              capabilities: [gpu, utility]\n"
    assert "capabilities: [gpu, compute, utility]" in ways("container-without-gpu", asked + error)[0]
    told = "services:\n  app:\n    image: me/train\n    runtime: nvidia\n    environment:\n      - NVIDIA_DRIVER_CAPABILITIES=utility\n"
    assert "NVIDIA_DRIVER_CAPABILITIES=compute,utility" in ways("container-without-gpu", told + error)[0]


def test_the_environment_of_the_shell_is_registered_and_not_the_notebooks_own(ways):
    cell = "In [1]: import sys; print(sys.executable)\n/home/ada/conda/bin/python\nIn [2]: import torch; torch.cuda.is_available()\nOut[2]: False\n"
    shell = '(gpu) ada@ws:~$ python -c "import sys, torch; print(sys.executable, torch.cuda.is_available())"\n/home/ada/conda/envs/gpu/bin/python True\n'
    told = ways("jupyter-kernel-other-env", cell + shell)
    assert "/home/ada/conda/envs/gpu/bin/python -m ipykernel install --user --name gpu" in told[0]
    paths = "In [1]: sys.path\n['', '/opt/conda/lib/python312.zip',\n '/home/ada/.ipython']\n$ python -c 'import sys; print(sys.path)'\n['', '/opt/conda/envs/dl/lib/python311.zip', '/opt/conda/envs/dl/lib/python3.11/site-packages']\n"
    assert "/opt/conda/envs/dl/bin/python -m ipykernel" in ways("jupyter-kernel-other-env", paths)[0]


def test_an_option_of_docker_run_names_both_capabilities(ways):
    told = ways(
        "container-without-gpu",
        "$ docker run --gpus 'all,capabilities=utility' --rm img python t.py\nImportError: libcuda.so.1: cannot open shared object file: No such file or directory\n",
    )
    assert "--gpus='all,\"capabilities=compute,utility\"'" in told[0]


def test_an_option_beside_others_of_its_name_takes_none_of_them_away(mended):
    started = "$ docker run --rm -e HF_HOME=/m --device=/dev/kfd --device=/dev/dri rocm/pytorch python gen.py\n"
    lacks = (
        "rocBLAS error: Cannot read /opt/rocm/lib/rocblas/library/TensileLibrary.dat: No such file or directory for GPU arch : gfx1031\n"
    )
    assert (
        "docker run -e HSA_OVERRIDE_GFX_VERSION=10.3.0 --rm -e HF_HOME=/m --device=/dev/kfd"
        in mended("gfx-not-in-rocblas", started + lacks)[0]
    )


@pytest.mark.parametrize("given", ["--device /dev/dri", "--device=/dev/dri"])
def test_a_device_that_is_given_already_is_not_given_twice(mended, given):
    body = f"$ docker run --rm {given} img rocminfo\nUnable to open /dev/kfd read-write: No such file or directory\n"
    assert mended("container-without-gpu", body)[0].partition("$ ")[2].count("/dev/dri") == 1
