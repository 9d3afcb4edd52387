"""The answer of `rigup fit`: what a model takes on a machine, whether it fits, how fast it is, and what else would go."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from rigup.fit.answers import best, best_quantisation, changes, filled_pool, fits, longest_context
from rigup.fit.engine import planned_by_engine
from rigup.fit.errors import FitError, HeaderError
from rigup.fit.gguf import Header, read_header
from rigup.fit.mixtures import requantised
from rigup.fit.model import Model
from rigup.fit.names import named
from rigup.fit.plan import Plan, engine_version
from rigup.fit.pools import Pool
from rigup.fit.quants import block
from rigup.fit.request import Request, refused_cache
from rigup.fit.shapes import model_of
from rigup.fit.source import Local
from rigup.fit.speed import decode, prefill
from rigup.knowledge.model_shapes import USUAL, file_types
from rigup.language import _
from rigup.schemas import fit as schema

if TYPE_CHECKING:
    from rigup.fit.hub import Found
    from rigup.fit.remote import Web

OLLAMA = "ollama"
_SHARD = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf")
_MOST_SHARDS = 1000
_MOST_CONFIG = 4 << 20


class Asked(msgspec.Struct, kw_only=True):
    """A model with where it came from, and what of it is not certain."""

    model: Model
    name: str
    file_bytes: int | None
    notes: list[str] = []
    projector: int = 0
    path: Path | None = None
    weights: int = 0
    """Bytes of safetensors, where there are any."""
    remote: bool = False
    """Its name is one by which an engine fetches it."""
    cut: bool = False
    """A file is shorter than its header says."""


def of_file(path: Path) -> Asked:
    """A GGUF file and, where it is one of several, those beside it.

    Raises:
        HeaderError: one of them cannot be read.

    """
    header = read_header(Local(path))
    headers, notes, size = [header], [], header.size
    match = _SHARD.fullmatch(path.name)
    for number in range(1, min(int(match["count"]), _MOST_SHARDS) + 1) if match else ():
        other = path.with_name(f"{match['stem']}-{number:05d}-of-{match['count']}.gguf") if match else path
        if other == path:
            continue
        if not other.exists():
            template = _(
                "{name} is one of {count} parts, and {missing} is not beside it: what the model takes stands in all of them together."
            )
            raise HeaderError(template.format(name=path.name, count=int(match["count"]) if match else 0, missing=other.name))
        headers.append(read_header(Local(other)))
        size += headers[-1].size
    first = next((shard for shard in headers if "general.architecture" in shard.keys), header)
    tensors = tuple(tensor for shard in headers for tensor in shard.tensors)
    cut = any(shard.missing for shard in headers)
    if cut:
        notes.append(_("The file is shorter than its header says: the download broke off, or it is a header alone."))
    model = Model(first, tensors)
    return Asked(model=model, name=_name(first, path), file_bytes=size, notes=notes, path=path, cut=cut)


def of_name(text: str, usual: str = USUAL) -> Asked:
    """A well-known model by its name, of the usual type where it names none. Raises FitError for a name that means none."""
    known = named(text, usual)
    model = model_of(known.shape, known.type)
    return Asked(model=model, name=known.shape.name, file_bytes=model.header.size - model.header.start, notes=list(known.notes))


def of_config(text: bytes, name: str, weights: int = 0) -> Asked:
    """A model by its config.json. Raises FitError for one that cannot be judged."""
    from rigup.fit.config import shape_of

    shape, kind = shape_of(text, name)
    notes = [_("The figures are those of a GGUF file that would be made of these weights.")]
    return Asked(model=model_of(shape, kind), name=name, file_bytes=weights or None, notes=notes, weights=weights)


def of_folder(path: Path) -> Asked:
    """A folder with a config.json, or with the parts of one GGUF model.

    Raises:
        FitError: it holds neither.

    """
    config = path / "config.json"
    files = sorted(path.glob("*.gguf"))
    if config.is_file():
        from rigup.fit.safetensors import weights_of_folder

        with config.open("rb") as file:
            text = file.read(_MOST_CONFIG)
        return of_config(text, path.resolve().name, sum(tensor.bytes for tensor in weights_of_folder(path)))
    firsts = [file for file in files if not (match := _SHARD.fullmatch(file.name)) or match["number"] == "00001"]
    if len(firsts) == 1:
        return of_file(firsts[0])
    if not firsts:
        raise FitError(_("{path} holds no model: neither a config.json nor a GGUF file lies in it.").format(path=path))
    template = _("{path} holds no config.json and several GGUF models: name the file. It has: {files}.")
    raise FitError(template.format(path=path, files=", ".join(file.name for file in firsts[:20])))


def requantised_as(asked: Asked, kind: str) -> Asked:
    """The same model as another type of file."""
    model = asked.model.retyped(requantised(asked.model, kind))
    model.keys["general.file_type"] = next(file_type.number for file_type in file_types() if file_type.name == kind)
    sentence = _("The file was not made: {type} is what `llama-quantize` would write.").format(type=kind)
    size = sum(tensor.bytes for tensor in model.tensors)
    return Asked(model=model, name=asked.name, file_bytes=size, notes=[*asked.notes, sentence], projector=asked.projector)


def of_found(found: "Found", web: "Web", word: str) -> Asked:
    """A model of one or several GGUF files that lie elsewhere: their headers alone come.

    Raises:
        FitError: they do not come, or they are none.

    """
    if found.config:
        answer, _url = web.get(found.config)
        try:
            return of_config(answer.read(_MOST_CONFIG), word, found.weights)
        finally:
            answer.close()
    headers = [_remote_header(url, web) for url in found.urls[:_MOST_SHARDS]]
    tensors = tuple(tensor for header in headers for tensor in header.tensors)
    return Asked(
        model=Model(headers[0], tensors),
        name=_name(headers[0], Path(word)),
        notes=list(found.notes),
        file_bytes=sum(header.size for header in headers),
        projector=found.projector,
    )


def _remote_header(url: str, web: "Web") -> Header:
    from rigup.fit.kept_headers import keep, kept
    from rigup.fit.remote import Remote

    source = Remote(url, web)
    try:
        header = kept(web.cache, url, source.mark, source.size)
        if header is None:
            header = read_header(source)
            keep(web.cache, url, source.mark, header)
        return header
    finally:
        source.close()


def _name(header: Header, path: Path) -> str:
    name = header.keys.get("general.name")
    return name if isinstance(name, str) and name else path.stem


def quantisation(model: Model) -> str:
    """The mixture in the header, or the type of most weights."""
    number = model.keys.get("general.file_type")
    name = next((file_type.name for file_type in file_types() if file_type.number == number), "")
    by_type: dict[int, int] = {}
    for tensor in model.tensors:
        by_type[tensor.kind] = by_type.get(tensor.kind, 0) + tensor.numbers
    most = block(max(by_type, key=lambda kind: by_type[kind], default=0))
    return name or (most.name if most else "")


def judged(
    asked: Asked, request: Request, pools: Sequence[Pool], questions: bool = True, pythons: Sequence[str] = (), ollama: bool = False
) -> schema.Fit:
    """The whole answer; without `questions` only what the request itself takes.

    Args:
        asked: the model.
        request: how it is to run.
        pools: the machine's memories.
        questions: what else would fit is looked for too.
        pythons: interpreters whose engine may plan it.
        ollama: it is ollama's llama-server that runs it.

    Raises:
        FitError: the engine refuses the cache that is asked for.

    """
    model = asked.model
    if because := refused_cache(model, request):
        raise FitError(because)
    request = msgspec.structs.replace(request, projector=asked.projector)
    request, plan = best(model, request, pools)
    _by_engine(asked, request, plan, pythons)
    return schema.Fit(
        model=model_fields(asked),
        runtime=engine_version(OLLAMA) if ollama else plan.runtime,
        request=_request(request, plan, ollama),
        memory=schema.Memory(**plan.sum.fields()),
        devices=[filled_pool(part, pool) for part, pool in zip(plan.parts, pools, strict=True)],
        fits=fits(plan, pools),
        decode=decode(model, request, plan, pools),
        prefill=prefill(model, plan, pools),
        answers=_answers(model, request, pools, plan) if questions else schema.Answers(),
        exact=plan.exact,
        notes=asked.notes,
    )


def _by_engine(asked: Asked, request: Request, plan: Plan, pythons: Sequence[str]) -> None:
    """Put the engine's own figures in place of ours, where it is asked for its processor alone."""
    if len(plan.parts) > 1 or asked.path is None:
        return
    for python in pythons:
        figures = planned_by_engine(asked.path, request, python)
        if figures is not None:
            part = plan.parts[0]
            part.kv, part.recurrent, part.compute, part.output = (figures.kv, figures.recurrent, figures.compute, figures.output)
            plan.exact, plan.runtime = True, figures.runtime
            return


def _answers(model: Model, request: Request, pools: Sequence[Pool], plan: Plan) -> schema.Answers:
    free = msgspec.structs.replace(request, gpu_layers=None) if not plan.placement.whole else request
    tight = not fits(plan, pools) or (len(pools) > 1 and not plan.placement.whole)
    return schema.Answers(
        best_quantisation=best_quantisation(model, request, pools, quantisation(model)),
        longest_context=longest_context(model, request, pools),
        gpu_layers=plan.placement.on_devices,
        layers=model.layers + 1,
        changes=changes(model, free, pools, quantisation(model)) if tight else [],
    )


def model_fields(asked: Asked) -> schema.Model:
    """The answer's fields of the model."""
    model = asked.model
    return schema.Model(
        name=asked.name,
        architecture=model.architecture,
        parameters=model.parameters,
        quantisation=quantisation(model),
        file_bytes=asked.file_bytes,
        context_trained=model.number("context_length") or None,
        layers=model.layers,
        experts=model.number("expert_count") or None,
    )


def _request(request: Request, plan: Plan, ollama: bool) -> schema.LlamaRequest:
    """The request as it was used; that of ollama under its own name."""
    used = msgspec.structs.replace(request, context=request.whole, gpu_layers=plan.placement.on_devices)
    return msgspec.convert(used, schema.OllamaRequest if ollama else schema.LlamaRequest, from_attributes=True)
