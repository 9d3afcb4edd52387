"""The collecting script for a POSIX shell: `posix.sh` with the readers' questions filled in."""

import functools
import shlex
from collections.abc import Callable, Iterable
from importlib import resources

from rigup.machine.collect import private
from rigup.machine.collect.questions import Path_, Program, makers, paths, programs
from rigup.machine.host import LIMIT
from rigup.machine.local import TOOL_PATHS
from rigup.machine.reader import READERS
from rigup.machine.texts import Text

SECONDS = 120  # after which the script ends by itself
MOST_FILES = 4000  # of one pattern
# Libraries on the loader's list that matter here; the list itself may have thousands.
_LIBRARIES = "cu nv nccl amd roc hip hsa MIOpen rccl stdc torch tensorflow OpenCL ze_ sycl mkl dx d3d12"
_ARGUMENT = '"$1"'


def script() -> str:
    """The script that asks all that the readers declare."""
    return asking(paths(), programs())


def asking(asked: list[Path_], run: list[Program]) -> str:
    """A script that asks for these paths and programs."""
    needed = {path.hole for path in asked} | ({"HomeFolder.path"} if any(path.hole for path in asked) else set())
    return _fill("\n".join(line for hole, line in _resolvers() if hole in needed), _questions(asked, run))


def second(asked: Iterable[Path_]) -> str:
    """A script that asks for these paths alone; they have no holes."""
    return asking(list(asked), [])


def _fill(resolved: str, questions: str) -> str:
    text = resources.files(__package__).joinpath("posix.sh").read_text("utf-8")
    spots = {
        "LIMIT": str(LIMIT),
        "FILES": str(MOST_FILES),
        "SECONDS": str(SECONDS),
        "TOOLS": ":".join(TOOL_PATHS),
        "SECRET": " | ".join(private.secret_globs()),
        "WANTED": " | ".join(private.wanted()),
        "BLANK": private.BLANK,
        "CLASSES": " | ".join(_classes()),
        "ACCOUNT": "id",
        "SED": _sed(),
        "KEYS": _keys(),
        "PLAIN": " ".join(name for name in private.wanted() if "*" not in name),
        "RESOLVED": resolved,
        "QUESTIONS": questions,
    }
    for name, value in spots.items():
        text = text.replace("@" + name + "@", value)
    return text


def _sed() -> str:
    """Blankings as sed's commands; they stand between single quotes."""
    commands = ["s!" + form + "!" + to + "!g" for form, to in private.blankings()]
    return "\n".join([*_blocks(), *_below(), *_marks(), *commands]).replace("'", "'\\''")


def _blocks() -> list[str]:
    form, to = private.in_block()
    return ["\\!" + start + "!,\\!" + end + "!s!" + form + "!" + to + "!" for start, end in private.blocks()]


def _below() -> list[str]:
    """What sed holds tells that the line before ended in a secret's name."""
    form, to = private.below()
    return ["x", "/^1/{", "s/.*//", "x", "s!" + form + "!" + to + "!", "x", "}", "x"]


def _marks() -> list[str]:
    return ["\\!" + form + "!{\nh\ns/.*/1/\nx\n}" for form in private.ends()]


def _keys() -> str:
    """Keys in blocks: each line of one is blanked."""
    return "\n".join("/" + start + "/,/" + end + "|^$N/{\n/^$N/!s/.*/" + private.BLANK + "/\n}" for start, end in private.KEYS)


@functools.cache
def _classes() -> tuple[str, ...]:
    """Base classes of PCI devices that the reader keeps, as it says itself."""
    kept = READERS["pci_class"]
    codes = ((base, f"0x{base:02x}{sub:02x}00") for base in range(256) for sub in (0, 1, 2, 3, 7, 8, 0x80))
    source = "/sys/bus/pci/devices/0000:00:00.0/class"
    bases = {base for base, code in codes if any(kept.read(Text(source, code)))}
    return tuple(f"0x{base:02x}*" for base in sorted(bases))


# -- questions ---------------------------------------------------------------------------------------


def _questions(asked: list[Path_], run: list[Program]) -> str:
    holes = dict(_resolvers())
    plain = [_path(path) for path in asked if not path.hole]
    loops = [_loop(hole, [path for path in asked if path.hole == hole]) for hole in holes]
    unknown = ["say " + shlex.quote("unasked " + _path_with_hole(path)) for path in asked if path.hole and path.hole not in holes]
    return "\n".join([*plain, *filter(None, loops), *unknown, *map(_program, run)])


def _loop(hole: str, asked: list[Path_]) -> str:
    if not asked:
        return ""
    name = hole.replace(".", "_")
    lines = "\n".join("  " + _path(path) for path in asked)
    return "for_" + name + "() {\n" + lines + '\n}\neach "$' + name + '" for_' + name


def _path(path: Path_) -> str:
    if path.listed:
        return "l " + _word(path)
    limits = ["" if path.most == LIMIT else str(path.most), path.wakes]
    limit_words = (" " + " ".join(limit or "''" for limit in limits)) if any(limits) else ""
    return "f " + _word(path) + limit_words.removesuffix(" ''")


def _word(path: Path_) -> str:
    """A pattern as one word of the shell; what fills its hole is the function's argument."""
    if not path.hole:
        return shlex.quote(path.before)
    return (shlex.quote(path.before) if path.before else "") + _ARGUMENT + (shlex.quote(path.after) if path.after else "")


def _path_with_hole(path: Path_) -> str:
    return path.at("{" + path.hole + "}")


def _program(program: Program) -> str:
    words = " ".join(map(shlex.quote, program.argv))
    line = "r " + shlex.quote(label(program.argv)) + f" {program.seconds:g} '{program.wakes}' " + words
    guards = [sign + "there " + " ".join(map(shlex.quote, asked)) for sign, asked in _guards(program) if asked]
    return "if " + " && ".join(guards) + "; then " + line + "; fi" if guards else line


def _guards(program: Program) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return ("! ", program.unless), ("", program.given)


def label(argv: Iterable[str]) -> str:
    """An argument vector on one line; `stream` reads it back."""
    spelled = (word.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r") for word in argv)
    return "\t".join(spelled)


# -- what fills holes --------------------------------------------------------------------------------


def _resolvers() -> list[tuple[str, str]]:
    """Kinds' fields that the shell can find out, in the order in which they need one another."""
    return [
        ("PciDevice.address", ""),
        ("HomeFolder.path", "HomeFolder_path=$(homes | unique)"),
        ("StateFolder.path", _STATE),
        ("JupyterFolder.path", _JUPYTER),
        ("Platform.release", _RELEASE),
        ("PythonEnv.prefix", _prefixes()),
        ("JupyterKernel.python", _kernels()),
        ("UnitFile.path", _assign("UnitFile_path", [_unit_files()])),
        ("SearchPath.path", _assign("SearchPath_path", _search_paths())),
        ("LoaderEntry.path", _LOADER),
    ]


_STATE = """StateFolder_path=$({
case ${XDG_STATE_HOME-} in /?*) printf '%s\\n' "${XDG_STATE_HOME%/}" ;; *) case ${HOME-} in /?*) printf '%s/.local/state\\n' "${HOME%/}" ;; esac ;; esac
case ${HOME-} in /?*) printf '%s/Library/Application Support\\n' "${HOME%/}" ;; esac
} | unique)"""
_JUPYTER = """JupyterFolder_path=$({
case ${XDG_DATA_HOME-} in /?*) printf '%s/jupyter\\n' "${XDG_DATA_HOME%/}" ;; esac
case ${JUPYTER_DATA_DIR-} in /?*) printf '%s\\n' "${JUPYTER_DATA_DIR%/}" ;; esac
printf '%s:' "${JUPYTER_PATH-}" | tr : '\\n' | sed -n 's~^\\(/.*[^/]\\)/*$~\\1~p'
} | unique)"""
_RELEASE = """Platform_release=
read -r Platform_release <"$R/proc/sys/kernel/osrelease"
if [ -z "$Platform_release$R" ]; then Platform_release=$(uname -r); fi"""
_LOADER = (
    "LoaderEntry_path=$(if [ -n \"$P\" ]; then PATH=$P; ldconfig -p; fi </dev/null | sed -n -e 's~.*=> \\(/[^ ]*\\)$~\\1~' "
    + " ".join("-e '\\~/lib" + name + "[^/]*$~p'" for name in _LIBRARIES.split())
    + " | unique)"
)


def _assign(name: str, commands: Iterable[str]) -> str:
    return name + "=$({\n" + "\n".join(commands) + "\n} | unique)"


def _over(asked: Iterable[Path_], command: str) -> str:
    """A command with all patterns as arguments; those below a home folder for each home."""
    patterns = list(asked)
    lines = []
    if plain := [_word(path) for path in patterns if not path.hole]:
        lines.append(command + " " + " ".join(plain))
    for hole in ("HomeFolder.path", "PythonEnv.prefix"):
        words = [_word(path) for path in patterns if path.hole == hole]
        each = ["one() { " + command + " " + " ".join(words) + "; }", 'each "$' + hole.replace(".", "_") + '" one']
        lines += each if words else []
    return "\n".join(lines)


def _paths_of(kinds: Iterable[str], fit: Callable[[Path_], bool]) -> list[Path_]:
    return [path for path in paths(makers(*kinds)) if fit(path)]


def _prefixes() -> str:
    """Folders of Python environments: by what tells one, by conda's own list, by notebooks' kernels, by what is active."""
    ends = ("/pyvenv.cfg", "/conda-meta", "-packages")
    found = _paths_of(["PythonEnv"], lambda path: path.at("").endswith(ends) and path.hole != "PythonEnv.prefix")
    lists = _paths_of(["PythonEnv"], lambda path: path.at("").endswith("environments.txt"))
    kernels = _paths_of(["JupyterKernel"], lambda path: not path.listed and path.hole != "JupyterKernel.python")
    python = 'inside \'s~.*"\\(/[^"]*\\)/bin/python[0-9.]*".*~\\1~p\''
    active = 'for p in "${VIRTUAL_ENV-}" "${CONDA_PREFIX-}"; do case $p in /?*) printf \'%s\\n\' "${p%/}" ;; esac; done'
    first = [active, "{\n" + _over(found, "paths") + "\n} | under", _over(lists, "inside 's~^/.~&~p'")]
    again = ["printf '%s\\n' \"$PythonEnv_prefix\"", _over(kernels, python)]
    return _assign("PythonEnv_prefix", first) + "\n" + _assign("PythonEnv_prefix", again)


def _kernels() -> str:
    """The interpreters of notebooks' kernels."""
    kernels = _paths_of(["JupyterKernel"], lambda path: not path.listed and path.hole != "JupyterKernel.python")
    return _assign("JupyterKernel_python", [_over(kernels, 'inside \'s~.*"\\(/[^"]*/python[0-9.]*\\)".*~\\1~p\'')])


def _unit_files() -> str:
    units = _paths_of(["UnitFile"], lambda path: not path.listed)
    return _over(units, "inside 's~^[ \t]*EnvironmentFile=-*[\"]*\\(/[^ \"*?[{}]*\\).*~\\1~p'")


def _search_paths() -> list[str]:
    """LD_LIBRARY_PATH in force and as configured, and the loader's own list where it tells of GPUs."""
    fit = "sed -n -e 's~/*$~~' -e '\\~[$*]~d' -e '\\~^/.~p'"
    files = _paths_of(["Variable"], lambda path: not path.listed)
    listed = _paths_of(["SearchPath"], lambda path: not path.listed)
    value = "inside 's~.*LD_LIBRARY_PATH[= ][\"]*\\([^\" ;]*\\).*~\\1~p'"
    words = " ".join("-e '\\~" + word + "~p'" for word in ("cuda", "rocm", "nvidia", "wsl", "cudnn", "stubs"))
    mine = "{\nprintf '%s\\n' \"${LD_LIBRARY_PATH-}\"\n" + _over(files, value) + "\n} | tr ':' '\\n' | " + fit
    return [mine, "{\n" + _over(listed, "inside 's~^/[^ #]*~&~p'") + "\n} | sed -n " + words + " | " + fit]
