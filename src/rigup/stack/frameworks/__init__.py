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

# Where builds come from besides the framework's own wheels.
_BESIDE = {"conda": "conda", "docker": "images", "apptainer": "images"}


def leads(asked: Mapping[str, Requirement], manager: str = "venv") -> list[Lead]:
    """The frameworks of a wish, in the order in which they decide; torch where none is named.

    In a conda environment there are conda-forge's builds beside the wheels, for an image those of the vendors.
    """
    named = called(asked)
    if "vllm" in named and "torch" in named:
        named.remove("torch")  # vllm's wheel decides which torch
    alone = manager if len(named) < 2 or manager == "conda" else "venv"  # two frameworks have no image in common
    return [_lead(module, alone) for module in named or ["torch"]]


def called(names: Iterable[str]) -> list[str]:
    """Modules of the frameworks that names call for."""
    there = set(names)
    return [module for module, words in _CALLED.items() if there.intersection(words)]


def frameworks_in(installed: Mapping[str, str]) -> dict[str, str]:
    """The frameworks among installed packages, each by the name that it is asked by, with its version."""
    found = {names[0]: installed[names[0]] for names in _CALLED.values() if names[0] in installed}
    return {"vllm": found["vllm"]} if "vllm" in found else found  # its wheel decides which torch


def stands_for(name: str) -> bool:
    """Whether a name is a wish's word for something that the tables spell out otherwise."""
    return name in ("tensorflow-gpu", "comfyui", "onnxruntime", "tensorflow-cpu")


def _lead(module: str, manager: str) -> Lead:
    def candidates(asked: Mapping[str, Requirement], site: Site) -> Iterable[Candidate]:
        yield from importlib.import_module("rigup.stack.frameworks." + module).candidates(asked, site)
        if manager in _BESIDE:
            beside = importlib.import_module("rigup.stack.frameworks." + _BESIDE[manager])
            yield from beside.candidates(module, _CALLED[module], asked, site)

    return Lead(module, candidates)
