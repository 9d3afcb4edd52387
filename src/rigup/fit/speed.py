"""How fast a model writes and reads: bytes that a token touches in each memory, over how fast these pass."""

from collections.abc import Sequence

import msgspec

from rigup.fit.model import Model
from rigup.fit.plan import Plan
from rigup.fit.pools import HOST, Pool
from rigup.fit.request import Request
from rigup.knowledge import tables
from rigup.knowledge.speeds import Decode
from rigup.language import _
from rigup.schemas.fit import PromptRange, Range

_OPERATIONS = 2  # of each weight and token


class _Prefill(msgspec.Struct, frozen=True):
    kind: str
    low: float
    share: float
    high: float


class _Bandwidth(msgspec.Struct, frozen=True):
    kind: str
    low: float
    likely: float
    high: float


def touched(model: Model, plan: Plan) -> list[int]:
    """Bytes of weights that one token reads, in each memory."""
    used, experts = model.number("expert_used_count"), model.number("expert_count")
    sizes = [0] * len(plan.parts)
    for tensor in model.tensors:
        if tensor.name == "token_embd.weight":  # one row of it; the whole where it is the output too
            if model.tied:
                sizes[plan.placement.output] += tensor.bytes
            continue
        share = used / experts if experts and "_exps" in tensor.name else 1.0
        sizes[plan.placement.of_tensor(tensor.name)] += int(tensor.bytes * share)
    return sizes


def active(model: Model) -> int:
    """Weights that one token meets."""
    used, experts = model.number("expert_used_count"), model.number("expert_count")
    counts = ((tensor, tensor.numbers) for tensor in model.tensors if tensor.name != "token_embd.weight")
    return sum(int(count * used / experts) if experts and "_exps" in tensor.name else count for tensor, count in counts)


def decode(model: Model, request: Request, plan: Plan, pools: Sequence[Pool]) -> Range | None:
    """Tokens a second that are written, low, likely, high; None where a bandwidth is not known."""
    weights, because = touched(model, plan), [_("weights that a token reads over the memory's bandwidth")]
    times = [0.0, 0.0, 0.0]
    for place, (size, part, pool) in enumerate(zip(weights, plan.parts, pools, strict=True)):
        if not size and not part.kv:
            continue
        rates = _bandwidth(pool)
        if rates is None:
            return None
        if pool.measured:
            because.append(_("the bandwidth of {memory} was measured on this machine").format(memory=pool.name))
        elif pool.bandwidth is None:
            because.append(_("the bandwidth of {memory} was not measured here").format(memory=pool.name))
        row = _row(model, pool)
        for number, (rate, factor, filled) in enumerate(zip(rates, (row.low, 1.0, row.high), (1.0, 0.1, 0.0), strict=True)):
            moved = size + int((part.kv + part.recurrent) / max(1, request.parallel) * filled)
            layers = row.layer * plan.placement.layers.count(place)
            times[number] += (row.fixed / 2 + layers + moved / (row.share * rate)) / factor
    used = [pool for size, part, pool in zip(weights, plan.parts, pools, strict=True) if size or part.kv]
    if not used:
        return None
    fixed = max(_row(model, pool).fixed for pool in used) / 2
    if model.number("expert_count"):
        because.append(_("each layer of experts takes its own time, which differs much between devices"))
    low, likely, high = (1 / (time + fixed) for time in times)
    return Range(low=round(low, 1), likely=round(likely, 1), high=round(high, 1), because=because)


def decode_on(model: Model, cards: Sequence[Pool], ranks: int, read: tuple[int, int]) -> Range | None:
    """Tokens a second of one sequence on GPUs that share each layer; None where a bandwidth is not known.

    Args:
        model: what is computed.
        cards: the GPUs.
        ranks: how many of them share a layer.
        read: bytes of a rank that a token reads: weights, and a full cache.

    """
    rates = [pool.bandwidth for pool in cards]
    if not rates or not all(rates):
        return None
    rate = min(bandwidth for bandwidth in rates if bandwidth)
    part = active(model) / max(1, model.parameters) if model.number("expert_count") else 1.0
    row = _row(model, cards[0])
    reasons = [_("weights that a token reads over the memory's bandwidth"), _("one sequence; many at once write more together")]
    if ranks > 1:
        reasons.append(_("what ranks say to each other is not counted"))
    alone = row.fixed + row.layer * model.layers
    times = ((read[0] * part + read[1] * filled) / (row.share * rate) + alone for filled in (1.0, 0.1, 0.0))
    low, likely, high = (factor / time for factor, time in zip((row.low, 1.0, row.high), times, strict=True))
    return Range(low=round(low, 1), likely=round(likely, 1), high=round(high, 1), because=reasons)


def _row(model: Model, pool: Pool) -> Decode:
    every = tables.rows("engine_speed", "decode", Decode)
    rows = {row.kind: row for row in every if row.backend in ("", pool.backend)}  # a maker's own row stands behind
    if pool.measured and not model.number("expert_count"):
        return rows["measured"]
    if pool.kind == HOST:
        return rows["cpu"]
    slow = rows["slow device"]
    if pool.rate and pool.rate <= slow.most_rate:
        return slow
    return rows["experts" if model.number("expert_count") else "dense"]


def _bandwidth(pool: Pool) -> tuple[float, float, float] | None:
    if pool.bandwidth:
        return pool.bandwidth, pool.bandwidth, pool.bandwidth
    row = next((row for row in tables.rows("engine_speed", "bandwidth", _Bandwidth) if row.kind == pool.kind), None)
    return None if row is None else (row.low, row.likely, row.high)


def prefill(model: Model, plan: Plan, pools: Sequence[Pool]) -> PromptRange | None:
    """Tokens a second that are read; None unless all layers are on devices whose rate is known."""
    row = tables.rows("engine_speed", "prefill", _Prefill)[0]
    if not plan.placement.whole:
        return None
    used = {*plan.placement.layers, plan.placement.output}
    rates = [pool.rate for number, pool in enumerate(pools) if number in used]
    if not rates or not all(rates):
        return None
    rate = min(rate for rate in rates if rate) / (_OPERATIONS * active(model))
    reasons = [_("operations of a token over the rate that the data sheet tells in half precision")]
    return PromptRange(low=round(rate * row.low), likely=round(rate * row.share), high=round(rate * row.high), because=reasons)
