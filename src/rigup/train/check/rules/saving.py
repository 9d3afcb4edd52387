"""What is written and by whom, and calls in which all ranks must take part."""

import ast
import re
from collections.abc import Iterator

from rigup.train.check.case import Case
from rigup.train.check.found import Found
from rigup.train.check.pinned import behaves
from rigup.train.check.python.guards import ONE, OTHERS
from rigup.train.check.python.program import Site
from rigup.train.check.python.values import RANDOM
from rigup.train.check.rules import rule

_COLLECTIVES = frozenset(
    (
        "barrier",
        "monitored_barrier",
        "all_reduce",
        "all_gather",
        "all_gather_into_tensor",
        "all_gather_object",
        "gather",
        "gather_object",
        "broadcast",
        "broadcast_object_list",
        "reduce",
        "reduce_scatter",
        "reduce_scatter_tensor",
        "all_to_all",
        "all_to_all_single",
        "scatter",
        "scatter_object_list",
        "all_reduce_coalesced",
    )
)
_OF_OBJECTS = frozenset(
    (
        "wait_for_everyone",
        "gather_for_metrics",
        "gather",
        "reduce",
        "pad_across_processes",
        "barrier",
        "all_gather",
        "all_reduce",
        "broadcast",
    )
)
_SHARDED = frozenset(
    (
        "get_model_state_dict",
        "get_optimizer_state_dict",
        "get_state_dict",
        "optim_state_dict",
        "full_optim_state_dict",
        "sharded_optim_state_dict",
        "save_16bit_model",
        "save_fp16_model",
        "full_tensor",
        "_zero3_consolidated_16bit_state_dict",
        "summon_full_params",
        "clip_grad_norm_",
    )
)
_SAVES = re.compile(
    r"save(?!r|_image|fig|_figure|_plot|_sample|_config|_args|_hyper|txt)|checkpoint(?!ing|_exists|_path)|ckpt|snapshot|persist|dump_state|store_state",
    re.IGNORECASE,
)
_NO_SAVES = re.compile(
    r"image|fig|plot|sample|load|restore|resume|get_|find|latest|last_|exists|enable|checkpoint_sequential|^checkpoint$|Callback|ModelCheckpoint|hparams|save_hyperparameters"
)
_LONG = 240  # minutes
_WRITERS = ("torch.save", ".save_pretrained", "numpy.save", "numpy.savez", "pickle.dump", "joblib.dump", ".to_csv", ".to_parquet")


def _wraps_shards(case: Case) -> bool:
    return (
        any(
            site.last in ("FullyShardedDataParallel", "FSDP", "fully_shard") or site.name.startswith("deepspeed.")
            for site in case.program.sites
        )
        or case.family == "deepspeed"
    )


@rule
def on_one_rank(case: Case) -> Iterator[Found]:
    """rank-zero-collective-deadlock, and sharded-checkpoint-on-one-rank where shards are gathered."""
    if not case.several and case.family in ("", "transformers"):
        return
    if case.job is not None and not case.several:
        return
    sharded = False
    for site in case.program.sites:
        guard = case.program.guard(site.node, site.module)
        if guard not in (ONE, OTHERS) or site.name.startswith("local:"):
            continue
        if _gathers_shards(site, case):
            sharded = True
            yield _found("sharded-checkpoint-on-one-rank", site)
        elif not sharded and _is_collective(site, case) and not _met(site, guard, case):
            yield _found("rank-zero-collective-deadlock", site)


def _found(cause: str, site: Site) -> Found:
    text = site.module.lines[site.line - 1].strip()
    call = ast.unparse(site.node)[:300]
    return Found(cause=cause, severity="error", file=site.file, line=site.line, fixes=(text, call))


def _is_collective(site: Site, case: Case) -> bool:  # noqa: PLR0911
    if site.expression("group") is not None:
        return False
    if site.name.startswith(("torch.distributed.", "deepspeed.comm.")) and site.last in _COLLECTIVES:
        return True
    receiver = site.receiver.instance.name if site.receiver.instance is not None and site.name.startswith(".") else ""
    kind = receiver.rsplit(".", 1)[-1]
    name = getattr(getattr(site.node.func, "value", None), "id", "")
    if kind in ("Accelerator", "PartialState", "Fabric") or (not receiver and name in ("accelerator", "fabric")):
        return site.last in _OF_OBJECTS or (site.last == "save_state" and _wraps_shards(case))
    if case.family == "lightning":
        owner = ast.unparse(site.node.func.value) if isinstance(site.node.func, ast.Attribute) else ""
        if site.last == "save_checkpoint" and (kind == "Trainer" or owner.endswith("trainer")):
            return behaves("trainer-save-checkpoint-waits", case.pins())
        if site.last in ("all_gather", "barrier") and owner.rsplit(".", 1)[-1] in ("self", "trainer", "strategy", "pl_module"):
            return True
        sync = site.argument("sync_dist") if site.last in ("log", "log_dict") else None
        return sync is not None and sync.const is True and owner in ("self", "pl_module")
    return False


def _met(site: Site, guard: str, case: Case) -> bool:
    """The ranks that do not come here come to a call of the same kind elsewhere: both sides of one condition, or two waits."""
    opposite = OTHERS if guard == ONE else ONE
    return any(
        each.last == site.last and each.node is not site.node and case.program.guard(each.node, each.module) == opposite
        for each in case.program.sites
    )


def _gathers_shards(site: Site, case: Case) -> bool:
    if site.last in _SHARDED and site.last != "clip_grad_norm_":
        if site.last == "get_state_dict" and not site.name.startswith("torch."):
            return "accelerator" in ast.unparse(site.node.func).lower() or case.family == "accelerate"
        return True
    if site.last == "save_checkpoint":
        return case.family == "deepspeed"
    if site.name.startswith("torch.distributed.checkpoint.") and site.last in ("save", "async_save", "save_state_dict"):
        return True
    if site.last != "state_dict" or not _wraps_shards(case):
        return False
    instance = site.receiver.instance
    inside = any(
        isinstance(parent, ast.With) and any("state_dict_type" in ast.unparse(item.context_expr) for item in parent.items)
        for parent, _child in site.module.ancestors(site.node)
    )
    wrapped = instance is not None and instance.name.rsplit(".", 1)[-1] in ("FullyShardedDataParallel", "FSDP")
    return inside or wrapped


@rule
def everyone_writes(case: Case) -> Iterator[Found]:
    """every-rank-writes-same-file: the first of the writes, weights before others."""
    if not case.several or case.family in ("lightning", "transformers", "deepspeed") or (case.launch is None and case.batch):
        return
    found = [site for site in case.program.sites if _writes(site, case)]
    if case.program.evaluator.spent:  # a path that was not followed to its end may hold the rank
        return
    found.sort(key=lambda site: (site.name not in _WRITERS, site.line))
    for site in found[:1]:
        indented = site.module.lines[site.line - 1].strip()
        yield Found(
            cause="every-rank-writes-same-file",
            severity="warning",
            file=site.file,
            line=site.line,
            fixes=(f"if dist.get_rank() == 0: {indented}",),
        )


def _writes(site: Site, case: Case) -> bool:
    path = _written(site, case)
    if path is None or case.program.guard(site.node, site.module):
        return False
    value = case.program.at(path, site.module) if path is not site.node else None
    if value is not None and (value.ranked or RANDOM in value.marks or value.marks & {"node-rank"}):
        return False
    return not _by_rank_somewhere(site) and not _one_after_another(site, case)


def _one_after_another(site: Site, case: Case) -> bool:
    """Between two waits, one for the others in front and one for the main rank behind: rank 0 comes first, the others find it done."""
    before = after = False
    for each in case.program.sites:
        if each.last == "barrier" and each.function is site.function and each.module is site.module:
            guard = case.program.guard(each.node, each.module)
            before = before or (guard == OTHERS and each.line < site.line)
            after = after or (guard == ONE and each.line > site.line)
    return before and after


def _by_rank_somewhere(site: Site) -> bool:
    """The words around a path name a rank, also where it could not be followed."""
    text = ast.unparse(site.node)
    return re.search(r"rank|proc_?id|process_index|getpid|uuid", text, re.IGNORECASE) is not None


def _written(site: Site, case: Case) -> ast.expr | None:  # noqa: PLR0911
    """The path that a call writes to; the call itself where it makes one by itself; None where nothing is written."""
    if site.name == "torch.save":
        target = site.expression("f", 1)
        instance = case.program.at(target, site.module).instance if target is not None else None
        return None if instance is not None and instance.name.endswith("BytesIO") else target
    if site.name == ".save_pretrained":
        if site.expression("is_main_process") is not None or site.expression("save_function") is not None:
            return None
        return site.expression("save_directory", 0)
    if site.name in ("numpy.save", "numpy.savez"):
        return site.expression("file", 0)
    if site.name in (".to_csv", ".to_parquet"):
        return site.expression("path_or_buf", 0)
    if site.name == "open" or (site.last == "open" and site.name == ".open"):
        mode = site.argument("mode", 1 if site.name == "open" else 0)
        writes = mode is not None and mode.text is not None and mode.text[:1] in ("w", "a", "x")
        return (site.expression("file", 0) if site.name == "open" else getattr(site.node.func, "value", None)) if writes else None
    if site.last == "SummaryWriter":
        return site.expression("log_dir", 0) or site.node
    if site.name == "wandb.init":
        return None if site.expression("group") is not None or site.expression("mode") is not None else site.node
    download = site.argument("download")
    if download is not None and download.const is True and site.name.startswith("torchvision.datasets"):
        return site.expression("root", 0) or site.node
    return None


# -- checkpoints
@rule
def no_checkpoint(case: Case) -> Iterator[Found]:
    """no-checkpoint-before-time-limit."""
    limit = case.job.limit if case.job is not None else None
    asked = case.job.options.get("time") if case.job is not None else None
    if limit is None or asked is None or limit < _LONG or limit == float("inf"):
        return
    if case.family == "lightning":
        yield from _switched_off(case)
        return
    if case.huggingface or case.parsed_huggingface is not None:
        yield from _strategy(case)
        return
    if _trains_here(case) and not _saves_within(case):
        yield Found(
            cause="no-checkpoint-before-time-limit",
            severity="warning",
            file=case.batch,
            line=asked.line,
            fixes=('torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, "last.pt")',),
            because=_last_save(case),
        )


def _switched_off(case: Case) -> Iterator[Found]:
    for trainer in case.lightning:
        for name in ("enable_checkpointing", "checkpoint_callback"):
            value = trainer.value(name)
            if value is not None and value.const is False and trainer.kind != "fabric" and not _saves_within(case):
                yield Found(
                    cause="no-checkpoint-before-time-limit",
                    severity="warning",
                    file=trainer.site.file,
                    line=trainer.line(name),
                    fixes=(f"{name}=True",),
                )
                return


def _strategy(case: Case) -> Iterator[Found]:
    if any(site.last == "save_checkpoint" or "Callback" in site.last for site in case.program.sites):
        return
    for arguments in case.huggingface:
        value = arguments.value("save_strategy")
        if value is not None and value.const == "no":
            yield Found(
                cause="no-checkpoint-before-time-limit",
                severity="warning",
                file=arguments.site.file,
                line=arguments.line("save_strategy"),
                fixes=('save_strategy="steps"', 'save_strategy="epoch"'),
            )
            return
    value = (case.parsed_huggingface or {}).get("save_strategy")
    if value is not None and value.const == "no":
        line = value.place.line if value.place is not None else case.command_line()
        yield Found(
            cause="no-checkpoint-before-time-limit", severity="warning", file=case.batch, line=line, fixes=("--save_strategy steps",)
        )


def _trains_here(case: Case) -> bool:
    """A loop that steps an optimizer can be seen."""
    return any(site.last == "backward" and case.program.loops(site.node, site.module) for site in case.program.sites)


def _is_save(site: Site) -> bool:
    name = site.name.replace("local:", "").replace(":", ".")
    last = site.last
    return bool(_SAVES.search(last) or name in ("torch.save", "pickle.dump", "joblib.dump")) and not _NO_SAVES.search(last)


def _saves_within(case: Case) -> bool:
    """Something is saved in a loop that trains, or in a function that others call back."""
    training: set[int] = set()
    for site in case.program.sites:
        if site.last in ("backward", "step", "train_batch", "fit"):
            training |= {id(loop) for loop, _module in case.program.loops(site.node, site.module)}
    for site in case.program.sites:
        if not _is_save(site):
            continue
        if any(id(loop) in training for loop, _module in case.program.loops(site.node, site.module)):
            return True
        if _is_called_back(site, case):
            return True
    return False


def _is_called_back(site: Site, case: Case) -> bool:
    """A function without visible calls: a hook, a handler."""
    function = site.function
    return function is not None and not case.program.evaluator.callers.get(function, ())


def _last_save(case: Case) -> tuple[tuple[str, int], ...]:
    return tuple((site.file, site.line) for site in case.program.sites if _is_save(site))[:2]
