"""`rigup train new` and `rigup train port`: a project is written, a script is changed."""

import os
import shutil
import tempfile
from pathlib import Path

from rigup.language import _
from rigup.schemas.train_project import TrainNew
from rigup.train.project.files import KINDS, ProjectError, Wish, project_files
from rigup.workflows.errors import RequestError, as_workflow_errors

_NEXT = ("python -m pip install -r requirements.txt", "python -m pytest", "python train.py", "sbatch job.sbatch")


def new_project(
    kind: str, folder: str, *, nodes: int = 1, gpus: int = 1, cpus: int = 4, time: str = "04:00:00", partition: str = ""
) -> TrainNew:
    """Write a project into a folder that is not there, or is empty; all of it, or nothing.

    Raises:
        RequestError: the folder holds something, or the numbers are none that a job can have.

    """
    if kind not in KINDS:
        raise RequestError(_("{kind}: there is no such project. There are: {kinds}.").format(kind=kind, kinds=", ".join(KINDS)))
    path = Path(folder)
    try:
        wish = Wish(name=path.absolute().name, nodes=nodes, gpus=gpus, cpus=cpus, time=time, partition=partition)
    except ProjectError as error:
        raise RequestError(str(error)) from error
    files = project_files(kind, wish)
    with as_workflow_errors():
        _vacant(path)
        _placed(path, files)
    return TrainNew(kind=kind, folder=str(path), files=list(files), next=list(_NEXT))


def _vacant(path: Path) -> None:
    try:
        os.lstat(path)
    except FileNotFoundError:
        return
    except ValueError as error:  # a name with a null character
        raise RequestError(_("{path}: {why}.").format(path=path, why=error)) from error
    if path.is_symlink() or not path.is_dir() or any(path.iterdir()):
        raise RequestError(_("{path} is not empty. Name a folder that is not there yet, or an empty one.").format(path=path))


def _placed(path: Path, files: dict[str, str]) -> None:
    """Write beside it, and then let the whole take its place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=".rigup-", dir=path.parent))
    try:
        for name, text in files.items():
            (part / name).parent.mkdir(parents=True, exist_ok=True)
            (part / name).write_text(text, encoding="utf-8")
        part.chmod(0o777 & ~_mask())
        if path.is_dir():
            for entry in part.iterdir():
                os.replace(entry, path / entry.name)
            part.rmdir()
        else:
            os.replace(part, path)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
