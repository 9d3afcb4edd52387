"""The whole of `rigup bench`: measure in the environment's own Python, watch, and set beside."""

import os
from typing import Any

from rigup.bench.answer import answer, drops
from rigup.bench.records import earlier, keep
from rigup.bench.sensors import Sensors, watched
from rigup.diagnosis.answer import diagnose
from rigup.machine.local import Local
from rigup.verify.child import Limits
from rigup.verify.environment import VerifyError, interpreter
from rigup.verify.observe import Progress, observe

Answer = dict[str, Any]
_PROBE = "probe"


def bench(
    environment: str = "", full: bool = False, devices: tuple[str, ...] = (), only: tuple[str, ...] = (),
    progress: Progress = lambda _name: None,
) -> Answer:  # fmt: skip
    """Measure; the answer as `rigup.bench/1`.

    Args:
        environment: as `rigup verify` takes it; "" for the active one.
        full: for longer, and larger.
        devices: names as the framework gives them (`cuda:0`, `cpu`); none for all.
        only: names of what is measured; none for all.
        progress: called with the framework's name when it is begun.

    Raises:
        VerifyError: there is no interpreter, or torch is not there.
        SourceError, KnowledgeError: as the doctor's.

    """
    from pathlib import Path

    python = interpreter(environment, os.environ)
    limits = Limits(check=900.0 if full else 120.0)
    with Sensors(Local()) as sensors:
        seen = observe(python, list(devices), full, limits, progress, only, Path(__file__).parent / _PROBE, ("torch",))
    if not seen.frameworks:
        raise VerifyError(_no_torch(python))
    samples = {where: watched(told) for where, told in sensors.samples.items()}
    told = answer(seen, diagnose()["machine"], samples, full)
    before = earlier(seen.prefix)
    told["drops"] = drops(told, before)
    kept = keep(seen.prefix, told) if not only else None
    return told | ({"record": kept} if kept else {})


def _no_torch(python: str) -> str:
    from rigup.language import _

    return _(
        "{python} has no torch, with which it is measured. `rigup apply torch` makes an environment that has."
    ).format(python=python)
