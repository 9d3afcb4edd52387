"""What mends libraries that stand in one another's place: whose they are, by which way they came, and what has to go."""

import re
from posixpath import dirname

from rigup.diagnosis.rule import Every, Params, every, mends, one, seen, wordings
from rigup.knowledge.cuda_libraries import folder_of, libraries, releases_with, usual_release
from rigup.knowledge.framework_cuda import cuda_of_package, jax_extra
from rigup.knowledge.torch_builds import build, companions, index_url
from rigup.machine.kinds import Driver, Package, Symptom, Torch, Variable

_CLASH, _MIX, _CUDNN = "library-clash-ld-library-path", "pip-cuda-mix", "cudnn-version-incompatible"
_OF_NVIDIA = re.compile(r"nvidia-[a-z-]{3,40}-cu(\d{2})\d?")
_OF_THE_SYSTEM = re.compile(r"/(?:usr/)?lib(?:64)?(?:/\w{3,12}-linux-gnu)?")  # where every loader looks
_VARIABLE = "LD_LIBRARY_PATH"
_TORCHS = wordings(tag="library-places-torchs")


# -- another library in its place
@mends(_CLASH)
def way_by_which_it_came(
    knew: Params, path: Variable | None = one(name=_VARIABLE), torchs: Symptom | None = seen("cudnn-on-ld-library-path", "loader-takes-it-from-the-variable"),
    module: Symptom | None = seen("cudnn-module-loaded", "environment-module-of-cuda", "module-of-nccl-listed"),
    windows: Symptom | None = seen("ollama-asks-physx-runtime", "ollama-finds-a-foreign-library"),
) -> Params:  # fmt: skip
    """A module that is loaded, the variable where it is shown or spoken of, the very folder; else the variable is what is looked at first."""
    place = next((str(knew[name]) for name in ("folder", "file", "path") if isinstance(knew.get(name), str)), "")
    if module is not None:
        name = place if place and not place.startswith("/") else ""
        return {"module": _module(module) or name or None, "folder": None, "shown": _VARIABLE, "lib_part": None}
    folder = dirname(place) if ".so" in place else place
    folder = "" if _OF_THE_SYSTEM.fullmatch(folder) else folder
    shown = path is not None or torchs is not None
    return {
        "folder": folder if folder.startswith("/") else None, "shown": _VARIABLE if shown and windows is None else None,
        "renewed": "ollama" if windows is not None and windows.id == "ollama-asks-physx-runtime" else None,
        "guessed": None if shown or folder.startswith("/") or windows is not None else _VARIABLE, **_wheels_own(knew),
    }  # fmt: skip


def _module(symptom: Symptom) -> str:
    """As `module list` writes it: cudnn/8.4.1."""
    return str(symptom.get("module") or "")


def _wheels_own(knew: Params) -> Params:
    """The folder of the environment's own, where the library is one that a package of PyPI brings."""
    lib, symbol = str(knew.get("lib") or ""), str(knew.get("symbol") or "")
    releases = releases_with(lib)
    if isinstance(knew.get("path"), str):  # Julia's, which knows no environment of Python's
        return {}
    if not releases:
        stem = next((row.stem for row in libraries() if row.stem.lower() in symbol.lower()), "")
        row = next((row for row in libraries() if row.stem == stem), None)
        return {"part": f"{row.folder}/lib", "own": f"nvidia/{row.folder}/lib"} if row and row.folder else {}
    own = folder_of(lib, usual_release(lib, releases) or releases[-1])
    return {"part": own.removeprefix("nvidia/"), "own": own}


@mends(_CLASH)
def what_is_imported_before_it(knew: Params, symptom: Symptom = seen("cuda-symbol-undefined")) -> Params:
    """A program that imports another one's libraries first gets these: torch's are loaded when torch is."""
    return {"first": "torch"} if knew.get("guessed") and str(symptom.get("file") or "torch") else {}


# -- packages that overwrite one another
@mends(_MIX)
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


@mends(_MIX)
def release_that_is_there(knew: Params, packages: Every[Package] = every(Package)) -> Params:
    """Of two packages in one folder the newer CUDA's own is put there again, at the release that the text tells, where torch's is not known."""
    named = [name.strip() for name in str(knew.get("others") or "").split(",")]
    held = [package for package in packages if package.get("name") in named and package.get("version")]
    newer = max(held, key=_cuda_in_name, default=None)
    if knew.get("again") != "torch" or newer is None or not _cuda_in_name(newer):
        return {}
    return {"again": None, "pinned": f"{newer.name}=={newer.version}"}


def _cuda_in_name(package: Package) -> str:
    """`cu12` of nvidia-nccl-cu12: torch of today is built for the newer one of two."""
    own = _OF_NVIDIA.fullmatch(str(package.get("name") or ""))
    return own[1] if own else ""


def _of_a_program(names: list[str]) -> Params:
    """Builds of one program for several CUDAs: the newest stays, for it serves the newest of drivers and cards."""
    newest = max(names, key=lambda name: cuda_of_package(name, "") or "")
    return {"others": ", ".join(names), "keep": newest}


def _name(package: object) -> str:
    return str(package.get("name") or "") if isinstance(package, Package) else str(package or "")


@mends(_MIX)
def onnxruntime_twice(plain: Package = one(name="onnxruntime"), gpu: Package = one(name="onnxruntime-gpu")) -> Params:
    """Both put files into one folder, and the plain one wins."""
    return {
        "others": "onnxruntime, onnxruntime-gpu",
        "keep": "onnxruntime-gpu" if plain.name != gpu.name else None,
        "again": None,
    }


@mends(_MIX)
def what_pip_says_that_torch_wants(symptoms: Every[Symptom] = every(Symptom, id="pip-check-nvidia-package")) -> Params:
    """pip names the very release of each."""
    wanted = dict.fromkeys(f"{symptom.package}=={symptom.want}" for symptom in symptoms)
    return {"exact": ", ".join(wanted), "others": None, "again": None, "keep": None} if wanted else {}


@mends(_MIX)
def a_program_that_wants_another_release(
    symptom: Symptom = seen("pip-check-nvidia-package-of-another-program"),
) -> Params:
    """Two programs pin one package to releases that differ: no order of installing serves both."""
    return {"apart": symptom.program, "others": None, "again": None}


@mends(_MIX)
def all_of_the_other_major(knew: Params, torch: Torch, packages: Every[Package] = every(Package)) -> Params:
    """What is for another CUDA than torch goes, all of it: what is left of it would be found again."""
    if knew.get("keep") or knew.get("apart") or knew.get("exact") or knew.get("of_conda"):
        return {}
    major = _major(torch)
    names = [str(package.name) for package in packages if package.get("env") in (None, torch.get("env"))]
    other = sorted(name for name in names if (own := _OF_NVIDIA.fullmatch(name)) and own[1] != major)
    return {"others": ", ".join(other)} if major and other else {}


def _major(torch: Torch) -> str:
    row = build(str(torch.version)) if torch.knows("version") else None
    return str(torch.get("cuda") or (row.cuda if row else "")).partition(".")[0]


@mends(_MIX)
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


# -- cuDNN
@mends(_CUDNN, _CLASH)
def jax_brings_its_own(
    _said: Symptom = seen("jax-library-older", "jaxlib-raises"), driver: Driver | None = one(vendor="nvidia")
) -> Params:
    """Its extra pins the releases that it was built with."""
    return {"jax": jax_extra(str(driver.get("version") or "") if driver else "")}


@mends(_CUDNN)
def the_cudnn_that_it_was_built_with(
    knew: Params, torch: Torch | None = None, path: Variable | None = one(name=_VARIABLE), own: Symptom | None = seen("cudnn-parts-differ", tag="library-places-torchs"),
) -> Params:  # fmt: skip
    """torch brings its own, which is found again when the variable is gone; other programs live on the system's, or on a package's."""
    release = _dotted(str(knew.get("built") or ""))
    cuda = str(torch.get("cuda") or "").partition(".")[0] if torch else ""
    package = f"nvidia-cudnn-cu{cuda}=={release}.*" if cuda and "." in release else None
    stray = _VARIABLE if own is not None or path is not None or torch is not None else None
    return {
        "stray": stray,
        "package": package,
        "system": release if "." in release and not own and not knew.get("jax") else None,
    }


def _dotted(version: str) -> str:
    """As releases are written: `8, 6, 0` and `8600` are 8.6.0; from the ninth on the number has five digits."""
    if version.isdigit() and len(version) > 3:
        major, rest = divmod(int(version), 10_000 if len(version) > 4 else 1_000)
        return f"{major}.{rest // 100}.{rest % 100}"
    return re.sub(r",\s*", ".", version)
