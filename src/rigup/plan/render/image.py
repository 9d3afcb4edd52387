"""A plan as the recipe of an image: the driver is the host's, everything else is in it."""

import json
import re
import shlex

from rigup.language import _
from rigup.plan.network import variables
from rigup.plan.render.packages import Group, groups
from rigup.stack.choice import Choice

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{0,20}://", re.IGNORECASE)


def base(choice: Choice) -> str:
    """The image to build upon: Python alone, for wheels bring their libraries along."""
    return f"docker.io/library/python:{choice.python.removesuffix('t') or '3'}-slim"


def dockerfile(choice: Choice) -> str:
    """A Dockerfile; `--build-arg BASE=…` puts another base under it, `--build-context` gives it local folders."""
    folders = _folders(choice)
    lines = ["# " + _told(choice), *_how_to_build(folders), f"ARG BASE={base(choice)}", "FROM ${BASE}"]
    lines += ["ENV PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore"]
    lines += [f"COPY --from={name} / /{name}/" for name in folders.values()]
    lines += [f"RUN {json.dumps(_install(group, folders))}" for group in groups(choice)]
    lines += [f"ENV {name}={_quoted(value)}" for name, (value, _because) in variables(choice).items()]
    return "\n".join([*lines, 'CMD ["python"]', ""])


def apptainer(choice: Choice) -> str:
    """An Apptainer definition."""
    folders = _folders(choice)
    image = base(choice).removeprefix("docker.io/library/")
    lines = ["Bootstrap: docker", "From: " + image, "", "%help", "    " + _told(choice), ""]
    if folders:
        lines += ["%files", *(f"    {_file(folder)} /{name}" for folder, name in folders.items()), ""]
    lines += ["%post", "    set -eu", "    export PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore"]
    lines += ["    " + shlex.join(_install(group, folders)) for group in groups(choice)]
    if told := variables(choice):
        lines += ["", "%environment"]
        lines += [f"    export {name}={shlex.quote(value)}" for name, (value, _because) in told.items()]
    return "\n".join([*lines, "", "%runscript", '    exec python "$@"', ""])


def _install(group: Group, folders: dict[str, str]) -> list[str]:
    options = [f"/{folders[word]}" if word in folders else word for word in group.options]
    return ["python", "-m", "pip", "install", *group.wanted, *options]


def _folders(choice: Choice) -> dict[str, str]:
    """Folders of this machine that hold packages, and what each is called in the recipe."""
    places = (place for group in groups(choice) for place in group.find_links if not _ADDRESS.match(place))
    return {place: f"wheels{number}" for number, place in enumerate(dict.fromkeys(places), 1)}


def _how_to_build(folders: dict[str, str]) -> list[str]:
    contexts = " ".join(f"--build-context {name}={shlex.quote(folder)}" for folder, name in folders.items())
    told = _("Build it with: docker build {contexts} -f Dockerfile .").format(contexts=contexts)
    return ["# " + " ".join(told.split())] if folders else []


def _file(folder: str) -> str:
    return '"' + folder.replace("\\", "\\\\").replace('"', '\\"') + '"' if re.search(r"[\s\"\\]", folder) else folder


def _quoted(value: str) -> str:
    """A value of ENV: within its quotes a Dockerfile reads backslashes and dollars."""
    plain = " ".join(value.splitlines())
    return '"' + re.sub(r'([\\"$])', r"\\\1", plain) + '"'


def _told(choice: Choice) -> str:
    stack = ", ".join(f"{name} {version}".strip() for name, version in choice.packages.items())
    told = _("Made by rigup plan, with {stack}; the GPU's driver is the host's.").format(stack=stack)
    return " ".join(told.split())
