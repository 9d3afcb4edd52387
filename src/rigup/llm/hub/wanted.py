"""What a person wants to pull: a word becomes the files of a repository, each with its size and checksum."""

import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import quote, unquote

import msgspec

from rigup.fit.hub import Found, is_companion, of_listing
from rigup.knowledge.model_shapes import file_types
from rigup.language import _
from rigup.llm.hub.errors import ModelError, WrongNameError

HUB = "https://huggingface.co"
_NAME = r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}"
_WORD = re.compile(rf"(?P<repo>{_NAME})(?::(?P<quant>[\w.-]{{1,80}})|/(?P<file>[^?#]+))?", re.ASCII)
_PAGE = re.compile(
    rf"(?P<repo>{_NAME})(?:/(?:blob|resolve|raw)/(?P<revision>[^/?#]+)/(?P<file>[^?#]+)|/tree/(?P<tree>[^/?#]+))?/?(?:[?#].*)?", re.ASCII
)
_REVISION = re.compile(r"[A-Za-z0-9][\w.-]{0,99}(?:/[\w-][\w.-]{0,99}){0,4}", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{64}|[0-9a-f]{40}")
COMMIT = re.compile(r"[0-9a-f]{40}")
_MOST_FILES, _MOST_NAME = 20_000, 1024
_TYPE = r"(?<![A-Za-z0-9]){}(?![A-Za-z0-9_])"
_OTHER_FORMS = (".bin", ".pt", ".pth", ".ckpt", ".onnx", ".h5", ".msgpack", ".tflite", ".ot", ".mlmodel", ".gguf", ".onnx_data")
_ASIDE = ("original/", "onnx/", "openvino/", "coreml/", "consolidated")


class Address(NamedTuple):
    """A repository with what of it is meant: a type of file, a file, or what is usual; `revision` as it was told."""

    repo: str
    quant: str = ""
    file: str = ""
    revision: str = "main"


class RemoteFile(msgspec.Struct, frozen=True):
    """A file of a repository.

    Attributes:
        digest: SHA-256 of what lies in large storage (64 digits), else git's name of the blob (40).

    """

    name: str
    bytes: int
    digest: str


class Choice(msgspec.Struct, frozen=True):
    """A model of a repository that could be taken instead: its first file, the type that its name tells, all bytes."""

    file: str
    type: str
    bytes: int


class Wanted(msgspec.Struct, kw_only=True):
    """The files to load, and where they lie.

    Attributes:
        revision: the branch or tag that was asked for; `commit` is what it is now.
        first: the file by which an engine starts it; "" for a folder of safetensors.
        found: the same as `fit` knows it.
        choices: other types in the same repository.

    """

    repo: str
    revision: str
    commit: str
    files: tuple[RemoteFile, ...]
    first: str
    found: Found
    choices: tuple[Choice, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def bytes(self) -> int:
        """Of all files."""
        return sum(file.bytes for file in self.files)


def address_of(word: str, endpoint: str, revision: str = "main") -> Address | None:
    """The repository that a word names; None for a word that names none.

    Args:
        word: as a person writes it, an address of a page or a file too.
        endpoint: where the hub lies.
        revision: the branch, tag or commit, where the word tells none.

    Raises:
        WrongNameError: an address of another host, or a name that leads out of a folder.

    """
    plain = word.strip()
    for home in (endpoint, HUB, "https://hf.co"):
        if plain.lower().startswith(home.lower() + "/"):
            page = _PAGE.fullmatch(plain[len(home) + 1 :])
            if page:
                return _checked(
                    Address(page["repo"], "", unquote(page["file"] or ""), unquote(page["revision"] or page["tree"] or revision))
                )
    if re.match(r"https?://", plain, re.IGNORECASE):
        raise WrongNameError(
            _("{word} is no address of {endpoint}: of other hosts there are no checksums.").format(word=word[:200], endpoint=endpoint)
        )
    for start in ("hf://", "hf.co/", "huggingface.co/"):
        plain = plain[len(start) :] if plain.lower().startswith(start) else plain
    match = _WORD.fullmatch(plain)
    return _checked(Address(match["repo"], match["quant"] or "", match["file"] or "", revision)) if match else None


def _checked(address: Address) -> Address:
    if not _REVISION.fullmatch(address.revision) or ".." in address.revision:
        raise WrongNameError(_("{word} is no branch, tag or commit.").format(word=address.revision[:200]))
    if address.file and not is_safe(address.file):
        raise WrongNameError(_("{name} is no name of a file in a repository.").format(name=address.file[:200]))
    return address


def is_safe(name: str) -> bool:
    """A file's name that stays in its folder, on every system."""
    parts = name.split("/")
    if not name or len(name) > _MOST_NAME or any(letter in name for letter in '\\:\0*?"<>|') or not name.isprintable():
        return False
    return all(part not in ("", ".", "..") and part == part.rstrip(". ") and len(part) <= 255 for part in parts)


def listed(siblings: object) -> dict[str, RemoteFile]:
    """The files that the hub tells of, by name; those that cannot be had by a checksum or a name of a file are left out."""
    found: dict[str, RemoteFile] = {}
    for sibling in list(siblings or ())[:_MOST_FILES] if isinstance(siblings, list | tuple) else ():
        name, large = getattr(sibling, "rfilename", None), getattr(sibling, "lfs", None)
        digest = getattr(large, "sha256", None) if large else getattr(sibling, "blob_id", None)
        size = getattr(large, "size", None) if large else getattr(sibling, "size", None)
        if isinstance(name, str) and type(size) is int and size >= 0 and isinstance(digest, str) and _DIGEST.fullmatch(digest):
            found[name] = RemoteFile(name, size, digest)
    return found


def wanted(address: Address, commit: str, files: Mapping[str, RemoteFile], endpoint: str) -> Wanted:
    """The files of a repository that are meant.

    Raises:
        ModelError: it has none such, or one whose name leads out of its folder.
        FitError: it has no model, or none of that type.

    """
    repo = address.repo
    sizes = {name: file.bytes for name, file in files.items()}
    base = f"{endpoint}/{quote(repo)}/resolve/{commit}/"
    if address.file and address.file not in files:
        near = ", ".join(sorted(name for name in files if name.lower().endswith((".gguf", ".safetensors")))[:40])
        raise ModelError(_("{repo} has no file {name}. It has: {files}.").format(repo=repo, name=address.file, files=near))
    if address.file and not address.file.lower().endswith(".gguf"):
        found, names = Found(), [address.file]
    else:
        found = of_listing(repo, address.quant, sizes, base, address.file)
        names = [unquote(url.removeprefix(base)) for url in found.urls]
        names += _projector(files, names) if names else _of_tensors(files, found)
    if missing := [name for name in names if name not in files]:
        raise ModelError(_("{repo} lacks {name}, which belongs to the model.").format(repo=repo, name=missing[0]))
    if wrong := [name for name in names if not is_safe(name)]:
        raise ModelError(
            _("{repo} has a file called {name}, which leads out of its folder: nothing was loaded.").format(repo=repo, name=wrong[0][:200])
        )
    return Wanted(
        repo=repo,
        revision=address.revision,
        commit=commit,
        files=tuple(files[name] for name in dict.fromkeys(names)),
        first=names[0] if found.urls or address.file else "",
        found=found,
        choices=choices(files),
        notes=found.notes,
    )


def _projector(files: Mapping[str, RemoteFile], names: list[str]) -> list[str]:
    """What turns pictures into tokens, in the usual precision, beside the model or at the root."""
    folder = names[0].rpartition("/")[0]
    held = [
        file for file in files if "mmproj" in file.lower() and file.lower().endswith(".gguf") and file.rpartition("/")[0] in (folder, "")
    ]
    order = ("f16", "bf16", "q8_0")
    return sorted(
        held, key=lambda file: next((at for at, kind in enumerate(order) if re.search(_TYPE.format(kind), file, re.IGNORECASE)), len(order))
    )[:1]


def _of_tensors(files: Mapping[str, RemoteFile], found: Found) -> list[str]:
    """Safetensors and what stands beside them, without the same weights in other forms."""
    parts = {unquote(f"{folder}/{url.rpartition('/')[2]}") for folder, url in found.parts}
    return [
        name
        for name in sorted(files)
        if not name.lower().endswith(_OTHER_FORMS)
        and not name.startswith((*_ASIDE, ".git"))
        and (not name.endswith(".safetensors") or (name in parts if parts else "/" not in name))
    ]


def choices(files: Mapping[str, RemoteFile]) -> tuple[Choice, ...]:
    """The models of a repository whose names tell their types, the largest first."""
    types = sorted((kind.name for kind in file_types()), key=len, reverse=True)
    found: dict[str, Choice] = {}
    for name, file in sorted(files.items()):
        kind = next((kind for kind in types if re.search(_TYPE.format(re.escape(kind)), name, re.IGNORECASE)), "")
        if not name.lower().endswith(".gguf") or is_companion(name) or not kind or not is_safe(name):
            continue
        stem = re.sub(r"-\d{5}-of-\d{5}\.gguf$", "", name)
        before = found.get(stem)
        found[stem] = Choice(before.file, kind, before.bytes + file.bytes) if before else Choice(name, kind, file.bytes)
    return tuple(sorted(found.values(), key=lambda choice: -choice.bytes))
