"""A plan as the recipe of an image: the driver is the host's, everything else is in it."""

import json
import shlex

from rigup.language import _
from rigup.plan.render.packages import groups
from rigup.stack.choice import Choice


def base(choice: Choice) -> str:
    """The image to build upon: Python alone, for wheels bring their libraries along."""
    return f"docker.io/library/python:{choice.python or '3'}-slim"


def dockerfile(choice: Choice) -> str:
    """A Dockerfile; `--build-arg BASE=…` puts another base under it."""
    lines = [
        "# " + _told(choice),
        f"ARG BASE={base(choice)}",
        "FROM ${BASE}",
        "ENV PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore",
    ]
    lines += [f"RUN {json.dumps(_install(group.wanted, group.options))}" for group in groups(choice)]
    lines += [f"ENV {name}={json.dumps(value)}" for name, value in choice.variables.items()]
    return "\n".join([*lines, 'CMD ["python"]', ""])


def apptainer(choice: Choice) -> str:
    """An Apptainer definition."""
    lines = [
        "Bootstrap: docker",
        "From: " + base(choice).removeprefix("docker.io/library/"),
        "",
        "%help",
        "    " + _told(choice),
        "",
    ]
    lines += ["%post", "    set -eu", "    export PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore"]
    lines += ["    " + shlex.join(_install(group.wanted, group.options)) for group in groups(choice)]
    if choice.variables:
        lines += ["", "%environment"]
        lines += [f"    export {name}={shlex.quote(value)}" for name, value in choice.variables.items()]
    return "\n".join([*lines, "", "%runscript", '    exec python "$@"', ""])


def _install(wanted: tuple[str, ...], options: list[str]) -> list[str]:
    return ["python", "-m", "pip", "install", *wanted, *options]


def _told(choice: Choice) -> str:
    stack = ", ".join(f"{name} {version}".strip() for name, version in choice.packages.items())
    return _("Made by rigup plan, with {stack}; the GPU's driver is the host's.").format(stack=stack)
