"""Stores of models as programs make them, with small real GGUF files."""

import hashlib
import json
import os
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "fit"))
import ggufs

COMMIT, OLDER = "a" * 40, "b" * 40


def gguf(seed: int = 0, layers: int = 2, **more) -> bytes:
    """A whole model of llama's kind, some hundred kilobytes large; another seed makes other bytes."""
    keys, tensors = ggufs.llama(width=64, layers=layers, heads=2, shared=1, inner=128, words=256, length=32, context=512, **more)
    head, size = ggufs.header(keys, tensors)
    return head + struct.pack("<I", seed) * (size // 4)


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def git_blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def hf(cache: Path, repo: str, files: dict[str, bytes], commit: str = COMMIT, main: bool = True) -> Path:
    """A snapshot in the cache of Hugging Face; the folder of the repository."""
    folder = cache / ("models--" + repo.replace("/", "--"))
    for name, content in files.items():
        blob = put(folder / "blobs" / digest(content), content)
        link = folder / "snapshots" / commit / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(blob, link.parent))
    if main:
        put(folder / "refs" / "main", commit.encode())
    return folder


def ollama(store: Path, name: str, model: bytes, more: dict[str, bytes] | None = None) -> Path:
    """A model of ollama's registry; its manifest."""
    layers = []
    for kind, content in {"model": model, **(more or {})}.items():
        put(store / "blobs" / f"sha256-{digest(content)}", content)
        layers.append({"mediaType": f"application/vnd.ollama.image.{kind}", "digest": f"sha256:{digest(content)}", "size": len(content)})
    config = b'{"model_format":"gguf"}'
    put(store / "blobs" / f"sha256-{digest(config)}", config)
    told = {"schemaVersion": 2, "config": {"digest": f"sha256:{digest(config)}", "size": len(config)}, "layers": layers}
    model_name, _colon, tag = name.partition(":")
    above = model_name if "/" in model_name else f"library/{model_name}"
    return put(store / "manifests" / "registry.ollama.ai" / above / tag, json.dumps(told).encode())
