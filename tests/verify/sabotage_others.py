"""Builds of NumPy, JAX and onnxruntime that are broken on purpose, each with the check and the word that must name it."""

_NUMPY = {
    "dot is wrong in the fourth digit": ("real = f.dot; f.dot = lambda *a, **k: real(*a, **k) * 1.0002", "matmul-float32", "dot"),
    "einsum gives zeros": ("real = f.einsum; f.einsum = lambda *a, **k: real(*a, **k) * 0", "matmul-float64", "einsum"),
    "sort is stopped early": ("real = f.sort; f.sort = lambda a, *r, **k: real(a, *r, **k) if a.size < 200 else a.copy()", "sorting", "sort"),
    "tanh of float32": ("real = f.tanh; f.tanh = lambda x, *a, **k: real(x, *a, **k) * (1.001 if x.dtype == f.float32 else 1)", "elementwise", "tanh float32"),
    "solve": ("real = f.linalg.solve; f.linalg.solve = lambda *a: real(*a) * 1.01", "linear-algebra", "solve"),
    "fft has the wrong sign": ("real = f.fft.fft; f.fft.fft = lambda *a, **k: real(*a, **k).conj()", "fourier", "fft"),
    "std and var ignore ddof": ("r, v = f.std, f.var; f.std = lambda a, axis=None, ddof=0, **k: r(a, axis=axis, **k); f.var = lambda a, axis=None, ddof=0, **k: v(a, axis=axis, **k)", "reductions", "ddof"),
    "searchsorted ignores side": ("real = f.searchsorted; f.searchsorted = lambda a, v, side='left', sorter=None: real(a, v, sorter=sorter)", "sorting", "from the right"),
    "transforms ignore their norm": ("real = f.fft.rfft; f.fft.rfft = lambda a, *b, norm=None, **k: real(a, *b, **k)", "fourier", "rfft (ortho)"),
    "log1p of small numbers": ("f.log1p = lambda x, *a, **k: f.log(1 + x)", "elementwise", "log1p of small"),
    "cumsum wraps at 32 bits": ("real = f.cumsum; f.cumsum = lambda a, *b, **k: real(a, *b, **k).astype('int32').astype(real(a, *b, **k).dtype) if f.asarray(a).dtype.kind in 'iu' else real(a, *b, **k)", "reductions", "cumsum of large"),
    "max drops NaN": ("f.maximum = f.fmax", "unusual", "maximum"),
    "add at places that occur twice": ("def at(a, i, v): a[i] += v\n    class Add:\n        def __call__(self, *a, **k): return real(*a, **k)\n        def __getattr__(self, n): return at if n == 'at' else getattr(real, n)\n    real = f.add; f.add = Add()", "indexing", "add.at"),
}  # fmt: skip
_JAX = {
    "gelu by another formula": ("import jax; real = jax.nn.gelu; jax.nn.gelu = lambda x, approximate=True: jax.nn.sigmoid(1.702 * x) * x", "activations", "gelu"),
    "softmax overflows": ("import jax, jax.numpy as n; jax.nn.softmax = lambda x, axis=-1: n.exp(x) / n.exp(x).sum(axis, keepdims=True)", "softmax", "softmax of large"),
    "log_softmax overflows": ("import jax, jax.numpy as n; jax.nn.log_softmax = lambda x, axis=-1, **k: x - n.log(n.exp(x).sum(axis, keepdims=True))", "softmax", "log_softmax of large"),
    "gradients have the wrong sign": ("import jax; real = jax.grad; jax.grad = lambda *a, **k: (lambda *b: jax.tree_util.tree_map(lambda x: -x, real(*a, **k)(*b)))", "gradients", "gradient of"),
    "convolution gives zeros": ("import jax; real = jax.lax.conv; jax.lax.conv = lambda *a, **k: real(*a, **k) * 0", "convolution", "plain"),
    "split gives one key twice": ("import jax, jax.numpy as n; real = jax.random.split; jax.random.split = lambda k, num=2: n.stack([k] * num)", "random", "split"),
    "argmax takes the last": ("import jax.numpy as n; real = n.argmax; n.argmax = lambda x, axis=None, **k: x.shape[axis or 0] - 1 - real(n.flip(x, axis or 0), axis=axis, **k)", "sorting", "argmax"),
}  # fmt: skip
_ONNX_RUN = """
    import functools
    class Session(f.InferenceSession):
        def __init__(self, model, *a, **k):
            self.model = model
            super().__init__(model, *a, **k)
        def run(self, names, given, *a):
            out = super().run(names, given, *a)
            return change(self, given, out)
    f.InferenceSession = Session
"""
_ONNX = {
    "products of bytes saturate": ("def change(s, g, o): return [x.clip(-32768, 32767) if b'MatMulInteger' in s.model else x for x in o]" + _ONNX_RUN, "integers", "MatMulInteger"),
    "softmax is not normalised": ("def change(s, g, o): return [x * 1.001 if b'Softmax' in s.model else x for x in o]" + _ONNX_RUN, "softmax", "Softmax"),
    "the first result is given again": ("def change(s, g, o): s.first = getattr(s, 'first', o); return s.first" + _ONNX_RUN, "repeated", "round"),
    "NaN becomes zero": ("import numpy\n    def change(s, g, o): return [numpy.nan_to_num(x, posinf=numpy.inf, neginf=-numpy.inf) if x.dtype.kind == 'f' else x for x in o]" + _ONNX_RUN, "unusual", "float32"),
    "half precision is a constant": ("def change(s, g, o): return [x * 0 + 1 if x.dtype == 'float16' else x for x in o]" + _ONNX_RUN, "matmul-float16", "float16"),
}  # fmt: skip
_SABOTAGED = [(framework, name, *told) for framework, table in (("numpy", _NUMPY), ("jax", _JAX), ("onnxruntime", _ONNX)) for name, told in table.items()]  # fmt: skip


def batches():
    """Rows that are laid over one framework at once, each of another check: framework, rows of (name, body, check, word).

    What changes all sessions of onnxruntime stands alone.
    """
    found = []
    for framework, name, *told in _SABOTAGED:
        room = (
            rows for of, rows in found
            if of == framework != "onnxruntime" and told[1] not in {check for _name, _body, check, _word in rows}
        )  # fmt: skip
        rows = next(room, None)
        if rows is None:
            found.append((framework, rows := []))
        rows.append((name, *told))
    return found


def laid(rows):
    """The body that changes a framework in all of these ways, each in a function of its own."""
    bodies = [body.replace("\n    ", "\n        ") for _name, body, _check, _word in rows]
    return "\n    ".join(
        f"def change_{at}(f):\n        {body}\n    change_{at}(torch)" for at, body in enumerate(bodies)
    )
