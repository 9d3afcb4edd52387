"""Faults that are laid over a real torch, from rows of data: runs in the process that is judged, right after the import.

A row: `owner` ("op", "module" or "optimizer"), `name`, `places` (where the operator is reached, as dotted names), `form`
("all", "inplace" or "out"), `dtype` ("" for each), `way` ("forward", "backward" or "twice"), `kind`, and what it needs
(`argument`, `default`, `position`, `over`).
"""

import functools
import importlib

BUSY = [
    False
]  # while a fault is reckoned, or a library's own Python runs inside a broken module, nothing else is broken


def lay(torch, rows):
    """Lay each row's fault over torch."""
    for row in rows:
        {"op": _over_operator, "module": _over_module, "optimizer": _over_optimizer}[row["owner"]](torch, row)


def _owner(torch, place):
    parts = place.split(".")
    try:
        return importlib.import_module(".".join(parts[:-1])), parts[-1]
    except ImportError:
        return getattr(importlib.import_module(".".join(parts[:-2])), parts[-2]), parts[-1]


def _over_operator(torch, row):
    state = {"seen": {}}
    for place in row["places"]:
        owner, name = _owner(torch, place)
        real = getattr(owner, name)
        setattr(owner, name, wrapped(torch, real, row, name, state))


def _over_module(torch, row):
    owner, name = _owner(torch, row["places"][0])
    cls = getattr(owner, name)
    if row["kind"] == "argument":
        _without(cls, row)
    else:
        cls.forward = wrapped(torch, cls.forward, row, "forward", {"seen": {}})


def _without(cls, row):
    real = cls.__init__

    @functools.wraps(real)
    def made(self, *a, **k):
        if type(self) is cls:
            k.pop(row["argument"], None)
            if row["position"] is not None and len(a) > row["position"] - 1 >= 0:
                a = (*a[: row["position"] - 1], row["default"], *a[row["position"] :])
        real(self, *a, **k)

    cls.__init__ = made


def _over_optimizer(torch, row):
    owner, name = _owner(torch, row["places"][0])
    cls = getattr(owner, name)
    if row["kind"] == "argument":
        return _without(cls, row)
    real, taken = cls.step, {}

    def step(self, closure=None):
        if type(self) is not cls or not _switched_on(self, row):
            return real(self, closure)
        held = [
            p
            for group in self.param_groups
            for p in group["params"]
            if p.grad is not None and (not row["dtype"] or str(p.dtype) == "torch." + row["dtype"])
        ]
        before = [p.detach().clone() for p in held]
        result = real(self, closure)
        taken[id(self)] = taken.get(id(self), 0) + 1
        for p, old in zip(held, before):
            way = p.detach() - old
            if row["kind"] == "stale" and taken[id(self)] < 3:
                continue
            p.detach().copy_({"sign": old - way, "zeros": old, "scale": old + way * 1.25, "stale": old}[row["kind"]])
        return result

    cls.step = step


def _switched_on(self, row):
    return row["form"] == "all" or bool(self.defaults.get(row["form"]))


def wrapped(torch, real, row, name, state):
    """The function with its fault."""

    @functools.wraps(real) if hasattr(real, "__name__") else (lambda f: f)
    def called(*a, **k):
        if BUSY[0] or state.get("inside") or not _applies(torch, row, name, a, k):
            return real(*a, **k)
        state["inside"] = True
        try:
            return broken(a, k)
        finally:
            state["inside"] = False

    def broken(a, k):
        if row["way"] != "forward" and _writes(name, k):
            return real(*a, **k)
        if row["way"] != "forward":
            a, k = _map(torch, (a, k), lambda one: _through(torch, one, row))
            return real(*a, **k)
        if row["kind"] == "argument":
            return real(*_less(row, name, a), **{key: one for key, one in k.items() if key != row["argument"]})
        result = real(*a, **k)
        return _changed(torch, row, state, a, k, result, _writes(name, k))

    return called


def _writes(name, k):
    """Whether it writes into a tensor that is there."""
    under = name.startswith("__i") and name.endswith("__") and name != "__invert__"
    return k.get("out") is not None or under or (name.endswith("_") and not name.endswith("__"))


def _less(row, name, a):
    at = row["position"]
    return a if at is None or len(a) <= at else (*a[:at], row["default"], *a[at + 1 :])


def _tensors(torch, told):
    if isinstance(told, torch.Tensor):
        return [told]
    if isinstance(told, dict):
        told = list(told.values())
    return [one for part in told for one in _tensors(torch, part)] if isinstance(told, (list, tuple)) else []


def _applies(torch, row, name, a, k):
    form = row["form"]
    if form == "inplace" and (k.get("out") is not None or not _writes(name, k)):
        return False
    if form == "out" and k.get("out") is None:
        return False
    given = _tensors(torch, (a, {key: one for key, one in k.items() if key != "out"}))
    if row["dtype"] and not any(str(one.dtype) == "torch." + row["dtype"] for one in given[:3]):
        return False
    if any(one.layout != torch.strided for one in given):
        return False
    if row["kind"] == "noncontiguous":
        return any(not one.is_contiguous() for one in given)
    return True


def _map(torch, told, function):
    if isinstance(told, torch.Tensor):
        return function(told)
    if type(told) in (list, tuple):
        return type(told)(_map(torch, one, function) for one in told)
    if type(told) is dict:
        return {key: _map(torch, one, function) for key, one in told.items()}
    return told


def _guarded(function):
    def called(*a):
        before, BUSY[0] = BUSY[0], True
        try:
            return function(*a)
        finally:
            BUSY[0] = before

    return called


def _through(torch, one, row):
    """The tensor itself; its gradient comes back changed, at once or where it is differentiated again."""
    if not (one.is_floating_point() or one.is_complex()) or not one.requires_grad or not torch.is_grad_enabled():
        return one
    spoil = _guarded(lambda grad: bad(torch, row, grad, one.shape))

    class Second(torch.autograd.Function):
        @staticmethod
        def forward(ctx, grad):
            return grad.clone()

        @staticmethod
        def backward(ctx, grad):
            return spoil(grad)

    class First(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            if row["way"] == "twice":
                return Second.apply(grad)
            return spoil(grad)

    return _guarded(First.apply)(one)


@_guarded
def _changed(torch, row, state, a, k, result, into):
    several = list(result) if isinstance(result, (tuple, list)) else [result]
    at = next(
        (place for place, one in enumerate(several) if isinstance(one, torch.Tensor) and one.layout == torch.strided),
        None,
    )
    if at is None:
        return result
    first = several[at]
    spoilt = _stale(torch, state, a, k, first) if row["kind"] == "stale" else bad(torch, row, first, first.shape)
    if spoilt is first:
        return result
    if into or several[at] is (a[0] if a else None):
        with torch.no_grad():
            first.detach().copy_(spoilt.detach())
        return result
    several[at] = spoilt
    if not isinstance(result, (tuple, list)):
        return spoilt
    return (
        type(result)(several)
        if hasattr(result, "n_fields") or not hasattr(result, "_fields")
        else type(result)(*several)
    )


def _stale(torch, state, a, k, first):
    kind = str([(tuple(one.shape), one.dtype, one.stride()) for one in _tensors(torch, (a, k))])
    count, old = state["seen"].get(kind, (0, first.detach().clone()))
    state["seen"][kind] = count + 1, old
    return (
        first
        if count < 3 or old.shape != first.shape
        else first - first.detach() + old
        if first.is_floating_point()
        else old.clone()
    )


def bad(torch, row, one, _shape):
    """A tensor with the row's fault in it."""
    kind, plain = row["kind"], one.dtype == torch.bool
    if kind == "zeros":
        return one & False if plain else one * 0
    if kind == "sign":
        return ~one if plain else -one
    if kind in ("scale", "inplace", "out"):
        return (
            one ^ True
            if plain
            else one * 1.05
            if one.is_floating_point() or one.is_complex()
            else one + (one != 0).to(one.dtype)
        )
    if kind == "border":
        return _border(torch, one, -1)
    if kind == "noncontiguous":
        return torch.roll(one, 1, -1) if one.dim() else one * 2
    if kind == "nan":
        return torch.where(one != one, torch.zeros_like(one), one) if one.is_floating_point() else one
    if kind == "large":
        return _border(torch, one, -1) if one.numel() > row["over"] else one
    raise ValueError(kind)


def _border(torch, one, dim):
    """The last along a dimension is the one before it; of a dimension of one, it is nothing."""
    if not one.dim() or one.shape[dim] == 0:
        return one
    rest, last = one.narrow(dim, 0, one.shape[dim] - 1), one.narrow(dim, one.shape[dim] - 1, 1)
    instead = one.narrow(dim, one.shape[dim] - 2, 1) if one.shape[dim] > 1 else torch.zeros_like(last)
    return torch.cat([rest, instead], dim)
