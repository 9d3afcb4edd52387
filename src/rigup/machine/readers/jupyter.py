"""Notebook kernels: which interpreter each one starts."""

import json
import posixpath
import re

from rigup.machine.kinds import JupyterKernel, PythonEnv, Variable
from rigup.machine.reader import File, Statements, reads
from rigup.machine.readers.values import Draft
from rigup.machine.texts import Text

_KERNELS = "share/jupyter/kernels/*/kernel.json"
_STRING = r'"(?P<value>(?:[^"\\\n]|\\.){0,400})"'


@reads(
    JupyterKernel,
    inputs=[
        File("{HomeFolder.path}/.local/" + _KERNELS),
        File("{HomeFolder.path}/Library/Jupyter/kernels/*/kernel.json"),
        File("{HomeFolder.path}/AppData/Roaming/jupyter/kernels/*/kernel.json"),
        File("/usr/{,local/}" + _KERNELS),
        File("{PythonEnv.prefix}/" + _KERNELS),
        File("{JupyterFolder.path}/kernels/*/kernel.json"),
        File("/ProgramData/jupyter/kernels/*/kernel.json"),
    ],
    marks=('"ipykernel_launcher"', '"ipykernel"'),
)
def jupyter_kernel(text: Text) -> Statements:
    """`{"argv": ["/home/ada/dl/bin/python", "-m", "ipykernel_launcher", …], "display_name": "dl"}`."""
    for argv in text.each(r'"argv"\s{0,20}:\s{0,20}\[\s{0,40}' + _STRING):
        draft = Draft(text, JupyterKernel, argv.start)
        python = _plain(argv["value"])
        folder = re.search(r"([^/\\]{1,100})[/\\]kernel\.json\Z", text.source)
        title = text.first(r'"display_name"\s{0,20}:\s{0,20}' + _STRING)
        draft.add("name", folder[1] if folder else (_plain(title["value"]) if title else None))
        draft.add("path", text.source if folder else None)
        draft.add("shown", _plain(title["value"]) if title else None, title.start if title else None)
        draft.add("python", python)
        draft.add("prefix", prefix_of(python, text.source))
        yield from draft.facts()
        yield from _variables(text, draft.get("name"))
        return


@reads(JupyterKernel, inputs=[File("{JupyterKernel.python}", most=1)])
def kernel_interpreter(_text: Text) -> Statements:
    """That the file is there says nothing new; where it was looked for in vain the look is on record, and `derive` tells of it."""
    yield from ()


def prefix_of(python: str, source: str) -> str | None:
    """The environment of an interpreter; a bare `python` is the one of the environment that the kernel lies in."""
    plain = python.replace("\\", "/")
    if match := re.fullmatch(r"(.{1,300}?)/(?:bin/)?python[\w.]{0,12}", plain):
        return match[1]
    own = re.match(r"(/.{1,300}?)/share/jupyter/", source)
    return own[1] if own and not plain.startswith("/") and not own[1].endswith("/.local") else None


def _variables(text: Text, name: str | None) -> Statements:
    """What the kernel's processes get beside what Jupyter has."""
    env = text.first(r'"env"\s{0,20}:\s{0,20}\{(?P<inner>[^{}]{0,4000})\}')
    for match in re.finditer(r'"([A-Za-z_]\w{1,60})"\s{0,20}:\s{0,20}"((?:[^"\\\n]|\\.){0,400})"', env["inner"] if env else ""):
        draft = Draft(text, Variable, (env.match.start("inner") if env else 0) + match.start())
        draft.add("name", match[1])
        draft.add("value", _plain(match[2]))
        for variable in draft.facts():
            variable.place = text.given._replace(process="kernel:" + (name or ""))
            yield variable


def _plain(literal: str) -> str:
    try:
        return str(json.loads('"' + literal + '"'))
    except ValueError:
        return literal


@reads(marks=("Available kernels:",), adds=(JupyterKernel,))
def kernelspecs(text: Text) -> Statements:
    """`jupyter kernelspec list`: a name and the folder of its kernel.json."""
    for head in text.each(r"^Available kernels:\s*$"):
        for line in re.finditer(
            r"^ {1,8}(\S{1,60}) {1,60}((?:[/~]|[A-Za-z]:\\)\S{1,300})\s*$",
            text.body[head.match.end() : head.match.end() + 8000],
            re.MULTILINE,
        ):
            at = head.match.end() + line.start()
            draft = Draft(text, JupyterKernel, at)
            draft.add("name", line[1])
            draft.add("path", posixpath.join(line[2], "kernel.json"))
            yield from draft.facts()


_BANNER = r"^Python (?P<told>\d\.\d{1,2}\.\d{1,3}[^\n(]{0,80}?) ?(?:\([^\n]{0,120}?)?"
_IPYTHON = _BANNER + r"[ \t]?(?:\[[^\n]{0,80})?\n(?:Type [^\n]{0,160}\n)(?:[ \t]*\n)?IPython \d"
_PLAIN = _BANNER + r"\n?[ \t]?\[(?:GCC|Clang|MSC)[^\n]{0,120}\bon (?:linux|win32|darwin)"


@reads(marks=("\nIPython ",), adds=(JupyterKernel,))
def ipython_banner(text: Text) -> Statements:
    """ipython's banner beside that of another Python: ipython is then installed for that other one only."""
    plain = {hit["told"].strip(" |") for hit in text.each(_PLAIN)}
    for hit in text.each(_IPYTHON):
        if plain and hit["told"].strip(" |") not in plain:
            yield hit.states(JupyterKernel, name="ipython", shown=hit["told"].strip())


_ENTERED = r"^(?:[^\n]{0,60}[$#>%] ?)?(?:(?:conda|source|mamba|micromamba|pyenv|\.) +)?activate +(?P<name>[\w.-]{1,40})[ \t]*$"
_STARTED = r"^(?:[^\n]{0,100}[$#>%] ?)?(?:ipython|jupyter)[ -](?:notebook|lab)\b[^\n]{0,100}$"
_RAN = r"\bsys\.executable\b[^\n]{0,80}\n(?:[ \t]*\n)?[ \t>]{0,4}(?:Out ?\[\d{1,4}\]: ?)?['\"]?(?P<root>(?:[A-Za-z]:[\\/]{1,2}|/)[^\n'\"]{1,300}?)[\\/]{1,2}(?:bin[\\/])?python[\d.]{0,5}(?:\.exe)?['\"]?[ \t]*$"


@reads(
    marks=("jupyter notebook", "jupyter lab", "jupyter-lab", "jupyter-notebook", "ipython notebook"),
    adds=(JupyterKernel, PythonEnv),
    rank=0,
)
def started_in_another(text: Text) -> Statements:
    """`activate work`, `jupyter notebook`, and what `sys.executable` is in it: all three, in this order."""
    entered = text.first(_ENTERED)
    started = next((hit for hit in text.each(_STARTED) if entered and hit.start > entered.start), None)
    ran = next((hit for hit in text.each(_RAN) if started and hit.start > started.start), None)
    if entered is None or ran is None or entered["name"] == "base":
        return
    root = ran["root"].replace("\\\\", "\\")
    yield ran.states(JupyterKernel, name="notebook", prefix=root)
    if re.split(r"[\\/]", root)[-1] != entered["name"]:
        slash = "\\" if "\\" in root else "/"
        above = re.sub(r"[\\/]envs[\\/][^\\/]{1,60}$", "", root)
        yield entered.states(PythonEnv, prefix=slash.join((above, "envs", entered["name"])), active=True)


@reads(marks=("which jupyter", "which ipython", "where jupyter"), adds=(JupyterKernel,), rank=0)
def jupyter_on_the_path(text: Text) -> Statements:
    """`which jupyter` and the program that it found: its kernels are those of the Python beside it."""
    for hit in text.each(
        r"\b(?:which|where|command -v) (?:jupyter|ipython)(?:-\w{3,10})?[ \t]*\n[ \t]*(?P<prefix>(?:/|[A-Z]:\\)[^\s]{1,200}?)[/\\](?:bin|Scripts)[/\\](?:jupyter|ipython)"
    ):
        yield hit.states(JupyterKernel, name="jupyter", prefix=hit["prefix"])
