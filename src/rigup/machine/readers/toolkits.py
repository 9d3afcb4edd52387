"""Toolkits beside CUDA and ROCm themselves: cuDNN, oneAPI, and what Windows has of all of them."""

import itertools

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import LoaderEntry, Toolkit
from rigup.machine.reader import File, Listing, Statements, reads
from rigup.machine.texts import Hit, Text, is_typed

_VERSION_OF_FILE = lazy_regex(r"\.so\.(\d{1,4}(?:\.\d{1,5}){1,3})\Z")


@reads(inputs=[Listing("/usr/local/cuda{,-*}/lib64/libcudnn.so.*.*.*")], adds=(Toolkit,))
def cudnn_files(text: Text) -> Statements:
    """`libcudnn.so.9.1.0`: the file's name tells its version."""
    for hit in text.each(r"(?P<folder>/[^\n]{0,200})/libcudnn\.so\.(?P<version>\d{1,2}(?:\.\d{1,4}){2,3})(?: -> [^\n]{1,200})?$"):
        yield hit.states(Toolkit, name="cudnn", version=hit["version"], path=hit["folder"])


@reads(inputs=[File("/usr/{,local/cuda/}include/cudnn_version.h")], marks=("#define CUDNN_MAJOR",), adds=(Toolkit,))
def cudnn_header(text: Text) -> Statements:
    """`#define CUDNN_MAJOR 8`, `… MINOR 9`, `… PATCHLEVEL 7`: what programs are compiled against."""
    parts = {hit["part"]: hit for hit in text.each(r"^[ \t]{0,8}#define CUDNN_(?P<part>MAJOR|MINOR|PATCHLEVEL) (?P<number>\d{1,4})\b")}
    if len(parts) == 3:
        version = ".".join(parts[part]["number"] for part in ("MAJOR", "MINOR", "PATCHLEVEL"))
        folder = text.source.rpartition("/")[0] if text.fresh else ""
        known = {"path": folder} if folder else {}
        yield parts["MAJOR"].states(Toolkit, name="cudnn", version=version, **known)


@reads(inputs=[Listing("/opt/intel/oneapi/{compiler,mkl,ccl,dnnl,pytorch-gpu-dev-*}/20*")], adds=(Toolkit,))
def oneapi_folders(text: Text) -> Statements:
    """`/opt/intel/oneapi/compiler/2025.0`: a folder for each component and release; `latest` is a link."""
    for hit in text.each(r"(?P<path>/opt/intel/oneapi/(?P<part>[\w-]{2,40})/(?P<version>20\d{2}\.[\d.]{1,10}))$"):
        yield hit.states(Toolkit, name="oneapi-" + hit["part"], version=hit["version"], path=hit["path"])


@reads(
    inputs=[
        Listing("/Program Files/AMD/ROCm/*"),
        Listing("/Program Files/NVIDIA GPU Computing Toolkit/CUDA/v*"),
        Listing("/Program Files/NVIDIA/CUDNN/v*"),
        Listing("/Program Files (x86)/Intel/oneAPI/compiler/20*"),
    ],
    adds=(Toolkit,),
)
def windows_toolkits(text: Text) -> Statements:
    """Windows keeps a folder for each release: AMD's HIP SDK, CUDA, cuDNN, oneAPI."""
    names = {"AMD/ROCm": "hip-sdk", "Toolkit/CUDA": "cuda", "NVIDIA/CUDNN": "cudnn", "oneAPI/compiler": "oneapi-compiler"}
    form = r"(?P<path>/Program Files(?: \(x86\))?/(?:NVIDIA GPU Computing )?(?:Intel/)?(?P<kind>AMD/ROCm|Toolkit/CUDA|NVIDIA/CUDNN|oneAPI/compiler)/v?(?P<version>\d{1,4}\.[\d.]{1,10}))$"
    for hit in text.each(form):
        yield hit.states(Toolkit, name=names[hit["kind"]], version=hit["version"], path=hit["path"])


@reads(inputs=[Listing("{LoaderEntry.path}")], adds=(LoaderEntry, Toolkit))
def loader_targets(text: Text) -> Statements:
    """`libcudnn.so.8 -> libcudnn.so.8.9.2`: what a name of the loader's cache leads to."""
    form = r"(?P<path>/[^\n]{0,250}/(?P<soname>lib[\w+.-]{2,80}?))(?: -> (?P<target>[^\n]{1,200}))?$"
    for hit in text.each(form):
        if version := _VERSION_OF_FILE.search(hit["target"] or hit["soname"]):
            yield hit.states(LoaderEntry, soname=hit["soname"], version=version[1])
            if hit["soname"].startswith("libcudnn.so"):
                yield hit.states(Toolkit, name="cudnn", version=version[1], path=hit["path"].rpartition("/")[0])


@reads(adds=(Toolkit,), marks=("Cuda compilation tools, release",), rank=0)
def nvcc(text: Text) -> Statements:
    """`Cuda compilation tools, release 12.4, V12.4.131`: what `nvcc --version` prints, where a text has one alone."""
    hits = list(text.each(r"^[> \t]{0,12}Cuda compilation tools, release \d{1,2}\.\d{1,2}, V(?P<version>\d{1,2}\.\d{1,2}\.\d{1,4})\b"))
    if len({hit["version"] for hit in hits}) == 1:
        yield hits[0].states(Toolkit, name="cuda", version=hits[0]["version"])


_LISTING = r"(?:^|[$#>%] ?)ls(?: -\w{1,8}){0,3} /usr/local(?:/cuda\*|/cuda-\*|/)?(?: *\| *grep [^\n|]{1,30})?[ \t]*$"
_FOLDER = lazy_regex(r"(?<![\w./-])(?:/usr/local/)?cuda-(?P<version>\d{1,2}\.\d{1,2})/?(?=\s|\Z)")
_MOST_LINES = 40


@reads(adds=(Toolkit,), marks=(" /usr/local",), rank=0)
def folders_listed(text: Text) -> Statements:
    """`drwxr-xr-x 15 root root 4096 Apr  7 16:45 cuda-12.4`, or names alone in columns: what `ls` shows of /usr/local."""
    for asked in text.each(_LISTING):
        begin = asked.match.end()
        lines = itertools.islice(text.body[begin:].lstrip("\n").splitlines(keepends=True), _MOST_LINES)
        end = begin + 1 + sum(map(len, itertools.takewhile(lambda line: line.strip() and not is_typed(line), lines)))
        for match in _FOLDER.finditer(text.body, begin, end):
            yield Hit(text, match).states(Toolkit, name="cuda", version=match["version"], path=f"/usr/local/cuda-{match['version']}")
