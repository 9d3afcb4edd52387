"""How a build of a program comes to have code for a card, and for a system."""

import re
from collections.abc import Iterable

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key

_FOLDER = re.compile(
    r"(?:lib(?:64)?|python[\d.]*|(?:site|dist)-packages|src|bin|v?env|\.?venv|conda\d?|opt|usr|app|work|scripts|build|tmp)|.*\.(?:so|dll|dylib|py|exe).*|[_\d.].*",
    re.IGNORECASE,
)


_OF_A_RELEASE = re.compile(
    r"(?P<package>\w{2,40})-(?P<release>\d[\w.]{0,20})\+cu\d{2,3}torch\d\.\d{1,2}cxx11abi(?:TRUE|FALSE)-cp3\d{1,2}-cp3\d{1,2}-linux_\w{4,10}\.whl"
)


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """A program, as the table describes it."""

    name: str
    says: list[str] = []
    packages: list[str] = []
    wish: str = ""
    pypi: str = ""
    variable: str = ""
    form: str = ""
    option: str = ""
    option_amd: str = ""
    option_vulkan: str = ""
    vulkan: bool = False
    rocm: bool = False
    windows: str = ""
    macos: str = ""
    not_for: list[str] = []
    failing: list[str] = []
    on: str = ""
    instead: str = ""
    source: str = ""


class Engine(msgspec.Struct, frozen=True, kw_only=True):
    """A program that brings llama.cpp along.

    Attributes:
        place: where it updates that apart from itself; empty where its own release brings it.

    """

    name: str
    place: str = ""
    source: str = ""


class _Former(msgspec.Struct, frozen=True, kw_only=True):
    program: str
    said: str
    option: str
    option_amd: str
    option_vulkan: str
    source: str


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """The archives of a program's releases that compute on a maker's cards."""

    program: str
    page: str
    system: str
    vendor: str
    files: str
    source: str


class PlainBuild(msgspec.Struct, frozen=True, kw_only=True):
    """What there is of a program for processors without AVX; the table says of what kind."""

    program: str
    libs: list[str] = []
    packages: list[str] = []
    says: list[str] = []
    conda: str = ""
    option: str = ""
    newer: str = ""


class _Old(msgspec.Struct, frozen=True, kw_only=True):
    said: str
    source: str = ""


def plain_builds() -> tuple[PlainBuild, ...]:
    """All rows of it. Raises KnowledgeError for a malformed table."""
    return tuple(tables.rows("program_builds", "plain", PlainBuild))


def never_had_avx(processor: str) -> bool:
    """Whether a processor of that name is one that was made without. Raises KnowledgeError for a malformed table."""
    return any(
        re.search(row.said, processor.replace("(R)", "")) or re.search(row.said, processor)
        for row in tables.rows("program_builds", "old", _Old)
    )


class _LlamaIndex(msgspec.Struct, frozen=True, kw_only=True):
    variant: str
    os: list[str]
    url: str
    toolkit: str = ""


class _Addon(msgspec.Struct, frozen=True, kw_only=True):
    package: str
    isa_min: str = ""
    isas_amd: list[str] = []
    options: list[str] = []
    force_build: str = ""


def programs_that_say(words: Iterable[str]) -> list[Program]:
    """The programs that rows of signatures name by these words. Raises KnowledgeError for a malformed table."""
    wanted = set(words)
    return [row for row in tables.rows("program_builds", "program", Program) if wanted & {*row.says}]


def program_of(package: str) -> Program | None:
    """The program of a package, as a person, a folder or pip names it. Raises KnowledgeError for a malformed table."""
    name = plain_name(package)
    rows = tables.rows("program_builds", "program", Program)
    return next((row for row in rows if name in row.packages or name == plain_name(row.name)), None)


def of_then(program: Program, signs: Iterable[str]) -> Program:
    """The program with the options that its sources took when such signs were to be seen. Raises KnowledgeError for a malformed table."""
    seen = set(signs)
    then = next((row for row in tables.rows("program_builds", "former", _Former) if row.program == program.name and row.said in seen), None)
    if then is None:
        return program
    return msgspec.structs.replace(program, option=then.option, option_amd=then.option_amd, option_vulkan=then.option_vulkan)


def ready_build(program: str, system: str, vendor: str) -> Ready | None:
    """What a program's releases have for a maker's cards; None where nobody knows of any. Raises KnowledgeError for a malformed table."""
    rows = tables.rows("program_builds", "ready", Ready)
    return next((row for row in rows if (row.program, row.system, row.vendor) == (program, system, vendor)), None)


def engine_of(name: str) -> Engine | None:
    """How a program of that name, as a person writes it, comes by a newer llama.cpp. Raises KnowledgeError for a malformed table."""
    plain = re.sub(r"\W", "", name).lower()
    return next((row for row in tables.rows("program_builds", "engine", Engine) if re.sub(r"\W", "", row.name).lower() == plain), None)


def plain_name(package: str) -> str:
    """`flash_attn` and `Flash-Attn` are one."""
    return re.sub(r"[-_]+", "-", package).lower()


def is_package(name: str) -> bool:
    """Whether a name that a text gave may be a package's; what stands in paths is mostly a folder's or a file's."""
    return bool(name) and not _FOLDER.fullmatch(name)


def least_card(package: str) -> tuple[str, list[str]]:
    """The oldest of NVIDIA's chips that any release of a package serves, and which of AMD's; ("", []) where nobody knows.

    Raises:
        KnowledgeError: the table is malformed.

    """
    name = plain_name(package)
    rows = tables.rows("torch_addons", "addon", _Addon)
    return next(((row.isa_min, row.isas_amd) for row in rows if row.package == name), ("", []))


def compiled_against_torch(package: str) -> bool:
    """Whether its set-up asks the torch that is there, and finds none where pip builds apart. Raises KnowledgeError."""
    name = plain_name(package)
    return any(row.package == name and "--no-build-isolation" in row.options for row in tables.rows("torch_addons", "addon", _Addon))


class _AddonRelease(msgspec.Struct, frozen=True):
    package: str
    version: str
    torch: str


def newest_on(package: str) -> tuple[str, str]:
    """The newest release of a compiled package of torch's, and the torch that it stands on ("==2.8.*"); two "" where nobody knows.

    Raises:
        KnowledgeError: the table is malformed.

    """
    name = plain_name(package)
    rows = [row for row in tables.rows("torch_addons", "addon_release", _AddonRelease) if row.package == name]
    newest = max(rows, key=lambda row: version_key(row.version), default=None)
    return (newest.version, newest.torch) if newest else ("", "")


class _Released(msgspec.Struct, frozen=True):
    package: str
    folder: str


def folder_of_wheel(file: str) -> str:
    """Where a project lays the wheels of its releases, by the name of one of them; "" for other projects, and other hands' wheels. Raises KnowledgeError."""
    named = _OF_A_RELEASE.fullmatch(file)
    rows = tables.rows("torch_addons", "released", _Released)
    return next((row.folder.replace("{release}", named["release"]) for row in rows if named and row.package == named["package"]), "")


def addon_of_module(module: str) -> str:
    """The compiled package of torch's that has a module: `flash_attn_2_cuda` is flash-attn's; "" for others. Raises KnowledgeError."""
    name = plain_name(module)
    packages = (row.package for row in tables.rows("torch_addons", "addon", _Addon))
    return max((package for package in packages if name == package or name.startswith(package + "-")), key=len, default="")


def force_build(package: str) -> str:
    """The variable by which a package is compiled though its set-up knows of a ready wheel; "" for none. Raises KnowledgeError."""
    name = plain_name(package)
    rows = tables.rows("torch_addons", "addon", _Addon)
    return next((row.force_build for row in rows if row.package == name), "")


def llama_wheels(system: str, cuda: str) -> str:
    """The project's index of wheels for a CUDA that the driver carries; "" where it has none.

    Raises:
        KnowledgeError: the table is malformed.

    """
    from rigup.knowledge.cuda import version_key

    rows = tables.rows("tensorflow_jax", "llama_cpp_python_index", _LlamaIndex)
    ours = [row for row in rows if row.variant.startswith("cu") and {"windows": "win"}.get(system, system) in row.os]
    known = [row for row in ours if version_key(row.toolkit)[:2] <= version_key(cuda)[:2]]
    return max(known, key=lambda row: version_key(row.toolkit)).url if cuda and known else ""
