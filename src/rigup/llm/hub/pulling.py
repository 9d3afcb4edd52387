"""A model is pulled: what is meant, whether it runs here, whether it is here already, and then its files."""

import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from rigup.fit.errors import FitError
from rigup.fit.hub import Found, names_tag
from rigup.fit.judge import Asked, of_found, requantised_as
from rigup.fit.pools import Pool
from rigup.fit.remote import Web
from rigup.language import _
from rigup.llm.hub.checking import checksum_of, worked_out
from rigup.llm.hub.entry import Entry
from rigup.llm.hub.errors import ModelError, WrongNameError
from rigup.llm.hub.fetch import Piece, Progress, fetched
from rigup.llm.hub.hf_api import Hub, files_of, linked
from rigup.llm.hub.hf_cache import folder_of
from rigup.llm.hub.judging import Judgement, judgement
from rigup.llm.hub.places import HUGGINGFACE
from rigup.llm.hub.wanted import Choice, Wanted, address_of, wanted
from rigup.sizes import size

_SHA256 = 64  # digits
_ROOM = 64 << 20  # bytes that are left free beside the files


class Target(NamedTuple):
    """A model that is to come, from whatever place.

    Attributes:
        name: by which other commands find it afterwards.
        source: whose store it goes into.
        pieces: its files.
        weights: SHA-256 and bytes of those that another program would have too.
        host: address of the hub or registry; `token` is shown to it alone.
        first: the name of the file by which it is judged.
        here: what an engine is given, where all is in that store already.
        finish: makes a model of files that have come; gives what an engine is given.

    """

    name: str
    source: str
    commit: str | None
    pieces: list[Piece]
    weights: list[tuple[str, int]]
    found: Found
    host: str
    token: str
    first: str
    choices: tuple[Choice, ...]
    notes: tuple[str, ...]
    here: Path | None
    finish: Callable[[], Path]


class Offer(NamedTuple):
    """Another type of the same model, and whether it runs here."""

    choice: Choice
    fits: bool | None
    where: str


class Verdict(NamedTuple):
    """What `fit` says of a model that lies elsewhere.

    Attributes:
        judgement: None where nobody can tell.
        because: why not.
        offers: the other types of its repository, where it does not run here; the largest first.

    """

    judgement: Judgement | None
    because: str = ""
    offers: tuple[Offer, ...] = ()

    @property
    def better(self) -> Offer | None:
        """The largest type that runs here."""
        return next((offer for offer in self.offers if offer.fits), None)


def target_of(word: str, hub: Hub, environ: Mapping[str, str], revision: str = "main") -> Target:
    """What a word names: a repository, a file of one, an address, or a tag of ollama.

    Raises:
        WrongNameError: it names nothing.
        ModelError: it cannot be had.
        FitError: there is no such model, or none of that type.

    """
    address = address_of(word, hub.endpoint, revision)
    if address is None and names_tag(word):
        from rigup.llm.hub.ollama_pull import of_tag

        return Target(**of_tag(word, environ))
    if address is None:
        template = _(
            "{word} names no model that can be loaded: write user/name, user/name:Q4_K_M, user/name/file.gguf, or a tag of ollama (llama3.2:3b)."
        )
        raise WrongNameError(template.format(word=word[:200]))
    commit, files = files_of(address, hub)
    asked = wanted(address, commit, files, hub.endpoint)
    name = f"{asked.repo}/{asked.first}" if asked.first else asked.repo
    return Target(
        name=name,
        source=HUGGINGFACE,
        commit=commit,
        pieces=_pieces(asked, hub),
        weights=[(file.digest, file.bytes) for file in asked.files] if asked.first else [],
        found=asked.found,
        host=hub.endpoint,
        token=hub.token,
        first=asked.first,
        choices=asked.choices,
        notes=asked.notes,
        here=_in_cache(asked, hub),
        finish=lambda: linked(asked, hub),
    )


def verdict(target: Target, pools: Sequence[Pool], cache: Path | None) -> Verdict:
    """Whether a model runs here, by its header alone; where it does not, which of its other types do.

    Args:
        target: the model.
        pools: the machine's memories.
        cache: where headers are kept.

    """
    if not (target.found.urls or target.found.config):
        return Verdict(None, _("Whether it runs here is told of language models alone."))
    try:
        asked = of_found(target.found, Web(target.token, target.host, cache), target.name)
        found = judgement(asked, pools)
    except FitError as error:
        return Verdict(None, str(error))
    except (ValueError, KeyError, ArithmeticError):
        return Verdict(None, _("Nothing can be told from its header."))
    return Verdict(found, "", _offers(asked, target, pools) if found.fits is False else ())


def _offers(asked: Asked, target: Target, pools: Sequence[Pool]) -> tuple[Offer, ...]:
    """The other types of a repository, each as `llama-quantize` would make it of this one."""
    found = []
    for choice in target.choices:
        if choice.file != target.first:
            offered = judgement(requantised_as(asked, choice.type), pools)
            found.append(Offer(choice, offered.fits, offered.where))
    return tuple(found)


# -- what is here already ----------------------------------------------------------------------------


def elsewhere(files: Iterable[tuple[str, int]], entries: Iterable[Entry], announce: Callable[[str], None]) -> Entry | None:
    """A model of another program that has just these files, by their checksums; None without one.

    Args:
        files: SHA-256 and bytes of each; what git keeps itself has no such checksum, and nothing is found.
        entries: what is on the disk.
        announce: is told of a file that has to be read whole for it.

    """
    needed = list(files)
    if not needed or any(len(digest) != _SHA256 for digest, _size in needed):
        return None
    for entry in entries:
        if entry.model is None or entry.state != "whole":
            continue
        held = {file.bytes for file in entry.files}
        if all(count in held for _digest, count in needed) and _holds(entry, needed, announce):
            return entry
    return None


def _holds(entry: Entry, needed: Sequence[tuple[str, int]], announce: Callable[[str], None]) -> bool:
    """All the files are among an entry's."""
    for digest, count in needed:
        held = [file for file in entry.files if file.bytes == count]
        if any(checksum_of(file) == digest for file in held):
            continue
        unnamed = [file for file in held if not checksum_of(file)]
        if unnamed:
            announce(_("{path} has the same size: its checksum is worked out.").format(path=unnamed[0].path))
        if not any(worked_out(file.real, file.bytes) == digest for file in unnamed):
            return False
    return True


# -- loading -----------------------------------------------------------------------------------------


def _pieces(asked: Wanted, hub: Hub) -> list[Piece]:
    """The files to load into the cache of Hugging Face, each once."""
    folder = folder_of(hub.cache, asked.repo)
    headers = {"Authorization": f"Bearer {hub.token}"} if hub.token else {}
    pieces = {}
    for file in asked.files:
        blob = folder / "blobs" / file.digest
        pieces[file.digest] = Piece(
            name=file.name,
            url=f"{hub.endpoint}/{quote(asked.repo)}/resolve/{asked.commit}/{quote(file.name)}",
            bytes=file.bytes,
            digest=file.digest,
            target=blob,
            partial=blob.with_name(blob.name + ".incomplete"),
            lock=hub.cache / ".locks" / folder.name / f"{file.digest}.lock",
            headers=headers,
        )
    return list(pieces.values())


def _in_cache(asked: Wanted, hub: Hub) -> Path | None:
    """What an engine is given, where all is linked in the cache already; None where something lacks."""
    snapshot = folder_of(hub.cache, asked.repo) / "snapshots" / asked.commit
    for file in asked.files:
        path = snapshot / file.name
        if not path.is_file() or path.stat().st_size != file.bytes:
            return None
    return snapshot / asked.first if asked.first else snapshot


def room(pieces: Sequence[Piece]) -> tuple[int, int]:
    """Bytes that have yet to come, and bytes that are free where they go."""
    needed = sum(piece.bytes - piece.present_bytes for piece in pieces)
    folder = pieces[0].target.parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return needed, shutil.disk_usage(folder).free


def pulled(target: Target, progress: Progress, watch: Callable[[], None]) -> Path:
    """Load the files into their store, checked, and make a model of them; what an engine is given.

    Raises:
        ModelError: they cannot be had, or there is no room for them; what came stays, and the next attempt goes on from there.

    """
    try:
        needed, free = room(target.pieces)
        if needed and needed + _ROOM > free:
            template = _(
                "{needed} are to come, and below {folder} only {free} are free. `rigup models` shows what takes the room; HF_HOME and OLLAMA_MODELS put it on another disk."
            )
            raise ModelError(template.format(needed=size(needed), folder=target.pieces[0].target.parent, free=size(free)))
        fetched(target.pieces, progress, watch)
        return target.finish()
    except OSError as error:
        path = os.fsdecode(error.filename) if error.filename else str(target.pieces[0].target.parent)
        template = _("{path} cannot be written: {why}.")
        raise ModelError(template.format(path=path, why=error.strerror or type(error).__name__)) from error
