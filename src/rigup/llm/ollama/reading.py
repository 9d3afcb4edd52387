"""ollama's service as it is looked at: the machine, the log of its last start, and the environment of its process."""

import re
from typing import NamedTuple

from rigup.language import _
from rigup.machine.facts import Place
from rigup.machine.host import Host
from rigup.machine.sources import Source, open_source
from rigup.machine.texts import Text
from rigup.schemas.ollama import Computes

SERVICE = "service:ollama"
UNIT = "unit:ollama"
RELEVANT = re.compile(
    r"(?:OLLAMA|HSA|HIP|ROCR|CUDA|GPU|GGML|AMD|NVIDIA)_\w{1,60}|(?:HTTPS?|NO|ALL)_PROXY|(?:https?|no|all)_proxy|LD_LIBRARY_PATH"
)
_JOURNAL = ("journalctl", "-u", "ollama", "-b", "-o", "short", "--no-pager", "-n", "5000")
_LOGS = ("/Library/Logs/ollama.log",)
_LOGS_AT_HOME = (".ollama/logs/server.log", "AppData/Local/Ollama/server.log")
_PAIR = re.compile(r"\b(\w{2,30})=(\"(?:[^\"\\\n]|\\.){0,200}\"|[^\s\"]{1,200})")
_SIZE = re.compile(r"(\d{1,7}(?:\.\d{1,3})?) ?([KMGT]?)i?B")
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
_STARTED = "server config"
_MOST_PROCESSES = 8


class Read(NamedTuple):
    """What was looked at.

    Attributes:
        host: the machine that can be asked; None where only texts are there.
        sources: for a look, the log and the environment among them.
        log: of the last start; "" where none could be read.
        environment: of the server's process; None where nobody could see it.
        running: whether a process of it was seen; None where nobody could look.
        unseen: what could not be read, and what would show it.

    """

    host: Host | None
    sources: list[Source]
    log: str
    environment: dict[str, str] | None
    running: bool | None
    unseen: list[str]


def read(source: str | None) -> Read:
    """Look at this machine (None), or at a capture, a report or a log. Raises SourceError."""
    sources = open_source(source)
    host = next((source.host for source in sources if source.host is not None), None)
    if host is None:
        log = "\n".join(text.body for source in sources for text in source.texts)
        return Read(None, sources, last_start(log), None, None, [])
    kept = "\n".join(answer.output for answer in host.recorded() if answer.argv[0] == "journalctl" and "ollama" in answer.argv)
    log, unseen = (last_start(kept), []) if kept else _log(host)
    running, environment = _process(host)
    if running and environment is None and _STARTED not in log:
        unseen.append(
            _("The environment of the server's process may be read by its user and by root alone: `sudo rigup ollama doctor` shows it.")
        )
    texts = [*_texts("log of ollama", "" if kept else log, ""), *_texts("environment of ollama", _as_env(environment), SERVICE)]
    place = next(source.place for source in sources if source.host is host)
    with_texts = [
        source._replace(texts=(*source.texts, *texts)) if source.host is host and source.place == place else source for source in sources
    ]
    return Read(host, with_texts, log, environment, running, unseen)


def _texts(name: str, body: str, process: str) -> list[Text]:
    from rigup.machine.paste import texts_of

    return texts_of(name, body, Place(process=process)) if body else []


def _as_env(environment: dict[str, str] | None) -> str:
    """As `env` prints it; what has nothing to do with ollama stays out."""
    kept = {name: value for name, value in (environment or {}).items() if RELEVANT.fullmatch(name)}
    return "$ env\nPATH=/usr/bin\n" + "".join(f"{name}={value}\n" for name, value in kept.items()) if kept else ""


def last_start(log: str) -> str:
    """The log since the server's last start, or the whole where none is in it: what was before is no more so."""
    lines = log.splitlines()
    starts = [number for number, line in enumerate(lines) if _STARTED in line]
    return "\n".join(lines[starts[-1] :] if starts else lines)


def _log(host: Host) -> tuple[str, list[str]]:
    """The log of its last start, and what to say where there is none."""
    body = host.run(_JOURNAL, 10.0).body or ""
    if " ollama[" in body:
        return last_start(body), []
    homes = [line[5:] for line in (host.variables().body or "").splitlines() if line.startswith("HOME=")]
    for path in (*_LOGS, *(f"{home}/{name}" for home in homes for name in _LOGS_AT_HOME)):
        if found := host.read(path).body:
            return last_start(found), []
    if "permission" in body.lower():
        return "", [
            _(
                "The journal of the service may not be read by you: `sudo rigup ollama doctor`, or membership of the group systemd-journal, shows what ollama says of your GPU."
            )
        ]
    return "", [
        _(
            "No log of ollama was found. Where it runs in a container, `docker logs ollama > ollama.log` and `rigup ollama doctor --from ollama.log` show what it says of your GPU."
        )
    ]


def _process(host: Host) -> tuple[bool | None, dict[str, str] | None]:
    """Whether the server runs, and its environment as far as it may be read."""
    group = host.read("/sys/fs/cgroup/system.slice/ollama.service/cgroup.procs").body
    found = group.split() if group else []
    asked = host.run(("pgrep", "-x", "ollama"), 5.0) if not found else None
    if asked is not None and asked.body:
        found = asked.body.split()
    for pid in [name for name in found if name.isdecimal()][:_MOST_PROCESSES]:
        body = host.read(f"/proc/{pid}/environ").body
        if body:
            pairs = (line.partition("=") for line in body.split("\x00"))
            return True, {name: value for name, sign, value in pairs if sign}
    if found:
        return True, None
    return (False if asked is not None and asked.state == "known" else None), None


def devices(log: str) -> list[Computes]:
    """What `msg="inference compute"` names, a device a line; the last start's alone."""
    found: dict[tuple[str, str], Computes] = {}
    for line in log.splitlines():
        if "inference compute" not in line:
            continue
        fields = {key: value.strip('"') for key, value in _PAIR.findall(line[:2000])}
        library = fields.get("library", "").lower()
        name = fields.get("description") or fields.get("name", "")
        if library:
            found[library, fields.get("id", name)] = Computes(
                library=library,
                name=name[:100],
                compute=fields.get("compute", "")[:40],
                total=size_of(fields.get("total", "")),
                available=size_of(fields.get("available", "")),
            )
    return list(found.values())


def size_of(text: str) -> int | None:
    """Bytes of `7.7 GiB`; None for no size."""
    hit = _SIZE.fullmatch(text.strip())
    return int(float(hit[1]) * (1 << _UNITS[hit[2]])) if hit else None
