"""The answer of `rigup fit --train`: what a step takes on each device, the largest batch, and what to change."""

from collections.abc import Iterator, Sequence

import msgspec

from rigup.fit.judge import Asked, model_fields
from rigup.fit.model import Model
from rigup.fit.plan import device_cost
from rigup.fit.pools import HOST, Pool
from rigup.fit.training import SHARDINGS, Step, Wish, largest_batch, training_step
from rigup.language import _
from rigup.schemas import fit_more as schema

_MARGIN = 0.03  # of what PyTorch's allocator holds beside what tensors ask for: it rounds, and pieces lie between others


def judged_training(asked: Asked, wish: Wish, pools: Sequence[Pool]) -> schema.FitTrain:
    """The whole answer.

    Raises:
        FitError: the model's activations are not known here.

    """
    cards = [pool for pool in pools if pool.kind != HOST] or [pools[-1]]
    wish = msgspec.structs.replace(
        wish, devices=len(cards), sharding=wish.sharding if len(cards) > 1 else "none", many=cards[0].kind != HOST
    )
    model = asked.model
    step = training_step(model, wish)
    rooms = [_room(pool) for pool in cards]
    known = [room for room in rooms if room is not None]
    least = min(known, default=None)
    return schema.FitTrain(
        model=model_fields(asked),
        request=_request(wish),
        memory=schema.StepParts(**step._asdict(), total=step.total),
        devices=[_device(step, pool, room) for pool, room in zip(cards, rooms, strict=True)],
        fits=None if least is None else step.total <= least,
        largest_batch=None if least is None else largest_batch(model, wish, least),
        changes=[] if least is None or step.total <= least else list(_changes(model, wish, step, least)),
        notes=[*asked.notes, *_notes(wish)],
    )


def _room(pool: Pool) -> int | None:
    """What tensors may take of what is free."""
    if pool.free is None:
        return None
    return max(0, int((pool.free - (device_cost(pool.backend) if pool.kind != HOST else 0)) / (1 + _MARGIN)))


def _device(step: Step, pool: Pool, room: int | None) -> schema.TrainDevice:
    return schema.TrainDevice(
        name=pool.name,
        kind=pool.kind,
        backend=pool.backend,
        total_memory=pool.total,
        free=pool.free,
        assumed=pool.assumed,
        room=room,
        total=step.total,
        fits=None if room is None else step.total <= room,
    )


def _request(wish: Wish) -> schema.TrainRequest:
    return schema.TrainRequest(
        optimizer=wish.optimizer,
        precision=wish.precision,
        samples=wish.samples,
        context=wish.context,
        flash_attn=wish.flash_attn,
        rank=None if wish.kind == "full" else wish.rank,
        devices=wish.devices,
        sharding=wish.sharding,
        train=wish.kind,
        checkpointing=not wish.kept,
    )


def _notes(wish: Wish) -> Iterator[str]:
    yield _("Activations are those of the usual code in PyTorch; the peak is an estimate, without what CUDA's libraries keep.")
    if wish.kind != "full":
        yield _("Adapters stand beside all linear layers.")
    if wish.devices > 1:
        yield _("Each of the {count} devices has its own sequences.").format(count=wish.devices)


def _changes(model: Model, wish: Wish, before: Step, room: int) -> Iterator[schema.TrainChange]:
    """What would make it fit, each by itself, then all that keep the weights' training as it is."""
    for name, value, other, cost in _others(wish):
        step = training_step(model, other)
        if step.total < before.total:
            yield schema.TrainChange(
                change=name,
                to=value,
                frees=before.total - step.total,
                fits=step.total <= room,
                largest_batch=largest_batch(model, other, room),
                costs=cost,
            )


def _others(wish: Wish) -> Iterator[tuple[str, str, Wish, str]]:
    change = msgspec.structs.replace
    if wish.kept:
        yield "checkpointing", "on", change(wish, kept=False), _("a third more computation")
    if not wish.flash_attn:
        yield "flash_attn", "on", change(wish, flash_attn=True), _("nothing where the device can do it")
    if wish.precision != "bf16":
        yield "precision", "bf16", change(wish, precision="bf16"), _("small steps may be rounded away")
    if wish.optimizer in ("adamw", "adam"):
        yield ("optimizer", "adamw8bit", change(wish, optimizer="adamw8bit"), _("another package (bitsandbytes), and states of a byte"))
    if wish.samples > 1:
        yield "samples", "1", change(wish, samples=1), _("more steps for the same data")
    for kind in SHARDINGS[SHARDINGS.index(wish.sharding) + 1 :] if wish.devices > 1 else ():
        yield "sharding", kind, change(wish, sharding=kind), _("more is sent between devices")
    if wish.kind == "full":
        yield "train", "lora", change(wish, kind="lora"), _("adapters alone are trained")
    if wish.kind != "qlora":
        yield (
            "train",
            "qlora",
            change(wish, kind="qlora", kept=False),
            _("adapters alone are trained, over weights of four bits, layer by layer anew"),
        )
