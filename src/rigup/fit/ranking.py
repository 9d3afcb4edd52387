"""Well-known models that a machine holds whole, the largest first."""

from collections.abc import Sequence

from rigup.fit.answers import fits
from rigup.fit.model import Model
from rigup.fit.plan import planned
from rigup.fit.pools import Pool
from rigup.fit.request import Request
from rigup.fit.shapes import model_of, parameters
from rigup.fit.speed import decode
from rigup.knowledge.model_shapes import Shape, file_types, shapes
from rigup.schemas.fit import FitList, Ranked

_OFFERED = ("Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "Q3_K_M")


def ranked(pools: Sequence[Pool], context: int, use: str | None = None) -> FitList:
    """Each model for a use with the finest type that fits with the context, all layers on the devices where there are any."""
    devices = pools[:-1] or pools
    room = sum(pool.free or 0 for pool in devices)
    rows = [row for shape in shapes() if (not use or use in shape.uses) and (row := _row(shape, pools, room, context)) is not None]
    return FitList(models=sorted(rows, key=lambda row: -row.parameters))


def _row(shape: Shape, pools: Sequence[Pool], room: int, context: int) -> Ranked | None:
    count = parameters(shape)
    for kind in file_types():
        if kind.name not in _OFFERED or count * kind.bits / 8 > room:
            continue
        model = model_of(shape, kind.name)
        asked = Request(context=min(context, shape.context or context), outputs=1, gpu_layers=model.layers + 1)
        if row := _entry(shape, model, kind.name, asked, pools):
            return row
    return None


def _entry(shape: Shape, model: Model, kind: str, asked: Request, pools: Sequence[Pool]) -> Ranked | None:
    plan = planned(model, asked, pools, quick=True)
    if not fits(plan, pools):
        return None
    speed = decode(model, asked, plan, pools) if shape.uses != ("embedding",) else None  # it writes nothing
    return Ranked(name=shape.name, quantisation=kind, parameters=model.parameters, context=asked.whole, total=plan.sum.total, decode=speed)
