"""What a model on disk is, and whether it runs here: by its header, as `fit` reads it."""

import contextlib
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import UNSET

from rigup.fit.errors import FitError
from rigup.fit.gguf import read_header
from rigup.fit.judge import Asked, judged, of_file, of_folder
from rigup.fit.pools import Pool
from rigup.fit.request import Request
from rigup.fit.source import Local
from rigup.language import _
from rigup.llm.hub.entry import BROKEN, PARTIAL, WHOLE, Entry
from rigup.schemas.fit import Model

USUAL_CONTEXT = 8192
_PROJECTOR = "clip"


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """What `fit` says of a model.

    Attributes:
        model: its name, architecture, parameters, quantisation.
        fits: it runs here; None where nobody can tell.
        where: "gpu", "both" or "cpu".
        layers: on devices, of all.
        speed: tokens a second that it probably writes; None where nobody knows.
        context: tokens that were reckoned with.
        best: the finest quantisation that runs here, where that was asked for.

    """

    model: Model
    fits: bool | None
    where: str
    layers: tuple[int, int]
    speed: float | None
    context: int
    best: str | None = None


def judgement(asked: Asked, pools: Sequence[Pool], questions: bool = False) -> Judgement:
    """Whether a model runs with these memories, at a context of 8,192 tokens, or what it was trained for if that is less."""
    trained = asked.model.number("context_length") or USUAL_CONTEXT
    context = min(trained, USUAL_CONTEXT)
    fit = judged(asked, Request(context=context), pools, questions=questions)
    best = fit.answers.best_quantisation
    layers, of_all = fit.gpu_layers if len(pools) > 1 else 0, asked.model.layers + 1
    return Judgement(
        model=fit.model,
        fits=fit.fits,
        where="cpu" if not layers else "gpu" if layers >= of_all else "both",
        layers=(layers, of_all),
        speed=fit.decode.likely if fit.decode else None,
        context=context,
        best=None if best is UNSET else best,
    )


def judge(entry: Entry, pools: Sequence[Pool]) -> Judgement | None:
    """The same of a model on disk; None for what is no language model, or not whole.

    The entry's state and fault are set where its header is broken, or tells of more than is there.
    """
    if entry.state != WHOLE or entry.model is None:
        return None
    try:
        asked = of_file(entry.model) if entry.form == "gguf" else of_folder(entry.model)
        if asked.cut:
            entry.state, entry.fault = PARTIAL, _("The file is shorter than its header says: the download broke off.")
            return None
        return judgement(asked, pools)
    except FitError as error:
        if entry.form == "gguf" and is_projector(entry.model):
            entry.form, entry.model = "other", None
        elif entry.form == "gguf":
            entry.state, entry.fault = BROKEN, str(error)
        return None
    except (OSError, ValueError, KeyError, ArithmeticError):
        return None  # a header that can be read and of which no model can be made: it lies there all the same


def is_projector(path: Path) -> bool:
    """Whether a GGUF file is what a model sees with, under another name than such files have."""
    with contextlib.suppress(FitError, OSError):
        return read_header(Local(path)).keys.get("general.architecture") == _PROJECTOR
    return False
