"""What the ways to mend a foreign libcuda need: whether it lies in an image, and whether the right one lies beside it."""

from rigup.diagnosis.rule import Every, Params, every, mends, one, seen, wordings
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.driver import same_version
from rigup.knowledge.cuda import version_key
from rigup.machine.kinds import Driver, DriverLibrary, KernelModule, PathLibrary, SearchPath, Symptom, World

_803 = wordings(tag="cuda-803")


@mends("libcuda-stub-loaded")
def folder_of_the_stub(symptom: Symptom = seen("libcuda-from-stubs")) -> Params:
    """The folder that the message names."""
    path = symptom.get("path") or symptom.get("opened") or ""
    return {"folder": path.rpartition("/")[0]} if path else {}


@mends("libcuda-differs-from-kernel-driver")
def whether_it_lies_in_an_image(
    world: World | None = None, symptom: Symptom | None = seen(tag="cuda-803", at="container"), spoken: Symptom | None = seen(tag="container-spoken-of"),
    library: DriverLibrary | None = one(soname="libcuda.so.1", at="container"), recipe: Symptom | None = seen("dockerfile-in-words"),
) -> Params:  # fmt: skip
    """An image with a driver's packages is built without them; no module is loaded anew for it."""
    contained = bool(world and world.get("container")) or any(part is not None for part in (symptom, library, recipe))
    image = "without a driver" if contained or spoken is not None else None
    return {"image": image, "module": None if contained else "nvidia", **({"path": None} if contained else {})}


@mends("libcuda-differs-from-kernel-driver")
def whether_a_search_path_leads_to_it(
    knew: Params,
    folder: SearchPath,
    found: PathLibrary = one(stub=False),
    module: KernelModule | None = one(name="nvidia"),
) -> Params:
    """A folder that is searched first is taken off the path; what lies in it is somebody's own."""
    ours = found.folder == folder.path and found.soname.startswith("libcuda.so")
    fits = module is not None and module.knows("version") and same_version(module.version, found.version)
    return (
        {"path": None, "module": None, "searched": folder.path} if ours and not fits and not knew.get("image") else {}
    )


@mends("libcuda-differs-from-kernel-driver")
def whether_the_right_one_lies_beside_it(
    knew: Params, libraries: Every[DriverLibrary] = every(DriverLibrary, soname="libcuda.so.1"), module: KernelModule | None = one(name="nvidia"),
    driver: Driver | None = one(vendor="nvidia"),
) -> Params:  # fmt: skip
    """The driver's own that is merely newer than what runs is not to be removed: the machine waits for a restart."""
    version = (module and module.get("version")) or (driver and driver.get("version"))
    known = [library for library in libraries if library.knows("version") and not inside(library)]
    if not knew.get("module") or not known or not knew.get("path"):
        return {}
    if not version or any(same_version(str(version), str(library.version)) for library in known):
        return {"module": None} if version else {}
    newer = all(version_key(str(library.version)) > version_key(str(version)) for library in known)
    return {"path": None} if newer else {"module": None}
