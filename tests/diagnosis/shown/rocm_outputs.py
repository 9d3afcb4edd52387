"""What ROCm's programs print on cards of AMD's: each rule where it speaks, and beside it where it has to be silent."""

_WHEEL = "pip install ./torch-{}-cp310-cp310-linux_x86_64.whl\nGPU: gfx1101\n$ python fit.py\nSegmentation fault (core dumped)\n"
_IMPORT = "Successfully installed torch-{}\n    from torch._C import *  # noqa: F403\nImportError: libamdhip64.so.7: cannot open shared object file: No such file or directory\n"
_OWN_FOLDER = '  File "C:\\ai\\{}\\modules\\devices.py", line 31, in device\n    torch._C._cuda_init()\nRuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU\n'
_COMPARED = '    if torch.cuda.get_device_capability(dev) == (8, 0):\n  File "C:\\ai\\sd-webui-directml\\venv\\lib\\site-packages\\torch\\cuda\\__init__.py", line 298, in _lazy_init\nRuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU\n'
_REFUSED = "{}Attempting to use hipBLASLt on a unsupported architecture!{}\n"
_SUMS = ">>> lin(x).sum()\ntensor({}, grad_fn=<SumBackward0>)\n>>> lin.cuda()({}.cuda()).sum()\ntensor({}, device='cuda:0', grad_fn=<SumBackward0>)\ntorch 2.6.0+rocm6.2.4\n"
_COPIED = "Radeon 780M, ROCm 6.2\n>>> a = torch.arange(4.).cuda()\n>>> a\ntensor([{}], device='cuda:0')\n"
_TOKENS = "ROCm 6.3\n" + "{0}eval: [ '{0}':4 ]\nn_past = 9\nn_remain: 80\n" * 9
_SHELLS = "$ tail -1 ~/.bashrc\nexport HSA_OVERRIDE_GFX_VERSION=11.0.0\n$ journalctl -b -u ollama\n"
_JOURNAL = "nov 02 10:11:12 attic ollama[812]: Couldn't find '/usr/share/ollama/.ollama/id_ed25519'. Generating new private key.\n"
_ON_ROCM = 'nov 02 10:11:13 attic ollama[812]: time=2025-11-02T10:11:13Z level=INFO source=types.go:130 msg="inference compute" id=0 library=rocm variant="" compute=gfx1100 driver=0.0 name=1002:744c total="24.0 GiB" available="23.8 GiB"\n'
_DIRTY = "rocBLAS error: Cannot read D:\\ROCm\\6.2\\bin\\/rocblas/library/TensileLibrary.dat:{}\n"
_BUNDLE = "rocBLAS error: Could not load {}/rocblas/library/TensileLibrary{}.dat\n"
_STARTER = "09:00:01-1 INFO     AMD ROCm toolkit detected\n09:00:02-1 INFO     Torch {}\n"
_MODULE = "$ rocm-smi\nERROR:root:Driver not initialized (amdgpu not found in modules)\ncat: /sys/module/amdgpu/initstate: No such file or directory\n"
_IMAGE = "CUDA error: device kernel image is invalid\n{}\nAMD Radeon RX 6600\n"
_BLENDER = "AMD Radeon {}\nNo compatible GPUs found for Cycles\nRequires discrete AMD GPU with RDNA architecture\n"
_TWO = "$ rocminfo | grep gfx\n  Name:                    {}\n  Name:                    gfx1036\nrocBLAS error: Cannot read /opt/rocm/lib/rocblas/library/TensileLibrary.dat: No such file or directory for GPU arch : gfx1036\n"
_WARNED = (
    "UserWarning: AMD Radeon RX 9060 XT with {} architecture is not compatible with the current PyTorch installation.\n"
)
_PACKAGE = '  File "/v/lib/python3.12/site-packages/{}", line 96, in forward\n    out = kernels.fwd(\nRuntimeError: HIP error: invalid device function\n{}, torch 2.7.0+rocm6.3\n'
_HANGS = "Device 0: AMD Radeon 8060S Graphics, gfx1100 (0x1100), VMM: no, Wave Size: 32\nHSA_OVERRIDE_GFX_VERSION={}\nHW Exception by GPU node-1 (Agent handle: 0x5a) reason :GPU Hang\n"
_CLOSE = "gfx1100, ROCm 6.3\n>>> torch.allclose(y_cpu, y_gpu.cpu(), atol=1e-2)\n{}\n"
_NIGHT = "pip install --index-url {} torch\nOSError: librocroller.so.1: cannot open shared object file: No such file or directory\n"

_LISTED = "[W blas] UserWarning: Attempting to use hipBLASLt on an unsupported architecture! Overriding blas backend to hipblas (function operator())\nGPU: gfx1100\n$ ls /opt/rocm/lib/hipblaslt/library | grep -o 'gfx[0-9a-f]*' | sort -u\n{}\ngfx942\n"

SPEAKS = {
    "hipblaslt-has-other-chips": ("hipblaslt-no-arch-library", _LISTED.format("gfx90a")),
    "named-wheel-is-too-old": ("gfx-not-in-torch-wheel", _WHEEL.format("1.13.1%2Brocm5.2")),
    "torch-turns-the-chip-down": ("gfx-not-in-torch-wheel", _WARNED.format("gfx1200")),
    "torch-lacks-its-own-runtime": ("broken-wheel-missing-library", _IMPORT.format("2.8.0+rocm7.0.0rc20250804")),
    "directml-program-compares-a-capability": ("cuda-torch-on-amd", _COMPARED),
    "webui-of-amds-looks-for-nvidia": ("cuda-torch-on-amd", _OWN_FOLDER.format("stable-diffusion-webui-amdgpu")),
    "starter-has-amds-toolkit": ("cuda-torch-on-amd", _STARTER.format("2.7.1+cu126")),
    "hipblaslt-refused-in-comfyui": (
        "hipblaslt-no-arch-library",
        _REFUSED.format("!!! Exception during processing !!! ", ""),
    ),
    "hipblaslt-matches-no-paths": (
        "hipblaslt-no-arch-library",
        "rocblaslt warning: No paths matched /opt/rocm/lib/hipblaslt/library/*gfx1200*co. Make sure that HIPBLASLT_TENSILE_LIBPATH is set correctly.\n",
    ),
    "sum-of-the-card-is-another": ("garbage-output-on-gfx", _SUMS.format("12.0417", "x", "-907.5022")),
    "sum-of-the-card-is-no-number": ("garbage-output-on-gfx", _SUMS.format("12.0417", "x", "nan")),
    "copied-numbers-are-gone": ("garbage-output-on-gfx", _COPIED.format("0., 0., 0., 0.")),
    "tokens-of-single-signs": ("garbage-output-on-gfx", _TOKENS.format("%")),
    "card-and-processor-are-not-close": ("garbage-output-on-gfx", _CLOSE.format("False")),
    "shell-has-it-and-the-journal-is-shown": ("override-not-in-service", _SHELLS + _JOURNAL),
    "line-of-rocblas-is-cut": ("gfx-not-in-rocblas", _DIRTY.format("")),
    "bundle-has-no-file-of-the-chip": ("gfx-not-in-rocblas", _BUNDLE.format("/var/lib/app/backends/llama/lib", "")),
    "bundle-of-ollama-has-none": ("gfx-not-in-rocblas", _BUNDLE.format("/usr/lib/ollama/rocm", "")),
    "bundle-and-a-card-that-was-left": (
        "rocm-dropped-arch",
        "RX 480\n" + _BUNDLE.format("/tmp/_MEI1", ""),
    ),
    "rocblas-passes-hips-error-on": (
        "gfx-not-in-rocblas",
        "terminate called: rocBLAS error from hip error code: 'hipErrorNoBinaryForGpu':209\nAMD Radeon RX 6750 XT\n",
    ),
    "tool-misses-the-module-and-its-state": ("amdgpu-not-loaded", _MODULE),
    "kobold-has-another-image": (
        "binary-arch-missing",
        _IMAGE.format("Initializing dynamic library: koboldcpp_hipblas.dll"),
    ),
    "package-beside-torch-has-no-code": (
        "binary-arch-missing",
        _PACKAGE.format("flash_attn/flash_attn_interface.py", "RX 7900 XTX"),
    ),
    "blender-wants-a-later-chip": ("rocm-dropped-arch", _BLENDER.format("RX 580")),
    "chip-of-a-processor-is-looked-up": ("igpu-visible-beside-dgpu", _TWO.format("gfx1201")),
    "night-of-amds-lacks-a-library": (
        "broken-wheel-missing-library",
        _NIGHT.format("https://rocm.nightlies.amd.com/v2/gfx1151/"),
    ),
    "hang-under-a-makeshift": ("wrong-hsa-override", _HANGS.format("11.0.0")),
    "two-masks-and-the-second-is-an-ordinal": (
        "double-visibility-mask",
        "$ env\nROCR_VISIBLE_DEVICES=2\nGPU_DEVICE_ORDINAL=2\n>>> torch.cuda.device_count()\n0\n",
    ),
}
SILENT = {
    "hipblaslt-has-the-chip": ("hipblaslt-no-arch-library", _LISTED.format("gfx1100")),
    "named-wheel-has-the-chip": ("gfx-not-in-torch-wheel", _WHEEL.format("2.7.1+rocm6.3")),
    "named-wheel-is-nvidias": ("gfx-not-in-torch-wheel", _WHEEL.format("1.13.1+cu117")),
    "warning-names-a-chip-of-nvidias": ("gfx-not-in-torch-wheel", _WARNED.format("sm_120")),
    "torch-of-another-release-lacks-it": ("broken-wheel-missing-library", _IMPORT.format("2.8.0+rocm6.4")),
    "capability-is-told-with-a-comparison": ("gpu-arch-newer-than-wheel", _COMPARED),
    "webui-of-all-looks-for-nvidia": ("cuda-torch-on-amd", _OWN_FOLDER.format("stable-diffusion-webui")),
    "starter-takes-zluda": ("cuda-torch-on-amd", "webui.bat --use-zluda\n" + _STARTER.format("2.7.1+cu118")),
    "starter-has-a-torch-for-it": ("cuda-torch-on-amd", _STARTER.format("2.7.1+rocm6.3")),
    "hipblaslt-is-done-without": (
        "hipblaslt-no-arch-library",
        _REFUSED.format("[W Context.cpp:296] Warning: ", " Overriding blas backend to hipblas (function operator())"),
    ),
    "rocblas-matches-no-paths": (
        "hipblaslt-no-arch-library",
        "rocBLAS warning: No paths matched /opt/rocm/lib/rocblas/library/*gfx1103*co. Make sure that ROCBLAS_TENSILE_LIBPATH is set correctly.\n",
    ),
    "sum-of-the-card-is-the-same": ("garbage-output-on-gfx", _SUMS.format("12.0417", "x", "12.0418")),
    "sum-of-other-numbers": ("garbage-output-on-gfx", _SUMS.format("12.0417", "torch.rand(4)", "-907.5022")),
    "copied-numbers-are-there": ("garbage-output-on-gfx", _COPIED.format("0., 1., 2., 3.")),
    "tokens-of-words": ("garbage-output-on-gfx", _TOKENS.format(" the")),
    "tokens-of-digits": ("garbage-output-on-gfx", _TOKENS.format("7")),
    "card-and-processor-are-close": ("garbage-output-on-gfx", _CLOSE.format("True")),
    "shell-has-it-and-the-card-is-used": ("override-not-in-service", _SHELLS + _JOURNAL + _ON_ROCM),
    "no-shell-has-it": ("override-not-in-service", "$ journalctl -b -u ollama\n" + _JOURNAL),
    "file-of-rocblas-is-barred": ("gfx-not-in-rocblas", _DIRTY.format(" Permission denied")),
    "bundle-has-no-file-and-is-of-no-other-release": ("rocm-abi-mismatch", _BUNDLE.format("/srv/app/lib", "")),
    "systems-library-loads-nothing": ("gfx-not-in-rocblas", _BUNDLE.format("/opt/rocm/lib", "")),
    "rocblas-passes-full-memory-on": (
        "gfx-not-in-rocblas",
        "rocBLAS error from hip error code: 'hipErrorOutOfMemory':2\nAMD Radeon RX 6750 XT\n",
    ),
    "tool-misses-a-module-that-is-built-in": ("amdgpu-not-loaded", "amdgpu is built into this kernel\n" + _MODULE),
    "image-of-torchs": ("binary-arch-missing", _IMAGE.format(">>> torch.ones(2).cuda()")),
    "package-beside-torch-on-a-chip-without-wheels": (
        "binary-arch-missing",
        _PACKAGE.format("flash_attn/flash_attn_interface.py", "RX 6700 XT"),
    ),
    "package-beside-torch-on-another-makers-card": (
        "binary-arch-missing",
        _PACKAGE.format("flash_attn/flash_attn_interface.py", "NVIDIA GeForce RTX 3060, RX 7900 XTX"),
    ),
    "blender-misses-a-driver": ("rocm-dropped-arch", _BLENDER.format("RX 6600")),
    "chip-of-a-processor-is-alone": ("igpu-visible-beside-dgpu", _TWO.format("gfx1036")),
    "library-of-no-wheel": (
        "broken-wheel-missing-library",
        "./solver: error while loading shared libraries: librocroller.so.1: cannot open shared object file: No such file or directory\n",
    ),
    "hang-under-its-own-name": ("wrong-hsa-override", _HANGS.format("11.5.1")),
    "one-mask": ("double-visibility-mask", "$ env\nROCR_VISIBLE_DEVICES=2\n>>> torch.cuda.device_count()\n0\n"),
}
