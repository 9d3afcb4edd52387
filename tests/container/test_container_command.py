"""The command that starts a container: which way the devices come in, what is lowered, whose the files are."""

import json
import shlex

import pytest
from facts import ADA, APPTAINER, DOCKER, NODES, PODMAN, answered, causes, cdi, pairs

from rigup.cli.container_report import shown_text
from rigup.container.asked import Asked, ContainerError, Mount, checked, mount, variable
from rigup.container.host import Folder, Host, Node

OLD = {**DOCKER, "version": "27.5.1", "cdi": False}


def test_a_description_for_another_driver_is_written_anew_and_a_hook_is_taken_in_its_place():
    stale = cdi(driver="570.1")
    podman = answered(ADA, {"engines": [PODMAN], "cdi": stale, "nvidia_toolkit": "1.18.0"})
    assert (podman.verdict, causes(podman), [step.kind for step in podman.steps]) == ("possible", ["cdi-spec-stale"], ["describe-devices"])
    docker = answered(ADA, {"engines": [DOCKER], "cdi": stale, "nvidia_toolkit": "1.18.0"})
    assert (docker.verdict, causes(docker)) == ("ready", [])
    assert ("--gpus", "all") in pairs(docker)


def test_a_service_takes_its_gpu_by_cdi_and_a_port_answers_this_machine_alone():
    answer = answered(
        ADA,
        {"engines": [DOCKER], "cdi": cdi(), "nvidia_toolkit": "1.18.0"},
        what="vllm/vllm-openai:v0.30.0",
        command=("--model", "m"),
        detach=True,
        publish=(8000,),
    )
    assert {("--device", "nvidia.com/gpu=all"), ("--publish", "127.0.0.1:8000:8000"), ("--ipc", "host")} <= pairs(answer)
    assert "--gpus" not in answer.argv


def test_several_devices_keep_their_inner_quotes():
    answer = answered("3x RTX 3090, driver 535.183.01, ubuntu 22.04", {"engines": [OLD], "nvidia_toolkit": "1.16"}, gpu="0,2")
    assert ("--gpus", '"device=0,2"') in pairs(answer)
    assert [device.served for device in answer.devices] == [True, False, True]


def test_an_image_that_refuses_a_geforce_is_started_by_cdi_or_not_at_all():
    card, image = "RTX 3090, driver 550.163.01, ubuntu 22.04", "nvidia/cuda:12.8.1-base-ubuntu22.04"
    hook = answered(card, {"engines": [OLD], "nvidia_toolkit": "1.18"}, what=image, command=("nvidia-smi",))
    assert (hook.verdict, causes(hook), hook.devices[0].served) == ("possible", ["container-requires-newer-driver"], False)
    described = answered(
        card, {"engines": [DOCKER], "cdi": cdi(driver="550.163.01"), "nvidia_toolkit": "1.18"}, what=image, command=("nvidia-smi",)
    )
    assert (described.verdict, ("--device", "nvidia.com/gpu=all") in pairs(described)) == ("ready", True)
    tesla = answered(
        "A100 80GB PCIe, driver 550.163.01, ubuntu 22.04", {"engines": [OLD], "nvidia_toolkit": "1.18"}, what=image, command=("nvidia-smi",)
    )
    assert (tesla.verdict, causes(tesla)) == ("ready", [])


@pytest.mark.parametrize(
    ("card", "image", "cause"),
    [
        ("GTX 1080 Ti, driver 580.95.05, ubuntu 22.04", "pytorch/pytorch:2.9.1-cuda13.0-cudnn9-runtime", "gpu-arch-older-than-wheel"),
        ("RTX 5090, driver 580.95.05, ubuntu 24.04", "pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime", "gpu-arch-newer-than-wheel"),
        ("Instinct MI50, ubuntu 22.04", "rocm/pytorch:rocm7.2.4_ubuntu24.04_py3.12_pytorch_release_2.10.0", "rocm-dropped-arch"),
        ("RX 9070 XT, ubuntu 24.04", "rocm/pytorch:rocm6.2.1_ubuntu22.04_py3.10_pytorch_release_2.1.2", "gfx-not-in-torch-wheel"),
        ("Jetson AGX Orin, jetpack 6.2, arch aarch64", "pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime", "jetson-generic-wheel"),
        (ADA, "nvcr.io/nvidia/l4t-pytorch:r35.2.1-pth2.0-py3", "container-wrong-architecture"),
    ],
)
def test_what_a_named_image_cannot_do_is_told_before(card, image, cause):
    answer = answered(card, {"engines": [DOCKER], "nvidia_toolkit": "1.18", "nodes": NODES}, what=image)
    assert (answer.image, causes(answer), answer.devices[0].served) == (image, [cause], False)


def test_groups_are_numbers_for_root_and_kept_without():
    docker, podman = (answered("RX 7900 XTX, ubuntu 24.04", {"engines": [engine], "nodes": NODES}) for engine in (DOCKER, PODMAN))
    assert {("--group-add", "992"), ("--user", "1000:1000"), ("--device", "/dev/kfd")} <= pairs(docker)
    assert {("--group-add", "keep-groups"), ("--userns", "keep-id")} <= pairs(podman)
    alone = answered("RX 7900 XTX, ubuntu 24.04", {"engines": [{**PODMAN, "more_ids": False}], "nodes": NODES})
    assert "keep-id" not in alone.argv
    assert ("--group-add", "keep-groups") in pairs(alone)
    assert "--user" not in podman.argv
    runc = answered(
        "RX 7900 XTX, ubuntu 24.04", {"engines": [{**PODMAN, "oci_runtime": "runc", "oci_runtimes": ["runc", "crun"]}], "nodes": NODES}
    )
    assert runc.argv[:4] == ["podman", "--runtime", "crun", "run"]


def test_a_folder_of_work_gets_a_label_and_a_home_none():
    open_nodes = {path: {**node, "mode": "0666"} for path, node in NODES.items()}
    host = {"engines": [PODMAN], "nodes": open_nodes, "selinux": "enforcing", "container_selinux": "2.240.0"}
    work = answered("RX 9070 XT, fedora 42, kernel 6.15", host)
    assert "/home/ada/work:/home/ada/work:z" in work.argv
    home = answered("RX 9070 XT, fedora 42, kernel 6.15", {**host, "cwd": "/home/ada"})
    assert ("--security-opt", "label=disable") in pairs(home)
    assert "/home/ada:/home/ada" in home.argv


def test_apptainer_lets_in_what_a_job_needs_and_nothing_else():
    variables = {"CUDA_VISIBLE_DEVICES": "1", "PYTHONPATH": "/x", "HTTPS_PROXY": "http://u:secret@proxy:1", "HF_HOME": "/scratch/hf"}
    answer = answered(
        "4x A100 SXM4 40GB, driver 535.183.06, rocky 9",
        {"engines": [APPTAINER], "environment": variables, "cwd": "/scratch/run"},
        what="/s/x.sif",
    )
    assert {"--nv", "--cleanenv"} <= set(answer.argv)
    assert answer.exports.keys() == {"APPTAINERENV_CUDA_VISIBLE_DEVICES", "APPTAINERENV_HTTPS_PROXY", "APPTAINERENV_HF_HOME"}
    assert "secret" not in " ".join(answer.argv)
    assert {("--bind", "/scratch/run:/scratch/run"), ("--bind", "/scratch/hf:/scratch/hf")} <= pairs(answer)


def test_a_secret_is_passed_by_name_also_where_its_value_was_typed():
    answer = answered(ADA, {"engines": [DOCKER], "nvidia_toolkit": "1.18"}, variables={"HF_TOKEN": "hf_typed", "MODE": "fast"})
    assert {("--env", "HF_TOKEN"), ("--env", "MODE=fast")} <= pairs(answer)
    assert causes(answer) == ["secret-by-value"]
    file = answered(ADA, {"engines": [DOCKER], "nvidia_toolkit": "1.18"}, variables={"HF_TOKEN": None}, form="compose").files[0]
    assert '- "HF_TOKEN"\n' in file.text


def test_a_file_holds_what_the_command_says():
    import yaml

    host = {"engines": [DOCKER], "nvidia_toolkit": "1.18", "nodes": NODES}
    service = yaml.safe_load(answered(ADA, host, form="compose", command=("echo", "$HOME: x")).files[0].text)["services"]["pytorch"]
    assert service["deploy"]["resources"]["reservations"]["devices"] == [{"driver": "nvidia", "capabilities": ["gpu"], "count": "all"}]
    assert service["command"] == ["echo", "$$HOME: x"]
    dev = json.loads(answered("RX 7900 XTX, ubuntu 24.04", host, form="devcontainer").files[0].text)
    assert dev["runArgs"][:3] == ["--device=/dev/kfd", "--device=/dev/dri", "--group-add=992"]
    assert (dev["remoteUser"], "hostRequirements" in dev) == ("vscode", False)


def test_a_path_that_holds_signs_of_the_short_form_is_mounted_by_the_long_one():
    odd = Mount(source='/home/ada/a:b,"c', target='/home/ada/a:b,"c', read_only=True)
    answer = answered(ADA, {"engines": [DOCKER], "nvidia_toolkit": "1.18"}, mounts=(odd,))
    assert ("--mount", 'type=bind,"source=/home/ada/a:b,""c","target=/home/ada/a:b,""c",readonly') in pairs(answer)


@pytest.mark.parametrize("word", ["--privileged", "-v", "a b", "x;y", "img\n--privileged", "img:--x", "$(x)", "", "a/../b:t ag"])
def test_no_name_of_an_image_becomes_an_option(word):
    with pytest.raises(ContainerError):
        checked(Asked(what=word))


@pytest.mark.parametrize(
    "request_", [{"name": "--rm"}, {"name": "a b"}, {"gpu": "0 --privileged"}, {"gpu": "all,0"}, {"publish": (0,)}, {"publish": (70000,)}]
)
def test_no_other_word_becomes_one(request_):
    with pytest.raises(ContainerError):
        checked(Asked(**request_))


def test_names_of_variables_and_folders_are_what_they_say():
    assert variable("A_B=x y") == ("A_B", "x y")
    for word in ("--privileged", "A B=1", "=x", "A\n=1", "1A=2", "A=b\nc"):
        with pytest.raises(ContainerError):
            variable(word)
    assert mount("~/m:ro", "/w", "/home/ada") == Mount(source="/home/ada/m", target="/home/ada/m", read_only=True)
    assert mount("--x", "/w", "/home/ada").source == "/w/--x"
    for word in ("/", "..", "a\nb"):
        with pytest.raises(ContainerError):
            mount(word, "/w", "/home/ada")


def test_a_gpu_that_is_not_there_is_refused_and_one_that_was_wished_for_is_missed():
    with pytest.raises(ContainerError):
        answered(ADA, {"engines": [DOCKER]}, gpu="3")
    assert causes(answered("no gpu, ubuntu 24.04", {"engines": [DOCKER]}, gpu="all")) == ["no-gpu-present"]
    assert causes(answered("no gpu, ubuntu 24.04", {"engines": [DOCKER]}, gpu="optional")) == []


def test_the_engine_that_needs_the_fewest_changes_is_taken():
    both = {"engines": [{**OLD, "runtimes": ["runc"]}, PODMAN], "cdi": cdi(), "nvidia_toolkit": "1.18.0 (base package)"}
    assert answered(ADA, both).engine == "podman"
    assert answered(ADA, {**both, "cdi": [], "engines": [{**OLD, "runtimes": ["runc"]}]}).steps
    none = answered(ADA, {"engines": [], "cdi": cdi(), "nvidia_toolkit": "1.18"})
    assert ([step.kind for step in none.steps], none.verdict) == (["install-engine"], "possible")


def test_a_folder_of_windows_has_a_path_of_its_own_inside():
    desktop = {**DOCKER, "flavour": "desktop", "runtimes": ["runc"]}
    answer = answered("RTX 4080, driver 581.42, windows 11", {"engines": [desktop], "cwd": "C:\\Users\\ada\\w", "home": "C:\\Users\\ada"})
    assert {("--gpus", "all"), ("--workdir", "/work"), ("--mount", "type=bind,source=C:\\Users\\ada\\w,target=/work")} <= pairs(answer)
    assert (answer.verdict, answer.devices[0].served) == ("ready", True)


def test_a_machine_whose_facts_make_no_sense_is_answered_all_the_same():
    odd = {
        "engines": [{**DOCKER, "version": "x.y"}],
        "nodes": {"/dev/kfd": {"gid": 0, "mode": "rw"}},
        "folders": {"/tmp": {"free": "1.2.3 QB"}},
    }
    assert answered("RX 7900 XTX, ubuntu 24.04", odd).verdict == "ready"
    assert Host(folders={"/x": Folder(free="3GB")}).folders["/x"].room == 3e9
    assert [Node(mode=mode).open for mode in ("0666", "0660", "0667", "")] == [True, False, True, False]


def test_a_command_of_a_step_stands_whole_in_a_line():
    answer = answered(ADA, {"engines": [PODMAN], "nvidia_toolkit": False})
    lines = shown_text(answer).splitlines()
    commands = [shlex.join(argv) for step in answer.steps for argv in step.commands]
    assert max(map(len, commands)) > 80
    assert {"      " + command for command in commands} <= set(lines)
    assert all(any(line.startswith("  - " + step.title[:20]) for line in lines) for step in answer.steps)
