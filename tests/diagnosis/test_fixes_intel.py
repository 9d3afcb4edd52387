"""What people with Intel's GPUs are told to do about oneAPI."""

_LOADER = "./main: error while loading shared libraries: {lib}: cannot open shared object file: No such file or directory\n"


def test_number_tells_the_release_of_the_kit(titled):
    told = titled(
        "intel-oneapi-version-mismatch",
        "Intel(R) oneAPI DPC++/C++ Compiler 2025.1.1 (2025.1.1.20250418)\n" + _LOADER.format(lib="libsycl.so.7"),
    )
    assert told[0].startswith("install the oneAPI Base Toolkit 2024, which brings libsycl.so.7")
    assert "/opt/intel/oneapi/setvars.sh" in told[0]


def test_windows_has_a_script_of_its_own(titled):
    told = titled("intel-oneapi-runtime-missing", "[NOT_FOUND] sycl8.dll\n")
    assert "setvars.bat" in told[0]
    assert "setvars.sh" not in told[0]


def test_extension_is_not_asked_of_the_kit(titled):
    told = titled(
        "intel-oneapi-version-mismatch",
        "ImportError: /env/lib/python3.11/site-packages/intel_extension_for_pytorch/lib/libintel-ext-pt-gpu.so: undefined symbol: _ZN4sycl3_V16detail9getOrWaitEv\n",
    )
    assert "intel-extension-for-pytorch again for the torch that is there" in told[0]
    assert any("/whl/xpu" in way for way in told)
    assert not [way for way in told if "Base Toolkit" in way]


def test_runtime_that_torch_pins_is_set_right_in_the_environment(titled):
    told = titled(
        "intel-oneapi-version-mismatch",
        "torch 2.8.0+xpu requires intel-sycl-rt==1.2.3, but you have intel-sycl-rt 1.4.0 which is incompatible.\n",
    )
    assert told[0] == "install intel-sycl-rt==1.2.3"
    assert not [way for way in told if "Base Toolkit" in way]


def test_script_that_is_not_there_is_named_by_its_file(titled):
    told = titled("intel-oneapi-runtime-missing", "./webui.sh: line 92: /opt/intel/oneapi/setvars.sh: No such file or directory\n")
    assert "which brings setvars.sh" in told[0]
    told = titled(
        "intel-oneapi-runtime-missing",
        "./main: error while loading shared libraries: libsycl.so.8: cannot open shared object file: No such file or directory\n",
    )
    assert "which brings libsycl.so.8" in told[0]


def test_who_misses_the_loader_gets_the_driver_behind_it_too(titled):
    missed = "OSError: libze_loader.so.1: cannot open shared object file: No such file or directory\n2.9.0+xpu\n"
    system = 'ID=ubuntu\nVERSION_ID="24.04"\nPRETTY_NAME="Ubuntu 24.04.1 LTS"\n'
    told = titled("intel-oneapi-runtime-missing", system + missed)
    assert "libze-intel-gpu1" in told[0]
    assert not [way for way in told if "setvars" in way]
    assert "libze1" in titled("intel-oneapi-runtime-missing", missed)[0]
