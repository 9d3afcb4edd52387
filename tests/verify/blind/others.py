"""Draw faults of NumPy, JAX and onnxruntime at random, lay them, and say which `verify` catches and names.

    python others.py draw SEED COUNT > set.jsonl        # with the Python that has them
    python others.py run SET.jsonl RESULT.jsonl      # RIGUP_FRAMEWORKS_PYTHON names that Python
    python others.py full SET.jsonl RESULT.jsonl     # as `verify --full`, but of the tables only those rows that have that function

Functions are those of the frameworks' own lists that give another array in one of some calls (`_calls`) once the fault is laid,
and the operators that onnxruntime tells it has code for on the CPU, in the types that it tells; nothing of the probe is read. What
programs lean on most is drawn more often.
"""

import json
import os
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
MOST = set(
    """
    matmul dot einsum sum mean max min argmax exp log sqrt tanh where concatenate sort argsort take cumsum clip power multiply add
    subtract divide softmax relu gelu log_softmax silu sigmoid MatMul Gemm Conv Softmax LayerNormalization Relu Sigmoid Tanh Add Mul
    Sub Div Gather Concat ReduceMean ReduceSum Erf Pow Sqrt Transpose Reshape Slice Cast Where Gelu MaxPool BatchNormalization
    """.split()  # noqa: SIM905
)
SPACES = {
    "numpy": ("numpy", "numpy.linalg", "numpy.fft"),
    "jax": ("jax.numpy", "jax.nn", "jax.numpy.linalg", "jax.numpy.fft", "jax.lax", "jax.scipy.special"),
}
KINDS = {"sign": 2, "zeros": 2, "scale": 3, "border": 4, "stale": 2, "nan": 2, "large": 3, "slope": 3}
NONE = re.compile(
    r"(empty|random|save|load|show|print|array_?(repr|str|2string)|is_?(fortran|scalar|dtype|subdtype)|may_|shares_|test|get|set_|copyto|"
    r"put|fill_|place|block|from|asarray|array$|ndim|shape$|size$|iscomplexobj|isrealobj|base_repr|binary_repr|initializers|info|fft.?freq)"
)


def draw(seed, count):
    """Draw until there are enough that show in one call."""
    generator, seen, lists = (random.Random(seed), set(), {name: _names(name) for name in ("numpy", "jax", "onnxruntime")})
    while len(seen) < count:
        framework = generator.choices(("numpy", "jax", "onnxruntime"), (8, 7, 6))[0]
        most = [name_ for name_ in lists[framework] if name_.split(".")[-1] in MOST]
        name = generator.choice(most if generator.random() < 0.5 else lists[framework])
        row = {"framework": framework, "name": name, "kind": generator.choices(list(KINDS), list(KINDS.values()))[0]}
        row |= {"dtype": generator.choices(("", "float32", "float64", "float16"), (6, 3, 1, 1))[0], "over": generator.choice((64, 500))}
        if (framework, name) not in seen and (_has(row) if framework == "onnxruntime" else _seen(row)):
            seen.add((framework, name))
            print(json.dumps(row), flush=True)


def _names(framework):
    """All that a framework lists, in one order."""
    import importlib

    if framework == "onnxruntime":
        return sorted({"onnxruntime." + kernel.op_name for kernel in _kernels()})
    every = []
    for space in SPACES[framework]:
        owner = importlib.import_module(space)
        names = sorted(getattr(owner, "__all__", dir(owner)))
        every += [
            f"{space}.{name_}"
            for name_ in names
            if callable(getattr(owner, name_, None))
            and name_[0].islower()
            and not NONE.search(name_)
            and not isinstance(getattr(owner, name_), type)
        ]
    return every


def _kernels():
    """What onnxruntime has on the CPU, without what needs strings, sequences, maps or whole graphs."""
    from onnxruntime.capi import _pybind_state as state

    return [
        kernel
        for kernel in state.get_all_opkernel_def()
        if kernel.provider == "CPUExecutionProvider"
        and kernel.domain == ""
        and kernel.type_constraints
        and not re.search(r"String|Sequence|Optional|Memcpy|Random|Regex|Tf|Loop|Scan|^If$", kernel.op_name)
    ]


def _has(row):
    """Whether the fault can show: onnxruntime has code for that type, and of a gradient or of size nothing is known there."""
    types = {
        type_name
        for kernel in _kernels()
        if "onnxruntime." + kernel.op_name == row["name"]
        for several in kernel.type_constraints.values()
        for type_name in several
    }
    wanted = {"": "", "float32": "tensor(float)", "float64": "tensor(double)", "float16": "tensor(float16)"}[row["dtype"]]
    if row["kind"] == "nan" and re.search("Window|Like$|Shape|Size|Range|Arg|Integer|Quantize|QLinear|One|Not|Bit|And|Or$", row["name"]):
        return False  # whose results are no floating point numbers, or come of none
    return row["kind"] not in ("large", "slope") and (not wanted or wanted in types)


def _calls(x, whole):
    """Ways to call what nothing is known of."""
    return [
        lambda f: f(x),
        lambda f: f(x, x),
        lambda f: f(x, x, x),
        lambda f: f([x, x]),
        lambda f: f((x, x), 0),
        lambda f: f("ij,jk->ik", x, x),
        lambda f: f(x, axis=0),
        lambda f: f(x, 2),
        lambda f: f(x, 1, 0),
        lambda f: f(x, whole),
        lambda f: f(whole),
        lambda f: f(whole, whole),
        lambda f: f(x[0], x[0]),
        lambda f: f(x, x[0]),
        lambda f: f(x, (9, -1)),
        lambda f: f(x, (1, 0)),
        lambda f: f(x > 1, x, x),
        lambda f: f(5),
        lambda f: f((5, 5)),
        lambda f: f(x[0]),
        lambda f: f(x, ((1, 0), (0, 1))),
    ]


def _seen(row):
    """Whether one of the calls shows it, when it is laid."""
    import importlib

    import numpy as np

    space, _, name = row["name"].rpartition(".")
    real, broken = getattr(importlib.import_module(space), name), None
    size, dtype = (30 if row["kind"] == "large" else 3), row["dtype"] or "float32"
    whole = np.arange(size * size, dtype="int32").reshape(size, size) % size
    for at in range(len(_calls(np.eye(2), whole))):
        try:
            broken = _Broken(real, row)
            for turn in range(5):
                x = np.linspace(0.1, 0.9, size * size, dtype=dtype).reshape(size, size) + np.eye(size, dtype=dtype) * (1 + turn)
                if row["kind"] == "nan":
                    x[1, 1] = np.nan
                call, again = (_calls(x.copy(), (whole + turn) % size)[at] for _ in range(2))  # some write into what they are given
                if row["kind"] == "slope":
                    if _slopes(call, real) != _slopes(again, broken):
                        return True
                elif _bits(np, call(real)) != _bits(np, again(broken)):
                    return True
        except Exception:
            continue
    return False


def _bits(np, result):
    first = np.asarray(result[0] if isinstance(result, (tuple, list)) else result)
    return first.dtype.kind in "fciub" and first.tobytes()


def _slopes(call, function):
    """The gradient of the sum by a factor of all that the function is given."""
    import jax
    import jax.numpy as jnp

    def total(share):
        def of_scaled(*given, **named):
            result = function(
                *(array * share if getattr(array, "dtype", None) in ("float32", "float16") else array for array in given), **named
            )
            return result[0] if isinstance(result, (tuple, list)) else result

        return jnp.sum(call(of_scaled) * 1.0)

    return float(jax.grad(total)(1.0))


def spoilt(np, row, array):
    """An array with the row's fault in it."""
    array, kind = np.asarray(array), row["kind"]
    if kind == "zeros":
        return array * 0
    if kind == "sign":
        return ~array if array.dtype == bool else -array if array.dtype.kind in "fci" else array + 1
    if kind == "scale":
        return ~array if array.dtype == bool else (array * array.dtype.type(1.05) if array.dtype.kind in "fc" else array + (array != 0))
    if kind == "nan":
        return np.nan_to_num(array, posinf=np.inf, neginf=-np.inf) if array.dtype.kind in "fc" else array
    if kind == "border" or (kind == "large" and array.size > row["over"]):
        if not array.ndim or not array.shape[-1]:
            return array
        changed = array.copy()
        changed[..., -1] = array[..., -2] if array.shape[-1] > 1 else 0
        return changed
    return array


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
        held = [array for argument in given[:3] for array in (argument if isinstance(argument, (tuple, list)) else [argument])]
        kinds = {str(getattr(array, "dtype", "")) for array in held}
        if not hasattr(first, "dtype") or (self._row["dtype"] and self._row["dtype"] not in kinds):
            return result
        if self._row["kind"] == "stale":
            key = str([(getattr(array, "shape", ()), str(getattr(array, "dtype", ""))) for array in held])
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


def _of_jax(np, row, array):
    kind, numbers = row["kind"], array.dtype.kind
    if kind == "slope" and numbers in "fV":  # the same value, and its gradient turned
        import jax

        still = jax.lax.stop_gradient(array)
        return np.where(np.isfinite(still), still * 2 - array, array)
    if kind == "zeros":
        return array * 0
    if kind == "sign":
        return ~array if numbers == "b" else -array
    if kind == "scale":
        return ~array if numbers == "b" else array * np.asarray(1.05, array.dtype) if numbers in "fcV" else array + (array != 0)
    if kind == "nan":
        return np.where(array != array, np.zeros_like(array), array) if numbers in "fcV" else array
    if (kind == "border" or (kind == "large" and array.size > row["over"])) and array.ndim and array.shape[-1]:
        return array.at[..., -1].set(array[..., -2] if array.shape[-1] > 1 else 0)
    return array


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
            kinds = {str(array.dtype) for array in given.values() if hasattr(array, "dtype")}
            if not self.has or (row["dtype"] and row["dtype"] not in kinds) or not hasattr(out[0], "dtype"):
                return out
            if row["kind"] == "stale":
                count, old = kept.get(id(self), (0, out))
                kept[id(self)] = count + 1, old
                return old if count >= 3 else out
            return [spoilt(np, row, out[0]).astype(out[0].dtype), *out[1:]]

    framework.InferenceSession = Session


def quick(row, python):
    """All checks of quick mode; what the failed ones name."""
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    import broken

    code = "import sys, json; sys.path.insert(0, sys.argv[1]); import run; print('\\n' + json.dumps(run.names(*json.loads(sys.argv[2]))))"
    body = f"import json; sys.path.insert(0, {str(HERE)!r}); import others; others.lay(torch, json.loads({json.dumps(row)!r}))"
    with tempfile.TemporaryDirectory() as folder:
        variables = {**broken.build(Path(folder), body, row["framework"]), "CUDA_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu"}
        order = json.dumps([python, variables, False, row["framework"]])
        done = subprocess.run([sys.executable, "-c", code, str(HERE), order], capture_output=True, text=True, check=False)
    try:
        return json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        return ["no answer: " + done.stderr[-500:]]


def one(row, whole, python):
    """Run under one fault, in a process of its own; what its failed checks name."""
    found = full(row, python) if whole else quick(row, python)
    word = re.compile(r"(?<![a-z])" + re.escape(row["name"].split(".")[-1]), re.IGNORECASE)
    named = [failure for failure in found if word.search(failure)]
    return {**row, "caught": bool(found), "named": bool(named), "failed": (named or found)[:3]}


PROBE = HERE.parents[2] / "src" / "rigup" / "verify" / "probe"
_FULL = """
import sys, json, types
told = json.loads(sys.argv[1])
sys.path[:0] = [told["here"], told["probe"]]
plain = types.ModuleType("rigup_probe")
plain.Skip = type("Skip", (Exception,), {})
sys.modules["rigup_probe"] = plain
import others
row, framework = told["row"], told["row"]["framework"]
others.lay(__import__(framework), row)
word = row["name"].split(".")[-1]
def named(table):
    return lambda: [one for one in table() if word in [name.split(".")[-1] for name in one.names]]
device = {"id": "cpu", "type": "cpu", "vendor": "", "full": True, "provider": "CPUExecutionProvider"}
if framework == "onnxruntime":
    from rigup_probe_tables import onnx_bytes as b, onnx_elements as e, onnx_moves as m, onnx_networks as n
    from rigup_probe_onnx_rows import rows_check
    checks = [rows_check(*map(named, (e.elements, e.rows, m.turns, m.places, m.pictures, *n.TABLES, b.quantised)))]
else:
    from rigup_probe_tables import rows_networks as n
    from rigup_probe_tables.rows_all import TABLES
    tables = [named(one) for several in TABLES.values() for one in several]
    if framework == "numpy":
        from rigup_probe_numpy_rows import rows_check
        checks = [rows_check(*tables)]
    else:
        from rigup_probe_jax_rows import rows_check
        tables += map(named, n.TABLES)
        checks = [rows_check(*tables), rows_check(*tables, outside=True)]
print("\\n" + json.dumps([check(device) for check in checks]))
"""


def full(row, python):
    """All that is asked in full of the rows that have its function; what the failed ones name."""
    from rigup.verify.judge import judge
    from rigup.verify.observe import Record

    order = json.dumps({"here": str(HERE), "probe": str(PROBE), "row": row})
    variables = {**os.environ, "JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run([python, "-W", "ignore", "-c", _FULL, order], capture_output=True, text=True, check=False, env=variables)
    try:
        records = json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        return ["no answer: " + done.stderr[-500:]]
    checks = [judge("functions", Record(measured=measurement)) for measurement in records]
    bad = [check.measured for check in checks if check.passed is False]
    return [str(name) for measured in bad for name in (*measured.get("failed", []), *measured.get("wrong", []), measured.get("of", ""))]


def main(argv):
    """Draw, or run."""
    if argv[0] == "draw":
        return draw(int(argv[1]), int(argv[2]))
    with open(argv[1], encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    python = os.environ["RIGUP_FRAMEWORKS_PYTHON"]
    with ThreadPoolExecutor(int(os.environ.get("WORKERS", "1"))) as pool:
        outcomes = list(pool.map(lambda row: one(row, argv[0] == "full", python), rows))
    with open(argv[2], "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in outcomes)
    print(f"{sum(row['caught'] for row in outcomes)} of {len(outcomes)} caught, {sum(row['named'] for row in outcomes)} of them by name")
    for row in outcomes:
        if not row["named"]:
            print("caught, not named:" if row["caught"] else "missed:", row["name"], row["kind"], row["dtype"], row["failed"][:1])
    return None


if __name__ == "__main__":
    main(sys.argv[1:])
