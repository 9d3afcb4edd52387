"""The image's compatibility libraries do not work on this card."""

from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge.branches import branch_carrying
from rigup.knowledge.cuda import cuda_of_driver, version_key
from rigup.machine.kinds import Driver, Gpu, KernelModule, PathLibrary, SearchPath, Symptom, Toolkit, Torch


@rule("cuda-compat-libs-on-unsupported-gpu", "likely")
def compatibility_library_comes_first(
    library: PathLibrary = one(compat=True),
    folder: SearchPath = one(),
    module: KernelModule = one(name="nvidia"),
    gpu: Gpu = one(vendor="nvidia"),
) -> Verdict:
    """A libcuda newer than the driver is on the search path; only cards of data centres may use one."""
    newer = version_key(library.version) > version_key(module.version) and library.soname.startswith("libcuda.so")
    return newer and folder.path == library.folder and "GeForce" in gpu.name and {"path": library.path}


@text_rule("cuda-compat-libs-on-unsupported-gpu", "likely")
def folder_of_compatibility_is_put_first(
    path: SearchPath, gpu: Gpu = one(vendor="nvidia"), driver: Driver = one(vendor="nvidia"), works: Torch | None = one(available=True)
) -> Verdict:
    """The loader's path leads through the package's folder, the table shows its CUDA, and no GeForce takes it."""
    carried = cuda_of_driver(driver.version)
    more = bool(carried) and driver.knows("cuda") and version_key(driver.cuda) > version_key(carried or "0")
    folder = "/cuda" in path.path and path.path.rstrip("/").endswith("/compat")
    return more and folder and works is None and "GeForce" in str(gpu.get("name"))


@mends("cuda-compat-libs-on-unsupported-gpu")
def what_comes_before_the_drivers_own(
    driver: Driver | None = one(vendor="nvidia"),
    library: PathLibrary | None = one(compat=True),
    shown: Symptom | None = seen("compatibility-folder-shown"),
    path: SearchPath | None = None,
    torch: Torch | None = None,
    toolkit: Toolkit | None = one(name="cuda"),
) -> Params:
    """An image of the driver's own CUDA needs no compatibility package; else its folder goes off the loader's path."""
    named = path.path if path is not None and "/compat" in path.path else None
    folder = (library and library.get("folder")) or named
    inside = None if folder else (shown and shown.get("compat")) or "/usr/local/cuda/compat"  # of an image, which puts it there by itself
    carried = cuda_of_driver(str(driver.get("version") or "")) if driver is not None else None  # inside, the table shows the package's
    wanted = (torch and torch.get("cuda")) or (toolkit and toolkit.get("version"))
    branch = branch_carrying(str(wanted)) if wanted else None
    return {"carried": carried, "folder": folder, "inside": inside, **({"vendor": "nvidia", "branch": branch} if branch else {})}
