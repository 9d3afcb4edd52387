"""Layers that carry a state from token to token: Mamba, gated delta networks, short convolutions."""

from rigup.fit.building import Building
from rigup.fit.graph import Node

_STATE = 4


def recurrent(make: Building, layer: int, node: Node) -> Node:
    """What a layer with a state makes of the normed input."""
    name = f"blk.{layer}."
    if make.has(f"{name}shortconv.in_proj.weight"):
        return _short_convolution(make, layer, node)
    if make.has(f"{name}ssm_in.weight"):
        return _mamba(make, layer, node)
    if make.has(f"{name}attn_qkv.weight") and make.has(f"{name}ssm_out.weight"):
        return _delta(make, layer, node)
    return node


def loaded(make: Building, layer: int, count: int) -> Node:
    """The state of each sequence, brought into the graph; the cache's unused cells are cleared beside it."""
    cache, copies = make.cache(layer), make.given("copies", (make.request.parallel,), 4)
    make.graph.expand(Node("SCALE", (1,), 0, (cache,), of=cache))
    state = make.make("GET_ROWS", (count, make.request.parallel), cache, copies)
    make.graph.expand(state)
    make.graph.expand(Node("CPY", (1,), 0, (make.view(state, (1,), plain=False), cache), of=cache))
    return state


def _store_state(make: Building, layer: int, node: Node) -> None:
    """Written back as the state."""
    cache = make.cache(layer)
    make.graph.expand(Node("CPY", (1,), 0, (node, cache), of=cache))


def _joined(make: Building, layer: int, state: Node, now: Node, wide: int) -> Node:
    """The last tokens before these, and these, as a convolution wants them."""
    tokens, before = make.tokens, state.sizes[0] // wide
    streams = make.request.parallel
    parts = make.view(state, (before, wide, streams)), make.view(now, (tokens, wide), plain=False)
    joined = make.make("CONCAT", (before * streams + tokens, wide), *parts)
    _store_state(make, layer, make.view(joined, (before * streams, wide), plain=False))
    return joined


def _short_convolution(make: Building, layer: int, node: Node) -> Node:
    """A gated convolution over a few tokens."""
    name, width, tokens = f"blk.{layer}.shortconv.", make.model.width, make.tokens
    whole = make.product(f"{name}in_proj.weight", node)
    first, gate, last = (make.view(whole, (width, tokens), plain=False) for _part in range(3))
    inner = make.make("MUL", (width, tokens), first, last)
    before = make.model.number("shortconv.l_cache") - 1
    wide = _joined(make, layer, loaded(make, layer, before * width), inner, width)
    result = make.make("SSM_CONV", (width, tokens), wide, make.weight(f"{name}conv.weight"))
    return make.product(f"{name}out_proj.weight", make.make("MUL", (width, tokens), gate, result))


def _mamba(make: Building, layer: int, node: Node) -> Node:
    model, tokens, name = make.model, make.tokens, f"blk.{layer}."
    inner, wide, groups = (model.number("ssm.inner_size"), model.number("ssm.state_size"), model.number("ssm.group_count"))
    second = not make.has(f"{name}ssm_x.weight")
    convolved = inner + 2 * groups * wide if second else inner
    before = loaded(make, layer, max(0, model.number("ssm.conv_kernel") - 1) * convolved)
    whole = make.product(f"{name}ssm_in.weight", node)
    joined = _joined(make, layer, before, make.view(whole, (convolved, tokens), plain=False), convolved)
    result = make.make("SSM_CONV", (convolved, tokens), joined, make.weight(f"{name}ssm_conv1d.weight"))
    result = make.make("UNARY", result.sizes, make.biased(f"{name}ssm_conv1d.bias", result))
    cache = make.cache(layer)
    make.graph.expand(Node("SCALE", (1,), 0, (cache,), of=cache))
    if second:
        steps = make.biased(f"{name}ssm_dt.bias", make.view(whole, (model.number("ssm.time_step_rank"), tokens), plain=False))
        rest: tuple[Node, ...] = (make.view(result, (wide, groups, tokens), plain=False),)
    else:
        product = make.product(f"{name}ssm_x.weight", result)
        rank = model.number("ssm.time_step_rank")
        narrow = make.make("CONT", (rank, tokens), make.view(product, (rank, tokens), plain=False))
        steps = make.linear(f"{name}ssm_dt", narrow)
        rest = (make.view(product, (wide, tokens), plain=False),)
    size = inner * tokens + wide * inner * make.request.parallel
    scanned = make.make("SSM_SCAN", (size,), cache, make.view(result, (inner, tokens)), steps, *rest)
    _store_state(make, layer, make.view(scanned, (wide, inner, make.request.parallel)))
    product = make.make("MUL", (inner, tokens), make.view(result, (inner, tokens)), make.weight(f"{name}ssm_d"))
    out = make.make("ADD", (inner, tokens), make.view(scanned, (inner, tokens)), product)
    gated = make.make("GLU", (inner, tokens), make.view(whole, (inner, tokens), plain=False), out)
    if second:
        gated = make.norm_if(f"{name}ssm_norm", gated)
    return make.product(f"{name}ssm_out.weight", gated)


def _delta(make: Building, layer: int, node: Node) -> Node:
    """A gated delta network: queries, keys and values come out of one convolution."""
    model, tokens, name = make.model, make.tokens, f"blk.{layer}."
    wide, groups, heads = (model.number("ssm.state_size"), model.number("ssm.group_count"), model.number("ssm.time_step_rank"))
    inner = wide * heads
    convolved = inner + 2 * groups * wide
    before = loaded(make, layer, max(0, model.number("ssm.conv_kernel") - 1) * convolved)
    whole = make.product(f"{name}attn_qkv.weight", node)
    joined = _joined(make, layer, before, whole, convolved)
    state = loaded(make, layer, wide * inner)
    result = make.make("SSM_CONV", (convolved, tokens), joined, make.weight(f"{name}ssm_conv1d.weight"))
    result = make.make("UNARY", result.sizes, result)
    both = []
    for _one in range(2):
        part = make.make("RMS_NORM", (wide, groups, tokens), make.view(result, (wide, groups, tokens), plain=False))
        part = make.make("SCALE", part.sizes, part)
        if heads != groups:
            part = make.make("REPEAT", (wide, heads, tokens), make.view(part, part.sizes))
        both.append(make.graph.expand(part))
    value = make.view(result, (wide, heads, tokens), plain=False)
    gates = make.make(
        "UNARY",
        (heads, tokens),
        make.make(
            "CONT",
            (heads, tokens),
            make.view(
                make.product(f"{name}ssm_ba.weight", node)
                if make.has(f"{name}ssm_ba.weight")
                else make.product(f"{name}ssm_alpha.weight", node),
                (heads, tokens),
                plain=False,
            ),
        ),
    )
    size = inner * tokens + wide * inner * make.request.parallel
    core = make.make("GATED_DELTA", (size,), *both, value, gates, make.view(state, state.sizes))
    _store_state(make, layer, make.view(core, state.sizes))
    out = make.norm(f"{name}ssm_norm", make.view(core, (wide, heads, tokens)))
    gate = make.product(f"{name}attn_gate.weight", node)
    opened = make.make("UNARY", out.sizes, make.view(gate, (wide, heads, tokens)))
    out = make.make("MUL", out.sizes, out, opened)
    return make.product(f"{name}ssm_out.weight", make.view(out, (inner, tokens)))
