"""What a person asks of a model: context, cache, batches, and where its layers go."""

import msgspec

from rigup.fit.model import FLOAT, Layer, Model
from rigup.fit.quants import block_named, cache_bytes
from rigup.language import _

_STEP = 256  # cells of a cache are whole multiples of it
_NOT_SPLIT_YET = ()


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """How the model is to run, in llama.cpp's terms.

    Attributes:
        outputs: tokens of a batch whose result is asked for; 0 is all of them, as in the library. A server asks for one
            of each sequence.
        gpu_layers: layers on the devices, the output counted as one; None is as many as fit.
        swa_whole: sliding layers keep the whole context too.
        projector: bytes of what turns pictures into tokens; it goes to the first device.
        cpu_experts: layers whose experts stay in main memory, from the first.

    """

    context: int = 4096
    kv_type_k: str = "f16"
    kv_type_v: str = "f16"
    parallel: int = 1
    batch: int = 2048
    ubatch: int = 512
    flash_attn: bool = True
    kv_unified: bool = False
    swa_whole: bool = False
    outputs: int = 0
    gpu_layers: int | None = None
    tensor_split: tuple[float, ...] = _NOT_SPLIT_YET
    cpu_experts: int = 0
    kv_offload: bool = True
    projector: int = 0

    @property
    def whole(self) -> int:
        """Cells of all sequences together."""
        return _padded(self.context)

    @property
    def cells(self) -> int:
        """Cells of one cache."""
        return self.whole if self.kv_unified else _padded(self.whole // self.parallel)

    @property
    def streams(self) -> int:
        """How many caches there are side by side."""
        return 1 if self.kv_unified else self.parallel

    @property
    def tokens(self) -> int:
        """Tokens that are computed at once."""
        return min(self.whole, self.batch, self.ubatch)

    def window_cells(self, window: int) -> int:
        """Cells of a cache whose layers slide."""
        if self.swa_whole:
            return self.cells
        shared = self.parallel if self.kv_unified else 1
        return _padded(min(self.cells, window * shared + self.tokens))


def _padded(count: int) -> int:
    return -(-count // _STEP) * _STEP


def cache_of(layer: Layer, model: Model, request: Request) -> int:
    """Bytes of keys and values of one layer."""
    cells = request.window_cells(model.window) if layer.slides else request.cells
    rows = cells * request.streams
    keys = cache_bytes(request.kv_type_k, layer.key_row * rows)
    return keys + cache_bytes(request.kv_type_v, layer.value_row * rows)


def refused_cache(model: Model, request: Request) -> str:
    """Why llama.cpp makes no cache of these types for a model, as a sentence; "" where it does.

    Blocks of a coarser type lie within the row of one head, and its values are read by flash attention alone
    (llama_init_from_model in llama.cpp's src/llama-context.cpp).
    """
    if block_named(request.kv_type_v).weights > 1 and not request.flash_attn:
        return _("llama.cpp keeps values as {type} with flash attention alone: leave it on, or keep them as f16.").format(
            type=request.kv_type_v
        )
    if model.latent:  # one row for all heads, which is a whole multiple
        return ""
    for number, layer in enumerate(model.kept):
        lengths = ((request.kv_type_k, model.key_length(number)), (request.kv_type_v, model.value_length(number)))
        for kind, length in lengths if layer.key_row else ():
            if length % block_named(kind).weights:
                return _(
                    "llama.cpp makes no cache of type {type} for this model: a head has {length} numbers, and a block {block}. Keep it as f16."
                ).format(type=kind, length=length, block=block_named(kind).weights)
    return ""


def state_of(layer: Layer, request: Request) -> int:
    """Bytes that one recurrent layer keeps."""
    return layer.state * FLOAT * max(1, request.parallel)
