"""No byte and no input ends in a traceback: every command, in-process, with machines, files and words made to hurt.

`hurt` has whatever goes through a command raised, which otherwise its last resort would tell in a sentence.
"""

import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
import traceback
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rigup.cli import COMMANDS, run

ODD = "caf\udce9"  # a name of bytes that are no UTF-8, as Python has it
pytestmark = pytest.mark.skipif(os.name != "posix", reason="names are text there")


class _Screen(io.TextIOWrapper):
    """What a terminal would get, through the encoding that `rigup` gives its output."""

    def __init__(self):
        super().__init__(io.BytesIO(), "utf-8", errors="backslashreplace", write_through=True)

    def text(self) -> str:
        return self.buffer.getvalue().decode()


@pytest.fixture
def hurt(monkeypatch):
    """A command line in this process: its exit status and what it said; any exception is raised."""
    monkeypatch.setenv("RIGUP_TRACEBACK", "1")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # nobody answers there: words may look like repositories
    monkeypatch.setenv("RIGUP_OLLAMA_REGISTRY", "http://127.0.0.1:9")

    def command(*words):
        screen = _Screen()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", screen)
            patch.setattr(sys, "stderr", screen)
            try:
                status = run(list(words))
            except SystemExit as ended:
                status = ended.code
        said = screen.text()
        assert isinstance(status, int)
        assert "Traceback (most recent call last)" not in said
        assert "rigup itself has a fault" not in said
        return status, said

    return command


def chain(kind: bytes, count: int = 5000) -> bytes:
    """A tar whose every header announces another header."""
    entry = tarfile.TarInfo("p")
    entry.type, entry.size = kind, 12
    return (entry.tobuf(tarfile.USTAR_FORMAT) + b"12 path=abc\n".ljust(512, b"\0")) * count


def packed(count: int = 40) -> bytes:
    """A capture as a tar."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as tar:
        for number in range(count):
            entry = tarfile.TarInfo(f"proc/{number}")
            entry.size = 3000
            tar.addfile(entry, io.BytesIO(os.urandom(3000)))
    return held.getvalue()


def spoilt(body: bytes, at: int = 0) -> bytes:
    """One byte of it is another; by default in its middle."""
    at = at or len(body) // 2
    return body[:at] + bytes([body[at] ^ 0xFF]) + body[at + 1 :]


FILES = {
    "chain of attributes": chain(b"x"),
    "chain of names": chain(b"L"),
    "chain of links": gzip.compress(chain(b"K")),
    "chain of globals": chain(b"g"),
    "deep TOML": b"x = " + b"[" * 20_000 + b"]" * 20_000,
    "deep keys": b"a." * 3_000 + b"b = 1",
    "deep JSON": b"[" * 100_000,
    "surrogates in JSON": b'{"gpus": [{"name": "\\udc80\\ud800"}], "card0": {"Card series": "\\ud83d"}}',
    "bytes": b"RuntimeError: CUDA error: no kernel image \xff\xfe\n",
    "zeros": b"\0" * 1000,
    "half of UTF-16": b"\xff\xfe\x00\xd8\x01",
    "a long line": b"x " * 1_000_000,
    "spoilt gzip": spoilt(gzip.compress(packed())),
    "cut gzip": gzip.compress(packed())[:-9],
    "spoilt tar": spoilt(packed(), 20 * 3584 + 10),
    "gzip of nothing": gzip.compress(b""),
    "empty": b"",
    "spoilt zip": b"PK\x03\x04" + b"\xff" * 100 + b"PK\x05\x06" + b"\xff" * 18,
    "xz": b"\xfd7zXZ\x00" + b"\xff" * 50,
    "bz2": b"BZh9" + b"\xff" * 50,
    "stream": b"@rigup-stream/1 x\n@file \xff\n@end",
    "escapes": "\x1b]8;;x\x1b\\\x9b31m\u202e".encode(),
}
READERS = [
    ("doctor", "--from"),
    ("doctor", "--json", "--from"),
    ("doctor", "--issue", "--from"),
    ("doctor", "-vv", "--from"),
    ("plan", "-r"),
    ("plan", "torch", "--for"),
    ("lock", "-o", "-", "-r"),
    ("apply", "-y", "--locked"),
    ("bundle", "-r"),
    ("diff", "tree"),
    ("verify",),
    ("plan", "torch", "--env"),
    ("env", "show"),
]


@pytest.mark.slow
@pytest.mark.parametrize("body", FILES.values(), ids=FILES)
def test_a_file_made_to_hurt_is_told_of_by_every_command_that_reads_one(hurt, body, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tree" / "proc").mkdir(parents=True)
    for name in ("hurting.toml", f"{ODD}.txt"):
        (tmp_path / name).write_bytes(body)
    for command in READERS:
        hurt(*command, "hurting.toml")
    hurt("doctor", "--json", "--from", f"{ODD}.txt")


@pytest.mark.parametrize("damaged", ["spoilt gzip", "cut gzip", "spoilt tar", "chain of attributes", "chain of links"])
def test_a_damaged_archive_is_not_judged_as_whole(hurt, damaged, tmp_path):
    (tmp_path / "sent.tar.gz").write_bytes(FILES[damaged])
    status, said = hurt("doctor", "--from", str(tmp_path / "sent.tar.gz"))
    assert status == 2
    assert "sent.tar.gz" in said.replace("\n", "")


def test_a_sound_archive_is_judged(hurt, tmp_path):
    for name, body in (
        ("plain.tar", packed()),
        ("packed.tar.gz", gzip.compress(packed())),
        ("padded.tar.gz", gzip.compress(packed()) + b"\0" * 500),
    ):
        (tmp_path / name).write_bytes(body)
        assert hurt("doctor", "--from", str(tmp_path / name))[0] == 0


@pytest.fixture
def odd_machine(tmp_path, monkeypatch):
    """A folder, a variable, an environment and a captured tree full of bytes that are no text; one stands in the folder."""
    here = tmp_path / ODD
    site = here / "env" / "lib" / "python3.11" / "site-packages"
    for folder in (
        here / "tree" / "proc",
        here / "tree" / "etc",
        here / "env" / "bin",
        site / f"{ODD}-1.0.dist-info",
        site / "torch-2.4.0.dist-info",
    ):
        folder.mkdir(parents=True)
    monkeypatch.chdir(here)
    monkeypatch.setenv("ODD", f"x{ODD}")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(here))
    monkeypatch.setenv("VIRTUAL_ENV", str(here / "env"))
    (here / "env" / "pyvenv.cfg").write_bytes(b"home = /usr/\xff\nversion = 3.11.\xff\n")
    (here / "env" / "bin" / "python").symlink_to(sys.executable)
    (site / "torch-2.4.0.dist-info" / "METADATA").write_bytes(b"Name: torch\nVersion: 2.4.0\nAuthor: \xff\n\n")
    (site / "torch-2.4.0.dist-info" / "direct_url.json").write_text('{"url": "\\udc80"}')
    (here / "env" / "rigup.json").write_text('{"schema": "rigup.environment/1", "wish": ["\\ud800"]}')
    tree = here / "tree"
    (tree / "etc" / "os-release").write_bytes(b'NAME="\xff"\nID=ubuntu\n')
    (tree / "proc" / ODD).write_bytes(b"\xff")
    (tree / "etc" / f"l{ODD}").symlink_to(f"/nowhere/{ODD}")
    (tree / "commands.json").write_text(
        '[{"argv": ["nvidia-smi", "-L"], "stdout": "GPU 0: \\ud800 (UUID: \\udcff)"}, {"argv": ["env"], "stdout": "A=\\udc80"}]'
    )
    (tree / "who.json").write_text(
        '{"environment": {"\\ud800": "\\udc80", "LD_LIBRARY_PATH": "/x\\udc80"}, "user": "\\ud800", "groups": ["\\ud801"], "id": 3}'
    )
    (tree / "links.json").write_text('{"/proc/\\ud800": "/etc/\\udc80\\u0000", "/dev": 3}')
    (tree / "nodes.json").write_text('{"/dev/\\ud800": {"mode": "\\ud800", "owner": "\\udc80"}}')
    return here


ODD_COMMANDS = [
    ("doctor",),
    ("doctor", "--json"),
    ("doctor", "--html", "o.html"),
    ("doctor", "--issue"),
    ("doctor", "--from", "tree"),
    ("doctor", "--from", "tree", "-vv"),
    ("doctor", "--from", "tree", "--json"),
    ("doctor", "--from", "tree", "--html", "t.html"),
    ("doctor", "--from", "tree", "--issue"),
    ("capture", "--yes", "-o", "c.tar.gz"),
    ("diff", "tree", "tree", "--json"),
    ("plan",),
    ("plan", "torch", "--env", "env"),
    ("plan", "torch", "--env", "env", "--json"),
    ("plan", "torch", "--env", f"n{ODD}", "--json"),
    ("plan", "torch", "--as", "script"),
    ("plan", "torch", "--env", f"n{ODD}", "--as", "dockerfile"),
    ("apply", "stone", "--dry-run"),
    ("apply", "stone", "-y"),
    ("apply", "stone", "-y", "--env", f"n{ODD}"),
    ("apply", "stone", "-y", "--json"),
    ("undo", "-y"),
    ("history",),
    ("history", "--json"),
    ("env", "list"),
    ("env", "list", "--json"),
    ("env", "show", "env", "--json"),
    ("env", "export", "env"),
    ("env", "clone", "env", f"c{ODD}"),
    ("env", "remove", f"c{ODD}", "-y"),
    ("env", "clean"),
    ("env", "--shell", "bash"),
    ("run", "--env", "env", "--", f"t{ODD}"),
    ("run", "--env", "env", "--", "a\0b"),
    ("serve", ODD, "--on", "cpu"),
    ("serve", f"{ODD}.gguf", "--on", "cpu"),
    ("serve", "a\0b", "--on", "cpu"),
    ("serve", ODD, "--install-service"),
    ("serve", "a\0b", "--install-service"),
    ("serve", "x", "--on", "cpu", "--api", f"http://{ODD}"),
    ("pull", ODD),
    ("pull", f"a/b/{ODD}"),
    ("pull", "a/b", "--revision", ODD),
    ("pull", "a/b", "--mirror", ODD),
    ("models",),
    ("models", "--json"),
    ("models", "--in", "."),
    ("models", "--in", ODD),
    ("models", "remove", ODD, "-y"),
    ("lock", "env", "-o", "-"),
    ("watch", ODD),
    ("watch", "--from", ODD),
    ("watch", "report", ODD),
    ("watch", "report", "/dev/null"),
    ("watch", "report", "."),
    ("watch", "--replay", ODD),
    ("watch", "--once", "--record", "."),
    ("watch", "--once", "--record", "no/folder"),
    ("watch", "--exporter", "--listen", ODD),
    ("watch", "--exporter", "--listen", "0.0.0.0:1"),
    ("watch", "--from", "."),
    ("watch", "--once", "--csv"),
    ("watch", "--once", "--json"),
    ("watch", "--count", ODD),
    ("bench", f"b{ODD}"),
    ("fit", ODD),
    ("fit", "a\0b"),
    ("fit", "."),
    ("fit", "/dev/null"),
    ("fit", "someone/nothing"),
    ("fit", "some:thing"),
    ("fit", "http://[::1"),
    ("fit", f"{ODD}.safetensors"),
    ("fit", "qwen3 8b", "--on", "RTX 3090, ram 64GB", "--html", ODD),
    ("fit", "qwen3 8b", "--on", ODD, "--train", "lora"),
    ("fit", ODD, "--engine", "vllm"),
    ("fit", f"http://{ODD}:9/{ODD}"),
    ("fit", "http://127.0.0.1:99999999/"),
    ("fit", "qwen3 8b", "--on", ODD),
    ("fit", "qwen3 8b", "--on", "/dev/null"),
    ("fit", "qwen3 8b", "--quant", ODD),
    ("fit", "x", "--tensor-split", "nan,inf"),
    ("chat", "x", ODD, "--api", f"http://{ODD}:9"),
    ("chat", "x", "y", "--api", "http://[::1"),
    ("chat", "x", ODD, "--api", "http://127.0.0.1:9"),
    ("chat", "x", "y", "--load", ODD),
    ("chat", "x", "y", "--set", f"stop={ODD}", "--api", "http://127.0.0.1:9"),
    ("chat", "x", "y", "--image", "a\0b", "--api", "http://127.0.0.1:9"),
    ("ollama", "doctor", "--from", ODD),
    ("ollama", "configure", "--set", f"OLLAMA_X={ODD}"),
    ("ollama", "configure", "--models", "/a\0b"),
    ("verify", f"v{ODD}"),
    ("explain", ODD),
    ("explain", "\ud800"),
    ("knowledge", ODD),
    ("completion", ODD),
    ("schema", ODD),
    ("schema", "\ud800"),
    ("plan", ODD),
    ("plan", "torch", "--for", ODD),
    ("plan", "torch", "--python", ODD),
    ("fix", ODD),
    ("--lang", ODD, "doctor"),
    ("container", "run", ODD),
    ("container", "run", "torch", "--print", "--mount", ODD, "--env", ODD),
    ("container", "run", "a\0b"),
    ("container", "run", "torch", "--print", "--", "a\0b", ODD),
    ("lab", "--env", ODD),
    ("lab", "--env", "env", "--print"),
    ("lab", "--env", "env", "--print", "--json"),
    ("lab", "--dir", "a\0b"),
    ("lab", "--host", "-" + ODD),
    ("lab", "--container", ODD),
    ("lab", "--container", "a\0b", "--print"),
    ("lab", "--container", "torch", "--gpus", ODD, "--print"),
    ("lab", "--container", "torch", "--print", "--json"),
    ("lab", "kernels"),
    ("lab", "kernels", "--json"),
    ("lab", "kernels", "remove", ODD, "-y"),
    ("lab", "kernels", "add", "env", "--name", ODD),
    ("lab", "kernels", "fix", "a\0b"),
    ("launch", ODD),
    ("launch", "run", "a\0b"),
    ("launch", "env", "--print"),
    ("launch", "stone", "--print", "--", "a\0b", ODD),
    ("launch", "status", ODD),
    ("launch", "status", "a\0b"),
    ("launch", "logs", "/dev/null"),
    ("train", "new", ODD, "x"),
    ("train", "new", "minimal", "/dev/null"),
    ("train", "new", "minimal", "a\0b"),
    ("train", "new", "lora", "x", "--partition", ODD),
    ("train",),
    ("train", ODD),
    ("train", "port", ODD),
    ("train", "port", "/dev/null"),
    ("train", "port", "a\0b", "--write", "--yes"),
    ("train", "check", ODD),
    ("train", "check", "/dev/null"),
    ("train", "check", "/dev/null", ODD),
    ("train", "check", "/dev/null", "--cluster", ODD),
    ("train", "check", "a\0b"),
    ("train", "check", "/dev/null", "/dev/null", "--fix", "--json"),
    ("advise", ODD),
    ("advise", "--scenario", ODD),
    ("advise", "--rates", ODD),
    ("advise", "--rates", "/dev/null", "--on", ODD),
    ("advise", "--rates", "/dev/null", "--work", ODD),
    ("cluster", "--from", ODD),
    ("cluster", "--from", "/dev/null"),
    ("cluster", "--html", ODD),
    ("cluster", "report", "--from", "/dev/null"),
    ("cluster", "report", "--days", ODD),
    ("cluster", ODD),
    ("container", "lint", ODD),
    ("container", "lint", "/dev/null"),
    ("container", "run", "torch", "--for", ODD),
    ("container", "run", "torch", "--gpu", ODD, "--name", ODD),
    ("doctor", "--from", ODD),
    ("doctor", "--from", "a\0b"),
    ("doctor", "--", "sh", "-c", "printf '\\377'; exit 3"),
    ("plan", "-r", "a\0b"),
    ("lock", "torch", "-o", f"{ODD}/x"),
    (ODD,),
]


@pytest.mark.slow
def test_bytes_that_are_no_text_hurt_no_command(hurt, odd_machine):
    failed = {}
    for words in ODD_COMMANDS:
        try:
            hurt(*words)[1].encode()
        except Exception as error:
            failed[words] = "".join(traceback.format_exception(error)[-4:])
    assert failed == {}
    json.loads(hurt("doctor", "--json")[1])


def test_an_environment_in_a_folder_that_is_no_text_is_refused_before_anything_is_done(hurt, odd_machine):
    status, said = hurt("apply", "stone", "-y", "--env", "new")
    assert status == 2
    assert "UTF-8" in said
    assert not (odd_machine / "new").exists()


def test_every_command_was_tried():
    tried = {words[0] for words in (*READERS, *ODD_COMMANDS)}
    assert tried >= set(COMMANDS)


# -- words and texts by chance -----------------------------------------------------------------------

# What the system can hand a program: bytes without a zero, as Python reads them.
_WORDS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12),
    st.binary(max_size=6).map(lambda body: os.fsdecode(body.replace(b"\0", b""))),
    st.sampled_from(
        [
            "torch",
            "--json",
            "--from",
            "-r",
            "--env",
            "--for",
            "-o",
            "-",
            "--",
            "-vv",
            "--as",
            "script",
            "--lang",
            "ru",
            "tree",
            "text.txt",
            "/dev/null",
            "/",
            ".",
            "..",
            "~",
            "",
            "list",
            "show",
            "export",
            "--shell",
            "bash",
            "--python",
            "3.12",
            "--in",
            "conda",
            "--dry-run",
            "--help",
            "-h",
            "-q",
            "--html",
            "torch==99",
            "torch>=",
            "stone @ file:///x",
            "[",
            "*",
            ODD,
        ]
    ),
)
_HARMLESS = sorted(
    set(COMMANDS)
    - {"launch", "run", "apply", "fix", "bench", "verify", "lock", "bundle", "capture", "undo", "pull", "serve"}
    - {"watch", "run", "apply", "fix", "bench", "verify", "lock", "bundle", "capture", "undo", "pull", "serve"}
)
_DRY = {"apply": ["--dry-run"], "fix": ["--dry-run"]}


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.sampled_from([*_HARMLESS, *_DRY]), st.lists(_WORDS, max_size=4))
def test_no_words_end_in_a_traceback(hurt, tmp_path, monkeypatch, command, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tree" / "proc").mkdir(parents=True, exist_ok=True)
    (tmp_path / "text.txt").write_bytes(b"\xff\0torch==2\n[a]\n")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe{[")))
    plain = [word for word in words if word not in ("--", "--host", "clone", "remove", "clean", "kernel")]
    if command == "doctor":  # a word that is no option would be a program to run
        plain = ["--from", "text.txt", *(word for word in plain if word.startswith("-") and word != "-o")]
    hurt(command, *_DRY.get(command, []), *plain)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.binary(max_size=400), st.sampled_from(READERS[:-3]), st.sampled_from(["x.toml", "x.txt", "x.tar.gz", "x.json", f"{ODD}.log"]))
def test_no_file_ends_in_a_traceback(hurt, tmp_path, monkeypatch, body, command, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tree" / "proc").mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_bytes(body)
    hurt(*command, name)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.binary(max_size=200), st.integers(0, 200_000), st.booleans())
def test_no_spoilt_archive_ends_in_a_traceback(hurt, tmp_path, spoiling, at, zipped):
    body = bytearray(gzip.compress(_TAR) if zipped else _TAR)
    at %= len(body)
    body[at : at + len(spoiling)] = spoiling
    (tmp_path / "sent.tar").write_bytes(body)
    hurt("doctor", "--from", str(tmp_path / "sent.tar"))


_TAR = packed(4)

# -- tables, disks, links ----------------------------------------------------------------------------

TABLES = {
    "pattern": '[[token]]\nkind = "x"\nliterals = ["a"]\nregex = "(["\nexample = "a"\nnear_miss = "b"\n',
    "no literals": '[[token]]\nkind = "x"\nliterals = []\nregex = "a"\nexample = "a"\nnear_miss = "b"\n',
    "no letters": '[[token]]\nkind = "x"\nliterals = [""]\nregex = "a"\nexample = "a"\nnear_miss = "b"\n',
    "no rows": "token = 3\n",
    "no field": '[[token]]\nkind = "x"\n',
    "no TOML": "[[[",
    "deep": "x = " + "[" * 9_000,
    "deep keys": "a." * 3_000 + "b = 1",
    "bytes": b"\xff",
    "words": '[[words]]\nabout = "kept variable"\nwords = 3\n',
}


@pytest.fixture
def own_table():
    """Where a person lays a table of secrets over the shipped one."""
    from rigup.knowledge import tables

    folder = Path(os.environ["XDG_CONFIG_HOME"], "rigup", "knowledge")
    folder.mkdir(parents=True)
    yield folder / "secrets.toml"
    (folder / "secrets.toml").unlink()
    tables.forget()


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_persons_malformed_table_of_secrets_is_told_with_its_file(own_table, table):
    from rigup.knowledge import secrets, tables

    own_table.write_bytes(table if isinstance(table, bytes) else table.encode())
    tables.forget()
    with pytest.raises(tables.KnowledgeError, match=r"secrets\.toml"):
        (secrets.tokens(), secrets.words("kept variable"))


def test_nothing_is_captured_by_a_malformed_table_of_secrets(own_table, tmp_path):
    own_table.write_text(TABLES["pattern"])
    argv = [sys.executable, "-m", "rigup", "capture", "--yes", "-o", str(tmp_path / "c.tar.gz")]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert "secrets.toml" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "c.tar.gz").exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("words", [("--version",), ("--help",), ("explain", "no-gpu-present"), ("history", "--json"), ("plan", "torch")])
def test_a_full_disk_under_the_output_is_told_in_a_sentence(words):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "rigup", *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, check=False
        )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("kind", ["link", "link to nothing", "file"])
def test_what_somebody_put_under_the_staged_name_is_removed_and_what_it_leads_to_is_not(kind, tmp_path):
    from rigup.plan.environments import staged_swap

    theirs = tmp_path / "theirs"
    (theirs / "inside").mkdir(parents=True)
    (theirs / "inside").chmod(0o500)
    staged = staged_swap.staging(tmp_path / "env")
    if kind == "file":
        staged.write_text("x")
    else:
        staged.symlink_to(theirs if kind == "link" else tmp_path / "nothing")
    staged_swap.discard(staged)
    assert not os.path.lexists(staged)
    assert (theirs / "inside").stat().st_mode & 0o777 == 0o500


def test_a_fault_of_rigups_own_is_told_in_a_sentence_and_kept_for_its_authors(monkeypatch, capsys):
    from rigup.cli import own_fault

    assert own_fault.report_fault(LookupError("x")) == 2
    said = capsys.readouterr().err
    assert "LookupError" in said
    kept = list(Path(os.environ["XDG_STATE_HOME"], "rigup", "faults").iterdir())
    assert len(kept) == 1
    assert kept[0].stat().st_mode & 0o777 == 0o600
    assert "Traceback" not in said
