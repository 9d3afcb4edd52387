"""Run by an interpreter that has xllamacpp: prints its planner's figures for a model. It imports nothing of rigup.

Arguments: file, context, batch, ubatch, sequences, outputs, flash attention, type of K, type of V, whole windows, one cache.
"""

import ctypes
import os
import sys

_FIRST = (512, 2048, 512, 1)  # context, batch, ubatch, sequences: the engine's defaults, and so the sign of its struct
_OUTPUTS, _FLASH, _KEYS, _VALUES, _FLAGS = 5, 13, 26, 27, 140  # words of 32 bits; the flags are bytes
_UNSET = 0xFFFFFFFF
_F16 = 1
_PLAN = "_Z16common_fit_printPKcP18llama_model_paramsP20llama_context_params"


class _Room(ctypes.Structure):
    """Larger than either struct: the callee writes its own size only."""

    _fields_ = [("held", ctypes.c_ubyte * 1024)]


def _main(path: str, numbers: "list[int]") -> int:
    import xllamacpp

    folder = os.path.dirname(xllamacpp.__file__)
    name = next(file for file in sorted(os.listdir(folder)) if file.startswith("xllamacpp") and file.endswith(".so"))
    engine = ctypes.CDLL(os.path.join(folder, name))
    for function in ("llama_model_default_params", "llama_context_default_params"):
        getattr(engine, function).restype = _Room
    engine.llama_backend_init()
    model, context = engine.llama_model_default_params(), engine.llama_context_default_params()
    words = (ctypes.c_uint32 * 64).from_buffer(context)
    known = tuple(words[:4]) == _FIRST and words[_FLASH] == _UNSET and words[_KEYS] == words[_VALUES] == _F16
    if not known or bytes(context.held[_FLAGS : _FLAGS + 2]) != b"\x01\x00":
        return 3
    size, batch, ubatch, sequences, outputs, flash, keys, values, whole, unified = numbers
    words[0], words[1], words[2], words[3], words[_OUTPUTS] = size, batch, ubatch, sequences, outputs
    words[_FLASH], words[_KEYS], words[_VALUES] = flash, keys, values
    context.held[_FLAGS], context.held[_FLAGS + 1] = whole, unified
    engine.ggml_version.restype = ctypes.c_char_p
    print("rigup engine llama.cpp of xllamacpp", getattr(xllamacpp, "__version__", "?"), "(ggml", engine.ggml_version().decode() + ")")
    sys.stdout.flush()
    plan = getattr(engine, _PLAN)
    plan.restype, plan.argtypes = None, [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p]
    plan(os.fsencode(path), ctypes.byref(model), ctypes.byref(context))
    ctypes.CDLL(None).fflush(None)
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1], [int(number) for number in sys.argv[2:]]))
