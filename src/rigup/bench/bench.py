"""The workflow of `rigup bench`: measure in the environment's own Python, sample sensors, compare."""

import os
import shutil
import time

from msgspec import UNSET, structs

from rigup import shipped
from rigup.bench.answer import answer, drops
from rigup.bench.records import earlier, keep, run_of
from rigup.bench.sensors import Sensors, busy_cores
from rigup.diagnosis.answer import diagnose
from rigup.language import _
from rigup.machine.local import Local
from rigup.schemas.bench import Bench
from rigup.verify.answer import last_line
from rigup.verify.child import Limits
from rigup.verify.environment import VerifyError, interpreter
from rigup.verify.observe import Observed, Progress, Seen, observe
from rigup.verify.verify import verify

LIMIT = 60.0
"""Seconds that quick mode takes at most, from the first look at the machine to the answer."""

_PROBE = shipped.path("bench/probe")
_FRAMEWORKS = ("torch", "llama.cpp")
_LAST = 3.0  # seconds of the limit for the answer itself


def bench(
    environment: str = "",
    full: bool = False,
    devices: tuple[str, ...] = (),
    only: tuple[str, ...] = (),
    model: str = "",
    prove: bool = False,
    progress: Progress = lambda _name: None,
) -> Bench:
    """Run the benchmarks.

    Args:
        environment: as `rigup verify` takes it; "" for the active one.
        full: for longer, and larger, without a limit on the whole.
        devices: names as the framework gives them (`cuda:0`, `cpu`); none for all.
        only: names of what is measured; none for all.
        model: a GGUF file for llama.cpp; "" for one that is made on the spot.
        prove: first let `rigup verify` prove the environment; the answer then holds its answer, under `verify`.
        progress: called with the framework's name when it is begun.

    Raises:
        VerifyError: there is no interpreter, or neither torch nor llama.cpp is there.
        SourceError, KnowledgeError: as the doctor's.

    """
    python = interpreter(environment, os.environ)
    proven = verify(environment, full, devices) if prove else UNSET
    began, busy = time.monotonic(), busy_cores(Local())
    doctor = diagnose()  # first: what is left of the time is then known
    limits = Limits(check=900.0) if full else Limits(check=LIMIT, start=LIMIT, until=began + LIMIT - _LAST)
    more = {"model": os.path.abspath(model)} if model else None
    with Sensors(Local()) as sensors:
        seen = observe(python, list(devices), full, limits, progress, only, _PROBE, _FRAMEWORKS, _outside(), more)
    measurement = structs.replace(answer(_with_devices(seen, python), doctor, sensors.summary(), full), verify=proven, **busy)
    return _kept(measurement, seen, only, began)


def _with_devices(seen: Observed, python: str) -> Observed:
    """The observation; raises VerifyError if nothing could be measured."""
    if not seen.frameworks:
        raise VerifyError(_no_framework(python))
    if not any(framework.devices for framework in seen.frameworks):
        raise VerifyError(_no_devices(seen.frameworks[0]))
    return seen


def _outside() -> tuple[str, ...]:
    """llama.cpp's own program serves where the environment has no llama.cpp."""
    return ("llama.cpp",) if shutil.which("llama-bench") else ()


def _kept(measured: Bench, seen: Observed, only: tuple[str, ...], began: float) -> Bench:
    """Compare with this machine's earlier runs, and store the answer as one of them."""
    lost = drops(measured, [run_of(run) for run in earlier(seen.prefix)])
    measured = structs.replace(measured, drops=lost, seconds=round(time.monotonic() - began, 1))
    kept = keep(seen.prefix, measured) if not only and measured.devices else None
    return structs.replace(measured, record=kept or UNSET)


def _no_devices(seen: Seen) -> str:
    """Why an installed framework lists no devices."""
    if seen.over:
        template = _(
            "{framework} was not imported within {seconds} seconds, so nothing was measured. Run it again, when its files have been read once, or with `--full`, which has no limit."
        )
        return template.format(framework=seen.name, seconds=round(LIMIT))
    template = _("{framework} could not be imported, so nothing was measured; `rigup verify` looks for the cause. It said: {said}")
    return template.format(framework=seen.name, said=last_line(seen.stderr))


def _no_framework(python: str) -> str:
    return _(
        "{python} has neither torch nor llama.cpp, with which it is measured. `rigup apply torch` makes an environment that has."
    ).format(python=python)
