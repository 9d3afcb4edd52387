"""AMD's chips, overrides and extensions as threads show them: each rule where it speaks, and beside it where it has to be silent."""

_HALO = "Radeon 8060S Graphics, gfx1151, ROCm 7.1\n"
_NVIDIA = "NVIDIA GeForce RTX 3060\n"
_TOKENS = "<unused12><unused12><unused12><unused12><unused12>\n"
_FORM = "### GPU\n\nAMD\n\n"
_KERAS = "12/12 [==============] - 1s 40ms/step - loss: nan - val_loss: nan\n"
_OFF = 'Max diff: {}\nTraceback (most recent call last):\n  File "check.py", line 9, in <module>\nAssertionError\n'
_ABSOLUTE = "max abs diff: {}\nAssertionError\n"
_ROWS = "| Backend | PPL |\n| --- | --- |\n| CPU | 7.1204 |\n| ROCm | {} |\n"
_COLUMNS = "| Model | CPU | Vulkan | ROCm |\n| --- | --- | --- | --- |\n| Q8_0 | {} | {} | {} |\n"
_SCHOOL = "|gsm8k|      3|strict-match|     5|exact_match|↑  |{}|±  |0.0100|\n"
_MASKS = "$ echo $ROCR_VISIBLE_DEVICES $HIP_VISIBLE_DEVICES\n{}\n"
_TRIAL = 'level=INFO source=runner.go:464 msg="failure during GPU discovery" OLLAMA_LIBRARY_PATH="[/usr/lib/ollama/rocm]" error="runner crashed"\n'
_OPENCL = "  Platform Name                                   AMD Accelerated Parallel Processing\nNumber of devices                                 {}\n"
_SDK = "PS C:\\> amdgpu-arch.exe\n{}\nPS C:\\>\nAMD Radeon RX 7800 XT\n"
_EMPTY = "environment:\n  - HSA_OVERRIDE_GFX_VERSION={}\n"
_NO_DEVICE = "ggml_cuda_init: failed to initialize ROCm: no ROCm-capable device is detected\n"
_BITS = "UserWarning: The installed version of bitsandbytes was compiled without GPU support.\n"
_NVCC = "RuntimeError: flash_attn was requested, but nvcc was not found.\ntorch.__version__  = {}\n"
_OPERATOR = "NotImplementedError: Could not run 'xformers::efficient_attention_forward_ck' with arguments from the 'CUDA' backend.\n"
_WHISPER = "    self.model = ctranslate2.models.Whisper(\nRuntimeError: CUDA failed with error CUDA driver version is insufficient for CUDA runtime version\n"
_PART = "ModuleNotFoundError: No module named 'selective_scan_cuda'\n"
_PAIR = "$ rocminfo | grep gfx\n  Name:                    gfx1201\n  Name:                    gfx1031\n"
_OVERRIDDEN = "$ HSA_OVERRIDE_GFX_VERSION=10.3.0 python train.py\nRuntimeError: HIP error: invalid device function\n"

SPEAKS = {
    "reserved-tokens": ("garbage-output-on-gfx", _HALO + _TOKENS),
    "one-sign-and-a-form": ("garbage-output-on-gfx", _FORM + "> hi\n@@@@@@@@@@@@@@@@@@@@@@@@\n"),
    "loss-on-a-chip-that-was-left": ("garbage-output-on-gfx", "Radeon RX 580, ROCm 3.9\n" + _KERAS),
    "loss-on-another": ("garbage-output-on-gfx", "Radeon RX 7900 XTX, ROCm 6.2\n" + _KERAS),
    "comparison": ("garbage-output-on-gfx", _HALO + _OFF.format("12.50000000")),
    "comparison-of-amounts": ("garbage-output-on-gfx", _HALO + _ABSOLUTE.format("nan")),
    "perplexity-in-rows": ("garbage-output-on-gfx", _ROWS.format("1811.0930")),
    "perplexity-in-columns": ("garbage-output-on-gfx", _COLUMNS.format("7.1204", "7.1188", "1,811.09")),
    "sums-of-school": ("garbage-output-on-gfx", "MI308X\n" + _SCHOOL.format("0.0120")),
    "both-masks": ("double-visibility-mask", _MASKS.format("1 1")),
    "trial-of-a-server": ("gfx-not-in-rocblas", "AMD Radeon RX 6700 XT (gfx1031)\n" + _TRIAL),
    "opencl-without-an-old-card": ("rocm-dropped-arch", "Radeon RX 570, ROCm 5.2\n" + _OPENCL.format(0)),
    "sdk-and-the-processors-graphics": ("igpu-visible-beside-dgpu", _SDK.format("gfx1036")),
    "empty-override": ("wrong-hsa-override", _EMPTY.format("${HSA_OVERRIDE_GFX_VERSION:-}") + _NO_DEVICE),
    "extension-for-cuda": ("extension-without-platform-build", "AMD Radeon RX 6800\n" + _BITS),
    "extension-that-wants-nvcc": ("extension-without-platform-build", _NVCC.format("2.6.0+rocm6.2.4")),
    "operator-of-an-extension": ("extension-without-platform-build", "torch 2.6.0+rocm6.2.4\n" + _OPERATOR),
    "engine-of-whisper": ("extension-without-platform-build", "AMD Radeon RX 6800\n" + _WHISPER),
    "compiled-part": ("extension-without-platform-build", "torch 2.6.0+rocm6.2.4, gfx1100\n" + _PART),
    "two-chips-and-one-override": ("mixed-gfx-single-override", _PAIR + _OVERRIDDEN),
}  # fmt: skip

SILENT = {
    "reserved-tokens-named": ("garbage-output-on-gfx", _HALO + "the tokenizer has <unused0> to <unused98>\n"),
    "reserved-tokens-of-another": ("garbage-output-on-gfx", _NVIDIA + _TOKENS),
    "form-of-another": ("garbage-output-on-gfx", "### CPU\n\nAMD\n\n### GPU\n\nNvidia\n\n> hi\n@@@@@@@@@@@@@@@@@@@@@@@@\n"),
    "loss-of-another": ("garbage-output-on-gfx", _NVIDIA + _KERAS),
    "small-difference": ("garbage-output-on-gfx", _HALO + _OFF.format("0.00012000")),
    "small-amounts": ("garbage-output-on-gfx", _HALO + _ABSOLUTE.format("0.0031")),
    "perplexities-agree": ("garbage-output-on-gfx", _ROWS.format("7.1211")),
    "columns-agree": ("garbage-output-on-gfx", _COLUMNS.format("7.1204", "7.1188", "7.1301")),
    "columns-of-speeds": ("garbage-output-on-gfx", _COLUMNS.format("9.1", "52.0", "410.2")),
    "sums-of-school-right": ("garbage-output-on-gfx", "MI308X\n" + _SCHOOL.format("0.9410")),
    "dashes-are-printed": ("garbage-output-on-gfx", _HALO + '>>> print("#" * 40)\n########################################\n'),
    "masks-that-fit": ("double-visibility-mask", _MASKS.format("1 0")),
    "trial-of-a-chip-that-is-there": ("gfx-not-in-rocblas", "AMD Radeon RX 7900 XTX (gfx1100)\n" + _TRIAL),
    "opencl-with-an-old-card": ("rocm-dropped-arch", "Radeon RX 570, ROCm 5.2\n" + _OPENCL.format(1)),
    "sdk-and-the-card": ("igpu-visible-beside-dgpu", _SDK.format("gfx1101")),
    "override-by-default": ("wrong-hsa-override", _EMPTY.format("${HSA_OVERRIDE_GFX_VERSION:-10.3.0}") + _NO_DEVICE),
    "extension-on-nvidias": ("extension-without-platform-build", _NVIDIA + _BITS),
    "nvcc-for-cuda": ("extension-without-platform-build", _NVCC.format("2.6.0+cu124")),
    "operator-on-nvidias": ("extension-without-platform-build", _NVIDIA + _OPERATOR),
    "whisper-on-nvidias": ("extension-without-platform-build", _NVIDIA + _WHISPER),
    "compiled-part-on-nvidias": ("extension-without-platform-build", _NVIDIA + _PART),
    "two-chips-and-no-override": ("mixed-gfx-single-override", _PAIR + "$ python train.py\n"),
}  # fmt: skip
