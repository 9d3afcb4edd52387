"""Where a word names a model that lies elsewhere: an address, a repository of a hub, a tag of ollama."""

import re
from typing import Any, NamedTuple
from urllib.parse import quote

from rigup.fit.errors import FitError
from rigup.fit.images import part_of_folder
from rigup.fit.remote import Web
from rigup.fit.safetensors import plain_files
from rigup.language import _

_ADDRESS = re.compile(r"https?://", re.IGNORECASE)
_PAGE = re.compile(r"https?://[^/]+/(?P<repo>[\w.-]+/[\w.-]+)(?:/(?:blob|resolve)/[^/]+/(?P<file>[^?#]+)|/tree/[^/]+)?/?(?:[?#].*)?")
_REPO = re.compile(
    r"(?:(?:hf\.co|huggingface\.co)/)?(?P<repo>[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95})(?::(?P<quant>[\w.-]{1,80}))?", re.ASCII
)
_TAG = re.compile(r"(?P<model>[A-Za-z0-9][\w.-]{0,79}(?:/[A-Za-z0-9][\w.-]{0,79})?):(?P<tag>[A-Za-z0-9][\w.-]{0,79})", re.ASCII)
_SHARD = re.compile(r"-(\d{5})-of-(\d{5})\.gguf\Z")
_DEFAULT = "Q4_K_M"
_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
_MODEL_LAYER = "application/vnd.ollama.image.model"
_PROJECTOR_LAYER = "application/vnd.ollama.image.projector"
_MOST_FILES = 20_000


class Found(NamedTuple):
    """Addresses of a model's files, and what of the answer was taken for granted.

    Attributes:
        urls: of GGUF files, the first with the header; none where the repository has weights of another form.
        projector: bytes of what turns pictures into tokens.
        config: address of the repository's config.json.
        weights: bytes of its safetensors.
        pipeline: address of the model_index.json of one that makes pictures, as diffusers has it.
        parts: folder and address of each file that is loaded of it.

    """

    urls: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    projector: int = 0
    config: str = ""
    weights: int = 0
    pipeline: str = ""
    parts: tuple[tuple[str, str], ...] = ()


def is_address(word: str) -> bool:
    """A word that begins as an address does."""
    return bool(_ADDRESS.match(word))


def names_repository(word: str) -> bool:
    """A word that can name a repository of a hub."""
    return bool(_REPO.fullmatch(word))


def names_tag(word: str) -> bool:
    """A word that can name a tag of ollama."""
    return bool(_TAG.fullmatch(word))


def of_address(word: str, home: str, web: Web) -> Found:
    """A file by its address, or a repository by that of its page."""
    page = _PAGE.fullmatch(word)
    if page and word.startswith(home):
        if page["file"]:
            return Found((f"{home}/{page['repo']}/resolve/main/{page['file']}",))
        return of_repository(page["repo"], home, web)
    return Found((word,))


def of_repository(word: str, home: str, web: Web) -> Found:
    """The file of a repository that a person means: the type that stands behind a colon, else the usual one.

    Raises:
        FitError: there is no such repository, or it has no file that can be judged.

    """
    match = _REPO.fullmatch(word)
    if not match:
        raise FitError(_("{word} names no repository: write user/name, or user/name:Q4_K_M.").format(word=word[:120]))
    repo, wanted = match["repo"], match["quant"] or ""
    listed = web.json(f"{home}/api/models/{quote(repo)}/tree/main?recursive=true")
    files = (
        {str(entry["path"]): _size(entry) for entry in listed[:_MOST_FILES] if isinstance(entry, dict) and entry.get("path")}
        if isinstance(listed, list)
        else {}
    )
    return of_listing(repo, wanted, files, f"{home}/{quote(repo)}/resolve/main/")


def of_listing(repo: str, wanted: str, files: dict[str, int], base: str, file: str = "") -> Found:
    """The file of a repository that a person means, by its list of files.

    Args:
        repo: its name.
        wanted: the type that is asked for; "" is the usual one.
        files: bytes of each file.
        base: what addresses of files begin with.
        file: the very file that is asked for.

    Raises:
        FitError: it has no file that can be judged.

    """
    models = sorted(name for name in files if name.lower().endswith(".gguf") and not is_companion(name))
    projector = max((size for name, size in files.items() if name.lower().endswith(".gguf") and "mmproj" in name.lower()), default=0)
    if not models and not file:
        return _of_tensors(repo, files, base)
    name, notes = (file, ()) if file else chosen(models, wanted, repo)
    parts = [name]
    if shard := _SHARD.search(name):
        stem = name[: shard.start()]
        parts = [f"{stem}-{number:05d}-of-{shard[2]}.gguf" for number in range(1, min(int(shard[2]), 1000) + 1)]
    return Found(tuple(base + quote(part) for part in parts), notes, projector)


def _size(entry: dict[str, Any]) -> int:
    large = entry.get("lfs")
    size = large.get("size") if isinstance(large, dict) else entry.get("size")
    return size if isinstance(size, int) and size >= 0 else 0


def is_companion(name: str) -> bool:
    """A GGUF file beside a model: a projector, a draft, an importance matrix."""
    last = name.rpartition("/")[2].lower()
    return last.startswith(("mmproj", "mtp-", "imatrix")) or "mmproj" in last


def chosen(models: list[str], wanted: str, repo: str) -> tuple[str, tuple[str, ...]]:
    """The first file of a model among a repository's GGUF files, of the type that is wanted, and what was taken for granted.

    Raises:
        FitError: there is none of that type.

    """
    firsts = [name for name in models if not (shard := _SHARD.search(name)) or shard[1] == "00001"]
    kind = wanted or _DEFAULT
    fit = [name for name in firsts if re.search(rf"(?<![A-Za-z0-9]){re.escape(kind)}(?![A-Za-z0-9_])", name, re.IGNORECASE)]
    if fit:
        text = _("{repo}: {name} was taken, since no type was named.").format(repo=repo, name=fit[0])
        return fit[0], () if wanted else (text,)
    if wanted:
        text = _("{repo} has no file of the type {type}. It has: {files}.")
        raise FitError(text.format(repo=repo, type=wanted, files=", ".join(firsts[:40])))
    if not firsts:
        raise FitError(_("{repo} has no first part of a model.").format(repo=repo))
    text = _("{repo}: {name} was taken, since no type was named.").format(repo=repo, name=firsts[0])
    return firsts[0], (text,)


def _of_tensors(repo: str, files: dict[str, int], base: str) -> Found:
    weights = sum(size for name, size in files.items() if name.endswith(".safetensors") and "/" not in name)
    if "config.json" in files and weights:
        return Found((), (), 0, f"{base}config.json", weights)
    if parts := _of_pipeline(files):
        located = tuple((name.partition("/")[0], base + quote(name)) for name in parts)
        return Found(pipeline=f"{base}model_index.json", parts=located)
    raise FitError(_("{repo} has neither GGUF files nor safetensors with a config.json.").format(repo=repo))


def _of_pipeline(files: dict[str, int]) -> list[str]:
    """The files that diffusers loads of a repository; none where it has no pipeline."""
    if "model_index.json" not in files:
        return []
    by_folder: dict[str, list[str]] = {}
    for name in sorted(files):
        folder, _slash, last = name.partition("/")
        if part_of_folder(folder) and "/" not in last and last.endswith(".safetensors"):
            by_folder.setdefault(folder, []).append(last)
    return [f"{folder}/{name}" for folder, names in by_folder.items() for name in plain_files(names)]


def of_tag(word: str, registry: str, web: Web) -> Found:
    """The model behind a tag of ollama, which its registry keeps as a GGUF file.

    Raises:
        FitError: there is no such tag.

    """
    match = _TAG.fullmatch(word)
    if not match:
        raise FitError(_("{word} names no tag: write for instance llama3.2:3b.").format(word=word[:120]))
    name = match["model"] if "/" in match["model"] else f"library/{match['model']}"
    manifest = web.json(f"{registry}/v2/{name}/manifests/{match['tag']}", {"Accept": _MANIFEST})
    layers = [layer for layer in (manifest.get("layers") if isinstance(manifest, dict) else None) or () if isinstance(layer, dict)]
    blob = next((str(layer.get("digest")) for layer in layers if layer.get("mediaType") == _MODEL_LAYER), "")
    if not re.fullmatch(r"sha256:[0-9a-f]{64}", blob):
        raise FitError(_("{word} has no model in the registry.").format(word=word))
    projector = sum(_size(layer) for layer in layers if layer.get("mediaType") == _PROJECTOR_LAYER)
    return Found((f"{registry}/v2/{name}/blobs/{blob}",), (), projector)
