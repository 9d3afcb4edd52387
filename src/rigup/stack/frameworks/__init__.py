"""What each framework offers: candidates, from the tables. A wish is led by one framework or several."""

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec
from packaging.requirements import Requirement

from rigup.knowledge import tables
from rigup.knowledge.dependents import dependents
from rigup.knowledge.meant import programs
from rigup.knowledge.wheels import families
from rigup.stack.candidate import Candidate
from rigup.stack.frameworks import listed
from rigup.stack.frameworks.addons import Addon
from rigup.stack.programs import is_library, pythons_of
from rigup.stack.site import Site


class Lead(NamedTuple):
    """A framework that decides for those that hang on it."""

    name: str
    candidates: Callable[[Mapping[str, Requirement], Site], Iterable[Candidate]]


# Which names call for which framework's module; the first that is found leads.
_CALLED = {
    "vllm": ("vllm",),
    "sglang": ("sglang",),
    "torch": ("torch", "torchvision", "torchaudio", "torchcodec", "torch-directml"),
    "tensorflow": ("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "keras"),
    "jax": ("jax", "jaxlib"),
    "onnxruntime": ("onnxruntime", "onnxruntime-gpu", "onnxruntime-directml"),
    "llama_cpp": ("llama-cpp-python",),
}
_BRING_TORCH = ("vllm", "sglang")  # their wheels decide which torch

# Where builds come from besides the framework's own wheels.
_BESIDE = {"conda": "conda", "docker": "images", "apptainer": "images"}


def leads(wishes: Mapping[str, Requirement], manager: str = "venv") -> list[Lead]:
    """The frameworks of a wish, in the order in which they decide; one that knows nothing where none is named.

    In a conda environment there are conda-forge's builds beside the wheels, for an image those of the vendors.
    """
    named = called(wishes)
    if "torch" in named and any(name in named for name in _BRING_TORCH):
        named.remove("torch")
    alone = manager if len(named) < 2 or manager == "conda" else "venv"  # two frameworks have no image in common
    return [_lead(module, alone) for module in named or ["unknown"]]


def called(names: Iterable[str]) -> list[str]:
    """The frameworks that names call for. Raises KnowledgeError for a malformed table."""
    present = set(names)
    return [module for module, words in _words().items() if present.intersection(words)]


@tables.remembered
def _words() -> dict[str, tuple[str, ...]]:
    """Names by framework: its own, those of what stands on it, and those of its family of wheels."""
    by_module = {module: [*words] for module, words in _CALLED.items()}
    for family in families():
        by_module.setdefault(family.name, []).extend((*family.called, *family.on, *family.ended))
    for program in programs().values():
        if module := "torch" if program.needs else next((name for name in _CALLED if program.package in _CALLED[name]), ""):
            by_module[module].append(program.name)
    for module in _CALLED:
        taken = {word for words in by_module.values() for word in words}
        by_module[module] += [word for word in (*dependents(module), *_addons(module)) if word not in taken]
    return {module: tuple(words) for module, words in by_module.items()}


def _addons(module: str) -> tuple[str, ...]:
    return tuple(row.package for row in tables.rows("torch_addons", "addon", Addon)) if module == "torch" else ()


def known_names() -> frozenset[str]:
    """Every name that a wish may call a framework by. Raises KnowledgeError for a malformed table."""
    return frozenset((*(word for words in _words().values() for word in words), *programs()))


def frameworks_in(installed: Mapping[str, str]) -> dict[str, str]:
    """The frameworks among installed packages, each by the name that it is asked by, with its version."""
    versions = {names[0]: installed[names[0]] for names in _CALLED.values() if names[0] in installed}
    bringing = [name for name in _BRING_TORCH if name in versions]
    return {name: version for name, version in versions.items() if name != "torch" or not bringing}


def stands_for(name: str, requirement: Requirement) -> bool:
    """Whether a name is a wish's word for something that the tables spell out otherwise."""
    program = programs().get(name)
    return (
        name in ("tensorflow-gpu", "tensorflow-cpu")
        or any(name == row.plain for row in families())
        or (program is not None and program.package != name and not is_library(program, requirement))
    )


def _lead(module: str, manager: str) -> Lead:
    def candidates(wishes: Mapping[str, Requirement], site: Site) -> Iterable[Candidate]:
        pythons = pythons_of(wishes)
        return _on(every(wishes, site), pythons) if pythons else every(wishes, site)

    def every(wishes: Mapping[str, Requirement], site: Site) -> Iterable[Candidate]:
        family = listed.named(module)
        if _has_module(module) and not (family and any(name in (*family.called, *family.ended) for name in wishes)):
            yield from importlib.import_module("rigup.stack.frameworks." + module).candidates(wishes, site)
        if family:
            yield from listed.candidates(module, wishes, site)
        if manager in _BESIDE:
            companion = importlib.import_module("rigup.stack.frameworks." + _BESIDE[manager])
            yield from companion.candidates(module, _words().get(module, ()), wishes, site)

    return Lead(module, candidates)


def _on(builds: Iterable[Candidate], pythons: tuple[str, ...]) -> Iterator[Candidate]:
    """Builds on the Pythons on which a program runs that stands on them; those that have none of these are left out."""
    for build in builds:
        if shared := tuple(python for python in build.python or pythons if python in pythons):
            yield msgspec.structs.replace(build, python=shared)


def _has_module(name: str) -> bool:
    """Whether a framework has a table of its own; others are wheels alone."""
    return name == "unknown" or (name in _CALLED and name != "sglang")
