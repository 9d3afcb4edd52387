"""Which engine runs a model, and why that one."""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from rigup.language import _, sentences
from rigup.llm.addresses import AddressError, endpoint_address
from rigup.llm.engines.errors import EngineError
from rigup.llm.engines.model_files import absent
from rigup.llm.engines.wish import ENDPOINT, ENGINES, LLAMA_SERVER, OLLAMA, VLLM, XLLAMACPP, StartRequest

_OLLAMA = "http://127.0.0.1:11434"
_SECONDS = 20.0
_MOST = 1 << 20


class Engine(msgspec.Struct, frozen=True, kw_only=True):
    """An engine that can run what is wished.

    Attributes:
        name: one of `ENGINES`, or "endpoint".
        program: words that start it, before its arguments; empty for one that runs already.
        address: of one that runs already, with /v1.
        why: in a sentence.

    """

    name: str
    why: str
    program: tuple[str, ...] = ()
    address: str = ""


def chosen(wish: StartRequest, environ: Mapping[str, str]) -> Engine:
    """The first engine that can run it, in the order of `ENGINES`.

    Raises:
        EngineError: none can; it says why not, one by one.

    """
    if wish.api:
        try:
            return Engine(name=ENDPOINT, why=_("You named its address."), address=endpoint_address(wish.api))
        except AddressError as error:
            raise EngineError(str(error)) from error
    refused: dict[str, str] = {}
    for name in (wish.engine,) if wish.engine else ENGINES:
        found = _FINDERS[name](wish, environ)
        if isinstance(found, Engine):
            return found
        refused[name] = f"{name}: {found}"
    if not Path(wish.model).exists():
        raise EngineError(sentences(absent(wish.model), refused.get(OLLAMA, "")))
    text = _("No engine here can run {model}. {refused}")
    raise EngineError(text.format(model=wish.model, refused=" ".join(refused.values())))


def _llama_server(wish: StartRequest, environ: Mapping[str, str]) -> Engine | str:
    if not _is_gguf(wish.model):
        return _("it runs GGUF files alone.")
    named = wish.program or "llama-server"
    found = shutil.which(named, path=environ.get("PATH", os.defpath))
    if found is None:
        return _("there is no program {name}.").format(name=named)
    return Engine(name=LLAMA_SERVER, program=(found,), why=_("{program} is on this machine, and is built for it.").format(program=found))


def _xllamacpp(wish: StartRequest, environ: Mapping[str, str]) -> Engine | str:
    if not _is_gguf(wish.model):
        return _("it runs GGUF files alone.")
    python = wish.python or sys.executable
    if not _has(python, "xllamacpp", environ):
        return _("{python} has no package xllamacpp: `pip install 'rigup[llm]'` brings it.").format(python=python)
    why = _("No llama-server is on this machine, and {python} has xllamacpp.").format(python=python)
    if wish.engine:
        why = _("You asked for it.")
    return Engine(name=XLLAMACPP, program=(python, "-I"), why=why)


def _ollama(wish: StartRequest, environ: Mapping[str, str]) -> Engine | str:
    if _is_gguf(wish.model) or Path(wish.model).is_dir():
        return _("it runs what it pulled itself.")
    if wish.draft:
        return _("it is given no draft model here, llama.cpp is.")
    address = ollama_address(environ)
    held = _names(address)
    if held is None:
        return _("nothing answers at {address}.").format(address=address)
    name = wish.model if ":" in wish.model else wish.model + ":latest"
    if name not in held:
        return _("it has no model {name}.").format(name=name)
    return Engine(name=OLLAMA, address=address + "/v1", why=_("ollama runs here and has the model."))


def _vllm(wish: StartRequest, environ: Mapping[str, str]) -> Engine | str:
    if not (Path(wish.model) / "config.json").is_file():
        return _("it runs folders with a config.json.")
    if wish.draft:
        return _("it is given no draft model here, llama.cpp is.")
    found = shutil.which(wish.program or "vllm", path=environ.get("PATH", os.defpath))
    if found is not None:
        program: tuple[str, ...] = (found,)
    elif _has(wish.python or sys.executable, "vllm", environ):
        program = (wish.python or sys.executable, "-m", "vllm.entrypoints.cli.main")
    else:
        return _("there is no program {name}.").format(name=wish.program or "vllm")
    return Engine(name=VLLM, program=program, why=_("vLLM is here, and the model is in its form."))


_FINDERS = {LLAMA_SERVER: _llama_server, XLLAMACPP: _xllamacpp, OLLAMA: _ollama, VLLM: _vllm}


def _is_gguf(word: str) -> bool:
    return word.endswith(".gguf") or _begins_so(word)


def _begins_so(word: str) -> bool:
    try:
        with open(word, "rb") as file:
            return file.read(4) == b"GGUF"
    except OSError:
        return False


def _has(python: str, package: str, environ: Mapping[str, str]) -> bool:
    """Whether an interpreter has a package; another one is asked without importing it."""
    if python == sys.executable:
        return importlib.util.find_spec(package) is not None
    asked = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({package!r}) is None)"
    try:
        done = subprocess.run([python, "-I", "-c", asked], env=dict(environ), capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def ollama_address(environ: Mapping[str, str]) -> str:
    """Where ollama listens, as its own clients know it."""
    address = environ.get("OLLAMA_HOST", "").strip().rstrip("/")
    if not address:
        return _OLLAMA
    address = address if "://" in address else "http://" + address
    address = address.replace("://0.0.0.0", "://127.0.0.1")
    return address if address.rpartition(":")[2].isdecimal() else address + ":11434"


def _names(address: str) -> set[str] | None:
    """The models that ollama has; None where it does not answer."""
    import urllib.request

    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(address + "/api/tags", timeout=3.0) as answer:
            reply = msgspec.json.decode(answer.read(_MOST))
    except (OSError, ValueError):
        return None
    rows = reply.get("models") if isinstance(reply, dict) else None
    return {str(row.get("name")) for row in rows or () if isinstance(row, dict)}
