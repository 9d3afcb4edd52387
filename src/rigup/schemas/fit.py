"""`rigup fit --json`: what a model takes, and how fast it is; `--list`: models ranked for a machine."""

from typing import Literal

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


class PromptRange(Struct, frozen=True, kw_only=True):
    """Tokens of a prompt a second, whole.

    Attributes:
        low: what a slow program makes of the device.
        likely: the middle.
        high: what a fast one makes of it.
        because: what it was reckoned from, in sentences.

    """

    low: int
    likely: int
    high: int
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

    name: str
    architecture: str
    parameters: int
    quantisation: str
    file_bytes: int | None
    context_trained: int | None
    layers: int
    experts: int | None


class Memory(Struct, frozen=True, kw_only=True):
    """Bytes of all devices together, by what they are for.

    Attributes:
        weights: the model's.
        kv: keys and values of the context.
        recurrent: states of recurrent layers.
        compute: the buffers of the computation.
        output: results that the program reads.
        projector: what sees pictures.
        overhead: the engine itself and the device's context.
        total: bytes of all parts.

    """

    weights: int
    kv: int
    recurrent: int
    compute: int
    output: int
    projector: int
    overhead: int
    total: int


class Device(Struct, frozen=True, kw_only=True):
    """One memory of the machine.

    Attributes:
        name: the device's, or RAM.
        kind: vram, shared (an integrated GPU's part of the system's memory), unified or ram.
        backend: what computes there.
        total_memory: bytes that it has; None where nobody knows.
        free: bytes that are free; None where nobody knows.
        assumed: whether that was reckoned, and not read.

    """

    name: str
    kind: str
    backend: str
    total_memory: int | None
    free: int | None
    assumed: bool


class Pool(Device, frozen=True, kw_only=True):
    """One memory with what it holds of a model, in bytes.

    Attributes:
        weights: the model's.
        kv: keys and values of the context.
        recurrent: states of recurrent layers.
        compute: the buffers of the computation.
        output: results that the program reads.
        projector: what sees pictures.
        overhead: the engine itself and the device's context.
        total: bytes of all parts.
        fits: whether they fit; None where nobody knows.

    """

    weights: int
    kv: int
    recurrent: int
    compute: int
    output: int
    projector: int
    overhead: int
    total: int
    fits: bool | None


class ModuleOption(Struct, frozen=True, kw_only=True):
    """An option of a kernel module.

    Attributes:
        module: its name.
        name: of the option.
        value: of the option.

    """

    module: str
    name: str
    value: str


class OptionStep(Struct, frozen=True, kw_only=True):
    """The step of a plan that sets an option of a kernel module.

    Attributes:
        kind: of the step.
        params: what it sets.

    """

    kind: Literal["set-module-option"] = "set-module-option"
    params: ModuleOption


class Change(Struct, frozen=True, kw_only=True):
    """What one change by itself would do.

    Attributes:
        change: which setting, "quantisation", or "gtt" for what an integrated GPU may map.
        to: its value; of gtt, bytes.
        frees: bytes.
        fits: whether it fits then.
        whole: whether all of it is then on devices.
        gpu_layers: layers that are then on devices.
        decode: how fast it then writes; None where nobody knows, and left out of changes for vLLM.
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
    steps: list[OptionStep] | UnsetType = UNSET


class Answers(Struct, frozen=True, kw_only=True):
    """What would fit; all of it is left out where the closed forms were asked for.

    Attributes:
        best_quantisation: the finest that fits with this context; None for none.
        longest_context: tokens; None for none.
        gpu_layers: layers on devices.
        layers: all of them.
        sequences: vLLM: how many of this length there is room for at once.
        cache_tokens: vLLM: tokens that its cache holds.
        cache_blocks: vLLM: blocks of it.
        changes: what each change by itself frees and costs.

    """

    best_quantisation: str | UnsetType | None = UNSET
    longest_context: int | UnsetType | None = UNSET
    gpu_layers: int | UnsetType = UNSET
    layers: int | UnsetType = UNSET
    sequences: int | UnsetType = UNSET
    cache_tokens: int | UnsetType = UNSET
    cache_blocks: int | UnsetType = UNSET
    changes: list[Change] | UnsetType = UNSET


class Start(Struct, frozen=True, kw_only=True):
    """How an engine is started so.

    Attributes:
        words: the program and its arguments.
        environment: variables that it needs, of ollama those of its server.

    """

    words: list[str]
    environment: dict[str, str]


class LlamaRequest(Struct, frozen=True, kw_only=True, tag_field="engine", tag="llama.cpp"):
    """The settings of llama.cpp's server as they were used.

    Attributes:
        context: cells of all sequences together.
        kv_type_k: type of the cached keys.
        kv_type_v: type of the cached values.
        parallel: sequences at once.
        batch: tokens that are handed over at once.
        ubatch: tokens that are computed at once.
        flash_attn: attention without a table of scores.
        kv_unified: one cache for all sequences.
        swa_whole: sliding layers keep the whole context too.
        outputs: tokens of a batch whose result is asked for; 0 is all of them.
        gpu_layers: layers on devices, the output counted as one.
        tensor_split: shares of the devices; empty is by what each has free.
        cpu_experts: layers whose experts stay in main memory.
        kv_offload: whether the cache lies where its layer does.
        projector: bytes of what sees pictures.

    """

    context: int
    kv_type_k: str
    kv_type_v: str
    parallel: int
    batch: int
    ubatch: int
    flash_attn: bool
    kv_unified: bool
    swa_whole: bool
    outputs: int
    gpu_layers: int
    tensor_split: list[float]
    cpu_experts: int
    kv_offload: bool
    projector: int


class OllamaRequest(LlamaRequest, frozen=True, kw_only=True, tag_field="engine", tag="ollama"):
    """The settings that ollama hands to its llama-server."""


class VllmRequest(Struct, frozen=True, kw_only=True, tag_field="engine", tag="vllm"):
    """The settings of vLLM as they were used.

    Attributes:
        context: tokens of the longest sequence.
        kv_type_k: type of the cached keys; q8_0 is its fp8.
        kv_type_v: type of the cached values.
        share: part of each GPU that it takes.
        tensor: ranks that share each layer.
        pipeline: stages one behind another.
        batch: tokens that are computed at once.
        eager: no graphs are captured.

    """

    context: int
    kv_type_k: str
    kv_type_v: str
    share: float
    tensor: int
    pipeline: int
    batch: int
    eager: bool


class Draft(Struct, frozen=True, kw_only=True):
    """A draft model beside a model.

    Attributes:
        model: what it is.
        gpu_layers: of it that lie on devices, the output counted as one.
        total: bytes of all parts.
        of_devices: the same by device, in their order.
        same_words: whether its vocabulary is that of the model; the engine does not use it else.

    """

    model: Model
    gpu_layers: int
    total: int
    of_devices: list[int]
    same_words: bool


class Fit(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.fit/1"):
    """Whether a model fits, and how fast it is.

    Attributes:
        model: what it is.
        runtime: the engine and version that the figures hold for.
        request: the settings as they were used, by engine.
        memory: bytes of all devices together.
        devices: the same by device.
        fits: whether all of it fits.
        decode: tokens a second that it writes; None where nobody knows.
        prefill: tokens a second of a prompt that it reads; None where nobody knows.
        answers: what would fit.
        exact: whether the engine itself planned it.
        notes: what was assumed, in sentences.
        start: the words that start it so; left out where the closed forms were asked for.
        draft: a draft model that takes its memory first: what is free of the devices is what it leaves.

    """

    model: Model
    runtime: str
    request: LlamaRequest | OllamaRequest | VllmRequest
    memory: Memory
    devices: list[Pool]
    fits: bool | None
    decode: Range | None
    prefill: PromptRange | None
    answers: Answers
    exact: bool
    notes: list[str]
    start: Start | UnsetType = UNSET
    draft: Draft | UnsetType = UNSET

    @property
    def gpu_layers(self) -> int:
        """Layers on devices, the output counted as one; vLLM has all of them there."""
        return self.model.layers + 1 if isinstance(self.request, VllmRequest) else self.request.gpu_layers


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
    decode: Range | None


class FitList(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.fit-list/1"):
    """Well-known models that fit a machine, the largest first.

    Attributes:
        models: with the type that fits.

    """

    models: list[Ranked]
