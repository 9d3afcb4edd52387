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
}

SILENT = {
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
}
