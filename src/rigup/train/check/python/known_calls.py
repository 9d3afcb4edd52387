"""Functions of Python and of torch whose results are known without running them."""

import ast
import math
import operator
from collections.abc import Callable
from typing import Any

from rigup.train.check.python.values import AVAILABLE, COUNT, GLOBAL, LOCAL, NODE, NOTHING, RANDOM, WORLD, Place, Value, mixed

_MOST = 10**15
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}

VARIABLES = {
    "RANK": GLOBAL,
    "LOCAL_RANK": LOCAL,
    "WORLD_SIZE": WORLD,
    "LOCAL_WORLD_SIZE": COUNT,
    "GROUP_RANK": NODE,
    "NODE_RANK": NODE,
    "SLURM_PROCID": GLOBAL,
    "SLURM_LOCALID": LOCAL,
    "SLURM_NODEID": NODE,
    "SLURM_NTASKS": WORLD,
    "SLURM_NPROCS": WORLD,
    "OMPI_COMM_WORLD_RANK": GLOBAL,
    "OMPI_COMM_WORLD_LOCAL_RANK": LOCAL,
    "OMPI_COMM_WORLD_SIZE": WORLD,
    "PMI_RANK": GLOBAL,
    "PMI_LOCAL_RANK": LOCAL,
    "PMI_SIZE": WORLD,
    "PMIX_RANK": GLOBAL,
    "MPI_LOCALRANKID": LOCAL,
    "MV2_COMM_WORLD_RANK": GLOBAL,
    "MV2_COMM_WORLD_LOCAL_RANK": LOCAL,
    "PALS_RANKID": GLOBAL,
    "PALS_LOCAL_RANKID": LOCAL,
}
"""Variables that differ from rank to rank, or count ranks."""

MARKED = {
    "torch.distributed.get_rank": GLOBAL,
    "torch.distributed.get_world_size": WORLD,
    "torch.distributed.get_node_local_rank": LOCAL,
    "torch.cuda.device_count": COUNT,
    "torch.cuda.is_available": AVAILABLE,
    "torch.accelerator.device_count": COUNT,
    "horovod.torch.rank": GLOBAL,
    "horovod.torch.local_rank": LOCAL,
    "horovod.torch.size": WORLD,
    "xm.get_ordinal": GLOBAL,
    "deepspeed.comm.get_rank": GLOBAL,
    "deepspeed.comm.get_world_size": WORLD,
    "deepspeed.comm.get_local_rank": LOCAL,
    "mpi4py.MPI.COMM_WORLD.Get_rank": GLOBAL,
    "mpi4py.MPI.COMM_WORLD.Get_size": WORLD,
    "mpi4py.MPI.COMM_WORLD.rank": GLOBAL,
    "time.time": RANDOM,
    "time.strftime": RANDOM,
    "datetime.datetime.now": RANDOM,
    "uuid.uuid4": RANDOM,
    "os.getpid": RANDOM,
    "torch.utils.data.get_worker_info": "worker-id",
}
_BUILTINS: dict[str, Callable[..., Any]] = {
    "int": int,
    "float": float,
    "str": str,
    "bool": bool,
    "max": max,
    "min": min,
    "abs": abs,
    "len": len,
    "round": round,
    "sum": sum,
    "math.ceil": math.ceil,
    "math.floor": math.floor,
    "os.path.join": lambda *parts: "/".join(str(part).rstrip("/") for part in parts),
    "pathlib.Path": lambda *parts: "/".join(str(part).rstrip("/") for part in parts),
    "os.path.basename": lambda path: path.rsplit("/", 1)[-1],
    "str.strip": str.strip,
    "os.fspath": str,
}
_PASSED_THROUGH = (
    "os.path.abspath",
    "os.path.expanduser",
    "os.path.realpath",
    "omegaconf.OmegaConf.to_container",
    "omegaconf.OmegaConf.create",
    "easydict.EasyDict",
    "argparse.Namespace",
    "dict",
    "list",
    "tuple",
    "types.SimpleNamespace",
    "munch.munchify",
    "addict.Dict",
    "box.Box",
    "vars",
    "copy.deepcopy",
    "copy.copy",
    "dataclasses.asdict",
    "sorted",
    "iter",
    "tqdm.tqdm",
    "tqdm.auto.tqdm",
    "typing.cast",
)


def operated(kind: ast.operator, left: Value, right: Value, place: Place) -> Value:
    """Two constants in an operation."""
    result = mixed([left, right])
    function = _OPERATORS.get(type(kind))
    first, second = left.const, right.const
    if isinstance(kind, ast.Div) and isinstance(first, str) and isinstance(second, str):
        return Value(const=first.rstrip("/") + "/" + second, place=place)
    if function is None or not all(isinstance(each, int | float | str | list) for each in (first, second)):
        return result
    if isinstance(kind, ast.Mult) and not all(isinstance(each, int | float) for each in (first, second)):
        return result
    try:
        const = function(first, second)
    except (TypeError, ValueError, ArithmeticError):
        return result
    if isinstance(const, int | float) and abs(const) > _MOST:
        return result
    return Value(const=const, place=place, marks=result.marks)


def called(name: str, arguments: list[Value], place: Place) -> Value | None:  # noqa: PLR0911
    """The result of a known function; None for others."""
    if name in MARKED:
        return Value(marks=frozenset((MARKED[name],)), place=place)
    if name.startswith(("random.", "numpy.random.", "secrets.")):
        return Value(marks=frozenset((RANDOM,)), place=place)
    if name in _PASSED_THROUGH and arguments:
        return arguments[-1] if name == "typing.cast" else arguments[0]
    if name not in _BUILTINS:
        return None
    result = mixed(arguments)
    if not arguments:
        return result
    if all(argument.known for argument in arguments):
        try:
            const = _BUILTINS[name](*(argument.const for argument in arguments))
        except Exception:
            return result
        return Value(const=const, place=arguments[0].place or place, marks=result.marks)
    guard = arguments[0].guard if name == "bool" else ""
    single = arguments[0] if name in ("int", "str", "float") else None
    return Value(
        const=NOTHING,
        marks=result.marks,
        sources=result.sources,
        guard=guard,
        alternatives=single.alternatives if single else (),
        place=arguments[0].place,
    )
