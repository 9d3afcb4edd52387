"""The answers of `--json` as types, from which their JSON Schemas are made. Nothing of rigup is imported here.

A key that may be left out, because nobody knows its value, is typed `| UnsetType`; a value that may be known to be absent
`| None`. Keys may come with later releases: a schema forbids none.
"""

import importlib
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

_DRAFT = "https://json-schema.org/draft/2020-12/schema"


class Form(NamedTuple):
    """An answer: what it is in a sentence, its module, the types of which it is one, and types that its schema refers to."""

    title: str
    module: str
    types: tuple[str, ...]
    beside: tuple[str, ...] = ()


ANSWERS = {
    "doctor": Form("What a machine is, and what is wrong with it.", "doctor", ("Doctor",)),
    "doctor.hosts": Form("The same of several machines, by name.", "doctor", ("Hosts",), ("Doctor", "NotAsked")),
    "diff": Form("What differs between two machines, or two states of one.", "diff", ("Diff",)),
    "plan": Form("What should be there, and the steps that lead to it.", "plan", ("Plan", "NotUnderstood")),
    "fix": Form("The steps that mend a finding, or what became of them.", "fix", ("Mending", "NothingMended", "FixDryRun", "FixEnded")),
    "apply": Form("What became of a plan.", "apply", ("ApplyNothing", "ApplyBlocked", "ApplyDryRun", "ApplyEnded")),
    "undo": Form("What was taken back, or would be.", "undo", ("UndoDryRun", "Undone")),
    "history": Form("What apply and fix have done here.", "history", ("Runs", "OneRun")),
    "verify": Form("What an environment was proven to compute, on every device.", "verify", ("Verify",)),
    "env": Form(
        "Environments, one of them, its history, or what was left beside them.",
        "env",
        ("EnvironmentList", "EnvironmentShown", "EnvironmentHistory", "Leftovers"),
    ),
    "run": Form("What would be set for a program, and why.", "run", ("Run",)),
    "container": Form("The command that starts a container, and why each part is in it.", "container", ("Container",)),
    "container-lint": Form("What is wrong with files that describe containers.", "container", ("ContainerLint",)),
    "lab": Form("Where Jupyter Lab serves, or how it would be started.", "lab", ("Lab",)),
    "lab-kernels": Form("Kernels of notebooks, and what is wrong with them.", "lab", ("LabKernels",)),
    "launch": Form("A job on one node or many: what it asks for, and what became of it.", "launch", ("Launch",)),
    "launch-list": Form("Jobs that were launched from a folder.", "launch", ("LaunchList",)),
    "train-check": Form("What would go wrong with a training script under its batch script.", "train_check", ("TrainCheck",)),
    "advise": Form("Which allocation of a cluster ends a piece of work soonest.", "advise", ("Advise",)),
    "cluster-report": Form("What was asked for on a cluster and not used, and how long jobs waited.", "cluster_report", ("ClusterReport",)),
    "cluster": Form("What of a cluster stands idle, who may use it, and what waits.", "cluster", ("Cluster",)),
    "train-port": Form("What turns a script for one CUDA card into one for any device, and for many.", "train_port", ("TrainPort",)),
    "train-new": Form("A training project that was made.", "train_project", ("TrainNew",)),
    "lock": Form("What was locked, and where it was written.", "lock", ("Lock",)),
    "bundle": Form("What was packed for machines without a network.", "bundle", ("Bundle",)),
    "watch": Form("One sample of every GPU, of the processes on them and of the host.", "watch", ("Watch",)),
    "watch-cluster": Form("What the exporters of several nodes tell.", "watch_cluster", ("WatchCluster",)),
    "watch-report": Form("What a recording of GPUs says of each GPU, process and job.", "watch_report", ("WatchReport",)),
    "bench": Form("How fast each device is.", "bench", ("Bench",)),
    "bench-list": Form("What there is to compare a measurement with.", "bench", ("BenchList",)),
    "fit": Form("Whether a model fits, in which memories, and how fast it is.", "fit", ("Fit",)),
    "fit-train": Form("What a training step takes on each device.", "fit_more", ("FitTrain",)),
    "fit-images": Form("What a model that makes pictures takes.", "fit_more", ("FitImages",)),
    "fit-list": Form("Well-known models that fit a machine.", "fit", ("FitList",)),
    "chat": Form("One answer of a language model, with what it took.", "chat", ("Chat",)),
    "chat-parameters": Form("What can be set of an answer.", "chat", ("ChatParameters",)),
    "ollama-doctor": Form("What ollama runs with, and what keeps it from the GPU.", "ollama", ("OllamaDoctor",)),
    "ollama-configure": Form(
        "What ollama's service is given, or what became of it.", "ollama", ("OllamaSettings", "ConfigureDryRun", "ConfigureEnded")
    ),
    "pull": Form("What became of a model that was to be loaded.", "pull", ("Pull",)),
    "serve": Form("Where models are served, and by what.", "serve", ("Serve",)),
    "models": Form("Language models that lie on this machine.", "models", ("Models",)),
    "models-checked": Form("Whether models on disk are what their checksums say.", "models", ("ModelsChecked",)),
    "models-removed": Form("What went with a model, or would go.", "models", ("ModelRemoved",)),
    "capture": Form("What went into an archive, and what was taken out.", "capture", ("Capture",)),
    "explain": Form("What a cause means, or which causes a message may mean.", "explain", ("Explain",)),
    "knowledge": Form("Tables of what is known, or rows of them.", "knowledge", ("Tables", "Found")),
}
"""By the name of the schema: `rigup.NAME/1`."""


def types_of(name: str) -> list[type[msgspec.Struct]]:
    """The types of which an answer is one. Raises KeyError for a name that there is not."""
    return _types(ANSWERS[name].module, ANSWERS[name].types)


def _types(module: str, names: tuple[str, ...]) -> list[type[msgspec.Struct]]:
    held = importlib.import_module("rigup.schemas." + module)
    return [getattr(held, name) for name in names]


def json_schema(name: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of an answer. Raises KeyError for a name that there is not."""
    form, types = ANSWERS[name], types_of(name)
    every = [*types, *_types(form.module, form.beside)]
    references, parts = msgspec.json.schema_components(every, ref_template="#/$defs/{name}")
    for kind in structs_in(every):
        _describe(parts[kind.__name__], kind)
    refs = list(references)[: len(types)]
    head = {"$schema": _DRAFT, "$id": f"rigup.{name}/1", "title": f"rigup.{name}/1", "description": form.title}
    return {**head, **(refs[0] if len(refs) == 1 else {"anyOf": refs}), "$defs": parts}


def structs_in(types: Iterable[Any], seen: set[Any] | None = None) -> Iterator[type[msgspec.Struct]]:
    """The Structs that types are made of, each once."""
    seen = set() if seen is None else seen
    for kind in types:
        if kind in seen:
            continue
        seen.add(kind)
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            yield kind
            yield from structs_in([field.type for field in msgspec.structs.fields(kind)], seen)
        else:
            yield from structs_in(getattr(kind, "__args__", ()), seen)


def _describe(part: dict[str, Any], kind: type[msgspec.Struct]) -> None:
    """Give each property what the docstring says of the attribute, and the object the rest."""
    part.pop("description", None)
    if description := (kind.__doc__ or "").partition("Attributes:")[0]:
        part["description"] = " ".join(description.split())
    descriptions = attributes(kind)
    for field in msgspec.structs.fields(kind):
        if field.name in descriptions:
            part["properties"][field.encode_name]["description"] = descriptions[field.name]


def attributes(kind: type[msgspec.Struct]) -> dict[str, str]:
    """What the docstrings of a Struct and of those that it extends say of each attribute, in the words of JSON."""
    descriptions: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        for line in (base.__doc__ or "").partition("Attributes:")[2].splitlines():
            name, colon, text = line.strip().partition(": ")
            if colon:
                descriptions[name] = re.sub(r"\bNone\b", "null", text)
    return descriptions
