"""Models that make pictures: which part of a file is what, and what a card holds at once. An estimate, and marked as one."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from rigup.fit.errors import FitError
from rigup.fit.plan import device_cost
from rigup.fit.pools import HOST, Pool
from rigup.fit.safetensors import Weight, by_kind, weights_of_folder
from rigup.knowledge import tables
from rigup.language import _
from rigup.schemas import fit_more as schema

_HALF = 2
MOST_INDEX = 1 << 20
"""Bytes of an index that are read."""

_STEP = 8  # pixels of a side that are one place of the latent picture


class Family(msgspec.Struct, frozen=True):
    """A kind of model, known by a tensor that no other kind has.

    Attributes:
        name: as people say it.
        sign: a regular expression of that tensor's name.
        side: pixels of a side of its usual picture.
        work: bytes of work space for each place of the latent picture, in half precision.
        folder_class: the pipeline's class in model_index.json of diffusers.

    """

    name: str
    sign: str
    side: int
    work: int
    folder_class: list[str]


class _Decoder(msgspec.Struct, frozen=True):
    kind: str
    bytes: int
    """Of work space for each pixel, in half precision."""


_PARTS = (
    ("vae", re.compile(r"(?:first_stage_model|vae|ae)\.")),
    ("text encoders", re.compile(r"(?:cond_stage_model|conditioner|text_encoders|te)\.|text_model\.")),
)
_FOLDERS = {"unet": "denoiser", "transformer": "denoiser", "vae": "vae", "text_encoder": "text encoders"}


def families() -> tuple[Family, ...]:
    """All known kinds."""
    return tables.rows("model_kinds", "images", Family)


def family_of(tensors: Sequence[Weight]) -> Family | None:
    """The kind whose sign is among the tensors; None for no such model."""
    names = "\n".join(tensor.name for tensor in tensors)
    return next((family for family in families() if re.search(family.sign, names, re.MULTILINE)), None)


def parts_of(tensors: Sequence[Weight]) -> dict[str, list[Weight]]:
    """Tensors of a single file by what they are for."""
    parts: dict[str, list[Weight]] = {}
    for tensor in tensors:
        part = next((name for name, sign in _PARTS if sign.match(tensor.name)), "denoiser")
        parts.setdefault(part, []).append(tensor)
    return parts


def class_of(index: bytes, name: str) -> str:
    """The class of a pipeline, by its model_index.json. Raises FitError where it is none."""
    try:
        fields = msgspec.json.decode(index[:MOST_INDEX], type=dict[str, Any])
    except (ValueError, RecursionError) as error:
        raise FitError(_("{path} is no index of a pipeline.").format(path=name)) from error
    return str(fields.get("_class_name", ""))[:100]


def part_of_folder(name: str) -> str:
    """What the weights of a pipeline's folder are for; "" for a folder that holds none of them."""
    return _FOLDERS.get(re.sub(r"_\d\Z", "", name), "")


def family_of_class(kind: str, parts: Mapping[str, Sequence[Weight]]) -> Family | None:
    """The kind of a pipeline, by its class, else by its tensors."""
    named = next((family for family in families() if kind in family.folder_class), None)
    return named or family_of([tensor for part in parts.values() for tensor in part])


def of_pipeline(folder: Path) -> tuple[str, dict[str, list[Weight]]]:
    """The class of a folder of diffusers, and its tensors by part.

    Raises:
        FitError: it has none.

    """
    index = folder / "model_index.json"
    with index.open("rb") as file:
        kind = class_of(file.read(MOST_INDEX), str(index))
    parts: dict[str, list[Weight]] = {}
    for inner in sorted(path for path in folder.iterdir() if path.is_dir() and part_of_folder(path.name)):
        parts.setdefault(part_of_folder(inner.name), []).extend(weights_of_folder(inner))
    if not any(parts.values()):
        raise FitError(_("{path} has no safetensors in the folders of its parts.").format(path=folder))
    return kind, parts


def judged_images(
    name: str, family: Family | None, parts: Mapping[str, Sequence[Weight]], pools: Sequence[Pool], side: int | None = None
) -> schema.FitImages:
    """The answer: weights by part, and what the card holds with all of it, part after part, and piece after piece."""
    pixels = side or (family.side if family else 1024)
    sizes = {part: sum(map(_loaded, tensors)) for part, tensors in parts.items()}
    work = (pixels // _STEP) ** 2 * family.work if family else 0
    decoding = pixels**2 * tables.rows("model_kinds", "decoder", _Decoder)[0].bytes
    card = next((pool for pool in pools if pool.kind != HOST), None)
    own = device_cost(card.backend) if card else 0
    largest = max((_loaded(tensor) for tensors in parts.values() for tensor in tensors), default=0)
    denoiser, vae = sizes.get("denoiser", 0), sizes.get("vae", 0)
    ways = [
        ("all", sum(sizes.values()) + max(work, decoding) + own, 0),
        ("parts", max(max(sizes.values(), default=0), denoiser + work, vae + decoding) + own, sum(sizes.values())),
        ("pieces", 2 * largest + max(work, decoding) + own, sum(sizes.values())),
    ]
    host = pools[-1]
    answers = [_judge_way(way, need, aside, card, host) for way, need, aside in ways]
    every = [tensor for tensors in parts.values() for tensor in tensors]
    return schema.FitImages(
        model=schema.ImageModel(
            name=name,
            family=family.name if family else None,
            file_bytes=sum(tensor.bytes for tensor in every),
            parameters=sum(map(_count, every)),
            side=pixels,
        ),
        parts=[schema.ImagePart(name=part, bytes=sizes[part], types=dict(by_kind(tensors))) for part, tensors in parts.items()],
        work=work,
        decoding=decoding,
        device=card.name if card else None,
        free=card.free if card else None,
        ways=answers,
        fits=None if card is None or card.free is None else any(way.fits for way in answers),
        estimate=True,
    )


def _loaded(tensor: Weight) -> int:
    """Bytes in memory: single precision is loaded as half, which is what these programs do by themselves."""
    return tensor.bytes // 2 if tensor.kind == "F32" else tensor.bytes


def _count(tensor: Weight) -> int:
    count = 1
    for size in tensor.sizes:
        count *= size
    return count


def _judge_way(way: str, need: int, aside: int, card: Pool | None, host: Pool) -> schema.ImageWay:
    fit = None if card is None or card.free is None else need <= card.free and (host.free is None or aside <= host.free)
    return schema.ImageWay(way=way, card=need, host=aside, fits=fit)
