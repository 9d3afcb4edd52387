"""Run by an interpreter that has xllamacpp: really loads a model, computes a batch, and prints its peak of resident memory.

Arguments: file, context, batch, sequences' outputs, flash attention, tokens to compute. It uses llama.cpp's C interface, whose
structs are larger here than there: the callee reads its own size only.
"""

import ctypes
import os
import sys


class _Room(ctypes.Structure):
    _fields_ = [("held", ctypes.c_ubyte * 1024)]


class _Batch(ctypes.Structure):
    _fields_ = [("count", ctypes.c_int32), ("tokens", ctypes.c_void_p)] + [
        (name, ctypes.c_void_p) for name in ("embd", "pos", "n_seq", "seq", "logits")
    ]


def main(path, context, ubatch, outputs, flash, tokens):
    import xllamacpp

    folder = os.path.dirname(xllamacpp.__file__)
    name = next(one for one in sorted(os.listdir(folder)) if one.startswith("xllamacpp") and one.endswith(".so"))
    engine = ctypes.CDLL(os.path.join(folder, name))
    for one in ("llama_model_default_params", "llama_context_default_params"):
        getattr(engine, one).restype = _Room
    engine.llama_model_load_from_file.restype = engine.llama_init_from_model.restype = ctypes.c_void_p
    engine.llama_model_load_from_file.argtypes = [ctypes.c_char_p, _Room]
    engine.llama_init_from_model.argtypes = [ctypes.c_void_p, _Room]
    engine.llama_decode.argtypes = [ctypes.c_void_p, _Batch]
    engine.llama_backend_init()
    model = engine.llama_model_load_from_file(os.fsencode(path), engine.llama_model_default_params())
    told = engine.llama_context_default_params()
    words = (ctypes.c_uint32 * 64).from_buffer(told)
    words[0], words[1], words[2], words[3], words[5], words[13] = context, 2048, ubatch, 1, outputs, flash
    told.held[140] = 0
    made = engine.llama_init_from_model(model, told)
    if not model or not made:
        return 3
    ids = (ctypes.c_int32 * tokens)(*(number % 1000 for number in range(tokens)))
    answer = engine.llama_decode(made, _Batch(tokens, ctypes.cast(ids, ctypes.c_void_p)))
    with open("/proc/self/status", encoding="ascii") as file:
        peak = next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM"))
    print("peak", answer, peak)
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
