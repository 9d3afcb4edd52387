"""Files of a folder as models: one of several parts is one, what stands beside it belongs to it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rigup.fit.hub import is_companion
from rigup.knowledge.model_stores import partial_suffixes
from rigup.language import _
from rigup.llm.hub.entry import BROKEN, PARTIAL, WHOLE, File, file_at
from rigup.llm.hub.places import read_json

_SHARD = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.IGNORECASE)
_MOST_SHARDS = 1000
_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".ckpt", ".onnx", ".h5", ".msgpack", ".npz")
_INDEX = ".safetensors.index.json"
_MOST_INDEX = 16 << 20


class Group(NamedTuple):
    """Files that are one model.

    Attributes:
        first: what it is called by: its first file, or its folder.
        model: what an engine is given; None for what none takes.

    """

    first: Path
    files: tuple[File, ...]
    model: Path | None
    form: str
    state: str = WHOLE
    fault: str = ""


def is_partial(name: str) -> bool:
    """A name that a program gives what has not come whole."""
    return name.lower().endswith(partial_suffixes())


def groups(folder: Path, paths: Sequence[Path]) -> list[Group]:
    """The models among some files, which lie in a folder or below it.

    Raises:
        KnowledgeError: the table of stores is malformed.

    """
    ggufs = [path for path in paths if path.name.lower().endswith(".gguf")]
    found = [_of_parts(parts, _projectors_of(parts[0], ggufs)) for parts in _parts([path for path in ggufs if not is_companion(path.name)])]
    found += [_single_file(path, PARTIAL, _("The download broke off.")) for path in paths if is_partial(path.name)]
    rest = [path for path in paths if path not in set(ggufs) and not is_partial(path.name)]
    return found + _of_tensors(folder, rest, bool(found))


def _parts(paths: Iterable[Path]) -> list[list[Path]]:
    """Files of several parts together."""
    found: dict[str, list[Path]] = {}
    for path in sorted(paths):
        match = _SHARD.fullmatch(path.name)
        found.setdefault(f"{path.parent}/{match['stem']}/{match['count']}" if match else str(path), []).append(path)
    return list(found.values())


def _projectors_of(first: Path, ggufs: Iterable[Path]) -> list[Path]:
    """Projectors and drafts in a model's own folder: whoever runs it takes them."""
    return [path for path in ggufs if is_companion(path.name) and path.parent == first.parent]


def _of_parts(parts: list[Path], side_files: list[Path]) -> Group:
    match = _SHARD.fullmatch(parts[0].name)
    count = min(int(match["count"]), _MOST_SHARDS) if match else 1
    files, fault = looked_at([*parts, *side_files])
    state = BROKEN if fault else WHOLE
    if len(parts) < count:
        sentence = _("{count} of its {all} parts are there.").format(count=len(parts), all=count)
        state, fault = PARTIAL, fault or sentence
    return Group(parts[0], files, parts[0], "gguf", state, fault)


def _single_file(path: Path, state: str, fault: str) -> Group:
    file = file_at(path, partial=state == PARTIAL)
    return Group(path, (file,) if file else (), None, "other", state, fault)


def looked_at(paths: Iterable[Path]) -> tuple[tuple[File, ...], str]:
    """Plain files, and what is wrong with the others in a sentence."""
    found, fault = [], ""
    for path in paths:
        file = file_at(path)
        if file:
            found.append(file)
        else:
            fault = fault or _("{name} is no file, or leads to none.").format(name=path.name)
    return tuple(found), fault


def _of_tensors(folder: Path, paths: list[Path], has_others: bool) -> list[Group]:
    """Weights of other forms, with all that lies beside them, as one model."""
    weights = [path for path in paths if path.name.lower().endswith(_WEIGHTS)]
    if not weights and (has_others or not paths):
        return []
    by_name = {path.relative_to(folder).as_posix(): path for path in paths}
    if not {"config.json", "model_index.json"} & set(by_name):
        return [_of_single(path) for path in weights]
    files, fault = looked_at(paths)
    state = BROKEN if fault else WHOLE
    if missing := _missing(by_name):
        state, fault = PARTIAL, _("{name} of it is not there.").format(name=missing)
    safe = any(path.name.endswith(".safetensors") for path in weights)
    runs = safe and "config.json" in by_name
    return [Group(folder, files, folder if runs else None, "safetensors" if safe else "other", state, fault)]


def _of_single(path: Path) -> Group:
    files, fault = looked_at([path])
    form = "safetensors" if path.name.endswith(".safetensors") else "other"
    return Group(path, files, None, form, BROKEN if fault else WHOLE, fault)


def _missing(by_name: Mapping[str, Path]) -> str:
    """A file that an index names and that is not there; "" where all are."""
    for name, path in by_name.items():
        if name.endswith(_INDEX):
            index = read_json(path, _MOST_INDEX)
            named = index.get("weight_map") if isinstance(index, dict) else None
            above = name.rpartition("/")[0]
            for shard in sorted({str(value) for value in named.values()} if isinstance(named, dict) else ()):
                if (f"{above}/{shard}" if above else shard) not in by_name:
                    return shard
    return ""
