"""`rigup lab --json` and `rigup lab kernels --json`: Jupyter that was started, and kernels of notebooks."""

from typing import Literal

from msgspec import Struct

KernelFaultId = Literal["not-readable", "no-python", "no-ipykernel", "lacks-variable", "hides-devices", "empty-override", "shadowed"]


class KernelFault(Struct, frozen=True, kw_only=True):
    """What keeps a kernel from working, or from the devices.

    Attributes:
        fault: its id.
        text: a sentence.
        mended: what `rigup lab kernels fix` does about it, as a sentence; None where it can do nothing.

    """

    fault: KernelFaultId
    text: str
    mended: str | None


class Kernel(Struct, frozen=True, kw_only=True):
    """A kernel of notebooks.

    Attributes:
        name: by which Jupyter knows it.
        title: as notebooks show it.
        path: of its kernel.json.
        language: as the file says; "" where it says none.
        python: the program that it starts; None for a kernel of another language.
        environment: the folder of the environment that it runs in; None where it is none.
        torch: the version of torch there, with its build; None where there is none.
        variables: that its processes get beside those of Jupyter.
        faults: what is wrong with it.

    """

    name: str
    title: str
    path: str
    language: str
    python: str | None
    environment: str | None
    torch: str | None
    variables: dict[str, str]
    faults: list[KernelFault]


class LabKernels(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.lab-kernels/1"):
    """Kernels that Jupyter finds on this machine.

    Attributes:
        kernels: in the order in which Jupyter looks; of two with one name it takes the first.

    """

    kernels: list[Kernel]


class Lab(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.lab/1"):
    """Jupyter Lab that serves, or the command that would start it.

    Attributes:
        url: for a browser; its token lets in whoever has it. None where nothing was started.
        vscode_url: for "Existing Jupyter Server" in VS Code; None where nothing was started.
        host: where the server runs: "" on this machine, else as ssh was given it; of a job, the node.
        pid: of rigup, which ends the server when it ends.
        environment: the folder of the environment; None in a container.
        image: of the container; None without one.
        container: by which name its engine knows it; None without one.
        folder: the one that notebooks lie in.
        argv: the command that starts the server; of a job, srun with what is asked of the cluster; empty on another machine.
        variables: that it is given; the token is not among them.
        ends_at: when the allocation of a cluster ends, ISO 8601; None where there is none.

    """

    url: str | None
    vscode_url: str | None
    host: str
    pid: int | None
    environment: str | None
    image: str | None = None
    container: str | None = None
    folder: str
    argv: list[str]
    variables: dict[str, str]
    ends_at: str | None
