"""A plan as the recipe of an image: the driver is the host's, everything else is in it."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping

from rigup.language import _
from rigup.plan.network import variables
from rigup.plan.packages import plain
from rigup.plan.render.packages import Group, groups
from rigup.stack.choice import Choice
from rigup.stack.inside import base as plain_base
from rigup.stack.inside import image

Images = Mapping[str, str]
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
    """A Dockerfile; `--build-arg BASE=…` puts another base under it, `--build-context` gives it local folders."""
    folders = _folders(choice)
    lines = ["# " + _origin(choice), *_how_to_build(folders), f"ARG BASE={base(choice, images)}", "FROM ${BASE}"]
    lines += [f"ENV {_settings(choice, images)}"]
    lines += [f"RUN {command}" for command in _setup(choice, images)]
    lines += [f"COPY --from={name} / /{name}/" for name in folders.values()]
    lines += [f"RUN {json.dumps(argv)}" for argv in _installs(choice, folders, images)]
    lines += [f"ENV {name}={_quoted(value)}" for name, (value, _because) in variables(choice).items()]
    lines += ["ENTRYPOINT []"] if choice.chosen[0].build.image else []
    return "\n".join([*lines, f"CMD [{json.dumps(_python(choice, images))}]", ""])


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
    lines += ["    " + shlex.join(argv) for argv in _installs(choice, folders, images)]
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


def _installs(choice: Choice, folders: dict[str, str], images: Images) -> Iterator[list[str]]:
    """One call of pip for each place; none for what the image has."""
    for group in groups(choice):
        brought = group.build.build.brings if group.build else ()
        wanted = [word for word in group.wanted if plain(word.partition("==")[0]) not in brought]
        if wanted:
            yield [_python(choice, images), "-m", "pip", "install", *wanted, *_options(group, folders)]


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
