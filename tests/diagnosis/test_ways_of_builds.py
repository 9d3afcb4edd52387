"""Ways to mend what is compiled, trained and drawn: by what the text shows to be there, and by whose words."""

import pytest

from answer_data import diagnose


@pytest.fixture
def first(tmp_path):
    """The first finding of a text."""

    def found(body):
        (tmp_path / "paste.txt").write_text(body, "utf-8")
        return next(iter(diagnose(str(tmp_path))["findings"]), None)

    return found


def steps(finding, way=0):
    return [step["kind"] for step in finding["fixes"][way]["steps"]]


def commands(finding):
    return [argv for way in finding["fixes"] for step in way["steps"] for argv in step["commands"] or ()]


NO_NVCC = "CMake Error at ggml/src/ggml-cuda/CMakeLists.txt:190 (message):\n  CUDA Toolkit not found\n"
UBUNTU = 'NAME="Ubuntu"\nVERSION_ID="24.04"\nID=ubuntu\n'


def test_a_toolkit_that_is_there_is_named_to_the_build_and_not_installed(first):
    finding = first(f"{UBUNTU}$ ls /usr/local/cuda-12.8/bin/nvcc\n/usr/local/cuda-12.8/bin/nvcc\n$ cmake -B build\n{NO_NVCC}")
    assert ["export", "CUDACXX=/usr/local/cuda-12.8/bin/nvcc"] in commands(finding)
    assert not any("apt-get" in argv for argv in commands(finding))


def test_a_toolkit_that_is_not_there_is_one_for_the_driver(first):
    card = "$ nvidia-smi --query-gpu=name,driver_version --format=csv,noheader\nNVIDIA GeForce RTX 4090, 570.124.06\n"
    finding = first(UBUNTU + card + "$ cmake -B build -DGGML_CUDA=ON\n" + NO_NVCC)
    assert finding["fixes"][0]["steps"][0]["params"]["version"] == "12.8"


def test_an_old_chip_is_not_given_a_toolkit_that_has_left_it(first):
    card = "$ nvidia-smi --query-gpu=name,driver_version --format=csv,noheader\nTesla V100-PCIE-16GB, 580.95.05\n"
    finding = first(UBUNTU + card + "$ cmake -B build -DGGML_CUDA=ON\n" + NO_NVCC)
    assert finding["fixes"][0]["steps"][0]["params"]["version"].startswith("12.")


def test_kits_are_the_distributions_own(first):
    missing = "  Could NOT find Vulkan (missing: Vulkan_LIBRARY Vulkan_INCLUDE_DIR glslc)\n"
    arch = 'NAME="Arch Linux"\nID=arch\n'
    assert "shaderc" in commands(first(arch + missing))[0]
    jammy = 'NAME="Ubuntu"\nVERSION_ID="22.04"\nID=ubuntu\n'
    assert steps(first(jammy + missing)) == ["get-sdk"]  # its archive has no glslc


UV = (
    '  × Failed to build `flash-attn==2.8.3`\n      File "<string>", line 14, in <module>\n'
    '        File "/home/r/.cache/uv/builds-v0/.tmpa1B2c3/lib/python3.12/site-packages/setuptools/build_meta.py", line 331, in run_setup\n'
    "        File \"<string>\", line 22, in <module>\n      ModuleNotFoundError: No module named 'torch'\n"
)


def test_the_python_of_a_build_is_nobodys_interpreter(first):
    finding = first("$ pip install flash-attn\n" + UV)
    assert not any(".tmp" in word for argv in commands(finding) for word in argv)


def test_uv_installs_where_uv_was_asked(first):
    finding = first("$ uv pip install flash-attn\n" + UV + "$ python -c 'import torch; print(torch.__version__)'\n2.8.0+cu128\n")
    assert ["uv", "pip", "install", "--no-build-isolation", "flash-attn"] in commands(finding)
    assert not any("pip" in argv and argv[0] != "uv" for argv in commands(finding))


def test_a_project_of_uvs_names_torch_for_the_build(first):
    assert steps(first("$ uv sync\n" + UV)) == ["declare-build-dependency"]


def test_torch_comes_first_where_there_is_none(first):
    missed = ">>> import torch\nTraceback (most recent call last):\n  File \"<stdin>\", line 1, in <module>\nModuleNotFoundError: No module named 'torch'\n"
    assert steps(first("$ pip install flash-attn\n" + UV + missed))[0] == "choose-build"


UNET = "NansException: A tensor with all NaNs was produced in Unet.\n"


def test_a_card_that_is_wrong_in_float16_computes_in_float32(first):
    finding = first("NVIDIA GeForce GTX 1650\n" + UNET)
    assert "GTX 1650" in finding["title"]
    assert [way["steps"][0]["params"] for way in finding["fixes"]] == [{"option": "--no-half"}, {"option": "--upcast-sampling"}]


def test_another_card_keeps_float16_where_it_can(first):
    finding = first("NVIDIA GeForce RTX 3060\n" + UNET)
    assert steps(finding) == ["switch-setting"]
    assert "Unet" in finding["title"]


def test_an_option_that_is_set_is_not_offered_again(first):
    finding = first("set COMMANDLINE_ARGS=--no-half-vae\n" + UNET.replace("Unet", "VAE"))
    assert [way["steps"][0]["params"]["option"] for way in finding["fixes"]] == ["--no-half"]


SCALER = "ValueError: Attempting to unscale FP16 gradients.\n"


def test_bfloat16_is_told_of_a_card_that_has_it(first):
    assert "train-in-bfloat16" in steps(first("NVIDIA GeForce RTX 3090\n" + SCALER), 1)


def test_bfloat16_is_not_told_of_a_card_without(first):
    finding = first("NVIDIA GeForce RTX 2080 Ti\n" + SCALER)
    assert [step["kind"] for way in finding["fixes"] for step in way["steps"]] == ["load-in-float32"]


E803 = "RuntimeError: Error 803: system has unsupported display driver / cuda driver combination\n"


def test_a_compatibility_folder_goes_off_the_path(first):
    finding = first("$ echo $LD_LIBRARY_PATH\n/usr/local/cuda-12.9/compat:/usr/lib\n" + E803)
    assert steps(finding) == ["take-off-loader-path"]


def test_nothing_is_loaded_anew_where_the_drivers_tool_answers(first):
    finding = first("$ nvidia-smi --query-gpu=name,driver_version --format=csv,noheader\nNVIDIA L4, 550.54.15\n" + E803)
    assert steps(finding) == ["find-foreign-libcuda"]


def test_the_number_is_accounted_for_beside_a_mismatch(tmp_path):
    (tmp_path / "paste.txt").write_text(
        E803 + "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.144\n", "utf-8"
    )
    answer = diagnose(str(tmp_path))
    assert [finding["cause"] for finding in answer["findings"]] == ["nvml-driver-library-mismatch"]
    assert not answer["unexplained"]


def test_a_torch_that_finds_none_of_the_cards_is_not_healthy(tmp_path):
    card = "GPU 0: NVIDIA RTX A4000 (UUID: GPU-aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee)\n"
    asked = "$ python -c 'import torch; print(torch.__version__, torch.cuda.is_available())'\n2.5.1+cu124 {}\n$ nvidia-smi -L\n"
    for answer, verdict in (("False", "unknown"), ("True", "healthy")):
        (tmp_path / "paste.txt").write_text(asked.format(answer) + card, "utf-8")
        assert diagnose(str(tmp_path))["verdict"] == verdict


BESIDE = 'NVIDIA GeForce RTX 4070\nPS C:\\w> python -c "import torch; print(torch.__version__, torch.version.cuda, torch.cuda.is_available())"\n2.6.0+cpu None False\nPS C:\\w> .venv\\Scripts\\pip list | findstr torch\ntorch             2.6.0+{}\n'


def test_an_environment_that_has_the_build_is_started_and_nothing_installed(first):
    assert steps(first(BESIDE.format("cu124"))) == ["use-other-environment"]


def test_an_environment_that_has_none_either_is_no_way(first):
    assert "use-other-environment" not in steps(first(BESIDE.format("cpu")))
