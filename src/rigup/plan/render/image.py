"""A plan as the recipe of an image: the driver is the host's, everything else is in it."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping

from rigup.knowledge.chips import gfx_of_decimal
from rigup.knowledge.environment_images import builder_of
from rigup.language import _
from rigup.plan.network import variables
from rigup.plan.packages import before_building, plain
from rigup.plan.render.packages import Group, groups
from rigup.stack.choice import Choice
from rigup.stack.inside import base as plain_base
from rigup.stack.inside import image

Images = Mapping[str, str]
COMPILED = "--no-build-isolation"  # pip compiles the package by what is installed
_STAGE, _BUILT = "build", "built"
_USER, _HOME, _WORK = "1000:1000", "/tmp", "/work"
_IMPORTED = ("torch", "tensorflow", "jax", "vllm", "onnxruntime")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{0,20}://", re.IGNORECASE)


def base(choice: Choice, images: Images) -> str:
    """The image to build upon: the site's, else the vendor's with the build in it, else Python alone: wheels bring their libraries."""
    return _of_site(choice, images) or image(choice.site, choice.chosen[0].build, choice.python)


def _of_site(choice: Choice, images: Images) -> str:
    """The site's own image for what was chosen; "" where it names none. A build that only an image holds keeps that."""
    if choice.chosen[0].build.image:
        return ""
    names = (plain(name) for judged in choice.chosen for name in judged.build.packages)
    return next((images[name] for name in (*names, "base") if name in images), "")


def dockerfile(choice: Choice, images: Images) -> str:
    """A Dockerfile; `--build-arg BASE=…` puts another base under it, `--build-context` gives it local folders.

    What pip loads, and local folders, are mounted and lie in no layer. What has to be compiled is compiled in a stage of
    its own where the base has no compiler. The program is not root.
    """
    folders, builder = _folders(choice), _builder(choice, images)
    lines = ["# " + _origin(choice), *_how_to_build(folders), f"ARG BASE={base(choice, images)}"]
    lines += [*_compiling(choice, folders, images, builder), "FROM ${BASE}"] if builder else ["FROM ${BASE}"]
    lines += [f"ENV {_settings(choice, images).removeprefix('PIP_NO_CACHE_DIR=1 ')}"]
    lines += [f"RUN {command}" for command in _setup(choice, images)]
    lines += [] if builder else _architectures(choice)
    for group, argv in _installs(choice, folders, images):
        compiled = builder and COMPILED in group.flags
        lines.append(_run([*argv, "--find-links", "/" + _BUILT] if compiled else argv, group, folders, compiled=bool(compiled)))
    lines += [f"ENV {name}={_quoted(value)}" for name, (value, _because) in variables(choice).items()]
    lines += [f"WORKDIR {_WORK}", f"ENV HOME={_HOME}", f"USER {_USER}", *_health(choice, images)]
    lines += ["ENTRYPOINT []"] if choice.chosen[0].build.image else []
    return "\n".join([*lines, f"CMD [{json.dumps(_python(choice, images))}]", ""])


def _run(argv: list[str], group: Group, folders: dict[str, str], *, compiled: bool = False) -> str:
    """A call of pip with what is mounted for it alone."""
    mounts = [f"type=bind,from={folders[place]},target=/{folders[place]}" for place in group.find_links if place in folders]
    mounts += [f"type=bind,from={_STAGE},source=/{_BUILT},target=/{_BUILT}"] if compiled else []
    mounts += [] if group.offline else ["type=cache,target=/root/.cache/pip"]
    return " ".join(["RUN", *(f"--mount={mount}" for mount in mounts), json.dumps(argv)])


def _builder(choice: Choice, images: Images) -> str:
    """The image in which packages are compiled, where the base has no compiler; "" where nothing is, or the base has one."""
    if not any(COMPILED in group.flags for group in groups(choice)):
        return ""
    return builder_of(base(choice, images))


def _compiling(choice: Choice, folders: dict[str, str], images: Images, builder: str) -> Iterator[str]:
    """The stage that compiles: packages become wheels for the machine's own cards."""
    yield f"ARG BUILD={builder}"
    yield f"FROM ${{BUILD}} AS {_STAGE}"
    yield f"ENV {_settings(choice, images).removeprefix('PIP_NO_CACHE_DIR=1 ')}"
    yield from _architectures(choice)
    pip = [_python(choice, images), "-m", "pip"]
    for group in groups(choice):
        if COMPILED in group.flags:
            before = before_building(choice, group.wanted)
            if before:
                yield _run([*pip, "install", *before], group, folders)
            yield _run([*pip, "wheel", "--no-deps", "--wheel-dir", "/" + _BUILT, *group.wanted, *_options(group, folders)], group, folders)


def _architectures(choice: Choice) -> list[str]:
    """For which cards compilers compile: a build sees none. An ARG holds for the build and is not in the image."""
    if not any(COMPILED in group.flags for group in groups(choice)):
        return []
    found: dict[str, list[str]] = {}
    for device, served in choice.devices:
        isa = (gfx_of_decimal(served.override) if served.override else device.isa) or ""
        if served.served and (match := re.fullmatch(r"sm_(\d{1,2})(\d[a-z]?)", isa)):
            found.setdefault("TORCH_CUDA_ARCH_LIST", []).append(f"{match[1]}.{match[2]}")
        elif served.served and isa.startswith("gfx"):
            found.setdefault("PYTORCH_ROCM_ARCH", []).append(isa)
    return [f'ARG {name}="{";".join(dict.fromkeys(isas))}"' for name, isas in found.items()]


def _health(choice: Choice, images: Images) -> Iterator[str]:
    """What tells an engine that the framework can be loaded."""
    chosen = {judged.build.package for judged in choice.chosen}
    if name := next((package for package in _IMPORTED if package in chosen), ""):
        yield f"HEALTHCHECK --interval=5m --timeout=2m CMD {json.dumps([_python(choice, images), '-c', 'import ' + name])}"


def apptainer(choice: Choice, images: Images) -> str:
    """An Apptainer definition."""
    folders = _folders(choice)
    lines = [
        "Bootstrap: docker",
        "From: " + base(choice, images).removeprefix("docker.io/library/"),
        "",
        "%help",
        "    " + _origin(choice),
        "",
    ]
    if folders:
        lines += ["%files", *(f"    {_file(folder)} /{name}" for folder, name in folders.items()), ""]
    lines += ["%post", "    set -eu", "    export " + _settings(choice, images)]
    lines += ["    " + command for command in _setup(choice, images)]
    lines += ["    " + shlex.join(argv) for _group, argv in _installs(choice, folders, images)]
    if environment := variables(choice):
        lines += ["", "%environment"]
        lines += [f"    export {name}={shlex.quote(value)}" for name, (value, _because) in environment.items()]
    return "\n".join([*lines, "", "%runscript", f'    exec {_python(choice, images)} "$@"', ""])


def _settings(choice: Choice, images: Images) -> str:
    """Variables for pip; the Python of a whole system refuses it without the last one (PEP 668)."""
    settings = "PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore"
    return settings + ("" if _python(choice, images) == "python" else " PIP_BREAK_SYSTEM_PACKAGES=1")


def _python(choice: Choice, images: Images) -> str:
    """What Python is called there: images of Python alone have both names, others are sure to have one."""
    alone = not (choice.chosen[0].build.image or choice.site.jetpack or _of_site(choice, images))
    return "python" if alone else "python3"


def _setup(choice: Choice, images: Images) -> list[str]:
    """What the image needs before any package: constant texts of the tables. A site's own image has what it needs."""
    build = choice.chosen[0].build
    return [] if build.image or _of_site(choice, images) else plain_base(choice.site, build).setup


def _installs(choice: Choice, folders: dict[str, str], images: Images) -> Iterator[tuple[Group, list[str]]]:
    """One call of pip for each place; none for what the image has."""
    for group in groups(choice):
        brought = group.build.build.brings if group.build else ()
        wanted = [word for word in group.wanted if plain(word.partition("==")[0]) not in brought]
        if wanted:
            yield group, [_python(choice, images), "-m", "pip", "install", *wanted, *_options(group, folders)]


def _options(group: Group, folders: dict[str, str]) -> list[str]:
    return [f"/{folders[word]}" if word in folders else word for word in group.options]


def _folders(choice: Choice) -> dict[str, str]:
    """Folders of this machine that hold packages, and what each is called in the recipe."""
    places = (place for group in groups(choice) for place in group.find_links if not _ADDRESS.match(place))
    return {place: f"wheels{number}" for number, place in enumerate(dict.fromkeys(places), 1)}


def contexts(choice: Choice) -> list[tuple[str, str]]:
    """Names and folders that a build of the recipe is given beside."""
    return [(name, folder) for folder, name in _folders(choice).items()]


def _how_to_build(folders: dict[str, str]) -> list[str]:
    contexts = " ".join(f"--build-context {name}={shlex.quote(folder)}" for folder, name in folders.items())
    sentence = _("Build it with: docker build {contexts} -f Dockerfile .").format(contexts=contexts)
    return ["# " + " ".join(sentence.split())] if folders else []


def _file(folder: str) -> str:
    return '"' + folder.replace("\\", "\\\\").replace('"', '\\"') + '"' if re.search(r"[\s\"\\]", folder) else folder


def _quoted(value: str) -> str:
    """A value of ENV: within its quotes a Dockerfile reads backslashes and dollars."""
    plain = " ".join(value.splitlines())
    return '"' + re.sub(r'([\\"$])', r"\\\1", plain) + '"'


def _origin(choice: Choice) -> str:
    held = [f"{name} {version}".strip() for name, version in choice.packages.items()] or choice.requirements
    sentence = _("Made by rigup plan, with {stack}; the GPU's driver is the host's.").format(stack=", ".join(held))
    return " ".join(sentence.split())
