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


_NONE = "ERROR: Could not find a version that satisfies the requirement torch-directml (from versions: none)\n"


def test_windows_gets_the_python_by_winget_and_the_environment_by_its_launcher(mended):
    told = mended(
        "python-version-without-wheels", f"PS C:\\sd> pip install torch-directml\n{_NONE}PS C:\\sd> python --version\nPython 3.13.1\n"
    )
    assert "winget install -e --id Python.Python.3.12" in told[0]
    assert "py -3.12 -m venv env-3.12" in told[0]


def test_who_has_uv_on_windows_makes_the_environment_by_it(mended):
    body = f"PS C:\\sd> uv pip install numpy\nPS C:\\sd> pip install torch-directml\n{_NONE}PS C:\\sd> python --version\nPython 3.13.1\n"
    told = mended("python-version-without-wheels", body)
    assert "uv venv" in told[0]
    assert not any("winget" in way for way in told)


_DF = "Filesystem      Size  Used Avail Use% Mounted on\n/dev/sda2        70G   70G     0 100% /\n/dev/sdb1       1.8T  104G  1.7T   6% /data\n"


def test_a_service_is_given_a_folder_of_its_own_account_on_the_disk_with_room(mended):
    told = mended("disk-full", f"Error: write /usr/share/ollama/.ollama/models/blobs/sha256-1-partial: no space left on device\n{_DF}")
    assert "install -d -o ollama -g ollama /data/ollama-models" in told[0]
    assert "/usr/share/ollama/.ollama/models /data/ollama-models" in told[0]
    assert "systemctl restart ollama" in told[0]


def test_who_starts_ollama_gives_it_a_folder_of_theirs(mended):
    told = mended("disk-full", f"Error: write /home/u/.ollama/models/blobs/sha256-1-partial: no space left on device\n{_DF}")
    assert not any("install -d" in way for way in told)


_QUOTA = "OSError: [Errno 122] Disk quota exceeded: '/home/u/.cache/huggingface/hub/models--x/blobs/a'\n"


def test_a_cache_leaves_a_home_whose_quota_is_used_up_for_the_place_that_is_shown(mended):
    told = mended(
        "disk-full",
        f"{_QUOTA}$ df -h $WORK\nFilesystem      Size  Used Avail Use% Mounted on\nlustre01:/work  2.1P  1.4P  650T  69% /work\n",
    )
    assert "HF_HOME to a folder of yours on $WORK" in told[0]


def test_the_homes_own_disk_is_no_place_to_go(mended):
    told = mended(
        "disk-full", f"{_QUOTA}$ df -h ~\nFilesystem      Size  Used Avail Use% Mounted on\nnas1:/home      120T   88T   33T  73% /home\n"
    )
    assert "quota -s" in told[0]
