"""Draw faults of NumPy, JAX and onnxruntime at random, lay them, and say which `verify` catches and names.

    python others.py draw SEED COUNT > set.jsonl        # with the Python that has them
    python others.py run SET.jsonl RESULT.jsonl [--full]   # RIGUP_FRAMEWORKS_PYTHON names that Python

Functions are those of the frameworks' own lists that give an array for one or two arrays, and ONNX's operators; nothing of
the probe is read. What programs lean on most is drawn more often.
"""

import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
MOST = set(
    """
    matmul dot einsum sum mean max min argmax exp log sqrt tanh where concatenate sort argsort take cumsum clip power multiply add
    subtract divide softmax relu gelu log_softmax silu sigmoid MatMul Gemm Conv Softmax LayerNormalization Relu Sigmoid Tanh Add Mul
    Sub Div Gather Concat ReduceMean ReduceSum Erf Pow Sqrt Transpose Reshape Slice Cast Where Gelu MaxPool BatchNormalization
    """.split()  # noqa: SIM905
)
ONNX = """
    MatMul Gemm Conv ConvTranspose Softmax LogSoftmax LayerNormalization BatchNormalization InstanceNormalization Relu LeakyRelu Elu Selu
    Sigmoid Tanh Softplus Gelu Erf Exp Log Sqrt Pow Add Sub Mul Div Neg Abs Floor Ceil Round Sin Cos Gather Scatter ScatterElements
    ScatterND GatherElements GatherND Concat Split Slice Transpose Reshape Cast Where Equal Less Greater ReduceMean ReduceSum ReduceMax
    ReduceMin ReduceProd ArgMax ArgMin TopK MaxPool AveragePool GlobalAveragePool Resize Pad Clip CumSum LSTM GRU RNN MatMulInteger
    QuantizeLinear DequantizeLinear QLinearMatMul QLinearConv ConvInteger OneHot Expand Tile NonZero Unique Einsum
    """.split()  # noqa: SIM905
SPACES = {
    "numpy": ("numpy", "numpy.linalg", "numpy.fft"),
    "jax": ("jax.numpy", "jax.nn", "jax.numpy.linalg", "jax.numpy.fft"),
}
KINDS = {"sign": 2, "zeros": 2, "scale": 3, "border": 4, "stale": 2, "nan": 2, "large": 3}
NONE = re.compile(
    r"(empty|random|save|load|show|print|array_?(repr|str|2string)|is_?(fortran|scalar|dtype|subdtype)|may_|shares_|test|get|set_|copyto|"
    r"put|fill_|place|block|from|asarray|array$|ndim|shape$|size$|iscomplexobj|isrealobj|base_repr|binary_repr|initializers|info|fft.?freq)"
)


def draw(seed, count):
    """Draw until there are enough that show in one call."""
    told, seen = random.Random(seed), set()
    while len(seen) < count:
        framework = told.choices(("numpy", "jax", "onnxruntime"), (8, 7, 5))[0]
        name = told.choice(_names(told, framework))
        row = {"framework": framework, "name": name, "kind": told.choices(list(KINDS), list(KINDS.values()))[0]}
        row |= {
            "dtype": told.choices(("", "float32", "float64", "float16"), (6, 3, 1, 1))[0],
            "over": told.choice((64, 500)),
        }
        if framework == "onnxruntime" and row["kind"] == "large":
            row["kind"] = "border"
        if (framework, name) not in seen and (framework == "onnxruntime" or _seen(row)):
            seen.add((framework, name))
            print(json.dumps(row), flush=True)


def _names(told, framework):
    """Names of one kind: mostly of what programs lean on."""
    if framework == "onnxruntime":
        every = [("onnxruntime." + name) for name in ONNX]
    else:
        import importlib

        every = []
        for space in SPACES[framework]:
            owner = importlib.import_module(space)
            names = getattr(owner, "__all__", dir(owner))
            every += [f"{space}.{one}" for one in names if callable(getattr(owner, one, None)) and one[0].islower() and not NONE.search(one)
                      and not isinstance(getattr(owner, one), type)]  # fmt: skip
    most = [one for one in every if one.split(".")[-1] in MOST]
    return most if most and told.random() < 0.6 else every


def _seen(row):
    """Whether a call with one array, or with two, shows it."""
    import importlib

    import numpy as np

    space, _, name = row["name"].rpartition(".")
    real = getattr(importlib.import_module(space), name)
    x = np.linspace(0.1, 0.9, 9, dtype=row["dtype"] or "float32").reshape(3, 3) + np.eye(
        3, dtype=row["dtype"] or "float32"
    )
    if row["kind"] == "nan":
        x[1, 1] = np.nan
    for given in ((x,), (x, x)):
        try:
            right = np.asarray(real(*given))
            wrong = np.asarray(spoilt(np, row, right))
        except Exception:
            continue
        if right.dtype.kind in "fciub" and (row["kind"] in ("stale", "large") or right.tobytes() != wrong.tobytes()):
            return True
    return False


def spoilt(np, row, one):
    """An array with the row's fault in it."""
    one, kind = np.asarray(one), row["kind"]
    if kind == "zeros":
        return one * 0
    if kind == "sign":
        return ~one if one.dtype == bool else -one if one.dtype.kind in "fci" else one + 1
    if kind == "scale":
        return (
            ~one if one.dtype == bool else (one * one.dtype.type(1.05) if one.dtype.kind in "fc" else one + (one != 0))
        )
    if kind == "nan":
        return np.nan_to_num(one, posinf=np.inf, neginf=-np.inf) if one.dtype.kind in "fc" else one
    if kind == "border" or (kind == "large" and one.size > row["over"]):
        if not one.ndim or not one.shape[-1]:
            return one
        changed = one.copy()
        changed[..., -1] = one[..., -2] if one.shape[-1] > 1 else 0
        return changed
    return one


def lay(framework, row):
    """Lay a fault over the framework that was just imported."""
    if framework.__name__ == "onnxruntime":
        return _over_sessions(framework, row)
    import importlib

    space, _, name = row["name"].rpartition(".")
    owner = importlib.import_module(space)
    real = getattr(owner, name)
    setattr(owner, name, _Broken(real, row))
    return None


class _Broken:
    """The function with its fault; all else that it has is its own."""

    def __init__(self, real, row):
        self._real, self._row, self._kept, self._busy = real, row, {}, False

    def __getattr__(self, name):
        return getattr(self._real, name)

    def __call__(self, *a, **k):
        result = self._real(*a, **k)
        if self._busy:
            return result
        self._busy = True
        try:
            return self._changed(result, a)
        finally:
            self._busy = False

    def _changed(self, result, given):
        import importlib

        # JAX traces: the change must be made of its own functions
        np = importlib.import_module("numpy" if self._row["name"].startswith("numpy") else "jax.numpy")
        several = isinstance(result, tuple) and not hasattr(result, "dtype")
        first = result[0] if several else result
        kinds = {str(getattr(one, "dtype", "")) for one in given[:2]}
        if not hasattr(first, "dtype") or (self._row["dtype"] and self._row["dtype"] not in kinds):
            return result
        if self._row["kind"] == "stale":
            key = str([(getattr(one, "shape", ()), str(getattr(one, "dtype", ""))) for one in given])
            count, old = self._kept.get(key, (0, first))
            self._kept[key] = count + 1, old
            changed = old if count >= 3 and getattr(old, "shape", None) == first.shape else first
        else:
            changed = spoilt(np, self._row, first) if np.__name__ == "numpy" else _of_jax(np, self._row, first)
        if not several:
            return (
                type(first)(changed)
                if np.__name__ == "numpy"
                and not first.shape
                and hasattr(first, "item")
                and first.ndim == 0
                and isinstance(first, np.generic)
                else changed
            )
        return type(result)(*(changed, *result[1:])) if hasattr(result, "_fields") else (changed, *result[1:])


def _of_jax(np, row, one):
    kind, numbers = row["kind"], one.dtype.kind
    if kind == "zeros":
        return one * 0
    if kind == "sign":
        return ~one if numbers == "b" else -one
    if kind == "scale":
        return ~one if numbers == "b" else one * np.asarray(1.05, one.dtype) if numbers in "fcV" else one + (one != 0)
    if kind == "nan":
        return np.where(one != one, np.zeros_like(one), one)
    if (kind == "border" or (kind == "large" and one.size > row["over"])) and one.ndim and one.shape[-1]:
        return one.at[..., -1].set(one[..., -2] if one.shape[-1] > 1 else 0)
    return one


def _over_sessions(framework, row):
    """The results of models that have such a node."""
    word, kept = row["name"].split(".")[-1].encode(), {}

    class Session(framework.InferenceSession):
        def __init__(self, model, *a, **k):
            text = model if isinstance(model, bytes) else Path(model).read_bytes()
            self.has = re.search(rb"(?<![A-Za-z])" + word + rb"(?![A-Za-z])", text) is not None
            super().__init__(model, *a, **k)

        def run(self, names, given, *a):
            import numpy as np

            out = super().run(names, given, *a)
            kinds = {str(one.dtype) for one in given.values() if hasattr(one, "dtype")}
            if not self.has or (row["dtype"] and row["dtype"] not in kinds) or not hasattr(out[0], "dtype"):
                return out
            if row["kind"] == "stale":
                count, old = kept.get(id(self), (0, out))
                kept[id(self)] = count + 1, old
                return old if count >= 3 else out
            return [spoilt(np, row, out[0]).astype(out[0].dtype), *out[1:]]

    framework.InferenceSession = Session


def one(row, full, python):
    """Run under one fault, in a process of its own; what its failed checks name."""
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    import broken

    code = "import sys, json; sys.path.insert(0, sys.argv[1]); import run; print('\\n' + json.dumps(run.names(*json.loads(sys.argv[2]))))"
    body = f"import json; sys.path.insert(0, {str(HERE)!r}); import others; others.lay(torch, json.loads({json.dumps(row)!r}))"
    with tempfile.TemporaryDirectory() as folder:
        told = {
            **broken.build(Path(folder), body, row["framework"]),
            "CUDA_VISIBLE_DEVICES": "",
            "JAX_PLATFORMS": "cpu",
        }
        order = json.dumps([python, told, full, row["framework"]])
        done = subprocess.run(
            [sys.executable, "-c", code, str(HERE), order], capture_output=True, text=True, check=False
        )
    try:
        found = json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        found = ["no answer: " + done.stderr[-500:]]
    word = re.compile(r"(?<![a-z])" + re.escape(row["name"].split(".")[-1]), re.IGNORECASE)
    named = [one for one in found if word.search(one)]
    return {**row, "caught": bool(found), "named": bool(named), "failed": (named or found)[:3]}


def main(argv):
    """Draw, or run."""
    if argv[0] == "draw":
        return draw(int(argv[1]), int(argv[2]))
    with open(argv[1], encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    told = [one(row, "--full" in argv, os.environ["RIGUP_FRAMEWORKS_PYTHON"]) for row in rows]
    with open(argv[2], "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in told)
    print(
        f"{sum(row['caught'] for row in told)} of {len(told)} caught, {sum(row['named'] for row in told)} of them by name"
    )
    for row in told:
        if not row["named"]:
            print(
                "caught, not named:" if row["caught"] else "missed:",
                row["name"],
                row["kind"],
                row["dtype"],
                row["failed"][:1],
            )
    return None


if __name__ == "__main__":
    main(sys.argv[1:])
