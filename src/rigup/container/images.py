"""What an image contains, told by its name and the tables; and which image a wish is taken from."""

import re
from functools import cached_property

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.chips import isa_order
from rigup.knowledge.container_images import Kind, Ngc, image_for, kind_of, ngc_images
from rigup.knowledge.cuda import toolkit_isas
from rigup.knowledge.environment_images import Image as Row
from rigup.knowledge.torch_builds import build as torch_build
from rigup.stack.candidate import Candidate
from rigup.stack.site import Site

_BACKENDS = {"nvidia": "cuda", "amd": "rocm", "intel": "xpu", "cpu": "cpu", "any": "vulkan"}
_CUDA_WORDS = re.compile(r"(?:^|[-_.])(?:cu|cuda)-?(\d{2})\.?(\d)(?!\d)")
_ROCM_WORD = re.compile(r"rocm[-_]?(\d{1,2}\.\d{1,2}(?:\.\d{1,2})?)")
_ROCM_TAG = re.compile(r"(\d{1,2}\.\d{1,2}(?:\.\d{1,2})?)(?:-complete|-full)?")
_TORCH_WORD = re.compile(r"(?:py)?torch(?:_release)?[-_v]{0,2}(\d{1,2}\.\d{1,2}(?:\.\d{1,2})?)")


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
        return self.digest or (bool(self.tag) and not re.search(r"latest|nightly|^main$|^master$|^edge$|^dev$", self.tag))


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
    kind = kind_of(repository, tag)
    build = _known(repository, tag) or _candidate(repository, tag, kind, machine)
    if kind.isa_min and not build.isa_min and build.kind == "cuda":
        build = msgspec.structs.replace(build, isa_min=kind.isa_min)
    if not kind.vendor and build.kind != "unknown":
        vendor = next((maker for maker, how in _BACKENDS.items() if how == build.kind), "")
        kind = msgspec.structs.replace(kind, vendor=vendor, shm=kind.shm or build.package == "torch")
    return Image(name=name, repository=repository, tag=tag, digest=digest, kind=kind, build=build)


def _is_path(name: str) -> bool:
    return name.endswith(".sif") or name.startswith(("/", "./", "../"))


def _known(repository: str, tag: str) -> Candidate | None:
    """By the row of the very image; a -devel image holds what the -runtime image holds."""
    asked = f"{repository}:{tag.replace('-devel', '-runtime')}"
    for row in tables.rows("environment_images", "image", Row):
        if split(row.image)[0] != repository:
            continue
        for version in row.versions:
            for cuda in row.cuda or [""]:
                if ":".join(split(row.image.format(version=version, cuda=cuda))[:2]) == asked:
                    from rigup.stack.frameworks.images import of_row  # of frameworks' images alone: it takes long

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
        package=package,
        version=ngc.torch.partition("+")[0] if ngc else torch,
        kind=how,
        code=tuple(code),
        isa_min=oldest,
        cuda=cuda if how == "cuda" else "",
        rocm=rocm if how == "rocm" else "",
        own_blas=how == "rocm" and not kind.code,
        python=(ngc.python,) if ngc and ngc.python else (),
        source="container_runs",
    )


def _ngc(repository: str, tag: str) -> Ngc | None:
    if repository != "nvcr.io/nvidia/pytorch":
        return None
    plain = tag.removesuffix("-igpu")
    return next((row for row in ngc_images() if row.tag == plain), None)


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
    return image_for(wish, kind, system, machine)


def newest_ngc() -> list[str]:
    """NVIDIA's images of torch, the newest first: they are made for arm64 as well."""
    return [f"nvcr.io/nvidia/pytorch:{row.tag}" for row in ngc_images()]
