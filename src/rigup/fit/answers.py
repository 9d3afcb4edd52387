"""What to ask next: the longest context, the finest quantisation, how many layers on devices, and what to change."""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from rigup.fit.mixtures import requantised
from rigup.fit.model import Model
from rigup.fit.plan import Part, Plan, planned
from rigup.fit.pools import HOST, Pool
from rigup.fit.request import Request, refused_cache
from rigup.fit.speed import decode
from rigup.knowledge import gtt
from rigup.knowledge.model_shapes import FileType, file_types
from rigup.language import _
from rigup.schemas import fit as schema

_CELL = 256
_FEWEST_CONTEXT = 256
_MOST_CONTEXT = 1 << 24
_OFFERED = ("Q8_0", "Q6_K", "Q5_K_M", "Q5_K_S", "Q4_K_M", "Q4_K_S", "IQ4_XS", "Q3_K_L", "Q3_K_M", "Q3_K_S", "Q2_K")
_CACHE_TYPES = ("q8_0", "q4_0")
_SMALLER_BATCH = 128
_ENOUGH = 2
_FOR_THE_SYSTEM = 4 << 30  # of main memory that no GPU gets


def fits(plan: Plan, pools: Sequence[Pool]) -> bool:
    """Every memory has room for its part; what lies within the system's memory counts there too."""
    host = pools[-1]
    within = sum(part.total for part, pool in zip(plan.parts, pools, strict=True) if pool.within or pool.kind == HOST)
    for part, pool in zip(plan.parts, pools, strict=True):
        if pool.free is not None and part.total > pool.free:
            return False
    return host.free is None or within <= host.free + sum(_carved(pool, host) for pool in pools)


def _carved(pool: Pool, host: Pool) -> int:
    """What of a memory within the system's is not counted as the system's own (a carve-out of an APU)."""
    return max(0, (pool.free or 0) - (host.free or 0)) if pool.within else 0


def best(model: Model, request: Request, pools: Sequence[Pool], quick: bool = False) -> tuple[Request, Plan]:
    """The request with as many layers on devices as fit there, where no number was asked for."""
    if request.gpu_layers is not None or len(pools) == 1:
        return request, planned(model, request, pools, quick)
    whole = planned(model, request, pools, quick)
    if fits(whole, pools):
        return msgspec.structs.replace(request, gpu_layers=model.layers + 1), whole
    layers = _layers_that_fit(model, request, pools, whole)
    request = msgspec.structs.replace(request, gpu_layers=layers)
    return request, planned(model, request, pools, quick)


def _layers_that_fit(model: Model, request: Request, pools: Sequence[Pool], whole: Plan) -> int:
    """The most layers for which each device has room; the system's memory is another question.

    Buffers take the longest to work out and change least: the number is guessed with those of the whole model, and
    then moved until it holds by its own and the next does not.
    """

    def roomy(count: int, buffers: Sequence[int] | None = None) -> bool:
        trial = msgspec.structs.replace(request, gpu_layers=count)
        plan = planned(model, trial, pools, quick=True, buffers=buffers)
        both = zip(plan.parts[:-1], pools[:-1], strict=True)
        return all(pool.free is None or part.total <= pool.free for part, pool in both)

    known = [part.compute for part in whole.parts]
    count = _most(lambda layers: roomy(layers, known), 0, model.layers + 1)
    while count and not roomy(count):
        count -= 1
    while count <= model.layers and roomy(count + 1):
        count += 1
    return count


def _most(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The largest number for which something holds that holds for all below it; `low` is taken for granted."""
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


def longest_context(model: Model, request: Request, pools: Sequence[Pool]) -> int | None:
    """Tokens of context, of all sequences together, for which this still fits as it is placed; None where not even the smallest does.

    No sequence gets more than the model was trained for.
    """
    trained = (model.number("context_length") or _MOST_CONTEXT) * max(1, request.parallel)

    def roomy(cells: int) -> bool:
        trial = msgspec.structs.replace(request, context=max(_FEWEST_CONTEXT, cells * _CELL))
        return fits(planned(model, trial, pools, quick=True), pools)

    if not roomy(1):
        return None
    return min(trained, _most(roomy, 1, -(-min(trained, _MOST_CONTEXT) // _CELL)) * _CELL)


def best_quantisation(model: Model, request: Request, pools: Sequence[Pool], now: str) -> str | None:
    """The finest type with which all of the model fits on the devices, else in all memory together; None: no type does.

    `now` is the type in which it is: one that is finer than all that are offered stays, where it fits.
    """
    offered = [(file_type.name, _as(model, file_type)) for file_type in file_types() if file_type.name in _OFFERED]
    if _bits(model) > max(_bits(other) for _name, other in offered):
        offered.insert(0, (now, model))
    for count in (model.layers + 1, None) if len(pools) > 1 else (None,):
        trial = msgspec.structs.replace(request, gpu_layers=count)
        for name, other in offered:
            if fits(best(other, trial, pools, quick=True)[1], pools):
                return name
    return None


def _bits(model: Model) -> float:
    """Of a weight, in the mean."""
    return 8 * sum(tensor.bytes for tensor in model.tensors) / max(1, model.parameters)


def _as(model: Model, kind: FileType) -> Model:
    if kind.name not in model.types:
        model.types[kind.name] = model.retyped(requantised(model, kind.name))
    return model.types[kind.name]


def changes(model: Model, request: Request, pools: Sequence[Pool], now: str) -> list[schema.Change]:
    """What would make it fit, each by itself, with what it frees and costs; of the types the first two that do."""
    before = best(model, request, pools, quick=True)[1].sum.total
    answers = [_changed(trial, before, pools) for trial in _settings(model, request, pools)]
    answers = [change for change in answers if change.frees > 0 or change.whole]
    answers += _raised(model, request, pools)
    enough = 0
    for trial in _types(model, request, now):
        answers.append(_changed(trial, before, pools))
        enough += answers[-1].whole
        if enough == _ENOUGH:
            break
    return answers


def _changed(trial: "Trial", before: int, pools: Sequence[Pool]) -> schema.Change:
    name, value, request, model, cost = trial
    request, plan = best(model, request, pools, quick=True)
    roomy = fits(plan, pools)
    return schema.Change(
        change=name,
        to=value,
        frees=before - plan.sum.total,
        fits=roomy,
        whole=roomy and (len(pools) == 1 or plan.placement.whole),
        gpu_layers=plan.placement.on_devices,
        decode=decode(model, request, plan, pools),
        costs=cost,
    )


def _raised(model: Model, request: Request, pools: Sequence[Pool]) -> list[schema.Change]:
    """What an integrated GPU may map of the system's memory, raised: by how much, and by which step of a plan."""
    host = pools[-1]
    if host.total is None or not any(pool.kind == "shared" for pool in pools):
        return []
    limit = (host.total - _FOR_THE_SYSTEM) // gtt.PAGE * gtt.PAGE
    wider = [_wider(pool, host, limit) if pool.kind == "shared" else pool for pool in pools]
    gained = sum((raised.free or 0) - (pool.free or 0) for raised, pool in zip(wider, pools, strict=True))
    if gained <= 0:
        return []
    request, plan = best(model, request, wider, quick=True)
    roomy = fits(plan, wider)
    options = [schema.ModuleOption(module=module, name=name, value=value) for module, name, value in gtt.options(limit // gtt.PAGE, "")]
    return [
        schema.Change(
            change="gtt",
            to=limit,
            frees=gained,
            fits=roomy,
            whole=roomy and plan.placement.whole,
            gpu_layers=plan.placement.on_devices,
            decode=decode(model, request, plan, wider),
            costs=_("a start anew; the system has less while the GPU has more"),
            steps=[schema.OptionStep(params=option) for option in options],
        )
    ]


def _wider(pool: Pool, host: Pool, limit: int) -> Pool:
    if pool.total is None or limit <= pool.total:
        return pool
    taken = pool.total - (pool.free or 0) if not pool.assumed else 0
    free = max(0, limit - taken)
    return msgspec.structs.replace(pool, total=limit, free=free if host.free is None else min(free, host.free))


Trial = tuple[str, str | int, Request, Model, str]
"""A setting, its value, the request and the model with it, and what it costs, as a sentence."""


def _settings(model: Model, request: Request, pools: Sequence[Pool]) -> Iterator[Trial]:
    for kind in _CACHE_TYPES:
        if request.kv_type_k == "f16" and any(layer.key_row for layer in model.kept):
            changed = msgspec.structs.replace(request, kv_type_k=kind, kv_type_v=kind, flash_attn=True)
            if refused_cache(model, changed):
                continue
            yield "kv", kind, changed, model, _("a coarser cache loses a little of what was said before")
    if not request.flash_attn:
        yield "flash_attn", "on", msgspec.structs.replace(request, flash_attn=True), model, _("nothing where the device can do it")
    if request.context > 2 * _FEWEST_CONTEXT:
        half = request.context // 2
        yield "context", half, msgspec.structs.replace(request, context=half), model, _("half of the memory of what was said")
    if request.ubatch > _SMALLER_BATCH:
        changed = msgspec.structs.replace(request, ubatch=_SMALLER_BATCH)
        yield "ubatch", _SMALLER_BATCH, changed, model, _("prompts are read more slowly")
    if not request.outputs or request.outputs > request.parallel:
        changed = msgspec.structs.replace(request, outputs=request.parallel)
        yield ("outputs", request.parallel, changed, model, _("results of the last token alone, as a server asks for them"))
    if model.number("expert_count") and not request.cpu_experts and len(pools) > 1:
        changed = _experts_aside(model, request, pools)
        yield ("cpu_experts", changed.cpu_experts, changed, model, _("the experts of so many layers are computed by the processor"))


def _experts_aside(model: Model, request: Request, pools: Sequence[Pool]) -> Request:
    """All layers on devices, with the experts of as few as must be in main memory; of all where nothing less does."""
    whole = msgspec.structs.replace(request, gpu_layers=model.layers + 1)

    def asked(count: int) -> Request:
        return msgspec.structs.replace(whole, cpu_experts=model.layers - count)

    left = _most(lambda count: fits(planned(model, asked(count), pools, quick=True), pools), 0, model.layers)
    return asked(left)


def _types(model: Model, request: Request, now: str) -> Iterator[Trial]:
    """The next smaller types, and what somebody measured that they lose."""
    smaller = [
        file_type
        for file_type in file_types()
        if file_type.name in _OFFERED and file_type.bits < _bits(model) - 0.2 and file_type.name != now
    ]
    for file_type in smaller:
        template = _("{points} points of perplexity above the unquantised model, measured with Llama 3 8B")
        lost = (
            template.format(points=round(file_type.perplexity, 2))
            if file_type.perplexity is not None
            else _("what it loses was not measured")
        )
        yield "quantisation", file_type.name, request, _as(model, file_type), lost


def filled_pool(part: Part, pool: Pool) -> schema.Pool:
    """A memory with what it holds."""
    return schema.Pool(
        name=pool.name,
        kind=pool.kind,
        backend=pool.backend,
        total_memory=pool.total,
        free=pool.free,
        assumed=pool.assumed,
        **part.fields(),
        fits=None if pool.free is None else part.total <= pool.free,
    )
