"""What the loader finds, and what lies on the search paths before it."""

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import LoaderEntry, PathLibrary, SearchPath
from rigup.machine.reader import File, Listing, Run, Statements, reads
from rigup.machine.texts import Text

_VERSION_OF_FILE = lazy_regex(r"\.so\.(\d{1,4}[\d.]{0,20})\Z")

# Libraries that a GPU build of a framework brings itself, or that belong to the driver.
_NAMES = (
    "cudart",
    "cublas",
    "cublasLt",
    "cudnn",
    "cudnn_*",
    "nccl",
    "cusparse",
    "cusolver",
    "cufft",
    "curand",
    "nvrtc",
    "nvJitLink",
    "cuda",
    "nvidia-ml",
    "amdhip64",
    "rocblas",
    "hipblaslt",
    "hsa-runtime64",
    "MIOpen",
    "rccl",
    "stdc++",
)
_LIBRARY = lazy_regex(
    r"lib(?:cudart|cublas(?:Lt)?|cudnn(?:_\w{1,40})?|nccl|cusparse(?:Lt)?|cusolver(?:Mg)?|cufft|curand|nvrtc|nvJitLink|cupti|cuda|nvidia-ml|"
    r"amdhip64|rocblas|hipblas(?:lt)?|hsa-runtime64|MIOpen|rccl|rocm_smi64|amd_smi|roctracer64|stdc\+\+|tensorflow_framework|torch|torch_cuda|"
    r"torch_cpu|OpenCL|ze_loader|sycl|mkl_sycl|dxcore|d3d12)\.so(?:\.[\w.]{1,30})?"
)


@reads(LoaderEntry, inputs=[Run(("ldconfig", "-p"))], marks=(" (libc6,", "libs found in cache"), whole=r"^\d+ libs found in cache")
def loader_cache(text: Text) -> Statements:
    """`libcuda.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libcuda.so.1`: of several the first is taken."""
    names = set[str]()
    for hit in text.each(r"^\s{0,16}(?P<soname>lib[\w.+-]{2,80}) \((?P<kind>libc6[^)\n]{0,60})\) => (?P<path>/\S{1,250})\s*$"):
        wide = "64" in hit["kind"] or "AArch64" in hit["kind"]
        if wide and hit["soname"] not in names and _LIBRARY.fullmatch(hit["soname"]):
            names.add(hit["soname"])
            yield hit.states(LoaderEntry, soname=hit["soname"], path=hit["path"])


@reads(PathLibrary, inputs=[Listing("{SearchPath.path}/lib" + name + ".so*") for name in _NAMES])
def path_libraries(text: Text) -> Statements:
    """Libraries in a folder of LD_LIBRARY_PATH: they come before those that a framework brings."""
    for hit in text.each(
        r"(?P<path>(?P<folder>/[^\n]{0,250}?)/(?P<soname>lib[\w+.-]{2,80}\.so[\w.]{0,30}))(?: -> (?P<target>[^\n]{1,200}))?$"
    ):
        if not _LIBRARY.fullmatch(hit["soname"]):
            continue
        version = _VERSION_OF_FILE.search(hit["target"] or hit["soname"])
        known = {"version": version[1]} if version else {}
        yield hit.states(PathLibrary, path=hit["path"], folder=hit["folder"], soname=hit["soname"], stub="/stubs" in hit["folder"], **known)


@reads(SearchPath, inputs=[File("/etc/ld.so.conf"), File("/etc/ld.so.conf.d/*.conf")])
def loader_folders(text: Text) -> Statements:
    """Folders that ldconfig takes into its cache."""
    for hit in text.each(r"^(?P<path>/[^\s#]{1,200}(?:cuda|rocm|nvidia|wsl|cudnn|stubs)[^\s#]{0,100})\s*$"):
        yield hit.states(SearchPath, path=hit["path"].rstrip("/"), variable="ld.so.conf")
