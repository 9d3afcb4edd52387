"""A plan as the table of a project: conda's environment.yml, pyproject.toml for uv, and Poetry's."""

import json
import re

from rigup.plan.render.packages import Group, groups
from rigup.stack.choice import Choice


def conda(choice: Choice) -> str:
    """An environment.yml: Python from conda-forge, packages by pip from where they lie."""
    lines = ["name: rigup", "channels:", "  - conda-forge", "  - nodefaults", "dependencies:"]
    lines += [f"  - python={choice.python}" if choice.python else "  - python", "  - pip", "  - pip:"]
    told = groups(choice)
    options = dict.fromkeys(_pairs(group.options) for group in told)
    for one in dict.fromkeys(pair for pairs in options for pair in pairs):
        lines.append("      - " + json.dumps(one))
    lines += ["      - " + json.dumps(wanted) for group in told for wanted in group.wanted]
    if choice.variables:
        lines += ["variables:", *(f"  {name}: {json.dumps(value)}" for name, value in choice.variables.items())]
    return "\n".join([*lines, ""])


def _pairs(options: list[str]) -> tuple[str, ...]:
    """Options with their values, as lines of a requirements file: there an index is for all packages, so none goes alone."""
    pairs = zip(options[::2], options[1::2], strict=True)
    return tuple(f"{name.replace('--index-url', '--extra-index-url')} {value}" for name, value in pairs)


def pyproject(choice: Choice) -> str:
    """A fragment of pyproject.toml with uv's own tables: each package from its index and no other."""
    told = groups(choice)
    lines = ["[project]", 'name = "my-project"', 'version = "0.1.0"']
    lines += [f"requires-python = {json.dumps('==' + choice.python.removesuffix('t') + '.*')}"] if choice.python else []
    lines += ["dependencies = [", *(f"    {json.dumps(wanted)}," for group in told for wanted in group.wanted), "]"]
    sources = [(name, _index_name(group.only)) for group in told if group.only for name in _names(group)]
    if sources:
        lines += ["", "[tool.uv.sources]", *(f"{name} = {{ index = {json.dumps(index)} }}" for name, index in sources)]
    for url in _indexes(told):
        lines += [
            "",
            "[[tool.uv.index]]",
            f"name = {json.dumps(_index_name(url))}",
            f"url = {json.dumps(url)}",
            "explicit = true",
        ]
    for url in dict.fromkeys(url for group in told for url in group.extra_indexes):
        lines += ["", "[[tool.uv.index]]", f"name = {json.dumps(_index_name(url))}", f"url = {json.dumps(url)}"]
    return "\n".join([*lines, ""])


def poetry(choice: Choice) -> str:
    """A fragment of pyproject.toml with Poetry's own tables."""
    told = groups(choice)
    lines = ["[tool.poetry]", "package-mode = false", "", "[tool.poetry.dependencies]"]
    lines += [f'python = "~{choice.python.removesuffix("t")}"'] if choice.python else []
    for group in told:
        lines += [_of_poetry(wanted, group.only) for wanted in group.wanted]
    for url in _indexes(told):
        lines += ["", "[[tool.poetry.source]]", f"name = {json.dumps(_index_name(url))}", f"url = {json.dumps(url)}"]
        lines.append('priority = "explicit"')
    return "\n".join([*lines, ""])


def _of_poetry(wanted: str, index: str) -> str:
    """`torch = {version = "2.9.1+cu126", source = "cu126"}`."""
    name, extras, version = _parts(wanted)
    fields = [f"version = {json.dumps(version or '*')}"]
    fields += [f"extras = {json.dumps(extras)}"] if extras else []
    fields += [f"source = {json.dumps(_index_name(index))}"] if index else []
    return f"{name} = {{ {', '.join(fields)} }}"


def _parts(wanted: str) -> tuple[str, list[str], str]:
    found = re.fullmatch(r"([A-Za-z0-9._-]+)(?:\[([^\]]*)\])?(.*)", wanted)
    if found is None:
        return wanted, [], ""
    version = found[3].removeprefix("==")
    return found[1], [extra.strip() for extra in (found[2] or "").split(",") if extra.strip()], version


def _names(group: Group) -> list[str]:
    return [_parts(wanted)[0] for wanted in group.wanted]


def _indexes(told: list[Group]) -> list[str]:
    return list(dict.fromkeys(group.only for group in told if group.only))


def _index_name(url: str) -> str:
    """A short name for an index: the last part of its address that says something."""
    parts = [part for part in url.rstrip("/").split("/") if part not in ("simple", "whl")]
    return re.sub(r"[^A-Za-z0-9.-]+", "-", parts[-1]).strip("-") or "index"
