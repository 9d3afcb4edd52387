"""What people with Macs are told to do."""


def test_fallback_is_set_before_python_starts(titled):
    told = titled(
        "mps-op-not-implemented",
        "NotImplementedError: The operator 'aten::_linalg_svd.U' is not currently implemented for the MPS device.\n",
    )
    assert told[0].startswith("set PYTORCH_ENABLE_MPS_FALLBACK=1 before Python starts, not inside the program; to keep it")


def test_native_python_is_told_with_where_it_comes_from(titled):
    told = titled(
        "mps-x86-python-under-rosetta", "macOS-10.16-x86_64-i386-64bit\nChip: Apple M2\nPython platform: macOS-10.16-x86_64-i386-64bit\n"
    )
    assert "python.org" in told[0]
    assert any("osx-arm64" in way for way in told)


def test_old_system_is_told_the_torch_that_it_still_has(titled):
    told = titled("mps-macos-too-old", "macOS 13.2\nThe MPS backend is supported on MacOS 14.0+.\n% sw_vers -productVersion\n13.2\n")
    assert told[0].startswith("update macOS to 14")
    assert any(way.startswith("install torch==") for way in told)


def test_system_without_a_named_minimum_is_told_the_tables(titled):
    told = titled(
        "mps-macos-too-old",
        "% sw_vers -productVersion\n12.1\nmacOS 12.1\nApple M1\ntorch 1.13.0\ntorch.backends.mps.is_available(): False\n",
    )
    assert told[0].startswith("update macOS to 12.3")


def test_memory_is_told_a_step_where_no_amounts_are(titled):
    told = titled(
        "mps-oom-watermark",
        "[WARNING] Generating with a model that requires 38000 MB which is close to the maximum recommended size of 28753 MB.\nstd::runtime_error: [METAL] Command buffer execution failed: Internal Error\n",
    )
    assert told[0].startswith("ask for less memory")
