"""Which card a rank takes, what talks between them, what arithmetic the card has."""

import ast
import re
from collections.abc import Iterator

from rigup.knowledge.abilities import lacking
from rigup.knowledge.gpu_words import gpu_in_words
from rigup.train.check.case import Case
from rigup.train.check.found import Found
from rigup.train.check.python.program import Site
from rigup.train.check.python.values import COUNT, GLOBAL, LOCAL, SPAWNED, Value
from rigup.train.check.rules import rule

_PLACES = (
    "to",
    "cuda",
    "device",
    "set_device",
    "load",
    "DistributedDataParallel",
    "DDP",
    "zeros",
    "ones",
    "tensor",
    "randn",
    "empty",
    "full",
    "Generator",
    "data_parallel",
    "FullyShardedDataParallel",
    "FSDP",
)
_OWN_PLACING = ("lightning", "accelerate", "deepspeed", "transformers")


def device_values(site: Site) -> Iterator[tuple[Value, int, str]]:
    """What a call takes for a device, with the line and how it is named."""
    if site.last not in _PLACES:
        return
    if site.last in ("to", "cuda", "set_device") and site.node.args:
        yield site.program.at(site.node.args[0], site.module), site.line, site.last
    if site.last == "device" and site.name == "torch.device" and site.node.args:
        at = 1 if len(site.node.args) > 1 else 0
        yield site.program.at(site.node.args[at], site.module), site.line, "index" if at else "device"
    for name in ("device", "map_location", "device_ids", "device_id", "output_device"):
        if (expression := site.expression(name)) is not None:
            value = site.program.at(expression, site.module)
            parts = value.items if value.items is not None and name == "device_ids" else (value,)
            yield from (
                (part, expression.lineno, "index" if name in ("device_ids", "device_id", "output_device") else "device") for part in parts
            )


def _is_first_card(value: Value, how: str) -> bool:
    """Card 0 by its number."""
    if how in ("index", "cuda", "set_device") and value.number == 0 and not isinstance(value.const, str) and value.known:
        return True
    return any(part.text == "cuda:0" for part in value.candidates())


@rule
def fixed_card(case: Case) -> Iterator[Found]:
    """hard-coded-device."""
    alone = not case.several_on_node  # a rank on each of several nodes has that card to itself
    if not case.several or case.is_foreign or case.family == "lightning" or case.on_cpu or _one_card_each(case):
        return
    if alone and case.ranks_per_node != 1:
        return
    fix = ('device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))', 'torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))')
    found = [
        (site.file, line)
        for site in case.program.sites
        for value, line, how in device_values(site)
        if _is_first_card(value, how) and not case.program.guard(site.node, site.module)
    ]
    if not found and not alone and case.family in ("ddp", "spawn", ""):
        found = list(_bare_cards(case))
    for file, line in found[:1]:
        yield Found(
            cause="hard-coded-device",
            severity="note" if alone else "error",
            file=file,
            line=line,
            fixes=fix,
            because=((case.batch, case.command_line()),) if case.batch else (),
        )


def _one_card_each(case: Case) -> bool:
    """Each task is shown one card, by Slurm or by a mask that depends on the rank."""
    if case.step is not None and case.step.per_task is not None and case.step_layer is not None and case.launcher is None:
        return True
    for name, value, _file, _line, inner in case.variable_settings():
        if name.endswith("_VISIBLE_DEVICES") and (inner or not re.fullmatch(r"[\d,]*", value)):
            return True
    for module in case.program.modules:
        for node in module.nodes:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
                target = node.targets[0]
                if (
                    str(case.program.at(target.slice, module).const).endswith("_VISIBLE_DEVICES")
                    and case.program.at(node.value, module).const is not None
                ):
                    mask = case.program.at(node.value, module)
                    if mask.ranked or not mask.known:
                        return True
    return False


def _bare_cards(case: Case) -> Iterator[tuple[str, int]]:
    """`.cuda()` and "cuda" in ranks of which none was given a card."""
    for site in case.program.sites:
        if site.last in ("set_device", "set_device_index", "device_id") or site.name in (
            "torch.cuda.device",
            "torch.accelerator.set_device_index",
        ):
            return
        if site.expression("device_id") is not None:
            return
    for site in case.program.sites:
        if case.program.guard(site.node, site.module):
            continue
        if site.name == ".cuda" and not site.node.args and not site.expression("device"):
            yield site.file, site.line
        else:
            for value, line, how in device_values(site):
                if (
                    how in ("to", "device", "index")
                    and any(part.text == "cuda" for part in value.candidates())
                    and not (site.last == "device" and len(site.node.args) > 1)
                ):
                    yield site.file, line


@rule
def global_rank(case: Case) -> Iterator[Found]:
    """global-rank-as-device."""
    if (case.nodes or 1) < 2 or case.job is None or case.family == "lightning" or (case.ranks_per_node or 2) < 2:
        return
    places = []
    for site in case.program.sites:
        for value, line, _how in device_values(site):
            instance = value.instance
            inner = (
                site.program.at(instance.call.args[1], instance.module)
                if instance is not None and instance.call is not None and instance.name == "torch.device" and len(instance.call.args) > 1
                else value
            )
            if any(GLOBAL in each.marks and not each.marks & {LOCAL, COUNT, SPAWNED} and not each.guard for each in (inner,)):
                places.append((site.file, line))
    for file, line in sorted(places, key=lambda place: (place[0] != case.script, place[1]))[:1]:
        yield Found(
            cause="global-rank-as-device",
            severity="error",
            file=file,
            line=line,
            because=((case.batch, case.command_line()),),
            fixes=('torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))', "torch.cuda.set_device(rank % torch.cuda.device_count())"),
        )


@rule
def backend(case: Case) -> Iterator[Found]:
    """backend-not-for-device."""
    if case.job is None or case.step is None:
        return
    places = [(site, site.argument("backend", 0), site.line) for site in case.initialisations if site.last == "init_process_group"]
    for trainer in case.lightning:
        strategy = trainer.value("strategy")
        instance = strategy.instance if strategy is not None else None
        if instance is not None and instance.call is not None:
            places += [
                (trainer.site, case.program.at(keyword.value, instance.module), keyword.value.lineno)
                for keyword in instance.call.keywords
                if keyword.arg == "process_group_backend"
            ]
    for site, value, line in places:
        if value is None or value.text is None:
            continue
        no_gpu = not case.job.asks_gpu and not case.step.asks_gpu
        if value.text == "nccl" and ((no_gpu and case.uses_cuda is None and case.on_gpu_partition is False) or case.on_cpu):
            yield Found(cause="backend-not-for-device", severity="error", file=site.file, line=line, fixes=(_with_backend(site, "gloo"),))
            return
        if value.text == "gloo" and _on_cards(case) and len(places) == 1:
            yield Found(cause="backend-not-for-device", severity="warning", file=site.file, line=line, fixes=(_with_backend(site, "nccl"),))


def _with_backend(site: Site, name: str) -> str:
    if site.last == "init_process_group":
        return f'dist.init_process_group("{name}")'
    return f'process_group_backend="{name}"'


def _on_cards(case: Case) -> bool:
    """The model is on cards for certain, and ranks exchange what is there."""
    if case.job is None or not case.job.asks_gpu or any(site.last == "new_group" for site in case.program.sites):
        return False
    if case.family == "lightning":
        return case.accelerated is not None
    return case.uses_cuda is not None and any(
        site.last in ("DistributedDataParallel", "DDP", "FullyShardedDataParallel", "FSDP", "fully_shard") for site in case.program.sites
    )


# -- arithmetic
@rule
def precision(case: Case) -> Iterator[Found]:
    """precision-not-on-device."""
    lacks = _lacks(case)
    if not lacks or case.on_cpu:
        return
    for kind, file, line, fix in _precisions(case):
        if kind == "float8" and "float8" in lacks:
            yield Found(cause="precision-not-on-device", severity="error", file=file, line=line, fixes=(fix,))
            return
        if kind == "bfloat16" and "bfloat16" in lacks:
            yield Found(cause="precision-not-on-device", severity="warning", file=file, line=line, fixes=(fix,))
            return


def _lacks(case: Case) -> set[str]:
    """What the job's GPU cannot do; nothing where it is not known."""
    found = gpu_in_words(case.gpu_model) if case.gpu_model else None
    if found is None or found[0].isa is None:
        return set()
    return {ability.id for ability in lacking(found[0].vendor, found[0].isa)}


def _precisions(case: Case) -> Iterator[tuple[str, str, int, str]]:
    """Each place where a precision is given: which, where, and what fits older cards."""
    layer = case.launcher
    option = layer.option("mixed-precision") if layer is not None else None
    if option is not None and layer is not None and (kind := _kind(option.value)):
        yield kind, layer.command.file, option.beside.line, "--mixed_precision=fp16"
    for trainer in case.lightning:
        value = trainer.value("precision")
        if value is not None and (kind := _kind(value.text)):
            yield (kind, *_place(value, trainer.site.file, trainer.line("precision"), case), 'precision="16-mixed"  # fp16')
    for arguments in case.huggingface:
        value = arguments.value("bf16")
        if value is not None and value.const is True:
            yield ("bfloat16", *_place(value, arguments.site.file, arguments.line("bf16"), case), "fp16=True")
    if case.parsed_huggingface is not None and (value := case.parsed_huggingface.get("bf16")) is not None and value.const is True:
        yield ("bfloat16", *_place(value, case.batch, case.command_line(), case), "--fp16")
    for site in case.program.sites:
        yield from _of_site(site, case)


def _kind(text: str | None) -> str:
    if text is None:
        return ""
    return (
        "bfloat16" if text.startswith("bf16") else "float8" if text in ("fp8", "transformer-engine", "transformer-engine-float16") else ""
    )


def _place(value: Value, file: str, line: int, case: Case) -> tuple[str, int]:
    """A value that a configuration or the command line gives is changed there."""
    if (
        value.place is not None
        and value.place.file != file
        and (value.place.file == case.batch or value.place.file.endswith((".yaml", ".yml", ".json")))
    ):
        return value.place.file, value.place.line
    return file, line


def _of_site(site: Site, case: Case) -> Iterator[tuple[str, str, int, str]]:
    if site.last == "Accelerator":
        value = site.argument("mixed_precision")
        if value is not None and (kind := _kind(value.text)):
            yield (kind, *_place(value, site.file, site.line_of("mixed_precision"), case), 'mixed_precision="fp16"')
    if site.last in ("fp8_autocast", "fp8_model_init") or (site.last == "autocast" and site.name.startswith("transformer_engine")):
        yield "float8", site.file, site.line, 'torch.autocast("cuda", dtype=torch.float16)'
    if site.last == "bfloat16" and site.name.startswith("."):
        yield "bfloat16", site.file, site.line, ".half()  # fp16"
        return
    if site.last not in (
        "autocast",
        "to",
        "from_pretrained",
        "MixedPrecision",
        "MixedPrecisionPolicy",
        "set_default_dtype",
        "PartialState",
    ):
        return
    for argument in [*site.node.args, *(keyword.value for keyword in site.node.keywords)]:
        named = site.program.evaluator.dotted(argument, site.module)
        if named == "torch.bfloat16" or (isinstance(argument, ast.Name) and _names_bfloat16(argument, site)):
            yield "bfloat16", site.file, argument.lineno, "dtype=torch.float16  # fp16, with a GradScaler"
            return


def _names_bfloat16(name: ast.Name, site: Site) -> bool:
    scope = site.module.scope(name)
    bindings = site.module.bindings.get(scope, {}).get(name.id) or site.module.bindings.get(site.module.tree, {}).get(name.id, [])
    return (
        len(bindings) == 1
        and bindings[0].value is not None
        and site.program.evaluator.dotted(bindings[0].value, site.module) == "torch.bfloat16"
    )
