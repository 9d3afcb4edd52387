"""A draft model beside a model: what it takes, what it leaves, and whether the engine uses it."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from rigup.fit.answers import best
from rigup.fit.model import Model
from rigup.fit.plan import Plan
from rigup.fit.pools import Pool
from rigup.fit.request import Request

_ODD_TOKENS = 128  # by which vocabularies may differ in size (SPEC_VOCAB_MAX_SIZE_DIFFERENCE of llama.cpp's common/speculative.cpp)


class Drafted(NamedTuple):
    """A draft model with its place.

    Attributes:
        plan: what it takes of each memory.
        layers: of it that lie on devices.
        left: the memories with what it leaves free.

    """

    plan: Plan
    layers: int
    left: Sequence[Pool]

    @property
    def on_devices(self) -> int:
        """Bytes of its weights there."""
        return sum(part.weights for part in self.plan.parts[:-1])


def drafted(model: Model, request: Request, pools: Sequence[Pool]) -> Drafted:
    """Place a draft model: it has a context of the same size, and comes first, for it computes most often.

    Args:
        model: the draft.
        request: how the model that checks it is to run.
        pools: the memories, the last of them main memory.

    """
    alone = Request(context=request.context, parallel=request.parallel, outputs=request.outputs, kv_unified=request.kv_unified)
    plan = best(model, alone, pools)[1]
    within = sum(part.total for part, pool in zip(plan.parts[:-1], pools[:-1], strict=True) if pool.within)
    taken = [*(part.total for part in plan.parts[:-1]), plan.parts[-1].total + within]
    left = [
        pool if pool.free is None else msgspec.structs.replace(pool, free=max(0, pool.free - size))
        for pool, size in zip(pools, taken, strict=True)
    ]
    return Drafted(plan, plan.placement.on_devices if len(pools) > 1 else 0, left)


def has_same_words(draft: Model, model: Model) -> bool:
    """Whether the vocabularies are of one kind and size, as the engine wants them; where neither header tells, nobody knows better."""
    kinds = {str(kind) for side in (draft, model) if (kind := side.keys.get("tokenizer.ggml.model"))}
    sizes = [size for side in (draft, model) if (size := side.vocabulary)]
    return len(kinds) < 2 and (len(sizes) < 2 or abs(sizes[0] - sizes[1]) <= _ODD_TOKENS)
