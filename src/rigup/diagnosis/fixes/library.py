"""What brings a library that is missed: the release that has a file of that name, its package, and where a program looks for it."""

import re

from rigup.diagnosis.rule import Params, mends, one, seen, wordings
from rigup.knowledge.cuda import version_key
from rigup.knowledge.cuda_libraries import (
    Asked,
    CudaRelease,
    asked_by,
    extra_of,
    folder_of,
    is_usual_alone,
    library_of,
    package_of,
    releases_with,
    runtime_of,
    usual_release,
)
from rigup.knowledge.cuda_toolkits import conda_toolkit
from rigup.knowledge.framework_cuda import cuda_of_package, jax_extra
from rigup.machine.kinds import Driver, Package, Platform, Symptom, Toolkit, Torch

_MISSING = "cuda-runtime-library-missing"
_RUNTIME = wordings(tag="library-runtime")
_PLAIN = {"CUDA": "the CUDA toolkit"}
_BARE = re.compile(r"(?:lib)?(cudart|cublas(?:Lt)?|cufft|curand|cusolver|cusparse|nvrtc|nccl|cudnn\w*?)(?:\.so|\.dll)?")


def _lib(knew: Params) -> str:
    """The file that is missed, as the message writes it; a folder before it is none of the name."""
    path = str(knew.get("lib") or knew.get("lib2") or "")
    return re.split(r"[\\/;]", path)[-1] if not path.endswith((";", "/")) else path.partition(";")[0]


# -- which CUDA it is that a program wants
@mends(_MISSING)
def major_of_torch(torch: Torch) -> Params:
    """What stands beside torch in an environment is mostly made for the same CUDA."""
    return {"beside": str(torch.cuda).partition(".")[0]} if torch.get("cuda") else {}


@mends(_MISSING)
def major_of_a_package(knew: Params, package: Package) -> Params:
    """NVIDIA's own packages bear it in their names, as those of many programs do; of the rest a table knows it."""
    own = re.fullmatch(r"nvidia-[a-z-]{3,40}-cu(\d{2})", package.name)
    cuda = own[1] if own else str(cuda_of_package(package.name, package.get("version") or "") or "").partition(".")[0]
    return {"beside": cuda} if cuda and not knew.get("beside") else {}


@mends(_MISSING)
def runtime_that_is_missed_too(symptom: Symptom = seen(tag="library-runtime")) -> Params:
    """Of all files the runtime's own tells the release best."""
    return {"runtime": symptom.lib} if "cudart" in str(symptom.get("lib")) else {}


@mends(_MISSING)
def file_of_windows(knew: Params, platform: Platform | None = None) -> Params:
    """Windows looks for its libraries along PATH, and has no loader path."""
    windows = _lib(knew).lower().endswith(".dll") or (platform is not None and platform.get("system") == "windows")
    return {"windows": "windows" if windows else None, "variable": "PATH" if windows else "LD_LIBRARY_PATH"}


@mends(_MISSING)
def release_that_has_it(knew: Params) -> Params:
    """The release and the package of PyPI that bring it: of several, what stands beside it decides, or what its program is built with."""
    lib = _lib(knew)
    if toolkit := re.fullmatch(r"CUDA (\d{1,2}\.\d{1,2})", lib):
        lib = runtime_of(toolkit[1], bool(knew.get("windows"))) or lib
    releases = _in_question(lib, str(knew.get("runtime") or ""))
    tested = _newest_asked(releases, str(knew.get("program") or ""))
    release = _of_major(releases, knew.get("beside"), lib) or _holding(releases, tested) or usual_release(lib, releases)
    if release is None:
        return _nameless(lib, knew)
    tested = tested if tested and release.holds(tested.cuda) else None
    product = _product_name(lib, release, tested)
    folder, package = folder_of(lib, release), package_of(lib, release)
    linux = not knew.get("windows")
    return {
        "lib": lib, "package": package or None, "folder": folder, "part": folder.removeprefix("nvidia/"),
        "what": product if linux and not package else None, "onto_path": None if linux else product, "plain": None,
        **(_of_conda(tested) if tested else {}),
    }  # fmt: skip


def _in_question(lib: str, runtime: str) -> tuple[CudaRelease, ...]:
    releases = releases_with(lib)
    also = {row.first for row in releases_with(runtime)}
    return tuple(row for row in releases if row.first in also) or releases


def _of_major(releases: tuple[CudaRelease, ...], major: object, lib: str) -> CudaRelease | None:
    """The newest of that major number, for files of one name serve for all of them; programs are mostly built for what is usual, or newer."""
    usual = usual_release(lib, releases) if is_usual_alone(lib) else None
    fits = (row for row in reversed(releases) if major and row.major == major)
    return next((row for row in fits if usual is None or int(row.major) >= int(usual.major)), None)


def _newest_asked(releases: tuple[CudaRelease, ...], program: str) -> Asked | None:
    """The newest that a build of the program asks for."""
    rows = (row for row in reversed(asked_by(program)) if any(release.holds(row.cuda) for release in releases))
    return next(rows, None)


def _holding(releases: tuple[CudaRelease, ...], tested: Asked | None) -> CudaRelease | None:
    return next((row for row in releases if tested and row.holds(tested.cuda)), None)


def _product_name(lib: str, release: CudaRelease, tested: Asked | None) -> str:
    """As people look for it: "CUDA 11.8", "cuDNN 9 for CUDA 12", "CUDA 10.1 and cuDNN 7.6"."""
    if tested:
        return f"CUDA {tested.cuda} + cuDNN {tested.cudnn}"
    library = library_of(lib)
    if library and library[0].suffix_from:
        return f"{library[0].product} {library[1]} (CUDA {release.major})"
    return f"CUDA {release.last or release.major}"


def _of_conda(tested: Asked) -> Params:
    """The same libraries for an environment of conda's."""
    toolkit = conda_toolkit(tested.cuda)
    if toolkit is None:
        return {}
    return {"conda": ",".join((*toolkit.packages, f"cudnn={tested.cudnn}")), "channel": toolkit.channel}


def _nameless(lib: str, knew: Params) -> Params:
    """A file without a number: the toolkit of the CUDA that stands beside it, or of nobody knows which."""
    stem = _BARE.fullmatch(lib)
    product = "CUDA"
    if knew.get("program") and "." not in lib and not stem:
        lib = ""
    if stem and stem[1].startswith("cudnn"):
        product = "cuDNN"
    elif "nvinfer" in lib:
        product = "TensorRT"
    elif not stem and lib:
        product = lib
    major = str(knew.get("beside") or "")
    product_name = f"CUDA {major}" if product == "CUDA" else f"{product} (CUDA {major})"
    exact = product_name if major and stem else None
    linux = not knew.get("windows")
    return {
        "lib": lib or product, "package": None, "plain": None if exact else _PLAIN.get(product, product) if lib else "CUDA + cuDNN",
        "what": exact if linux else None, "onto_path": None if linux else exact,
    }  # fmt: skip


# -- where it lies already, and what brings it by itself
@mends(_MISSING)
def package_that_is_there(knew: Params, package: Package) -> Params:
    """The environment has the file, and the program does not look there."""
    wanted = str(knew.get("package") or "").partition("==")[0]
    number = str(knew.get("package") or "").partition("==")[2].removesuffix(".*")
    fits = not number or str(package.get("version") or number).partition(".")[0] == number
    return {"there": knew.get("folder"), "package": None} if wanted and package.name == wanted and fits else {}


@mends(_MISSING)
def package_of_another_major_stays(knew: Params, torch: Torch, package: Package) -> Params:
    """torch needs the one that is there: the other is put beside it, in a folder that only the program looks into."""
    wanted, _equals, number = str(knew.get("package") or "").partition("==")
    number = number.removesuffix(".*")
    other = number and package.name == wanted and package.get("env") == torch.get("env")
    if not other or str(package.get("version") or number).partition(".")[0] == number or knew.get("windows"):
        return {}
    return {"package": None, "apart": f"{wanted}=={number}.*", "target": f"{_lib(knew).partition('.')[0]}-{number}"}


@mends(_MISSING)
def toolkit_that_has_it(knew: Params, toolkit: Toolkit = one(name="cuda")) -> Params:
    """A toolkit that is there and has a file of that name."""
    lib, path = _lib(knew), str(toolkit.path).rstrip("/\\")
    library = library_of(lib)
    own = (
        library is not None
        and not library[0].suffix_from
        and any(row.holds(str(toolkit.version)) for row in releases_with(lib))
    )
    if not own:
        return {}
    if knew.get("windows"):
        return {"bin": path + "\\bin"} if re.match(r"[A-Za-z]:", path) else {}
    return {"toolkit": path + "/lib64"} if path.startswith("/") else {}


@mends(_MISSING)
def what_the_program_has_for_it(knew: Params, driver: Driver | None = one(vendor="nvidia")) -> Params:
    """Some programs name an extra that brings all of it, or look for the environment's own when they are told to."""
    program = str(knew.get("program") or "")
    extra = extra_of(program)
    if program == "jax":
        version = str(driver.get("version") or "") if driver else ""
        return {"only": jax_extra(version), "plain": None, "package": None, "what": None}
    if extra is None:
        return {}
    both = bool(extra.upgrade and extra.call)
    alone = {"only": extra.upgrade or None, "alone": extra.call or None}
    return {"plain": None, **({"upgrade": extra.upgrade, "call": extra.call} if both else alone)}


@mends(_MISSING)
def torchs_own_package_is_missed(
    symptom: Symptom = seen("torch-library-not-preloaded"), torch: Torch | None = None
) -> Params:
    """torch brings it by itself, and what brought it is gone."""
    version = str(torch.get("version") or "").partition("+")[0] if torch else ""
    return {
        "again": f"torch=={version}" if version_key(version) else "torch",
        "package": None,
        "what": None,
        "plain": None,
        "named": symptom.lib,
    }


@mends(_MISSING)
def linker_finds_none(
    knew: Params, symptom: Symptom = seen("linker-finds-no-cuda-library"), toolkit: Toolkit | None = one(name="cuda")
) -> Params:
    """A linker asks its own variable, and wants the toolkit's folder, not a package of Python's."""
    path = str(toolkit.path) if toolkit and toolkit.knows("path") else ""
    link = f"{path.rstrip('/')}/lib64" if path.startswith("/") else None
    return {
        "link": link,
        "package": None,
        "toolkit": None,
        "plain": None if link else knew.get("plain"),
        "named": symptom.lib,
    }
