"""A CUDA library is not found."""

import re

from rigup.diagnosis.causes.jetson_builds import where_it_lies
from rigup.diagnosis.causes.library.cuda_packages import conda_of, of_a_night, product_name, wanted_by_what_was_compiled
from rigup.diagnosis.rule import Params, Passes, Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge.conda_forge import channel
from rigup.knowledge.cuda import cuda_of_driver, version_key
from rigup.knowledge.cuda_libraries import (
    Asked,
    CudaRelease,
    asked_by,
    built_with,
    extra_of,
    folder_of,
    is_usual_alone,
    library_of,
    package_of,
    releases_with,
    runtime_of,
    usual_release,
)
from rigup.knowledge.cudnn import image_with_cudnn
from rigup.knowledge.framework_cuda import cuda_of_package, jax_extra, named_alike, onnxruntime_releases
from rigup.knowledge.jetson import jetpack_of_l4t, jetson_library, jetson_wheels
from rigup.knowledge.pythons import tensorflow_on_windows
from rigup.machine.kinds import Driver, Gpu, Jetson, Package, Platform, PythonEnv, Symptom, TensorFlow, Toolkit, Torch

_FIRST = ("cudart", "nccl")  # the one it opens at import, GPU or not; the other it opens for collectives alone
_PLAIN = {"CUDA": "the CUDA toolkit"}
_BARE = re.compile(r"(?:lib)?(cudart|cublas(?:Lt)?|cufft|curand|cusolver|cusparse|nvrtc|nccl|cudnn\w*?)(?:\.so|\.dll)?")


@rule("cuda-runtime-library-missing")
def the_loader_finds_none(
    symptom: Symptom = seen("cuda-library-not-found"),
    companion: Symptom | None = seen("torch-companion-not-loaded", "bitsandbytes-told-its-cuda"),
    nvcc: Symptom | None = seen("nvcc-answers"),
    torch: Torch | None = one(cuda=Passes(bool)),
    rocm: Torch | None = one(hip=Passes(bool)),
    spare: Symptom | None = seen("cupy-does-without-a-library"),
    own: Symptom | None = seen("torch-c-part-imported"),
    nightly: Symptom | None = seen("nightly-torch-asked"),
    dev: Torch | None = one(version=Passes(of_a_night)),
) -> Verdict:
    """The loader looked for a file of that name and there is none; where torchaudio asks, it is made for another torch, bitsandbytes may be told so, and CuPy does without some."""
    compiled = nvcc is not None and torch is not None and wanted_by_what_was_compiled(symptom, nvcc, torch)
    aside = spare is not None and spare.library in str(symptom.lib)
    torchs = own is not None and (nightly is not None or dev is not None)
    return companion is None and rocm is None and not (compiled or aside or torchs) and {"lib": symptom.lib}


@rule("cuda-runtime-library-missing", "likely")
def somebody_names_the_file_of_another_major(
    symptom: Symptom = seen("cuda-library-wanted-in-words"),
    torch: Torch = one(cuda=Passes(bool)),
    found: Symptom | None = seen("cuda-library-not-found", "linux-library-under-a-windows-path"),
) -> Verdict:
    """A file of one CUDA is asked for where torch brought those of another."""
    lib = str(symptom.get("lib") or symptom.get("lib2"))
    other = lib.removeprefix("libcudart.so.").partition(".")[0] != str(torch.cuda).partition(".")[0]
    return found is None and other and {"lib": lib}


@rule("cuda-runtime-library-missing")
def tensorflow_finds_a_card_and_not_a_library(symptom: Symptom = seen(tag="tf-misses"), gpu: Gpu = one(vendor="nvidia")) -> Verdict:
    """On a machine without a GPU the same line is only noise."""
    return bool(gpu.fields) and {"lib": symptom.lib, "program": "tensorflow"}


@rule("cuda-runtime-library-missing")
def tensorflow_skips_its_gpus(
    symptom: Symptom = seen(tag="tf-misses"), _skips: Symptom = seen("tf-skips-gpus", "tf-cannot-dlopen")
) -> Verdict:
    """There were GPUs to be skipped."""
    return {"lib": symptom.lib, "program": "tensorflow"}


@rule("cuda-runtime-library-missing", "likely")
def tensorflow_beside_a_driver(symptom: Symptom = seen(tag="tf-misses"), driver: Driver = one(vendor="nvidia")) -> Verdict:
    """The driver is there."""
    return bool(driver.get("version")) and {"lib": symptom.lib, "program": "tensorflow"}


@rule("cuda-runtime-library-missing", "likely")
def tensorflow_opened_some_of_them(symptom: Symptom = seen(tag="tf-misses"), opened: Symptom = seen("tf-library-opened")) -> Verdict:
    """It comes to the libraries behind the runtime's own only where it has found a GPU."""
    return opened.lib != symptom.lib and {"lib": symptom.lib, "program": "tensorflow"}


@rule("cuda-runtime-library-missing", "likely")
def tensorflow_misses_one_and_somebody_the_gpu(
    symptom: Symptom = seen(tag="tf-misses"), _told: Symptom = seen(tag="gpu-not-used")
) -> Verdict:
    """Who complains that the GPU is not used has one."""
    return {"lib": symptom.lib, "program": "tensorflow"}


@text_rule("cuda-runtime-library-missing", "possible")
def tensorflow_was_made_for_another_toolkit(
    answered: TensorFlow = one(gpus=0),
    toolkit: Toolkit = one(name="cuda"),
    _card: Gpu = one(vendor="nvidia"),
    platform: Platform | None = None,
    skips: Symptom | None = seen("tf-library-not-loaded", "tf-library-not-dlopened", "cudnn-not-located", "tf-no-cuda-libraries"),
) -> Verdict:
    """It lists no GPU; it was made for a toolkit whose libraries have other names than those of the one that is told."""
    release = str(answered.get("version") or "")
    wanted = cuda_of_package("tensorflow-gpu", release) or cuda_of_package("tensorflow", release)
    windows = platform is not None and platform.get("system") == "windows"
    idle = windows and tensorflow_on_windows(release) is False
    differs = wanted is not None and not named_alike(wanted, str(toolkit.version))
    return not idle and skips is None and differs and {"program": "tensorflow", "lib": f"CUDA {wanted}"}


@text_rule("cuda-runtime-library-missing", "likely")
def tensorflow_asks_for_what_lies_behind_the_runtime(
    symptom: Symptom = seen(tag="tf-misses"),
    none: Symptom | None = seen(
        "libcuda-not-found", "tf-no-cuda-libraries", "library-asked-for-by-jax", tag="nvidia-driver-silent nvidia-finds-none"
    ),
) -> Verdict:
    """It opens the runtime at import, and all others where the driver has counted a GPU. JAX asks for them at once."""
    lib = str(symptom.lib)
    behind = not any(name in lib for name in _FIRST)
    return behind and none is None and {"lib": lib, "program": "tensorflow"}


@mends("cuda-runtime-library-missing")
def major_of_torch(torch: Torch) -> Params:
    """What stands beside torch in an environment is mostly made for the same CUDA."""
    return {"beside": str(torch.cuda).partition(".")[0]} if torch.get("cuda") else {}


@mends("cuda-runtime-library-missing")
def major_of_a_package(knew: Params, package: Package) -> Params:
    """NVIDIA's own packages bear it in their names, as those of many programs do; of the rest a table knows it."""
    own = re.fullmatch(r"nvidia-[a-z-]{3,40}-cu(\d{2})", package.name)
    cuda = own[1] if own else str(cuda_of_package(package.name, package.get("version") or "") or "").partition(".")[0]
    return {"beside": cuda} if cuda and not knew.get("beside") else {}


@mends("cuda-runtime-library-missing")
def runtime_that_is_missed_too(symptom: Symptom = seen(tag="library-runtime")) -> Params:
    """Of all files the runtime's own tells the release best."""
    return {"runtime": symptom.lib} if "cudart" in str(symptom.get("lib")) else {}


def _lib(knew: Params) -> str:
    """The file that is missed, as the message writes it; a folder before it is none of the name."""
    path = str(knew.get("lib") or knew.get("lib2") or "")
    return re.split(r"[\\/;]", path)[-1] if not path.endswith((";", "/")) else path.partition(";")[0]


@mends("cuda-runtime-library-missing")
def file_that_was_looked_for(knew: Params, none: Symptom = seen("windows-where-finds-none")) -> Params:
    """A message that names no file is one of the file that is shown to be on no path."""
    return {} if _lib(knew) else {"lib": none.lib}


@mends("cuda-runtime-library-missing")
def file_of_windows(knew: Params, platform: Platform | None = None) -> Params:
    """Windows looks for its libraries along PATH, and has no loader path."""
    windows = _lib(knew).lower().endswith(".dll") or (platform is not None and platform.get("system") == "windows")
    return {"windows": "windows" if windows else None, "variable": "PATH" if windows else "LD_LIBRARY_PATH"}


def _in_question(lib: str, runtime: str) -> tuple[CudaRelease, ...]:
    releases = releases_with(lib)
    also = {row.first for row in releases_with(runtime)}
    return tuple(row for row in releases if row.first in also) or releases


def _newest_asked(releases: tuple[CudaRelease, ...], program: str) -> Asked | None:
    """The newest that a build of the program asks for."""
    rows = (row for row in reversed(asked_by(program)) if any(release.holds(row.cuda) for release in releases))
    return next(rows, None)


def _of_major(releases: tuple[CudaRelease, ...], major: object, lib: str) -> CudaRelease | None:
    """The newest of that major number, for files of one name serve for all of them; programs are mostly built for what is usual, or newer."""
    usual = usual_release(lib, releases) if is_usual_alone(lib) else None
    fits = (row for row in reversed(releases) if major and row.major == major)
    return next((row for row in fits if usual is None or int(row.major) >= int(usual.major)), None)


def _holding(releases: tuple[CudaRelease, ...], tested: Asked | None) -> CudaRelease | None:
    return next((row for row in releases if tested and row.holds(tested.cuda)), None)


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
    if product == "cuDNN" and (build := built_with(str(knew.get("program") or ""), str(knew.get("built") or ""))):
        named = f"cuDNN {build.cudnn} (CUDA {build.cuda})"
        way = {"onto_path": named} if knew.get("windows") else {"what": named}
        return {"lib": lib, "package": None, "plain": None, "conda": f"cudnn={build.conda}", "channel": channel(), **way}
    major = str(knew.get("beside") or "")
    product_name = f"CUDA {major}" if product == "CUDA" else f"{product} (CUDA {major})"
    exact = product_name if major and stem else None
    linux = not knew.get("windows")
    return {
        "lib": lib or product,
        "package": None,
        "plain": None if exact else _PLAIN.get(product, product) if lib else "CUDA + cuDNN",
        "what": exact if linux else None,
        "onto_path": None if linux else exact,
    }


@mends("cuda-runtime-library-missing")
def release_that_paddle_names(symptom: Symptom = seen("driver-api-beside-runtime")) -> Params:
    """The CUDA that its build was made with."""
    return {"built": symptom.wants}


@mends("cuda-runtime-library-missing")
def major_of_the_image(knew: Params, shown: Symptom = seen("dockerfile-names-an-image-of-nvidia")) -> Params:
    """What lies in the image is of its CUDA."""
    return {"beside": knew.get("beside") or str(shown.cuda).partition(".")[0]}


@mends("cuda-runtime-library-missing")
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
    product = product_name(lib, release, tested)
    folder, package = folder_of(lib, release), package_of(lib, release)
    linux = not knew.get("windows")
    return {
        "lib": lib,
        "package": package or None,
        "folder": folder,
        "part": folder.removeprefix("nvidia/"),
        "what": product if linux and not package else None,
        "onto_path": None if linux else product,
        "plain": None,
        **(conda_of(tested) if tested else {}),
    }


@mends("cuda-runtime-library-missing")
def package_that_is_there(knew: Params, package: Package) -> Params:
    """The environment has the file, and the program does not look there."""
    wanted = str(knew.get("package") or "").partition("==")[0]
    number = str(knew.get("package") or "").partition("==")[2].removesuffix(".*")
    fits = not number or str(package.get("version") or number).partition(".")[0] == number
    return {"there": knew.get("folder"), "package": None} if wanted and package.name == wanted and fits else {}


@mends("cuda-runtime-library-missing")
def package_of_another_major_stays(knew: Params, torch: Torch, package: Package) -> Params:
    """torch needs the one that is there: the other is put beside it, in a folder that only the program looks into."""
    wanted, _equals, number = str(knew.get("package") or "").partition("==")
    number = number.removesuffix(".*")
    other = number and package.name == wanted and package.get("env") == torch.get("env")
    if not other or str(package.get("version") or number).partition(".")[0] == number or knew.get("windows"):
        return {}
    return {"package": None, "apart": f"{wanted}=={number}.*", "target": f"{_lib(knew).partition('.')[0]}-{number}"}


@mends("cuda-runtime-library-missing")
def toolkit_that_has_it(knew: Params, toolkit: Toolkit = one(name="cuda")) -> Params:
    """A toolkit that is there and has a file of that name."""
    lib, path = _lib(knew), str(toolkit.path).rstrip("/\\")
    library = library_of(lib)
    own = library is not None and not library[0].suffix_from and any(row.holds(str(toolkit.version)) for row in releases_with(lib))
    if not own:
        return {}
    if knew.get("windows"):
        return {"bin": path + "\\bin"} if re.match(r"[A-Za-z]:", path) else {}
    return {"toolkit": path + "/lib64"} if path.startswith("/") else {}


@mends("cuda-runtime-library-missing")
def wheel_that_holds_libdevice(
    _said: Symptom = seen("xla-misses-libdevice"), _looks: Symptom = seen("xla-looks-among-its-wheels")
) -> Params:
    """XLA of TensorFlow looks for libdevice where NVIDIA's wheel of nvcc puts it."""
    return {"searched": "nvidia-cuda-nvcc-cu12"}


@mends("cuda-runtime-library-missing")
def what_the_program_has_for_it(
    knew: Params,
    driver: Driver | None = one(vendor="nvidia"),
    onnx: Package | None = one(name="onnxruntime-gpu"),
    python: PythonEnv | None = None,
) -> Params:
    """Some programs name an extra that brings all of it, or look for the environment's own when they are told to."""
    program = str(knew.get("program") or "")
    extra = extra_of(program)
    version = str(driver.get("version") or "") if driver else ""
    if program == "jax":
        return {"only": jax_extra(version), "plain": None, "package": None, "what": None}
    if extra is None:
        return {}
    if program == "onnxruntime":
        majors = {row.major for row in releases_with(_lib(knew))}
        have, runs = (str(fact.get("version") or "") if fact else "" for fact in (onnx, python))
        releases = onnxruntime_releases(version, majors.pop() if len(majors) == 1 else "", have, runs)
        bound = re.search(r"(?:==|<)([\d.]+)$", releases)
        first = knew.get("windows") and bound and version_key(bound[1]) <= version_key(extra.windows_to)
        named = {"held": extra.windows, "pinned_then": extra.upgrade + releases} if first else {"pinned": extra.upgrade + releases}
        return {"plain": None, **named, "call": extra.call} if releases else {}
    both = bool(extra.upgrade and extra.call)
    alone = {"only": extra.upgrade or None, "alone": extra.call or None}
    return {"plain": None, **({"upgrade": extra.upgrade, "call": extra.call} if both else alone)}


@mends("cuda-runtime-library-missing")
def torchs_own_package_is_missed(symptom: Symptom = seen("torch-library-not-preloaded"), torch: Torch | None = None) -> Params:
    """torch brings it by itself, and what brought it is gone."""
    version = str(torch.get("version") or "").partition("+")[0] if torch else ""
    return {
        "again": f"torch=={version}" if version_key(version) else "torch",
        "package": None,
        "what": None,
        "plain": None,
        "named": symptom.lib,
    }


@mends("cuda-runtime-library-missing")
def linker_finds_none(
    knew: Params, symptom: Symptom = seen("linker-finds-no-cuda-library"), toolkit: Toolkit | None = one(name="cuda")
) -> Params:
    """A linker asks its own variable, and wants the toolkit's folder, not a package of Python's."""
    path = str(toolkit.path) if toolkit and toolkit.knows("path") else ""
    link = f"{path.rstrip('/')}/lib64" if path.startswith("/") else None
    return {"link": link, "package": None, "toolkit": None, "plain": None if link else knew.get("plain"), "named": symptom.lib}


@mends("cuda-runtime-library-missing")
def program_for_another_cuda_than_torch(knew: Params, torch: Torch, by: Symptom = seen("package-imports-from-another")) -> Params:
    """An extension of torch that asks for another major's runtime was compiled for another torch: it is installed again with its own."""
    wanted, had = (re.search(r"libcudart\.so\.(\d{2})", str(knew.get("lib") or "")), re.search(r"\+cu(\d{2})\d", str(torch.get("version"))))
    return {"again": str(by.importer).replace("_", "-"), "package": None} if wanted and had and wanted[1] != had[1] else {}


@mends("cuda-runtime-library-missing")
def library_of_a_module(knew: Params, jetson: Jetson, torch: Torch | None = None) -> Params:
    """On a Jetson JetPack has its own, and NVIDIA's repositories for it the rest; whose number JetPack has not got, that torch is made for another."""
    release, lib = jetpack_of_l4t(str(jetson.get("l4t") or "")), _lib(knew)
    library = library_of(lib)
    if release is None or release.generic or library is None:
        return {}
    none = dict.fromkeys(("package", "plain", "what", "toolkit", "there", "conda"))
    if beside := jetson_library(lib, release.release):
        return {**none, "of_tegra": beside.packages, "repository": beside.repository, "under": beside.folder}
    fits = any(row.holds(release.cuda) for row in releases_with(lib)) and not library[0].suffix_from
    if fits or (library[0].stem, library[1]) == ("cudnn", release.cudnn):
        return {**none, "jetpack": release.release}
    place = where_it_lies(jetson_wheels(release.release))
    named = {
        "library": "beside_torch",
        "keyring": "keyring",
        "torch": "for_jetson",
        "torchvision": "vision",
        "index": "index",
        "links": "links",
        "file": "nvidias",
    }
    return (
        {**none, "other_l4t": jetson.l4t, **{named[key]: value for key, value in place.items() if key in named}} if place and torch else {}
    )


@mends("cuda-runtime-library-missing")
def image_that_brings_it(
    knew: Params,
    shown: Symptom = seen("dockerfile-names-an-image-of-nvidia"),
    other: Symptom | None = seen("containerfile-named"),
    driver: Driver | None = one(vendor="nvidia"),
) -> Params:
    """The Dockerfile's own base with the cuDNN that is asked for, where it starts with the driver: an image asks for the one of its CUDA."""
    library = library_of(_lib(knew))
    if library is None or not library[0].suffix_from or not library[1]:
        return {}
    base = image_with_cudnn(library[1], str(shown.cuda), str(shown.flavour).replace("base", "runtime"), str(shown.os))
    told = {
        "base": base,
        "old_base": shown.image,
        "brings": f"cuDNN {library[1]}",
        "recipe": "Dockerfile" if other is None else "Containerfile",
    }
    carried = cuda_of_driver(str(driver.version)) if driver is not None and driver.knows("version") else None
    starts = carried is None or version_key(base.partition(":")[2].partition("-")[0])[:2] <= version_key(carried)[:2]
    return told if base and starts and base not in str(shown.image) else {}
