"""AMD's programs with code of their own, targets of builds, and models that stay on the processor: each where it speaks, and beside it where it has to be silent."""

_NONE = '"hipErrorNoBinaryForGpu: Unable to find code object for all current devices!"\n'
_FUNCTION = "RuntimeError: HIP error: invalid device function\n"
_IMAGE = "HIP error: no kernel image is available for execution on the device\n"
_TORCH = ">>> import torch\n>>> torch.zeros(3, device='cuda')\n"
_XLA = "jaxlib.xla_extension.XlaRuntimeError: INTERNAL: no supported devices found for platform {}{}\n"
_POOL = ". This may be due to JAX pre-allocating too much device memory, leaving too little for CUDA library initialization."
_LISTED = "The supported AMDGPU versions are {}.\n"
_TRITON = "loc(\"/srv/app/attention/ops/prefix_prefill.py\":{}:0): error: unsupported target: '{}'\n"
_PLUGIN = "Jax plugin configuration error: Exception when calling jax_plugins.xla_rocm7.initialize()\nFailed to open: {}: cannot open shared object file: No such file or directory\n"
_PS = "NAME           ID              SIZE     PROCESSOR    UNTIL\n{}    {}    4 minutes from now\n"
_GUEST = "GPU: Radeon 890M, kernel 6.11\n"
_FOLDER = "FileNotFoundError: [WinError 3] The system cannot find the path specified: '{}'\n"
_SITE = "D:\\\\ai\\\\venv\\\\Lib\\\\site-packages\\\\"

SPEAKS = {
    "targets-of-cmake": ("binary-arch-missing", 'cmake -B build -DGGML_HIP=ON -DAMDGPU_TARGETS="gfx1030;gfx1100"\nGPU: RX 7600, gfx1102\n' + _IMAGE),
    "targets-of-hip": ("binary-arch-missing", "CMAKE_HIP_ARCHITECTURES=gfx906,gfx908\nDevice 0: AMD Instinct MI300X, gfx942\n" + _NONE),
    "targets-with-features": ("binary-arch-missing", "GPU_TARGETS: gfx908:xnack-;gfx90a:xnack-\nGPU: AMD Radeon Pro W6800\n" + _FUNCTION),
    "xla-alone": ("binary-arch-missing", _XLA.format("ROCM", "")),
    "xla-of-elixir": ("binary-arch-missing", "GPU: RX 9070 XT\n** (RuntimeError) no supported devices found for platform ROCM\n    (exla 0.9.1) lib/exla/client.ex:196: EXLA.Client.unwrap!/1\n"),
    "xla-of-an-old-card": ("rocm-dropped-arch", "GPU: Radeon RX 580\n" + _XLA.format("ROCM", "")),
    "list-without-the-card": ("binary-arch-missing", "GPU: AMD Radeon RX 6600\n" + _LISTED.format("gfx900, gfx906, gfx908, gfx90a, gfx1030")),
    "list-with-glued-names": ("binary-arch-missing", "GPU: RX 7900 XTX\n" + _LISTED.format("gfx1030gfx1100, gfx900, gfx906")),
    "triton-of-polaris": ("binary-arch-missing", _TRITON.format(36, "gfx803")),
    "triton-of-navi": ("binary-arch-missing", _TRITON.format(812, "gfx1010")),
    "runtime-of-models-logs": ("binary-arch-missing", "2023-02-11 10:02:07.118 [E:onnxruntime:Default, provider_bridge.cc:1] failed\n" + _NONE),
    "runtime-of-models-by-version": ("binary-arch-missing", "ONNX Runtime version: 1.14.1\nGPU: RX 6700 XT\n" + _FUNCTION),
    "kobold": ("binary-arch-missing", "KoboldCpp 1.57, ROCm fork\nRX 6500 XT\n" + _NONE),
    "lm-studio": ("binary-arch-missing", "LM Studio 0.3.9, ROCm runtime\n" + _IMAGE),
    "function-name-in-capitals": ("gfx-not-in-torch-wheel", _TORCH + _NONE.replace("Gpu", "GPU")),
    "attach-of-the-profiler": ("rocm-abi-mismatch", _PLUGIN.format("librocprofiler-sdk-attach.so.1")),
    "marks-of-the-profiler": ("rocm-abi-mismatch", "ImportError: librocprofiler-sdk-roctx.so.1: cannot open shared object file: No such file or directory\n"),
    "model-beside-a-limit": ("igpu-vram-counted-without-gtt", _GUEST + 'GRUB_CMDLINE_LINUX="amdgpu.gttsize=49152"\n' + _PS.format("qwen2.5:32b", "9f13ba1299af    24 GB    100% CPU")),
    "model-beside-pages": ("igpu-vram-counted-without-gtt", "CPU: Ryzen AI 9 HX 370 w/ Radeon 890M\nttm.pages_limit=12582912\n$ ollama run phi4 hello (100% CPU)\n"),
}  # fmt: skip

SILENT = {
    "targets-with-the-card": ("binary-arch-missing", _TORCH + 'AMDGPU_TARGETS="gfx1030;gfx1100"\nGPU: RX 7900 XTX\n' + _FUNCTION),
    "targets-and-nothing-fails": ("binary-arch-missing", 'cmake -B build -DAMDGPU_TARGETS="gfx1030;gfx1100"\nGPU: RX 7600, gfx1102\n[100%] Built target app\n'),
    "list-is-no-card": ("wrong-hsa-override", "GPU: RX 7600\nBuilt for gfx900, gfx906, gfx1030\n"),
    "list-of-a-build-is-no-card": ("wrong-hsa-override", 'GPU: MI210\nGPU_TARGETS="gfx906,gfx908,gfx90a"\n'),
    "xla-of-another-maker": ("binary-arch-missing", _XLA.format("CUDA", "")),
    "xla-without-memory": ("binary-arch-missing", _XLA.format("ROCM", _POOL)),
    "list-with-the-card": ("binary-arch-missing", "GPU: AMD Radeon RX 6800 XT\n" + _LISTED.format("gfx900, gfx906, gfx908, gfx90a, gfx1030")),
    "list-alone": ("binary-arch-missing", _LISTED.format("gfx900, gfx906, gfx908")),
    "triton-of-a-processor": ("binary-arch-missing", _TRITON.format(12, "riscv64")),
    "triton-compiles": ("binary-arch-missing", "triton: target: 'gfx1100', warp size 32\n"),
    "torch-beside-a-runtime-of-models": ("binary-arch-missing", "onnxruntime 1.20.1\n" + _TORCH + _FUNCTION),
    "torch-with-a-server-named": ("binary-arch-missing", "not LM Studio but my own script:\n" + _TORCH + _IMAGE),
    "profiler-of-torchs-own": ("rocm-abi-mismatch", "    from torch._C import *  # noqa: F403\nImportError: librocprofiler-sdk.so.1: cannot open shared object file: No such file or directory\n"),
    "profiler-is-there": ("rocm-abi-mismatch", "librocprofiler-sdk-attach.so.1 => /opt/rocm/lib/librocprofiler-sdk-attach.so.1\n"),
    "model-on-the-card": ("igpu-vram-counted-without-gtt", _GUEST + "amdgpu.gttsize=49152\n" + _PS.format("qwen2.5:32b", "9f13ba1299af    24 GB    100% GPU")),
    "model-beside-a-card": ("igpu-vram-counted-without-gtt", "GPU: RX 7900 XTX\namdgpu.gttsize=49152\n" + _PS.format("llama3.3", "a6eb4748fd29    46 GB    100% CPU")),
    "model-without-a-limit": ("igpu-vram-counted-without-gtt", _GUEST + _PS.format("phi4", "ac896e5b8b34    11 GB    100% CPU")),
    "folder-of-rocms-wheel": ("extension-without-platform-build", "pip install ctranslate2\n" + _FOLDER.format(_SITE + "ctranslate2/../_rocm_sdk_core/bin")),
    "folder-of-rocms-libraries": ("broken-wheel-missing-library", 'python -c "import speech"\n' + _FOLDER.format(_SITE + "speech\\\\..\\\\_rocm_sdk_libraries")),
}  # fmt: skip
