"""Builds of NumPy, JAX and onnxruntime that are broken on purpose, each with the check and the word that must name it."""

_NUMPY = {
    "dot is wrong in the fourth digit": ("real = f.dot; f.dot = lambda *a, **k: real(*a, **k) * 1.0002", "matmul-float32", "dot"),
    "einsum gives zeros": ("real = f.einsum; f.einsum = lambda *a, **k: real(*a, **k) * 0", "matmul-float64", "einsum"),
    "sort is stopped early": (
        "real = f.sort; f.sort = lambda a, *r, **k: real(a, *r, **k) if a.size < 200 else a.copy()",
        "sorting",
        "sort",
    ),
    "tanh of float32": (
        "real = f.tanh; f.tanh = lambda x, *a, **k: real(x, *a, **k) * (1.001 if x.dtype == f.float32 else 1)",
        "functions",
        "tanh float32",
    ),
    "solve": ("real = f.linalg.solve; f.linalg.solve = lambda *a: real(*a) * 1.01", "linear-algebra", "solve"),
    "fft has the wrong sign": ("real = f.fft.fft; f.fft.fft = lambda *a, **k: real(*a, **k).conj()", "fourier", "fft"),
    "std and var ignore ddof": (
        "r, v = f.std, f.var; f.std = lambda a, axis=None, ddof=0, **k: r(a, axis=axis, **k); f.var = lambda a, axis=None, ddof=0, **k: v(a, axis=axis, **k)",
        "reductions",
        "ddof",
    ),
    "searchsorted ignores side": (
        "real = f.searchsorted; f.searchsorted = lambda a, v, side='left', sorter=None: real(a, v, sorter=sorter)",
        "sorting",
        "from the right",
    ),
    "transforms ignore their norm": (
        "real = f.fft.rfft; f.fft.rfft = lambda a, *b, norm=None, **k: real(a, *b, **k)",
        "fourier",
        "rfft (ortho)",
    ),
    "log1p of small numbers": ("f.log1p = lambda x, *a, **k: f.log(1 + x)", "elementwise", "log1p of small"),
    "cumsum wraps at 32 bits": (
        "real = f.cumsum; f.cumsum = lambda a, *b, **k: real(a, *b, **k).astype('int32').astype(real(a, *b, **k).dtype) if f.asarray(a).dtype.kind in 'iu' else real(a, *b, **k)",
        "reductions",
        "cumsum of large",
    ),
    "max drops NaN": ("f.maximum = f.fmax", "unusual", "maximum"),
    "argmax takes the last of equal ones and sees no NaN": (
        "real = f.argmax; f.argmax = lambda a, *b, **k: real(f.nan_to_num(a), *b, **k)",
        "statistics",
        "argmax",
    ),
    "concatenate loses NaN": ("real = f.concatenate; f.concatenate = lambda *a, **k: f.nan_to_num(real(*a, **k))", "moves", "concatenate"),
    "ranks of many matrices are those of the first": (
        "real = f.linalg.matrix_rank; f.linalg.matrix_rank = lambda a, **k: real(a, **k) * 0 + real(a[0] if a.ndim > 2 else a)",
        "algebra",
        "matrix_rank",
    ),
    "where of many": (
        "real = f.where; f.where = lambda c, *a: real(c, *a) if f.size(c) < 500 else real(c, *a[::-1])",
        "functions",
        "where",
    ),
    "unique is kept from before": (
        "kept = {}; real = f.unique; f.unique = lambda a, *b, **k: kept.setdefault((a.shape, a.dtype), real(a, *b, **k))",
        "orders",
        "unique",
    ),
    "add at places that occur twice": (
        "def at(a, i, v): a[i] += v\n    class Add:\n        def __call__(self, *a, **k): return real(*a, **k)\n        def __getattr__(self, n): return at if n == 'at' else getattr(real, n)\n    real = f.add; f.add = Add()",
        "indexing",
        "add.at",
    ),
}
_JAX = {
    "gelu by another formula": (
        "import jax; real = jax.nn.gelu; jax.nn.gelu = lambda x, approximate=True: jax.nn.sigmoid(1.702 * x) * x",
        "activations",
        "gelu",
    ),
    "softmax overflows": (
        "import jax, jax.numpy as n; jax.nn.softmax = lambda x, axis=-1: n.exp(x) / n.exp(x).sum(axis, keepdims=True)",
        "activations",
        "softmax of large",
    ),
    "log_softmax overflows": (
        "import jax, jax.numpy as n; jax.nn.log_softmax = lambda x, axis=-1, **k: x - n.log(n.exp(x).sum(axis, keepdims=True))",
        "activations",
        "log_softmax of large",
    ),
    "gradients have the wrong sign": (
        "import jax; real = jax.grad; jax.grad = lambda *a, **k: (lambda *b: jax.tree_util.tree_map(lambda x: -x, real(*a, **k)(*b)))",
        "attention",
        "gradient of",
    ),
    "convolution gives zeros": (
        "import jax; real = jax.lax.conv; jax.lax.conv = lambda *a, **k: real(*a, **k) * 0",
        "convolution",
        "plain",
    ),
    "split gives one key twice": (
        "import jax, jax.numpy as n; real = jax.random.split; jax.random.split = lambda k, num=2: n.stack([k] * num)",
        "random",
        "split",
    ),
    "log_softmax of halves": (
        "import jax, jax.numpy as n; real = jax.nn.log_softmax; jax.nn.log_softmax = lambda x, *a, **k: real(x, *a, **k) * (1 if x.dtype != n.float16 else n.float16(1.05))",
        "activations",
        "log_softmax float16",
    ),
    "hard_swish repeats a column": (
        "import jax; real = jax.nn.hard_swish; jax.nn.hard_swish = lambda x: real(x).at[..., -1].set(0)",
        "activations",
        "hard_swish",
    ),
    "ranks of many matrices": (
        "import jax.numpy as n; real = n.linalg.matrix_rank; n.linalg.matrix_rank = lambda a, *b, **k: real(a, *b, **k) * 0 + 1",
        "algebra",
        "matrix_rank",
    ),
    "the gradient of tanh alone has the wrong sign": (
        "import jax, jax.numpy as n; real = n.tanh; n.tanh = lambda x: 2 * jax.lax.stop_gradient(real(x)) - real(x)",
        "functions",
        "gradient of tanh",
    ),
    "argmax takes the last": (
        "import jax.numpy as n; real = n.argmax; n.argmax = lambda x, axis=None, **k: x.shape[axis or 0] - 1 - real(n.flip(x, axis or 0), axis=axis, **k)",
        "statistics",
        "argmax",
    ),
}
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
    "products of bytes saturate": (
        "def change(s, g, o): return [x.clip(-32768, 32767) if b'MatMulInteger' in s.model else x for x in o]" + _ONNX_RUN,
        "integers",
        "MatMulInteger",
    ),
    "softmax is not normalised": (
        "def change(s, g, o): return [x * 1.001 if b'Softmax' in s.model else x for x in o]" + _ONNX_RUN,
        "rows",
        "Softmax",
    ),
    "the first result is given again": (
        "def change(s, g, o): s.first = getattr(s, 'first', o); return s.first" + _ONNX_RUN,
        "repeated",
        "round",
    ),
    "NaN becomes zero": (
        "import numpy\n    def change(s, g, o): return [numpy.nan_to_num(x, posinf=numpy.inf, neginf=-numpy.inf) if x.dtype.kind == 'f' else x for x in o]"
        + _ONNX_RUN,
        "unusual",
        "float32",
    ),
    "LayerNormalization of halves is given again": (
        "def change(s, g, o): s.first = getattr(s, 'first', o); return s.first if b'LayerNormalization' in s.model and o[0].dtype == 'float16' else o"
        + _ONNX_RUN,
        "norms",
        "LayerNormalization",
    ),
    "NonZero loses the last": (
        "def change(s, g, o): return [o[0][..., :-1]] if b'NonZero' in s.model else o" + _ONNX_RUN,
        "places",
        "NonZero",
    ),
    "Gather of doubles": (
        "def change(s, g, o): return [x[..., ::-1] if b'Gather' in s.model and x.dtype == 'float64' else x for x in o]" + _ONNX_RUN,
        "places",
        "Gather float64",
    ),
    "half precision is a constant": (
        "def change(s, g, o): return [x * 0 + 1 if x.dtype == 'float16' else x for x in o]" + _ONNX_RUN,
        "matmul-float16",
        "float16",
    ),
}
_SABOTAGED = [
    (framework, name, *fields)
    for framework, table in (("numpy", _NUMPY), ("jax", _JAX), ("onnxruntime", _ONNX))
    for name, fields in table.items()
]


def batches():
    """Rows that are laid over one framework at once, each of another check: framework, rows of (name, body, check, word).

    What changes all sessions of onnxruntime stands alone.
    """
    found = []
    for framework, name, *fields in _SABOTAGED:
        room = (
            rows
            for of, rows in found
            if of == framework != "onnxruntime" and fields[1] not in {check for _name, _body, check, _word in rows}
        )
        rows = next(room, None)
        if rows is None:
            found.append((framework, rows := []))
        rows.append((name, *fields))
    return found


def laid(rows):
    """The body that changes a framework in all of these ways, each in a function of its own."""
    bodies = [body.replace("\n    ", "\n        ") for _name, body, _check, _word in rows]
    return "\n    ".join(f"def change_{at}(f):\n        {body}\n    change_{at}(torch)" for at, body in enumerate(bodies))
