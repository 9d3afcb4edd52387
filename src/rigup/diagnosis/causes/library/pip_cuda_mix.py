"""Packages for two CUDA releases overwrite each other in one environment."""

import re

from rigup.diagnosis.causes.library.cuda_packages import NAMED
from rigup.diagnosis.rule import Every, HasForm, Params, Verdict, every, mends, one, rule, seen, text_rule
from rigup.knowledge.cuda import version_key
from rigup.knowledge.cuda_libraries import libraries, overwrite, releases_with
from rigup.knowledge.framework_cuda import cuda_of_package
from rigup.knowledge.torch_builds import build, companions, index_url
from rigup.machine.kinds import Package, Symptom, Torch

_CONDAS_CUDA = ("cuda-cudart", "cuda-libraries", "libcublas", "cuda-runtime")
_OF_NVIDIA = re.compile(r"nvidia-[a-z-]{3,40}-cu(\d{2})\d?")


@rule("pip-cuda-mix")
def two_packages_write_one_file(
    one_of: Package = one(name=NAMED),
    other: Package = one(name=NAMED),
    symptom: Symptom | None = seen("cuda-library-not-found", tag="library-clash"),
    works: Torch | None = one(available=True),
) -> Verdict:
    """`nvidia-nccl-cu11` and `-cu12` put one file into one folder. Before anything fails it is a warning; where torch works, a note."""
    if one_of.get("env") != other.get("env") or one_of.name >= other.name:
        return False
    if not overwrite(one_of.name, one_of.get("version", ""), other.name, other.get("version", "")):
        return False
    return {"one": one_of.name, "other": other.name, **({} if symptom else {"severity": "note" if works else "warning"})}


@rule("pip-cuda-mix", "likely")
def one_library_for_two_majors(
    one_of: Package = one(name=NAMED),
    other: Package = one(name=NAMED),
    symptom: Symptom | None = seen("cuda-library-not-found", tag="cuda-symbol-missed"),
    works: Torch | None = one(available=True),
) -> Verdict:
    """Where their files bear different numbers, headers and what asks by the plain name are mixed all the same."""
    same = one_of.name[:-2] == other.name[:-2] and one_of.name < other.name
    if not same or one_of.get("env") != other.get("env"):
        return False
    return {"one": one_of.name, "other": other.name, **({} if symptom else {"severity": "note" if works else "warning"})}


@rule("pip-cuda-mix", "likely")
def packages_for_two_majors(
    one_of: Package = one(name=NAMED), other: Package = one(name=NAMED), _said: Symptom = seen(tag="cuda-symbol-missed")
) -> Verdict:
    """A symbol is missing, and packages for two CUDA majors stand in one environment."""
    majors = (one_of.name[-2:], other.name[-2:])
    return one_of.get("env") == other.get("env") and majors[0] < majors[1] and {"one": one_of.name, "other": other.name}


@rule("pip-cuda-mix")
def a_linker_older_than_what_it_links(package: Package = one(name=NAMED), symptom: Symptom = seen("cuda-symbol-undefined")) -> Verdict:
    """`__nvJitLinkComplete_12_4` wants nvJitLink 12.4 or newer, and an older package is installed."""
    wanted = re.search(r"_(\d{2})_(\d{1,2})$", symptom.symbol)
    if not wanted or "nvjitlink" not in package.name or "nvJitLink" not in symptom.symbol:
        return False
    older = version_key(package.version)[:2] < (int(wanted[1]), int(wanted[2]))
    return older and {"one": package.name}


_OF_ANY_CUDA = HasForm(r"nvidia-[a-z-]{3,30}-cu\d{2,3}")


@text_rule("pip-cuda-mix", "likely")
def linker_of_another_minor_than_torch(
    package: Package = one(name=_OF_ANY_CUDA), torch: Torch = one(), symptom: Symptom = seen(tag="cuda-symbol-missed")
) -> Verdict:
    """nvJitLink counts as CUDA does: another minor than torch's is of another CUDA."""
    row = build(str(torch.get("version"))) if torch.get("version") else None
    cuda = str(torch.get("cuda") or (row.cuda if row else "") or "")
    mine = ".".join(str(package.version).split(".")[:2])
    differs = package.name.startswith("nvidia-nvjitlink") and bool(cuda) and version_key(mine) != version_key(cuda)
    return differs and {"one": package.name, "symbol": symptom.symbol}


@text_rule("pip-cuda-mix", "likely")
def one_library_twice(
    one_of: Package = one(name=_OF_ANY_CUDA), other: Package = one(name=_OF_ANY_CUDA), _said: Symptom = seen(tag="cuda-symbol-missed")
) -> Verdict:
    """`nvidia-cublas-cu11` and `nvidia-cublas-cu117` bring one file."""
    same = one_of.name.rpartition("-cu")[0] == other.name.rpartition("-cu")[0] and one_of.name < other.name
    return same and one_of.get("env") == other.get("env") and {"one": one_of.name, "other": other.name}


@text_rule("pip-cuda-mix", "likely")
def condas_toolkits_of_two_majors(
    one_of: Package = one(manager="conda", name="cudatoolkit"),
    other: Package = one(manager="conda", name=_CONDAS_CUDA),
    _said: Symptom = seen(tag="cuda-symbol-missed"),
) -> Verdict:
    """conda's package of old, and those that came after it, bring libraries of two majors into one folder."""
    same = one_of.get("env") == other.get("env")
    differs = version_key(str(one_of.version))[:1] != version_key(str(other.version))[:1]
    return same and differs and {"one": one_of.name, "other": other.name}


@text_rule("pip-cuda-mix", "likely")
def library_of_another_major_than_torch_asks(statement: Symptom = seen(tag="pip-check-nvidia")) -> Verdict:
    """pip says that torch, or another program, asks for one major of a library, and another is there: its file has another name."""
    differs = version_key(statement.want)[:1] != version_key(statement.have)[:1]
    return differs and {"one": statement.package}


@text_rule("pip-cuda-mix", "possible")
def libraries_are_of_another_minor_than_a_program_asks(
    statement: Symptom = seen(tag="pip-check-nvidia"),
    again: Symptom = seen(tag="pip-check-nvidia"),
    works: Torch | None = one(available=True),
) -> Verdict:
    """pip says of two libraries that they are of another release of CUDA than the one that a program was made for."""
    differs = all(version_key(one_of.want)[:2] != version_key(one_of.have)[:2] for one_of in (statement, again))
    return works is None and differs and str(statement.package) < str(again.package) and {"one": statement.package}


def _of_a_program(names: list[str]) -> Params:
    """Builds of one program for several CUDAs: the newest stays, for it serves the newest of drivers and cards."""
    newest = max(names, key=lambda name: cuda_of_package(name, "") or "")
    return {"others": ", ".join(names), "keep": newest}


def _name(package: object) -> str:
    return str(package.get("name") or "") if isinstance(package, Package) else str(package or "")


@mends("pip-cuda-mix")
def packages_that_the_text_names(
    knew: Params, symptom: Symptom | None = seen("two-majors-in-one-folder", "cupy-twice-installed")
) -> Params:
    """The two by name; of a folder with two numbers, the packages of both majors that put them there."""
    if symptom is not None and symptom.get("stem"):
        files = (f"lib{symptom.stem}.so.{symptom.one}",)
        named = {row.package for row in libraries() if row.stem == symptom.stem}
        other = [f"{base}{row.pip}" for base in named for file in files for row in releases_with(file) if row.pip]
        return {"others": ", ".join(sorted(other)) or None, "again": "torch"}
    if symptom is not None and symptom.get("packages"):
        return _of_a_program([name.strip() for name in str(symptom.packages).split(",")])
    first, second = _name(knew.get("one")), _name(knew.get("other"))
    if first.startswith("cupy") and second.startswith("cupy"):
        return _of_a_program([first, second])
    if first and not first.startswith("nvidia-"):
        return {"of_conda": first}
    both = {name for name in (first, second) if name.startswith("nvidia-")}
    return {"others": ", ".join(sorted(both)) or None, "again": "torch"}


def _cuda_in_name(package: Package) -> str:
    """`cu12` of nvidia-nccl-cu12: torch of today is built for the newer one of two."""
    own = _OF_NVIDIA.fullmatch(str(package.get("name") or ""))
    return own[1] if own else ""


@mends("pip-cuda-mix")
def release_that_is_there(knew: Params, packages: Every[Package] = every(Package)) -> Params:
    """Of two packages in one folder the newer CUDA's own is put there again, at the release that the text tells, where torch's is not known."""
    named = [name.strip() for name in str(knew.get("others") or "").split(",")]
    held = [package for package in packages if package.get("name") in named and package.get("version")]
    newer = max(held, key=_cuda_in_name, default=None)
    if knew.get("again") != "torch" or newer is None or not _cuda_in_name(newer):
        return {}
    return {"again": None, "pinned": f"{newer.name}=={newer.version}"}


@mends("pip-cuda-mix")
def onnxruntime_twice(knew: Params, packages: Every[Package] = every(Package)) -> Params:
    """Both put files into one folder, and the last one wins: the one whose provider is asked for is put there alone."""
    lies_over, wanted = _name(knew.get("one")), _name(knew.get("other"))
    if not wanted.startswith("onnxruntime-"):
        return {}
    release = next((f"=={package.version}" for package in packages if package.get("name") == wanted and package.get("version")), "")
    return {"others": f"{lies_over}, {wanted}", "keep": f"{wanted}{release}", "again": None, "of_conda": None}


@mends("pip-cuda-mix")
def what_pip_says_that_torch_wants(symptoms: Every[Symptom] = every(Symptom, id="pip-check-nvidia-package")) -> Params:
    """pip names the very release of each."""
    wanted = dict.fromkeys(f"{symptom.package}=={symptom.want}" for symptom in symptoms)
    return {"exact": ", ".join(wanted), "others": None, "again": None, "keep": None} if wanted else {}


@mends("pip-cuda-mix")
def a_program_that_wants_another_release(symptom: Symptom = seen("pip-check-nvidia-package-of-another-program")) -> Params:
    """Two programs pin one package to releases that differ: no order of installing serves both."""
    return {"apart": symptom.program, "others": None, "again": None}


def _major(torch: Torch) -> str:
    row = build(str(torch.version)) if torch.knows("version") else None
    return str(torch.get("cuda") or (row.cuda if row else "")).partition(".")[0]


@mends("pip-cuda-mix")
def all_of_the_other_major(knew: Params, torch: Torch, packages: Every[Package] = every(Package)) -> Params:
    """What is for another CUDA than torch goes, all of it: what is left of it would be found again."""
    if knew.get("keep") or knew.get("apart") or knew.get("exact") or knew.get("of_conda"):
        return {}
    major = _major(torch)
    names = [str(package.name) for package in packages if package.get("env") in (None, torch.get("env"))]
    other = sorted(name for name in names if (own := _OF_NVIDIA.fullmatch(name)) and own[1] != major)
    return {"others": ", ".join(other)} if major and other else {}


@mends("pip-cuda-mix")
def torch_again(knew: Params, torch: Torch) -> Params:
    """The same torch again, with all that it brings: what was removed had written over its files."""
    if knew.get("keep") or knew.get("apart") or knew.get("exact") or knew.get("of_conda"):
        return {}
    release, _, local = str(torch.version).partition("+")
    friends, row = companions(release), build(torch.version)
    variant = local or (row.variant if row else "")
    if not variant:
        return {"again": f"torch=={release}", "pinned": None}
    companion = {"torchvision": friends.torchvision} if friends else {}
    return {"release": release, "index": index_url(variant), "again": None, "pinned": None, **companion}


def is_cupy(name: str) -> bool:
    """Whether a package is CuPy for CUDA."""
    return re.fullmatch(r"cupy-cuda\d{2,3}x?", name) is not None
