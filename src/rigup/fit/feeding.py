"""The other half of a layer: a feed-forward network, or one of many experts."""

from rigup.fit.building import Building
from rigup.fit.graph import Node


def feed_forward(make: Building, layer: int, node: Node) -> Node:
    """What comes after attention."""
    if make.has(f"blk.{layer}.ffn_gate_inp.weight"):
        return _experts(make, layer, node)
    return _dense(make, f"blk.{layer}.ffn_", "", node)


def _dense(make: Building, name: str, end: str, node: Node) -> Node:
    if not make.has(f"{name}up{end}.weight"):
        return node
    if make.has(f"{name}gate{end}.weight"):
        gate = make.linear(f"{name}gate{end}", node)
        inner = make.make("GLU", gate.sizes, gate, make.linear(f"{name}up{end}", node))
    else:
        wide = make.linear(f"{name}up{end}", node)
        down = make.model.by_name.get(f"{name}down{end}.weight")
        halves = down is not None and wide.sizes[0] == 2 * down.sizes[0]
        inner = make.make("GLU" if halves else "UNARY", (wide.sizes[0] // (1 + halves), *wide.sizes[1:]), wide)
    return make.linear(f"{name}down{end}", inner)


def _chosen(make: Building, layer: int, node: Node) -> tuple[Node, Node]:
    """Which experts each token goes to, and how much each counts."""
    used, tokens = make.model.experts_used, node.sizes[1]
    scores = make.linear(f"blk.{layer}.ffn_gate_inp", node)
    biased = make.has(f"blk.{layer}.ffn_gate_inp.bias")
    shares = scores if biased else make.make("SOFT_MAX", scores.sizes, scores)
    ranked = make.biased(f"blk.{layer}.exp_probs_b.bias", shares)
    order = make.make("ARGSORT", scores.sizes, ranked)
    chosen = make.view(order, (used, tokens), plain=False)
    weights = make.make("GET_ROWS", (1, used, tokens), make.view(shares, (1, *shares.sizes)), chosen)
    if make.has(f"blk.{layer}.ffn_gate_inp.bias"):
        weights = make.view(make.make("SOFT_MAX", (used, tokens), make.view(weights, (used, tokens))), weights.sizes)
    make.graph.expand(weights)
    return chosen, weights


def _expert_product(make: Building, name: str, node: Node, chosen: Node) -> Node:
    """One matrix of each chosen expert."""
    weight = make.weight(f"{name}.weight")
    result = make.make("MUL_MAT_ID", (weight.sizes[1], *chosen.sizes), weight, node, chosen)
    if make.has(f"{name}.bias"):
        result = make.make("ADD_ID", result.sizes, result, make.weight(f"{name}.bias"), chosen)
    return result


def _experts(make: Building, layer: int, node: Node) -> Node:
    name = f"blk.{layer}.ffn_"
    tokens, used = node.sizes[1], make.model.experts_used
    chosen, weights = _chosen(make, layer, node)
    spread = make.view(node, (node.sizes[0], 1, tokens))
    if make.has(f"{name}gate_up_exps.weight"):
        both = _expert_product(make, f"{name}gate_up_exps", spread, chosen)
        inner = make.make("GLU", (both.sizes[0] // 2, *both.sizes[1:]), both)
    elif make.has(f"{name}gate_exps.weight"):
        gate = _expert_product(make, f"{name}gate_exps", spread, chosen)
        inner = make.make("GLU", gate.sizes, gate, _expert_product(make, f"{name}up_exps", spread, chosen))
    else:
        wide = _expert_product(make, f"{name}up_exps", spread, chosen)
        inner = make.make("UNARY", wide.sizes, wide)
    result = _expert_product(make, f"{name}down_exps", inner, chosen)
    result = make.graph.expand(make.make("MUL", result.sizes, result, weights))
    views = [make.graph.expand(make.view(result, (result.sizes[0], tokens), plain=False)) for _one in range(used)]
    joined = views[0]
    for view in views[1:]:
        joined = make.make("ADD", view.sizes, joined, view)
    if used == 1:
        joined = make.make("CONT", views[0].sizes, views[0])
    make.graph.expand(joined)
    return _with_shared(make, name, node, joined)


def _with_shared(make: Building, name: str, node: Node, joined: Node) -> Node:
    """The expert that every token goes to."""
    if not make.has(f"{name}up_shexp.weight"):
        return joined
    shared = _dense(make, name, "_shexp", node)
    if make.has(f"{name}gate_inp_shexp.weight"):
        gate = make.make("MUL_MAT", (1, node.sizes[1]), make.weight(f"{name}gate_inp_shexp.weight"), node)
        shared = make.make("MUL", shared.sizes, shared, make.make("UNARY", gate.sizes, gate))
    return make.make("ADD", joined.sizes, joined, shared)
