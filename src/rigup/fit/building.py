"""Nodes of a model's graph: what each operation of llama.cpp makes of what, with its sizes."""

from collections.abc import Callable
from math import prod

from rigup.fit.errors import HeaderError
from rigup.fit.graph import Graph, Node
from rigup.fit.model import Model
from rigup.fit.quants import cache_bytes
from rigup.fit.request import Request
from rigup.language import _

_FLOAT, _HALF, _INDEX, _PLACE = 4, 2, 4, 8


class Building:
    """A graph in the making.

    Args:
        place_of: which device holds a tensor, by its name.

    """

    def __init__(self, model: Model, request: Request, place_of: Callable[[str], int]) -> None:
        self.model, self.request, self.place_of = model, request, place_of
        self.graph = Graph()
        self.tokens = request.tokens
        self.outputs = min(self.tokens, request.outputs or self.tokens)
        self._given: dict[str, Node] = {}
        self._weights: dict[str, Node] = {}

    def has(self, name: str) -> bool:
        """The model has a tensor of this name."""
        return name in self.model.by_name

    def weight(self, name: str) -> Node:
        """A tensor of the model."""
        if name not in self._weights:
            tensor = self.model.by_name.get(name)
            if tensor is None:
                template = _(
                    "The file has no tensor {name}, which a model of the kind {architecture} needs: it is no whole model, or of a kind that is not known here."
                )
                raise HeaderError(template.format(name=name, architecture=self.model.architecture[:60]))
            self._weights[name] = Node("WEIGHT", tensor.sizes, tensor.bytes, outside=True, place=self.place_of(name))
        return self._weights[name]

    def output_weight(self) -> Node:
        """What turns the last result into tokens: where the table of tokens serves, a copy of it lies with the output."""
        if not self.model.tied:
            return self.weight("output.weight")
        table = self.weight("token_embd.weight")
        return Node("WEIGHT", table.sizes, table.bytes, outside=True, place=self.place_of("output.weight"))

    def given(self, name: str, sizes: tuple[int, ...], size: int) -> Node:
        """An input: one for all layers."""
        if name not in self._given:
            self._given[name] = Node("INPUT", sizes, prod(sizes) * size, given=True)
        return self._given[name]

    def cache(self, layer: int, which: str = "") -> Node:
        """The cache of a layer, which lies where the layer does; its size counts where it has to be brought elsewhere."""
        sizes, request, size = self.model.kept[layer], self.request, 0
        if which:
            cells = request.window_cells(self.model.window) if sizes.slides else request.cells
            kind = request.kv_type_k if which == "k" else request.kv_type_v
            size = cache_bytes(kind, (sizes.key_row if which == "k" else sizes.value_row) * cells * request.streams)
        return Node("CACHE", (1,), size, outside=True, place=self.place_of(f"cache.{layer}"))

    def make(self, op: str, sizes: tuple[int, ...], *sources: Node, size: int = _FLOAT) -> Node:
        """A result of its own."""
        return Node(op, sizes, prod(sizes) * size, sources)

    def view(self, node: Node, sizes: tuple[int, ...], plain: bool = True, size: int = _FLOAT) -> Node:
        """The same bytes with other sizes."""
        return Node("VIEW", sizes, prod(sizes) * size, (node,), of=node, plain=plain)

    def product(self, name: str, node: Node) -> Node:
        """A matrix of the model times what comes in."""
        weight = self.weight(name)
        return self.make("MUL_MAT", (*weight.sizes[1:], *node.sizes[1:]), weight, node)

    def biased(self, name: str, node: Node) -> Node:
        """With the bias that the model may have."""
        return self.make("ADD", node.sizes, node, self.weight(name)) if self.has(name) else node

    def linear(self, name: str, node: Node) -> Node:
        """A layer's matrix with its bias."""
        return self.biased(f"{name}.bias", self.product(f"{name}.weight", node))

    def norm(self, name: str, node: Node) -> Node:
        """Normed, weighted and moved."""
        plain = "NORM" if self.model.value("attention.layer_norm_epsilon") is not None else "RMS_NORM"
        result = self.make(plain, node.sizes, node)
        if self.has(f"{name}.weight"):
            result = self.make("MUL", node.sizes, result, self.weight(f"{name}.weight"))
        return self.biased(f"{name}.bias", result)

    def norm_if(self, name: str, node: Node) -> Node:
        """Normed where the model has such a norm."""
        return self.norm(name, node) if self.has(f"{name}.weight") else node

    def positions(self) -> Node:
        """Where each token stands."""
        return self.given("positions", (self.tokens,), _INDEX)

    def rope(self, node: Node) -> Node:
        """Turned by its place."""
        tensor = self.model.by_name.get("rope_freqs.weight")
        factors = [Node("FACTORS", tensor.sizes, tensor.bytes, outside=True)] if tensor else []  # every device has them
        return self.make("ROPE", node.sizes, node, self.positions(), *factors)

    def rows(self, node: Node) -> Node:
        """Of all tokens those whose result is asked for."""
        indices = self.given("outputs", (self.outputs,), _INDEX)
        return self.make("GET_ROWS", (node.sizes[0], self.outputs), node, indices)

    def mask(self, slides: bool) -> Node:
        """Which cell each token may look at."""
        request = self.request
        cells = request.window_cells(self.model.window) if slides else request.cells
        size = _HALF if request.flash_attn else _FLOAT
        return self.given(f"mask {slides}", (cells, self.tokens), size)

    def stored(self, node: Node, which: str, layer: int, slides: bool) -> Node:
        """Written into the cache of a layer."""
        turned = which == "v" and not self.request.flash_attn
        count = prod(node.sizes) if turned else self.tokens
        places = self.given(f"{which} places {slides}", (count,), _PLACE)
        cache = self.cache(layer, which)
        flat = self.view(node, (node.sizes[0] * node.sizes[1], self.tokens) if len(node.sizes) > 2 else node.sizes)
        return self.graph.expand(Node("SET_ROWS", (1,), 0, (flat, places, cache), of=cache))
