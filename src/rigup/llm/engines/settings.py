"""How a model is to run on this machine: the figures of `fit`, as the words of an engine."""

from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from rigup.fit.pools import Pool
from rigup.fit.request import Request
from rigup.language import _
from rigup.llm.engines.wish import StartRequest

if TYPE_CHECKING:
    from rigup.fit.model import Model

_USUAL_CONTEXT, _CELL = 8192, 256
_MOST_CACHE, _CACHE_SHARE = 8192, 8
_RANKS = 4  # LLAMA_POOLING_TYPE_RANK
_AT_ONCE = (1, 2, _RANKS)  # of mean, of CLS: a text that is pooled so is computed in one batch, and refused where it is longer
_TOLD_LOG = "4"  # of llama.cpp: layers and buffers, and nothing of what anybody says


class Settings(NamedTuple):
    """What `fit` says.

    Attributes:
        request: as it is used.
        fits: whether it fits; None where nobody knows.
        pools: the memories for which that holds, without what a draft model takes.
        trained: tokens of context for which the model was made; 0 where nobody knows.
        spm: its vocabulary is of SentencePiece's kind.
        pools_tokens: the model says itself how tokens' states become one vector.
        on_devices: bytes of weights that are to lie there, a draft model's too.
        ranks: it ranks texts, and embeds none.
        draft_layers: of a draft model that are to lie on devices.

    """

    request: Request
    fits: bool | None
    pools: Sequence[Pool]
    trained: int = 0
    spm: bool = False
    pools_tokens: bool = False
    on_devices: int = 0
    ranks: bool = False
    draft_layers: int = 0


def settings_of(wish: StartRequest, pools: Sequence[Pool]) -> Settings:
    """Layers, context and cache for a GGUF file.

    Raises:
        FitError: a file is none, or is broken.

    """
    from rigup.fit.answers import best, fits
    from rigup.fit.drafts import drafted
    from rigup.fit.judge import of_file

    asked = of_file(Path(wish.model))
    trained = asked.model.number("context_length") or 0
    each = wish.context or min(trained or _USUAL_CONTEXT, _USUAL_CONTEXT)
    request = msgspec.structs.replace(wish.settings, context=each * wish.settings.parallel)
    pooling = asked.model.number("pooling_type")
    ranks = wish.rerank or pooling == _RANKS
    if ranks or (wish.embeddings and pooling in _AT_ONCE):
        request = msgspec.structs.replace(request, ubatch=max(each, request.ubatch))
    if wish.projector:
        request = msgspec.structs.replace(request, projector=Path(wish.projector).stat().st_size)
    draft = drafted(of_file(Path(wish.draft)).model, request, pools) if wish.draft else None
    pools = draft.left if draft else pools
    request, plan = best(asked.model, request, pools)
    if len(pools) == 1:
        request = msgspec.structs.replace(request, gpu_layers=0)
    return Settings(
        request,
        fits(plan, pools),
        pools,
        trained=trained,
        spm=asked.model.keys.get("tokenizer.ggml.model") == "llama",
        pools_tokens=bool(pooling),
        on_devices=(draft.on_devices if draft else 0) + sum(part.weights for part in plan.parts[:-1]),
        ranks=ranks,
        draft_layers=draft.layers if draft else 0,
    )


def changes_for(wish: StartRequest, settings: Settings) -> list[str]:
    """Settings with which it would fit, each by itself, as "name value"; asked only after it did not."""
    from rigup.fit.answers import changes
    from rigup.fit.errors import FitError
    from rigup.fit.judge import of_file, quantisation

    try:
        asked = of_file(Path(wish.model))
    except FitError:
        return []
    free = msgspec.structs.replace(settings.request, gpu_layers=None)
    every = changes(asked.model, free, settings.pools, quantisation(asked.model))
    fitting = [f"{change.change} {change.to}".strip() for change in every if change.fits and change.change != "context"]
    each = free.context // free.parallel
    for name, count in (("context", free.parallel), ("parallel", 1)):  # of each sequence; of fewer sequences
        longest = _longest(asked.model, msgspec.structs.replace(free, parallel=count), settings.pools, each)
        if longest and (name == "context" or (free.parallel > 1 and longest >= each)):
            fitting.append(f"{name} {longest if name == 'context' else count}")
    return [*fitting, _("no draft model")] if wish.draft else fitting


def _longest(model: "Model", request: Request, pools: Sequence[Pool], most: int) -> int:
    """Tokens of each sequence, at most so many, with which it fits; 0 for none."""
    from rigup.fit.answers import best, fits

    def lacks(cells: int) -> bool:
        trial = msgspec.structs.replace(request, context=cells * _CELL * request.parallel)
        return not fits(best(model, trial, pools, quick=True)[1], pools)

    counts = range(1, max(1, most // _CELL) + 1)
    return bisect_left(counts, True, key=lacks) * _CELL


def llama_words(wish: StartRequest, settings: Settings, port: int) -> list[str]:
    """The arguments of llama.cpp's server."""
    from rigup.fit.engines import start_llama

    request = settings.request
    embeds = wish.embeddings and not settings.ranks
    if embeds or settings.ranks:  # what is embedded or ranked is computed at once
        request = msgspec.structs.replace(request, batch=request.ubatch)
    words: list[str] = start_llama(wish.model, request, is_file=True).words[1:]
    words += ["--host", "127.0.0.1", "--port", str(port), "--alias", wish.called, "--jinja", "--metrics", "-lv", _TOLD_LOG]
    words += ["--reranking"] if settings.ranks else []
    words += ["--embeddings"] if embeds else []
    # of a chat model the state of its last token, which has seen all: a mean is computed of one batch alone, and refused beyond it
    words += ["--pooling", "last"] if embeds and not settings.pools_tokens else []
    words += ["--model-draft", wish.draft, "--gpu-layers-draft", str(settings.draft_layers)] if wish.draft else []
    words += ["--mmproj", wish.projector] if wish.projector else []
    return [*words, "--chat-template-file", wish.template] if wish.template else words


def prompt_cache(pools: Sequence[Pool]) -> int:
    """MiB of main memory for prompts that were computed; the engine's own default takes 8 GiB of whatever there is."""
    free = pools[-1].free or 0
    return min(_MOST_CACHE, free // _CACHE_SHARE >> 20)


def vllm_words(wish: StartRequest, pools: Sequence[Pool], port: int) -> list[str]:
    """The arguments of vLLM's server."""
    from rigup.fit.engines import judged_by_vllm
    from rigup.fit.judge import of_folder
    from rigup.fit.vllm import Wish

    asked = of_folder(Path(wish.model))
    context = wish.context or min(asked.model.number("context_length") or _USUAL_CONTEXT, _USUAL_CONTEXT)
    fit = judged_by_vllm(asked, Wish(context=context, kv=wish.settings.kv_type_k), pools, wish.model)
    words = fit.start.words[1:] if fit.start else []
    return [*words, "--host", "127.0.0.1", "--port", str(port), "--served-model-name", wish.called]
