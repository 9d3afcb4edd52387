"""What is installed: Python environments, packages, libraries on the loader's paths."""

from rigup.machine.facts import PROCESS, Fact


class PythonEnv(Fact, keys=("prefix",)):
    """A Python environment."""

    prefix: str
    kind: str  # venv, conda, system, user
    base: str  # where its interpreter comes from
    version: str
    machine: str  # the architecture of the interpreter
    active: bool


class Package(Fact, keys=("env", "name"), title=("name",)):
    """An installed distribution of a Python environment."""

    env: str
    name: str  # normalised: lower case, dashes
    version: str
    build: str  # conda's build string
    manager: str  # pip, conda


class Torch(Fact, keys=("env",)):
    """The torch of an environment, as its files or its own report tell."""

    env: str
    version: str
    cuda: str | None
    hip: str | None
    code: list[str]  # what it is compiled for: sm_86, compute_90, gfx1100
    available: bool
    devices: int
    mps_built: bool
    mps_available: bool
    xpu_available: bool
    executable: str
    platform: str  # linux-x86_64, linux-aarch64, macos-arm64, windows-x86_64: what it was built for
    own_hsa: bool  # it brings an HSA runtime of its own


class TensorFlow(Fact, keys=("env",)):
    """The TensorFlow of an environment, as its files or its own answers tell."""

    env: str
    version: str
    built_with_cuda: bool
    gpus: int  # that it sees


class SystemPackage(Fact, keys=("name",)):
    """A package of the distribution (dpkg, rpm, pacman) that has to do with GPUs."""

    name: str
    version: str
    state: str  # installed, removed (its configuration stays), broken (half installed), absent (looked for in vain)
    manager: str  # dpkg, rpm, pacman


class JupyterKernel(Fact, keys=("name", "path"), title=("name",)):
    """A notebook kernel."""

    name: str
    path: str  # of its kernel.json
    shown: str  # the name that the menu shows
    python: str
    prefix: str
    gone: bool  # its interpreter was looked for, and is not there


class HostedNotebook(Fact, keys=("id",), title=("name",)):
    """The service that lends this machine as a notebook, and what it grants by the tables."""

    id: str
    name: str
    session_hours: int | None  # None: no number is promised
    idle_minutes: int | None
    kept: list[str]  # folders that outlast a session
    is_root: bool  # the person may install packages of the system


class JupyterFolder(Fact, keys=("path",)):
    """A folder of Jupyter's data that a variable of the person who asks names; its kernels lie in `kernels`."""

    path: str


class LoaderEntry(Fact, keys=("soname",)):
    """What the loader's cache gives for a name."""

    soname: str
    path: str
    version: str  # of the file that its link leads to


class SearchPath(Fact, keys=("path", "variable"), scope=PROCESS, title=("path",)):
    """A folder in which a process's loader looks before all others."""

    path: str
    variable: str


class PathLibrary(Fact, keys=("path",)):
    """A library that lies in a folder of a search path, or among a toolkit's stubs or compatibility libraries."""

    path: str
    folder: str
    soname: str
    version: str
    stub: bool  # it can be linked against, and does not work
    compat: bool  # NVIDIA's forward compatibility package
