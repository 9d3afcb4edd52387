"""`rigup models --json`: models on disk, and what became of one that was to go."""

from typing import Literal

from msgspec import Struct


class OnDisk(Struct, frozen=True, kw_only=True):
    """A model, or what is left of one.

    Attributes:
        name: by which `rigup models remove` and `rigup chat` find it.
        source: who keeps it: "huggingface", "ollama", "lmstudio", "jan", "llama.cpp" or "folder".
        path: what an engine is given; None for what cannot be run.
        files: all of its files, as they are named.
        bytes: on the disk; a file that has several names counts once.
        shared_bytes: how many of them other models use too.
        used_with: those models.
        state: "partial" has not come whole, "broken" cannot be read, of what is "left" nobody knows a model.
        fault: why it is not whole.
        form: what its weights are.
        architecture: llama.cpp's word for its kind.
        quantisation: the type of the file.
        parameters: how many.
        last_used: when it was last read or written, in UTC (ISO 8601); None where nobody knows.
        fits: it runs on this machine; None where that was not asked, or nobody can tell.
        runs_on: where its layers would lie.
        gpu_layers: how many of `layers` lie on devices.
        layers: of the model, the output counted as one.
        tokens_per_second: that it probably writes here.

    """

    name: str
    source: str
    path: str | None
    files: list[str]
    bytes: int
    shared_bytes: int
    used_with: list[str]
    state: Literal["whole", "partial", "broken", "left"]
    fault: str | None
    form: Literal["gguf", "safetensors", "other"]
    architecture: str | None = None
    quantisation: str | None = None
    parameters: int | None = None
    last_used: str | None = None
    fits: bool | None = None
    runs_on: Literal["gpu", "both", "cpu"] | None = None
    gpu_layers: int | None = None
    layers: int | None = None
    tokens_per_second: float | None = None


class Store(Struct, frozen=True, kw_only=True):
    """A folder that was looked at.

    Attributes:
        source: whose it is.
        path: where it lies.
        fault: why it cannot be read; None where it was.
        free: bytes that are free on its disk; None where nobody can tell.

    """

    source: str
    path: str
    fault: str | None
    free: int | None


class Models(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.models/1"):
    """What lies on this machine's disks.

    Attributes:
        models: the largest first.
        bytes: of all together; what several share counts once.
        stores: the folders that are there.
        context: tokens with which `fits` was reckoned, or fewer where a model knows fewer.

    """

    models: list[OnDisk]
    bytes: int
    stores: list[Store]
    context: int


class CheckedFile(Struct, frozen=True, kw_only=True):
    """A file of a model.

    Attributes:
        name: of the model.
        source: who keeps it.
        path: of the file.
        verdict: whether its bytes are what its checksum says; "unknown" where its store keeps none.

    """

    name: str
    source: str
    path: str
    verdict: Literal["right", "wrong", "unknown"]


class ModelsChecked(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.models-checked/1"):
    """Whether files on disk are what their checksums say.

    Attributes:
        files: each once.

    """

    files: list[CheckedFile]


class KeptFile(Struct, frozen=True, kw_only=True):
    """A file that stays, or whose bytes stay.

    Attributes:
        path: where it lies.
        because: why, in a sentence.

    """

    path: str
    because: str


class ModelRemoved(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.models-removed/1"):
    """What went with a model, or would.

    Attributes:
        name: of the model.
        source: who kept it.
        removed: it is done; false for `--dry-run`.
        paths: links and files that go.
        folder: which is removed whole; None where something else lies in it.
        kept: what stays.
        used_by: other models that use some of its files.
        running: programs that have it open, by number and name.
        frees: bytes.

    """

    name: str
    source: str
    removed: bool
    paths: list[str]
    folder: str | None
    kept: list[KeptFile]
    used_by: list[str]
    running: list[str]
    frees: int
