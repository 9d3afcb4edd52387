"""What the log of a training or serving program tells of a question: whether it learns, how long it takes, whether a batch fits, how many are served."""

import re
from collections.abc import Callable
from typing import Any

from rigup.diagnosis.capacity_asked import unquantised
from rigup.diagnosis.looking import Look
from rigup.diagnosis.model_asked import size_of, usable_memory
from rigup.knowledge.patterns import lazy_regex
from rigup.knowledge.questions import spaced

_MIB, _GIB = 1 << 20, 1 << 30
_QUICKER = 1.2  # times, from which on one of two runs is told as quicker
_FALL = 0.97  # share of the first loss below which the last one has fallen
_CONTEXT = _GIB // 2  # bytes of CUDA's context and its libraries
_TRAINED = 16  # bytes of each weight that is trained: itself, its gradient and two moments in float32
_BYTES = {"eight": 1.0, "four": 0.516}  # of a weight that is quantised
_HALF = 2.0
_EASY = 0.9  # share of a card up to which a batch fits with room to spare
_WANTED = lazy_regex(
    r"(?:batch(?:[ _-]?size)?|\bbs|батч\w*|批(?:次|大小)?)[^\d\n.?!]{0,12}(?P<named>\d{1,4})\b|\b(?:to|with|auf|на|à|a) (?P<bare>\d{1,4})\b(?! ?(?:[GM]i?B|[kK%.]|steps|hours|epoch))",
    re.IGNORECASE,
)
_HOUR, _MINUTE, _DAY = 3600, 60, 24
_STEPS_OF_A_BAR = 32  # samples of a batch, unless told otherwise (Keras)


def _number(seen: Look, name: str) -> float:
    said = re.sub(r"[,_ ](?=\d{3})", "", seen.asked.said.get(name, ""))
    return float(said) if re.fullmatch(r"\d+(?:\.\d+)?", said) else 0.0


def _fell(seen: Look) -> str:
    """The first loss, where the last one is below it."""
    first, last = _number(seen, "loss_first"), _number(seen, "loss_last")
    return seen.asked.said["loss_first"] if first and last < _FALL * first else ""


def _stays(seen: Look) -> str:
    first, last = _number(seen, "loss_first"), _number(seen, "loss_last")
    return seen.asked.said["loss_first"] if first and last >= _FALL * first else ""


def _eval(rises: bool) -> Callable[[Look], str]:
    """The first loss on data that is not trained on, where the last one is above it, or where it is not."""
    return lambda seen: seen.asked.said.get("eval_first", "") if (_number(seen, "eval_last") > _number(seen, "eval_first")) is rises else ""


def _seconds(clock: str) -> int:
    """Of 1:02:03, of 02:03 and of "1 day, 1:02:03"."""
    days, _mark, rest = clock.rpartition(",")
    seconds = 0
    for part in rest.strip().split(":"):
        seconds = 60 * seconds + int(part)
    return seconds + int(days.split()[0]) * _DAY * _HOUR if days else seconds


def _words(seconds: float) -> str:
    """So long in figures that read alike in all languages: 40 s, 18 min, 7.5 h."""
    if seconds < 2 * _MINUTE:
        return f"{seconds:.0f} s"
    return f"{seconds / _MINUTE:.0f} min" if seconds < 2 * _HOUR else f"{seconds / _HOUR:.1f} h"


def _step(seen: Look) -> float:
    """Seconds of a step: by the bar's clock, which is what steps took until now, else by its rate."""
    done, rate = _number(seen, "done"), _number(seen, "pace")
    if done and seen.asked.said.get("elapsed"):
        return _seconds(seen.asked.said["elapsed"]) / done
    return (rate if seen.asked.said.get("unit") == "s/it" else 1 / rate) if rate else 0.0


def _left_to_do(seen: Look) -> float:
    """Seconds that the bar still wants."""
    return _step(seen) * (_number(seen, "total") - _number(seen, "done"))


def _tokens_a_step(seen: Look) -> float:
    batch, length = _number(seen, "batch"), _number(seen, "length")
    return batch * length * (_number(seen, "accumulation") or 1) * (_number(seen, "ranks") or 1)


def _fixed(seen: Look) -> float:
    """Bytes of adapters' training that no batch changes: weights, what is trained, the context of CUDA; 0 where the text does not tell."""
    size, trained = _number(seen, "all_params"), _number(seen, "trained_params")
    if not size or not trained:
        return 0.0
    each = next((count for name, count in _BYTES.items() if seen.asked.said.get(name)), _HALF)
    whole = min(unquantised(size / 1e9, None) * 1e9, size) if each < _HALF else 0.0
    return each * (size - whole) + _HALF * whole + _TRAINED * trained + _CONTEXT


def _batches(seen: Look) -> tuple[float, float]:
    """The batch that runs and the larger one that is asked of; zeros where one of them is not told."""
    now = _number(seen, "batch")
    named = (int(found["named"] or found["bare"]) for found in _WANTED.finditer(spaced(seen.asked.near)))
    return now, max((number for number in named if now and number > now), default=0)


def _points(seen: Look) -> tuple[float, float]:
    """Bytes that stay, and bytes of each sample, by two batches that the text has measured."""
    units = {"g": _GIB, "m": _MIB}
    sizes = [
        _number(seen, f"used_{which}") * units.get(seen.asked.said.get(f"unit_{which}", "?")[0].lower(), 0) for which in ("one", "two")
    ]
    more = _number(seen, "batch_two") - _number(seen, "batch_one")
    each = (sizes[1] - sizes[0]) / more if more else 0.0
    return (sizes[0] - each * _number(seen, "batch_one"), each) if each > 0 else (0.0, 0.0)


def _grown(seen: Look) -> float:
    """Bytes that the larger batch takes; 0 where the text does not tell."""
    (now, wanted), (stays, each) = _batches(seen), _points(seen)
    if each:
        return stays + each * (wanted or _wanted_alone(seen))
    used, fixed = _number(seen, "used") * _MIB, _fixed(seen)
    return fixed + (used - fixed) * wanted / now if wanted and fixed and used > fixed else 0.0


def _wanted_alone(seen: Look) -> float:
    """The batch that is asked of beside two that were measured."""
    named = (int(found["named"] or found["bare"]) for found in _WANTED.finditer(spaced(seen.asked.near)))
    most = max(_number(seen, "batch_one"), _number(seen, "batch_two"))
    return max((number for number in named if number > most), default=0)


def _whole(seen: Look) -> float:
    return _number(seen, "whole") * _MIB or (usable_memory(seen) if seen.card and seen.card.number == 1 else 0)


def _then(low: float, high: float) -> Callable[[Look], str]:
    """What the larger batch takes, where that is such a share of the card."""

    def size(seen: Look) -> str:
        grown, whole = _grown(seen), _whole(seen)
        return size_of(grown) if grown and whole and (_wanted_alone(seen) or _batches(seen)[1]) and low <= grown / whole < high else ""

    return size


def _at_most(fits: bool) -> Callable[[Look], str]:
    """What the larger batch would take were all memory to grow with it, where nothing tells what stays."""

    def size(seen: Look) -> str:
        (now, wanted), used, whole = _batches(seen), _number(seen, "used") * _MIB, _whole(seen)
        most = used * wanted / now if now and wanted and not _grown(seen) else 0.0
        return size_of(most) if most and whole and (most <= _EASY * whole) is fits else ""

    return size


def _steps(seen: Look) -> float:
    """Steps of an epoch by examples and batch."""
    examples, batch = _number(seen, "examples"), _number(seen, "total_batch")
    return -(-examples // batch) if examples and batch else 0.0


def _count(number: float) -> str:
    return f"{number:,.0f}".replace(",", " ") if number else ""


def _epochs_of_steps(seen: Look) -> str:
    """The share of the data that the run sees, where it is less than one epoch, in percent."""
    steps, total = _steps(seen), _number(seen, "total_steps")
    return f"{100 * total / steps:.1f}" if steps and 0 < total < steps - 1 else ""


def _share_of_weights(seen: Look) -> str:
    trained, every = _number(seen, "trained_params"), _number(seen, "all_params")
    return f"{100 * trained / every:.2g}" if trained and every and trained < every else ""


def _users(seen: Look) -> str:
    """Requests of full length that have room at once: as vLLM prints it, or by tokens over a length."""
    if times := seen.asked.said.get("times"):
        return f"{float(times):.0f}"
    tokens, length = _number(seen, "cache_tokens"), _number(seen, "request")
    return f"{tokens / length:.0f}" if tokens and length else ""


def _shorter(seen: Look) -> str:
    """Requests of a length that the question names, where the log tells the tokens of the cache."""
    named = re.search(r"(?<![\w.])(\d{1,3}) ?[kK](?![A-Za-z])|(?<![\w.])(\d{3,6}) ?(?:tokens?|токен|词元)", spaced(seen.asked.near))
    length = (int(named[1]) * 1024 if named[1] else int(named[2])) if named else 0
    tokens = _number(seen, "cache_tokens")
    return f"{tokens / length:.0f}" if tokens and length and tokens > length else ""


def _achieved(seen: Look) -> tuple[float, float]:
    """Tokens a second of the run, by its batch, length and pace."""
    step, tokens = _step(seen), _tokens_a_step(seen)
    return (tokens / step, tokens) if step and tokens else (0.0, 0.0)


def _taken_off(seen: Look) -> str:
    """MB of the card that TensorFlow has not taken."""
    taken, own = _number(seen, "device_mb"), seen.card.vram / _MIB if seen.card else 0.0
    return f"{own - taken:.0f}" if taken and own > taken else ""


def _times_of_processor(seen: Look) -> str:
    """How many times as long the processor took for the same work as the GPU, by the time or the rate of each."""
    gpu_time, gpu_rate, cpu_rate = (_number(seen, name) for name in ("gpu_time", "gpu_rate", "cpu_rate"))
    times = _number(seen, "cpu_time") / gpu_time if gpu_time else gpu_rate / cpu_rate if cpu_rate else 0.0
    return f"{times:.1f}" if times > _QUICKER else ""


OF_TRAINING: dict[str, Callable[[Look], Any]] = {
    "fell_from": _fell,
    "stays_from": _stays,
    "eval_rises_from": _eval(rises=True),
    "eval_falls_from": _eval(rises=False),
    "time_left": lambda seen: _words(_left_to_do(seen)) if _left_to_do(seen) > 0 else "",
    "time_whole": lambda seen: _words(_step(seen) * _number(seen, "total")) if _step(seen) and _number(seen, "total") else "",
    "todo": lambda seen: _count(_number(seen, "total") - _number(seen, "done")),
    "step_seconds": lambda seen: f"{_step(seen):.3g}" if _step(seen) else "",
    "tokens_a_second": lambda seen: _count(_achieved(seen)[0]),
    "tokens_a_step": lambda seen: _count(_achieved(seen)[1]),
    "batch_now": lambda seen: f"{_batches(seen)[0]:.0f}" if _batches(seen)[0] else "",
    "batch_wanted": lambda seen: f"{_batches(seen)[1] or _wanted_alone(seen):.0f}" if _batches(seen)[1] or _wanted_alone(seen) else "",
    "batch_stays": lambda seen: size_of(_points(seen)[0] if _points(seen)[1] else _fixed(seen)),
    "batch_each": lambda seen: size_of(_points(seen)[1]),
    "batch_grows": lambda seen: size_of(max(0.0, _number(seen, "used") * _MIB - _fixed(seen))) if _fixed(seen) else "",
    "batch_used": lambda seen: size_of(_number(seen, "used") * _MIB),
    "batch_whole": lambda seen: size_of(_whole(seen)),
    "batch_easily": _then(0, _EASY),
    "batch_hardly": _then(_EASY, 1),
    "batch_nowhere": _then(1, 1e9),
    "batch_surely": _at_most(fits=True),
    "batch_perhaps": _at_most(fits=False),
    "steps_an_epoch": lambda seen: _count(_steps(seen)),
    "part_of_epoch": _epochs_of_steps,
    "examples_of_bar": lambda seen: _count(_number(seen, "bar") * _STEPS_OF_A_BAR),
    "share_of_weights": _share_of_weights,
    "users": _users,
    "users_of_length": _shorter,
    "taken_off": _taken_off,
    "times_of_processor": _times_of_processor,
}
