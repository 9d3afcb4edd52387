"""This machine, through its own file system and programs."""

import contextlib
import functools
import os
import stat

from rigup.machine.folders import Folders
from rigup.machine.globbing import paths_like
from rigup.machine.host import LIMIT, Answer, Recorded
from rigup.machine.programs import answer_of
from rigup.machine.readable import OddNames, readable

_MANY = 100  # names in a folder: to list it again costs less than to look below each
_LEAST_PIECE, _PIECE = 1 << 16, 1 << 20  # bytes that are read at once
SETTLED = {"LC_ALL": "C", "LANG": "C", "LANGUAGE": "C"}
_READS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_ABSENT = Answer(None, "absent")
TOOL_PATHS = ("/usr/sbin", "/sbin", "/usr/local/sbin", "/opt/rocm/bin", "/usr/local/cuda/bin", "/usr/lib/wsl/lib")


class Local:
    """A host whose file system lies at `root` and whose programs can be run.

    Where it stands `still`, for one look, what a folder's listing does not show is not asked for. `most`: bytes of a program's
    answer, for whoever asks for more than people paste.
    """

    def __init__(self, root: str = "", still: bool = False, most: int = LIMIT) -> None:
        # `/Windows/…` without a drive would be looked for on the one where the person stands.
        self.root = root or (os.environ.get("SYSTEMDRIVE", "") if os.name == "nt" else "")
        self._most, self._still = most, still
        self._found: dict[str, list[str]] = {}  # what patterns name, where nothing comes or goes: several readers ask alike
        self._programs: dict[str, str | None] = {}  # the same of programs
        self._folders = Folders(self._names_in, still)
        self._files: dict[str, set[str]] = {}  # of folders with many names
        self._hidden: dict[str, bool] = {}
        self._odd = OddNames()

    def find(self, pattern: str) -> list[str]:
        """Paths that a glob pattern names, sorted."""
        known = self._found.get(pattern)
        if known is None:
            known = paths_like(pattern, self._folders.names_in, self._exists, folders_in=self._folders_in)
            if self._still:
                self._found[pattern] = known
        return list(known)

    def _exists(self, path: str) -> bool:
        return self._folders.holds(path) or (not self._folders.lacks(path) and os.path.lexists(self._real_path(path)))

    def _real_path(self, path: str) -> str:
        return self.root + self._odd.real(path)

    def _names_in(self, folder: str) -> list[str]:
        """The names in a folder. One that may be listed and not entered is as one that may not be listed."""
        here = self._real_path(folder) or "/"
        names = self._odd.shown(folder, os.listdir(here))
        if not os.access(here, os.X_OK):
            raise PermissionError(here)
        return names

    def _folders_in(self, folder: str) -> list[str]:
        """The names in a folder below which something may lie: of many, plain files are passed by."""
        names = self._folders.names_in(folder)
        if len(names) < _MANY:
            return names
        if folder not in self._files:
            self._files[folder] = _files_in(self._real_path(folder) or "/")
        return [name for name in names if name not in self._files[folder]]

    def read(self, path: str, limit: int = LIMIT) -> Answer:
        """A file's text; a pipe or a device is refused, for reading one could wait for ever."""
        if self._folders.lacks(path):
            return _ABSENT
        try:
            handle = os.open(self._real_path(path), _READS)
            try:
                status = os.fstat(handle)
                if not stat.S_ISREG(status.st_mode):
                    return Answer(None, "refused", "not a regular file")
                return Answer(_head(handle, status.st_size, limit).decode("utf-8", "replace"))
            finally:
                os.close(handle)
        except (FileNotFoundError, NotADirectoryError):
            return self._nothing_at(path)
        except (OSError, ValueError) as error:  # a name with a zero in it is no name
            return Answer(None, "refused", getattr(error, "strerror", None) or type(error).__name__)

    def _nothing_at(self, path: str) -> Answer:
        """Absent, unless its folder would not let us see."""
        folder = self._real_path(os.path.dirname(path))
        if folder not in self._hidden:  # asked once: of most folders several files are wanted
            self._hidden[folder] = os.path.isdir(folder) and not os.access(folder, os.R_OK | os.X_OK)
        return Answer(None, "refused", "the folder may not be read") if self._hidden[folder] else _ABSENT

    def link(self, path: str) -> Answer:
        """Where a link leads in the end."""
        here = self._real_path(path)
        real = os.path.realpath(here)
        return Answer(self._odd.readable(real.removeprefix(self.root))) if os.path.lexists(here) else Answer(None, "absent")

    def run(self, argv: tuple[str, ...], seconds: float = 5.0) -> Answer:
        """What a program prints under LC_ALL=C. It is ended, with its children, when the time is up."""
        argv = tuple(self._odd.real(word) if word.startswith("/") else word for word in argv)
        if not (program := self.program(argv[0])):  # cheaper than a process that fails to start
            return Answer(None, "absent", exit=127)
        environment = {**os.environ, **SETTLED, "PATH": _search()}
        return answer_of(program, argv, environment, seconds, self._most)

    def program(self, name: str) -> str | None:
        """The file of a program; None where there is none."""
        if not self._still:
            return _program(name, _search())
        if name not in self._programs:
            self._programs[name] = _program(name, _search())
        return self._programs[name]

    def listing(self, pattern: str) -> Answer:
        """Lines as `ls -l` prints them, one for each path that the pattern names."""
        lines = [line for path in self.find(pattern) if (line := self._line(path))]
        return Answer("\n".join(lines)) if lines else Answer(None, "absent")

    def _line(self, path: str) -> str:
        with contextlib.suppress(OSError):
            status = os.lstat(self._real_path(path))
            arrow = " -> " + self._odd.readable(os.readlink(self._real_path(path))) if stat.S_ISLNK(status.st_mode) else ""
            return ls_line(status.st_mode, _user(status.st_uid), _group(status.st_gid), path + arrow)
        return ""

    def variables(self) -> Answer:
        """The variables of the process that asks."""
        return Answer("\n".join(readable(name) + "=" + self._odd.readable(value) for name, value in os.environ.items()))

    def account(self) -> Answer:
        """The user of the process that asks, as `id` prints it; asked of the system, for a process costs more than all of it."""
        if os.name != "posix":
            return Answer(None, "unseen")
        uid, gid = os.getuid(), os.getgid()
        groups = ",".join(_numbered(group, _group(group)) for group in dict.fromkeys((gid, *os.getgroups())))
        account = f"uid={_numbered(uid, _user(uid))} gid={_numbered(gid, _group(gid))} groups={groups}"
        return Answer(self._odd.readable(account))

    def recorded(self) -> list[Recorded]:
        """A live machine keeps no commands."""
        return []


def _files_in(folder: str) -> set[str]:
    """The plain files in a folder, as it tells itself; none where it is gone meanwhile."""
    with contextlib.suppress(OSError), os.scandir(folder) as listing:
        return {entry.name for entry in listing if entry.is_file(follow_symlinks=False)}
    return set()


def _head(handle: int, size: int, limit: int) -> bytes:
    """As much as the limit allows, in pieces: who asks for megabytes at once is refused under /proc/sys. There sizes say nothing."""
    content, piece = b"", min(max(size, _LEAST_PIECE), _PIECE)
    while len(content) < limit and (more := os.read(handle, min(limit - len(content), piece))):
        content += more
        if len(content) == size:
            break
    return content


def _search() -> str:
    """Where programs are looked for."""
    return os.pathsep.join((os.environ.get("PATH", os.defpath), *TOOL_PATHS))


def _program(name: str, search: str) -> str | None:
    """The file of a program: what `shutil.which` finds, on a Unix without the archives that it imports."""
    if os.name != "posix":
        import shutil

        return shutil.which(name, path=search)
    candidates = [name] if "/" in name else [os.path.join(folder, name) for folder in search.split(os.pathsep)]
    return next((path for path in candidates if os.access(path, os.X_OK) and not os.path.isdir(path)), None)


def ls_line(mode: int, owner: str, group: str, path: str) -> str:
    """One line as `ls -l` prints it, without size and date."""
    return " ".join((stat.filemode(mode), "1", owner, group, "0", path))


def _numbered(number: int, name: str) -> str:
    """`27(sudo)`; a number that has no name stands alone."""
    return f"{number}({name})" if name != str(number) else name


@functools.cache
def _user(uid: int) -> str:
    try:
        import pwd

        return pwd.getpwuid(uid).pw_name
    except (ImportError, KeyError):
        return str(uid)


@functools.cache
def _group(gid: int) -> str:
    try:
        import grp

        return grp.getgrgid(gid).gr_name
    except (ImportError, KeyError):
        return str(gid)
