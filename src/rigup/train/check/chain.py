"""What stands between the batch shell and the script: launchers within launchers, containers, shells within shells."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from rigup.train.check.options import Option, program, taken
from rigup.train.check.shell.expansion import parameters
from rigup.train.check.shell.reading import Outside, Reader
from rigup.train.check.shell.words import UNKNOWN, Command, Script, Setting, Word

_DEEPEST = 8
_SHELLS = ("bash", "sh", "zsh", "dash", "ksh")
_CONTAINERS = {"apptainer": "apptainer", "singularity": "apptainer", "docker": "docker", "podman": "docker", "nerdctl": "docker"}
_RUNS = {"apptainer": ("exec", "run", "shell"), "docker": ("run", "exec")}
_MPI = ("mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prun", "horovodrun", "jsrun", "aprun")
_REMOTE = ("ssh", "pdsh", "clush", "parallel-ssh", "dsh", "pssh")
_MODULES = {
    "torch.distributed.run": "torchrun",
    "torch.distributed.launch": "torchrun",
    "accelerate.commands.launch": "accelerate",
    "deepspeed.launcher.runner": "deepspeed",
    "torch.distributed.elastic": "torchrun",
    "accelerate.commands.accelerate_cli": "accelerate",
}
# Programs that start another and change nothing of its ranks, each with options that take a word, and how many words of
# its own stand in front of the program.
_TRANSPARENT: dict[str, tuple[tuple[str, ...], int]] = {
    "time": (("-f", "-o"), 0),
    "exec": (("-a",), 0),
    "nohup": ((), 0),
    "command": ((), 0),
    "stdbuf": ((), 0),
    "nice": (("-n",), 0),
    "ionice": (("-c", "-n", "-p"), 0),
    "timeout": (("-k", "-s", "--signal", "--kill-after"), 1),
    "setsid": ((), 0),
    "unbuffer": ((), 0),
    "numactl": (("-N", "-m", "-C"), 0),
    "taskset": ((), 1),
    "catchsegv": ((), 0),
    "strace": (("-e", "-o", "-p"), 0),
    "nsys": (("-o", "-t", "--trace", "--output"), 1),
    "ncu": (("-o",), 0),
    "rocprof": (("-o", "-i"), 0),
    "py-spy": (("-o", "-f", "-r"), 1),
    "env": (("-u", "-C"), 0),
    "xvfb-run": (("-s", "-n"), 0),
    "coverage": ((), 1),
    "memray": (("-o",), 1),
    "ddtrace-run": ((), 0),
    "sudo": (("-u", "-E"), 0),
    "eval": ((), 0),
    "scl": ((), 2),
    "shifter": (("--image",), 0),
    "gdb": ((), 0),
    "valgrind": ((), 0),
}
_ENVIRONMENTS = {
    "conda": "run",
    "mamba": "run",
    "micromamba": "run",
    "uv": "run",
    "poetry": "run",
    "pixi": "run",
    "pdm": "run",
    "hatch": "run",
    "rye": "run",
    "pipenv": "run",
}
_PYTHON = re.compile(r"(?:python|pypy|ipython)[\d.]*")


class Layer(msgspec.Struct, frozen=True, kw_only=True):
    """A program that starts the next.

    Attributes:
        kind: "srun", "torchrun", "accelerate", "deepspeed", "mpirun", "container", "shell", "ssh", "environment", "python",
            "lightning" or "wrapper".
        words: what the program itself was given, its options among them.
        command: the command that it stands in.

    """

    kind: str
    options: tuple[Option, ...]
    words: tuple[Word, ...]
    command: Command
    name: str

    def value(self, *names: str) -> str | None:
        """The value of the last of these options; "" for one without a value, None where none is given."""
        found = [option for option in self.options if option.name in names]
        return (found[-1].value or "") if found else None

    def option(self, *names: str) -> Option | None:
        """The last of these options."""
        return next((option for option in reversed(self.options) if option.name in names), None)

    @property
    def line(self) -> int:
        """The line of its own word."""
        return self.words[0].line


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """A start of a Python program.

    Attributes:
        layers: the outermost first.
        script: the word with the script, or the module behind -m.
        arguments: the words behind it.
        settings: variables that shells within the job set, of each task.

    """

    layers: tuple[Layer, ...]
    script: Word
    module: bool
    arguments: tuple[Word, ...]
    command: Command
    inner: Command
    settings: tuple[Setting, ...] = ()

    def layer(self, *kinds: str) -> Layer | None:
        """The first layer of one of these kinds."""
        return next((layer for layer in self.layers if layer.kind in kinds), None)

    @property
    def variables(self) -> Mapping[str, Word]:
        """What the script finds in its environment, as far as scripts set it."""
        inner = {setting.name: setting.word for setting in self.settings}
        return {**self.command.variables, **inner, **self.inner.variables}


class _At(NamedTuple):
    """Where a command is taken apart.

    Attributes:
        command: of the batch script.
        inner: the one within it, of a shell's script, that is looked at; the same where there is none.
        layers: programs that start the next, the outermost first.
        settings: variables that shells set on the way.
        depth: how many programs were looked behind.

    """

    command: Command
    inner: Command
    layers: tuple[Layer, ...] = ()
    settings: tuple[Setting, ...] = ()
    depth: int = 0

    def deeper(self) -> "_At":
        """Behind one program more."""
        return self._replace(depth=self.depth + 1)


class Chains:
    """Takes commands apart.

    Args:
        read: the text of a file beside the batch script; None where there is none.
        outside: variables that Slurm sets.

    """

    def __init__(self, read: Callable[[str], str | None], outside: Outside) -> None:
        self.read, self.outside = read, outside

    def of(self, script: Script) -> Iterator[Launch]:
        """The starts of Python programs in a script, in order."""
        for command in script.commands:
            yield from self._peel(command.words, _At(command, command))

    def _peel(self, words: Sequence[Word], at: _At) -> Iterator[Launch]:
        words = _without_assignments(words)
        if not words or at.depth > _DEEPEST:
            return
        name = words[0].text.rsplit("/", 1)[-1]
        if (rest := _behind_transparent(name, words)) is not None:
            yield from self._peel(rest, at.deeper())
            return
        if (found := _layer(name, words, at.inner)) is None:
            yield from self._file(words, at)
            return
        layer, rest = found
        at = at._replace(layers=(*at.layers, layer))
        if layer.kind == "shell":
            yield from self._shell(layer, rest, at)
        elif layer.kind in ("python", "torchrun", "accelerate", "deepspeed", "lightning"):
            yield from self._program(layer, rest, at)
        elif layer.kind == "mpi-launched":
            return
        else:
            yield from self._peel(rest, at.deeper())

    def _program(self, layer: Layer, rest: Sequence[Word], at: _At) -> Iterator[Launch]:
        """The script behind a launcher or an interpreter."""
        module = layer.option("module")
        if layer.kind == "python" and module is not None and module.value in _MODULES:
            yield from self._relaunched(_MODULES[module.value], module, rest, at)
            return
        if layer.option("no-python") is not None:
            yield from self._peel(rest, at.deeper())
            return
        by_value = layer.kind == "python" and module is not None and module.value
        if by_value and module is not None:
            script, arguments = module.beside, list(rest)
        elif rest and layer.option("command") is None:
            script, arguments = rest[0], list(rest[1:])
        else:
            return
        if _PYTHON.fullmatch(script.text.rsplit("/", 1)[-1]) or script.text.rsplit("/", 1)[-1] in ("torchrun", "accelerate"):
            yield from self._peel(rest, at.deeper())
            return
        yield Launch(
            layers=at.layers,
            script=script,
            module=module is not None,
            arguments=tuple(arguments),
            command=at.command,
            inner=at.inner,
            settings=at.settings,
        )

    def _relaunched(self, kind: str, module: Option, rest: Sequence[Word], at: _At) -> Iterator[Launch]:
        """`python -m torch.distributed.run …`."""
        start = msgspec.structs.replace(module.beside, text=kind)
        words = [start, *rest]
        if kind == "accelerate" and (not rest or rest[0].text != "launch"):
            words.insert(1, msgspec.structs.replace(start, text="launch"))
        yield from self._peel(words, at._replace(layers=at.layers[:-1]).deeper())

    def _shell(self, layer: Layer, rest: Sequence[Word], at: _At) -> Iterator[Launch]:
        """`bash -c '…'` and `bash run.sh`."""
        text = next((option for option in layer.options if option.name == "c"), None)
        if text is None:
            yield from self._file(rest, at)
        elif rest:
            yield from self._text(rest[0].text, at.inner.file, rest[0].line, at, list(rest[1:]))

    def _file(self, words: Sequence[Word], at: _At) -> Iterator[Launch]:
        """A shell script of one's own, or a Python script that is started by its name."""
        if (
            not words
            or words[0].text in (".", "source")
            or (not at.layers and words[0].text in ("echo", "ls", "cat", "cp", "rm", "mkdir", "cd", "sbatch", "scontrol"))
        ):
            return
        path = words[0].text
        base = path.rsplit("/", 1)[-1]
        if base.endswith(".py"):
            yield Launch(
                layers=(*at.layers, Layer(kind="python", options=(), words=tuple(words[:1]), command=at.inner, name=base)),
                script=words[0],
                module=False,
                arguments=tuple(words[1:]),
                command=at.command,
                inner=at.inner,
                settings=at.settings,
            )
            return
        if UNKNOWN in base and len(words) > 1 and words[1].text.endswith(".py"):  # "$PYTHON" script.py
            words = words[1:]
            yield from self._file(words, at)
            return
        if UNKNOWN in base or not re.search(r"\.(?:sh|bash|slurm|sbatch)$|^[\w-]+$", base):
            return
        text = self.read(path) if "/" in path or base.endswith((".sh", ".bash")) else None
        if text is not None and at.depth < _DEEPEST:
            yield from self._text(text, base, 1, at, [words[0], *words[1:]])

    def _text(self, text: str, file: str, first: int, at: _At, positional: list[Word]) -> Iterator[Launch]:
        """Commands of a shell within: what it expands is expanded there, in each task."""
        given = {**at.command.variables, **at.inner.variables, **{setting.name: setting.word for setting in at.settings}}
        if positional:
            given |= {"0": positional[0], **parameters(positional[1:], positional[0].line)}
        plain = {name: msgspec.structs.replace(word, refs=frozenset(), runs=frozenset()) for name, word in given.items()}
        script = Reader(file, self.outside, plain, first, self.read).read(text)
        for each in script.commands:
            own = tuple(
                msgspec.structs.replace(setting, inner=True)
                for setting in script.settings
                if setting.order <= each.order and setting.exported
            )
            yield from self._peel(each.words, at._replace(inner=each, settings=(*at.settings, *own)).deeper())


def _without_assignments(words: Sequence[Word]) -> list[Word]:
    left = list(words)
    while left and re.match(r"[A-Za-z_]\w*=", left[0].text) and not left[0].quoted:
        left.pop(0)
    return left


def _behind_transparent(name: str, words: Sequence[Word]) -> list[Word] | None:
    """The program behind one that only runs it."""
    if name not in _TRANSPARENT:
        return None
    valued, own = _TRANSPARENT[name]
    left = list(words[1:])
    while left and (left[0].text.startswith("-") or own):
        word = left.pop(0)
        if word.text.startswith("-"):
            if word.text in valued and left:
                left.pop(0)
        else:
            own -= 1
    return _without_assignments(left)


def _layer(name: str, words: Sequence[Word], command: Command) -> tuple[Layer, list[Word]] | None:
    """The program in front as a layer, and the words behind its own."""
    kind, listed, skip = _kind(name, words)
    if kind is None:
        return None
    if kind == "shell":
        return _shell_layer(words, command)
    options, rest = taken(program(listed), words[1 + skip :])
    if kind == "container" and rest:
        rest = rest[1:]  # the image
    if kind == "ssh" and rest:
        rest = rest[1:]  # the host
    own = len(words) - len(rest)
    layer = Layer(kind=kind, options=tuple(options), words=tuple(words[:own]), command=command, name=name)
    return layer, list(rest)


def _kind(name: str, words: Sequence[Word]) -> tuple[str | None, str, int]:  # noqa: PLR0911
    """What a program is, whose options it takes, and how many words name what it is to do."""
    second = words[1].text if len(words) > 1 else ""
    if name == "srun":
        return "srun", "srun", 0
    if name in _SHELLS:
        return "shell", "", 0
    if name == "torchrun":
        return "torchrun", "torchrun", 0
    if name in ("accelerate", "lightning", "fabric") and second in ("launch", "run"):
        more = 1 if name == "lightning" and len(words) > 2 and words[2].text in ("model", "fabric") else 0
        return ("accelerate" if name == "accelerate" else "lightning"), "accelerate", 1 + more
    if name in ("accelerate-launch", "deepspeed"):
        return name.partition("-")[0], name.partition("-")[0], 0
    if name in _MPI:
        return "mpirun", "mpirun", 0
    if name in _REMOTE:
        return "ssh", "docker", 0
    if (form := _CONTAINERS.get(name)) and second in _RUNS[form]:
        return "container", form, 1
    if _ENVIRONMENTS.get(name) == second:
        return "environment", "docker", 1
    return ("python", "python", 0) if _PYTHON.fullmatch(name) else (None, "", 0)


def _shell_layer(words: Sequence[Word], command: Command) -> tuple[Layer, list[Word]]:
    left = list(words[1:])
    options: list[Option] = []
    while left and left[0].text.startswith("-"):
        word = left.pop(0)
        if word.text.startswith("--"):
            options.append(Option(name=word.text[2:], value=None, word=word, beside=word, written=word.text))
            continue
        options += [Option(name=letter, value=None, word=word, beside=word, written=word.text) for letter in word.text[1:]]
        if word.text == "-o" and left:
            left.pop(0)
    return Layer(kind="shell", options=tuple(options), words=(words[0],), command=command, name=words[0].text), left
