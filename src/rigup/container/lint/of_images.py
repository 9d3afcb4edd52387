"""Rules of images: what the base holds, what a later step makes of it, and whether it runs on the machine."""

import re
from collections.abc import Iterator

import msgspec
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from rigup.container.images import Image, image
from rigup.container.lint.case import Built, Found, at, words
from rigup.container.lint.installs import Install, in_venv
from rigup.container.lint.recipe import Command, Instruction, Stage
from rigup.container.serving import judge, refused
from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key
from rigup.knowledge.rocm import override_facts
from rigup.knowledge.torch_builds import build as torch_build
from rigup.knowledge.torch_builds import variant_for_pypi
from rigup.stack.candidate import Candidate
from rigup.stack.site import Site

_OVERRIDE = "HSA_OVERRIDE_GFX_VERSION"
_CPU_NAMES = ("tensorflow-cpu", "intel-tensorflow")
_NVENC = re.compile(r"nvenc|nvdec|cuvid|hwaccel[= ]cuda|PyNvVideoCodec|torchcodec|\bdali\b", re.IGNORECASE)
_GRAPHICS = re.compile(
    r"libvulkan|vulkan-tools|mesa-vulkan|libegl|libgl1|libglvnd|libgles|pyrender|isaac|blender|vglrun|xvfb.*gl", re.IGNORECASE
)
_CUDA_TAG = re.compile(r"\d+\.\d+(?:\.\d+)?(?:-cudnn\d*)?-(?:base|runtime|devel)-\w[\w.]*")
_TORCH_TAG = re.compile(r"(\d+\.\d+(?:\.\d+)?)-cuda(\d+\.\d+(?:\.\d+)?)-cudnn(\d+)-(runtime|devel)")
_COMPILES = re.compile(r"CUDAExtension|cpp_extension|CUDA_HOME|HIPExtension")


def rules(built: Built) -> Iterator[Found]:
    """All of them."""
    for stage in built.recipe.stages:
        if stage.parent is None:
            yield from of_tag(built.beneath(stage), stage.start.first, stage.start.last, f"FROM {stage.start.value}")
    yield from _cpu_only(built)
    yield from _torch_again(built)
    yield from _compiled(built)
    yield from _variables(built)
    if built.site is not None:
        start = built.stage.chain[0].start
        yield from of_machine(built.base, built.site, start.first, start.last, overridden=False)
        yield from _platform(built, built.site)
        yield from _wheels(built, built.site)


# -- tags ----------------------------------------------------------------------------------------------


def of_tag(found: Image, first: int, last: int, evidence: str) -> Iterator[Found]:
    """Whether the tag can be, and stays what it is."""
    if not found.repository or found.repository == "scratch" or "$" in found.name or found.name.startswith(("/", ".")):
        return
    if found.digest:
        return
    if reason := _impossible(found):
        yield Found("image-tag-does-not-exist", "error", first, last, evidence, None, reason)
    elif not found.pinned:
        yield Found("unpinned-base", "note", first, last, evidence)


def _impossible(found: Image) -> str:
    """The row by whose rule a tag cannot be; "" if it can."""
    if re.fullmatch(r"(?:nvcr\.io/)?nvidia/cuda", found.repository):
        return "" if _CUDA_TAG.fullmatch(found.tag) else "knowledge/containers"
    if found.repository != "pytorch/pytorch" or not (match := _TORCH_TAG.fullmatch(found.tag)):
        return "knowledge/containers" if found.repository == "pytorch/pytorch" and "cuda" in found.tag else ""
    row = _published(match[1])
    fits = row is None or "not seen" in row.cuda or (match[2] in row.cuda and match[3] == str(row.cudnn))
    return "" if fits else "knowledge/containers"


class _Published(msgspec.Struct, frozen=True, kw_only=True):
    torch: str
    cuda: list[str]
    cudnn: int
    base: str = ""


def _published(torch: str) -> _Published | None:
    """What is known of the images of a release of torch."""
    for row in tables.rows("containers", "pytorch_docker", _Published):
        first, _dash, last = row.torch.partition(" - ")
        if version_key(first) <= version_key(torch) <= version_key(last or first):
            return row
    return None


def on_system_python(found: Image) -> bool:
    """Torch's own images of a release that stand on the system's Python."""
    row = _published(found.torch) if found.repository == "pytorch/pytorch" else None
    return row is not None and "system python" in row.base


# -- frameworks ----------------------------------------------------------------------------------------


def _cpu_only(built: Built) -> Iterator[Found]:
    """A file that wants a GPU, and a framework that has none."""
    if not built.wants_gpu:
        return
    kind = built.base.kind
    if kind.vendor == "cpu" and kind.gpu_tag:
        start = built.stage.chain[0].start
        yield at(start, "base-image-cpu-only", "error", source="knowledge/containers")
    gpu_names = {name for install in built.installs for name in install.wanted}
    for install in built.installs:
        cpu_index = any(re.search(r"/whl/(?:nightly/|test/)?cpu\b", index) for index in install.indexes) and not any(
            re.search(r"/whl/(?:cu|rocm|xpu)", index) for index in install.indexes
        )
        names = [
            name for name, version in install.wanted.items() if (name == "torch" and (cpu_index or "+cpu" in version)) or name in _CPU_NAMES
        ]
        if "onnxruntime" in install.wanted and not {"onnxruntime-gpu", "onnxruntime-rocm"} & gpu_names and "torch" not in gpu_names:
            names.append("onnxruntime")
        if names:
            yield at(install.step, "base-image-cpu-only", "error", source="knowledge/torch_builds")


def _is_rocm(install: Install) -> bool:
    return any("rocm" in index or "amd.com" in index or "radeon.com" in index for index in install.indexes) or "rocm" in install.wanted.get(
        "torch", ""
    )


def _torch_again(built: Built) -> Iterator[Found]:
    """The base has torch, or is made for AMD, and another torch comes over it."""
    base = built.base
    held = base.torch if base.build.package == "torch" or base.torch else ""
    for install in built.installs:
        version = install.wanted.get("torch", install.wanted.get("pytorch"))
        if version is None or install.has("--no-deps") or (in_venv(built.stage, install.command) and install.tool != "conda"):
            continue
        new = not held or _replaces(install, version, held)
        if base.vendor == "amd" or (base.build.kind == "rocm"):
            cuda = any(re.search(r"/whl/cu\d", index) for index in install.indexes)
            if (new or cuda) and not _is_rocm(install) and not install.constrained and install.tool != "conda":
                yield at(install.step, "cuda-torch-on-amd", "error", source="knowledge/torch_rocm")
        elif held and new and not install.constrained:
            yield at(install.step, "torch-reinstalled-over-base", "warning", source="knowledge/containers")


def _replaces(install: Install, version: str, held: str) -> bool:
    """The version that stands there does not do, or is to be replaced in any case."""
    if install.has("--upgrade", "-U", "--force-reinstall", "--ignore-installed", "-I"):
        return True
    if not version or version == "@":
        return version == "@" or install.tool in ("conda", "mamba")
    try:
        plain = SpecifierSet(re.sub(r"^=(?!=)", "==", version.partition("+")[0]))
        return not plain.contains(Version(held), prereleases=True) or (
            Version(held).is_prerelease and not plain.contains(Version(held), prereleases=True)
        )
    except (InvalidSpecifier, InvalidVersion):
        return False


# -- what is compiled ----------------------------------------------------------------------------------


def _compiled(built: Built) -> Iterator[Found]:
    """Extensions of torch that a step compiles: for which cards, and by which CUDA."""
    for stage in built.recipe.stages:
        found = built.beneath(stage)
        for step in stage.body:
            command = _compiles(built, step) if step.name == "RUN" else None
            if command is None:
                continue
            names = {
                name
                for instruction in stage.all
                if instruction.name in ("ENV", "ARG")
                for name, value in instruction.assigned.items()
                if value
            } | set(command.variables)
            targets = {
                "TORCH_CUDA_ARCH_LIST",
                "PYTORCH_ROCM_ARCH",
                "AMDGPU_TARGETS",
                "GPU_TARGETS",
                "CMAKE_CUDA_ARCHITECTURES",
                "CUDAARCHS",
            }
            is_named = any(re.search(name + "=(?!native)", step.value + step.heredoc) for name in targets)
            if not names & targets and not is_named and not found.kind.sets_arch and step.flag("device") is None:
                yield at(step, "gpu-arch-not-set-at-build", "warning")
            yield from _mixed(built, stage, found, step)


def _compiles(built: Built, step: Instruction) -> Command | None:
    """The command that compiles for a GPU against torch."""
    known = words("compiled against torch")
    for command in step.commands:
        text = command.text
        python = command.name.startswith("pip") or command.name in ("uv", "python", "python3")
        if command.name == "cmake" and re.search(r"CUDA_ARCHITECTURES=native", text):
            return command
        if not python:
            continue
        if re.search(r"setup\.py (?:install|build|build_ext|develop|bdist_wheel)", text):
            if _has_extension(built, ""):
                return command
        elif "install" in command.words or "wheel" in command.words:
            names = [word for word in command.words if not word.startswith("-")]
            built_here = [word for word in names if is_one_of(word, known) or "git+" in word]
            local = [word for word in names if "/" in word or word == "."]
            if any(_has_extension(built, word) for word in local if "://" not in word):
                return command
            if "--no-build-isolation" in command.words and (built_here or any("flash" in word for word in names)):
                return command
    return None


def is_one_of(word: str, names: list[str]) -> bool:
    """A requirement or an address that names one of these."""
    plain = re.split(r"[<>=!~\[@ ]", word)[0].lower().replace("_", "-")
    return plain in {name.replace("_", "-") for name in names} or any(f"/{name}" in word.lower() for name in names)


def _has_extension(built: Built, place: str) -> bool:
    """A setup.py beside says that it compiles."""
    name = place.rstrip("/").rpartition("/")[2] if place not in (".", "./") else ""
    files = {f"{name}/setup.py" if name else "setup.py", place.lstrip("/").removeprefix("./").rstrip("/") + "/setup.py"}
    files |= (
        {instruction.value.split()[0].rstrip("/").removeprefix("./") + "/setup.py" for instruction in _copied(built)} if not name else set()
    )
    return any(_COMPILES.search(built.read(path)) for path in files)


def _copied(built: Built) -> list[Instruction]:
    return [
        step
        for stage in built.recipe.stages
        for step in stage.body
        if step.name in ("COPY", "ADD") and step.flag("from") is None and step.value.split()
    ]


def _mixed(built: Built, stage: Stage, found: Image, step: Instruction) -> Iterator[Found]:
    """The compiler's CUDA is of another major than torch's."""
    compiler, first = found.build.cuda, stage.chain[0].start
    torch = _torch_cuda(built, stage) or (found.build.cuda if found.torch else "")
    if compiler and torch and version_key(compiler)[:1] != version_key(torch)[:1]:
        yield Found("cuda-runtime-mixed", "error", first.first, step.last, f"FROM {first.value}", None, "knowledge/torch_builds")


def _torch_cuda(built: Built, stage: Stage) -> str:
    """The CUDA of the torch that a stage installs; "" where it installs none, or nobody can tell."""
    from rigup.container.lint.installs import installs

    for install in (install for part in stage.chain for install in installs(part, built.read)):
        wanted = install.wanted.get("torch")
        if wanted is None:
            continue
        variant = re.search(r"cu(\d{2})(\d)", wanted + " " + " ".join(install.indexes))
        if variant:
            return f"{variant[1]}.{variant[2]}"
        version = re.match(r"==([\d.]+)", wanted)
        plain = variant_for_pypi(version[1]) if version else None
        if plain and (number := re.fullmatch(r"cu(\d{2})(\d)", plain)):
            return f"{number[1]}.{number[2]}"
    return ""


# -- variables -----------------------------------------------------------------------------------------


def _variables(built: Built) -> Iterator[Found]:
    variables = built.environment
    if _OVERRIDE in variables:
        value, step = variables[_OVERRIDE]
        yield at(
            step, "override-in-image", "error" if built.site and is_bad(value, built.site) else "warning", source="knowledge/gfx_overrides"
        )
    if "NVIDIA_DRIVER_CAPABILITIES" in variables:
        value, step = variables["NVIDIA_DRIVER_CAPABILITIES"]
        text = " ".join([built.start[0], *(instruction.value for instruction in built.steps)])
        cuda = built.base.build.kind == "cuda" or any(
            {"torch", "onnxruntime-gpu", "vllm", "jax"} & install.wanted.keys() for install in built.installs
        )
        if missing := lacking(value, text, cuda):
            yield at(step, "nvidia-driver-capabilities-missing", "error", f"{value}: {missing}")
    value, step_of = variables.get("CUDA_VISIBLE_DEVICES", ("-", None))
    if step_of is not None and (value.lower() == "all" or (not value and built.wants_gpu)):
        yield at(step_of, "wrong-visibility-variable", "error")
    value, step_of = variables.get("NVIDIA_VISIBLE_DEVICES", ("-", None))
    if step_of is not None and value in ("void", "none") and built.asks_gpu:
        yield at(step_of, "wrong-visibility-variable", "error")


def lacking(value: str, text: str, cuda: bool) -> str:
    """The capability of the driver that is used and not asked for; "" for none."""
    have = {capability.strip() for capability in value.split(",")}
    if not value.strip() or "all" in have or "$" in value:
        return ""
    if cuda and "compute" not in have:
        return "compute"
    if _NVENC.search(text) and "video" not in have:
        return "video"
    return "graphics" if _GRAPHICS.search(text) and "graphics" not in have and "display" not in have else ""


def is_bad(value: str, site: Site) -> bool:
    """A value of the override that is known to break a chip of the machine."""
    rows = (override_facts(device.isa or "") for device in site.gpus if device.vendor == "amd")
    return any(row is not None and value in row.bad_values for row in rows)


# -- the machine ---------------------------------------------------------------------------------------


def of_machine(found: Image, site: Site, first: int, last: int, overridden: bool) -> Iterator[Found]:
    """Whether an image runs on the machine's cards and on their driver."""
    machines = found.kind.machine
    machine = "aarch64" if site.machine in ("aarch64", "arm64") else site.machine
    if machines and machine not in machines:
        yield Found("image-for-other-cpu", "error", first, last, found.name, None, "knowledge/container_runs")
        return
    cards = [device for device in site.gpus if device.vendor == found.vendor]
    if not cards or found.build.kind in ("unknown", "cpu"):
        return
    verdicts = [judge(found, device, site) for device in cards]
    late = [verdict for verdict in verdicts if verdict.cause == "container-requires-newer-driver"]
    if late or refused(found, tuple(cards), site):
        yield Found("driver-too-old-for-image", "error", first, last, found.name, None, "knowledge/cuda_driver")
    without = [verdict for verdict in verdicts if not verdict.served.served and verdict.cause != "container-requires-newer-driver"]
    if without and len(without) == len(verdicts) and not overridden:
        yield Found("base-image-arch-dropped", "error", first, last, found.name, None, "knowledge/torch_builds")


def _platform(built: Built, site: Site) -> Iterator[Found]:
    for stage in built.stage.chain:
        platform = stage.start.flag("platform")
        if platform and other_platform(platform, site):
            yield at(stage.start, "image-for-other-cpu", "error")


def other_platform(platform: str, site: Site) -> bool:
    """A platform that is not this machine's."""
    arm = site.machine in ("aarch64", "arm64")
    return ("amd64" in platform and arm) or ("arm64" in platform and not arm)


def _wheels(built: Built, site: Site) -> Iterator[Found]:
    """A wheel of torch that a step installs, on the machine's cards."""
    if built.base.torch:
        return
    cards = [device for device in site.gpus if device.vendor == "nvidia"]
    for install in built.installs:
        version = re.match(r"==([\d.]+)", install.wanted.get("torch", ""))
        cuda = re.search(r"/whl/cu(\d{2})(\d)", " ".join(install.indexes))
        if not version or not cuda or not cards:
            continue
        wheel = torch_build(version[1], f"cu{cuda[1]}{cuda[2]}")
        if wheel is None:
            continue
        build = Candidate(package="torch", version=version[1], kind="cuda", code=tuple(wheel.code), cuda=wheel.cuda, source="torch_builds")

        judged = [judge(msgspec.structs.replace(image("torch"), build=build), card, site) for card in cards]
        if all(not verdict.served.served and verdict.cause != "container-requires-newer-driver" for verdict in judged):
            yield at(install.step, "base-image-arch-dropped", "error", source="knowledge/torch_builds")
