"""Models in ollama's store: manifests, which name blobs that several of them share."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rigup.language import _
from rigup.llm.hub.entry import BROKEN, LEFT, PARTIAL, WHOLE, Entry, File, file_at, walked
from rigup.llm.hub.places import Place, read_json

REGISTRY, LIBRARY = "registry.ollama.ai", "library"
MODEL_LAYER = "application/vnd.ollama.image.model"
_DIGEST = re.compile(r"sha256:(?P<hex>[0-9a-f]{64})")
_BLOB = re.compile(r"sha256-(?P<hex>[0-9a-f]{64})(?P<partial>-partial.*)?")
_MOST_LAYERS = 4096
_SHORT = 12


def entries(place: Place) -> Iterator[Entry]:
    """The models of a store, downloads that broke off, and blobs that no manifest names.

    Raises:
        OSError: the store cannot be read.

    """
    manifests, blobs = place.path / "manifests", place.path / "blobs"
    named: set[str] = set()
    if manifests.is_dir():
        for _folder, files in walked(manifests):
            for file in files:
                path = Path(file.path)
                layers = _layers(path)
                named |= {digest for digest, _size, _kind in layers}
                yield _of_manifest(place, path, layers)
    if blobs.is_dir():
        yield from _others(place, blobs, named)


def name_of(below: tuple[str, ...]) -> str:
    """What a person calls the model of a manifest at this path below `manifests`."""
    *above, tag = below
    if above[:1] == [REGISTRY]:
        above = above[2:] if above[1:2] == [LIBRARY] else above[1:]
    return "/".join(above) + f":{tag}"


def _layers(path: Path) -> list[tuple[str, int | None, str]]:
    """Digest, bytes and kind of each layer; none where it is no manifest."""
    manifest = read_json(path)
    held = (
        [*(manifest.get("layers") or ()), manifest.get("config")]
        if isinstance(manifest, dict) and isinstance(manifest.get("layers"), list)
        else []
    )
    return [found for layer in held[:_MOST_LAYERS] if (found := _layer(layer))]


def _layer(layer: Any) -> tuple[str, int | None, str] | None:
    match = _DIGEST.fullmatch(str(layer.get("digest"))) if isinstance(layer, dict) else None
    if not match:
        return None
    size = layer.get("size")
    return match["hex"], size if type(size) is int else None, str(layer.get("mediaType"))


def _of_manifest(place: Place, path: Path, layers: list[tuple[str, int | None, str]]) -> Entry:
    found: list[File] = []
    fault, model = "", None
    for digest, size, kind in layers:
        blob = place.path / "blobs" / f"sha256-{digest}"
        file = file_at(blob)
        if file is None or (size is not None and file.bytes != size):
            fault = fault or _("The blob {name} is not there, or not whole.").format(name=f"sha256-{digest[:_SHORT]}")
        if file:
            found.append(file)
        if kind == MODEL_LAYER and model is None:
            model = blob
    if not layers:
        fault = _("Its manifest cannot be read.")
    return Entry(
        name=name_of(path.relative_to(place.path / "manifests").parts),
        store=place.store,
        root=place.path,
        files=tuple(found),
        model=model,
        form="gguf" if model else "other",
        state=BROKEN if fault else WHOLE,
        fault=fault,
        extra=(path,),
    )


def _others(place: Place, blobs: Path, named: set[str]) -> Iterator[Entry]:
    partial: dict[str, list[File]] = {}
    for path in sorted(blobs.iterdir()):
        match = _BLOB.fullmatch(path.name)
        if not match or (match["hex"] in named and not match["partial"]):
            continue
        file = file_at(path, partial=bool(match["partial"]))
        if file and match["partial"]:
            partial.setdefault(match["hex"], []).append(file)
        elif file:
            fault = _("No manifest names it: ollama removes it when it starts.")
            yield Entry(name=path.name[: 7 + _SHORT], store=place.store, root=place.path, files=(file,), state=LEFT, fault=fault)
    for digest, files in partial.items():
        yield Entry(
            name=f"sha256-{digest[:_SHORT]}-partial",
            store=place.store,
            root=place.path,
            files=tuple(files),
            state=PARTIAL,
            fault=_("The download broke off."),
        )
