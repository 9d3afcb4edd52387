"""How much memory of a GPU a training needs, by `fit`'s estimate of a step, from what a script or a person names.

What nobody names stays unknown, and the estimate is then a lower bound: an allocation is never called too small for what
was only guessed.
"""

import ast
from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec

from rigup.fit.model import Model
from rigup.fit.training import KINDS, OPTIMIZERS, Wish, training_step
from rigup.train.check.frameworks import huggingface_arguments
from rigup.train.check.python.modules import modules_of
from rigup.train.check.python.program import Program, Site
from rigup.train.check.python.values import UNKNOWN_VALUE, Value

_MODELS = ("ForCausalLM", "LMHeadModel", "AutoModel")
_TRAINERS = ("SFTTrainer", "DPOTrainer", "GRPOTrainer", "ORPOTrainer")
_OPTIMIZERS = {
    "adamw_torch": "adamw",
    "adamw_torch_fused": "adamw",
    "adamw_hf": "adamw",
    "adamw_bnb_8bit": "adamw8bit",
    "adamw_8bit": "adamw8bit",
    "paged_adamw_8bit": "adamw8bit",
    "paged_adamw_32bit": "adamw",
    "lion_32bit": "lion",
}
_USUAL_SAMPLES = 8
"""per_device_train_batch_size of transformers, where a script gives none."""
_TYPES = {"bfloat16": "bf16", "float32": "fp32"}
_LEAST = "sgd"
_CONTEXTS = ("max_length", "max_seq_length")


class Described(NamedTuple):
    """A training as far as it is told; None for what is not, of which the least is taken.

    `sharded`: weights, gradients and states are spread over the GPUs.
    """

    model: str = ""
    kind: str | None = None
    optimizer: str | None = None
    precision: str | None = None
    samples: int | None = None
    context: int | None = None
    checkpointing: bool | None = None
    rank: int | None = None
    sharded: bool = False


class Needed(NamedTuple):
    """Bytes of each GPU, bytes that all GPUs share, and what was not told, so that both are the least."""

    each: int
    shared: int
    unknown: tuple[str, ...]


def described(text: str, name: str, read_sibling: Callable[[str], str | None]) -> Described:
    """What a script tells of its model and how it is trained. Raises UnreadableError where it is no Python."""
    program = Program(modules_of(name, text, read_sibling), lambda _name: UNKNOWN_VALUE, read_sibling)
    sites = list(program.sites)
    loaded = next((site for site in sites if _model(site)), None)
    found = _model(loaded) if loaded else ""
    adapters = next((site for site in sites if site.last == "LoraConfig"), None)
    four_bits = any(site.last == "BitsAndBytesConfig" and _is(site.argument("load_in_4bit"), True) for site in sites)
    kind = ("qlora" if four_bits else "lora") if adapters else "full" if found else None
    description = Described(
        found, kind, precision=_loaded_in(loaded), rank=_number(adapters.argument("r", 1)) or 8 if adapters else None, sharded=_wraps(sites)
    )
    arguments = next(huggingface_arguments(program), None)
    if arguments is None:
        return description
    own = {each: arguments.value(each) for each in _ARGUMENTS}
    return description._replace(
        optimizer=_optimizer(own["optim"]),
        precision=_trained_in(description.precision, own),
        samples=_number(own["per_device_train_batch_size"], _USUAL_SAMPLES),
        context=next((count for each in _CONTEXTS if (count := _number(own[each]))), None),
        checkpointing=_flag(own["gradient_checkpointing"]),
        sharded=description.sharded or own["fsdp"] is not None or own["deepspeed"] is not None,
    )


_ARGUMENTS = ("optim", "bf16", "fp16", "per_device_train_batch_size", "gradient_checkpointing", "fsdp", "deepspeed", *_CONTEXTS)


def needed(model: Model, description: Described) -> Needed:
    """What a step takes. Raises FitError where the model's activations are not known."""
    unknown = tuple(
        name for name in ("kind", "optimizer", "precision", "samples", "context", "checkpointing") if getattr(description, name) is None
    )
    wish = Wish(
        kind=description.kind or KINDS[-1],
        optimizer=description.optimizer or _LEAST,
        precision=description.precision or "bf16",
        samples=description.samples or 1,
        context=description.context or 1,
        kept=description.checkpointing is False,
        rank=description.rank or 1,
        sharding="none",
    )
    if wish.kind == "qlora" and description.checkpointing is None:
        wish = msgspec.structs.replace(wish, kept=False)
    step = training_step(model, wish)
    spread = step.parameters + step.gradients + step.optimizer if description.sharded else 0
    return Needed(step.total - spread, spread, unknown)


def _model(site: Site) -> str:
    """The model that a call loads; empty where it loads none, or its name is not told."""
    owner = site.name.rpartition(".")[0]
    if site.last == "from_pretrained" and any(word in owner for word in _MODELS):
        value = site.argument("pretrained_model_name_or_path", 0)
    elif site.last in _TRAINERS:
        value = site.argument("model", 0)
    else:
        return ""
    return (value.text or "") if value is not None else ""


def _wraps(sites: list[Site]) -> bool:
    return any(site.last in ("FullyShardedDataParallel", "FSDP", "fully_shard") or site.name == "deepspeed.initialize" for site in sites)


def _is(value: Value | None, wanted: bool) -> bool:
    return value is not None and value.const is wanted


def _number(value: Value | None, usual: int | None = None) -> int | None:
    return usual if value is None else value.number


def _flag(value: Value | None) -> bool | None:
    """Off where it is not given; None where it is given and not known."""
    if value is None:
        return False
    return value.const if isinstance(value.const, bool) else None


def _optimizer(value: Value | None) -> str | None:
    if value is None:
        return "adamw"
    word = _OPTIMIZERS.get(value.text or "", value.text or "")
    return word if word in OPTIMIZERS else None


def _loaded_in(site: Site | None) -> str | None:
    """The type of the weights as they are loaded; None where no word tells it, for that differs between releases."""
    words = [ast.unparse(expression) for name in ("dtype", "torch_dtype") if site and (expression := site.expression(name))]
    return next((kind for word in words for ending, kind in _TYPES.items() if word.strip("'\"").endswith(ending)), None)


def _trained_in(loaded: str | None, own: Mapping[str, Value | None]) -> str | None:
    """Mixed where operations of weights in single precision are cast."""
    return "mixed" if loaded == "fp32" and (_is(own["bf16"], True) or _is(own["fp16"], True)) else loaded
