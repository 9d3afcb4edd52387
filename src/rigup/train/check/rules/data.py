"""What each rank reads, and in which order; what becomes of figures that each has of its part."""

import ast
import re
from collections.abc import Iterator

from rigup.train.check.case import Case
from rigup.train.check.found import Found
from rigup.train.check.python.modules import FUNCTIONS, Module
from rigup.train.check.python.program import Site
from rigup.train.check.python.values import RANDOM, Value
from rigup.train.check.rules import rule

CHECKS = re.compile(r"val|test|eval|dev(?!ice)|valid|probe|query|bank|holdout|infer", re.IGNORECASE)
_RANKED_NAMES = re.compile(
    r"get_rank|rank|get_world_size|world_size|worker_info|split_by_node|SLURM_PROCID|shard|num_replicas", re.IGNORECASE
)


def loaders(case: Case) -> Iterator[Site]:
    """torch's DataLoader and those made after it."""
    for site in case.program.sites:
        if site.last in ("DataLoader", "StatefulDataLoader") and not site.name.startswith(("local:", ".")):
            yield site


def target_names(site: Site) -> list[str]:
    """The names that the result of a call gets, and the function that returns it."""
    names: list[str] = []
    for parent, child in site.module.ancestors(site.node):
        if isinstance(parent, ast.Assign):
            names += [
                each.id if isinstance(each, ast.Name) else each.attr
                for target in parent.targets
                for each in ast.walk(target)
                if isinstance(each, ast.Name | ast.Attribute)
            ]
        elif isinstance(parent, ast.Return | ast.keyword):
            names += [parent.arg or ""] if isinstance(parent, ast.keyword) else []
        elif isinstance(parent, FUNCTIONS):
            names.append(getattr(parent, "name", ""))
            break
        _ = child
    return names


def _for_training(site: Site, case: Case) -> bool:
    """A loader that is read to train, as far as its own shuffling and its names say."""
    shuffle = site.argument("shuffle", 2)
    names = target_names(site)
    text = " ".join([*names[:1], ast.unparse(site.node.args[0])[:200] if site.node.args else ""])
    if shuffle is not None and shuffle.const is True:
        return True
    if re.search(r"train", text, re.IGNORECASE):
        return not (shuffle is None and CHECKS.search(text))
    if CHECKS.search(text) or any(CHECKS.search(name) and "train" not in name for name in names):
        return False
    return (shuffle is not None and not shuffle.known) or len(list(loaders(case))) == 1


@rule
def not_sharded(case: Case) -> Iterator[Found]:
    """data-not-sharded."""
    if not case.several or case.family in ("", "transformers", "deepspeed"):
        return
    for site in loaders(case):
        if case.program.guard(site.node, site.module) or not _for_training(site, case):
            continue
        if case.family == "lightning":
            wrong = _in_lightning(site, case)
        elif case.family == "accelerate":
            wrong = _unprepared(site, case)
        else:
            wrong = _unsharded(site, case)
        if wrong:
            yield Found(
                cause="data-not-sharded", severity="error", file=site.file, line=site.line, fixes=("sampler=DistributedSampler(dataset)",)
            )
            return


def _unsharded(site: Site, case: Case) -> bool:
    if _read_by_another(site, case):
        return False
    for name, position in (("sampler", 3), ("batch_sampler", 4)):
        given = site.argument(name, position)
        if given is not None and not given.is_none():
            return False
    if any(
        site.last in ("setup_dataloaders", "prepare", "prepare_data_loader", "split_dataset_by_node", "setup")
        and not site.name.startswith("local:")
        for site in case.program.sites
    ):
        return False
    values = [case.program.at(part, site.module) for part in [*site.node.args, *(keyword.value for keyword in site.node.keywords)]]
    if any(value.ranked or value.marks & {RANDOM, "worker-id"} for value in values) or (
        not site.node.args and site.expression("dataset") is None
    ):
        return False
    return _reads_all(site.expression("dataset", 0), site, case)


def _read_by_another(site: Site, case: Case) -> bool:
    """Of a loader, or of what a function makes, nothing but `.dataset` is taken, for another loader."""
    returned = isinstance(site.module.parents.get(site.node), ast.Return)
    calls = case.program.evaluator.callers.get(site.function, ()) if returned and site.function is not None else ()
    taken = [module.parents.get(call) for call, module in calls or [(site.node, site.module)]]
    return all(isinstance(each, ast.Attribute) and each.attr == "dataset" for each in taken)


def _reads_all(expression: ast.expr | None, site: Site, case: Case) -> bool:
    """Whether a dataset is one that gives every rank the same; nothing is said of classes that cannot be seen."""
    shuffle = site.argument("shuffle", 2)
    if shuffle is not None and shuffle.const is True:
        mapped = True
    elif expression is None:
        return False
    else:
        mapped = False
    value = case.program.at(expression, site.module)
    owner = _class_of(value, expression, site, case)
    if owner is None:
        return mapped or _known_dataset(value)
    text = ast.unparse(owner[0])
    return _RANKED_NAMES.search(text) is None


def _known_dataset(value: Value) -> bool:
    instance = value.instance
    return instance is not None and (
        instance.name.startswith(
            ("torchvision.datasets.", "datasets.load_from_disk", "torch.utils.data.TensorDataset", "torch.utils.data.Subset")
        )
    )


def _class_of(value: Value, expression: ast.expr | None, site: Site, case: Case) -> tuple[ast.ClassDef, Module] | None:
    name = value.instance.name if value.instance is not None else ""
    found = case.program.evaluator.function_named(name)
    if found is None and isinstance(expression, ast.Call):
        found = case.program.evaluator.function_named(case.program.evaluator.dotted(expression.func, site.module))
    return (found[0], found[1]) if found is not None and isinstance(found[0], ast.ClassDef) else None


def _in_lightning(site: Site, case: Case) -> bool:
    """Lightning shards by itself, unless it is told not to, or reads a stream that knows nothing of ranks."""
    if (case.devices is None or case.devices in (0, 1)) and (case.nodes or 1) < 2:
        return False
    if any(
        (given := site.argument(name, position)) is not None and not given.is_none()
        for name, position in (("sampler", 3), ("batch_sampler", 4))
    ):
        return False
    off = any(
        (value := trainer.value("use_distributed_sampler", "replace_sampler_ddp")) is not None and value.const is False
        for trainer in case.lightning
    )
    values = [case.program.at(part, site.module) for part in site.node.args]
    if any(value.ranked for value in values):
        return False
    owner = _class_of(values[0] if values else Value(), site.expression("dataset", 0), site, case)
    if owner is not None and _RANKED_NAMES.search(ast.unparse(owner[0])):
        return False
    if any(trainer.kind == "fabric" for trainer in case.lightning):
        return not any(each.last in ("setup_dataloaders", "_setup_dataloader") for each in case.program.sites) and _reads_all(
            site.expression("dataset", 0), site, case
        )
    streams = owner is not None and any("Iterable" in ast.unparse(base) for base in owner[0].bases)
    return off or streams


def _unprepared(site: Site, case: Case) -> bool:
    """A loader of accelerate that is made and never prepared."""
    prepared: set[str] = set()
    for each in case.program.sites:
        if each.last in ("prepare", "prepare_data_loader"):
            for part in [*each.node.args, *(keyword.value for keyword in each.node.keywords)]:
                prepared |= {node.id for node in ast.walk(part) if isinstance(node, ast.Name)} | {
                    node.attr for node in ast.walk(part) if isinstance(node, ast.Attribute)
                }
                if isinstance(part, ast.Starred) or (isinstance(part, ast.Call) and part is site.node):
                    return False
    for parent, _child in site.module.ancestors(site.node):
        if isinstance(parent, ast.Call) and case.program.evaluator.dotted(parent.func, site.module).endswith("prepare"):
            return False
        if isinstance(parent, ast.Assign) and all(isinstance(target, ast.Name) for target in parent.targets):
            names = {target.id for target in parent.targets if isinstance(target, ast.Name)}
            return (
                bool(prepared)
                and not names & prepared
                and any(value is not None and value.const is True for value in (site.argument("shuffle", 2),))
                and not _handed_on(names, site)
            )
    return False


def _handed_on(names: set[str], site: Site) -> bool:
    """Returned, or put into something else: then it may be prepared under another name."""
    return any(
        isinstance(node, ast.Return | ast.Dict | ast.Tuple | ast.List)
        and any(isinstance(each, ast.Name) and each.id in names and isinstance(each.ctx, ast.Load) for each in ast.walk(node))
        and not isinstance(site.module.parents.get(node), ast.Call)
        for node in site.module.nodes
    )


@rule
def epoch_of_sampler(case: Case) -> Iterator[Found]:
    """sampler-epoch-not-set."""
    if not case.several or case.family not in ("ddp", "spawn", "deepspeed"):
        return
    if any(site.last == "set_epoch" for site in case.program.sites) or any(
        isinstance(node, ast.Attribute) and node.attr == "set_epoch" for module in case.program.modules for node in module.nodes
    ):
        return
    if not _has_epochs(case):
        return
    for site in case.program.sites:
        if site.last != "DistributedSampler" or site.name.startswith("local:") or case.program.guard(site.node, site.module):
            continue
        shuffle = site.argument("shuffle", 3)
        text = " ".join([*target_names(site)[:1], ast.unparse(site.node.args[0])[:100] if site.node.args else ""])
        if (shuffle is not None and shuffle.const is not True) or (CHECKS.search(text) and "train" not in text):
            continue
        yield Found(cause="sampler-epoch-not-set", severity="warning", file=site.file, line=site.line, fixes=("sampler.set_epoch(epoch)",))
        return


def _has_epochs(case: Case) -> bool:
    """The data are read more than once: the step stands in a loop within a loop, and the outer one goes round more than once."""
    for site in case.program.sites:
        if site.last not in ("backward", "step", "train_batch"):
            continue
        loops = case.program.loops(site.node, site.module)
        if len(loops) > 1 and not _goes_once(loops[-1], case):
            return True
    return False


def _goes_once(loop: tuple[ast.AST, Module], case: Case) -> bool:
    node, module = loop
    if not isinstance(node, ast.For) or not isinstance(node.iter, ast.Call) or getattr(node.iter.func, "id", "") not in ("range", "trange"):
        return False
    values = [case.program.at(part, module).number for part in node.iter.args]
    return (len(values) == 1 and values[0] == 1) or (len(values) == 2 and None not in values and (values[1] or 0) - (values[0] or 0) == 1)
