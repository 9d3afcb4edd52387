"""What the doctor tells people to do about libraries: the release that has the file, its package, and where it is looked for."""

import pytest

from answer_data import diagnose


@pytest.fixture
def ways(tmp_path):
    """The titles of each way that the first finding tells."""

    def told(body):
        (tmp_path / "said.txt").write_text(body, "utf-8")
        return [fix["title"] for fix in diagnose(str(tmp_path))["findings"][0]["fixes"]]

    return told


@pytest.fixture
def commands(tmp_path):
    """All commands of the first finding's fixes."""

    def told(body):
        (tmp_path / "said.txt").write_text(body, "utf-8")
        fixes = diagnose(str(tmp_path))["findings"][0]["fixes"]
        return [" ".join(argv) for fix in fixes for step in fix["steps"] for argv in step["commands"]]

    return told


@pytest.mark.parametrize(
    ("lib", "package"),
    [
        ("libcublas.so.12", "nvidia-cublas-cu12"),
        ("libcusparse.so.11", "nvidia-cusparse-cu11"),
        ("libcufft.so.10", "nvidia-cufft-cu11"),
        ("libcufft.so.11", "nvidia-cufft-cu12"),
        ("libnvrtc.so.11.2", "nvidia-cuda-nvrtc-cu11"),
        ("libcublas.so.13", "nvidia-cublas==13.*"),
        ("libcudnn_ops.so.9", "nvidia-cudnn-cu12==9.*"),
        ("libcudnn_adv.so.9", "nvidia-cudnn-cu12==9.*"),
    ],
)
def test_the_package_is_that_of_the_release_which_has_the_file(ways, lib, package):
    first = ways(f"ImportError: {lib}: cannot open shared object file: No such file or directory\n")[0]
    assert first.startswith(f"install {package};")
    assert "LD_LIBRARY_PATH" in first


@pytest.mark.parametrize(
    ("lib", "release"), [("libcublas.so.10", "CUDA 10.2"), ("libcudart.so.10.1", "CUDA 10.1"), ("libcurand.so.9.0", "CUDA 9.0")]
)
def test_a_release_without_packages_is_named_by_its_number(ways, commands, lib, release):
    body = f"ImportError: {lib}: cannot open shared object file: No such file or directory\n"
    assert release in " ".join(ways(body))
    assert not any("-cu9" in line or "-cu10" in line for line in commands(body))


def test_torchs_own_major_chooses_among_releases_with_one_name(ways):
    missing = "OSError: libcurand.so.10: cannot open shared object file: No such file or directory\n"
    assert ways(missing + "torch 2.1.0+cu118\n[pip3] torch==2.1.0+cu118\n")[0].startswith("install nvidia-curand-cu11;")
    assert ways(missing + "[pip3] torch==2.5.1+cu124\n")[0].startswith("install nvidia-curand-cu12;")


def test_where_the_package_is_there_only_its_folder_is_told(ways):
    body = "$ pip list\nPackage             Version\n------------------- --------\nnvidia-cudnn-cu12   9.1.0.70\n\nCould not load library libcudnn_cnn.so.9. Error: libcudnn_cnn.so.9: cannot open shared object file\n"
    assert "nvidia/cudnn/lib" in ways(body)[0]
    assert "install nvidia" not in ways(body)[0]


def test_on_windows_it_is_path_and_no_loader_path(ways):
    told = ways("RuntimeError: Library cublas64_12.dll is not found or cannot be loaded\n")
    assert told[0].startswith("install CUDA 12.9 from NVIDIA's archives (developer.nvidia.com/cuda-toolkit-archive")
    assert told[0].endswith("on PATH, that with cublas64_12.dll among them")
    assert not any("LD_LIBRARY_PATH" in way for way in told)


def test_tensorflow_gets_the_pair_that_it_was_built_with(ways):
    body = "2020 I cuda/dso_loader.cc Successfully opened dynamic library nvcuda.dll\nI found device 0: GeForce GTX 1080 Ti\nW Could not load dynamic library 'cudart64_101.dll'; dlerror: cudart64_101.dll not found\nThe GPU is not used.\n"
    assert any("CUDA 10.1 + cuDNN 7.6" in way for way in ways(body))


@pytest.mark.parametrize(
    "body",
    [
        "Could not locate cudnn_ops64_9.dll. Please make sure it is in your library path!\n",
        "ImportError: libcublas.so.12: cannot open shared object file: No such file or directory\n",
    ],
)
def test_a_vaguer_way_is_not_told_behind_a_better_one(ways, body):
    assert not any("that the program was built for" in way for way in ways(body))


def test_onnxruntime_brings_it_by_its_own_extra(commands, ways):
    body = '[ONNXRuntimeError] : 1 : FAIL : LoadLibrary failed with error 126 "" when trying to load "C:\\v\\Lib\\site-packages\\onnxruntime\\capi\\onnxruntime_providers_cuda.dll"\n'
    assert "python -m pip install onnxruntime-gpu[cuda,cudnn]>=1.21.0,<1.27.0" in commands(body)
    assert "onnxruntime.preload_dlls()" in ways(body)[0]


def test_what_is_for_the_other_major_goes_and_torch_comes_again(ways):
    body = "ImportError: undefined symbol: ncclMemFree\nnvidia-nccl-cu11    2.14.3\nnvidia-cublas-cu11   11.11.3.6\nnvidia-nccl-cu12    2.21.5\ntorch    2.5.1+cu124\n"
    first = ways("$ pip list\n" + body)[0]
    assert "nvidia-nccl-cu11" in first
    assert "install torch 2.5.1" in first
    assert "remove nvidia-nccl-cu12" not in first


def test_without_torchs_version_the_newer_of_both_is_put_there_again(ways):
    body = "ImportError: /v/torch/lib/libtorch_cuda.so: undefined symbol: ncclMemFree\n[pip3] nvidia-nccl-cu11==2.14.3\n[pip3] nvidia-nccl-cu12==2.27.3\n"
    assert (
        ways(body)[0]
        == "remove nvidia-nccl-cu11, nvidia-nccl-cu12 from the environment; install nvidia-nccl-cu12==2.27.3 again, and nothing else"
    )


def test_pip_names_the_very_release(commands):
    body = "torch 2.5.1 requires nvidia-cublas-cu12==12.4.5.8, but you have nvidia-cublas-cu12 12.8.3.14 which is incompatible.\nImportError: libcublas.so.12: undefined symbol: cublasLtCreate, version libcublasLt.so.12\n"
    assert commands(body)[0] == "python -m pip install nvidia-cublas-cu12==12.4.5.8"


def test_the_module_that_brings_it_is_named(ways):
    body = "Currently Loaded Modules:\n  1) gcc/11.3   2) cudnn/8.6.0\nRuntimeError: cuDNN version incompatibility: PyTorch was compiled  against (9, 1, 0) but found runtime version (8, 6, 0).\n"
    assert "module unload cudnn/8.6.0" in ways(body)[0]


def test_the_folder_that_is_shown_is_taken_off_and_not_one_of_the_system(ways):
    body = "OSError: symbol cublasLtGetStatusString version libcublasLt.so.11 not defined in file libcublasLt.so.11 with link time reference\n$ ldd libtorch_cuda.so\n\tlibcublas.so.11 => {}/libcublas.so.11 (0x7f)\n"
    assert ways(body.format("/usr/local/cuda-11.0/lib64"))[0].startswith("take /usr/local/cuda-11.0/lib64 off")
    assert not any(way.startswith("take /usr/lib") for way in ways(body.format("/usr/lib/x86_64-linux-gnu")))


def test_where_nobody_shows_the_variable_the_order_of_imports_is_told_too(ways):
    body = "ImportError: /v/site-packages/torch/lib/libtorch_cuda.so: undefined symbol: ncclCommRegister\n"
    assert "import torch before all other libraries of the program" in ways(body)


def test_a_toolkit_that_is_not_there_is_installed_before_a_variable_leads_to_it(ways):
    body = "RuntimeError:\nThe detected CUDA version (12.6) mismatches the version that was used to compile\nPyTorch (11.8). Please make sure to use the same CUDA versions.\n"
    told = ways(body)
    assert told[0].startswith("install the CUDA toolkit 11.8")
    assert "; set CUDA_HOME=/usr/local/cuda-11.8 for the program; to keep it" in told[0]
    assert any("from the channel" in way and "cuda-11.8.0" in way for way in told)


def test_where_the_comparison_is_cut_off_no_version_is_made_up(ways):
    told = ways("      The detected CUDA version (11.8) mismatches the version that was used to compile\n")
    assert len(told) == 1
    assert "the command tells it" in told[0]


def test_a_compiler_that_does_not_know_the_card_gives_way_to_the_first_that_does(ways):
    assert "toolkit 11.8" in ways("nvcc fatal   : Unsupported gpu architecture 'compute_89'\nninja: build stopped\n")[0]


def test_the_release_of_torch_that_lacked_a_dll_is_left(ways):
    lost = 'OSError: [WinError 126] The specified module could not be found. Error loading "C:\\v\\Lib\\site-packages\\torch\\lib\\{}" or one of its dependencies.\n'
    fbgemm = ways(lost.format("fbgemm.dll"))
    assert fbgemm[0].startswith("install torch 2.4.1 and the torchvision that belongs to it, from where they came")
    assert not any("Visual C++ Redistributable" in way for way in fbgemm)
    assert ways(lost.format("c10.dll"))[0].startswith("install Microsoft's Visual C++")


@pytest.mark.parametrize(("file", "renewed"), [("PhysX\\\\Common\\\\cudart64_65.dll", True), ("CUDA\\\\bin\\\\cudart64_12.dll", False)])
def test_a_newer_ollama_asks_no_physx(tmp_path, file, renewed):
    body = f'time=2024-07-02T09:11:00.1Z level=DEBUG source=gpu.go:148 msg="detected GPUs" library="C:\\\\Program Files (x86)\\\\NVIDIA Corporation\\\\{file}" count=1\nlevel=INFO source=gpu.go:214 msg="[0] CUDA GPU is too old. Compute Capability detected: 1.0"\n'
    (tmp_path / "said.txt").write_text(body, "utf-8")
    titles = [way["title"] for one in diagnose(str(tmp_path))["findings"] for way in one["fixes"]]
    assert ("install a newer release of ollama" in titles) is renewed


def test_every_package_that_pip_names_is_set_right(mended):
    said = "".join(
        f"torch 2.6.0 requires {name}=={want}, but you have {name} {have} which is incompatible.\n"
        for name, want, have in (("nvidia-cublas-cu12", "12.4.5.8", "12.1.3.1"), ("nvidia-cudnn-cu12", "9.1.0.70", "8.9.2.26"))
    )
    assert mended("pip-cuda-mix", said)[0].endswith("install nvidia-cublas-cu12==12.4.5.8 nvidia-cudnn-cu12==9.1.0.70")


def test_of_two_folders_the_one_of_the_librarys_name_is_named(found):
    said = "RuntimeError: cuDNN version incompatibility: PyTorch was compiled  against (9, 1, 0) but found runtime version (8, 9, 7). Looks like your LD_LIBRARY_PATH contains incompatible version of cudnn.\n$ echo $LD_LIBRARY_PATH\n/usr/local/cuda-12.1/lib64:/opt/cudnn-8.9.7/lib\n"
    assert found(said)[0]["title"].startswith("/opt/cudnn-8.9.7/lib ")


_TEGRA = "# R{l4t} (release), REVISION: {minor}, GCID: 1, BOARD: generic, EABI: aarch64, DATE: Wed Jan  8 01:49:37 UTC 2025\n"
_MISSED = "ImportError: {lib}: cannot open shared object file: No such file or directory\n"


@pytest.mark.parametrize(
    ("l4t", "minor", "lib", "first"),
    [
        ("36", "4.3", "libcusparseLt.so.0", "install libcusparselt0, libcusparselt-dev from NVIDIA's repository for Jetson"),
        ("36", "4.3", "libcudss.so.0", "install cudss from NVIDIA's repository for Jetson"),
        ("36", "4.3", "libcudnn.so.9", "install JetPack 6.1 whole"),
        ("35", "4.1", "libcublas.so.11", "install JetPack 5.0 whole"),
        ("38", "2.0", "libcublas.so.13", "install nvidia-cublas"),
    ],
)
def test_a_module_gets_its_libraries_from_jetpack_or_the_repositories_for_it(ways, l4t, minor, lib, first):
    told = ways(_TEGRA.format(l4t=l4t, minor=minor) + _MISSED.format(lib=lib))
    assert told[0].startswith(first)
    assert l4t == "38" or not any("nvidia-cu" in way for way in told)


def test_a_library_of_another_jetpack_is_of_a_torch_that_was_made_for_it(ways):
    told = ways(_TEGRA.format(l4t="36", minor="4.3") + "torch 2.1.0a0+41361538.nv23.06\n" + _MISSED.format(lib="libcudnn.so.8"))
    assert told[0].startswith("install cudss from NVIDIA's repository of CUDA")  # what that torch wants, and JetPack has not
    assert "torch 2.8.0 from https://pypi.jetson-ai-lab.io" in told[0]
    told = ways(_TEGRA.format(l4t="35", minor="4.1") + "torch 2.5.0\n" + _MISSED.format(lib="libcudnn.so.9"))
    assert told[0].startswith("install torch as NVIDIA builds it for L4T 35.4.1")


def test_a_server_gets_the_same_library_from_pypi(ways):
    told = ways(_MISSED.format(lib="libcusparseLt.so.0"))
    assert told[0].startswith("install nvidia-cusparselt-cu12")
