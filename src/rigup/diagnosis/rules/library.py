"""Libraries: another one in a library's place, or none at all."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.told import Passes
from rigup.knowledge.cuda import version_key
from rigup.knowledge.cuda_libraries import library_of, overwrite
from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import (
    Driver,
    Gpu,
    Package,
    PathLibrary,
    PythonEnv,
    SearchPath,
    Symptom,
    Torch,
    Variable,
)

_OF_A_MAJOR = lazy_regex(r"nvidia-[a-z-]{3,40}-cu\d{2}")

_DIGITS = 4  # of a number of cuDNN up to its eighth release: a thousand a major one
_FOREIGN = lazy_regex(r"cuda|cudnn|nccl|nvidia|conda|tensorrt|/apps/|/sw/|nvhpc|hpc_sdk", re.IGNORECASE)


def _is_of_a_major(name: str) -> bool:
    return _OF_A_MAJOR.fullmatch(name) is not None


def of_a_night(version: str | None) -> bool:
    """Whether that is a build of one night, as `2.8.0.dev20250501+cu128` is."""
    return re.match(r"\d{1,2}\.\d{1,3}\.\d{1,3}\.dev\d{8}", version or "") is not None


def missed_and_there(error: Symptom, present: Symptom | None) -> bool:
    """The environment has the library that is missed, by the number that is asked for."""
    return present is not None and error.get("lib") == present.get("lib") and error.get("want") == present.get("have")


NAMED = Passes(_is_of_a_major)
_GROWING = ("nccl", "cudnn")  # a newer release of the same number adds functions, and torch uses them


# -- another library in its place
@rule("library-clash-ld-library-path")
def the_variable_leads_to_another(
    symptom: Symptom = seen(tag="library-clash"), path: Variable = one(name="LD_LIBRARY_PATH")
) -> Verdict:
    """A library of another version was loaded, and LD_LIBRARY_PATH names folders that hold such."""
    folders = [folder for folder in str(path.value or "").split(":") if _FOREIGN.search(folder)]
    folders.sort(
        key=lambda folder: _stem(symptom) not in folder.lower()
    )  # one that bears the library's name comes first
    return bool(folders) and {"folder": folders[0], "lib": symptom.get("lib"), "symbol": symptom.get("symbol")}


def _stem(symptom: Symptom) -> str:
    """The beginning of the library's name that a message speaks of."""
    name = str(symptom.get("lib") or symptom.get("symbol") or "cudnn")
    return re.sub(r"^(?:lib|_+)|\.so.*$", "", name).lower()[:4]


@rule("library-clash-ld-library-path")
def a_library_lies_on_the_path(
    symptom: Symptom = seen(tag="library-clash"), path_library: PathLibrary = one()
) -> Verdict:
    """The very library that the message speaks of lies in a folder that the loader asks first."""
    return _stem(symptom) in path_library.soname.lower() and {"folder": path_library.folder, "lib": path_library.soname}


@rule("library-clash-ld-library-path")
def ldd_shows_another(
    symptom: Symptom = seen(tag="library-clash"), shown: Symptom = seen("ldd-cuda-library"), header: Symptom | None = seen("cudnn-of-the-headers")
) -> Verdict:  # fmt: skip
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
    library: PathLibrary, path: SearchPath = one(variable="LD_LIBRARY_PATH"), package: Package = one(name=NAMED), env: PythonEnv = one(active=True),
    works: Torch | None = one(available=True), symptom: Symptom | None = seen(tag="library-clash"),
) -> Verdict:  # fmt: skip
    """The same name and an older release: what the wheel was linked against may lack in it. Before it fails it is a warning."""
    part = library_of(library.soname)
    same = part is not None and part[0].stem in _GROWING and package.name.startswith(part[0].package + "-cu")
    here = library.folder == path.path and package.get("env") == env.prefix and works is None and symptom is None
    mine, theirs = version_key(package.get("version", "")), version_key(library.get("version") or "")
    older = len(theirs) > 1 and mine[:1] == theirs[:1] and theirs < mine
    return same and here and older and {"folder": library.folder, "lib": library.soname, "severity": "warning"}


# -- packages that overwrite one another
@rule("pip-cuda-mix")
def two_packages_write_one_file(
    one_of: Package = one(name=NAMED), other: Package = one(name=NAMED), symptom: Symptom | None = seen("cuda-library-not-found", tag="library-clash"), works: Torch | None = one(available=True),
) -> Verdict:  # fmt: skip
    """`nvidia-nccl-cu11` and `-cu12` put one file into one folder. Before anything fails it is a warning; where torch works, a note."""
    if one_of.get("env") != other.get("env") or one_of.name >= other.name:
        return False
    if not overwrite(one_of.name, one_of.get("version", ""), other.name, other.get("version", "")):
        return False
    return {
        "one": one_of.name,
        "other": other.name,
        **({} if symptom else {"severity": "note" if works else "warning"}),
    }


@rule("pip-cuda-mix", "likely")
def one_library_for_two_majors(
    one_of: Package = one(name=NAMED), other: Package = one(name=NAMED), symptom: Symptom | None = seen("cuda-library-not-found", tag="cuda-symbol-missed"), works: Torch | None = one(available=True),
) -> Verdict:  # fmt: skip
    """Where their files bear different numbers, headers and what asks by the plain name are mixed all the same."""
    same = one_of.name[:-2] == other.name[:-2] and one_of.name < other.name
    if not same or one_of.get("env") != other.get("env"):
        return False
    return {
        "one": one_of.name,
        "other": other.name,
        **({} if symptom else {"severity": "note" if works else "warning"}),
    }


@rule("pip-cuda-mix", "likely")
def packages_for_two_majors(
    one_of: Package = one(name=NAMED), other: Package = one(name=NAMED), _said: Symptom = seen(tag="cuda-symbol-missed")
) -> Verdict:
    """A symbol is missing, and packages for two CUDA majors stand in one environment."""
    majors = (one_of.name[-2:], other.name[-2:])
    return one_of.get("env") == other.get("env") and majors[0] < majors[1] and {"one": one_of.name, "other": other.name}


@rule("pip-cuda-mix")
def a_linker_older_than_what_it_links(
    package: Package = one(name=NAMED), symptom: Symptom = seen("cuda-symbol-undefined")
) -> Verdict:
    """`__nvJitLinkComplete_12_4` wants nvJitLink 12.4 or newer, and an older package is installed."""
    wanted = re.search(r"_(\d{2})_(\d{1,2})$", symptom.symbol)
    if not wanted or "nvjitlink" not in package.name or "nvJitLink" not in symptom.symbol:
        return False
    older = version_key(package.version)[:2] < (int(wanted[1]), int(wanted[2]))
    return older and {"one": package.name}


# -- cuDNN
@rule("cudnn-version-incompatible")
def cudnn_older_than_built_for(
    symptom: Symptom = seen("cudnn-differs-from-built", "cudnn-differs-in-caffe2", "cudnn-older-than-compiled"),
) -> Verdict:
    """The message gives both; nothing tells by which way it came."""
    return {"built": _dotted(symptom.built), "found": _dotted(symptom.found)}


@rule("cudnn-version-incompatible", "likely")
def parts_of_two_cudnns(_said: Symptom = seen("cudnn-parts-differ")) -> Verdict:
    """cuDNN's own parts are of two versions."""
    return True


@rule("cudnn-version-incompatible")
def jax_wants_a_newer_cudnn(symptom: Symptom = seen("jax-library-older")) -> Verdict:
    """jax compares what it was built against with what it finds."""
    return symptom.library == "cuDNN" and {"built": symptom.built, "found": symptom.found}


@rule("library-clash-ld-library-path", "possible")
def jax_wants_another_library(symptom: Symptom = seen("jax-library-older")) -> Verdict:
    """An older library than jax's own packages bring was found first."""
    return symptom.library != "cuDNN" and {"lib": symptom.library}


def _dotted(version: str) -> str:
    """As releases are written: `8, 6, 0` and `8600` are 8.6.0; from the ninth on the number has five digits."""
    if version.isdigit():
        major, rest = divmod(int(version), 10_000 if len(version) > _DIGITS else 1_000)
        return f"{major}.{rest // 100}.{rest % 100}"
    return re.sub(r",\s*", ".", version)


# -- nothing of that name
@rule("cuda-runtime-library-missing")
def the_loader_finds_none(
    symptom: Symptom = seen("cuda-library-not-found"), companion: Symptom | None = seen("torch-companion-not-loaded"),
    nvcc: Symptom | None = seen("nvcc-answers"), torch: Torch | None = one(cuda=Passes(bool)), rocm: Torch | None = one(hip=Passes(bool)),
    spare: Symptom | None = seen("cupy-does-without-a-library"), own: Symptom | None = seen("torch-c-part-imported"), nightly: Symptom | None = seen("nightly-torch-asked"),
    dev: Torch | None = one(version=Passes(of_a_night)),
) -> Verdict:  # fmt: skip
    """The loader looked for a file of that name and there is none; where torchaudio asks, it is made for another torch, and CuPy does without some."""
    compiled = nvcc is not None and torch is not None and wanted_by_what_was_compiled(symptom, nvcc, torch)
    aside = spare is not None and spare.library in str(symptom.lib)
    torchs = own is not None and (nightly is not None or dev is not None)
    return companion is None and rocm is None and not (compiled or aside or torchs) and {"lib": symptom.lib}


def wanted_by_what_was_compiled(symptom: Symptom, nvcc: Symptom, torch: Torch) -> bool:
    """Whether the runtime that is missed is that of the nvcc that is shown, and torch is of another major."""
    is_of_nvcc = str(symptom.lib) == f"libcudart.so.{nvcc.version}"
    return is_of_nvcc and str(nvcc.version).partition(".")[0] != str(torch.cuda).partition(".")[0]


@rule("cuda-runtime-library-missing", "likely")
def somebody_names_the_file_of_another_major(
    symptom: Symptom = seen("cuda-library-wanted-in-words"), torch: Torch = one(cuda=Passes(bool)),
    found: Symptom | None = seen("cuda-library-not-found", "linux-library-under-a-windows-path"),
) -> Verdict:  # fmt: skip
    """A file of one CUDA is asked for where torch brought those of another."""
    lib = str(symptom.get("lib") or symptom.get("lib2"))
    other = lib.removeprefix("libcudart.so.").partition(".")[0] != str(torch.cuda).partition(".")[0]
    return found is None and other and {"lib": lib}


@rule("cuda-runtime-library-missing")
def tensorflow_finds_a_card_and_not_a_library(
    symptom: Symptom = seen(tag="tf-misses"), gpu: Gpu = one(vendor="nvidia")
) -> Verdict:
    """On a machine without a GPU the same line is only noise."""
    return bool(gpu.fields) and {"lib": symptom.lib, "program": "tensorflow"}


@rule("cuda-runtime-library-missing")
def tensorflow_skips_its_gpus(
    symptom: Symptom = seen(tag="tf-misses"), _skips: Symptom = seen("tf-skips-gpus", "tf-cannot-dlopen")
) -> Verdict:
    """There were GPUs to be skipped."""
    return {"lib": symptom.lib, "program": "tensorflow"}


@rule("cuda-runtime-library-missing", "likely")
def tensorflow_beside_a_driver(
    symptom: Symptom = seen(tag="tf-misses"), driver: Driver = one(vendor="nvidia")
) -> Verdict:
    """The driver is there."""
    return bool(driver.get("version")) and {"lib": symptom.lib, "program": "tensorflow"}


@rule("cuda-runtime-library-missing", "likely")
def tensorflow_opened_some_of_them(
    symptom: Symptom = seen(tag="tf-misses"), opened: Symptom = seen("tf-library-opened")
) -> Verdict:
    """It comes to the libraries behind the runtime's own only where it has found a GPU."""
    return opened.lib != symptom.lib and {"lib": symptom.lib, "program": "tensorflow"}


@rule("cuda-runtime-library-missing", "likely")
def tensorflow_misses_one_and_somebody_the_gpu(
    symptom: Symptom = seen(tag="tf-misses"), _told: Symptom = seen(tag="gpu-not-used")
) -> Verdict:
    """Who complains that the GPU is not used has one."""
    return {"lib": symptom.lib, "program": "tensorflow"}
