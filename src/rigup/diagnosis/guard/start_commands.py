"""The command that started a container or a job, as the text shows it, with the option that a way asks for."""

import itertools
import re
import shlex

from msgspec import structs

from rigup.diagnosis.guard.setting import Setting
from rigup.knowledge.patterns import lazy_regex
from rigup.steps import Commands, Step, make

_FOR_STARTS = ("install-container-toolkit", "tell-engine")
_OPTIONS = ("container-option", "container-option-instead", "batch-option")
ENGINES = ("docker", "podman", "nerdctl")
_SCHEDULERS = ("sbatch", "srun", "salloc")
_STARTERS = (*ENGINES, *_SCHEDULERS, "apptainer", "singularity")
_VERBS = ("run", "exec", "shell", "create")
_HERE = lazy_regex(r"\$PWD\b|\$\{PWD\}|\$\(pwd\)|`pwd`|%cd%|\$\{?pwd\}?")
_OF_WINDOWS = lazy_regex(r"\.exe\b|(?<![A-Za-z])[A-Za-z]:\\")  # where a backslash parts folders
_QUOTED = lazy_regex(r"'[^']*'|\"[^\"]*\"")
_OF_A_SHELL = lazy_regex(r"[$`]|\\\Z")  # what a shell makes of it nobody can say
_OPEN = lazy_regex(r"<[\w -]+>")  # what is left to the reader
_SIGNS = ";|&<>"  # with which a shell ends a command
_ALL_RIGHTS = "--privileged"
_FLAGS = ("--nv", "--nvccli", "--rocm")  # of Apptainer, which take no word behind them
_ONCE = (
    "--shm-size",
    "--ipc",
    "--gpus",
    "--runtime",
    "--platform",
    "--network",
    "--gres",
    "--gpus-per-node",
    "--gpu-bind",
    "--partition",
    *_FLAGS,
)
_FOLDER = "wheels-folder-first"
_LOADER = "{python} -c \"import nvidia; print(list(nvidia.__path__)[0] + '/{part}')\" > /etc/ld.so.conf.d/wheels.conf && ldconfig"
_BUILD = 'printf "FROM %s\\nRUN %s\\n" "$1" "$2" | "$3" build -t "$4" -'
_TAKE_A_WORD = (
    "-v",
    "-e",
    "-p",
    "-w",
    "-u",
    "-m",
    "-h",
    "--name",
    "--gpus",
    "--device",
    "--volume",
    "--env",
    "--publish",
    "--workdir",
    "--user",
    "--memory",
    "--hostname",
    "--shm-size",
    "--ipc",
    "--network",
    "--group-add",
    "--entrypoint",
    "--runtime",
    "--mount",
    "--cap-add",
    "--security-opt",
    "--ulimit",
    "--cpus",
    "--env-file",
    "--restart",
    "--platform",
    "--bind",
    "-B",
    "--home",
    "-H",
    "--pwd",
    "--overlay",
)
_INSTEAD_OF = {
    "--gpus-per-node": ("--gres",),
    "--gres": ("--gpus-per-node", "--gpus", "-G"),
    "--partition": ("-p",),
    "--device": ("--gpus",),
    "--network": ("--net", "-p", "--publish"),  # with the host's there is nothing to publish
    "--nv": ("--rocm",),
    "--rocm": ("--nv", "--nvccli"),
}


def in_the_start_command(steps: list[Step], setting: Setting) -> list[Step]:
    """Options within the command that was seen to start it; in words, where none was, or several that differ."""
    steps = [_asked_for(step, setting) if step.kind in _OPTIONS and not step.commands else step for step in steps]
    first = steps[0].commands[:1] if steps[0].kind == "batch-option" else ()
    opened = any(argv[0] == "salloc" or "--pty" in argv for argv in first)  # whose failure was seen within it
    return [make("leave-job", {}), *steps] if opened else steps


def after_a_failed_start(steps: list[Step], setting: Setting) -> list[Step]:
    """An engine that could not hand a card in has made the container already, which keeps its name."""
    started = {typed for line in setting.starts if (typed := _words(line, "container-option"))}
    if steps[-1].kind not in _FOR_STARTS or len(started) != 1:
        return steps
    words = started.pop()
    at = next((place for place, word in enumerate(words) if word in ENGINES), -1)
    name = _value_of("--name", list(words)) if at >= 0 and words[at + 1 : at + 2] == ("run",) and "--rm" not in words else ""
    if not name:
        return steps
    again = make("start-named-again", {"name": name}, setting.world)
    return [*steps, structs.replace(again, commands=((*words[: at + 1], "rm", name), words))]


def _asked_for(step: Step, setting: Setting) -> Step:
    """What was seen within a container, whose start nobody shows, is there already: it has to be made anew, unless it goes with its end."""
    commands, engine = _with(step, setting), setting.engine or "docker"
    passing = bool(setting.starts) and all("--rm" in line.split() or _OPEN.search(line) for line in setting.starts)
    if commands or step.kind != "container-option" or not setting.inside or engine not in ENGINES or passing:
        return structs.replace(step, commands=commands or step.commands)
    return make("renew-container-option", {"option": step.params["option"], "engine": engine}, setting.world)


def _with(step: Step, setting: Setting) -> Commands:
    option, kind = step.params["option"], step.kind
    commands = [typed for line in setting.starts if (typed := _words(line, kind))]
    if len({_up_to_the_image(typed) for typed in commands}) != 1 or _OF_A_SHELL.search(option):
        return ()
    words = list(commands[0])
    at = next(place for place, word in enumerate(words) if word in _STARTERS)
    verb = at if kind == "batch-option" else next((place for place, word in enumerate(words) if place > at and word in _VERBS), -1)
    if verb < 0:
        return ()
    if words[at] in ENGINES and words[verb] in ("run", "create") and image_at(tuple(words[verb - 1 :])) < 0:
        return ()  # an image that the text leaves open is no command
    wanted = shlex.split(option)
    rest = _without(_without_same(words[verb + 1 :], wanted), [word.partition("=")[0] for word in wanted])
    rest = [word for word in rest if word != step.params.get("former")]
    name = _value_of("--name", rest) if words[at] in ENGINES and "--rm" not in rest else ""
    engine = words[: at + 1]
    freed = [(*engine, "stop", name), (*engine, "rename", name, f"{name}-before")] if name else []
    return (*freed, (*words[: verb + 1], *wanted, *rest))


def in_the_image(steps: list[Step], setting: Setting) -> list[Step]:
    """What is installed in a container goes with it: one that ends with its command, or a pod's, gets an image that has it."""
    image, engine, passing = _passing(setting)
    if not passing:
        return steps
    steps = [_built_anew(step, image, engine, setting) if step.kind == "change-base-image" else step for step in steps]
    own = [step for step in steps if step.where == "here"]
    pip = [step for step in own if _of_pip(step)]
    built = own if all(step in pip or step.kind == _FOLDER for step in own) else pip
    if not built:
        return steps
    line = _built_in(built, image, engine, _python_of_the_image(setting))
    return [line if step is built[0] else step for step in steps if step is built[0] or step not in built]


def _python_of_the_image(setting: Setting) -> str:
    """As it is called there; an image that nobody shows a call of has python3, and python not always."""
    typed = any(re.search(r"(?<![\w./-])python(?= )", line) for line in setting.starts)
    return "python3" if setting.python == "python" and not typed else setting.python


def _of_pip(step: Step) -> bool:
    return bool(step.commands) and all(argv[1:4] == ("-m", "pip", "install") for argv in step.commands)


def _built_anew(step: Step, image: str, engine: str, setting: Setting) -> Step:
    """The image under the name by which it is started; which folder it is built in nobody tells but the Dockerfile that is shown; Windows has no sed."""
    changed = () if setting.system == "windows" and not setting.wsl else step.commands
    return structs.replace(step, commands=(*changed, *([(engine, "build", "-t", image, ".")] if image else [])))


def _built_in(steps: list[Step], image: str, engine: str, python: str) -> Step:
    """All in one line of the image; its loader is told of a folder there, for a variable would have to name a path that is known after the build."""
    line = " && ".join(
        _LOADER.format(python=python, part=step.params["part"])
        if step.kind == _FOLDER
        else shlex.join(python if word == "python" else word for word in argv)
        for step in steps
        for argv in step.commands
    )
    words = make("image-line", {"line": line})
    build = ("sh", "-c", _BUILD, "sh", image, line, engine, f"{image.rpartition('/')[2].partition(':')[0]}:mended")
    return structs.replace(words, commands=(build,) if image else ())


def _passing(setting: Setting) -> tuple[str, str, bool]:
    """The image of the containers that were started to be removed at their end, and its engine; "" and true for a pod of any."""
    commands = {typed for line in setting.starts if (typed := _words(line, "container-option"))}
    if not commands and (setting.engine == "kubernetes" or setting.pod) and not setting.python.startswith(("/home/", "~", ".")):
        return "", "docker", True
    ending = [words for words in commands if words[0] in ("docker", "podman") and words[1] == "run" and "--rm" in words]
    images = {words[at] if (at := image_at(words)) >= 0 else "" for words in ending}
    if len(ending) != len(commands) or len(images) != 1:
        return "", "", False
    return images.pop(), ending[0][0], True


def image_at(words: tuple[str, ...]) -> int:
    """The place of the image among the words of `docker run`; -1 where there is none."""
    skip = False
    for place, word in enumerate(words[2:], start=2):
        if skip:
            skip = False
        elif not word.startswith("-"):
            return place
        elif word in _TAKE_A_WORD:
            skip = True
    return -1


def _up_to_the_image(words: tuple[str, ...]) -> tuple[str, ...]:
    """What starts the container, whichever program in it; of a job the whole command."""
    at = image_at(words) if words[0] in (*ENGINES, "apptainer", "singularity") else -1
    return words[: at + 1] if at >= 0 else words


def words_typed(line: str) -> tuple[str, ...]:
    """The command's words up to where a shell ends it; none where a shell would have to read them."""
    plain = _HERE.sub(".", line.replace("\\\n", " ")).strip()
    if _OF_A_SHELL.search(plain) or "(" in _QUOTED.sub("", plain):
        return ()
    reader = shlex.shlex(plain, posix=True, punctuation_chars=_SIGNS)
    reader.whitespace_split, reader.commenters = True, ""
    reader.escape = "" if _OF_WINDOWS.search(plain) else reader.escape
    try:
        every = list(reader)
    except ValueError:
        return ()
    end = next((place for place, word in enumerate(every) if set(word) <= {*_SIGNS, "#"}), len(every))
    redirects = end < len(every) and every[end - 1].isdigit() and f" {every[end - 1]}>" in plain  # `2>&1`
    return tuple(every[: end - redirects])


def _words(line: str, kind: str) -> tuple[str, ...]:
    """The command's words; none where a shell would have to read it, or where it is none of that kind."""
    words = words_typed(line)
    mine = bool(set(words[:3]).intersection(_SCHEDULERS)) == (kind == "batch-option")
    return words if mine and _ALL_RIGHTS not in words else ()


def _without_same(words: list[str], wanted: list[str]) -> list[str]:
    """The words without an option and its value that are wanted and stand there already, written in one word or in two."""
    same = {word for word in wanted if word.startswith("--") and "=" in word}
    twice = [place for place, pair in enumerate(itertools.pairwise(words)) if "=".join(pair) in same]
    gone = {*twice, *(place + 1 for place in twice)}
    return [word for place, word in enumerate(words) if place not in gone and word not in same]


def _without(words: list[str], names: list[str]) -> list[str]:
    """The words without an earlier value of an option that is said once."""
    gone = [name for name in names if name in _ONCE]
    gone += [other for name in names for other in _INSTEAD_OF.get(name, ())]
    kept: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in gone:
            skip = word not in _FLAGS
        elif word.partition("=")[0] not in gone:
            kept.append(word)
    return kept


def _value_of(name: str, words: list[str]) -> str:
    for place, word in enumerate(words):
        if word.startswith(name + "="):
            return word.partition("=")[2]
        if word == name and place + 1 < len(words):
            return words[place + 1]
    return ""
