"""What a build's own version says of it, and what the knowledge adds: its toolkit, the architectures in it."""

from collections.abc import Iterator
from typing import Any

from rigup.knowledge.patterns import lazy_regex
from rigup.knowledge.torch_builds import build
from rigup.machine.facts import Reading, Where
from rigup.machine.kinds import Torch
from rigup.machine.reader import derives

_LOCAL = lazy_regex(r"cu(?P<major>\d{1,2})(?P<minor>\d)|rocm(?P<rocm>\d{1,2}(?:\.\d{1,2}){1,2})|(?P<cpu>cpu)(?:\.\w{1,20})?")
_BY_VERSION, _BY_TABLE = -1, -2  # ranks: below all that was read


@derives(Torch)
def of_release(torch: Torch) -> Iterator[Torch]:
    """`+cu128` names the toolkit; the table knows what the release's wheels were compiled for."""
    if version := torch.get("version"):
        _toolkit(torch, str(version))
        _code(torch, str(version))
    yield torch


def _toolkit(torch: Torch, version: str) -> None:
    match = _LOCAL.fullmatch(version.partition("+")[2])
    if not match:
        return
    cuda = match["major"] and match["major"] + "." + match["minor"]
    where = torch.fields["version"].where
    torch.absorb(
        {name: Reading(value, where, _BY_VERSION) for name, value in (("cuda", cuda), ("hip", match["rocm"])) if name not in torch.fields}
    )


def _code(torch: Torch, version: str) -> None:
    """Only for wheels of PyTorch's own indexes: somebody else's build has what it has."""
    local = version.partition("+")[2]
    if torch.knows("code") or (local and not _LOCAL.fullmatch(local)) or not (torch.get("cuda") or torch.get("hip")):
        return
    system, _, machine = str(torch.get("platform") or "linux-x86_64").partition("-")
    row: Any = build(version, local or _variant(torch), system, machine or "x86_64")
    if row and row.code and not row.extrapolated:
        source = Where("knowledge/torch_builds", None, ", ".join(row.code))
        torch.absorb({"code": Reading(list(row.code), source, _BY_TABLE)})


def _variant(torch: Torch) -> str:
    """conda's builds and PyPI's do not tell the variant in the version, but they tell the toolkit."""
    if torch.get("hip"):
        return "rocm" + ".".join(str(torch.hip).split(".")[:2])
    return "cu" + "".join(str(torch.cuda).split(".")[:2])
