"""Engines beside llama.cpp's own server: what each of them makes of a wish, and the words that start it so."""

from collections.abc import Mapping, Sequence

import msgspec

from rigup.fit.answers import filled_pool
from rigup.fit.judge import OLLAMA, Asked, judged, model_fields
from rigup.fit.model import Model
from rigup.fit.plan import Part, engine_version
from rigup.fit.pools import HOST, Pool
from rigup.fit.quants import cache_bytes
from rigup.fit.request import Request
from rigup.fit.speed import decode_on
from rigup.fit.vllm import ENGINE as VLLM
from rigup.fit.vllm import Served, Wish, served, start
from rigup.knowledge import tables
from rigup.language import _
from rigup.schemas import fit as schema

LLAMA = "llama.cpp"
ENGINES = (LLAMA, OLLAMA, VLLM)
_OLLAMA_BATCH = 512
_TRUE, _FALSE = ("1", "true", "t"), ("0", "false", "f")
_MOST_PARALLEL = 256


class _Context(msgspec.Struct, frozen=True):
    engine: str
    below: int
    tokens: int


def usual_context(model: Model, pools: Sequence[Pool], environ: Mapping[str, str]) -> int:
    """The context that ollama takes where nobody asks for one."""
    setting = environ.get("OLLAMA_CONTEXT_LENGTH", "").strip()
    if setting.isdecimal() and 0 < int(setting) <= 1 << 24:
        return int(setting)
    room = sum(pool.total or 0 for pool in pools if pool.kind != HOST)
    rows = tables.rows("engine_memory", "context", _Context)
    tokens = next(row.tokens for row in rows if row.engine == OLLAMA and room < row.below)
    return min(tokens, model.number("context_length") or tokens)


def as_ollama(request: Request, environ: Mapping[str, str], named: Mapping[str, bool]) -> Request:
    """The request as ollama hands it to its runner: each sequence has the whole context.

    Args:
        request: what is asked, its context that of one sequence.
        environ: where its settings stand.
        named: what was asked for by name, which counts for more than a setting.

    """
    parallel = request.parallel
    setting = environ.get("OLLAMA_NUM_PARALLEL", "").strip()
    if not named.get("parallel") and setting.isdecimal() and 0 < int(setting) <= _MOST_PARALLEL:
        parallel = int(setting)
    kind = environ.get("OLLAMA_KV_CACHE_TYPE", "").strip().lower()
    if named.get("kv") or kind not in ("f16", "q8_0", "q4_0"):
        kind = request.kv_type_k
    flash = environ.get("OLLAMA_FLASH_ATTENTION", "").strip().lower()
    return msgspec.structs.replace(
        request,
        context=request.context * parallel,
        parallel=parallel,
        outputs=parallel,
        batch=_OLLAMA_BATCH,
        ubatch=_OLLAMA_BATCH,
        kv_type_k=kind,
        kv_type_v=kind,
        kv_unified=False,
        flash_attn=request.flash_attn if named.get("flash_attn") or flash not in (*_TRUE, *_FALSE) else flash in _TRUE,
    )


def start_ollama(word: str, request: Request) -> schema.Start:
    """The settings of its server and the words that ask for the model."""
    environment = {"OLLAMA_CONTEXT_LENGTH": str(request.context // request.parallel), "OLLAMA_NUM_PARALLEL": str(request.parallel)}
    environment["OLLAMA_FLASH_ATTENTION"] = str(int(request.flash_attn))
    if request.kv_type_k != "f16":
        environment["OLLAMA_KV_CACHE_TYPE"] = request.kv_type_k
    return schema.Start(words=["ollama", "run", word], environment=environment)


def start_llama(word: str, request: Request, is_file: bool) -> schema.Start:
    """The words that start llama.cpp's server with a request."""
    words = ["llama-server", "-m" if is_file else "-hf", word, "-c", str(request.whole), "-b", str(request.batch)]
    words += ["-ub", str(request.ubatch), "-np", str(request.parallel), "--flash-attn", "on" if request.flash_attn else "off"]
    if request.gpu_layers is not None:
        words += ["-ngl", str(request.gpu_layers)]
    if request.kv_type_k != "f16":
        words += ["--cache-type-k", request.kv_type_k, "--cache-type-v", request.kv_type_v]
    if request.cpu_experts:
        words += ["--n-cpu-moe", str(request.cpu_experts)]
    if request.tensor_split:
        words += ["--tensor-split", ",".join(f"{share:g}" for share in request.tensor_split)]
    flags = (("--kv-unified", request.kv_unified), ("--swa-full", request.swa_whole))
    return schema.Start(words=[*words, *(name for name, is_set in flags if is_set)], environment={})


def judged_by(
    engine: str, asked: Asked, request: Request, pools: Sequence[Pool], word: str, *, questions: bool = True, pythons: Sequence[str] = ()
) -> schema.Fit:
    """The whole answer for llama.cpp's own server, or for ollama's, with the words that start it."""
    fit = judged(asked, request, pools, questions, pythons if engine == LLAMA else (), ollama=engine == OLLAMA)
    if engine == OLLAMA:
        return msgspec.structs.replace(fit, start=start_ollama(word if asked.remote else "MODEL", request))
    if not questions:
        return fit
    used = msgspec.structs.replace(request, gpu_layers=fit.gpu_layers if len(pools) > 1 else None)
    name = str(asked.path or word) if asked.path or asked.remote else "MODEL.gguf"
    return msgspec.structs.replace(fit, start=start_llama(name, used, not asked.remote))


def with_draft(fit: schema.Fit, draft: schema.Draft, path: str) -> schema.Fit:
    """The answer for a model beside which a draft model lies: the words that start both."""
    start = fit.start
    if isinstance(start, schema.Start):
        words = [*start.words, "--model-draft", path, "--gpu-layers-draft", str(draft.gpu_layers)]
        start = msgspec.structs.replace(start, words=words)
    return msgspec.structs.replace(fit, draft=draft, start=start)


def judged_by_vllm(asked: Asked, wish: Wish, pools: Sequence[Pool], word: str) -> schema.Fit:
    """The whole answer for vLLM.

    Raises:
        FitError: it cannot be started so.

    """
    model = asked.model
    plan = served(model, wish, pools, asked.weights)
    cards = [pool for pool in pools if pool.kind != HOST][: len(plan.parts)]
    fit = plan.sequences >= 1
    devices = [_device(part, pool, plan.share) for part, pool in zip(plan.parts, cards, strict=True)]
    names = schema.Memory.__struct_fields__
    total = schema.Memory(**{name: sum(getattr(device, name) for device in devices) for name in names})
    notes = [
        *asked.notes,
        _("vLLM takes its share of each GPU whole: what weights and work leave is cache. Its work space and graphs are estimates."),
    ]
    return schema.Fit(
        model=model_fields(asked),
        runtime=engine_version(VLLM),
        request=_request(wish, plan),
        memory=total,
        devices=devices,
        fits=fit and all(device.fits is not False for device in devices),
        decode=decode_on(model, cards, plan.tensor, _read(model, wish, plan)),
        prefill=None,
        answers=schema.Answers(
            longest_context=plan.longest,
            sequences=plan.sequences,
            cache_tokens=plan.tokens,
            cache_blocks=plan.blocks,
            changes=[] if fit else _changes(asked, wish, pools, plan),
        ),
        exact=False,
        notes=notes,
        start=schema.Start(words=start(word if asked.remote or asked.weights else "MODEL", wish, plan), environment={}),
    )


def _device(part: Part, pool: Pool, share: float) -> schema.Pool:
    """A GPU; it is too small where not even its share is free."""
    room = int((pool.total or 0) * share)
    fit = None if pool.free is None else part.total <= max(room, 1) and room <= pool.free
    return msgspec.structs.replace(filled_pool(part, pool), fits=fit)


def _read(model: Model, wish: Wish, plan: Served) -> tuple[int, int]:
    """Bytes that a token of one sequence reads of a rank's weights, and of a full cache."""
    row = sum(layer.key_row + layer.value_row for layer in model.kept)
    cells = min(wish.context, plan.tokens) or 1
    return max(part.weights for part in plan.parts) * plan.pipeline, cache_bytes("f16", row * cells) // plan.tensor


def _request(wish: Wish, plan: Served) -> schema.VllmRequest:
    return schema.VllmRequest(
        context=wish.context,
        kv_type_k=wish.kv,
        kv_type_v=wish.kv,
        share=plan.share,
        tensor=plan.tensor,
        pipeline=plan.pipeline,
        batch=plan.batch,
        eager=wish.eager,
    )


def _changes(asked: Asked, wish: Wish, pools: Sequence[Pool], before: Served) -> list[schema.Change]:
    """What would let it start, each by itself."""
    answers, layers = [], asked.model.layers + 1
    for name, value, other, cost in _others(wish, before):
        plan = served(asked.model, other, pools, asked.weights)
        if plan.sequences < 1:
            continue
        frees = before.parts[0].total - before.parts[0].kv - plan.parts[0].total + plan.parts[0].kv
        answers.append(schema.Change(change=name, to=value, frees=frees, fits=True, whole=True, gpu_layers=layers, costs=cost))
    plan = served(asked.model, wish, pools, _in_four_bits(asked.model))
    if not asked.weights and plan.sequences >= 1:
        frees = before.parts[0].weights - plan.parts[0].weights
        cost = _("weights of four bits, by somebody who made such files: a little of what it knows")
        answers.append(schema.Change(change="quantisation", to="AWQ", frees=frees, fits=True, whole=True, gpu_layers=layers, costs=cost))
    return answers


def _in_four_bits(model: Model) -> int:
    """Bytes of the files that AWQ makes: linear layers in groups of 128 with a scale and a zero, the rest in half precision."""
    linear = sum(tensor.numbers for tensor in model.tensors if tensor.name.startswith("blk.") and len(tensor.sizes) > 1)
    return int(linear * (4 + 20 / 128) / 8) + 2 * (model.parameters - linear)


def _others(wish: Wish, before: Served) -> list[tuple[str, str | int, Wish, str]]:
    change = msgspec.structs.replace
    others: list[tuple[str, str | int, Wish, str]] = []
    if wish.kv == "f16":
        others.append(("kv", "q8_0", change(wish, kv="q8_0"), _("a coarser cache loses a little of what was said before")))
    if before.longest:
        others.append(("context", before.longest, change(wish, context=before.longest), _("less memory of what was said")))
    if not wish.eager:
        others.append(("eager", "", change(wish, eager=True), _("no graphs: each step costs the processor more")))
    return others
