"""`rigup fit --json`: what a model takes, and how fast it is; `--list`: models ranked for a machine."""

from typing import Any

from msgspec import UNSET, Struct, UnsetType


class Range(Struct, frozen=True, kw_only=True):
    """Tokens a second.

    Attributes:
        low: one in twenty measurements lies below.
        likely: the middle.
        high: one in twenty measurements lies above.
        because: what it was reckoned from, in sentences.

    """

    low: float
    likely: float
    high: float
    because: list[str]


class Model(Struct, frozen=True, kw_only=True):
    """What the header, or the table of shapes, says of the model.

    Attributes:
        name: as its file or the table has it.
        architecture: llama.cpp's word for its kind.
        parameters: how many.
        quantisation: the type of the file.
        file_bytes: size of the file; None where nobody knows.
        context_trained: tokens that it was trained for.
        layers: how many.
        experts: how many in a layer; None for a dense model.

    """

    name: str | None
    architecture: str | None
    parameters: int | None
    quantisation: str | None
    file_bytes: int | None
    context_trained: int | None
    layers: int | None
    experts: int | None


class Parts(Struct, frozen=True, kw_only=True):
    """Bytes by what they are for.

    Attributes:
        weights: the model's.
        kv: keys and values of the context.
        recurrent: states of recurrent layers.
        compute: the buffers of the computation.
        output: results that the program reads.
        projector: what sees pictures.
        overhead: the engine itself and the device's context.

    """

    weights: int
    kv: int
    recurrent: int
    compute: int
    output: int
    projector: int
    overhead: int


class Memory(Parts, frozen=True, kw_only=True):
    """All devices together.

    Attributes:
        total: bytes of all parts.

    """

    total: int


class Pool(Parts, frozen=True, kw_only=True):
    """One memory of the machine.

    Attributes:
        name: the device's, or RAM.
        kind: vram, gtt, unified or ram.
        backend: what computes there.
        total_memory: bytes that it has; None where nobody knows.
        free: bytes that are free; None where nobody knows.
        assumed: whether that was reckoned, and not read.
        total: bytes of all parts.
        fits: whether they fit; None where nobody knows.

    """

    name: str
    kind: str
    backend: str
    total_memory: int | None
    free: int | None
    assumed: bool
    total: int
    fits: bool | None


class Change(Struct, frozen=True, kw_only=True):
    """What one change by itself would do.

    Attributes:
        change: which setting, "quantisation", or "gtt" for what an integrated GPU may map.
        to: its value; of gtt, bytes.
        frees: bytes.
        fits: whether it fits then.
        whole: whether all of it is then on devices.
        gpu_layers: layers that are then on devices.
        decode: how fast it then writes; None where nobody knows.
        costs: in a sentence.
        steps: of a plan, that bring it about.

    """

    change: str
    to: str | int
    frees: int
    fits: bool
    whole: bool
    gpu_layers: int
    decode: Range | UnsetType | None = UNSET
    costs: str
    steps: list[dict[str, str | dict[str, str]]] | UnsetType = UNSET


class Answers(Struct, frozen=True, kw_only=True):
    """What would fit; left out where the closed forms were asked for.

    Attributes:
        best_quantisation: the finest that fits with this context; None for none.
        longest_context: tokens; None for none.
        gpu_layers: layers on devices.
        layers: all of them.
        changes: what each change by itself frees and costs.
        sequences: vLLM: how many of this length there is room for at once.
        cache_tokens: vLLM: tokens that its cache holds.
        cache_blocks: vLLM: blocks of it.

    """

    best_quantisation: str | UnsetType | None = UNSET
    longest_context: int | UnsetType | None = UNSET
    gpu_layers: int | UnsetType | None = UNSET
    layers: int | UnsetType | None = UNSET
    changes: list[Change] | UnsetType = UNSET
    sequences: int | UnsetType = UNSET
    cache_tokens: int | UnsetType = UNSET
    cache_blocks: int | UnsetType = UNSET


class Start(Struct, frozen=True, kw_only=True):
    """How an engine is started so.

    Attributes:
        words: the program and its arguments.
        environment: variables that it needs, of ollama those of its server.

    """

    words: list[str]
    environment: dict[str, str]


class Fit(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.fit/1"):
    """Whether a model fits, and how fast it is.

    Attributes:
        model: what it is.
        runtime: the engine and version that the figures hold for.
        request: the settings as they were used, by name.
        memory: bytes of all devices together.
        devices: the same by device.
        fits: whether all of it fits.
        decode: tokens a second that it writes; None where nobody knows.
        prefill: tokens a second of a prompt that it reads; None where nobody knows.
        answers: what would fit.
        exact: whether the engine itself planned it.
        notes: what was assumed, in sentences.
        start: the words that start it so; left out where the closed forms were asked for.

    """

    model: Model
    runtime: str
    request: dict[str, Any]
    memory: Memory
    devices: list[Pool]
    fits: bool | None
    decode: Range | UnsetType | None = UNSET
    prefill: Range | UnsetType | None = UNSET
    answers: Answers | UnsetType = UNSET
    exact: bool
    notes: list[str]
    start: Start | UnsetType = UNSET


class Ranked(Struct, frozen=True, kw_only=True):
    """A well-known model on this machine.

    Attributes:
        name: of the model.
        quantisation: the type with which it fits.
        parameters: how many.
        context: tokens.
        total: bytes that it takes.
        decode: tokens a second that it writes; None where nobody knows.

    """

    name: str
    quantisation: str
    parameters: int
    context: int
    total: int
    decode: Range | UnsetType | None = UNSET


class FitList(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.fit-list/1"):
    """Well-known models that fit a machine, the largest first.

    Attributes:
        models: with the type that fits.

    """

    models: list[Ranked]
