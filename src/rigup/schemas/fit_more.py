"""`rigup fit --train … --json`, and of models that make pictures."""

from msgspec import Struct

from rigup.schemas.fit import Device, Model


class StepParts(Struct, frozen=True, kw_only=True):
    """Bytes of each device at the peak of a step.

    Attributes:
        parameters: the weights.
        gradients: those that are there at the peak.
        optimizer: its state.
        activations: what layers keep for their gradients.
        temporary: what an operation, the loss or the optimizer needs meanwhile.
        total: all of it.

    """

    parameters: int
    gradients: int
    optimizer: int
    activations: int
    temporary: int
    total: int


class TrainDevice(Device, frozen=True, kw_only=True):
    """A device that trains.

    Attributes:
        room: bytes of it that tensors may take; None where nobody knows.
        total: bytes that a step takes.
        fits: whether it does; None where nobody knows.

    """

    room: int | None
    total: int
    fits: bool | None


class TrainRequest(Struct, frozen=True, kw_only=True):
    """The settings of training as they were used.

    Attributes:
        optimizer: its name.
        precision: fp32, bf16, or mixed (weights in fp32, operations in bf16).
        samples: sequences of a step on each device.
        context: tokens of each.
        flash_attn: attention keeps no table of scores.
        rank: of LoRA's matrices; None where all weights are trained.
        devices: how many train.
        sharding: none, ddp, zero1, zero2 or zero3.
        train: full, lora or qlora.
        checkpointing: activations of layers are computed anew.

    """

    optimizer: str
    precision: str
    samples: int
    context: int
    flash_attn: bool
    rank: int | None
    devices: int
    sharding: str
    train: str
    checkpointing: bool


class TrainChange(Struct, frozen=True, kw_only=True):
    """What would take less.

    Attributes:
        change: which setting.
        to: its value.
        frees: bytes of each device.
        fits: whether it fits then.
        largest_batch: sequences of a step that fit then.
        costs: in a sentence.

    """

    change: str
    to: str
    frees: int
    fits: bool
    largest_batch: int
    costs: str


class FitTrain(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.fit-train/1"):
    """What a training step takes.

    Attributes:
        model: what it is.
        request: the settings as they were used.
        memory: bytes of each device at the peak.
        devices: those that train.
        fits: whether it fits; None where nobody knows.
        largest_batch: sequences of a step that fit on each device; None where nobody knows.
        changes: what would take less, each by itself.
        notes: what was assumed, in sentences.

    """

    model: Model
    request: TrainRequest
    memory: StepParts
    devices: list[TrainDevice]
    fits: bool | None
    largest_batch: int | None
    changes: list[TrainChange]
    notes: list[str]


class ImageModel(Struct, frozen=True, kw_only=True):
    """A model that makes pictures.

    Attributes:
        name: of its file or folder.
        family: its kind; None for one that is not known here.
        file_bytes: of all tensors.
        parameters: how many.
        side: pixels of a side of the picture.

    """

    name: str
    family: str | None
    file_bytes: int
    parameters: int
    side: int


class ImagePart(Struct, frozen=True, kw_only=True):
    """A part of it.

    Attributes:
        name: denoiser, vae or text encoders.
        bytes: of its weights as they are loaded.
        types: bytes in the file, by type.

    """

    name: str
    bytes: int
    types: dict[str, int]


class ImageWay(Struct, frozen=True, kw_only=True):
    """A way to load it.

    Attributes:
        way: all, parts (one after another) or pieces (layer by layer).
        card: bytes that the card holds at once.
        host: bytes of main memory beside it.
        fits: whether both have room; None where nobody knows.

    """

    way: str
    card: int
    host: int
    fits: bool | None


class FitImages(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.fit-images/1"):
    """What a model that makes pictures takes.

    Attributes:
        model: what it is.
        parts: its parts.
        work: bytes of work space while it draws.
        decoding: bytes of work space while pixels are made.
        device: the card; None where there is none.
        free: bytes that are free there; None where nobody knows.
        ways: what the card holds, by how it is loaded.
        fits: whether it fits in any way; None where nobody knows.
        estimate: always true: work space was not measured.

    """

    model: ImageModel
    parts: list[ImagePart]
    work: int
    decoding: int
    device: str | None
    free: int | None
    ways: list[ImageWay]
    fits: bool | None
    estimate: bool
