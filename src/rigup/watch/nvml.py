"""NVIDIA's library as far as a watch needs it, by ctypes: nvidia-ml-py costs twice the time of a sample and its import more.

Names and numbers are nvml.h's. A call returns its code; buffers are made once for each device.
"""

import contextlib
import ctypes
import struct
import sys
from typing import Any

NOT_SUPPORTED, NO_PERMISSION, NOT_FOUND, TOO_SMALL, NO_SYMBOL, LOST, NEEDS_RESET = 3, 4, 6, 7, 13, 15, 16
UNINITIALIZED, NO_DRIVER, MISMATCH = 1, 9, 18
SILENT = frozenset((NOT_SUPPORTED, NO_SYMBOL, NOT_FOUND, NO_PERMISSION, 2, 21, 25))
"""Codes of what a card or an old driver does not have: not available, and no trouble."""
_NAMES = ("libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1") if sys.platform != "win32" else ("nvml.dll",)
_TEXT = 96
_PROCESSES = 1024
PROCESS, OLD_PROCESS, USE = struct.Struct("<I4xQII"), struct.Struct("<I4xQ"), struct.Struct("<I4xQIIII")
_FIELD = struct.Struct("<IIqqIIQ")
XID_EVENT = 8


class NvmlError(Exception):
    """The library is not there, or said no; the text says why."""


class Event(ctypes.Structure):
    """nvmlEventData_t."""

    _fields_ = (
        ("device", ctypes.c_void_p),
        ("type", ctypes.c_ulonglong),
        ("data", ctypes.c_ulonglong),
        ("gpu_instance", ctypes.c_uint),
        ("compute_instance", ctypes.c_uint),
    )


class Nvml:
    """The library, initialized. Raises NvmlError where it is not there or there is no driver."""

    def __init__(self) -> None:
        self._lib = _library()
        self._functions: dict[str, Any] = {}
        self._events = ctypes.c_void_p()
        code = self.call("nvmlInit_v2")
        if code:
            raise NvmlError(self.words(code))

    def function(self, name: str) -> Any:
        """A function by its name; None where the driver is too old for it."""
        if name not in self._functions:
            self._functions[name] = getattr(self._lib, name, None)
        return self._functions[name]

    def call(self, name: str, *arguments: Any) -> int:
        """Call it; the code that it returns."""
        function = self.function(name)
        return NO_SYMBOL if function is None else function(*arguments)

    def words(self, code: int) -> str:
        """What a code means."""
        if code == NO_SYMBOL or (function := self.function("nvmlErrorString")) is None:
            return f"NVML error {code}"
        function.restype = ctypes.c_char_p
        return (function(code) or b"").decode("utf-8", "replace") or f"NVML error {code}"

    def close(self) -> None:
        """Shut it down, so that the next one sees a driver that was loaded anew."""
        with contextlib.suppress(Exception):
            self.call("nvmlShutdown")

    def text(self, name: str, *before: Any) -> str:
        """A function that writes a text; "" where it does not."""
        room = ctypes.create_string_buffer(_TEXT)
        return "" if self.call(name, *before, room, _TEXT) else room.value.decode("utf-8", "replace")

    def count(self) -> int:
        """How many GPUs there are. Raises NvmlError."""
        number = ctypes.c_uint()
        if code := self.call("nvmlDeviceGetCount_v2", ctypes.byref(number)):
            raise NvmlError(self.words(code))
        return number.value

    def handle(self, index: int) -> ctypes.c_void_p | None:
        """A GPU by its number."""
        handle = ctypes.c_void_p()
        return None if self.call("nvmlDeviceGetHandleByIndex_v2", index, ctypes.byref(handle)) else handle

    def handle_at(self, address: str) -> ctypes.c_void_p | None:
        """A GPU by its PCI address: of several, the others stay asleep."""
        handle = ctypes.c_void_p()
        words = address.encode("ascii", "replace")
        return None if self.call("nvmlDeviceGetHandleByPciBusId_v2", words, ctypes.byref(handle)) else handle

    def listen(self, handles: list[ctypes.c_void_p]) -> None:
        """Be told of Xid errors from now on."""
        if self.call("nvmlEventSetCreate", ctypes.byref(self._events)):
            self._events = ctypes.c_void_p()
            return
        for handle in handles:
            self.call("nvmlDeviceRegisterEvents", handle, ctypes.c_ulonglong(XID_EVENT), self._events)

    def new_errors(self) -> list[tuple[int, int]]:
        """Xid errors since the last time: the handle's value and the code of each."""
        found: list[tuple[int, int]] = []
        event = Event()
        while self._events and len(found) < 64 and not self.call("nvmlEventSetWait_v2", self._events, ctypes.byref(event), 0):
            if event.type == XID_EVENT:
                found.append((event.device or 0, event.data))
        return found


def _library() -> Any:
    for name in _NAMES:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise NvmlError("libnvidia-ml.so.1 was not found")


class Device:
    """One GPU or MIG instance: calls that write one number or two, each into a buffer that is made once."""

    def __init__(self, nvml: Nvml, handle: ctypes.c_void_p) -> None:
        self.nvml, self.handle = nvml, handle
        self._int, self._second, self._long = ctypes.c_uint(), ctypes.c_uint(), ctypes.c_ulonglong()
        self._at_int, self._at_second = ctypes.byref(self._int), ctypes.byref(self._second)
        self._at_long = ctypes.byref(self._long)
        self._memory = (ctypes.c_ulonglong * 5)()
        self._count = ctypes.c_uint()
        self._at_count = ctypes.byref(self._count)
        self._room = (ctypes.c_char * (PROCESS.size * _PROCESSES))()
        self.code = 0
        self.refused: dict[str, int] = {}
        self._functions: dict[tuple[str, tuple[Any, ...]], Any] = {}
        self._fields: dict[tuple[tuple[int, int], ...], Any] = {}

    def number(self, name: str, *arguments: Any) -> int | None:
        """A function that writes an unsigned int."""
        return self._int.value if self._ask(name, arguments, self._at_int) else None

    def long(self, name: str, *arguments: Any) -> int | None:
        """A function that writes an unsigned long long."""
        return self._long.value if self._ask(name, arguments, self._at_long) else None

    def pair(self, name: str, *arguments: Any) -> tuple[int, int] | None:
        """A function that writes two unsigned ints."""
        if not self._ask(name, arguments, self._at_int, self._at_second):
            return None
        return self._int.value, self._second.value

    def utilisation(self) -> tuple[int, int] | None:
        """Shares of time in per cent: something ran, the memory controller was busy."""
        if not self._ask("nvmlDeviceGetUtilizationRates", (), self._memory):
            return None
        return self._memory[0] & 0xFFFFFFFF, self._memory[0] >> 32

    def memory(self) -> dict[str, int] | None:
        """Bytes: total, reserved, free, used; of old drivers without what is reserved."""
        self._memory[0] = ctypes.sizeof(self._memory) | 2 << 24
        if self._ask("nvmlDeviceGetMemoryInfo_v2", (), self._memory):
            return dict(zip(("total", "reserved", "free", "used"), self._memory[1:5], strict=True))
        if self._ask("nvmlDeviceGetMemoryInfo", (), self._memory):
            return dict(zip(("total", "free", "used"), self._memory[0:3], strict=True))
        return None

    def fields(self, asked: tuple[tuple[int, int], ...]) -> list[int | None]:
        """Field values by (field, scope); unsigned numbers alone."""
        room = self._fields.get(asked)
        if room is None:  # the library leaves what was asked as it is, so that the same buffer asks again
            packed = (_FIELD.pack(field, scope, 0, 0, 0, 0, 0) for field, scope in asked)
            room = self._fields[asked] = ctypes.create_string_buffer(b"".join(packed))
        if not asked or not self._ask("nvmlDeviceGetFieldValues", (len(asked),), room):
            return [None] * len(asked)
        rows = _FIELD.iter_unpack(memoryview(room)[: _FIELD.size * len(asked)])
        return [
            None if code or kind not in (1, 2, 3) else (value & 0xFFFFFFFF if kind == 1 else value)
            for _f, _s, _t, _l, kind, code, value in rows
        ]

    def processes(self, *names: str) -> list[tuple[int, ...]]:
        """(pid, bytes, GPU instance, compute instance) of each process, by the newest of several functions."""
        name = next((name for name in names if self.nvml.function(name) is not None), names[-1])
        self._count.value = _PROCESSES
        if not self._ask(name, (self._at_count,), self._room):
            return []
        form = PROCESS if name.endswith(("_v2", "_v3")) else OLD_PROCESS
        return list(form.iter_unpack(memoryview(self._room)[: form.size * min(self._count.value, _PROCESSES)]))

    def uses(self, since: int) -> list[tuple[int, ...]]:
        """(pid, microseconds of Unix time, sm, memory, encoder, decoder in per cent) of each process since then."""
        self._count.value = _PROCESSES * PROCESS.size // USE.size
        room = _PROCESSES * PROCESS.size // USE.size
        function = self.nvml.function("nvmlDeviceGetProcessUtilization")
        if function is None or function(self.handle, self._room, self._at_count, ctypes.c_ulonglong(since)):
            return []
        return list(USE.iter_unpack(memoryview(self._room)[: USE.size * min(self._count.value, room)]))

    def _ask(self, name: str, arguments: tuple[Any, ...], *outputs: Any) -> bool:
        """Whether it answered. What is not supported is not asked again; other codes are kept, and a lost card is asked no more."""
        if self.code:
            return False
        asked = (name, arguments)
        if asked not in self._functions:
            self._functions[asked] = self.nvml.function(name)
        function = self._functions[asked]
        if function is None:
            return False
        code: int = function(self.handle, *arguments, *outputs)
        if code in (NOT_SUPPORTED, NO_SYMBOL):
            self._functions[asked] = None
        elif code in (LOST, NEEDS_RESET, UNINITIALIZED):
            self.code = code
        elif code and code not in SILENT:
            self.refused[name] = code
        return code == 0
