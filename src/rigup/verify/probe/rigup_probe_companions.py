"""Checks of a companion package with compiled code: import it, load its extensions, call it once.

Each is measured in a process of its own, so that a crash costs that one alone.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import importlib.machinery
import mmap
import os
import re
from importlib import metadata
from typing import Any, Callable, Iterator

from rigup_probe import Skip

# Import names that are not the package's, and packages that are worth an import though no file of theirs tells it.
IMPORTED = {
    "flash-attn": "flash_attn",
    "torch-scatter": "torch_scatter",
    "torch-sparse": "torch_sparse",
    "torch-cluster": "torch_cluster",
    "torch-spline-conv": "torch_spline_conv",
    "pyg-lib": "pyg_lib",
    "mamba-ssm": "mamba_ssm",
    "causal-conv1d": "causal_conv1d",
    "transformer-engine": "transformer_engine",
    "onnxruntime-gpu": "onnxruntime",
    "onnxruntime-rocm": "onnxruntime",
    "faiss-cpu": "faiss",
    "faiss-gpu": "faiss",
    "pytorch3d": "pytorch3d",
    "triton-rocm": "triton",
    "pytorch-triton-rocm": "triton",
    "triton-windows": "triton",
    "nvidia-dali-cuda120": "nvidia.dali",
}
CALLED = (
    "torchvision",
    "torchaudio",
    "xformers",
    "flash-attn",
    "bitsandbytes",
    "triton",
    "torch-scatter",
    "torch-sparse",
    "torch-cluster",
    "torchao",
    "deepspeed",
    "mamba-ssm",
    "causal-conv1d",
    "vllm",
    "apex",
    "detectron2",
    "pytorch3d",
    "sentencepiece",
    "tokenizers",
    "safetensors",
    "scipy",
)
_PLAIN = ("sentencepiece", "tokenizers", "safetensors", "scipy")  # which link with no framework and know no device
_FRAMEWORKS = ("torch", "jax", "jaxlib", "tensorflow", "tensorflow-cpu", "onnxruntime", "onnxruntime-gpu", "numpy", "llama-cpp-python")
_LEADS = re.compile(r"(torch|jaxlib?|tensorflow|onnxruntime)\b(?![-_])", re.IGNORECASE)
_LINKED = (b"libtorch", b"libc10")
_LOOKED = 1 << 22  # bytes of a library in which the names of others stand
_ENDS = (".so", ".pyd", ".dylib")
_MOST = 60  # extension modules of one package that are loaded


def named() -> Iterator[str]:
    """Names of this environment's companion packages with compiled code, by their files."""
    found = {}  # type: dict[str, Any]
    for dist in metadata.distributions():
        name = (dist.metadata["Name"] or "").lower().replace("_", "-")
        if name and name not in _FRAMEWORKS and not name.startswith("nvidia-"):
            found.setdefault(name, dist)
    has_torch = any((dist.metadata["Name"] or "").lower() == "torch" for dist in metadata.distributions())
    for name, dist in sorted(found.items()):
        if name in (*CALLED, *IMPORTED) or (_compiled(dist) and (_stands_on(dist) or _linked(dist))):
            yield name
    for name in ("onnxruntime", "onnxruntime-gpu"):  # beside torch, whose libraries it may have to share
        if has_torch and _installed(name):
            yield name


def _installed(name: str) -> bool:
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _compiled(dist: Any) -> list[str]:
    """Its libraries, as far as they are there."""
    paths = [str(dist.locate_file(file)) for file in dist.files or [] if str(file).endswith(_ENDS)]
    return [path for path in paths if os.path.isfile(path)]


def _stands_on(dist: Any) -> bool:
    return any(_LEADS.match(wish) and "extra ==" not in wish for wish in dist.requires or [])


def _linked(dist: Any) -> bool:
    """Whether a library names one of torch's."""
    for path in _compiled(dist)[:_MOST]:
        with open(path, "rb") as file:
            head = file.read(_LOOKED)
        if any(word in head for word in _LINKED):
            return True
    return False


class Companion:
    """One package as a probe: the same parts as a framework's module has."""

    def __init__(self, name: str) -> None:
        self.name = name

    def about(self) -> dict[str, Any]:
        """The version, by the metadata."""
        return {"version": metadata.version(self.name)}

    def devices(self) -> list[Any]:
        """The processor; and the first device of torch, where the package is called on one."""
        return [*_first_of_torch(self.name), {"id": "cpu", "type": "cpu", "vendor": ""}]

    def checks(self, device: dict[str, Any], _full: bool) -> Iterator[tuple[str, Callable[[dict[str, Any]], Any]]]:
        """Import, extension modules, and the calls that are known."""
        if device["type"] == "cpu":
            yield self.name + "-import", self._import
            if self.name not in _PLAIN:
                yield self.name + "-extensions", self._extensions
        if self.name in CALLED or self.name.startswith("onnxruntime"):
            calls = importlib.import_module("rigup_probe_companion_calls")
            for name, call in calls.calls_of(self.name, device):
                yield self.name + "-" + name, call
        elif device["type"] == "cpu":
            yield self.name + "-call", _no_call

    def _import(self, _device: dict[str, Any]) -> dict[str, Any]:
        _framework_first()
        for module in self._modules():
            importlib.import_module(module)
        return {"wrong": []}

    def _modules(self) -> list[str]:
        """The names by which programs import it."""
        if self.name in IMPORTED:
            return [IMPORTED[self.name]]
        dist = metadata.distribution(self.name)
        top_level = (dist.read_text("top_level.txt") or "").split()
        files = [str(file).replace("\\", "/") for file in dist.files or []]
        packages = {file.split("/")[0] for file in files if file.endswith("/__init__.py") and file.count("/") == 1}
        plain = self.name.replace("-", "_")
        usual = [name for name in [*top_level, *sorted(packages)] if name.lower() == plain]
        public = [name for name in sorted(packages) if not name.startswith("_") and name not in ("test", "tests", "docs")]
        return usual[:1] or public[:1] or [plain]

    def _called(self, device: dict[str, Any]) -> bool:
        """Whether a call on this device decides: some packages do without parts of theirs that do not fit."""
        return bool(list(importlib.import_module("rigup_probe_companion_calls").calls_of(self.name, device)))

    def _extensions(self, device: dict[str, Any]) -> dict[str, Any]:
        """Load each extension module.

        One that was built for another torch is wrong; one that lacks a library may be a part that nobody uses here,
        such as that for GPUs beside a torch for the processor, and is told as left out.
        """
        _framework_first()
        wrong: list[str] = []
        left: list[str] = []
        loaded = 0
        for module, path in list(self._parts())[:_MOST]:
            try:
                importlib.import_module(module) if module else ctypes.CDLL(path)
                loaded += 1
            except (ImportError, OSError) as why:  # noqa: PERF203  (each by itself)
                accused = _of_another_build(str(why)) and not self._called(device)
                (wrong if accused else left).append(os.path.basename(path) + ": " + str(why)[-300:])
        return {"wrong": wrong, "left": left, "loaded": loaded}

    def _parts(self) -> Iterator[tuple[str, str]]:
        """Extension modules with their paths, and libraries that torch is to load, without a module's name."""
        dist = metadata.distribution(self.name)
        for file in dist.files or []:
            name, path = str(file).replace("\\", "/"), str(dist.locate_file(file))
            if not name.endswith(_ENDS) or not os.path.isfile(path) or "/.libs/" in name or ".libs/" in name:
                continue
            plain = os.path.basename(name).split(".")[0]
            if _holds(path, b"PyInit_" + plain.encode()) and _for_this_python(name):
                yield name.split(".")[0].replace("/", "."), path
            elif plain.startswith("_") and any(_holds(path, word) for word in _LINKED):
                yield "", path


def _no_call(_device: dict[str, Any]) -> dict[str, Any]:
    raise Skip("no call of this package is known; it was imported")


def _first_of_torch(name: str) -> list[Any]:
    """Torch's first GPU; empty if the package has no GPU code or torch cannot be imported."""
    if name in _PLAIN or name not in CALLED:
        return []
    try:
        probe = importlib.import_module("rigup_probe_torch")
        return [device for device in probe.devices() if device["type"] in ("cuda", "xpu")][:1]
    except Exception:  # that is for the check of torch to tell
        return []


def _framework_first() -> None:
    """Import torch first: extensions that link with it find its libraries then."""
    with contextlib.suppress(ImportError):
        importlib.import_module("torch")


def _of_another_build(why: str) -> bool:
    """Whether the error is an undefined symbol: a build for another framework version."""
    return "undefined symbol" in why or "Symbol not found" in why or "specified procedure could not be found" in why


def _for_this_python(name: str) -> bool:
    ends = [suffix for suffix in importlib.machinery.EXTENSION_SUFFIXES if suffix not in _ENDS]
    return any(name.endswith(suffix) for suffix in ends) or (".cpython-" not in name and ".cp3" not in name)


def _holds(path: str, word: bytes) -> bool:
    if not os.path.getsize(path):
        return False
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as held:
        return held.find(word) >= 0
