"""Hugging Face's hub through its own library: what a repository holds, and the links of its cache."""

import json
import os
import re
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rigup.language import _, sentences
from rigup.llm.hub.errors import ModelError, WrongNameError
from rigup.llm.hub.hf_cache import folder_of
from rigup.llm.hub.places import HUGGINGFACE, places
from rigup.llm.hub.wanted import COMMIT, HUB, Address, RemoteFile, Wanted, listed

if TYPE_CHECKING:
    from collections.abc import Iterator

_SECONDS = 30.0
_NUMBER = re.compile(r"^\[Errno -?\d+\] ")


class Hub(NamedTuple):
    """Where the hub lies, and who asks.

    Attributes:
        endpoint: its address, without a slash at the end.
        token: shown to that address alone; "" is none.
        cache: the folder of the account's cache.

    """

    endpoint: str
    token: str
    cache: Path


def hub_of(environ: Mapping[str, str], mirror: str = "") -> Hub:
    """The hub as this account's variables have it, or a mirror by its name in the table.

    A mirror gets no token, unless HF_ENDPOINT names it too.

    Raises:
        WrongNameError: huggingface_hub is not installed, or there is no such mirror.

    """
    try:
        import huggingface_hub
    except ImportError as error:
        template = _("Loading models needs huggingface_hub: install it with `pip install 'rigup[llm]'`.")
        raise WrongNameError(template) from error
    from huggingface_hub import constants

    from rigup.knowledge.mirrors import mirror_names, mirrored

    constants.HF_HUB_DISABLE_TELEMETRY = True  # nobody is told what else is installed, nor who calls
    own = environ.get("HF_ENDPOINT", "").rstrip("/") or HUB
    endpoint = mirrored(mirror, "hub").rstrip("/") if mirror else own
    if not endpoint:
        held = ", ".join(name for name in mirror_names() if mirrored(name, "hub"))
        raise WrongNameError(_("There is no mirror {name} of Hugging Face. There are: {names}.").format(name=mirror[:60], names=held))
    token = environ.get("HF_TOKEN") or environ.get("HUGGING_FACE_HUB_TOKEN") or ""
    if not token and environ.get("HF_HUB_DISABLE_IMPLICIT_TOKEN", "").upper() not in ("1", "ON", "YES", "TRUE"):
        token = huggingface_hub.get_token() or ""
    cache = next(place.path for place in places(environ) if place.store == HUGGINGFACE)
    return Hub(endpoint, token if endpoint == own else "", cache)


@contextmanager
def as_hub_errors(repo: str, hub: Hub) -> "Iterator[None]":
    """What the library raises, as a person reads it."""
    import httpx2
    from huggingface_hub import errors

    host = hub.endpoint.partition("://")[2]
    try:
        yield
    except errors.GatedRepoError as error:
        template = _("{repo} is not for everybody: accept its terms at {page}, and set HF_TOKEN to a token of yours.")
        raise ModelError(template.format(repo=repo, page=f"{hub.endpoint}/{repo}")) from error
    except errors.RepositoryNotFoundError as error:
        template = _("There is no repository {repo} at {host}, or it is private and HF_TOKEN does not open it.")
        raise ModelError(template.format(repo=repo, host=host)) from error
    except errors.RevisionNotFoundError as error:
        raise ModelError(_("{repo} has no such branch, tag or commit.").format(repo=repo)) from error
    except errors.OfflineModeIsEnabled as error:
        raise ModelError(_("HF_HUB_OFFLINE is set, so nothing is loaded.")) from error
    except errors.HfHubHTTPError as error:
        raise ModelError(refused(host, error.response.status_code)) from error
    except (httpx2.HTTPError, httpx2.InvalidURL, errors.LocalEntryNotFoundError) as error:
        raise ModelError(no_answer(host, error)) from error
    except errors.FileMetadataError as error:
        raise ModelError(_("{host} does not answer as a hub of models does.").format(host=host)) from error
    except errors.HFValidationError as error:
        raise WrongNameError(_("{repo} is no name of a repository.").format(repo=repo)) from error


def refused(host: str, status: int) -> str:
    """What is said of an answer that brings nothing."""
    if status in (401, 403):
        return _("{host} does not give it to this account (status {status}): set HF_TOKEN to a token that may read it.").format(
            host=host, status=status
        )
    return _("{host} answers with the status {status}; try again later.").format(host=host, status=status)


def no_answer(host: str, error: Exception) -> str:
    """What is said where nobody answers, and that there are mirrors."""
    from rigup.knowledge.mirrors import mirror_names, mirrored

    why = _NUMBER.sub("", str(error)) or type(error).__name__
    sentence = _("{host} does not answer: {why}.").format(host=host, why=why)
    held = ", ".join(name for name in mirror_names() if mirrored(name, "hub"))
    return sentences(sentence, _("Where it cannot be reached, --mirror takes a copy: {names}.").format(names=held) if held else "")


def files_of(address: Address, hub: Hub) -> tuple[str, dict[str, RemoteFile]]:
    """The commit that a revision is now, and the files of it with their checksums.

    Raises:
        ModelError: the hub does not say.

    """
    from huggingface_hub import HfApi

    with as_hub_errors(address.repo, hub):
        api = HfApi(endpoint=hub.endpoint, token=hub.token or False, library_name="rigup")
        try:
            info = api.model_info(address.repo, revision=address.revision, files_metadata=True, timeout=_SECONDS)
        except (TypeError, AttributeError, KeyError, RecursionError, json.JSONDecodeError) as error:
            host = hub.endpoint.partition("://")[2]
            raise ModelError(_("{host} does not answer as a hub of models does.").format(host=host)) from error
    if not isinstance(info.sha, str) or not COMMIT.fullmatch(info.sha):
        raise ModelError(_("{host} tells no commit of {repo}.").format(host=hub.endpoint, repo=address.repo))
    return info.sha, listed(info.siblings)


def linked(wanted: Wanted, hub: Hub) -> Path:
    """Link blobs that are there into a snapshot, as the library does it; the path of the first file, or of the snapshot.

    Raises:
        ModelError: the hub tells other checksums than before, or does not answer.

    """
    from huggingface_hub import hf_hub_download

    folder = folder_of(hub.cache, wanted.repo)
    for file in wanted.files:
        with as_hub_errors(wanted.repo, hub):
            _check_digest(wanted, file, hub)
            hf_hub_download(
                wanted.repo,
                file.name,
                revision=wanted.commit,
                cache_dir=hub.cache,
                endpoint=hub.endpoint,
                token=hub.token or False,
                library_name="rigup",
            )
    if not COMMIT.fullmatch(wanted.revision):
        ref = folder / "refs" / wanted.revision
        ref.parent.mkdir(parents=True, exist_ok=True)
        draft = ref.with_name(f".{ref.name}.{os.getpid()}")
        draft.write_text(wanted.commit, encoding="ascii")
        draft.replace(ref)
    snapshot = folder / "snapshots" / wanted.commit
    return snapshot / wanted.first if wanted.first else snapshot


def _check_digest(wanted: Wanted, file: RemoteFile, hub: Hub) -> None:
    """Raise ModelError where the library would look for a blob of another name than the checksum."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url

    url = hf_hub_url(wanted.repo, file.name, revision=wanted.commit, endpoint=hub.endpoint)
    metadata = get_hf_file_metadata(url, token=hub.token or False, endpoint=hub.endpoint, timeout=_SECONDS, library_name="rigup")
    if metadata.etag != file.digest:
        template = _("{host} tells two checksums of {name}: nothing of it is taken for good.")
        raise ModelError(template.format(host=hub.endpoint, name=file.name))
