"""Builds of torch that are broken on purpose: the real one, changed as soon as it is imported."""

from pathlib import Path

UNHURRIED = {"budget": 1e6}  # seconds for all checks: on a busy machine too none is left out
PRETEND = Path(__file__).parents[1] / "rigup_torch" / "checks" / "pretend_device.py"
HOOK = """
import importlib.abc
import importlib.util
import sys


class After(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != {framework!r}:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        run = spec.loader.exec_module
        spec.loader.exec_module = lambda module: (run(module), changed(module))
        return spec


sys.meta_path.insert(0, After())


def changed(torch):
    import sys
    sys.path.insert(0, {folder!r})
    {body}


def both(torch, name, make):
    'Change a function of torch, and the same as a method.'
    plain, method = getattr(torch, name), getattr(torch.Tensor, name)
    setattr(torch, name, make(plain))
    setattr(torch.Tensor, name, make(method))


def product(torch, make):
    both(torch, 'matmul', make)
    torch.Tensor.__matmul__ = make(torch.Tensor.__matmul__)
"""
ELSEWHERE = "import pretend_device; assert pretend_device.register('elsewhere')"
FOURTH_DIGIT = "product(torch, lambda real: lambda *a: real(*a) * 1.0002)"
TO_THE_CPU = ELSEWHERE + "; product(torch, lambda real: lambda *a: real(*a).cpu())"
HANGS = "import time; both(torch, 'sort', lambda real: lambda *a, **k: time.sleep(3600))"
CRASHES = "import ctypes; both(torch, 'sort', lambda real: lambda *a, **k: ctypes.string_at(0))"
CRASHES_ELSEWHERE = (
    ELSEWHERE + "; import ctypes; "
    "both(torch, 'sort', lambda real: lambda x, *a, **k: ctypes.string_at(0) if x.device.type != 'cpu' else real(x, *a, **k))"
)
KILLED = "import os; both(torch, 'sort', lambda real: lambda *a, **k: os.kill(os.getpid(), 9))"
NO_CODE = (
    "def fails(*a, **k): raise RuntimeError('CUDA error: no kernel image is available for execution on the device')\n"
    "    both(torch, 'sort', lambda real: fails)"
)
LEAKS = "kept = []; product(torch, lambda real: lambda *a: (kept.append(real(*a)), kept[-1])[1])"
GREEDY = "both(torch, 'sort', lambda real: lambda *a, **k: [bytearray(b'x' * 2**26) for _ in range(10**6)])"
CRASHES_AT_ONCE = "import os, sys; sys.stderr.write('ImportError: libcudart.so.12: no such file\\n'); os._exit(3)"
FALLS_BACK = (
    ELSEWHERE + "; import warnings; both(torch, 'sort', lambda real: lambda x, *a, **k: (warnings.warn("
    "\"The operator 'aten::sort' is not currently supported on this backend and will fall back to run on the CPU.\""
    ") if x.device.type != 'cpu' else None, real(x, *a, **k))[1])"
)


LISTS_CUDA = "torch.get_available_providers = lambda: ['CUDAExecutionProvider', 'CPUExecutionProvider']"
WRONG_IN_JAX = "import jax.numpy as jnp; real = jnp.matmul; jnp.matmul = lambda *a, **k: real(*a, **k) * 1.0002"


def build(folder: Path, body: str, framework: str = "torch") -> dict[str, str]:
    """The variables under which an interpreter has such a torch, or such another framework, called torch all the same."""
    text = HOOK
    filled = {"{folder!r}": repr(str(PRETEND.parent)), "{framework!r}": repr(framework), "{body}": body}
    for hole, value in filled.items():
        text = text.replace(hole, value)
    (folder / "sitecustomize.py").write_text(text)
    return {"PYTHONPATH": str(folder)}


def kernel(name: str, change: str, when: str = "True") -> str:
    """A body under which a kernel of the CPU gives something else.

    Args:
        name: the operator's, with its overload.
        change: an expression over `real`, what the kernel gives, and `a`, its arguments.
        when: for which arguments.

    """
    return f"""import warnings
    warnings.simplefilter('ignore')
    kept = torch.library.get_kernel('aten::{name}', 'CPU')
    def wrong(keys, *a, kept=kept, **k):
        real = kept.call_boxed(keys, *a, **k)
        return ({change}) if ({when}) else real
    torch.wrong_kernels = getattr(torch, 'wrong_kernels', None) or torch.library.Library('aten', 'IMPL')
    torch.wrong_kernels.impl('{name}', wrong, 'CPU', with_keyset=True)
"""
