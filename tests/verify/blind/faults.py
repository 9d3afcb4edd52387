"""Faults that are laid over a real torch, from rows of data: runs in the process that is judged, right after the import.

A row: `owner` ("op", "module" or "optimizer"), `name`, `places` (where the operator is reached, as dotted names), `form`
("all", "inplace" or "out"), `dtype` ("" for each), `way` ("forward", "backward" or "twice"), `kind`, and what it needs
(`argument`, `default`, `position`, `over`).
"""

import functools
import importlib

BUSY = [False]  # while a fault is reckoned, or a library's own Python runs inside a broken module, nothing else is broken


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
    def patched(self, *a, **k):
        if type(self) is cls:
            k.pop(row["argument"], None)
            if row["position"] is not None and len(a) > row["position"] - 1 >= 0:
                a = (*a[: row["position"] - 1], row["default"], *a[row["position"] :])
        real(self, *a, **k)

    cls.__init__ = patched


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
            a, k = _map(torch, (a, k), lambda tensor: _through(torch, tensor, row))
            return real(*a, **k)
        if row["kind"] == "argument":
            return real(*_less(row, name, a), **{key: value for key, value in k.items() if key != row["argument"]})
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


def _tensors(torch, value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [tensor for part in value for tensor in _tensors(torch, part)] if isinstance(value, (list, tuple)) else []


def _applies(torch, row, name, a, k):
    form = row["form"]
    if form == "inplace" and (k.get("out") is not None or not _writes(name, k)):
        return False
    if form == "out" and k.get("out") is None:
        return False
    given = _tensors(torch, (a, {key: value for key, value in k.items() if key != "out"}))
    if row["dtype"] and not any(str(tensor.dtype) == "torch." + row["dtype"] for tensor in given[:3]):
        return False
    if any(tensor.layout != torch.strided for tensor in given):
        return False
    if row["kind"] == "noncontiguous":
        return any(not tensor.is_contiguous() for tensor in given)
    return True


def _map(torch, value, function):
    if isinstance(value, torch.Tensor):
        return function(value)
    if type(value) in (list, tuple):
        return type(value)(_map(torch, item, function) for item in value)
    if type(value) is dict:
        return {key: _map(torch, item, function) for key, item in value.items()}
    return value


def _guarded(function):
    def called(*a):
        before, BUSY[0] = BUSY[0], True
        try:
            return function(*a)
        finally:
            BUSY[0] = before

    return called


def _through(torch, tensor, row):
    """The tensor itself; its gradient comes back changed, at once or where it is differentiated again."""
    if not (tensor.is_floating_point() or tensor.is_complex()) or not tensor.requires_grad or not torch.is_grad_enabled():
        return tensor
    spoil = _guarded(lambda grad: bad(torch, row, grad, tensor.shape))

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

    return _guarded(First.apply)(tensor)


@_guarded
def _changed(torch, row, state, a, k, result, into):
    several = list(result) if isinstance(result, (tuple, list)) else [result]
    at = next(
        (place for place, result_ in enumerate(several) if isinstance(result_, torch.Tensor) and result_.layout == torch.strided), None
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
    return type(result)(several) if hasattr(result, "n_fields") or not hasattr(result, "_fields") else type(result)(*several)


def _stale(torch, state, a, k, first):
    kind = str([(tuple(tensor.shape), tensor.dtype, tensor.stride()) for tensor in _tensors(torch, (a, k))])
    count, old = state["seen"].get(kind, (0, first.detach().clone()))
    state["seen"][kind] = count + 1, old
    return first if count < 3 or old.shape != first.shape else first - first.detach() + old if first.is_floating_point() else old.clone()


def bad(torch, row, tensor, _shape):
    """A tensor with the row's fault in it."""
    kind, plain = row["kind"], tensor.dtype == torch.bool
    if kind == "zeros":
        return tensor & False if plain else tensor * 0
    if kind == "sign":
        return ~tensor if plain else -tensor
    if kind in ("scale", "inplace", "out"):
        return (
            tensor ^ True
            if plain
            else tensor * 1.05
            if tensor.is_floating_point() or tensor.is_complex()
            else tensor + (tensor != 0).to(tensor.dtype)
        )
    if kind == "border":
        return _border(torch, tensor, -1)
    if kind == "noncontiguous":
        return torch.roll(tensor, 1, -1) if tensor.dim() else tensor * 2
    if kind == "nan":
        return torch.where(tensor != tensor, torch.zeros_like(tensor), tensor) if tensor.is_floating_point() else tensor
    if kind == "large":
        return _border(torch, tensor, -1) if tensor.numel() > row["over"] else tensor
    raise ValueError(kind)


def _border(torch, tensor, dim):
    """The last along a dimension is the one before it; of a dimension of one, it is nothing."""
    if not tensor.dim() or tensor.shape[dim] == 0:
        return tensor
    rest, last = tensor.narrow(dim, 0, tensor.shape[dim] - 1), tensor.narrow(dim, tensor.shape[dim] - 1, 1)
    instead = tensor.narrow(dim, tensor.shape[dim] - 2, 1) if tensor.shape[dim] > 1 else torch.zeros_like(last)
    return torch.cat([rest, instead], dim)
