"""What is written down where Slurm or the launcher would tell: addresses, masks; and starts at import."""

import ast
import re
from collections.abc import Iterator

from rigup.train.check.case import Case
from rigup.train.check.found import Change, Found
from rigup.train.check.python.modules import Function
from rigup.train.check.python.program import Site
from rigup.train.check.rules import rule
from rigup.train.check.shell.words import UNKNOWN

_OF_TORCHRUN = ("RANK", "LOCAL_RANK", "WORLD_SIZE")
_OF_TASKS = ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID")
_HOST = re.compile(r"(?:tcp://)?(?P<host>[A-Za-z0-9][\w.-]*|\[?::1\]?)(?::(?P<port>\d+|" + UNKNOWN + r"))?/?")
_ADDRESSES = ("master-addr", "rdzv-endpoint", "main-process-ip", "master-address")


@rule
def fixed_address(case: Case) -> Iterator[Found]:
    """master-address-hard-coded."""
    if case.launch is None or (case.job_nodes or 1) < 2 or (case.nodes or 1) < 2 or case.launch.layer("ssh"):
        return
    places = [*_addresses_of_launcher(case), *_addresses_of_batch(case), *_addresses_of_script(case)]
    if places:
        file, line = places[0]
        fixed = 'export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)'
        change = (
            Change(file=file, first=line, last=line, lines=(fixed,))
            if re.match(r"export MASTER_ADDR=\S+$", case.batch_line(line)) and file == case.batch
            else None
        )
        yield Found(cause="master-address-hard-coded", severity="error", file=file, line=line, fixes=(fixed,), change=change)


def _is_fixed(text: str | None) -> bool:
    match = _HOST.fullmatch(text or "")
    return match is not None and UNKNOWN not in match["host"]


def _addresses_of_launcher(case: Case) -> Iterator[tuple[str, int]]:
    layer = case.launcher
    if layer is None or layer.option("standalone") is not None:
        return
    for option in layer.options:
        if option.name in _ADDRESSES and _is_fixed(option.value):
            yield layer.command.file, option.beside.line or option.word.line


def _addresses_of_batch(case: Case) -> Iterator[tuple[str, int]]:
    if case.launcher is not None and case.launcher.value("rdzv-endpoint") is not None:
        return
    for name, value, file, line, _inner in case.variable_settings():
        if name == "MASTER_ADDR" and _is_fixed(value):
            yield file, line


def _addresses_of_script(case: Case) -> Iterator[tuple[str, int]]:
    given = case.launcher is not None or any(name == "MASTER_ADDR" for name, *_rest in case.variable_settings())
    for module in case.program.modules:
        for node in module.nodes:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript) and case.program.is_reached(node, module):
                target = node.targets[0]
                named = (
                    case.program.at(target.slice, module).text == "MASTER_ADDR"
                    and case.program.evaluator.dotted(target.value, module) == "os.environ"
                )
                if named and _is_fixed(case.program.at(node.value, module).text) and not case.program.conditional(node, module):
                    yield module.file, node.lineno
    for site in case.program.sites:
        value = site.argument("value", 1) if site.name == "os.environ.setdefault" else None
        key = site.argument("key", 0) if value is not None else None
        if value is not None and key is not None and key.text == "MASTER_ADDR" and _is_fixed(value.text) and not given:
            yield site.file, site.line
        method = site.argument("init_method", 1) if site.last == "init_process_group" else None
        if method is not None and (method.text or "").startswith("tcp://") and _is_fixed(method.text):
            yield site.file, site.line_of("init_method", 1)


@rule
def visible_devices(case: Case) -> Iterator[Found]:
    """visible-devices-set-in-script."""
    if (
        case.job is None
        or not case.job.asks_gpu
        or case.launch is None
        or len(case.launches) > 1
        or (case.launch.command.background and case.launch.command.repeated)
    ):
        return
    for file, line, text in [*_masks_of_batch(case), *_masks_of_script(case)]:
        change = (
            Change(file=file, first=line, last=line, lines=())
            if file == case.batch and re.fullmatch(r"\s*export\s+\S+=\S+\s*", text)
            else None
        )
        yield Found(
            cause="visible-devices-set-in-script",
            severity="warning",
            file=file,
            line=line,
            fixes=(f"remove: {text.strip()}",),
            change=change,
        )
        return


def _is_mask(name: str | None, value: str | None) -> bool:
    return (
        name in ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
        and re.fullmatch(r"\d+(?:\s*,\s*\d+)*", value or "") is not None
    )


def _masks_of_batch(case: Case) -> Iterator[tuple[str, int, str]]:
    for name, value, file, line, inner in case.variable_settings():
        if _is_mask(name, value) and not inner:
            yield file, line, case.batch_line(line)


def _masks_of_script(case: Case) -> Iterator[tuple[str, int, str]]:
    for module in case.program.modules:
        for node in module.nodes:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript) and case.program.is_reached(node, module):
                target, value = node.targets[0], case.program.at(node.value, module)
                if case.program.evaluator.dotted(target.value, module) == "os.environ" and _is_mask(
                    case.program.at(target.slice, module).text, str(value.const) if value.known else None
                ):
                    yield module.file, node.lineno, module.lines[node.lineno - 1]


@rule
def spawn_guard(case: Case) -> Iterator[Found]:
    """spawn-without-main-guard."""
    module = case.program.modules[0]
    for site in case.program.sites:
        if (
            site.module is module
            and _spawns(case, site.name, site)
            and site.function is None
            and not case.program.under_main(site.node, module)
        ):
            yield Found(
                cause="spawn-without-main-guard", severity="error", file=site.file, line=site.line, fixes=('if __name__ == "__main__":',)
            )
            return
        if site.module is module and site.function is not None and _spawns(case, site.name, site) and not _guarded(case, site.function):
            calls = [call for call, _caller in case.program.evaluator.callers.get(site.function, ())]
            line = min((call.lineno for call in calls), default=site.line)
            yield Found(
                cause="spawn-without-main-guard", severity="error", file=site.file, line=line, fixes=('if __name__ == "__main__":',)
            )
            return


def _guarded(case: Case, function: Function) -> bool:
    callers = case.program.evaluator.callers.get(function, ())
    return not callers or all(case.program.under_main(call, caller) for call, caller in callers)


def _spawns(case: Case, name: str, site: Site) -> bool:
    if site.last in ("spawn", "start_processes") and "multiprocessing" in name:
        method = site.argument("start_method")
        return method is None or method.const in ("spawn", "forkserver")
    if site.last == "start" and site.receiver.instance is not None and site.receiver.instance.name.rsplit(".", 1)[-1] == "Process":
        return _start_method(case)
    return site.last in ("fit", "validate", "test") and any(
        (value := trainer.value("strategy", "accelerator")) is not None
        and value.const in ("ddp_spawn", "ddp_spawn_find_unused_parameters_false")
        for trainer in case.lightning
    )


def _start_method(case: Case) -> bool:
    for site in case.program.sites:
        if site.last in ("set_start_method", "get_context"):
            value = site.argument("method", 0)
            if value is not None and value.const in ("spawn", "forkserver"):
                return True
    return False
