"""Figures that each rank has of its part of the data, and state that some ranks never get."""

import ast
import re
from collections.abc import Iterator

from rigup.train.check.case import Case
from rigup.train.check.found import Change, Found
from rigup.train.check.frameworks import ALL
from rigup.train.check.python.program import Site
from rigup.train.check.python.values import Value
from rigup.train.check.rules import rule
from rigup.train.check.rules.data import CHECKS, loaders, target_names


@rule
def unsynchronised(case: Case) -> Iterator[Found]:
    """metric-not-synchronised, in Lightning's hooks."""
    if case.family != "lightning" or not _several_devices(case):
        return
    found = [site for site in case.program.sites if site.last in ("log", "log_dict") and _of_one_rank(site, case)]
    monitored = {
        value.text
        for site in case.program.sites
        if site.last in ("ModelCheckpoint", "EarlyStopping")
        for value in (site.argument("monitor", 0 if site.last == "EarlyStopping" else 2),)
        if value is not None
    }
    found.sort(key=lambda site: (site.last == "log" and (site.argument("name", 0) or Value()).text not in monitored, site.line))
    for site in found[:1]:
        line = site.module.lines[site.line - 1].strip()
        fixed = line[:-1] + ", sync_dist=True)" if line.endswith(")") else "sync_dist=True"
        yield Found(
            cause="metric-not-synchronised",
            severity="warning",
            file=site.file,
            line=site.line,
            fixes=(fixed,),
            change=_synchronised([each for each in found if each.file == site.file]),
        )


def _synchronised(sites: list[Site]) -> Change | None:
    """The calls of a file with sync_dist=True: one change from the first of them to the last."""
    lines = list(sites[0].module.lines)
    ends = sorted({site.node.end_lineno or site.line for site in sites})
    before = list(lines)
    for site in sorted(sites, key=lambda each: (each.node.end_lineno or 0, each.node.end_col_offset or 0), reverse=True):
        _with_argument(site.node, lines)
    kept = lines[ends[0] - 1 : ends[-1]]
    return None if lines == before else Change(file=sites[0].file, first=ends[0], last=ends[-1], lines=tuple(kept))


def _with_argument(call: ast.Call, lines: list[str]) -> None:
    """Put sync_dist=True behind the last argument, where only a comma stands between it and the bracket."""
    parts = [*call.args, *(keyword.value for keyword in call.keywords)]
    last = max(parts, key=lambda part: (part.end_lineno or 0, part.end_col_offset or 0), default=None)
    if last is None or last.end_lineno != call.end_lineno or any(word.arg == "sync_dist" for word in call.keywords):
        return
    line = lines[(call.end_lineno or 1) - 1].encode()
    end, bracket = last.end_col_offset or 0, (call.end_col_offset or 1) - 1
    if line[end:bracket].strip() in (b"", b",") and line[bracket : bracket + 1] == b")":
        lines[(call.end_lineno or 1) - 1] = (line[:end] + b", sync_dist=True" + line[bracket:]).decode()


def _several_devices(case: Case) -> bool:
    if case.devices is not None and case.devices not in (ALL, 0):
        return case.devices > 1 or (case.nodes or 1) > 1
    ranks = case.ranks_per_node
    return (ranks or 1) > 1 or (case.nodes or 1) > 1


def _of_one_rank(site: Site, case: Case) -> bool:
    """A plain figure that a validation hook logs without sync_dist."""
    receiver = site.node.func.value if isinstance(site.node.func, ast.Attribute) else None
    if not (isinstance(receiver, ast.Name) and receiver.id in ("self", "pl_module", "module", "model")):
        return False
    sync = site.argument("sync_dist", 6)
    if sync is not None and sync.const is not False:
        return False
    only = site.argument("rank_zero_only")
    if (only is not None and only.const is not False) or not _in_check(site, case):
        return False
    expression = site.expression("value", 1) if site.last == "log" else site.expression("dictionary", 0)
    return expression is not None and _is_plain(expression, site, case)


def _in_check(site: Site, case: Case, depth: int = 0) -> bool:
    function = site.function
    while isinstance(function, ast.Lambda):
        function = site.module.function(function)
    if function is None:
        return False
    if re.match(r"(?:on_)?(?:validation|test)_(?:step|epoch_end|batch_end)", function.name):
        return True
    callers = case.program.evaluator.callers.get(function, ())
    return depth < 3 and any(
        isinstance(around, ast.FunctionDef) and re.match(r"(?:on_)?(?:validation|test)_", around.name)
        for call, caller in callers
        for around in (caller.function(call),)
    )


def _is_plain(expression: ast.expr, site: Site, case: Case) -> bool:  # noqa: PLR0911
    """A tensor or number of this rank, and no metric object, which gathers by itself."""
    if isinstance(expression, ast.Dict):
        return any(_is_plain(value, site, case) for value in expression.values)
    if isinstance(expression, ast.Name | ast.Attribute | ast.Subscript):
        value = case.program.at(expression, site.module)
        if value.instance is not None and (
            "torchmetrics" in value.instance.name
            or value.instance.name in (".compute", ".all_gather", ".clone")
            or "etric" in value.instance.name
        ):
            return False
        if isinstance(expression, ast.Subscript) or (isinstance(expression, ast.Attribute) and value.instance is None):
            return False
    if isinstance(expression, ast.Constant):
        return False
    for node in ast.walk(expression):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("compute", "all_gather", "all_reduce", "reduce", "gather")
        ):
            return False
        if isinstance(node, ast.Call) and _is_metric_call(node, site, case):
            return False
    return not (isinstance(expression, ast.Name) and _comes_of_gathering(expression, site, case))


def _is_metric_call(node: ast.Call, site: Site, case: Case) -> bool:
    """`self.acc(preds, y)` gives the figure of this batch and rank; only the object itself is gathered. Unseen ones may gather."""
    value = case.program.at(node.func, site.module)
    return value.instance is not None and value.instance.name.startswith("local:") and "etric" in value.instance.name


def _comes_of_gathering(expression: ast.Name, site: Site, case: Case) -> bool:
    scope = site.module.scope(expression)
    for binding in site.module.bindings.get(scope, {}).get(expression.id, []):
        if binding.value is None:
            continue
        for node in ast.walk(binding.value):
            if isinstance(node, ast.Attribute) and node.attr in ("compute", "all_gather", "gather", "all_reduce", "reduce"):
                return True
            if isinstance(node, ast.Call) and re.search(r"gather|reduce|sync", case.program.evaluator.dotted(node.func, site.module)):
                return True
    return False


@rule
def own_figure(case: Case) -> Iterator[Found]:
    """metric-not-synchronised, in loops of one's own: a sharded check whose sum is printed or compared as it is."""
    if not case.several or case.family not in ("ddp", "spawn"):
        return
    if any(re.search(r"reduce|gather|broadcast|sync_|metric", site.name, re.IGNORECASE) for site in case.program.sites):
        return
    if case.program.imports("torchmetrics", "torcheval", "ignite"):
        return
    for site in loaders(case):
        sampler = site.argument("sampler", 3)
        if sampler is None or sampler.instance is None or not sampler.instance.name.endswith("DistributedSampler"):
            continue
        names = target_names(site)
        if any(CHECKS.search(name) for name in names[:2]) and (place := _reporting_line(site, names, case)) is not None:
            yield Found(cause="metric-not-synchronised", severity="warning", file=site.file, line=place, fixes=("dist.all_reduce(total)",))
            return


def _reporting_line(site: Site, names: list[str], case: Case) -> int | None:
    """The line that prints or compares what a check found: the first one behind the loop that reads the loader."""
    for each in case.program.sites:
        if each.last in ("print", "info", "log", "add_scalar") and each.module is site.module and each.node.args:
            text = ast.unparse(each.node)
            if re.search(r"val|test|acc|eval|score|metric", text, re.IGNORECASE) and each.line > site.line:
                return each.line
    _ = names
    return None


@rule
def state_of_prepare_data(case: Case) -> Iterator[Found]:
    """prepare-data-sets-state."""
    if case.family != "lightning":
        return
    for module in case.program.modules:
        for owner, attributes in module.attributes.items():
            if owner is None or not any(isinstance(each, ast.FunctionDef) and each.name == "prepare_data" for each in owner.body):
                continue
            for name, places in sorted(attributes.items(), key=lambda each: each[1][0][1].lineno):  # type: ignore[attr-defined]
                within = {getattr(module.function(node), "name", "") for _value, node in places}
                if within == {"prepare_data"} and _is_read(owner, name):
                    line = places[0][1].lineno  # type: ignore[attr-defined]
                    yield Found(
                        cause="prepare-data-sets-state",
                        severity="error" if _several_devices(case) else "note",
                        file=module.file,
                        line=line,
                        fixes=(f"def setup(self, stage=None): {module.lines[line - 1].strip()}",),
                    )
                    return


def _is_read(owner: ast.ClassDef, name: str) -> bool:
    for method in owner.body:
        if isinstance(method, ast.FunctionDef) and method.name != "prepare_data":
            for node in ast.walk(method):
                if isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Load):
                    return True
    return False
