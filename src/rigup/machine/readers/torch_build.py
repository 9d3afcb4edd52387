"""Which build a torch is, from the packages that stand for it."""

import re
from collections.abc import Iterator

from rigup.knowledge.patterns import lazy_regex
from rigup.knowledge.torch_builds import variant_for_pypi
from rigup.machine.facts import Reading
from rigup.machine.kinds import Package, Torch
from rigup.machine.reader import derives

_TOLD = -1  # rank: what a version or build string tells
_LOCAL = lazy_regex(r"\+(?:(?P<cuda>cu\d{2,4})|(?P<hip>rocm\d[\d.]*)|(?P<none>cpu|xpu))")
_BUILD = lazy_regex(r"(?:^|_)cuda_?(?P<cuda>\d{1,2}\.?\d{1,2})|(?P<none>(?:^|_)cpu)|(?:^|_)rocm_?(?P<hip>\d[\d.]*)")


@derives(Torch)
def torch_of_package(package: Package) -> Iterator[Torch]:
    """The distribution `torch` of pip, `pytorch` of conda, with what their version and build strings tell."""
    if package.get("name") not in ("torch", "pytorch", "libtorch") or not package.knows("version"):
        return
    if package.name != "torch" and package.get("manager") != "conda":
        return
    if package.name == "libtorch" and not package.get("build"):
        return
    reading = package.fields["version"]
    fields = {"version": reading._replace(rank=reading.rank - 1)} if package.name != "libtorch" else {}
    fields |= variant(package.get("build") or "", _BUILD, package.fields.get("build", reading)) if package.get("manager") == "conda" else {}
    if package.knows("env"):
        fields["env"] = package.fields["env"]
    if set(fields) - {"env"}:
        yield Torch(package.place, fields)


def variant(build: str, form: re.Pattern[str], at: Reading) -> dict[str, Reading]:
    """CUDA and HIP that a local version or a build string names; a CPU build has neither."""
    match = form.search(build)
    if not match:
        return {}
    tags = {name: value for name, value in match.groupdict().items() if value}
    if "cuda" in tags:
        return {"cuda": at._replace(value=dotted(tags["cuda"]), rank=_TOLD), "hip": at._replace(value=None, rank=_TOLD)}
    if "hip" in tags:
        hip = tags["hip"].removeprefix("rocm").rstrip(".")
        return {"cuda": at._replace(value=None, rank=_TOLD), "hip": at._replace(value=hip, rank=_TOLD)}
    return {name: at._replace(value=None, rank=_TOLD) for name in ("cuda", "hip")}


def dotted(cuda: str) -> str:
    """cu118 and 118 are 11.8."""
    digits = cuda.removeprefix("cu")
    return digits if "." in digits else f"{digits[:-1]}.{digits[-1]}"


@derives(Torch)
def none_counted_is_none_available(torch: Torch) -> Iterator[Torch]:
    """`is_available()` is whether the count is more than none; who printed the count alone has said both."""
    if torch.get("devices") == 0 and not torch.knows("available"):
        yield Torch(torch.place, {"available": torch.fields["devices"]._replace(value=False, rank=_TOLD)})


@derives(Torch)
def pypi_of_torch(torch: Torch) -> Iterator[Torch]:
    """PyPI's wheels for Windows and macOS: which variant they are, the table of builds tells."""
    system, _, machine = str(torch.get("platform") or "").partition("-")
    version = torch.get("version") or ""
    if system in ("windows", "macos") and re.fullmatch(r"\d+\.\d+(?:\.\d+)?", version) and not torch.knows("cuda"):
        known = variant_for_pypi(version, system, machine)
        torch.absorb(
            {name: new for name, new in variant("+" + (known or ""), _LOCAL, torch.fields["version"]).items() if name not in torch.fields}
        )
    yield torch
