"""What an image contains, told by its name and the tables; and which image a wish is taken from."""

import re
from functools import cached_property

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.chips import isa_order
from rigup.knowledge.cuda import toolkit_isas, version_key
from rigup.knowledge.environment_images import Image as Row
from rigup.knowledge.torch_builds import build as torch_build
from rigup.stack.candidate import Candidate
from rigup.stack.site import Site

_BACKENDS = {"nvidia": "cuda", "amd": "rocm", "intel": "xpu", "cpu": "cpu", "any": "vulkan"}
_CUDA_WORDS = re.compile(r"(?:^|[-_.])(?:cu|cuda)-?(\d{2})\.?(\d)(?!\d)")
_ROCM_WORD = re.compile(r"rocm[-_]?(\d{1,2}\.\d{1,2}(?:\.\d{1,2})?)")
_ROCM_TAG = re.compile(r"(\d{1,2}\.\d{1,2}(?:\.\d{1,2})?)(?:-complete|-full)?")
_TORCH_WORD = re.compile(r"(?:py)?torch(?:_release)?[-_v]{0,2}(\d{1,2}\.\d{1,2}(?:\.\d{1,2})?)")


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """What images of a name are for; see the table `container_runs`."""

    repository: str = ""
    tag: str = ""
    vendor: str = ""
    framework: str = ""
    server: bool = False
    own_token: bool = False
    shm: bool = False
    guarded: bool = False
    compat: bool = False
    jetson: bool = False
    system: bool = False
    sets_arch: bool = False
    isa_min: str = ""
    cuda: str = ""
    rocm: str = ""
    code: tuple[str, ...] = ()
    machine: tuple[str, ...] = ()
    user: str = ""
    cache: str = ""
    gpu_tag: str = ""
    source: str = ""


class Cache(msgspec.Struct, frozen=True, kw_only=True):
    """A folder below a home that a program looks into, and the variable that says where it is."""

    id: str
    folder: str
    variable: str
    inside: str = ""
    below_root: bool = False
    source: str = ""


class _Chosen(msgspec.Struct, frozen=True, kw_only=True):
    wish: str
    kind: str
    image: str
    machine: str = ""
    jetpack: str = ""


class _Limit(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    version: str
    source: str = ""


class _Ngc(msgspec.Struct, frozen=True, kw_only=True):
    tag: str
    torch: str
    cuda: str
    ubuntu: str = ""
    python: str = ""
    gpu_archs: str = ""


class Image(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """An image by its name.

    Attributes:
        name: as it stands in a command.
        repository: without docker.io and library/.
        tag: "" where there is none.
        build: what is in it, as far as the tables tell; its `kind` is "unknown" where they tell nothing.

    """

    name: str
    repository: str
    tag: str
    digest: bool
    kind: Kind
    build: Candidate

    @cached_property
    def vendor(self) -> str:
        """Whose devices it is for; "" where that is not known."""
        return self.kind.vendor

    @property
    def torch(self) -> str:
        """The release of torch in it, "" for none or unknown."""
        return self.build.version if self.build.package == "torch" and self.build.version else ""

    @property
    def pinned(self) -> bool:
        """It stays what it is."""
        return self.digest or (
            bool(self.tag) and not re.search(r"latest|nightly|^main$|^master$|^edge$|^dev$", self.tag)
        )


def limit(name: str) -> tuple[int, ...]:
    """The release from which on an engine can do something. Raises KnowledgeError for a malformed table."""
    return next(version_key(row.version) for row in tables.rows("container_runs", "limit", _Limit) if row.id == name)


def caches() -> tuple[Cache, ...]:
    """Folders that programs look into. Raises KnowledgeError for a malformed table."""
    return tables.rows("container_runs", "cache", Cache)


def split(name: str) -> tuple[str, str, bool]:
    """Repository, tag and whether a digest stands there."""
    plain = re.sub(r"^docker(?:-daemon)?://", "", name)
    plain, at, _digest = plain.partition("@")
    head, slash, tail = plain.rpartition("/")
    last, _colon, tag = tail.partition(":")
    repository = re.sub(r"^(?:(?:index|registry-1)\.)?docker\.io/(?:library/)?", "", head + slash + last)
    return repository, tag, bool(at)


def image(name: str, machine: str = "x86_64") -> Image:
    """What a name tells. Raises KnowledgeError for a malformed table."""
    repository, tag, digest = ("", name.rpartition("/")[2], True) if _is_path(name) else split(name)
    kind = _kind(repository, tag)
    build = _known(repository, tag) or _candidate(repository, tag, kind, machine)
    if kind.isa_min and not build.isa_min and build.kind == "cuda":
        build = msgspec.structs.replace(build, isa_min=kind.isa_min)
    if not kind.vendor and build.kind != "unknown":
        vendor = next((maker for maker, how in _BACKENDS.items() if how == build.kind), "")
        kind = msgspec.structs.replace(kind, vendor=vendor, shm=kind.shm or build.package == "torch")
    return Image(name=name, repository=repository, tag=tag, digest=digest, kind=kind, build=build)


def _is_path(name: str) -> bool:
    return name.endswith(".sif") or name.startswith(("/", "./", "../"))


@tables.remembered
def _kinds() -> tuple[tuple[re.Pattern[str], re.Pattern[str], Kind], ...]:
    rows = tables.rows("container_runs", "kind", Kind)
    return tuple((re.compile(row.repository), re.compile(row.tag), row) for row in rows)


def _kind(repository: str, tag: str) -> Kind:
    for name, about, row in _kinds():
        if name.fullmatch(repository) and about.search(tag):
            return row
    return Kind()


def _known(repository: str, tag: str) -> Candidate | None:
    """By the row of the very image; a -devel image holds what the -runtime image holds."""
    from rigup.stack.frameworks.images import of_row

    asked = f"{repository}:{tag.replace('-devel', '-runtime')}"
    for row in tables.rows("environment_images", "image", Row):
        if split(row.image)[0] != repository:
            continue
        for version in row.versions:
            for cuda in row.cuda or [""]:
                if ":".join(split(row.image.format(version=version, cuda=cuda))[:2]) == asked:
                    return next(of_row(row, version, cuda, {}), None)
    return None


def _candidate(repository: str, tag: str, kind: Kind, machine: str) -> Candidate:
    """By what stands in the tag."""
    ngc = _ngc(repository, tag)
    cuda = ngc.cuda.partition(" ")[0] if ngc else kind.cuda or _cuda(repository, tag)
    match = _ROCM_WORD.search(tag) or (_ROCM_TAG.fullmatch(tag) if kind.vendor == "amd" else None)
    rocm = kind.rocm or (match[1] if match else "")
    torch = _torch(repository, tag)
    how = _BACKENDS.get(kind.vendor, "rocm" if rocm else "cuda" if cuda else "unknown")
    code, oldest = kind.code, ""
    if ngc:
        oldest = "sm_75" if "Turing" in ngc.gpu_archs else "sm_60"
    elif torch and not code:
        variant = "cu" + "".join(cuda.split(".")[:2]) if cuda else "rocm" + ".".join(rocm.split(".")[:2])
        found = torch_build(torch, variant, "linux", machine)
        code = tuple(found.code) if found else ()
    package = "torch" if torch or ngc else kind.framework or repository or "image"
    return Candidate(
        package=package, version=ngc.torch.partition("+")[0] if ngc else torch, kind=how, code=tuple(code), isa_min=oldest,
        cuda=cuda if how == "cuda" else "", rocm=rocm if how == "rocm" else "", own_blas=how == "rocm" and not kind.code,
        python=(ngc.python,) if ngc and ngc.python else (), source="container_runs",
    )  # fmt: skip


def _ngc(repository: str, tag: str) -> _Ngc | None:
    if repository != "nvcr.io/nvidia/pytorch":
        return None
    plain = tag.removesuffix("-igpu")
    return next((row for row in tables.rows("containers", "ngc_pytorch", _Ngc) if row.tag == plain), None)


def _cuda(repository: str, tag: str) -> str:
    if repository.endswith("nvidia/cuda"):
        found = re.match(r"(\d{1,2}\.\d{1,2}(?:\.\d{1,2})?)", tag)
        return found[1] if found else ""
    if found := re.search(r"cuda(\d{1,2}\.\d{1,2})", tag):
        return found[1]
    found = _CUDA_WORDS.search(tag)
    return f"{found[1]}.{found[2]}" if found else ""


def _torch(repository: str, tag: str) -> str:
    if repository.endswith("pytorch/pytorch") and (found := re.match(r"(\d{1,2}\.\d{1,2}(?:\.\d{1,2})?)-", tag)):
        return found[1]
    found = _TORCH_WORD.search(tag)
    return found[1] if found else ""


def isas(build: Candidate) -> list[str]:
    """Architectures that a build has code for, as far as anybody knows."""
    if build.code:
        return list(build.code)
    known = toolkit_isas(build.cuda) if build.isa_min and build.cuda else []
    return [isa for isa in known if isa_order(isa) >= isa_order(build.isa_min)]


def fallback(wish: str, kind: str, site: Site) -> str:
    """The image of the tables for a wish where none of the framework's own is for the machine; "" for none."""
    machine = "aarch64" if site.machine in ("aarch64", "arm64") else site.machine
    system = site.jetpack.partition(".")[0] if kind == "cuda" else ""
    for row in tables.rows("container_runs", "chosen", _Chosen):
        if (row.wish, row.kind, row.jetpack) == (wish, kind, system) and row.machine in ("", machine):
            return row.image
    return ""


def newest_ngc() -> list[str]:
    """NVIDIA's images of torch, the newest first: they are made for arm64 as well."""
    rows = sorted(tables.rows("containers", "ngc_pytorch", _Ngc), key=lambda row: version_key(row.tag), reverse=True)
    return [f"nvcr.io/nvidia/pytorch:{row.tag}" for row in rows]
