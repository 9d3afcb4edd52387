"""Another release of an NVIDIA library is loaded in place of torch's own."""

import re
from posixpath import dirname

from rigup.diagnosis.causes.library.cuda_packages import LIBRARY_PATH, NAMED, jax_brings_its_own
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge.cuda import version_key
from rigup.knowledge.cuda_libraries import folder_of, libraries, library_of, releases_with, usual_release
from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import Package, PathLibrary, PythonEnv, SearchPath, Symptom, Torch, Variable

_FOREIGN = lazy_regex(r"cuda|cudnn|nccl|nvidia|conda|tensorrt|/apps/|/sw/|nvhpc|hpc_sdk", re.IGNORECASE)
_GROWING = ("nccl", "cudnn")  # a newer release of the same number adds functions, and torch uses them
_CONDAS = ("conda", "miniforge", "mamba")
_OF_THE_SYSTEM = re.compile(r"/(?:usr/)?lib(?:64)?(?:/\w{3,12}-linux-gnu)?")  # where every loader looks


def _stem(symptom: Symptom) -> str:
    """The beginning of the library's name that a message speaks of."""
    name = str(symptom.get("lib") or symptom.get("symbol") or "cudnn")
    return re.sub(r"^(?:lib|_+)|\.so.*$", "", name).lower()[:4]


@rule("library-clash-ld-library-path")
def the_variable_leads_to_another(symptom: Symptom = seen(tag="library-clash"), path: Variable = one(name="LD_LIBRARY_PATH")) -> Verdict:
    """A library of another version was loaded, and LD_LIBRARY_PATH names folders that hold such."""
    folders = [folder for folder in str(path.value or "").split(":") if _FOREIGN.search(folder)]
    folders.sort(key=lambda folder: _stem(symptom) not in folder.lower())  # one that bears the library's name comes first
    return bool(folders) and {"folder": folders[0], "lib": symptom.get("lib"), "symbol": symptom.get("symbol")}


@rule("library-clash-ld-library-path")
def a_library_lies_on_the_path(symptom: Symptom = seen(tag="library-clash"), path_library: PathLibrary = one()) -> Verdict:
    """The very library that the message speaks of lies in a folder that the loader asks first."""
    return _stem(symptom) in path_library.soname.lower() and {"folder": path_library.folder, "lib": path_library.soname}


@rule("library-clash-ld-library-path")
def ldd_shows_another(
    symptom: Symptom = seen(tag="library-clash"),
    shown: Symptom = seen("ldd-cuda-library"),
    header: Symptom | None = seen("cudnn-of-the-headers"),
) -> Verdict:
    """ldd resolves the library outside torch's own folders; headers are shown of a program that somebody compiled, which brings none."""
    return header is None and {"folder": shown.path, "lib": shown.lib, "symbol": symptom.get("symbol")}


@rule("library-clash-ld-library-path", "likely")
def torch_says_that_it_is_the_variable(_said: Symptom = seen("cudnn-on-ld-library-path")) -> Verdict:
    """torch looked into LD_LIBRARY_PATH itself."""
    return True


@rule("library-clash-ld-library-path", "likely")
def a_symbol_of_another_release(symptom: Symptom = seen(tag="cuda-symbol-missed")) -> Verdict:
    """A library of NVIDIA's was found, and is of another release than the one that was linked against."""
    return {"lib": symptom.get("lib"), "symbol": symptom.symbol}


@rule("library-clash-ld-library-path", "possible")
def an_older_one_stands_before_the_wheels_own(
    library: PathLibrary,
    path: SearchPath = one(variable="LD_LIBRARY_PATH"),
    package: Package = one(name=NAMED),
    env: PythonEnv = one(active=True),
    works: Torch | None = one(available=True),
    symptom: Symptom | None = seen(tag="library-clash"),
) -> Verdict:
    """The same name and an older release: what the wheel was linked against may lack in it. Before it fails it is a warning."""
    part = library_of(library.soname)
    same = part is not None and part[0].stem in _GROWING and package.name.startswith(part[0].package + "-cu")
    here = library.folder == path.path and package.get("env") == env.prefix and works is None and symptom is None
    mine, theirs = version_key(package.get("version", "")), version_key(library.get("version") or "")
    older = len(theirs) > 1 and mine[:1] == theirs[:1] and theirs < mine
    return same and here and older and {"folder": library.folder, "lib": library.soname, "severity": "warning"}


@rule("library-clash-ld-library-path", "possible")
def jax_wants_another_library(symptom: Symptom = seen("jax-library-older")) -> Verdict:
    """An older library than jax's own packages bring was found first."""
    return symptom.library != "cuDNN" and {"lib": symptom.library}


@text_rule("library-clash-ld-library-path", "possible")
def another_release_lists_the_card(
    symptom: Symptom = seen("xpu-runtime-does-not-start"),
    _listed: Symptom = seen("xpu-lists-a-card"),
    inside: Symptom | None = seen(tag="container-spoken-of"),
) -> Verdict:
    """The driver serves one torch and not the other, which lies in an environment of conda's: its libraries come first there."""
    conda = any(name in str(symptom.get("path")) for name in _CONDAS)
    return conda and inside is None and {"said": symptom.id}


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


@mends("library-clash-ld-library-path")
def way_by_which_it_came(
    knew: Params,
    path: Variable | None = one(name=LIBRARY_PATH),
    torchs: Symptom | None = seen("cudnn-on-ld-library-path", "loader-takes-it-from-the-variable"),
    module: Symptom | None = seen("cudnn-module-loaded", "environment-module-of-cuda", "module-of-nccl-listed"),
    windows: Symptom | None = seen("ollama-asks-physx-runtime", "ollama-finds-a-foreign-library"),
) -> Params:
    """A module that is loaded, the variable where it is shown or spoken of, the very folder; else the variable is what is looked at first."""
    place = next((str(knew[name]) for name in ("folder", "file", "path") if isinstance(knew.get(name), str)), "")
    if module is not None:
        name = place if place and not place.startswith("/") else ""
        return {"module": _module(module) or name or None, "folder": None, "by_module": LIBRARY_PATH, "lib_part": None}
    folder = dirname(place) if ".so" in place else place
    folder = "" if _OF_THE_SYSTEM.fullmatch(folder) else folder
    shown = path is not None or torchs is not None
    return {
        "folder": folder if folder.startswith("/") else None,
        "offered": torchs.id if torchs is not None and torchs.id == "cudnn-on-ld-library-path" else None,
        "shown": LIBRARY_PATH if shown and windows is None else None,
        "renewed": "ollama" if windows is not None and windows.id == "ollama-asks-physx-runtime" else None,
        "guessed": None if shown or folder.startswith("/") or windows is not None else LIBRARY_PATH,
        **_wheels_own(knew),
    }


@mends("library-clash-ld-library-path")
def what_is_imported_before_it(
    knew: Params,
    symptom: Symptom = seen("cuda-symbol-undefined"),
    alone: Symptom | None = seen("torch-is-imported-first"),
    late: Symptom | None = seen("torch-is-imported-by-another-library"),
) -> Params:
    """A program that imports another one's libraries first gets these: torch's are loaded when torch is. Where another library imports torch, nothing speaks of the variable."""
    if not knew.get("guessed") or alone is not None:
        return {}
    return {"first": "torch", **({"guessed": None} if late is not None else {})} if str(symptom.get("file") or "torch") else {}


mends("library-clash-ld-library-path")(jax_brings_its_own)
