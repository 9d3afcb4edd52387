"""Ways to mend in the words of the program that failed: where they are told, and the neighbours where they are not."""

import re

import pytest

from answer_data import diagnose
from rigup.knowledge import tables
from rigup.knowledge.framework_cuda import onnxruntime_releases
from rigup.knowledge.launchers import launcher_of
from rigup.knowledge.memory_ways import ways_to_need_less
from rigup.knowledge.questions import asked_in
from rigup.knowledge.text_classifier import Complaint, without_denials

FULL = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 130.00 MiB. GPU 0 has a total capacity of 23.57 GiB of which 86.44 MiB is free. Including non-PyTorch memory, this process has 23.47 GiB memory in use. Of the allocated memory 23.02 GiB is allocated by PyTorch, and 147.11 MiB is reserved by PyTorch but unallocated.\n"
MAC = "RuntimeError: MPS backend out of memory (MPS allocated: 17.52 GB, other allocations: 384.00 KB, max allowed: 18.13 GB). Tried to allocate 864.00 MB on private pool.\n"
TRAINER = '  File "/v/lib/python3.11/site-packages/transformers/trainer.py", line 2560, in _inner_training_loop\n'


@pytest.fixture
def answer(tmp_path):
    """What the doctor says of a text."""

    def of(body):
        (tmp_path / "paste.txt").write_text(body, "utf-8")
        return diagnose(str(tmp_path))

    return of


@pytest.fixture
def first(answer):
    """The first way to mend the first finding: its title and its commands."""

    def way(body):
        fix = answer(body)["findings"][0]["fixes"][0]
        return fix["title"], [" ".join(argv) for step in fix["steps"] for argv in step["commands"]]

    return way


# -- less memory
@pytest.mark.parametrize(
    ("body", "there", "absent"),
    [
        (TRAINER + "per_device_train_batch_size=1, bf16=True\n" + FULL, "LoRA of PEFT|QLoRA", "batch|bf16|over the GPUs"),
        (TRAINER + "Batch size is already 1\n" + FULL, "bf16=True", "train_batch_size"),
        (TRAINER + "per_device_train_batch_size=8\n" + FULL, "per_device_train_batch_size=1", "over the GPUs"),
        (TRAINER + "model = get_peft_model(model, config)\n" + FULL, "QLoRA", "train an adapter"),
        ("batch_size = 16\n    loss.backward()\n" + FULL, "smaller batch", "LoRA"),
        ("ComfyUI version: 0.3.43\n" + FULL, "GGUF.*--lowvram", "novram|batch|precision"),
        ("python main.py --lowvram\nComfyUI version: 0.3.43\n" + FULL, "GGUF.*--novram", "--lowvram when"),
        ("ComfyUI version: 0.3.43\nDevice: mps\n" + MAC, "GGUF", "lowvram|batch|float16"),
        ('  File "C:\\stable-diffusion-webui\\modules\\processing.py", line 8\n' + FULL, "--medvram", "GPU Weights"),
        ("COMMANDLINE_ARGS=--medvram in webui-user.bat\n" + FULL, "--lowvram in place", "--medvram, or"),
        ('  File "C:\\stable-diffusion-webui-forge\\backend\\sampling.py", line 8\n' + FULL, "GPU Weights", "--medvram, or"),
        ('  File "/v/site-packages/diffusers/pipelines/flux/pipeline_flux.py", line 9\n' + FULL, "enable_model_cpu_offload", "batch"),
        ("GPU 0: NVIDIA GeForce RTX 3090 (UUID: GPU-1)\nGPU 1: NVIDIA GeForce RTX 3090 (UUID: GPU-2)\n" + FULL, "over the GPUs", "LoRA"),
        (FULL, "smaller batch", "over the GPUs"),
    ],
)
def test_memory_is_saved_in_the_programs_own_way(first, body, there, absent):
    title, _commands = first(body)
    assert re.search(there, title)
    assert not re.search(absent, title)


@pytest.mark.parametrize("body", [FULL + "NVIDIA GeForce RTX 3090\n", MAC])
def test_a_full_memory_is_mended_when_the_work_runs(answer, body):
    check = answer(body)["findings"][0]["fixes"][0]["check"]
    assert "runs past the point where it stopped" in check["title"]


def test_of_each_program_something_is_told_on_each_system():
    signs = {row["program"]: row["signs"][:1] for row in tables.table("memory_ways")["way"]}
    assert all(ways_to_need_less(set(heard), "linux", several=False) for heard in signs.values())
    assert all(ways_to_need_less(set(heard), "macos", several=False) for name, heard in signs.items() if name != "vLLM")


# -- onnxruntime
@pytest.mark.parametrize(
    ("driver", "major", "have", "python", "releases"),
    [
        ("572.83", "12", "1.22.0", "", "==1.22.0"),
        ("", "12", "1.22.0", "3.11.9", "==1.22.0"),
        ("550.90", "12", "1.20.1", "3.12", "==1.26.0"),
        ("550.90", "12", "1.20.1", "3.10.12", "==1.23.2"),
        ("550.90", "13", "1.31.1", "3.12", "==1.26.0"),
        ("580.65.06", "13", "1.31.1", "3.12", "==1.31.1"),
        ("580.65.06", "12", "", "3.12", "==1.31.1"),
        ("", "", "", "", ">=1.21.0,<1.27.0"),
        ("580.65.06", "12", "1.20.1", "", ">=1.21.0"),
        ("470.82", "11", "1.16.3", "3.10", ""),
    ],
)
def test_the_release_of_onnxruntime_is_one_that_the_driver_carries(driver, major, have, python, releases):
    assert onnxruntime_releases(driver, major, have, python) == releases


def test_onnxruntime_stays_at_its_release(answer):
    body = (
        '[ONNXRuntimeError] : 1 : FAIL : Error loading "C:\\v\\Lib\\site-packages\\onnxruntime\\capi\\onnxruntime_providers_cuda.dll" which depends on "cublasLt64_12.dll" which is missing.\n'
        "(venv) PS C:\\v> pip list | findstr onnx\nonnx                 1.18.0\nonnxruntime-gpu      1.22.0\n"
    )
    fix = answer(body)["findings"][0]["fixes"][0]
    assert "onnxruntime-gpu[cuda,cudnn]==1.22.0" in fix["title"]
    assert "CUDAExecutionProvider first" in fix["check"]["title"]


# -- ollama
def refused(version):
    return (
        f'level=INFO source=routes.go:1238 msg="Listening on 127.0.0.1:11434 (version {version})"\n'
        'level=WARN source=amd_linux.go:378 msg="amdgpu is not supported (supported types:[gfx1030 gfx1100])" gpu_type=gfx803 gpu=0 library=/usr/local/lib/ollama\n'
        "09:00.0 VGA compatible controller: Advanced Micro Devices, Inc. [AMD/ATI] Ellesmere [Radeon RX 470/480/570/570X/580/580X/590] (rev e7)\n"
    )


def test_an_ollama_without_vulkan_is_updated_before_it_is_told_to_take_it(first):
    title, commands = first(refused("0.5.7"))
    assert title.startswith("have ollama 0.12.11 or newer")
    assert "sh -c curl -fsSL https://ollama.com/install.sh | sh" in commands
    assert any("ollama OLLAMA_VULKAN 1" in command for command in commands)


def test_an_ollama_that_has_vulkan_is_told_to_take_it(first):
    title, commands = first(refused("0.13.0"))
    assert title.startswith("give the service ollama the variable OLLAMA_VULKAN=1")
    assert not any("install.sh" in command for command in commands)


# -- web UIs
def too_new(folder, python="3.12.8"):
    sign = "\\" if "\\" in folder else "/"
    interpreter = sign.join([folder, "venv", *(("Scripts", "Python.exe") if sign == "\\" else ("bin", "python3"))])
    return (
        f'venv "{interpreter}"\nPython {python} (main, Dec  3 2024, 19:30:04)\nInstalling torch and torchvision\n'
        "Looking in indexes: https://pypi.org/simple, https://download.pytorch.org/whl/cu121\n"
        "ERROR: Could not find a version that satisfies the requirement torch==2.1.2 (from versions: 2.2.0, 2.2.1, 2.3.0)\n"
        "ERROR: No matching distribution found for torch==2.1.2\n"
    )


def test_a_web_ui_makes_its_own_environment_anew(first):
    title, commands = first(too_new("D:\\sd\\stable-diffusion-webui-forge"))
    assert "webui-user.bat say set PYTHON=%LOCALAPPDATA%\\Programs\\Python\\Python310\\python.exe" in title
    assert commands[0] == "winget install -e --id Python.Python.3.10"
    assert commands[-1].endswith("D:\\sd\\stable-diffusion-webui-forge\\venv")


def test_so_it_is_on_linux(first):
    title, commands = first(too_new("/home/ada/stable-diffusion-webui"))
    assert 'webui-user.sh say python_cmd="python3.10"' in title
    assert commands == ["uv python install 3.10", "rm -r /home/ada/stable-diffusion-webui/venv"]


def test_another_program_gets_an_environment_beside(first):
    title, _commands = first(too_new("/home/ada/train"))
    assert title.startswith("make a fresh environment")


def test_a_launcher_is_known_by_its_folder():
    assert launcher_of("stable-diffusion-webui-reForge", "windows").file == "webui-user.bat"
    assert launcher_of("open-webui", "linux") is None


# -- what was asked, and what was made
def test_commands_are_told_only_of_what_the_sentence_asks():
    body = "Moved a project from conda to uv. torch says CUDA 12.8 and nvcc is not there. Do I need to install the CUDA toolkit?"
    assert not [asked for asked in asked_in(body) if asked.row.lines]


def test_an_index_for_uv_is_told_where_it_is_asked():
    asked = asked_in("We use uv here. How do I tell it to always take the CUDA 12.6 build of torch in this project?")
    assert "index-of-torch-in-a-project-of-uv" in {question.row.id for question in asked}


PICTURE = "Total VRAM 12288 MB, total RAM 32674 MB\npytorch version: 2.9.1+cu128\nDevice: {device}\ngot prompt\n100%|####| 20/20 [00:11<00:00,  1.76it/s]\nPrompt executed in 18.02 seconds\n"


@pytest.mark.parametrize(
    ("words", "device", "verdict"),
    [
        ("Nothing crashed and I got an image, is the log fine?\n\n", "cuda:0 NVIDIA GeForce RTX 3060 : cudaMallocAsync", "healthy"),
        ("没有报错，图也出来了。\n\n", "cuda:0 NVIDIA GeForce RTX 3060 : cudaMallocAsync", "healthy"),
        ("It crashed at the next picture.\n\n", "cuda:0 NVIDIA GeForce RTX 3060 : cudaMallocAsync", "unknown"),
    ],
)
def test_who_got_a_picture_and_complains_of_nothing_is_well(answer, words, device, verdict):
    assert answer(words + PICTURE.format(device=device))["verdict"] == verdict


@pytest.mark.parametrize("row", tables.rows("complaints", "denial", Complaint), ids=lambda row: row.language)
def test_a_denial_is_taken_out_and_nothing_else(row):
    assert without_denials(row.example) != row.example
    assert without_denials(row.near_miss) == row.near_miss


COMFYUI = "NVIDIA GeForce RTX 5070 with CUDA capability sm_120 is not compatible with the current PyTorch installation.\nThe current PyTorch install supports CUDA capabilities sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90.\npytorch version: 2.6.0+cu126\n"


def test_comfyui_gets_its_torchaudio_along(first):
    assert "torchaudio" in first("ComfyUI version: 0.3.27\n" + COMFYUI)[0]
    assert "torchaudio" not in first(COMFYUI)[0]


# -- WSL
def test_the_first_wsl_is_called_by_its_name(answer):
    body = "Linux PC 4.4.0-19041-Microsoft #4355-Microsoft x86_64 GNU/Linux\nls: cannot access '/dev/dxg': No such file or directory\n> wsl -l -v\n  NAME            STATE           VERSION\n* Debian          Running         1\n"
    finding = answer(body)["findings"][0]
    assert finding["title"].startswith("This is WSL 1")
    assert [argv for step in finding["fixes"][0]["steps"] for argv in step["commands"]] == [
        ["wsl", "--update"],
        ["wsl", "--set-version", "Debian", "2"],
    ]


def test_an_old_kernel_of_the_second_is_told_as_old(answer):
    body = "Linux PC 4.19.84-microsoft-standard #1 SMP x86_64 GNU/Linux\nls: cannot access '/dev/dxg': No such file or directory\n"
    assert answer(body)["findings"][0]["title"].startswith("This WSL is too old")
