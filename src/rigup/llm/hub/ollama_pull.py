"""A tag of ollama's registry: its layers come into the account's own store, in ollama's own form."""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rigup.fit.hub import Found, names_tag
from rigup.fit.remote import Unreachable, Web
from rigup.language import _
from rigup.llm.hub.errors import ModelError
from rigup.llm.hub.fetch import Piece
from rigup.llm.hub.ollama_store import LIBRARY, MODEL_LAYER, REGISTRY
from rigup.llm.hub.places import OLLAMA, places

_HOME = f"https://{REGISTRY}"
_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
_PROJECTOR = "application/vnd.ollama.image.projector"
_DIGEST = re.compile(r"sha256:(?P<hex>[0-9a-f]{64})")
_MOST_LAYERS = 4096


def lock_of(store: Path, digest: str) -> Path:
    """Who holds it loads that blob."""
    return store / ".rigup-locks" / f"{digest}.lock"


def of_tag(word: str, environ: Mapping[str, str]) -> dict[str, Any]:
    """What `Target` is made of, for a tag as people write it.

    Raises:
        ModelError: the registry does not answer, or has no such model.

    """
    home = environ.get("RIGUP_OLLAMA_REGISTRY", _HOME).rstrip("/")
    model, _colon, tag = word.partition(":")
    name = model if "/" in model else f"{LIBRARY}/{model}"
    if not names_tag(word) or ".." in word:
        raise ModelError(_("{word} names no tag: write for instance llama3.2:3b.").format(word=word[:120]))
    try:
        manifest = Web().json(f"{home}/v2/{name}/manifests/{tag}", {"Accept": _MANIFEST})
    except Unreachable as error:
        raise ModelError(str(error)) from error
    layers = _layers(manifest)
    weights = [layer for layer in layers if layer[0] in (MODEL_LAYER, _PROJECTOR)]
    if not any(kind == MODEL_LAYER for kind, _hex, _size in layers):
        raise ModelError(_("{word} has no model in the registry.").format(word=word))
    store = next(place.path for place in places(environ) if place.store == OLLAMA)
    first = next(digest for kind, digest, _size in layers if kind == MODEL_LAYER)
    pieces = {digest: _piece(word, home, name, store, digest, size) for _kind, digest, size in layers}
    path = store / "manifests" / REGISTRY / name / tag
    blob = store / "blobs" / f"sha256-{first}"
    whole = path.is_file() and all(piece.present_bytes == piece.bytes and piece.target.is_file() for piece in pieces.values())

    def finish() -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        draft.write_text(json.dumps(manifest), encoding="utf-8")
        draft.replace(path)
        return blob

    url = f"{home}/v2/{name}/blobs/sha256:{first}"
    projector = sum(size for kind, _digest, size in layers if kind == _PROJECTOR)
    return {
        "name": word,
        "source": OLLAMA,
        "commit": None,
        "pieces": list(pieces.values()),
        "weights": [(digest, size) for _kind, digest, size in weights],
        "found": Found((url,), (), projector),
        "host": home,
        "token": "",
        "first": blob.name,
        "choices": (),
        "notes": (),
        "here": blob if whole else None,
        "finish": finish,
    }


def _layers(manifest: Any) -> list[tuple[str, str, int]]:
    """Kind, digest and bytes of each layer and of the configuration. Raises ModelError for what cannot be checked."""
    held = manifest.get("layers") if isinstance(manifest, dict) else None
    found = []
    for layer in [*held, manifest.get("config")][:_MOST_LAYERS] if isinstance(held, list) else ():
        match = _DIGEST.fullmatch(str(layer.get("digest"))) if isinstance(layer, dict) else None
        size = layer.get("size") if isinstance(layer, dict) else None
        if not match or type(size) is not int or size < 0:
            raise ModelError(_("The registry names a file without a checksum: nothing was loaded."))
        found.append((str(layer.get("mediaType")), match["hex"], size))
    return found


def _piece(word: str, home: str, name: str, store: Path, digest: str, size: int) -> Piece:
    blob = store / "blobs" / f"sha256-{digest}"
    return Piece(
        name=f"{word} {digest[:12]}",
        url=f"{home}/v2/{name}/blobs/sha256:{digest}",
        bytes=size,
        digest=digest,
        target=blob,
        partial=blob.with_name(blob.name + "-partial"),
        lock=lock_of(store, digest),
    )
