"""Which library of training a program uses, and what it is told: devices, nodes, precision, strategy."""

import re
from collections.abc import Iterator, Mapping

import msgspec

from rigup.train.check.python.files import file_value
from rigup.train.check.python.program import Program, Site
from rigup.train.check.python.values import UNKNOWN_VALUE, Value

LIGHTNING = ("lightning", "pytorch_lightning", "lightning_fabric")
_RPC = ("init_rpc", "rpc_sync", "rpc_async")
_OTHERS = ("ray", "vllm", "jax", "tensorflow", "dask", "submitit", "flax", "paddle", "mxnet", "sglang")
_TRAINER_METHODS = ("from_argparse_args",)
ALL = -1
"""As many devices as there are."""


class TrainerCall(msgspec.Struct, frozen=True, kw_only=True):
    """What a trainer is told, and the call that tells it."""

    site: Site
    kind: str
    settings: Mapping[str, Value] = {}

    def value(self, *names: str) -> Value | None:
        """The first of these settings; None where none is given."""
        for name in names:
            if name in self.settings:
                return self.settings[name]
            if self.kind != "cli" and (found := self.site.argument(name)) is not None:
                return found
        return None

    def line(self, *names: str) -> int:
        """The line of the first of these arguments; else of the call."""
        for name in names:
            if (expression := self.site.expression(name)) is not None:
                return expression.lineno
        return self.site.line


def trainers(program: Program) -> Iterator[TrainerCall]:
    """Lightning's Trainer and Fabric, however they are made."""
    for site in program.sites:
        root = site.name.split(".")[0]
        if root in LIGHTNING and site.last in ("Trainer", "Fabric"):
            yield TrainerCall(site=site, kind="fabric" if site.last == "Fabric" else "trainer")
        elif root in LIGHTNING and site.last in _TRAINER_METHODS:
            yield TrainerCall(site=site, kind="trainer", settings=_of_command_line(program, ""))
        elif root in LIGHTNING and site.last == "LightningCLI":
            yield TrainerCall(site=site, kind="cli", settings=_of_cli(program, site))
        elif site.last == "instantiate" and root == "hydra":
            yield from _instantiated(site)


def _of_command_line(program: Program, prefix: str) -> dict[str, Value]:
    named = program.evaluator.given.named
    return {name.removeprefix(prefix): value for name, value in named.items() if name.startswith(prefix)}


def _of_cli(program: Program, site: Site) -> dict[str, Value]:
    """LightningCLI: defaults, then the file behind --config, then the command line."""
    settings: dict[str, Value] = {}
    defaults = site.argument("trainer_defaults")
    settings |= dict(defaults.fields or {}) if defaults is not None else {}
    named = program.evaluator.given.named
    config = named.get("config", named.get("c"))
    held = file_value(config.text.removeprefix("./"), program.read) if config is not None and config.text else None
    trainer = (held.fields or {}).get("trainer") if held is not None else None
    settings |= dict(trainer.fields or {}) if trainer is not None else {}
    settings |= _of_command_line(program, "trainer.")
    if config is not None and held is None:
        settings = {
            name: settings.get(name, UNKNOWN_VALUE)
            for name in {
                *settings,
                "devices",
                "num_nodes",
                "accelerator",
                "strategy",
                "precision",
                "enable_checkpointing",
                "use_distributed_sampler",
            }
        }
    return {name: _plain(value) for name, value in settings.items()}


def _plain(value: Value) -> Value:
    text = value.text
    if text is None:
        return value
    if re.fullmatch(r"-?\d+", text):
        return msgspec.structs.replace(value, const=int(text))
    return msgspec.structs.replace(value, const={"true": True, "false": False, "null": None}.get(text.lower(), text))


def _instantiated(site: Site) -> Iterator[TrainerCall]:
    """hydra's `instantiate(cfg.trainer)` of a `_target_`."""
    value = site.argument("config", 0)
    target = (value.fields or {}).get("_target_") if value is not None else None
    if (
        value is not None
        and target is not None
        and target.text
        and target.text.split(".")[0] in LIGHTNING
        and target.text.endswith("Trainer")
    ):
        yield TrainerCall(site=site, kind="trainer", settings=dict(value.fields or {}))


def device_count(value: Value | None) -> int | None:
    """How many devices `devices=` means: `ALL`, a number, or None where that is not known."""
    if value is None or value.is_none():
        return ALL
    if value.items is not None:
        return len(value.items)
    if value.text is not None:
        text = value.text.strip()
        if text in ("auto", "-1"):
            return ALL
        return len(re.findall(r"\d+", text)) if "," in text else int(text) if text.isdigit() else None
    if isinstance(value.const, bool):
        return None
    return value.number


def huggingface_arguments(program: Program) -> Iterator[TrainerCall]:
    """TrainingArguments and its kin, as the script makes them or as a parser fills them."""
    for site in program.sites:
        if re.search(
            r"(?:TrainingArguments|SFTConfig|DPOConfig|GRPOConfig|RewardConfig|ORPOConfig)$", site.last
        ) and not site.name.startswith("local:"):
            yield TrainerCall(site=site, kind="arguments")


def parsed_arguments(program: Program) -> Mapping[str, Value] | None:
    """What the command line gives HfArgumentParser; None where there is no such parser."""
    parsers = [site for site in program.sites if site.last in ("HfArgumentParser", "TrlParser")]
    if not parsers:
        return None
    named = program.evaluator.given.named
    first = program.evaluator.given.positional[:1]
    if first and first[0].text and first[0].text.endswith((".json", ".yaml", ".yml")):
        held = file_value(first[0].text.removeprefix("./"), program.read)
        return dict(held.fields or {}) if held is not None else None
    return {name: _plain(value) if value.text is not None else value for name, value in named.items()}


def places_work(program: Program) -> bool:
    """Whether another library starts and places the work itself."""
    return program.imports(*_OTHERS) or any(site.last in _RPC for site in program.sites)
