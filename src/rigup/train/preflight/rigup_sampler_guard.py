"""Runs a program whose samplers must not split the data among more ranks than run: else a part of it is never read, and nobody says so.

`python sampler_guard.py SCRIPT [WORD]...` is as `python SCRIPT [WORD]...`, but for that. It imports nothing of torch by itself.
"""

import importlib.abc
import importlib.util
import os
import sys
import types
from typing import Any, Optional, Sequence

WATCHED = "torch.utils.data.distributed"


class Watcher(importlib.abc.MetaPathFinder):
    """Lays the check over DistributedSampler when its module is imported."""

    def __init__(self, world: int) -> None:
        """`world`: how many ranks run."""
        self.world = world
        self._busy = False

    def find_spec(self, name: str, path: Optional[Sequence[str]], target: Optional[types.ModuleType] = None) -> Any:  # noqa: ARG002
        """The module's own spec, whose loader does a little more."""
        if name != WATCHED or self._busy:
            return None
        self._busy = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._busy = False
        if spec is None or spec.loader is None:
            return None
        execute, world = spec.loader.exec_module, self.world

        def exec_module(module: types.ModuleType) -> None:
            execute(module)
            watch(module, world)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def watch(module: Any, world: int) -> None:
    """Let every sampler of this class and of those that extend it be looked at once it is made."""
    sampler = module.DistributedSampler
    begin = sampler.__init__

    def begun(self: Any, *arguments: Any, **named: Any) -> None:
        begin(self, *arguments, **named)
        replicas = getattr(self, "num_replicas", world)
        if isinstance(replicas, int) and replicas > world:
            raise RuntimeError(
                f"rigup pre-flight: sampler-replicas: a sampler splits the data among {replicas} ranks, and {world} run: {replicas - world} of "
                f"{replicas} parts would never be read. What the program is told of devices and nodes must give {world}"
            )

    sampler.__init__ = begun


def run(path: str, words: Sequence[str]) -> None:
    """The program, as Python itself would run it."""
    sys.argv = [path, *words]
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec")
    program = types.ModuleType("__main__")
    program.__dict__.update(__file__=path, __builtins__=__builtins__, __cached__=None)
    sys.modules["__main__"] = program
    exec(code, program.__dict__)  # noqa: S102 - the person's own program


def told(kind: Any, error: BaseException, trace: Any) -> None:
    """A traceback as Python itself would print it: without the two calls that are ours."""
    own = trace.tb_next.tb_next if trace and trace.tb_next else None
    sys.__excepthook__(kind, error.with_traceback(own or trace), own or trace)


if __name__ == "__main__":
    sys.excepthook = told
    sys.meta_path.insert(0, Watcher(int(os.environ.get("WORLD_SIZE", "1"))))
    run(sys.argv[1], sys.argv[2:])
