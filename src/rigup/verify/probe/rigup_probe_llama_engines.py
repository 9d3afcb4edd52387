"""The two ways in which a Python has llama.cpp: llama-cpp-python, whose calls are the library's own, and xllamacpp."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib
import json
import math
import os
from typing import Any, Iterator

Device = Any
_SHOWN = 20  # tokens whose probabilities are asked of a server
_BATCH = 512
_SIBLINGS = "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list"


@functools.lru_cache(maxsize=None)
def engine() -> Any:
    """The installed engine; llama-cpp-python if both are installed.

    Raises:
        ImportError: neither can be imported.

    """
    try:
        return Library(importlib.import_module("llama_cpp"))
    except ImportError:
        return Server(importlib.import_module("xllamacpp"))


def vendor_of(description: str) -> str:
    """Whose chip it is, by the words of a backend."""
    words = {
        "cuda": "nvidia",
        "rocm": "amd",
        "metal": "apple",
        "mtl": "apple",
        "nvidia": "nvidia",
        "amd": "amd",
        "radeon": "amd",
        "apple": "apple",
        "intel": "intel",
        "sycl": "intel",
    }
    return next((maker for word, maker in words.items() if word in description.lower()), "")


def _device(name: str, index: int, described: str) -> Device:
    shown = {"index": index, "name": described, "vendor": vendor_of(name + " " + described)}
    return dict(shown, id=name.lower(), type="gpu")


CPU = {"id": "cpu", "type": "cpu", "vendor": ""}


class Library:
    """llama-cpp-python: the library's functions by ctypes. Newer names of some go before older ones."""

    def __init__(self, module: Any) -> None:
        self.library, self.version = module, module.__version__
        module.llama_backend_init()

    def about(self) -> Any:
        """The build."""
        system_info = self.library.llama_print_system_info()
        return {"version": self.version, "build": {"system": system_info.decode("utf-8", "replace")[:500]}}

    def devices(self) -> list[Device]:
        """All that it lists, the CPU last."""
        found = [listed for listed in self._listed() if listed[0] in (1, 2)]  # a GPU, and one that shares the main memory
        return [*(_device(name, index, described) for index, (_kind, name, described) in enumerate(found)), CPU]

    def _listed(self) -> Iterator[tuple[int, str, str]]:
        """Kind, name and description of each; nothing where the library is too old to list them."""
        with contextlib.suppress(ImportError, AttributeError, OSError):
            ggml = importlib.import_module("llama_cpp._ggml").libggml
            for pointer in _pointers(ggml):
                words = [_string_of(ggml, "ggml_backend_dev_" + field, pointer) for field in ("name", "description")]
                ggml.ggml_backend_dev_type.argtypes = [ctypes.c_void_p]
                yield int(ggml.ggml_backend_dev_type(pointer)), words[0], words[1]

    def free(self, device: Device) -> int:
        """Bytes of memory that a GPU has free."""
        ggml = importlib.import_module("llama_cpp._ggml").libggml
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        pointers = [pointer for pointer in _pointers(ggml) if _string_of(ggml, "ggml_backend_dev_name", pointer).lower() == device["id"]]
        if pointers:
            ggml.ggml_backend_dev_memory(ctypes.c_void_p(pointers[0]), ctypes.byref(free), ctypes.byref(total))
        return free.value

    def model(self, path: str, device: Device, context: int) -> LoadedModel:
        """A model on a device."""
        return LoadedModel(self.library, path, device, context)

    def next_token(self, path: str, device: Device, prompt: list[int], context: int) -> tuple[dict[int, float], int]:
        """The logarithm of each token's probability after a prompt, and bytes that the device gave."""
        before = 0 if device["type"] == "cpu" else self.free(device)
        model = self.model(path, device, context)
        try:
            taken = before - (0 if device["type"] == "cpu" else self.free(device))
            return model.after(prompt), taken
        finally:
            model.close()


def _pointers(ggml: Any) -> list[int]:
    ggml.ggml_backend_dev_count.restype = ctypes.c_size_t
    ggml.ggml_backend_dev_get.restype = ctypes.c_void_p
    ggml.ggml_backend_dev_get.argtypes = [ctypes.c_size_t]
    return [ggml.ggml_backend_dev_get(index) for index in range(ggml.ggml_backend_dev_count())]


def _string_of(ggml: Any, ask: str, pointer: int) -> str:
    function = getattr(ggml, ask)
    function.restype, function.argtypes = ctypes.c_char_p, [ctypes.c_void_p]
    return (function(pointer) or b"").decode("utf-8", "replace")


def cores() -> int:
    """Cores that this process may use; two threads of one core get in each other's way. The library itself takes four."""
    allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    siblings = set()
    for core in allowed:
        with contextlib.suppress(OSError), open(_SIBLINGS % core, encoding="ascii") as file:
            siblings.add(file.read().strip())
    return len(siblings) or len(allowed) or os.cpu_count() or 1


class LoadedModel:
    """A model and a context of llama-cpp-python."""

    def __init__(self, library: Any, path: str, device: Device, context: int) -> None:
        self.library, self.model, self.context = library, None, None  # type: Any, Any, Any
        wish = library.llama_model_default_params()
        wish.n_gpu_layers, wish.split_mode = (0 if device["type"] == "cpu" else 999), library.LLAMA_SPLIT_MODE_NONE
        wish.main_gpu = device.get("index", 0)
        self.model = self._first("llama_model_load_from_file", "llama_load_model_from_file")(path.encode(), wish)
        if not self.model:
            raise RuntimeError("the model could not be loaded")
        room = library.llama_context_default_params()
        room.n_ctx, room.n_batch, room.n_ubatch = context, _BATCH, _BATCH
        room.n_threads = room.n_threads_batch = cores()
        if device["type"] == "cpu":
            room.offload_kqv = False
            if hasattr(room, "op_offload"):  # else a GPU helps with long prompts
                room.op_offload = False
        self.context = self._first("llama_init_from_model", "llama_new_context_with_model")(self.model, room)
        if not self.context:
            raise RuntimeError("a context of " + str(context) + " tokens could not be made")

    def _first(self, *names: str) -> Any:
        return next(getattr(self.library, name) for name in names if hasattr(self.library, name))

    def read(self, tokens: list[int]) -> None:
        """Take tokens, and wait until they are reckoned with."""
        for start in range(0, len(tokens), _BATCH):
            part = tokens[start : start + _BATCH]
            held = (self.library.llama_token * len(part))(*part)
            if self.library.llama_decode(self.context, self.library.llama_batch_get_one(held, len(part))):
                raise RuntimeError("llama_decode failed")
        self.library.llama_synchronize(self.context)

    def forget(self) -> None:
        """Begin anew."""
        if hasattr(self.library, "llama_memory_clear"):
            self.library.llama_memory_clear(self.library.llama_get_memory(self.context), True)
        else:
            self._first("llama_kv_self_clear", "llama_kv_cache_clear")(self.context)

    def described(self) -> str:
        """The model in llama.cpp's own words: "llama 7B Q4_0"."""
        buffer = ctypes.create_string_buffer(200)
        self.library.llama_model_desc(self.model, buffer, 200)
        return buffer.value.decode("utf-8", "replace")

    def vocabulary(self) -> int:
        """How many tokens it knows."""
        if hasattr(self.library, "llama_vocab_n_tokens"):
            return int(self.library.llama_vocab_n_tokens(self.library.llama_model_get_vocab(self.model)))
        return int(self.library.llama_n_vocab(self.model))

    def after(self, prompt: list[int]) -> dict[int, float]:
        """The logarithm of each token's probability."""
        self.read(prompt)
        logit_pointer = self.library.llama_get_logits_ith(self.context, -1)
        logits = [float(logit_pointer[token]) for token in range(self.vocabulary())]
        most = max(logits)
        total = most + math.log(math.fsum(math.exp(logit - most) for logit in logits))
        return {token: logit - total for token, logit in enumerate(logits)}

    def close(self) -> None:
        """Free the model and its context."""
        if self.context:
            self.library.llama_free(self.context)
        if self.model:
            self._first("llama_model_free", "llama_free_model")(self.model)
        self.context = self.model = None


class Server:
    """xllamacpp: a server within the process, which answers as llama.cpp's own does."""

    def __init__(self, module: Any) -> None:
        self.module, self.version = module, module.__version__

    def about(self) -> Any:
        """The build."""
        return {"version": self.version, "build": {"system": str(self.module.get_system_info())[:500]}}

    def devices(self) -> list[Device]:
        """All that it lists, the CPU last."""
        gpus = [info for info in self.module.get_device_info() if info["type"].name.endswith("GPU")]
        return [*(_device(str(info["name"]), index, info["description"]) for index, info in enumerate(gpus)), CPU]

    def free(self, device: Device) -> int:
        """Bytes of memory that a GPU has free."""
        gpus = [info for info in self.module.get_device_info() if str(info["name"]).lower() == device["id"]]
        return int(gpus[0]["memory_free"]) if gpus else 0

    def serving(self, path: str, device: Device, context: int) -> Any:
        """A server with a model on a device."""
        params = self.module.CommonParams()
        params.model.path = path
        params.n_ctx, params.warmup, params.n_parallel = context, False, 1
        params.n_gpu_layers = 0 if device["type"] == "cpu" else 999
        if device["type"] == "cpu" and hasattr(params, "no_op_offload"):
            params.no_op_offload = True
        if device["type"] != "cpu":
            params.main_gpu, params.split_mode = device["index"], self.module.llama_split_mode.LLAMA_SPLIT_MODE_NONE
        return self.module.Server(params)

    def complete(self, server: Any, prompt: list[int], count: int, **more: Any) -> Any:
        """The completion of a prompt, as llama.cpp's server returns it."""
        wish = {"prompt": prompt, "n_predict": count, "temperature": 0.0, "cache_prompt": False, "ignore_eos": True}
        answer = server.handle_completions(dict(wish, **more))
        return json.loads(answer) if isinstance(answer, (str, bytes)) else answer

    def next_token(self, path: str, device: Device, prompt: list[int], context: int) -> tuple[dict[int, float], int]:
        """The logarithms of the likeliest tokens' probabilities, and bytes that the device gave."""
        before = self.free(device)
        server = self.serving(path, device, context)
        taken = before - self.free(device)
        answer = self.complete(server, prompt, 1, n_probs=_SHOWN)
        probabilities = _probabilities(answer)
        if len(probabilities) < _SHOWN:
            raise RuntimeError("no probabilities in: " + json.dumps(answer, default=str)[:500])
        return probabilities, taken


def _probabilities(answer: Any) -> dict[int, float]:
    """From the server's own form, or that of OpenAI's interface."""
    found = answer.get("completion_probabilities") or []
    if not found:
        choice = (answer.get("choices") or [{}])[0]
        found = (choice.get("logprobs") or {}).get("content") or []
    listed = found[0].get("top_logprobs") if found else []
    return {int(candidate["id"]): float(candidate["logprob"]) for candidate in listed or []}
