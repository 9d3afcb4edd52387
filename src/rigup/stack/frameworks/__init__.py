"""What each framework offers: candidates, from the tables. A wish is led by one framework or several."""

import importlib
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from packaging.requirements import Requirement

from rigup.stack.candidate import Candidate
from rigup.stack.site import Site


class Lead(NamedTuple):
    """A framework that decides for those that hang on it."""

    name: str
    candidates: Callable[[Mapping[str, Requirement], Site], Iterable[Candidate]]


# Which names call for which framework's module; the first that is found leads.
_CALLED = {
    "vllm": ("vllm",),
    "torch": ("torch", "torchvision", "torchaudio", "torchcodec", "torch-directml", "flash-attn", "bitsandbytes", "comfyui",
              "xformers", "torchtext", "lightning", "pytorch-lightning"),
    "tensorflow": ("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "keras"),
    "jax": ("jax", "jaxlib", "flax"),
    "onnxruntime": ("onnxruntime", "onnxruntime-gpu", "onnxruntime-directml"),
    "llama_cpp": ("llama-cpp-python",),
}  # fmt: skip


def leads(asked: Mapping[str, Requirement]) -> list[Lead]:
    """The frameworks of a wish, in the order in which they decide; torch where none is named."""
    named = [module for module, names in _CALLED.items() if any(name in asked for name in names)]
    if "vllm" in named and "torch" in named:
        named.remove("torch")  # vllm's wheel decides which torch
    return [_lead(module) for module in named] or [_lead("torch")]


def stands_for(name: str) -> bool:
    """Whether a name is a wish's word for something that the tables spell out otherwise."""
    return name in ("tensorflow-gpu", "comfyui", "onnxruntime", "tensorflow-cpu")


def _lead(module: str) -> Lead:
    def candidates(asked: Mapping[str, Requirement], site: Site) -> Iterable[Candidate]:
        found: Iterable[Candidate] = importlib.import_module("rigup.stack.frameworks." + module).candidates(asked, site)
        return found

    return Lead(module, candidates)
