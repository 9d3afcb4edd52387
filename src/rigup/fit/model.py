"""A model as its header tells it: what its layers keep between tokens, and which tensors stand where."""

import re
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import msgspec

from rigup.fit.errors import HeaderError
from rigup.fit.gguf import Header, Listed, Tensor
from rigup.knowledge import tables
from rigup.language import _

_MOST_LAYERS = 4096
_MOST_EXPERTS = 1024
_MOST_NUMBER = 1 << 40
_LAYER = re.compile(r"blk\.(\d{1,5})\.(.+)")
FLOAT = 4  # bytes of what a recurrent layer keeps


class _Sliding(msgspec.Struct, frozen=True):
    architecture: str
    period: int = 0
    first: bool = False
    window: int = 0
    ignored: bool = False


class Drawn(msgspec.Struct, frozen=True):
    """How llama.cpp builds an architecture's graph, where its tensors do not show it."""

    architecture: str = ""
    unturned: bool = False
    scaled: bool = False
    first: tuple[str, ...] = ()


class Layer(NamedTuple):
    """What a layer keeps: numbers of each token (K and V rows), and numbers of each sequence (a state)."""

    key_row: int
    value_row: int
    slides: bool
    state: int


class Model:
    """A model from the header of its first file and the tensors of all."""

    def __init__(self, header: Header, tensors: tuple[Tensor, ...] | None = None) -> None:
        self.header = header
        self.keys = header.keys
        self.tensors = header.tensors if tensors is None else tensors
        self.by_name = {tensor.name: tensor for tensor in self.tensors}
        self._loads: dict[str, int] = {}
        self._numbers: dict[tuple[str, int], int] = {}
        self.types: dict[str, Model] = {}
        """The same model in other types, as far as they were asked for."""
        self.buffers: dict[Any, list[int]] = {}
        """Compute buffers that were worked out, by request and placement: they depend on sizes, not on types."""
        architecture = self.keys.get("general.architecture")
        if not isinstance(architecture, str) or not architecture:
            raise HeaderError(_("The header does not tell the model's architecture (general.architecture)."))
        self.architecture = architecture

    def retyped(self, tensors: tuple[Tensor, ...]) -> "Model":
        """The same model in other types; what depends on names and sizes alone is not worked out again."""
        twin = Model(self.header, tensors)
        twin.buffers, twin._numbers = self.buffers, self._numbers
        twin.__dict__.update(kept=self.kept)
        return twin

    def value(self, key: str, default: Any = None) -> Any:
        """The header's value of this architecture under a name."""
        return self.keys.get(f"{self.architecture}.{key}", default)

    def number(self, key: str, default: int = 0) -> int:
        """A whole number of the header. Raises HeaderError for one that no model has."""
        known = self._numbers.get((key, default))
        if known is not None:
            return known
        whole = self.value(key, default)
        if isinstance(whole, list):
            whole = max((value for value in whole if isinstance(value, int)), default=default)
        if isinstance(whole, float) or not isinstance(whole, int) or not 0 <= whole < _MOST_NUMBER:
            raise self._odd(key, whole)
        self._numbers[key, default] = int(whole)
        return int(whole)

    def of_layer(self, key: str, layer: int, default: int = 0) -> int:
        """A whole number that may differ from layer to layer."""
        number = self.value(key, default)
        if isinstance(number, list):
            number = number[layer] if layer < len(number) else default
        if not isinstance(number, int) or not 0 <= number < _MOST_NUMBER:
            raise self._odd(key, number)
        return int(number)

    def _odd(self, key: str, value: object) -> HeaderError:
        template = _("The header says {key} = {value}, which no model has: the file is broken.")
        return HeaderError(template.format(key=f"{self.architecture}.{key}", value=str(value)[:60]))

    @cached_property
    def layers(self) -> int:
        """How many layers are computed for a token; those for guessing ahead are not."""
        count = self.number("block_count")
        if not 0 < count <= _MOST_LAYERS:
            raise self._odd("block_count", count)
        return max(1, count - self.number("nextn_predict_layers"))

    @cached_property
    def width(self) -> int:
        """Numbers of a token between layers."""
        size = self.number("embedding_length")
        if not size:
            raise self._odd("embedding_length", size)
        return size

    @cached_property
    def experts_used(self) -> int:
        """Experts that each token goes to."""
        count = self.number("expert_used_count")
        if not 0 < count <= _MOST_EXPERTS:
            raise self._odd("expert_used_count", count)
        return count

    @cached_property
    def vocabulary(self) -> int:
        """How many tokens there are."""
        tokens = self.keys.get("tokenizer.ggml.tokens")
        if isinstance(tokens, Listed):
            return tokens.length
        if isinstance(tokens, list) and tokens:
            return len(tokens)
        table = self.by_name.get("token_embd.weight")
        return table.sizes[-1] if table else self.number("vocab_size")

    @cached_property
    def parameters(self) -> int:
        """Numbers of all tensors."""
        return sum(tensor.numbers for tensor in self.tensors)

    @cached_property
    def parts(self) -> list[dict[str, Tensor]]:
        """The tensors of each layer by the rest of their names."""
        by_layer: list[dict[str, Tensor]] = [{} for _number in range(self.layers)]
        for tensor in self.tensors:
            match = _LAYER.fullmatch(tensor.name)
            if match and int(match[1]) < self.layers:
                by_layer[int(match[1])][match[2]] = tensor
        return by_layer

    def loads(self, group: Callable[[str], tuple[str, bool]], alignment: int) -> dict[str, int]:
        """Bytes of the tensors that always lie together, each filled up to the alignment, by the name of one of them."""
        if not self._loads:
            groups: dict[tuple[str, bool], tuple[str, int]] = {}
            for tensor in self.tensors:
                name, size = groups.get(group(tensor.name), (tensor.name, 0))
                groups[group(tensor.name)] = (name, size - tensor.bytes // -alignment * alignment)
            self._loads = dict(groups.values())
        return self._loads

    @property
    def tied(self) -> bool:
        """The output is computed with the table of tokens."""
        return "output.weight" not in self.by_name

    @cached_property
    def window(self) -> int:
        """Tokens that a sliding layer looks back; 0 where none slides."""
        row = self._sliding
        if row is not None and row.ignored:
            return 0
        return self.number("attention.sliding_window", row.window if row else 0)

    @cached_property
    def _sliding(self) -> _Sliding | None:
        rows = tables.rows("model_kinds", "sliding", _Sliding)
        return next((row for row in rows if row.architecture == self.architecture), None)

    @cached_property
    def drawn(self) -> Drawn:
        """What is peculiar about its graph."""
        rows = tables.rows("model_kinds", "graph", Drawn)
        return next((row for row in rows if row.architecture == self.architecture), Drawn())

    def slides(self, layer: int) -> bool:
        """The layer looks at a window only."""
        if not self.window:
            return False
        pattern = self.value("attention.sliding_window_pattern")
        if isinstance(pattern, list):
            return bool(pattern[layer]) if layer < len(pattern) else False
        row = self._sliding
        period = pattern if isinstance(pattern, int) and pattern > 0 else row.period if row else 0
        if period < 2:
            return False
        return bool(layer % period if row and row.first else (layer + 1) % period)

    def heads(self, layer: int) -> int:
        """Heads that ask."""
        return self.of_layer("attention.head_count", layer)

    def key_length(self, layer: int) -> int:
        """Numbers of a key."""
        heads = self.heads(layer) or self.number("attention.head_count") or 1
        swa = "attention.key_length_swa"
        return (self.slides(layer) and self.number(swa)) or self.number("attention.key_length") or self.width // heads

    def value_length(self, layer: int) -> int:
        """Numbers of a value."""
        heads = self.heads(layer) or self.number("attention.head_count") or 1
        swa = "attention.value_length_swa"
        return (self.slides(layer) and self.number(swa)) or self.number("attention.value_length") or self.width // heads

    @property
    def latent(self) -> bool:
        """Keys and values are kept as one compressed row (MLA), as newer files tell it."""
        return bool(self.number("attention.key_length_mla"))

    @cached_property
    def kept(self) -> tuple[Layer, ...]:
        """What each layer keeps between tokens."""
        owners = self.layers - self.number("attention.shared_kv_layers")
        return tuple(self._layer(layer, layer < owners) for layer in range(self.layers))

    def _layer(self, layer: int, owns: bool) -> Layer:
        names = self.parts[layer]
        state = self._state(layer)
        attends = any(name.startswith(("attn_k", "attn_kv", "attn_qkv", "attn_q.")) for name in names)
        if "ssm_conv1d.weight" in names and "attn_k.weight" not in names:
            attends = False  # what is called attn_qkv there is the recurrent layer's own
        if not attends or not owns:
            return Layer(0, 0, False, state)
        if self.latent:
            return Layer(self.number("attention.key_length"), 0, False, state)
        heads = self.of_layer("attention.head_count_kv", layer, self.heads(layer))
        return Layer(heads * self.key_length(layer), heads * self.value_length(layer), self.slides(layer), state)

    def _state(self, layer: int) -> int:
        """Numbers that a recurrent layer keeps for each sequence."""
        names = self.parts[layer]
        if any(name.startswith("shortconv.") for name in names):
            return self.width * max(0, self.number("shortconv.l_cache") - 1)
        if any(name.startswith("ssm_conv1d") for name in names):
            inner, wide = self.number("ssm.inner_size"), self.number("ssm.state_size")
            groups = self.number("ssm.group_count")
            return max(0, self.number("ssm.conv_kernel") - 1) * (inner + 2 * groups * wide) + wide * inner
        if any(name.startswith("time_mix_") for name in names):
            shifts = self.number("token_shift_count", 2)
            return self.width * (shifts + self.number("wkv.head_size"))
        return 0
