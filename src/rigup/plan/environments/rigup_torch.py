"""The distribution rigup-torch, `rigup.torch` alone, made of the files of this rigup: for environments that want it.

A wheel of it needs no build and no index. The same release of rigup makes the same bytes on every machine, so that a
lock's hash of it holds wherever that release is.
"""

import base64
import hashlib
import io
import os
import tempfile
import zipfile
from pathlib import Path

from rigup.plan.applying.journal import state
from rigup.version import __version__

NAME = "rigup-torch"
_INFO = f"rigup_torch-{__version__}.dist-info"
_SOURCE = Path(__file__).parents[2] / "torch"
_METADATA = f"""\
Metadata-Version: 2.4
Name: {NAME}
Version: {__version__}
Summary: Devices of torch by one manner: the part of rigup that stands in people's programs
License-Expression: Apache-2.0
Requires-Python: >=3.9
"""
_WHEEL = "Wheel-Version: 1.0\nGenerator: rigup\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def requirement() -> str:
    """What pip and uv are asked for on this machine: `rigup-torch @ file://…`. The file is written where it is not there.

    Raises:
        OSError: it cannot be written.

    """
    return f"{NAME} @ {(wheel_folder() / wheel_name()).as_uri()}"


def pinned() -> str:
    """The same by its release: for another machine with an index that has it, or beside `wheel_folder` as find-links."""
    return f"{NAME}=={__version__}"


def wheel_name() -> str:
    """The wheel's file name."""
    return f"rigup_torch-{__version__}-py3-none-any.whl"


def usual_folder() -> Path:
    """rigup's own folder for it, which lasts."""
    return state() / "wheels"


def wheel_folder(folder: Path | None = None) -> Path:
    """A folder that holds the wheel of this rigup, for `--find-links`.

    Args:
        folder: by default one of rigup's own, which lasts.

    Raises:
        OSError: it cannot be written.

    """
    folder = folder or usual_folder()
    path, body = folder / wheel_name(), wheel()
    if not path.is_file() or path.read_bytes() != body:
        folder.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=folder, prefix=".rigup-draft-")
        with os.fdopen(handle, "wb") as file:
            file.write(body)
        os.chmod(draft, 0o644)
        os.replace(draft, path)
    return folder


def wheel() -> bytes:
    """The wheel: files are stored as they are, for what a compressor makes of them differs from release to release."""
    files = {**_modules(), f"{_INFO}/METADATA": _METADATA.encode(), f"{_INFO}/WHEEL": _WHEEL.encode()}
    rows = [f"{name},sha256={_digest(body)},{len(body)}" for name, body in files.items()]
    files[f"{_INFO}/RECORD"] = "".join(row + "\n" for row in (*rows, f"{_INFO}/RECORD,,")).encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name, body in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system, entry.external_attr = 3, 0o100644 << 16
            archive.writestr(entry, body)
    return packed.getvalue()


def sha256() -> str:
    """The hash of that wheel."""
    return hashlib.sha256(wheel()).hexdigest()


def _modules() -> dict[str, bytes]:
    """Its files by their place; each ends its lines as Unix does, on whatever machine it lies."""
    paths = sorted(path for path in _SOURCE.iterdir() if path.suffix in (".py", ".typed"))
    files = {path.name: path.read_bytes().replace(b"\r\n", b"\n") for path in paths}
    alone = files.pop("standalone.py")
    typed = {"rigup/torch/py.typed": b"", "_rigup_torch/py.typed": b""}
    files.pop("py.typed", None)  # an installed rigup has none there
    return {"rigup/torch.py": alone, **typed, **{f"_rigup_torch/{name}": files[name] for name in files}}


def _digest(body: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b"=").decode()
