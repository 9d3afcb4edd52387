"""Python environments that tools make in places of their own: pipx, poetry, uv, pdm, hatch, virtualenv, pyenv, conda."""

import re

from rigup.machine.kinds import PythonEnv
from rigup.machine.reader import File, Listing, Statements, reads
from rigup.machine.readers.python import pyvenv
from rigup.machine.texts import Text

# Where each tool keeps what it makes, on Linux, on a Mac and on Windows.
_KEPT = (
    ".local/share/pipx/venvs,.local/pipx/venvs,pipx/venvs,.local/share/uv/tools,.cache/uv/environments-v2,.cache/pypoetry/virtualenvs,"
    ".local/share/pdm/venvs,.local/share/virtualenvs,.pyenv/versions,.pyenv/versions/*/envs,.local/share/hatch/env/virtual/*/*"
)
_KEPT_ELSEWHERE = (
    "Library/{Application Support/pipx/venvs,Caches/pypoetry/virtualenvs,Application Support/pdm/venvs}",
    "AppData/{Local/pypoetry/Cache/virtualenvs,Local/pdm/pdm/venvs,Roaming/uv/tools}",
)
_ROOTS = ".miniconda3,.miniforge3,micromamba,.local/share/mamba"


@reads(
    PythonEnv,
    inputs=[
        File("{HomeFolder.path}/{" + _KEPT + "}/*/pyvenv.cfg"),
        *(File("{HomeFolder.path}/" + folder + "/*/pyvenv.cfg") for folder in _KEPT_ELSEWHERE),
        File("{HomeFolder.path}/*/{.venv,venv,env}/pyvenv.cfg"),
        File("/opt/{*/venv,*/.venv,pipx/venvs/*}/pyvenv.cfg"),
    ],
)
def tools_environments(text: Text) -> Statements:
    """The same file as in every virtual environment."""
    yield from pyvenv(text)


@reads(
    PythonEnv,
    inputs=[
        Listing("{HomeFolder.path}/{" + _ROOTS + "}{,/envs/*}/conda-meta"),
        Listing("{HomeFolder.path}/{,*/}.pixi/envs/*/conda-meta"),
        Listing("/usr/local/conda-meta"),
    ],
)
def more_conda_folders(text: Text) -> Statements:
    """Environments of conda's relatives."""
    for hit in text.each(r"(?P<prefix>/[^\n]{1,300}?)/conda-meta(?: -> [^\n]{1,200})?$"):
        yield hit.states(PythonEnv, prefix=hit["prefix"][hit["prefix"].find("/") :], kind="conda")


@reads(marks=("conda environments:",), adds=(PythonEnv,))
def conda_env_list(text: Text) -> Statements:
    """`conda env list`: a name, a star at the one in force, a path."""
    for head in text.each(r"^[> \t]{0,20}# conda environments:[^\n]{0,80}\n"):
        part = text.body[head.match.end() : head.match.end() + 20_000].split("\n\n")[0]
        for line in re.finditer(
            r"^[^\s#][^\n]{0,80}?[ \t]{1,60}(?P<star>\* +)?(?P<path>(?:/|[A-Za-z]:\\)[^\n]{1,250}?)[ \t]*$", part, re.MULTILINE
        ):
            known = {"active": True} if line["star"] else {}
            yield head.states(PythonEnv, prefix=line["path"], kind="conda", **known)
