"""Attention in a model's graph: heads with keys of their own, or one compressed row; over the whole context or a window."""

from rigup.fit.building import Building
from rigup.fit.graph import Node

_HALF, _FLOAT = 2, 4
_ROTATED = ("q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl")


def attention(make: Building, layer: int, node: Node) -> Node:
    """What a layer's attention makes of the normed input."""
    if make.has(f"blk.{layer}.attn_kv_a_mqa.weight"):
        return _latent(make, layer, node) if make.model.latent else _decompressed(make, layer, node)
    if make.has(f"blk.{layer}.attn_qkv.weight"):
        query, key, value = _from_one(make, layer, node)
    else:
        query, key, value = _from_three(make, layer, node)
    gate = None
    if isinstance(query, tuple):
        query, gate = query
    return _attended(make, layer, query, key, value, gate)


def _from_three(make: Building, layer: int, node: Node) -> tuple[Node | tuple[Node, Node], Node | None, Node | None]:
    model, name = make.model, f"blk.{layer}."
    length, heads = model.key_length(layer), model.heads(layer)
    wide = make.linear(f"{name}attn_q", node)
    gate = None
    if wide.sizes[0] == 2 * length * heads:  # the query's gate comes out of the same product
        whole = wide
        wide = make.view(whole, (length, heads, make.tokens), plain=False)
        gate = make.view(whole, (length, heads, make.tokens), plain=False)
    else:
        wide = make.view(wide, (length, heads, make.tokens))
    turned = model.slides(layer) or not model.drawn.unturned
    query = make.norm_if(f"{name}attn_q_norm", wide)
    query = make.rope(query) if turned else query
    if model.drawn.scaled:
        query = make.make("SCALE", query.sizes, query)
    queries = (query, gate) if gate is not None else query
    if not make.has(f"{name}attn_k.weight"):
        return queries, None, None  # it looks into another layer's cache
    shared = model.of_layer("attention.head_count_kv", layer, heads)
    key = make.view(make.linear(f"{name}attn_k", node), (length, shared, make.tokens))
    key = make.norm_if(f"{name}attn_k_norm", key)
    key = make.rope(key) if turned else key
    weight = f"{name}attn_v" if make.has(f"{name}attn_v.weight") else f"{name}attn_k"
    value = make.view(make.linear(weight, node), (model.value_length(layer), shared, make.tokens))
    return queries, key, value


def _from_one(make: Building, layer: int, node: Node) -> tuple[Node | tuple[Node, Node], Node | None, Node | None]:
    model, heads = make.model, make.model.heads(layer)
    length, shared = model.key_length(layer), model.of_layer("attention.head_count_kv", layer, heads)
    whole = make.linear(f"blk.{layer}.attn_qkv", node)
    query, key = (make.rope(make.view(whole, (length, count, make.tokens), plain=False)) for count in (heads, shared))
    if model.drawn.scaled:
        query = make.make("SCALE", query.sizes, query)
    return query, key, make.view(whole, (length, shared, make.tokens), plain=False)


def _attended(make: Building, layer: int, query: Node, key: Node | None, value: Node | None, gate: Node | None) -> Node:
    """Keys and values stored, everything looked at, the heads joined."""
    slides, graph, request = make.model.slides(layer), make.graph, make.request
    turns = make.model.kept[layer].key_row and query.sizes[0] % 64 == 0
    keys_turn, values_turn = (turns and cache_type in _ROTATED for cache_type in (request.kv_type_k, request.kv_type_v))
    if keys_turn:
        query = _turned(make, "k", query)
    graph.expand(query)
    first, second = (key, value) if make.model.window else (value, key)
    for node in (first, second):
        if node is None:
            continue
        turned = keys_turn if node is key else values_turn
        if turned:
            result = _turned(make, "k" if node is key else "v", node)
            key, value = (result, value) if node is key else (key, result)
            node = result  # noqa: PLW2901
        graph.expand(node)
    if key is not None and value is not None:
        make.stored(key, "k", layer, slides)
        make.stored(value, "v", layer, slides)
    width = (value.sizes[0] if value is not None else make.model.value_length(layer)) * query.sizes[1]
    result = _looked(make, layer, query, width, slides)
    if values_turn:
        result = make.view(_turned(make, "v", result), result.sizes)
    if gate is not None:
        opened = make.make("UNARY", result.sizes, make.make("CONT", result.sizes, gate))
        result = make.make("MUL", result.sizes, result, opened)
    name = f"blk.{layer}.attn_output"
    return make.linear(name, result) if make.has(f"{name}.weight") else result


def _turned(make: Building, which: str, node: Node) -> Node:
    """Rotated, so that a coarse cache loses less of it."""
    length = node.sizes[0]
    side = 64
    while which and length % (side * 2) == 0 and len(node.sizes) > 2:
        side *= 2
    rotation = make.given(f"rotation {which}", (side, side), _FLOAT)
    return make.make("MUL_MAT", node.sizes, rotation, make.view(node, node.sizes, node.plain))


def _looked(make: Building, layer: int, query: Node, width: int, slides: bool) -> Node:
    """The values that the heads found, side by side."""
    request = make.request
    mask, keys, values = make.mask(slides), make.cache(layer, "k"), make.cache(layer, "v")
    queries = make.view(query, query.sizes, plain=False)
    sinks = [make.weight(f"blk.{layer}.attn_sinks.weight")] if make.has(f"blk.{layer}.attn_sinks.weight") else []
    if request.flash_attn:
        return make.graph.expand(make.make("FLASH_ATTN", (width, make.tokens), queries, keys, values, mask, *sinks))
    scores = make.make("MUL_MAT", (mask.sizes[0], make.tokens, query.sizes[1]), keys, queries)
    if make.model.value("attn_logit_softcapping"):
        for op in ("SCALE", "UNARY", "SCALE"):
            scores = make.make(op, scores.sizes, scores)
    shares = make.make("SOFT_MAX", scores.sizes, scores, mask, *sinks)
    result = make.make("MUL_MAT", (width, make.tokens), values, shares)
    moved = make.view(result, result.sizes, plain=False)
    return make.graph.expand(make.make("CONT", result.sizes, moved))


def _query(make: Building, layer: int, node: Node) -> Node:
    name = f"blk.{layer}.attn_q"
    if not make.has(f"{name}_a.weight"):
        return make.product(f"{name}.weight", node)
    return make.product(f"{name}_b.weight", make.norm(f"{name}_a_norm", make.product(f"{name}_a.weight", node)))


def _latent(make: Building, layer: int, node: Node) -> Node:
    """One compressed row for keys and values (MLA): the query is brought into its space."""
    model, tokens, name = make.model, make.tokens, f"blk.{layer}."
    rank, turned, heads = (model.number("attention.kv_lora_rank"), model.number("rope.dimension_count"), model.heads(layer))
    plain = model.number("attention.key_length_mla") - turned
    whole = _query(make, layer, node)
    bare = make.view(make.view(whole, (plain, heads, tokens), plain=False), (plain, tokens, heads), plain=False)
    absorbed = make.make("MUL_MAT", (rank, tokens, heads), make.weight(f"{name}attn_k_b.weight"), bare)
    placed = make.rope(make.view(whole, (turned, heads, tokens), plain=False))
    query = make.make("CONCAT", (rank + turned, heads, tokens), make.view(absorbed, (rank, heads, tokens), plain=False), placed)
    make.graph.expand(query)
    row = make.product(f"{name}attn_kv_a_mqa.weight", node)
    latent = make.norm(f"{name}attn_kv_a_norm", make.view(row, (rank, tokens), plain=False))
    where = make.rope(make.view(row, (turned, 1, tokens), plain=False))
    key = make.make("CONCAT", (rank + turned, 1, tokens), make.view(latent, (rank, 1, tokens)), where)
    make.graph.expand(key)
    make.stored(key, "k", layer, slides=False)
    return make.product(f"{name}attn_output.weight", _looked_latent(make, layer, query, (rank, heads)))


def _looked_latent(make: Building, layer: int, query: Node, sizes: tuple[int, int]) -> Node:
    (rank, heads), tokens, cache, mask = sizes, make.tokens, make.cache(layer, "k"), make.mask(slides=False)
    queries = make.view(query, query.sizes, plain=False)
    length = make.model.number("attention.value_length_mla")
    widen = make.weight(f"blk.{layer}.attn_v_b.weight")
    if make.request.flash_attn:
        result = make.make("FLASH_ATTN", (rank, heads, tokens), queries, cache, cache, mask)
        result = make.make("MUL_MAT", (length, tokens, heads), widen, make.view(result, (rank, tokens, heads), plain=False))
    else:
        cells = mask.sizes[0]
        scores = make.make("MUL_MAT", (cells, tokens, heads), cache, queries)
        values = make.make("CONT", (cells, rank), cache, size=_HALF)
        make.graph.expand(values)
        shares = make.make("SOFT_MAX", scores.sizes, scores, mask)
        result = make.make("MUL_MAT", (length, tokens, heads), widen, make.make("MUL_MAT", (rank, tokens, heads), values, shares))
    joined = make.make("CONT", (length * heads, tokens), make.view(result, (length, heads, tokens), plain=False))
    return make.graph.expand(joined)


def _decompressed(make: Building, layer: int, node: Node) -> Node:
    """MLA in older files: keys and values are kept as heads have them."""
    model, tokens, name = make.model, make.tokens, f"blk.{layer}."
    rank, turned, heads = (model.number("attention.kv_lora_rank"), model.number("rope.dimension_count"), model.heads(layer))
    length, wide = model.key_length(layer), model.value_length(layer)
    query = make.rope(make.view(_query(make, layer, node), (length, heads, tokens)))
    make.graph.expand(query)
    row = make.product(f"{name}attn_kv_a_mqa.weight", node)
    latent = make.norm(f"{name}attn_kv_a_norm", make.view(row, (rank, tokens), plain=False))
    both = make.product(f"{name}attn_kv_b.weight", latent)
    value = make.make("CONT", (wide, heads, tokens), make.view(both, (wide, heads, tokens), plain=False))
    where = make.rope(make.view(row, (turned, 1, tokens), plain=False))
    repeated = make.make("REPEAT", (turned, heads, tokens), where)
    bare = make.view(both, (length - turned, heads, tokens), plain=False)
    key = make.make("CONCAT", (length, heads, tokens), bare, repeated)
    for part in (value, key):
        make.graph.expand(part)
    make.stored(key, "k", layer, slides=False)
    make.stored(value, "v", layer, slides=False)
    return make.product(f"{name}attn_output.weight", _looked(make, layer, query, wide * heads, slides=False))
