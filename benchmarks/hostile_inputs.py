"""Inputs that mean no good, over all commands: made of a seed, never stored.

`inputs()` names them; each is made in a folder of its own when it is run. What is large is told apart, for it takes long.
"""

import io
import itertools
import json
import os
import random
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from adversary import misleading

from rigup.knowledge.doctor_tables import signatures

REPORT = (Path(__file__).parent / "data" / "report.txt").read_bytes()
MEGA = 1_000_000
CONTROLS = (
    "\x1b]52;c;cm0gLXJmIH4=\x07",
    "\x1b]52;c;cm0gLXJmIH4=\x1b\\",
    "\x1b]8;;http://evil.example\x1b\\here\x1b]8;;\x1b\\",
    "\x1bc",
    "\x1b[2J\x1b[H",
    "\x1b]0;title\x07",
    "\x1b[?1049h",
    "\x1b[?25l",
    "\x1bP+q544e\x1b\\",
    "\x1b_Ga=T\x1b\\",
    "\x9b2J",
    "\x9d52;c;AAAA\x9c",
    "\x90q\x9c",
    "\x07",
    "\x08" * 40,
    "\x0e",
    "\u202e",
    "\u2066",
    "\u200f",
    "\u2028",
    "\x7f",
    "\r",
    "\x1b[6n",
    "\x1b]4;1;?\x07",
    "\x1b#8",
)
WORDS = (
    "a",
    "x1-",
    "password",
    "login=",
    "glpat-",
    "ssh ",
    "@",
    "user@",
    "nvidia",
    "CUDA",
    "GPU ",
    "error: ",
    "://",
    "hf_",
    "serial:",
    "0x",
    "1.",
    "\u4e2d",
    "=",
    '"',
    "[",
    "/home/",
    "RuntimeError",
    "-----BEGIN ",
    "\x1b]8;;a\x1b\\",
)
SAID = (
    "NVRM: Xid (PCI:0000:01:00): 31, pid=42, name={x}, Ch 00000008\n",
    "ImportError: libcud{x}nn.so.9: cannot open shared object file\n",
    "Name: torch\nVersion: 2.9.1{x}\nLocation: /home/{x}\n",
    "CUDA_VISIBLE_DEVICES={x}\nLD_LIBRARY_PATH=/opt/{x}\n",
    "[1.0] nvidia 0000:01:00.0: probe of {x} failed with error -1\n",
    "GPU 0: NVIDIA {x} A100 (UUID: GPU-{x})\n",
    "01:00.0 VGA compatible controller [0300]: NVIDIA Corporation {x} [10de:2204]\n\tKernel driver in use: {x}\n",
    'PRETTY_NAME="{x}"\nID={x}\n',
    "RuntimeError: CUDA error: {x}no kernel image is available for execution on the device\n",
    "OSError: [Errno 28] No space left on device: '/{x}'\n",
)


class Input(NamedTuple):
    """`made` puts files into a folder and gives rigup's words, what stands on standard input, and variables."""

    name: str
    made: Callable[[Path], "Given"]
    large: bool = False
    own_words: bool = False  # a program prints for itself: what it does to the terminal is its own


class Given(NamedTuple):
    """How rigup is called."""

    words: tuple[str | bytes, ...]
    piped: bytes = b""
    variables: Mapping[bytes, bytes] = MappingProxyType({})


def inputs() -> Iterator[Input]:
    """All of them, in an order that mixes kinds."""
    found = [
        *_controls(),
        *_large(),
        *_misleading(),
        *_trees(),
        *_archives(),
        *_streams(),
        *_files(),
        *_states(),
        *_variables(),
        *_odd_texts(),
    ]
    random.Random(25).shuffle(found)
    yield from found


def _text(name: str, body: Callable[[], bytes], *words: str, large: bool = False) -> Input:
    def made(folder: Path) -> Given:
        (folder / "text.log").write_bytes(body())
        return Given(tuple(str(folder / "text.log") if word == "FILE" else word.replace("FOLDER", str(folder)) for word in words))

    return Input(name, made, large)


_DOCTOR = ("doctor", "--from", "FILE")
_WAYS: tuple[tuple[str, ...], ...] = (
    _DOCTOR,
    (*_DOCTOR, "-vv"),
    (*_DOCTOR, "--json"),
    (*_DOCTOR, "--issue"),
    (*_DOCTOR, "--devices"),
    (*_DOCTOR, "--html", "FOLDER/page.html"),
    ("capture", "--from", "FILE", "--list"),
    ("capture", "--from", "FILE", "-y", "-o", "FOLDER/c.tar.gz"),
    ("fix", "--from", "FILE"),
    ("plan", "--for", "FILE", "--no-resolve"),
)


def _controls() -> Iterator[Input]:
    """What a terminal obeys, inside what readers take for a value."""
    for number, (control, said) in enumerate(itertools.product(CONTROLS, SAID)):
        way = _WAYS[(number + number // len(SAID)) % len(_WAYS)]
        yield _text(
            f"control {control!a} in {said[:14]!r} {way[0]} {way[-1]}", lambda c=control, s=said: s.format(x="a" + c + "b").encode(), *way
        )  # type: ignore[misc]


def _large() -> Iterator[Input]:
    for number, word in enumerate(WORDS):
        for way in (_DOCTOR, (*_DOCTOR, "--issue")) if number % 3 == 0 else (_WAYS[number % 8],):
            yield _text(
                f"8 MB of {word!a} {way[0]} {way[-1]}", lambda w=word: (w * (8 * MEGA // len(w))).encode()[: 8 * MEGA], *way, large=True
            )  # type: ignore[misc]
    listings = {
        "nvidia-smi -L": lambda i: f"GPU {i}: NVIDIA A100-SXM4-80GB (UUID: GPU-{i:08x}-1111-2222-3333-{i:012x})\n",
        "lspci": lambda i: (
            f"{i // 8192:04x}:{i // 32 % 256:02x}:{i % 32:02x}.0 3D controller [0302]: NVIDIA Corporation GA100 [10de:20b2]\n"
        ),
        "rocminfo": lambda i: f"Agent {i}\n  Name: gfx90a\n  Marketing Name: AMD Instinct MI250X\n  Node: {i}\n  Device Type: GPU\n",
        "nodes": lambda i: f"node{i % 2000}: GPU 0: NVIDIA A100 (UUID: GPU-{i:08x}-1111-2222-3333-{i:012x})\n" * 6,
        "variables": lambda i: f"CUDA_{i}=/usr/local/{i}\n",
        "packages": lambda i: f"torch{i}==2.{i}.1+cu{i}\nnvidia-cublas-cu12=={i}.1\n",
        "Xids": lambda i: f"[{i}.1] NVRM: Xid (PCI:0000:{i % 256:02x}:00): {i % 150}, pid={i}, name=p{i}\n",
        "libraries": lambda i: f"\tlibcudnn{i}.so.9 (libc6,x86-64) => /usr/lib/{i}/libcudnn{i}.so.9\n",
        "containers": lambda i: f"root@{i:012x}:/# nvidia-smi\nroot@c{i}:/# docker run --gpus all x{i} nvidia-smi\n",
        "unnamed cards": lambda i: f"GPU: NVIDIA GeForce RTX {1000 + i}\n",
    }
    for name, line in listings.items():
        for way in (_DOCTOR, (*_DOCTOR, "--json", "-vv")):
            yield _text(f"4,000 {name} {way[-1]}", lambda one=line: "".join(map(one, range(4000))).encode(), *way, large=True)  # type: ignore[misc]
    yield Input("390 texts of a megabyte", _many_texts, large=True)
    yield _text("12 MB of lines that all differ", lambda: _different(12 * MEGA), *_DOCTOR, large=True)
    yield _text("a line of 200 MB", lambda: b"x" * 200 * MEGA, *_DOCTOR, large=True)
    yield _text("a line of 200 MB, captured", lambda: b"x" * 200 * MEGA, "capture", "--from", "FILE", "--list", large=True)
    yield _text("links without end", lambda: b"\x1b]8;;a\x1b\\" * 40_000 + REPORT, *_DOCTOR, large=True)
    yield _text("half links", lambda: b"\x1b]8;;" * 200_000 + REPORT, *_DOCTOR, large=True)


def _different(size: int) -> bytes:
    chance = random.Random(1)
    known = ["".join(chance.choices("abcdefghijklmnop", k=chance.randint(3, 9))) for _ in range(5000)]
    return "\n".join(" ".join(chance.choices(known, k=12)) for _ in range(size // 80)).encode()[:size]


def _many_texts(folder: Path) -> Given:
    body = _different(MEGA)
    (folder / "texts").mkdir()
    for number in range(390):
        (folder / "texts" / f"{number}.log").write_bytes(b"%d" % number + REPORT + body)
    return Given(("doctor", "--from", str(folder / "texts")))


def _misleading() -> Iterator[Input]:
    """A megabyte of what many signatures have to look at for long."""
    for seed in range(30):
        way = _WAYS[seed % 4]
        yield _text(f"misleading {seed}", lambda s=seed: _mixed(s), *way, large=seed < 15)  # type: ignore[misc]


def _mixed(seed: int) -> bytes:
    chance = random.Random(seed)
    pieces = [chance.choice(misleading(row.regex)) for row in chance.sample(signatures(), 120)]
    size = MEGA if seed < 15 else MEGA // 10
    body = (" " if seed % 3 == 0 else "\n").join(chance.choice(pieces) for _ in range(200))
    return (body * (size // max(1, len(body)) + 1)).encode("utf-8", "replace")[:size]


def _odd_texts() -> Iterator[Input]:
    odd = {
        "nothing": b"",
        "blanks": b" \n" * 9000,
        "NULs": b"\x00" * 9000,
        "bytes": bytes(range(256)) * 400,
        "half UTF-16": b"\xff\xfea\x00b",
        "no UTF-8": REPORT.replace(b"GPU", b"G\xffU"),
        "surrogates": b"\xed\xa0\x80" * 900 + REPORT,
        "deep JSON": b"[" * 100_000,
        "deep object": b'{"a":' * 50_000,
        "deep XML": b"<nvidia_smi_log>" + b"<gpu>" * 50_000,
        "long number": b"Driver Version: " + b"9" * 100_000,
        "JSON of digits": b'{"a": ' + b"9" * 100_000 + b"}",
        "holes": REPORT.replace(b"torch", b"{0.__class__}%s%n$(id)`id`"),
        "backslashes": b"\\" * 100_000 + REPORT,
    }
    for (name, body), way in itertools.product(odd.items(), (_DOCTOR, (*_DOCTOR, "--issue"), ("capture", "--from", "FILE", "--list"))):
        yield _text(f"{name} {way[0]} {way[-1]}", lambda b=body: b, *way)  # type: ignore[misc]
    for name, body in odd.items():
        yield Input(f"{name} piped", lambda _folder, b=body: Given(("doctor", "--from", "-"), b))  # type: ignore[misc]
        yield Input(f"{name} of a program", lambda folder, b=body: _program(folder, b), own_words=True)  # type: ignore[misc]


def _program(folder: Path, body: bytes) -> Given:
    (folder / "said").write_bytes(body)
    return Given(("doctor", "--", "sh", "-c", "cat " + str(folder / "said") + "; exit 3"))


def _trees() -> Iterator[Input]:
    made: dict[str, Callable[[Path], None]] = {
        "a loop of links": _looped,
        "a link out": lambda t: (t / "proc").symlink_to("/proc"),
        "names without UTF-8": _bad_names,
        "deep folders": lambda t: (t / ("proc/" + "a/" * 900)).mkdir(parents=True),
        "commands that are none": lambda t: _write(
            t, "commands.json", b'[1, {"argv": [1, null]}, {"argv": "x"}, {"argv": ["nvidia-smi"], "stdout": {"a": 1}}]'
        ),
        "deep commands": lambda t: _write(t, "commands.json", b"[" * 100_000),
        "an environment of numbers": lambda t: _write(t, "who.json", b'{"environment": {"CUDA_HOME": [1]}, "groups": 7}'),
        "nodes of numbers": lambda t: _write(t, "nodes.json", b'{"/dev/nvidia0": {"mode": [], "owner": 1, "acl": 5}}'),
        "5,000 cards": _many_cards,
        "a fifo": lambda t: os.mkfifo(t / "proc"),
        "files that are folders": lambda t: (t / "proc" / "version").mkdir(parents=True),
        "lone surrogates": lambda t: _write(t, "who.json", b'{"environment": {"CUDA_HOME": "\\ud800"}, "user": "\\udfff"}'),
        "odd kernel log": lambda t: _write(
            t, "commands.json", json.dumps([{"argv": ["dmesg"], "stdout": "\x1b]52;c;AA\x07NVRM: \u202e"}]).encode()
        ),
    }
    ways = (("doctor", "--from"), ("doctor", "--json", "--from"), ("capture", "--list", "--from"), ("doctor", "--issue", "--from"))
    for (name, make), way in itertools.product(made.items(), ways):
        yield Input(f"a tree with {name} {way}", lambda folder, m=make, w=way: _tree(folder, m, w), large="5,000" in name)  # type: ignore[misc]
    for name, make in made.items():
        yield Input(f"a tree with {name} compared", lambda folder, m=make: _compared(folder, m), large="5,000" in name)  # type: ignore[misc]


def _tree(folder: Path, make: Callable[[Path], None], way: tuple[str, ...]) -> Given:
    tree = folder / "tree"
    tree.mkdir()
    _write(tree, "etc/os-release", b"ID=debian\n")
    make(tree)
    return Given((*way, str(tree)))


def _compared(folder: Path, make: Callable[[Path], None]) -> Given:
    tree = str(_tree(folder, make, ()).words[0])
    (folder / "report.txt").write_bytes(REPORT)
    return Given(("diff", tree, str(folder / "report.txt")))


def _write(tree: Path, name: str, body: bytes) -> None:
    (tree / name).parent.mkdir(parents=True, exist_ok=True)
    (tree / name).write_bytes(body)


def _looped(tree: Path) -> None:
    (tree / "sys").symlink_to("proc")
    (tree / "proc").symlink_to("sys")


def _bad_names(tree: Path) -> None:
    for name in (b"\xff\xfe", b"\x1b]0;x\x07", b"card\n0"):
        folder = bytes(tree) + b"/sys/class/drm/" + name
        os.makedirs(folder)


def _many_cards(tree: Path) -> None:
    for number in range(5000):
        folder = f"sys/bus/pci/devices/{number // 8192:04x}:{number // 32 % 256:02x}:{number % 32:02x}.0/"
        _write(tree, folder + "vendor", b"0x10de\n")
        _write(tree, folder + "class", b"0x030200\n")


def _archives() -> Iterator[Input]:
    made: dict[str, Callable[[], bytes]] = {
        "a bomb": lambda: _gzip(_tar({"proc/version": b"\x00" * 30 * MEGA})),
        "a zip bomb": lambda: _zip({"proc/version": b"\x00" * 300 * MEGA}),
        "50,000 members": lambda: _gzip(_tar({f"proc/{n}": b"" for n in range(50_000)})),
        "names that lead out": lambda: _tar({"../../etc/x": b"a", "/etc/y": b"b"}),
        "odd names": lambda: _tar({"proc/\x1b]0;x\x07": b"a", "proc/\udcff": b"b"}),
        "a damaged middle": lambda: _damaged(_gzip(_tar({"proc/version": REPORT * 90}))),
        "an end cut off": lambda: _gzip(_tar({"proc/version": REPORT * 90}))[:-900],
        "headers in a chain": lambda: _chained(900),
        "a gzip of a gzip": lambda: _gzip(_gzip(REPORT)),
        "a report alone": lambda: _gzip(REPORT),
        "a zip of odd names": lambda: _zip({"\x1bc": b"a", "a" * 5000: b"b"}),
        "a zip cut off": lambda: _zip({"a": REPORT})[:-30],
    }
    for (name, make), way in itertools.product(
        made.items(), (_DOCTOR, ("capture", "--from", "FILE", "--list"), ("plan", "--for", "FILE", "--no-resolve"))
    ):
        yield _text(f"an archive: {name} {way[0]}", make, *way, large="bomb" in name or "members" in name)


def _tar(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, body in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(body)
            archive.addfile(info, io.BytesIO(body))
    return packed.getvalue()


def _chained(count: int) -> bytes:
    """Long names that name long names."""
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 10
    return (info.tobuf(tarfile.GNU_FORMAT) + b"proc/x\x00".ljust(512, b"\x00")) * count


def _zip(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in files.items():
            archive.writestr(name, body)
    return packed.getvalue()


def _gzip(body: bytes) -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    return packer.compress(body) + packer.flush()


def _damaged(packed: bytes) -> bytes:
    half = len(packed) // 2
    return packed[:half] + b"\x00" * 64 + packed[half + 64 :]


def _streams() -> Iterator[Input]:
    head = "@rigup-stream/1 posix\n"
    made: dict[str, Callable[[], str]] = {
        "190,000 entries": lambda: (
            head + "".join(f"@there /sys/a{n % 400}/b{n}\n@folder /proc/x{n}/f\n" for n in range(95_000)) + "@done 0\n"
        ),
        "64,000 files": lambda: head + "".join(f"@file /sys/a{n % 400}/b{n}\n|x.\n@end 0\n" for n in range(64_000)) + "@done 0\n",
        "deep paths": lambda: head + "".join(f"@there /{'/'.join(f'{n}a' for _ in range(39))}\n" for n in range(9000)) + "@done 0\n",
        "links that meet": lambda: (
            head
            + "@list /sys\n"
            + "".join(f"|lrwxrwxrwx 1 root root 0 /sys/a{n} -> /sys/a{n + 1}\n" for n in range(15_000))
            + "|.\n@end 0\n@done 0\n"
        ),
        "paths that lead out": lambda: head + "@file /../../etc/x\n|a.\n@end 0\n@there /proc/\x1bc\n@done 0\n",
        "nothing": lambda: head,
        "odd variables": lambda: head + "@variables\n@variable CUDA_HOME\n|/opt/\x1b]52;c;AA\x07\u202e.\n@end 0\n@done 0\n",
        "odd answers": lambda: (
            head
            + "@run nvidia-smi\n|\x1b[2J NVIDIA-SMI \x9b2J 535.1.\n@exit 0\n@end 0\n@run id\n|uid=0(\x1bc) groups=0(\x07).\n@exit 0\n@end 0\n@done 0\n"
        ),
        "30 MB of a file": lambda: head + "@file /proc/version\n" + "|aaaaaaaaaa\n" * 2_700_000 + "@end 0\n@done 0\n",
    }
    for (name, make), way in itertools.product(made.items(), (_DOCTOR, (*_DOCTOR, "--issue"), ("capture", "--from", "FILE", "--list"))):
        large = any(part in name for part in ("000", "deep", "meet", "MB"))
        yield _text(f"a stream: {name} {way[0]} {way[-1]}", lambda m=make: m().encode(), *way, large=large)  # type: ignore[misc]


def _files() -> Iterator[Input]:
    """Files that say what a person wants, and records that others made."""
    odd = {
        "deep": b"a = " + b"[" * 50_000,
        "no UTF-8": b'a = "\xff"\n',
        "of numbers": b"[project]\ndependencies = 7\nname = []\n",
        "a control": b"torch\x1b]0;x\x07==2\n",
        "itself": b"-r text.log\n",
        "long": b"a" * 2 * MEGA,
        "many": b"".join(b"pkg%d==1\n" % n for n in range(20_000)),
        "empty": b"",
        "braces": b"{" * 90_000,
        "a lock of numbers": b'lock-version = "1.0"\npackages = [1, "a", {name = 3}]\n',
        "a bad table": b"[a\n",
        "a URL": b"torch @ file:///dev/zero\n-e git+ssh://x\n",
    }
    profile = "RTX 3090, driver 550.163.01, ubuntu 22.04, python 3.12"
    for name, body in odd.items():
        yield _text(f"requirements: {name}", lambda b=body: b, "plan", "-r", "FILE", "--for", profile, "--no-resolve")  # type: ignore[misc]
        yield _text(f"a lock: {name}", lambda b=body: b, "apply", "--locked", "FILE", "--dry-run", "--env", "FOLDER/env")  # type: ignore[misc]
        yield _text(f"a run to compare: {name}", lambda b=body: b, "bench", "--list", "--compare", "FILE")  # type: ignore[misc]
        yield Input(f"a profile: {name}", lambda folder, b=body: _named(folder, "m.toml", b, "plan", "--for", "FILE", "--no-resolve"))  # type: ignore[misc]
        yield Input(
            f"a pyproject: {name}",
            lambda folder, b=body: _named(folder, "pyproject.toml", b, "plan", "-r", "FILE", "--for", profile, "--no-resolve"),
        )  # type: ignore[misc]
    for control in CONTROLS[:12]:
        yield Input(f"explain {control!a}", lambda _folder, c=control: Given(("explain", "CUDA error" + c)))  # type: ignore[misc]
        yield Input(f"knowledge {control!a}", lambda _folder, c=control: Given(("knowledge", "RTX" + c)))  # type: ignore[misc]
        yield Input(f"for {control!a}", lambda _folder, c=control: Given(("plan", "--for", "RTX 3090" + c, "--no-resolve")))  # type: ignore[misc]
    yield Input("explain 100 KB", lambda _folder: Given(("explain", "CUDA error no kernel image " * 4000)))


def _named(folder: Path, name: str, body: bytes, *words: str) -> Given:
    (folder / name).write_bytes(body)
    return Given(tuple(str(folder / name) if word == "FILE" else word for word in words))


def _states() -> Iterator[Input]:
    """What rigup reads of its own, as somebody else left it."""
    odd = {
        "deep": b"[" * 100_000,
        "no UTF-8": b'{"a": "\xff"}\n',
        "numbers": b"7\n",
        "a list": b"[[], {}]\n",
        "a control": b'{"wish": "\\u001b]0;x\\u0007", "step": "\x1bc"}\n',
        "long": b'{"a": "' + b"x" * MEGA,
    }
    for (name, body), words in itertools.product(odd.items(), (("history",), ("undo", "--dry-run"), ("env", "list"))):
        yield Input(f"a record: {name} {words[0]}", lambda folder, b=body, w=words: _record(folder, b, w))  # type: ignore[misc]
    for name, body in odd.items():
        yield Input(f"an environment: {name}", lambda folder, b=body: _environment(folder, b))  # type: ignore[misc]
        yield Input(f"a table of one's own: {name}", lambda folder, b=body: _overlay(folder, b))  # type: ignore[misc]


def _record(folder: Path, body: bytes, words: tuple[str, ...]) -> Given:
    for name in ("runs/1/journal.jsonl", "runs/2026-11-24T00-00-00/journal.jsonl", "history/1.json"):
        _write(folder, "state/rigup/" + name, body)
    return Given(words, variables={b"XDG_STATE_HOME": bytes(folder / "state")})


def _environment(folder: Path, body: bytes) -> Given:
    for name in ("rigup.json", "pyvenv.cfg", "conda-meta/history", "lib/python3.12/site-packages/torch-2.dist-info/METADATA"):
        _write(folder, "env/" + name, body)
    return Given(("env", "show", str(folder / "env")))


def _overlay(folder: Path, body: bytes) -> Given:
    for name in ("secrets.toml", "gpus_nvidia.toml", "causes/driver.toml"):
        _write(folder, "config/rigup/knowledge/" + name, body)
    (folder / "report.txt").write_bytes(REPORT)
    return Given(("doctor", "--from", str(folder / "report.txt")), variables={b"XDG_CONFIG_HOME": bytes(folder / "config")})


def _variables() -> Iterator[Input]:
    odd = {
        "no UTF-8": b"/opt/\xff",
        "a control": b"/opt/\x1b]52;c;AA\x07",
        "long": b"/x" * 50_000,
        "two ways": "/opt/\u202ecba".encode(),
        "a line end": b"/opt\nGPU 0: x",
    }
    names = (b"CUDA_HOME", b"LD_LIBRARY_PATH", b"VIRTUAL_ENV", b"CUDA_VISIBLE_DEVICES", b"HOME")
    ways = (("doctor",), ("doctor", "--json"), ("doctor", "--issue"), ("capture", "--list"), ("run", "--show", "--no-env", "--", "true"))
    for number, ((name, value), variable) in enumerate(itertools.product(odd.items(), names)):
        way = ways[number % len(ways)]
        yield Input(f"{variable.decode()}: {name} {way}", lambda _folder, v=variable, b=value, w=way: Given(w, variables={v: b}))  # type: ignore[misc]
