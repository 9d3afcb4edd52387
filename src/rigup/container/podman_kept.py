"""What podman told of itself, kept while nothing changes on which that depends: to ask it takes a quarter of a second.

`podman info` asks the package manager for each program that it uses. What a container's start needs of the answer
follows from podman's program, its configuration, the account and its numbers, and the boot: their state is the key
under which the answer is kept, in a file of the account's own. Nothing depends on that file.
"""

import os
import re
import time
from importlib.util import source_hash

import msgspec

from rigup.container.host import Engine
from rigup.machine.feed import named
from rigup.machine.host import Host as Seam
from rigup.machine.local import TOOL_PATHS

_FOLDERS = (
    *TOOL_PATHS,
    "/usr/bin",
    "/bin",
    "/usr/local/bin",
    "/usr/libexec/podman",
    "/usr/lib/podman",
    "/usr/local/libexec/podman",
    "/usr/local/lib/podman",
)
"""Where podman looks for its helpers, beside PATH: a folder's time tells that one came or went."""
_CONFIGURED = "/{containers,storage}*.conf{,.d,.d/*.conf}"
_ACCOUNTS = "/etc/{subuid,subgid,passwd,group,nsswitch.conf}"
_PAUSE = ("{run}/libpod/tmp/pause.pid", "/tmp/{storage,podman,containers}*{uid}/{,rootless/,libpod/tmp/}pause.pid")
"""The process that holds a rootless account's numbers: those that it began with are in force until it ends."""
_KERNEL = (
    "/proc/self/uid_map",
    "/proc/self/cgroup",
    "/proc/sys/user/max_user_namespaces",
    "/proc/sys/kernel/unprivileged_userns_clone",
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
)
_BOOT = "/proc/sys/kernel/random/boot_id"
_SETTINGS = re.compile(r"_?(?:CONTAINER|DOCKER_|PODMAN_|STORAGE_|XDG_)\w*|HOME|PATH|USER|LOGNAME|TMPDIR", re.ASCII)
_AGE = 86_400  # seconds: accounts' numbers can come from a directory service, which no file here tells of
_MOST = 8  # answers: an account has a few environments, and each has its own PATH
_MOST_BYTES = 100_000


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """An answer, and when it was given (seconds since 1970)."""

    engine: Engine
    at: float


class KeptPodman:
    """The file of this account. `engine` is what podman told, where it would tell the same now; else None."""

    def __init__(self, seam: Seam) -> None:
        self._seam = seam
        lines = (seam.variables().body or "").splitlines()
        self._variables = dict(line.split("=", 1) for line in lines if "=" in line)
        cache = self._variables.get("XDG_CACHE_HOME") or self._variables.get("HOME", "") + "/.cache"
        self._path = os.path.join(cache, "rigup", "podman.json") if os.path.isabs(cache) else ""
        self._key = self._state()
        kept = self._read().get(self._key) if self._key else None
        self.engine = kept.engine if kept and 0 <= time.time() - kept.at < _AGE else None

    def keep(self, engine: Engine | None) -> Engine | None:
        """Keep what podman told now, and give it back. Kept is nothing of a machine elsewhere, or that changed meanwhile."""
        if engine and self._key and engine.flavour == "engine" and self._state() == self._key:
            rows = {**self._read(), self._key: Kept(engine=engine, at=time.time())}
            newest = sorted(rows.items(), key=lambda row: row[1].at)[-_MOST:]
            try:
                from rigup.machine import private_file  # for who writes alone: it takes long

                os.makedirs(os.path.dirname(self._path), 0o700, exist_ok=True)
                private_file.write(self._path, lambda file: file.write(msgspec.json.encode(dict(newest))), replace=True)
            except OSError:  # a full disk, a home that nobody may write: it is only slower
                pass
        return engine

    def _read(self) -> dict[str, Kept]:
        """What the file has; nothing where somebody else may have written it, or it is none of ours."""
        try:
            with open(self._path, "rb") as file:
                status = os.fstat(file.fileno())
                if status.st_uid != os.geteuid() or status.st_mode & 0o022 or status.st_size > _MOST_BYTES:
                    return {}
                return msgspec.json.decode(file.read(), type=dict[str, Kept])
        except (OSError, msgspec.DecodeError):
            return {}

    def _state(self) -> str:
        """All on which the answer depends, as one word; "" where that cannot be told here."""
        boot = self._seam.read(_BOOT, 100).body
        programs = [path for folder in self._path_folders() for path in self._seam.find(f"{folder}/podman")]
        if not self._path or not boot or not programs:
            return ""
        account = self._seam.account().body or ""
        paths = list(dict.fromkeys((*programs[:1], *self._path_folders(), *_FOLDERS, *self._files(account))))
        status = self._seam.run(("stat", "-L", "-c", "%n|%d|%i|%s|%y|%z", "--", *paths)).body or ""
        if not re.search(rf"^{re.escape(programs[0])}\|\d", status, re.MULTILINE):
            return ""
        settings = [f"{name}={value}" for name, value in sorted(self._variables.items()) if _SETTINGS.fullmatch(name)]
        read = [f"{path}: {self._seam.read(path, 4_000).body}" for path in (*_KERNEL, *self._number_maps(account))]
        return source_hash("\n".join((boot, account, status, *settings, *read)).encode("utf-8", "replace")).hex()

    def _path_folders(self) -> list[str]:
        """Where programs are looked for."""
        folders = self._variables.get("PATH", os.defpath).split(":")
        return [folder.rstrip("/") for folder in folders if folder.startswith("/")]

    def _files(self, account: str) -> list[str]:
        """Files of podman's configuration and of the account, those that are there; and those that variables name."""
        home = self._variables.get("HOME", "")
        own = self._variables.get("XDG_CONFIG_HOME") or home + "/.config"
        folders = [folder + "/containers" for folder in ("/usr/share", "/etc", own)]
        patterns = [folder + _CONFIGURED for folder in folders]
        patterns += [own + "/containers/podman-connections*", _ACCOUNTS, *self._pauses(account)]
        settings = [value for name, value in self._variables.items() if name.startswith("CONTAINERS_") and value.startswith("/")]
        return [*folders, *(path for pattern in patterns for path in named(self._seam, pattern)), *settings]

    def _pauses(self, account: str) -> list[str]:
        uid = re.match(r"uid=(\d{1,10})", account)
        run = self._variables.get("XDG_RUNTIME_DIR") or f"/run/user/{uid[1] if uid else 0}"
        return [pattern.replace("{run}", run).replace("{uid}", uid[1] if uid else "0") for pattern in _PAUSE]

    def _number_maps(self, account: str) -> list[str]:
        """The map of numbers of the process that holds them."""
        files = [path for pattern in self._pauses(account) for path in named(self._seam, pattern)]
        numbers = [(self._seam.read(path, 20).body or "").strip() for path in files]
        return [f"/proc/{number}/uid_map" for number in numbers if number.isdigit()]
