"""The libcuda that is found is not the loaded driver's (CUDA error 803)."""

from rigup.diagnosis.causes.driver.modules import same_version
from rigup.diagnosis.causes.places import inside
from rigup.diagnosis.rule import Every, Params, Verdict, every, mends, one, rule, seen, text_rule
from rigup.knowledge.cuda import cuda_of_driver, version_key
from rigup.machine.kinds import Driver, DriverLibrary, KernelModule, LoaderEntry, PathLibrary, Platform, SearchPath, Symptom, World


@rule("libcuda-differs-from-kernel-driver")
def container_brings_its_own_libcuda(
    module: KernelModule = one(name="nvidia"), libraries: Every[DriverLibrary] = every(DriverLibrary, at="container", soname="libcuda.so.1")
) -> Verdict:
    """Inside, no libcuda is the one of the module that all containers share."""
    foreign = [library for library in libraries if library.knows("version") and not same_version(module.version, library.version)]
    return len(foreign) == len(libraries) > 0 and {"path": foreign[0].path}


@rule("libcuda-differs-from-kernel-driver", "likely")
def another_libcuda_stands_first(
    entry: LoaderEntry = one(soname="libcuda.so.1"),
    library: DriverLibrary = one(soname="libcuda.so.1"),
    module: KernelModule = one(name="nvidia"),
    fitting: Every[DriverLibrary] = every(DriverLibrary, soname="libcuda.so.1"),
) -> Verdict:
    """Two drivers lie side by side, and the loader takes the one that does not belong to the module."""
    own = any(same_version(module.version, other.version) for other in fitting if other.knows("version"))
    return own and entry.path == library.path and not same_version(module.version, library.version) and {"path": library.path}


@rule("libcuda-differs-from-kernel-driver", "likely")
def table_shows_the_cuda_of_an_older_library(
    driver: Driver = one(vendor="nvidia"),
    _error: Symptom = seen("cuda-not-initialized", "cuda-init-failed-no-gpu", tag="nvidia-finds-none"),
) -> Verdict:
    """nvidia-smi prints what libcuda carries: less than the driver's branch does means that an older one was found."""
    carried = cuda_of_driver(driver.version)
    return bool(carried) and version_key(driver.cuda) < version_key(carried)[:1]


@rule("libcuda-differs-from-kernel-driver", "likely")
def ollama_meets_another_libcuda(_error: Symptom = seen("ollama-driver-init-failed", code="803")) -> Verdict:
    """ollama prints the driver's number alone: 803 is "unsupported display driver / cuda driver combination"."""
    return True


@rule("libcuda-differs-from-kernel-driver", "likely")
def loader_gives_another_libcuda(
    entry: LoaderEntry = one(soname="libcuda.so.1"),
    module: KernelModule = one(name="nvidia"),
    libraries: Every[DriverLibrary] = every(DriverLibrary, soname="libnvidia-ml.so.1"),
) -> Verdict:
    """The module's own driver is installed, and the loader's cache leads to a libcuda of another one elsewhere."""
    own = any(same_version(module.version, other.version) for other in libraries if other.knows("version"))
    elsewhere = not any(part in entry.path for part in ("/stubs/", "/compat/"))
    return own and elsewhere and not same_version(module.version, entry.version) and {"path": entry.path}


@rule("libcuda-differs-from-kernel-driver", "likely")
def path_leads_to_another_libcuda(
    library: PathLibrary = one(stub=False),
    folder: SearchPath = one(),
    module: KernelModule = one(name="nvidia"),
    platform: Platform | None = None,
) -> Verdict:
    """A folder of the search path holds a libcuda that does not belong to the module; a newer one may be meant."""
    newer = bool(library.get("compat")) and version_key(library.version) > version_key(module.version)
    mine = (
        library.soname.startswith("libcuda.so.")
        and "." in library.version
        and folder.path == library.folder
        and not (platform and platform.get("wsl"))
    )
    return mine and not newer and not same_version(module.version, library.version) and {"path": library.path}


@text_rule("libcuda-differs-from-kernel-driver", "likely")
def inside_lies_a_libcuda_of_another_driver(
    driver: Driver = one(vendor="nvidia"),
    libraries: Every[DriverLibrary] = every(DriverLibrary, soname="libcuda.so.1"),
    symptom: Symptom = seen("cuda-init-failed-no-gpu", "cuda-999", "cuda-not-initialized", tag="nvidia-finds-none"),
    guest: Symptom | None = seen(tag="wsl-spoken-of"),
) -> Verdict:
    """nvidia-smi tells the driver, a listing the libraries: none is of that release, and CUDA does not start."""
    foreign = [lib for lib in libraries if lib.knows("version") and not same_version(driver.version, lib.version)]
    return guest is None and 0 < len(foreign) == len(libraries) and {"path": foreign[0].path, "said": symptom.id}


def _plain(version: str) -> str:
    """TensorFlow writes 470.57.02 as 470.57.2, and 384.130 as 384.130.0."""
    parts = version.rstrip(".").split(".")
    return ".".join(parts[:-1] if parts[-1] == "0" and len(parts) > 2 else parts)


@text_rule("libcuda-differs-from-kernel-driver", "likely")
def tensorflow_tells_two_versions(library: Symptom = seen("tf-tells-libcuda"), kernel: Symptom = seen("tf-tells-the-kernel")) -> Verdict:
    """TensorFlow asks libcuda and the kernel: they answer with different releases."""
    return not same_version(_plain(library.version), _plain(kernel.version)) and {"library": library.version}


@text_rule("libcuda-differs-from-kernel-driver", "likely")
def tensorflows_library_is_not_the_modules(
    library: Symptom = seen("tf-tells-libcuda"),
    module: KernelModule = one(name="nvidia"),
    kernel: Symptom | None = seen("tf-tells-the-kernel"),
) -> Verdict:
    """The same, where the log is cut after the kernel's own file."""
    return kernel is None and not same_version(_plain(library.version), _plain(module.version))


@mends("libcuda-differs-from-kernel-driver")
def whether_it_lies_in_an_image(
    world: World | None = None,
    symptom: Symptom | None = seen(tag="cuda-803", at="container"),
    spoken: Symptom | None = seen(tag="container-spoken-of"),
    library: DriverLibrary | None = one(soname="libcuda.so.1", at="container"),
    recipe: Symptom | None = seen("dockerfile-in-words"),
) -> Params:
    """An image with a driver's packages is built without them; no module is loaded anew for it."""
    contained = bool(world and world.get("container")) or any(part is not None for part in (symptom, library, recipe))
    image = "without a driver" if contained or spoken is not None else None
    return {"image": image, "module": None if contained else "nvidia", **({"path": None} if contained else {})}


@mends("libcuda-differs-from-kernel-driver")
def whether_a_search_path_leads_to_it(
    knew: Params, folder: SearchPath, found: PathLibrary = one(stub=False), module: KernelModule | None = one(name="nvidia")
) -> Params:
    """A folder that is searched first is taken off the path; what lies in it is somebody's own."""
    ours = found.folder == folder.path and found.soname.startswith("libcuda.so")
    fits = module is not None and module.knows("version") and same_version(module.version, found.version)
    return {"path": None, "module": None, "searched": folder.path} if ours and not fits and not knew.get("image") else {}


@mends("libcuda-differs-from-kernel-driver")
def whether_the_right_one_lies_beside_it(
    knew: Params,
    libraries: Every[DriverLibrary] = every(DriverLibrary, soname="libcuda.so.1"),
    module: KernelModule | None = one(name="nvidia"),
    driver: Driver | None = one(vendor="nvidia"),
) -> Params:
    """The driver's own that is merely newer than what runs is not to be removed: the machine waits for a restart."""
    version = (module and module.get("version")) or (driver and driver.get("version"))
    known = [library for library in libraries if library.knows("version") and not inside(library)]
    if not knew.get("module") or not known or not knew.get("path"):
        return {}
    if not version or any(same_version(str(version), str(library.version)) for library in known):
        return {"module": None} if version else {}
    newer = all(version_key(str(library.version)) > version_key(str(version)) for library in known)
    return {"path": None} if newer else {"module": None}


@mends("libcuda-differs-from-kernel-driver")
def whether_the_compatibility_package_is_on_the_path(folder: SearchPath) -> Params:
    """Its libcuda is for a newer CUDA than the driver's, and images put it on the path by themselves."""
    compat = "/cuda" in folder.path and "/compat" in folder.path
    return {"searched": folder.path, "image": None, "path": None, "module": None} if compat else {}


@mends("libcuda-differs-from-kernel-driver")
def whether_the_drivers_own_tool_works(
    knew: Params,
    driver: Driver = one(vendor="nvidia"),
    mismatch: Symptom | None = seen("nvml-version-mismatch", "nvml-version-mismatch-constant"),
    _said: Symptom = seen(tag="cuda-803"),
    library: DriverLibrary | None = one(soname="libcuda.so.1"),
    loaded: KernelModule | None = one(name="nvidia"),
) -> Params:
    """nvidia-smi goes through a library of the same release as the module: to load that anew mends nothing."""
    told = mismatch is None and library is None and loaded is None and driver.knows("version")
    return {"lib": "libcuda.so.1", "module": None} if told and knew.get("module") else {}
