"""A way to mend is one of the platform, the tool and the places that the text shows."""

_NO_GPU = "warning: one possible reason is that llama.cpp was compiled without GPU support\n"
_OLD = "error loading model: error loading model architecture: unknown model architecture: 'qwen3next'\n"


def test_llama_cpp_is_compiled_for_vulkan_where_that_has_the_card(mended):
    told = mended("llama-cpp-without-gpu", f"void linux, rx 6800 16gb\n{_NO_GPU}vulkaninfo shows AMD Radeon RX 6800 (RADV NAVI21)\n")
    assert "shaderc" in told[0]
    assert "cmake -B build -DGGML_VULKAN=ON" in told[0]


def test_llama_cpp_is_compiled_for_hip_where_nothing_tells_of_vulkan(mended):
    told = mended("llama-cpp-without-gpu", f"Ubuntu 24.04, RX 7900 XTX, ROCm 6.4\n{_NO_GPU}vulkaninfo shows llvmpipe only\n")
    assert "cmake -B build -DGGML_HIP=ON" in told[0]


def test_a_shell_of_nix_names_the_libraries_that_wheels_miss(mended):
    body = "[nix-shell:~/p]$ python -c 'import cv2'\nImportError: libGL.so.1: cannot open shared object file: No such file or directory\n"
    told = mended("system-library-missing", body)
    assert "makeLibraryPath [ pkgs.stdenv.cc.cc.lib pkgs.zlib pkgs.libGL ]" in told[0]
    assert not any("apt" in way for way in told)


def test_another_distribution_brings_the_library_in_a_package(mended):
    body = "Debian 12, RTX 3060\n>>> import numpy\nImportError: libstdc++.so.6: cannot open shared object file: No such file or directory\n"
    told = mended("system-library-missing", body)
    assert "apt-get install -y libstdc++6" in told[0]
    assert not any("nix" in way for way in told)


def test_a_program_that_keeps_its_engine_apart_updates_that(mended):
    assert "lms runtime update" in mended("program-older-than-model", "LM Studio 0.3.34, just updated\n" + _OLD)[0]
    assert "Local Engine" in mended("program-older-than-model", "Jan 0.6.9 on Windows 11\n" + _OLD)[0]


def test_a_program_that_brings_its_engine_is_updated_itself(mended):
    assert "KoboldCpp" in mended("program-older-than-model", "koboldcpp 1.90\n" + _OLD)[0]
    assert "llama.cpp" in mended("program-older-than-model", "since 12 Jan 2025\n" + _OLD)[0]
