"""Macs: each rule where it speaks, and beside it where it has to be silent."""

_RELEASES = "ERROR: Could not find a version that satisfies the requirement torch==2.6.0 (from versions: {})\n"
_NONE = "ERROR: Could not find a version that satisfies the requirement {} (from versions: none)\n"
_EMPTY = "reason: '*** -[__NSArray0 objectAtIndex:]: index 0 beyond bounds for empty array'\n0   CoreFoundation   0x18a6 __exceptionPreprocess + 176\n{}\n"
_MLX_OF_PLATFORM = "3   libmlx.dylib   0x10a2 mlx::core::metal::{} + 96"
_METAL = "libc++abi: terminating due to uncaught exception of type std::runtime_error: [metal::load_device] No Metal device available.\n"
_ONWARDS = "RuntimeError: Tiling of batch matmul for larger than 2**32 entries only available from MacOS15 onwards\n"
_MLX_OF_SERVER = "$ sw_vers -productVersion\n{}\n$ pip install mlx\nERROR: Could not find a version that satisfies the requirement mlx (from versions: none)\nERROR: No matching distribution found for mlx\n"
_LINUX = "$ uname -s\nLinux\n"
_MPS = "TypeError: Cannot convert a MPS Tensor to float64 dtype as {}\n"
_DOUBLES = "Out[7]: torch.{}\nIn [8]: y.to('mps')\n{}"
_OP = "RuntimeError: MPS device does not support {} op with {} input\n"
_ASKED_ON_A_MAC = '$ sw_vers -productVersion\n15.1\n$ {}python -c "import platform, torch; print(platform.platform(), torch.backends.mps.is_available())"\n{}\n'
_FIRST_OF_NONE = "reason: '*** -[__NSArray0 objectAtIndex:]: index 0 beyond bounds for empty array'\n"
_M4 = "Mac mini, Apple M4\n"
_UV = "torch>=2.5 has no wheels with a matching platform tag (e.g., `macosx_26_0_{}`)\n"
_STEP = "{}RUN python fetch.py --device {}\nAssertionError: Torch not compiled with {} enabled\n"
_FALLS_BACK = "UserWarning: The operator ‘aten::cdist’ is not currently supported on the MPS backend and will fall back to run on the CPU.\n"
_NOT_YET = "NotImplementedError: The operator {0}aten::isin{1} is not currently implemented for the {2} device.\n"
_MLX_NEEDS = "[WARNING] Generating with a model that requires {} MB which is close to the maximum recommended size of 28753 MB.\n"
_LIMA = "$ uname -a\nLinux {} #31 SMP aarch64 GNU/Linux\nwarning: no usable GPU found, --gpu-layers option will be ignored\n"
_PODMAN = "{} podman machine list\n{} podman run --device /dev/dri ollama/ollama\n{}\n"
_WORKSPACE = (
    'vscode ➜ /workspaces/app (main) $ python -c "import torch; print(torch.backends.mps.is_available())"\nFalse\n'
)

SPEAKS = {
    "asked-in-a-container-beside-its-mac": (
        "mps-inside-linux-container",
        _ASKED_ON_A_MAC.format("docker run --rm img ", "Linux-6.10.14-linuxkit-aarch64-with-glibc2.35 False"),
    ),
    "releases-of-intels-macs": (
        "mps-x86-python-under-rosetta",
        "Mac mini M2\n" + _RELEASES.format("2.1.2, 2.2.0, 2.2.1, 2.2.2"),
    ),
    "macos-wanted": (
        "mps-macos-too-old",
        "RuntimeError: MPS: scaled_dot_product is only supported on MacOS 15 or newer\n",
    ),
    "macos-of-a-wheel": (
        "mps-macos-too-old",
        "ERROR: mlx-0.18.0-cp311-cp311-macosx_13_0_arm64.whl is not a supported wheel on this platform.\n% sw_vers -productVersion\n12.6\n",
    ),
    "convolution": (
        "mps-op-not-implemented",
        "NotImplementedError: convolution_overrideable not implemented.\nmodel.to('mps')\n",
    ),
    "wheel-for-apple": (
        "mps-x86-python-under-rosetta",
        _NONE.format("mlx") + '% python -c "import platform; print(platform.processor())"\ni386\n',
    ),
    "compatible-macos": (
        "mps-x86-python-under-rosetta",
        "Python platform: macOS-10.16-x86_64-i386-64bit\nIs MPS available: False\n",
    ),
    "sandbox": (
        "mps-blocked-by-sandbox",
        "CODEX_SANDBOX=seatbelt\nmps built: True\nmps available: False\nProductVersion: 15.5\n",
    ),
    "wheel-for-apple-refused": (
        "mps-x86-python-under-rosetta",
        "ERROR: tensorflow_macos-2.12.0-cp310-cp310-macosx_12_0_arm64.whl is not a supported wheel on this platform.\n>>> platform.machine()\n'x86_64'\n",
    ),
    "mlx-has-no-device": ("mps-blocked-by-sandbox", _EMPTY.format(_MLX_OF_PLATFORM.format("Device::Device()"))),
    "mlx-has-no-device-and-names-are-mangled": (
        "mps-blocked-by-sandbox",
        _EMPTY.format("5   libmlx.dylib   0x10a2 _ZN3mlx4core5metal6DeviceC2Ev + 96"),
    ),
    "older-macos": (
        "mps-macos-too-old",
        "macOS 12.1\nApple M1\ntorch 1.13.0\ntorch.backends.mps.is_available(): False\n",
    ),
    "no-metal": ("mps-blocked-by-sandbox", _METAL),
    "onwards": ("mps-macos-too-old", _ONWARDS),
    "mlx-of-old": ("mps-macos-too-old", _MLX_OF_SERVER.format("12.7.4")),
    "float64-cut": ("mps-float64-unsupported", _MPS.format("the MPS frame")),
    "float64-whole": (
        "mps-float64-unsupported",
        _MPS.format("the MPS framework doesn't support float64. Please use float32 instead."),
    ),
    "doubles": ("mps-float64-unsupported", _DOUBLES.format("float64", "TypeError\n")),
    "op-of-doubles": ("mps-float64-unsupported", _OP.format("cumprod", "float64")),
    "graph-of-doubles": ("mps-float64-unsupported", "loc(fused): error: invalid element type 'f64'\n"),
    "profile-and-an-empty-list": (
        "mps-blocked-by-sandbox",
        _FIRST_OF_NONE + 'MLX 0.30\n(allow iokit-open (iokit-user-client-class "RootDomainUserClient"))\n',
    ),
    "mlx-and-an-empty-list": ("mps-blocked-by-sandbox", _FIRST_OF_NONE + "import mlx.core as mx\n"),
    "mode-of-a-sandbox": (
        "mps-blocked-by-sandbox",
        'sandbox_mode = "workspace-write"\n' + "MTLCreateSystemDefaultDevice() returned nil\n",
    ),
    "interpreter-listed": ("mps-x86-python-under-rosetta", _M4 + "- `python3.12`: 3.12.12, x86_64\n"),
    "uname-of-another": ("mps-x86-python-under-rosetta", _M4 + "% uname -m\nx86_64\n"),
    "wheel-of-another": (
        "mps-x86-python-under-rosetta",
        _M4 + "Downloading torch-2.2.2-cp311-none-macosx_10_9_x86_64.whl (150.8 MB)\n",
    ),
    "channel-of-another": (
        "mps-x86-python-under-rosetta",
        _M4 + "  - https://conda.anaconda.org/conda-forge/osx-64\n",
    ),
    "uv-python-of-another": ("mps-x86-python-under-rosetta", _M4 + "Using cpython-3.12.7-macos-x86_64-none\n"),
    "uv-tag-and-the-chip": ("mps-x86-python-under-rosetta", _M4 + _UV.format("x86_64")),
    "uv-tag-alone-may-be-an-intel-mac": ("extension-without-platform-build", _UV.format("x86_64")),
    "translated": ("mps-x86-python-under-rosetta", "Code Type:             X86-64 (Translated)\n"),
    "step-of-a-build": ("mps-inside-linux-container", _STEP.format("#7 [4/4] ", "mps", "MPS")),
    "older-step-of-a-build": ("mps-inside-linux-container", _STEP.format("Step 4/4 : ", "mps", "MPS")),
    "workspace-on-a-mac": ("mps-inside-linux-container", _M4 + _WORKSPACE),
    "guest-on-a-mac": ("mps-inside-linux-container", _M4 + _LIMA.format("lima-m4 6.8.0-31-generic")),
    "podmans-machine": ("mps-inside-linux-container", _PODMAN.format("%", "%", "routes.go: server config")),
    "slow-and-falls-back": ("mps-op-not-implemented", "It is very slow\n" + _FALLS_BACK),
    "curled-marks": ("mps-op-not-implemented", _NOT_YET.format("‘", "’", "MPS")),
    "mlx-needs-more": (
        "mps-oom-watermark",
        _MLX_NEEDS.format(38000) + "std::runtime_error: [METAL] Command buffer execution failed: Internal Error\n",
    ),
    "editors-kernel-is-apples": (
        "mps-x86-python-under-rosetta",
        'OS: Darwin arm64 23.5.0\n% python3 -c "import platform; print(platform.machine())"\nx86_64\n',
    ),
    "another-python-says-arm": (
        "mps-x86-python-under-rosetta",
        "% python -c 'import platform; print(platform.processor())'\ni386\n% /opt/homebrew/bin/python3 -c 'import platform; print(platform.processor())'\narm\n",
    ),
}

SILENT = {
    "interpreter-listed-for-arm": ("mps-x86-python-under-rosetta", _M4 + "- `python3.12`: 3.12.12, arm64\n"),
    "interpreter-listed-elsewhere": ("mps-x86-python-under-rosetta", "- `python3.12`: 3.12.12, x86_64\n"),
    "uname-inside": (
        "mps-x86-python-under-rosetta",
        _M4 + "$ docker run --platform linux/amd64 alpine uname -m\nx86_64\n",
    ),
    "channel-of-its-own": (
        "mps-x86-python-under-rosetta",
        _M4 + "  - https://conda.anaconda.org/conda-forge/osx-arm64\n",
    ),
    "uv-python-not-fetched": (
        "mps-x86-python-under-rosetta",
        _M4 + "cpython-3.12.7-macos-x86_64-none    <download available>\n",
    ),
    "uv-tag-for-arm": ("mps-x86-python-under-rosetta", _M4 + _UV.format("arm64")),
    "uv-tag-and-the-chip-is-no-missing-build": ("extension-without-platform-build", _M4 + _UV.format("x86_64")),
    "not-translated": ("mps-x86-python-under-rosetta", "Code Type:             X86-64 (Native)\n"),
    "empty-list-of-a-program": ("mps-blocked-by-sandbox", _FIRST_OF_NONE + "0   Keynote   0x10a2\n"),
    "profile-and-it-works": (
        "mps-blocked-by-sandbox",
        '(allow iokit-open (iokit-registry-entry-class "AGXDeviceUserClient"))\nmps available: True\n',
    ),
    "step-of-a-build-for-cuda": ("mps-inside-linux-container", _STEP.format("#7 [4/4] ", "cuda", "CUDA")),
    "no-step-of-a-build": ("mps-inside-linux-container", _STEP.format("", "mps", "MPS")),
    "workspace-elsewhere": ("mps-inside-linux-container", "Ubuntu 24.04\n" + _WORKSPACE),
    "asahi": ("mps-inside-linux-container", _M4 + _LIMA.format("m4 6.14.2-401.asahi.fc42.aarch64+16k")),
    "podman-elsewhere": ("mps-inside-linux-container", _PODMAN.format("$", "$", "routes.go: server config")),
    "podman-and-vulkan": (
        "mps-inside-linux-container",
        _PODMAN.format("%", "%", "ggml_vulkan: Found 1 Vulkan devices:"),
    ),
    "falls-back": ("mps-op-not-implemented", _FALLS_BACK),
    "curled-marks-elsewhere": ("mps-op-not-implemented", _NOT_YET.format("‘", "’", "HPU")),
    "mlx-needs-less": (
        "mps-oom-watermark",
        _MLX_NEEDS.format(27000) + "std::runtime_error: [METAL] Command buffer execution failed: Internal Error\n",
    ),
    "asked-on-the-mac-itself": (
        "mps-inside-linux-container",
        _ASKED_ON_A_MAC.format("", "macOS-15.1-arm64-arm-64bit True"),
    ),
    "releases-go-on": ("mps-x86-python-under-rosetta", "Mac mini M2\n" + _RELEASES.format("2.1.2, 2.2.2, 2.3.0")),
    "releases-elsewhere": (
        "mps-x86-python-under-rosetta",
        "Ubuntu 22.04\n" + _RELEASES.format("2.1.2, 2.2.0, 2.2.1, 2.2.2"),
    ),
    "macos-is-new-enough": (
        "mps-macos-too-old",
        "RuntimeError: MPS: scaled_dot_product is only supported on MacOS 15 or newer\n% sw_vers -productVersion\n15.4\n",
    ),
    "wheel-for-another-python": (
        "mps-macos-too-old",
        "ERROR: mlx-0.18.0-cp311-cp311-macosx_13_0_arm64.whl is not a supported wheel on this platform.\n% sw_vers -productVersion\n14.6\n",
    ),
    "convolution-elsewhere": (
        "mps-op-not-implemented",
        "NotImplementedError: convolution_overrideable not implemented.\nmodel.to('hpu')\n",
    ),
    "warning-of-mps": (
        "mps-op-not-implemented",
        "UserWarning: 'pin_memory' argument is set as true but not supported on MPS now, then device pinned memory won't be used.\n",
    ),
    "wheel-for-apple-on-apple": (
        "mps-x86-python-under-rosetta",
        _NONE.format("mlx") + '% python -c "import platform; print(platform.machine())"\narm64\n',
    ),
    "intel-mac-by-its-own-number": (
        "mps-x86-python-under-rosetta",
        "Python platform: macOS-13.4-x86_64-i386-64bit\nIs MPS available: False\n",
    ),
    "sandbox-and-it-works": (
        "mps-blocked-by-sandbox",
        "CODEX_SANDBOX=seatbelt\nmps built: True\nmps available: True\n",
    ),
    "wheel-for-apple-refused-on-apple": (
        "mps-x86-python-under-rosetta",
        "ERROR: tensorflow_macos-2.12.0-cp310-cp310-macosx_12_0_arm64.whl is not a supported wheel on this platform.\n>>> platform.machine()\n'arm64'\n",
    ),
    "empty-list-of-another-program": (
        "mps-blocked-by-sandbox",
        _EMPTY.format("3   Preview   0x10a2 -[PVDocument pageAtIndex:] + 96"),
    ),
    "empty-list-later-in-mlx": (
        "mps-blocked-by-sandbox",
        _EMPTY.format("3   libmlx.dylib   0x10a2 mlx::core::io::load_files() + 96"),
    ),
    "newer-macos": (
        "mps-macos-too-old",
        "macOS 14.1\nApple M1\ntorch 2.1.0\ntorch.backends.mps.is_available(): False\n",
    ),
    "no-metal-on-linux": ("mps-blocked-by-sandbox", _LINUX + _METAL),
    "onwards-and-newer": ("mps-macos-too-old", _ONWARDS + "$ sw_vers -productVersion\n15.4\n"),
    "mlx-of-today": ("mps-macos-too-old", _MLX_OF_SERVER.format("15.1")),
    "float64-of-numpy": (
        "mps-float64-unsupported",
        "TypeError: Cannot convert the array to float64 dtype as the MPS\n",
    ),
    "floats": ("mps-float64-unsupported", _DOUBLES.format("float32", "TypeError\n")),
    "op-of-integers": ("mps-float64-unsupported", _OP.format("cumprod", "int64")),
    "editor-on-linux": (
        "mps-x86-python-under-rosetta",
        'OS: Linux x64 6.5.0-44-generic\n$ python -c "import platform; print(platform.machine())"\nx86_64\n',
    ),
    "both-pythons-say-arm": (
        "mps-x86-python-under-rosetta",
        'OS: Darwin arm64 23.5.0\n% python3 -c "import platform; print(platform.processor())"\narm\n',
    ),
}
