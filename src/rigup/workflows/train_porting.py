"""`rigup train port`: a script is read, ported, and written where that was agreed to."""

import difflib
import os
import re
import tempfile
from pathlib import Path
from typing import Literal

import msgspec

from rigup.language import _
from rigup.schemas.train_port import PortChange, PortRemark, TrainPort
from rigup.train.check.python.modules import UnreadableError
from rigup.train.port.port import Ported, ported
from rigup.train.port.texts import CHANGES, CUDAS, REMARKS
from rigup.workflows.errors import RequestError, as_workflow_errors
from rigup.workflows.scripts import MOST_BYTES, script_bytes

_CUDA = re.compile(r"\.cuda\(|[\"']cuda[:\"']|torch\.cuda\.")


class Porting(msgspec.Struct, frozen=True, kw_only=True):
    """A script as it is and as it would be.

    Attributes:
        ends: what its lines end in.

    """

    path: Path
    before: str
    ends: str
    result: Ported
    helpers: tuple[tuple[str, int], ...] = ()

    @property
    def diff(self) -> str:
        """Unified; "" where nothing is changed."""
        lines = difflib.unified_diff(self.before.splitlines(), self.result.text.splitlines(), str(self.path), str(self.path), lineterm="")
        return "\n".join(lines)

    def write(self) -> None:
        """Put the changed script in its place, whole or not at all. Raises WorkflowError."""
        with as_workflow_errors():
            target = Path(os.path.realpath(self.path))
            handle, part = tempfile.mkstemp(prefix=target.name[:60] + ".", suffix=".part", dir=target.parent)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(self.result.text.replace("\n", self.ends).encode())
                os.chmod(part, target.stat().st_mode & 0o7777)
                os.replace(part, target)
            except BaseException:
                Path(part).unlink(missing_ok=True)
                raise

    def answer(self, written: bool) -> TrainPort:
        """What was found, as data."""
        changes = [
            PortChange(kind=each.kind, line=each.line, why=_(CHANGES[each.kind]).format(name=each.name)) for each in self.result.changes
        ]
        remarks = [
            PortRemark(
                kind=each.kind,
                line=each.line,
                text=_(REMARKS[each.kind]).format(name=each.name, ranks="ranks"),
                stops=each.stops or ("devices" if each.kind in CUDAS else ""),
            )
            for each in self.result.remarks
        ]
        remarks += [
            PortRemark(kind="helper", line=line, text=_(REMARKS["helper"]).format(name=name), stops="devices")
            for name, line in self.helpers
        ]
        return TrainPort(
            verdict=self._verdict(),
            script=str(self.path),
            framework=self.result.framework,
            changes=changes,
            remarks=sorted(remarks, key=lambda remark: remark.line),
            diff=self.diff,
            written=written,
        )

    def _verdict(self) -> Literal["many", "device", "already", "unchanged"]:
        if self.result.framework:
            return "already"
        if not self.result.changes:
            return "unchanged"
        return "many" if self.result.many else "device"


def porting(script: str) -> Porting:
    """Read a script and port it; nothing is written.

    Raises:
        RequestError: it is not there, or is no Python that can be read.

    """
    path = Path(script)
    before, ends = _text(path)
    try:
        result = ported(path.name, before)
    except UnreadableError as error:
        where = f"{script}:{error.line}" if error.line else script
        raise RequestError(_("{path}: this is not Python that can be read: {why}.").format(path=where, why=error.why)) from error
    helpers = () if result.framework else tuple(_helpers(path.parent, before))
    return Porting(path=path, before=before, ends=ends, result=result, helpers=helpers)


def _text(path: Path) -> tuple[str, str]:
    """A script with line feeds, and what its lines ended in. Raises RequestError."""
    data = script_bytes(path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RequestError(_("{path}: it is not UTF-8, so that it cannot be written again as it is.").format(path=path)) from error
    windows = text.count("\r\n")
    if windows and windows == text.count("\n") == text.count("\r"):
        return text.replace("\r\n", "\n"), "\r\n"
    return text, "\n"


def _helpers(folder: Path, text: str) -> list[tuple[str, int]]:
    """Files beside a script that it imports and that name CUDA, with the line of the import."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        hit = re.match(r"(?:from|import)\s+\.?(\w{1,80})", line, re.ASCII)
        path = folder / f"{hit[1]}.py" if hit else None
        try:
            if (
                path is not None
                and path.is_file()
                and path.stat().st_size < MOST_BYTES
                and _CUDA.search(path.read_text("utf-8", "replace"))
            ):
                found.append((path.name, number))
        except OSError:
            continue
    return found
