"""Kernels that are compiled here: by triton, by the runtime's own compiler, and by a toolkit's."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from typing import Any

import torch
from rigup_probe import Skip
from rigup_probe_torch_compare import elsewhere

try:
    import triton
    import triton.language as tl
except Exception:  # made for another system, or without its compiler: that is no fault of torch
    triton = None

_COUNT = 100_003
_SOURCE = """
#if defined(__HIPCC__)
#include <hip/hip_runtime.h>
#endif
__global__ void doubled(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i] + 1.0f;
}
extern "C" void run(const float *x, float *y, int n) { doubled<<<(n + 255) / 256, 256>>>(x, y, n); }
"""

if triton is not None:

    @triton.jit  # type: ignore[untyped-decorator,unused-ignore]
    def _doubled(x: Any, y: Any, n: Any, BLOCK: tl.constexpr) -> None:  # noqa: N803
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        inside = at < n
        tl.store(y + at, tl.load(x + at, mask=inside) * 2.0 + 1.0, mask=inside)


def compiled_kernel(device: dict[str, Any]) -> dict[str, Any]:
    """2x + 1 by a kernel that did not exist before."""
    values = torch.arange(_COUNT, dtype=torch.float32, device=device["id"])
    if triton is not None and device["type"] in ("cuda", "xpu") and (found := _with_triton(device, values)):
        return dict(found)
    if device["type"] == "cuda":
        return _result_of(device, values, _by_the_runtime(values), "NVRTC or hipRTC")
    raise Skip("nothing here compiles kernels for this device")


def _with_triton(device: dict[str, Any], values: Any) -> Any:
    """None where triton has no C compiler or no headers of Python, which it wants beside: no fault of the device."""
    try:
        with getattr(torch, device["type"]).device(device["index"]):
            return _result_of(device, values, _by_triton(values), "triton " + triton.__version__)
    except (RuntimeError, subprocess.CalledProcessError) as why:
        if isinstance(why, RuntimeError) and "C compiler" not in str(why):
            raise
        sys.stderr.write("triton: " + str(why) + "\n")
        return None


def _by_triton(values: Any) -> Any:
    result = torch.empty_like(values)
    _doubled[(triton.cdiv(_COUNT, 256),)](values, result, _COUNT, BLOCK=256)
    return result


def _by_the_runtime(values: Any) -> Any:
    from torch.cuda.jiterator import _create_jit_fn

    return _create_jit_fn("template <typename T> T doubled(T x) { return x * 2 + 1; }")(values)


def _result_of(device: dict[str, Any], values: Any, result: Any, compiler: str) -> dict[str, Any]:
    wrong = [] if torch.equal(result.cpu(), values.cpu() * 2 + 1) else ["2x + 1"]
    return {"compiler": compiler, "wrong": wrong, "elsewhere": elsewhere(device, result=result)}


def toolkit_kernel(device: dict[str, Any]) -> dict[str, Any]:
    """The same by nvcc or hipcc, where a toolkit is."""
    amd = device.get("vendor") == "amd"
    compiler = shutil.which("hipcc" if amd else "nvcc") or _usual("/opt/rocm/bin/hipcc" if amd else "/usr/local/cuda/bin/nvcc")
    if compiler is None:
        raise Skip("no toolkit is here")
    values = torch.arange(_COUNT, dtype=torch.float32, device=device["id"])
    result = torch.empty_like(values)
    with tempfile.TemporaryDirectory() as folder, torch.cuda.device(device["index"]):
        library = ctypes.CDLL(_built(compiler, folder, device))
        torch.cuda.synchronize()
        library.run(ctypes.c_void_p(values.data_ptr()), ctypes.c_void_p(result.data_ptr()), _COUNT)
        torch.cuda.synchronize()
    return _result_of(device, values, result, compiler)


def _usual(path: str) -> Any:
    return path if os.path.exists(path) else None


def _built(compiler: str, folder: str, device: dict[str, Any]) -> str:
    """The shared library. It must speak to the runtime that torch has loaded, so it brings none of its own."""
    amd, source, library = device.get("vendor") == "amd", os.path.join(folder, "k.cu"), os.path.join(folder, "k.so")
    with open(source, "w", encoding="ascii") as file:
        file.write(_SOURCE)
    chosen = ["--offload-arch=" + device["isa"], "-fPIC"] if amd else ["-arch=" + device["isa"], "-Xcompiler", "-fPIC", "-cudart", "shared"]
    done = subprocess.run([compiler, "-shared", *chosen, "-o", library, source], capture_output=True, text=True, check=False)
    sys.stderr.write(done.stderr[-4000:])
    if done.returncode:
        raise RuntimeError(os.path.basename(compiler) + ": " + (done.stderr.strip().splitlines() or ["failed"])[-1])
    return library
