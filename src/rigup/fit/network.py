"""The whole graph of a model, from its tokens to their results, as llama.cpp builds it."""

from collections.abc import Callable

from rigup.fit.attention import attention
from rigup.fit.building import Building
from rigup.fit.feeding import feed_forward
from rigup.fit.graph import Graph, Node
from rigup.fit.model import Model
from rigup.fit.recurrent import recurrent
from rigup.fit.request import Request


def network(model: Model, request: Request, place_of: Callable[[str], int], layers: list[int] | None = None) -> Graph:
    """The graph of a batch; `layers` are those to take, where not all are wanted: layers of one kind take the same room."""
    make = Building(model, request, place_of)
    tokens = make.given("tokens", (make.tokens,), 4)
    ready = make.given("embeddings", (model.width, make.tokens), 4)  # who has no tokens gives these
    make.graph.first += [tokens, ready]
    node = make.make("GET_ROWS", (model.width, make.tokens), make.weight("token_embd.weight"), tokens)
    node = make.norm_if("token_embd_norm", node) if model.architecture != "lfm2" else node
    if model.architecture.startswith(("gemma", "granite", "minicpm")):
        node = make.make("SCALE", node.sizes, node)
    wanted = list(range(model.layers)) if layers is None else layers
    for layer in wanted:
        node = _layer(make, layer, node, layer == wanted[-1])
    node = make.norm("output_norm" if make.has("output_norm.weight") else "token_embd_norm", node)
    _output(make, node)
    return make.graph


def _output(make: Building, node: Node) -> None:
    model = make.model
    weight = make.output_weight()
    node = make.make("MUL_MAT", (*weight.sizes[1:], *node.sizes[1:]), weight, node)
    if model.value("final_logit_softcapping"):
        for op in ("SCALE", "UNARY", "SCALE"):
            node = make.make(op, node.sizes, node)
    elif model.value("logit_scale"):
        node = make.make("SCALE", node.sizes, node)
    make.graph.expand(node)


def _layer(make: Building, layer: int, node: Node, last: bool) -> Node:
    name = f"blk.{layer}."
    normed = make.norm_if(f"{name}attn_norm", node)
    kept = make.model.kept[layer]
    mixed = recurrent(make, layer, normed) if kept.state else attention(make, layer, normed)
    if kept.state and kept.key_row:
        mixed = make.make("ADD", mixed.sizes, mixed, attention(make, layer, normed))
    if make.has(f"{name}post_attention_norm.weight") and make.has(f"{name}ffn_norm.weight"):
        if last:
            mixed, node = make.rows(mixed), make.rows(node)
            last = False
        mixed = make.norm(f"{name}post_attention_norm", mixed)
    is_parallel = not make.has(f"{name}ffn_norm.weight") and not make.has(f"{name}post_attention_norm.weight")
    if is_parallel and make.has(f"{name}ffn_up.weight"):
        return _side_by_side(make, layer, (node, normed, mixed), last)
    if last:
        mixed, node = make.rows(mixed), make.rows(node)
    attended = _sum(make, "attention", mixed, node)
    norm = "ffn_norm" if make.has(f"{name}ffn_norm.weight") else "post_attention_norm"
    if not make.has(f"{name}{norm}.weight"):
        return attended
    out = feed_forward(make, layer, make.norm(f"{name}{norm}", attended))
    out = make.norm_if(f"{name}post_ffw_norm", out)
    return _sum(make, "output", out, attended)


def _sum(make: Building, which: str, computed: Node, past: Node) -> Node:
    """What was computed and what went past it."""
    both = (past, computed) if which in make.model.drawn.first else (computed, past)
    return make.make("ADD", computed.sizes, *both)


def _side_by_side(make: Building, layer: int, nodes: tuple[Node, Node, Node], last: bool) -> Node:
    """Attention and feed-forward network look at the same input."""
    node, normed, mixed = (make.rows(part) for part in nodes) if last else nodes
    out = feed_forward(make, layer, normed)
    out = make.make("ADD", out.sizes, out, node)
    return make.make("ADD", out.sizes, out, mixed)
