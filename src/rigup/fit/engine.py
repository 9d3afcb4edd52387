"""The engine's own plan: llama.cpp lays every buffer out without the weights, in a child that a bad model may abort.

The Linux wheel of xllamacpp exports the planner. Its structs belong to one build, so nothing is taken on trust: the defaults
must stand where they are expected, and the log must tell that each setting was understood; else there is no such plan.
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rigup.fit.request import Request

_PROBE = Path(__file__).with_name("engine_probe.py")
_SECONDS = 20.0
_MOST_OUTPUT = 8 << 20
_MIB = 1 << 20
_KV = re.compile(r"llama_kv_cache: size = +([0-9.]+) MiB \( *\d+ cells")
_STATE = re.compile(r"llama_memory_recurrent: size = +([0-9.]+) MiB")
_COMPUTE = re.compile(r"sched_reserve: +(?:CPU|Host) compute buffer size = +([0-9.]+) MiB")
_OUTPUT = re.compile(r"(?:CPU|Host) +output buffer size = +([0-9.]+) MiB")
_SETTING = re.compile(r"llama_context: (n_seq_max|n_batch|n_ubatch|flash_attn|kv_unified|n_outputs_max) += (\S+)")
_CACHE_TYPES = {"f32": 0, "f16": 1, "q4_0": 2, "q4_1": 3, "q5_0": 6, "q5_1": 7, "q8_0": 8, "iq4_nl": 20, "bf16": 30}


class EngineFigures(NamedTuple):
    """What the engine plans, in bytes, to a hundredth of a MiB."""

    kv: int
    recurrent: int
    compute: int
    output: int
    runtime: str


def planned_by_engine(path: Path, request: Request, python: str = sys.executable) -> EngineFigures | None:
    """The engine's own plan for the processor; None where that Python has no engine that can be relied upon.

    Args:
        path: the model's file, of which the header is enough.
        request: what is asked of it.
        python: the interpreter whose engine is asked.

    """
    import subprocess  # late: most questions start no process

    kinds = [_CACHE_TYPES.get(cache_type) for cache_type in (request.kv_type_k, request.kv_type_v)]
    if None in kinds:
        return None
    words = [
        request.whole,
        request.batch,
        request.ubatch,
        request.parallel,
        request.outputs,
        int(request.flash_attn),
        *kinds,
        int(request.swa_whole),
        int(request.kv_unified),
    ]
    try:
        done = subprocess.run(
            [python, "-I", str(_PROBE), str(path), *map(str, words)],
            capture_output=True,
            timeout=_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    text = (done.stdout + b"\n" + done.stderr)[:_MOST_OUTPUT].decode("utf-8", "replace")
    return _read(text, request) if done.returncode == 0 else None


def _read(text: str, request: Request) -> EngineFigures | None:
    """The plan of a log that tells that every setting was understood."""
    version = re.search(r"^rigup engine (.+)$", text, re.MULTILINE)
    compute = _COMPUTE.findall(text)
    if not version or not compute or not _understood(dict(_SETTING.findall(text)), request):
        return None
    sums = (sum(map(float, pattern.findall(text))) for pattern in (_KV, _STATE, _OUTPUT))
    kv, state, output = (round(size * _MIB) for size in sums)
    return EngineFigures(kv, state, round(float(compute[-1]) * _MIB), output, version[1].strip()[:100])


def _understood(settings: dict[str, str], request: Request) -> bool:
    batch = min(request.whole, request.batch)
    wanted = {
        "n_seq_max": str(request.parallel),
        "n_batch": str(batch),
        "n_ubatch": str(request.tokens),
        "flash_attn": "enabled" if request.flash_attn else "disabled",
        "kv_unified": "true" if request.kv_unified else "false",
        "n_outputs_max": str(request.outputs or batch),
    }
    return all(settings.get(name) == value for name, value in wanted.items())


def engine_pythons(named: Sequence[str] = ()) -> list[str]:
    """Interpreters whose engine may be asked: those that are named, and this one where it has one."""
    import importlib.util

    return [*named, *([sys.executable] if importlib.util.find_spec("xllamacpp") else [])]
