"""The toolkit's stub is loaded in place of the driver's libcuda."""

from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen
from rigup.machine.kinds import LoaderEntry, PathLibrary, SearchPath, Symptom


@rule("libcuda-stub-loaded")
def loader_gives_the_stub(entry: LoaderEntry = one(soname=("libcuda.so.1", "libcuda.so"))) -> Verdict:
    """The loader's cache leads into a toolkit."""
    return "/stubs/" in entry.path and {"path": entry.path, "folder": entry.path.rpartition("/")[0]}


@rule("libcuda-stub-loaded", "likely")
def stub_on_the_search_path(folder: SearchPath, stub: PathLibrary = one(stub=True)) -> Verdict:
    """A folder of stubs is searched before the driver's own."""
    return stub.folder == folder.path and stub.soname.startswith("libcuda.so") and {"folder": folder.path}


@rule("libcuda-stub-loaded", "likely")
def stubs_searched_and_no_gpu(
    folder: SearchPath, _error: Symptom = seen("cuda-999", "cuda-999-constant", "cuda-999-runtime", tag="nvidia-finds-none")
) -> Verdict:
    """Nobody listed the folder, but its name tells, and CUDA fails."""
    return folder.path.endswith("/stubs") and {"folder": folder.path}


@mends("libcuda-stub-loaded")
def folder_of_the_stub(symptom: Symptom = seen("libcuda-from-stubs")) -> Params:
    """The folder that the message names."""
    path = symptom.get("path") or symptom.get("opened") or ""
    return {"folder": path.rpartition("/")[0], "opened": path.rpartition("/")[2]} if path else {}
