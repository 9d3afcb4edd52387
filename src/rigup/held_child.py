"""Run as a file, by any Python: an engine that ends when the one who started it does. It imports nothing of rigup.

`held_child.py watch PROGRAM WORD…` runs a program; `hold` does so with a standard input that is open as long as this process lives; `held_child.py serve WORD…` is llama.cpp's server by xllamacpp, and takes the words of
llama-server that rigup uses. Standard input is held open by whoever started this: where it ends, so does the engine.
"""

import argparse
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time

_KILLED_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_PATIENCE = 10.0
_LAST_WORDS = 1.5
_EXPERTS = r"blk\.{}\.ffn_(up|down|gate_up|gate)_(ch|)exps=CPU"


def _die_with_parent() -> None:
    """Linux alone; elsewhere standard input tells. The parent is the thread that started this one."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_KILLED_WITH_PARENT, signal.SIGKILL)


def _when_left_alone(end) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001
    """Call `end` once nobody holds the other end of standard input any more."""

    def wait() -> None:
        try:
            while os.read(0, 4096):
                pass
        except OSError:
            pass
        end()

    threading.Thread(target=wait, daemon=True).start()


def _watch(words: "list[str]", given: int = subprocess.DEVNULL) -> int:
    group = {} if os.name == "nt" else {"start_new_session": True, "preexec_fn": _die_with_parent}
    try:
        program = subprocess.Popen(words, stdin=given, **group)  # type: ignore[call-overload]
    except OSError as error:
        print(f"cannot start {words[0]}: {error.strerror}", file=sys.stderr)
        return 127
    _when_left_alone(lambda: _end(program))
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=_end, args=(program,), daemon=True).start())
    status = program.wait()
    _signal(program, getattr(signal, "SIGKILL", signal.SIGTERM))  # what it left behind in its group
    return int(128 - status if status < 0 else status)


def _end(program: "subprocess.Popen[bytes]") -> None:
    _signal(program, signal.SIGTERM)
    try:
        program.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        _signal(program, getattr(signal, "SIGKILL", signal.SIGTERM))


def _signal(program: "subprocess.Popen[bytes]", number: int) -> None:
    try:
        if os.name == "nt":
            program.terminate()
        else:
            os.killpg(program.pid, number)
    except OSError:
        pass


# -- llama.cpp's server by xllamacpp -------------------------------------------------------------------


def _options(words: "list[str]") -> argparse.Namespace:
    """The words of llama-server that rigup uses."""
    parser = argparse.ArgumentParser(prog="llama-server")
    for short, name, kind in (
        ("-m", "--model", str),
        ("-c", "--ctx-size", int),
        ("-b", "--batch-size", int),
        ("-ub", "--ubatch-size", int),
        ("-np", "--parallel", int),
        ("-ngl", "--n-gpu-layers", int),
        ("-t", "--threads", int),
        ("-a", "--alias", str),
        ("-lv", "--verbosity", int),
        ("-md", "--model-draft", str),
        ("-ngld", "--gpu-layers-draft", int),
    ):
        parser.add_argument(short, name, type=kind)
    for name in ("flash-attn", "cache-type-k", "cache-type-v", "tensor-split", "host", "mmproj", "chat-template-file", "pooling"):
        parser.add_argument("--" + name)
    for name in ("n-cpu-moe", "port"):
        parser.add_argument("--" + name, type=int)
    parser.add_argument("--cache-ram", type=int, default=os.environ.get("LLAMA_ARG_CACHE_RAM"))
    for name in ("kv-unified", "swa-full", "embeddings", "reranking", "metrics", "jinja"):
        parser.add_argument("--" + name, action="store_true")
    return parser.parse_args(words)


def _settings(options: argparse.Namespace):  # type: ignore[no-untyped-def] # noqa: ANN202
    import xllamacpp as engine

    parameters = engine.CommonParams()
    parameters.model.path, parameters.hostnames, parameters.port = options.model, [options.host], options.port
    parameters.api_keys = [os.environ.pop("LLAMA_API_KEY", "")]
    parameters.cors_origins, parameters.cors_origins_explicit, parameters.ui, parameters.endpoint_slots = (
        "http://127.0.0.1",
        True,
        False,
        False,
    )
    parameters.fit_params, parameters.use_jinja = options.n_gpu_layers is None, True
    parameters.embedding, parameters.endpoint_metrics = options.embeddings or options.reranking, options.metrics
    parameters.kv_unified, parameters.swa_full = options.kv_unified, options.swa_full
    for name, value in (
        ("n_ctx", options.ctx_size),
        ("n_batch", options.batch_size),
        ("n_ubatch", options.ubatch_size),
        ("n_parallel", options.parallel),
        ("n_gpu_layers", options.n_gpu_layers),
        ("verbosity", options.verbosity),
        ("cache_ram_mib", options.cache_ram),
    ):
        if value is not None:
            setattr(parameters, name, value)
    if options.threads:
        parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = options.threads
    if options.alias:
        parameters.model_alias = {options.alias}
    if options.chat_template_file:
        with open(options.chat_template_file, encoding="utf-8") as file:
            parameters.chat_template = file.read()
    _place(parameters, options, engine)
    return parameters


def _place(parameters, options: argparse.Namespace, engine) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001
    """Where what lies, and in which numbers."""
    if options.mmproj:
        parameters.mmproj.path = options.mmproj
    pooling = "rank" if options.reranking else options.pooling
    if pooling:
        parameters.pooling_type = getattr(engine.llama_pooling_type, "LLAMA_POOLING_TYPE_" + pooling.upper())
    if options.model_draft:
        draft = parameters.speculative.draft
        draft.mparams.path = options.model_draft
        parameters.speculative.types = [engine.common_speculative_type.COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE]
        if options.gpu_layers_draft is not None:
            draft.n_gpu_layers = options.gpu_layers_draft
    if options.flash_attn in ("on", "off"):
        word = "ENABLED" if options.flash_attn == "on" else "DISABLED"
        parameters.flash_attn_type = getattr(engine.llama_flash_attn_type, "LLAMA_FLASH_ATTN_TYPE_" + word)
    for name, kind in (("cache_type_k", options.cache_type_k), ("cache_type_v", options.cache_type_v)):
        if kind:
            setattr(parameters, name, getattr(engine.ggml_type, "GGML_TYPE_" + kind.upper()))
    if options.n_cpu_moe:
        parameters.tensor_buft_overrides = ",".join(_EXPERTS.format(layer) for layer in range(options.n_cpu_moe))
    if options.tensor_split:
        shares = [float(share) for share in options.tensor_split.split(",")]
        parameters.tensor_split = shares + [0.0] * (len(parameters.tensor_split) - len(shares))


def _serve(words: "list[str]") -> int:
    _die_with_parent()
    _when_left_alone(lambda: os._exit(0))
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    import xllamacpp as engine

    try:
        server = engine.Server(_settings(_options(words)))
    except RuntimeError as error:
        time.sleep(_LAST_WORDS)  # the reason comes on standard error by a thread that no exit waits for
        print(error, file=sys.stderr, flush=True)
        os._exit(1)
    threading.Event().wait()
    del server
    return 0


if __name__ == "__main__":
    verbs = {"watch": _watch, "hold": lambda words: _watch(words, subprocess.PIPE), "serve": _serve}
    sys.exit(verbs[sys.argv[1]](sys.argv[2:]))
