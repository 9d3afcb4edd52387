"""What the server counts, as Prometheus reads it; the engines' own series go with it, each with its model."""

import re
from collections import Counter
from collections.abc import Iterable

_BOUNDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_SERIES = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{([^}\n]*)\})?( .+)$")
_HELP = {
    "rigup_llm_requests_total": ("counter", "Requests by model, path and status."),
    "rigup_llm_response_bytes_total": ("counter", "Bytes of answers of models."),
    "rigup_llm_loads_total": ("counter", "Loads of a model by outcome."),
    "rigup_llm_engine_exits_total": ("counter", "Engines that ended unasked."),
    "rigup_llm_requests_in_progress": ("gauge", "Requests that are being answered."),
    "rigup_llm_model_loaded": ("gauge", "Whether a model is loaded."),
    "rigup_llm_gpu_used": ("gauge", "Whether the engine of a loaded model has weights on a GPU."),
    "rigup_llm_time_to_first_byte_seconds": ("histogram", "From a whole request to the first byte of its answer."),
}
Labels = tuple[tuple[str, str], ...]


class Metrics:
    """Counters and gauges by name and labels."""

    def __init__(self) -> None:
        self._values: Counter[tuple[str, Labels]] = Counter()
        self._buckets: dict[str, list[int]] = {}
        self._sums: Counter[str] = Counter()

    def add(self, name: str, amount: float = 1, **labels: str) -> None:
        """Count; a gauge is counted down by a negative amount."""
        self._values[name, tuple(sorted(labels.items()))] += amount  # type: ignore[assignment]

    def put(self, name: str, value: float, **labels: str) -> None:
        """Set a gauge."""
        self._values[name, tuple(sorted(labels.items()))] = value  # type: ignore[assignment]

    def first_byte(self, model: str, seconds: float) -> None:
        """A time to the first byte."""
        row = self._buckets.setdefault(model, [0] * (len(_BOUNDS) + 1))
        row[next((place for place, bound in enumerate(_BOUNDS) if seconds <= bound), len(_BOUNDS))] += 1
        self._sums[model] += seconds  # type: ignore[assignment]

    def text(self, engines: Iterable[tuple[str, str]] = ()) -> str:
        """Everything; `engines` are models with the text of their engine's own metrics."""
        lines: list[str] = []
        for name, (kind, help_text) in _HELP.items():
            rows = [(labels, value) for (metric, labels), value in sorted(self._values.items()) if metric == name]
            samples = [f"{name}{_labels(labels)} {value:g}" for labels, value in rows]
            samples += self._histogram(name) if kind == "histogram" else []
            if samples:
                lines += [f"# HELP {name} {help_text}", f"# TYPE {name} {kind}", *samples]
        seen: set[str] = set()
        for model, text in engines:
            lines += _of_engine(model, text, seen)
        return "\n".join(lines) + "\n"

    def _histogram(self, name: str) -> list[str]:
        found = []
        for model, row in sorted(self._buckets.items()):
            total = 0
            for bound, count in zip((*map(str, _BOUNDS), "+Inf"), row, strict=True):
                total += count
                found.append(f"{name}_bucket{_labels((('model', model), ('le', bound)))} {total}")
            label = _labels((("model", model),))
            found += [f"{name}_sum{label} {self._sums[model]:g}", f"{name}_count{label} {total}"]
        return found


def _labels(labels: Labels) -> str:
    inside = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels)
    return f"{{{inside}}}" if inside else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _of_engine(model: str, text: str, seen: set[str]) -> list[str]:
    """Its lines with the model as a label; what a series means is told once."""
    found = []
    for line in text.splitlines():
        if line.startswith("#"):
            if line not in seen:
                seen.add(line)
                found.append(line)
        elif match := _SERIES.match(line):
            inside = ",".join(filter(None, (f'model="{_escaped(model)}"', match[2] or "")))
            found.append(f"{match[1]}{{{inside}}}{match[3]}")
    return found
