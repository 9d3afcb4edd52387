"""What a model takes, part by part and memory by memory, as llama.cpp would lay it out."""

from collections.abc import Sequence

import msgspec

from rigup.fit.graph import ALIGNMENT, Allocation
from rigup.fit.model import Model
from rigup.fit.network import network
from rigup.fit.placement import Placement, group, placed
from rigup.fit.pools import HOST, Pool
from rigup.fit.request import Request, cache_of, state_of
from rigup.fit.splitting import split
from rigup.knowledge import tables

ENGINE = "llama.cpp"
_FLOAT = 4
_FEW, _FIRST, _LAST = 16, 12, 2  # layers that a quick plan takes of a deep model


class Part(msgspec.Struct, kw_only=True):
    """What one memory has to hold, in bytes."""

    weights: int = 0
    kv: int = 0
    recurrent: int = 0
    compute: int = 0
    output: int = 0
    projector: int = 0
    overhead: int = 0

    @property
    def total(self) -> int:
        """All of it."""
        return sum(getattr(self, name) for name in self.__struct_fields__)

    def fields(self) -> dict[str, int]:
        """By name, the sum last."""
        return {**{name: getattr(self, name) for name in self.__struct_fields__}, "total": self.total}


class Plan(msgspec.Struct, kw_only=True):
    """A model on a machine: a part for each memory, the system's last."""

    parts: list[Part]
    placement: Placement
    exact: bool = False
    runtime: str = ""

    @property
    def sum(self) -> Part:
        """All memories together."""
        names = Part.__struct_fields__
        return Part(**{name: sum(getattr(part, name) for part in self.parts) for name in names})


class _Cost(msgspec.Struct, frozen=True):
    engine: str
    bytes: int
    backend: str = ""
    kind: str = ""


class _Runtime(msgspec.Struct, frozen=True):
    engine: str
    version: str


def engine_version(engine: str) -> str:
    """An engine, and the version for which the figures hold."""
    row = next(row for row in tables.rows("engine_memory", "runtime", _Runtime) if row.engine == engine)
    return f"{row.engine} {row.version}"


def runtime() -> str:
    """The engine and version for which the closed forms hold."""
    return engine_version(ENGINE)


def shares(pools: Sequence[Pool]) -> tuple[float, ...]:
    """How llama.cpp spreads layers over devices: by what each has free."""
    return tuple(float(pool.free or pool.total or 1) for pool in pools if pool.kind != HOST)


def planned(model: Model, request: Request, pools: Sequence[Pool], quick: bool = False, buffers: Sequence[int] | None = None) -> Plan:
    """The plan of a request.

    Args:
        model: the model.
        request: how it is to run.
        pools: the memories, the system's last.
        quick: look at some layers of a deep model only, which is nearly as good.
        buffers: compute buffers of each memory that are taken as given; by default they are worked out.

    """
    split_by = request.tensor_split or shares(pools)
    placement = placed(model, request, split_by[: len(pools) - 1])
    host = len(pools) - 1
    parts = [Part() for _pool in pools]
    _weights(model, placement, parts)
    for number, layer in enumerate(model.kept):
        part = parts[placement.of_tensor(f"cache.{number}")]
        part.kv += cache_of(layer, model, request)
        part.recurrent += state_of(layer, request)
    for part, size in zip(parts, buffers or _buffers(model, request, placement, quick), strict=True):
        part.compute = size
    parts[0].projector = request.projector
    parts[host].output = model.vocabulary * _FLOAT * max(1, request.parallel)
    parts[host].overhead = _process(model)
    for part, pool in zip(parts[:host], pools, strict=False):
        part.overhead = device_cost(pool.backend) if part.total else 0
    return Plan(parts=parts, placement=placement, runtime=runtime())


def _weights(model: Model, placement: Placement, parts: list[Part]) -> None:
    for name, size in model.loads(group, ALIGNMENT).items():
        parts[placement.of_tensor(name)].weights += size
    table = model.by_name.get("token_embd.weight")
    if model.tied and table is not None and placement.output != placement.host:
        parts[placement.output].weights += table.bytes


def _buffers(model: Model, request: Request, placement: Placement, quick: bool) -> list[int]:
    """The compute buffers, worked out once for what they depend on."""
    drawn = msgspec.structs.replace(request, gpu_layers=None, tensor_split=(), projector=0)
    key = (drawn, placement, quick)
    if key not in model.buffers:
        model.buffers[key] = _compute(model, request, placement, quick)
    return model.buffers[key]


def _compute(model: Model, request: Request, placement: Placement, quick: bool) -> list[int]:
    devices = placement.host + 1
    layers = _sample_layers(model, placement) if quick and model.layers > _FEW else None
    graph = network(model, request, placement.of_tensor, layers)
    if devices == 1:
        return Allocation().run(graph).most
    used = {*placement.layers, placement.output} - {placement.host}
    in_turn = len(used) > 1 and placement.whole and placement.kv_offload and not placement.cpu_experts
    return Allocation(devices).run(split(graph, devices, in_turn)).most


def _sample_layers(model: Model, placement: Placement) -> list[int]:
    """The first and last layers of each device."""
    layers: set[int] = set()
    for device in set(placement.layers):
        mine = [layer for layer in range(model.layers) if placement.layers[layer] == device]
        layers |= {*mine[:_FIRST], *mine[-_LAST:]}
    return sorted(layers)


def _cost(array: str, **wanted: str) -> int:
    rows = tables.rows("engine_memory", array, _Cost)
    fit = [row for row in rows if row.engine == ENGINE and all(getattr(row, name) == value for name, value in wanted.items())]
    return fit[0].bytes if fit else 0


def device_cost(backend: str) -> int:
    """What a process takes on a device before anything of a model is there."""
    return _cost("device", backend=backend)


def _process(model: Model) -> int:
    """The process itself, and its vocabulary."""
    kind = str(model.keys.get("tokenizer.ggml.model", ""))
    if kind == "no_vocab":
        return _cost("process")
    each = _cost("vocabulary", kind=kind) or _cost("vocabulary", kind="*")
    return _cost("process") + each * model.vocabulary
