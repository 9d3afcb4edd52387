"""One small model in one session of onnxruntime, and where its nodes ran."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any

import numpy as np
import onnxruntime
from rigup_probe_compare import Found
from rigup_probe_expected import Nested
from rigup_probe_onnx_model import Node, model

CPU = "CPUExecutionProvider"
OPSET = 13
_SINCE_TF32 = (1, 18)  # the release of onnxruntime from which TF32 is asked for, and taken unless it is refused


def array(values: Nested, kind: str) -> Any:
    """Numbers of Python as an array of a type."""
    return np.array(values, kind)


def host(got: Any) -> Nested:
    """Numbers of Python again."""
    return got.tolist() if hasattr(got, "tolist") else got


def session_of(device: dict[str, Any], model_bytes: bytes, profile: str = "", plain: bool = False) -> Any:
    """A session of one provider; `profile`: prefix of the profile file; `plain`: without graph optimisations."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 2
    if plain:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    if profile:
        options.enable_profiling, options.profile_file_prefix = True, profile
    return onnxruntime.InferenceSession(model_bytes, options, [(device["provider"], _settings(device))])


def _settings(device: dict[str, Any]) -> dict[str, str]:
    """Options of a provider: the first card, without TF32."""
    if device["type"] in ("cpu", "coreml", "openvino"):
        return {}
    release = tuple(int(part) for part in onnxruntime.__version__.split(".")[:2])
    exact = {"use_tf32": "0"} if device["type"] == "cuda" and release >= _SINCE_TF32 else {}
    return {"device_id": "0", **exact}


def ran(
    device: dict[str, Any], nodes: list[Node], given: dict[str, Any], outputs: dict[str, str], held: Any = None, opset: int = OPSET
) -> tuple[list[Any], list[str]]:
    """The results, and nodes that ran on another provider than the requested one."""
    model_bytes = model(nodes, given, outputs, held or {}, opset)
    if device["type"] == "cpu":  # which no other can stand in for
        session = session_of(device, model_bytes)
        return session.run(None, given), []
    with tempfile.TemporaryDirectory() as folder:
        session = session_of(device, model_bytes, os.path.join(folder, "profile"))
        got = session.run(None, given)
        with open(session.end_profiling(), encoding="utf-8") as file:
            events = json.load(file)
    placements = [event["args"] for event in events if event.get("args", {}).get("provider")]
    away = [
        placement.get("op_name", "?") + " with " + placement["provider"]
        for placement in placements
        if placement["provider"] != device["provider"]
    ]
    missing = device["provider"] not in session.get_providers()
    away += [nodes[0].operator + " with " + session.get_providers()[0]] if missing else []
    return got, list(dict.fromkeys(away))


def judged(
    device: dict[str, Any],
    found: Found,
    name: str,
    node: Node,
    given: dict[str, Any],
    wanted: Any,
    kind: str,
    exact: bool = False,
    held: Any = None,
    opset: int = OPSET,
) -> None:
    """Compare one operator with its reference; an operator that the release or provider lacks is left out."""
    try:
        (got,), _places = ran(device, [node], given, {"y": kind}, held, opset)
    except Exception as error:
        if not unknown(str(error)):
            raise RuntimeError(name + ": " + str(error)) from error
        found.left.append(name + ("" if exact else " " + kind))
        return
    (found.exact if exact else found.near)(name + ("" if exact else " " + kind), host(got), wanted)


def unknown(error_text: str) -> bool:
    """Whether an error says that the release lacks an operator, or lacks it for this type."""
    return any(word in error_text for word in ("NOT_IMPLEMENTED", "opset", "is not a registered function/op", ") is invalid."))
