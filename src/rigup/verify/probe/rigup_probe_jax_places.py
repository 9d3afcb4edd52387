"""JAX's arrays: to a device, back as numbers of Python, and where they lie."""

from __future__ import annotations

import contextlib
from typing import Any, Callable

import jax
import jax.numpy as jnp
import numpy as np
from rigup_probe_compare import Found
from rigup_probe_expected import Nested

Case = Any  # a function, its inputs, and what is wanted of it


def device_of(device: dict[str, Any]) -> Any:
    """JAX's own object of a device."""
    return next(jax_device for jax_device in jax.devices(device["type"]) if device["type"] == "cpu" or jax_device.id == device["index"])


def moved(device: dict[str, Any], value: Nested, kind: str = "float32") -> Any:
    """Numbers of Python on the device."""
    return jax.device_put(np.array(value, np.dtype(getattr(jnp, kind))), device_of(device))


def host(array: Any) -> Nested:
    """Numbers of Python again; types that only JAX has go by float32, which holds each of their values."""
    if isinstance(array, (list, tuple, bool, int, float)):
        return [host(item) for item in array] if isinstance(array, (list, tuple)) else array
    plain = np.asarray(array)
    return (plain if plain.dtype.kind in "fiubc" else plain.astype(np.float32)).tolist()


def wide() -> Any:
    """The context in which JAX has 64 bits."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    from jax.experimental import enable_x64  # before JAX 0.8

    return enable_x64()


def types_of(device: dict[str, Any]) -> tuple[str, ...]:
    """In what types functions are compiled: to compile takes most of the time."""
    return ("float32", "bfloat16", "float16") if device.get("full") else ("float32",)


def elsewhere(device: dict[str, Any], **results: Any) -> list[Any]:
    """Results that lie on another device, with where they lie."""
    wanted = {device_of(device)}
    return [name + " on " + str(result.devices()) for name, result in results.items() if result.devices() != wanted]


def compared(device: dict[str, Any], found: Found, kind: str, cases: dict[str, Case], exact: bool = False) -> None:
    """Each case compiled with all others in one program; where all is to be tried, also called by itself."""
    inputs = {name: [moved(device, values, kind) for values in given] for name, (_function, given, _wanted) in cases.items()}
    functions: dict[str, Callable[..., Any]] = {name: function for name, (function, _given, _wanted) in cases.items()}
    with jax.default_matmul_precision("highest") if kind == "float32" else contextlib.nullcontext():
        done = jax.jit(lambda held: {name: function(*held[name]) for name, function in functions.items()})(inputs)
        called = {name: function(*inputs[name]) for name, function in functions.items()} if device.get("full") else {}
    for way, results in (("", done), (" called", called)):
        for name, got in results.items():
            judge = found.exact if exact else found.near
            judge(name + way + " " + kind, host(got), cases[name][2])
            if hasattr(got, "devices"):
                found.elsewhere += elsewhere(device, **{name: got})
    left = [
        name
        for name, (_f, given, _w) in cases.items()
        if any(host(array) != host(moved(device, two, kind)) for array, two in zip(inputs[name], given) if not _odd(two))
    ]
    found.wrong += [name + " leaves its inputs alone" for name in left]


def _odd(value: Nested) -> bool:
    """Whether NaN is in it, which equals nothing."""
    return any(map(_odd, value)) if isinstance(value, (list, tuple)) else value != value
