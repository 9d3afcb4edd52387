"""A plan as the table of a project: conda's environment.yml, pyproject.toml for uv, and Poetry's."""

import json
import re

from rigup.knowledge.cuda_toolkits import conda_toolkit
from rigup.knowledge.mirrors import mirrored
from rigup.plan.network import variables
from rigup.plan.packages import channel, name_of
from rigup.plan.render.packages import Group, groups
from rigup.plan.toolkit import wanted
from rigup.stack.choice import Choice


def conda(choice: Choice) -> str:
    """An environment.yml: Python and a toolkit from their channels, packages by pip from where they lie."""
    channels, names = _from_channels(choice)
    python = "python=" + choice.python if choice.python else "python"
    all_groups = groups(choice)
    names += [spec for group in all_groups for spec in group.conda]
    wheels = [group for group in all_groups if not group.conda]
    lines = ["name: rigup", "channels:", *(f"  - {source}" for source in (*channels, channel(choice), "nodefaults"))]
    lines += ["dependencies:", *(f"  - {json.dumps(spec)}" for spec in dict.fromkeys((python, "pip", *names)))]
    options = dict.fromkeys(pair for group in wheels for pair in _lines(group))
    lines += ["  - pip:"] if wheels else []
    wanted = dict.fromkeys(_by_address(want, choice) for group in wheels for want in group.wanted)
    lines += ["      - " + json.dumps(line) for line in (*options, *wanted)]
    if settings := variables(choice):
        lines += ["variables:", *(f"  {name}: {json.dumps(value)}" for name, (value, _why) in settings.items())]
    return "\n".join([*lines, ""])


def _by_address(wanted: str, choice: Choice) -> str:
    """A build of an index that others could give too, by its address: here every index is asked for every package."""
    packages = choice.resolution.packages if choice.resolution else ()
    match = next((package for package in packages if package.index and package.pin == wanted), None)
    return f"{match.name} @ {match.url}" if match and match.url.startswith("https:") and "+" not in match.version else wanted


def _from_channels(choice: Choice) -> tuple[list[str], list[str]]:
    """A toolkit that the choice asks for: NVIDIA's label goes before all other channels."""
    compat = [change.to.replace(" ", "=") for change in choice.changes if change.to.startswith("cuda-compat ")]
    cuda = next((wanted(change)[0] for change in choice.changes if change.change == "toolkit"), "")
    toolkit = conda_toolkit(cuda) if cuda else None
    if toolkit is None:
        return [], compat
    return ([toolkit.channel] if toolkit.channel != "conda-forge" else []), [*toolkit.packages, *compat]


def _lines(group: Group) -> tuple[str, ...]:
    """Options as lines of a requirements file: there an index is for all packages, so none goes alone."""
    lines = (f"{name.replace('--index-url', '--extra-index-url')} {value}" for name, value in group.places)
    return (*(["--no-index"] if group.offline else []), *lines)


def pyproject(choice: Choice) -> str:
    """A fragment of pyproject.toml with uv's own tables: each package from its index and no other."""
    all_groups = groups(choice)
    default, names = _default(choice), _index_names(all_groups)
    lines = ["[project]", 'name = "my-project"', 'version = "0.1.0"']
    lines += [f"requires-python = {json.dumps('==' + choice.python.removesuffix('t') + '.*')}"] if choice.python else []
    lines += ["dependencies = [", *(f"    {json.dumps(want)}," for group in all_groups for want in _direct(group)), "]"]
    lines += _of_uv(all_groups)
    own = [(name, names[group.only]) for group in all_groups if group.only not in ("", default) for name in map(name_of, _direct(group))]
    lines += ["", "[tool.uv.sources]"] if own else []
    lines += [f"{json.dumps(name)} = {{ index = {json.dumps(index)} }}" for name, index in own]
    for url, name in names.items():
        lines += ["", "[[tool.uv.index]]", f"name = {json.dumps(name)}", f"url = {json.dumps(url)}"]
        lines += ["default = true"] if url == default else ["explicit = true"] if _is_bound_index(url, all_groups) else []
    return "\n".join([*lines, ""])


def _direct(group: Group) -> tuple[str, ...]:
    """What was asked for or chosen: what that needs in turn is no dependency of the project itself."""
    return group.wanted[: group.named] if group.named else group.wanted


def _of_uv(all_groups: list[Group]) -> list[str]:
    """uv's own settings: folders of packages, what is built with the environment's torch in sight, and exact versions."""
    places = list(dict.fromkeys(place for group in all_groups for place in group.find_links))
    built = [name for group in all_groups if "--no-build-isolation" in group.flags for name in map(name_of, _direct(group))]
    lines = [f"find-links = {json.dumps(places)}"] if places else []
    lines += [f"no-build-isolation-package = {json.dumps(built)}"] if built else []
    direct = {want for group in all_groups for want in _direct(group)}
    fixed = [want for group in all_groups for want in group.wanted if want not in direct and "==" in want]
    lines += ["constraint-dependencies = [", *(f"    {json.dumps(want)}," for want in dict.fromkeys(fixed)), "]"] if fixed else []
    return ["", "[tool.uv]", *lines] if lines else []


def poetry(choice: Choice) -> str:
    """A fragment of pyproject.toml with Poetry's own tables; folders of packages Poetry does not know."""
    all_groups = groups(choice)
    default, names = _default(choice), _index_names(all_groups)
    lines = ["[tool.poetry]", "package-mode = false", "", "[tool.poetry.dependencies]"]
    lines += [f'python = "~{choice.python.removesuffix("t")}"'] if choice.python else []
    seen: set[str] = set()
    for group in all_groups:
        source = names[group.only] if group.only not in ("", default) else ""
        lines += [line for line in (_of_poetry(want, source) for want in group.wanted) if line.partition(" =")[0] not in seen]
        seen |= {line.partition(" =")[0] for line in lines}
    for url, name in names.items():
        priority = "primary" if url == default else "explicit" if _is_bound_index(url, all_groups) else "supplemental"
        lines += ["", "[[tool.poetry.source]]", f"name = {json.dumps(name)}", f"url = {json.dumps(url)}"]
        lines += [f'priority = "{priority}"']
    return "\n".join([*lines, ""])


def _of_poetry(wanted: str, source: str) -> str:
    """`torch = {version = "2.9.1+cu126", source = "cu126"}`."""
    name, extras, version = _parts(wanted)
    fields = [f"version = {json.dumps(version or '*')}"]
    fields += [f"extras = {json.dumps(extras)}"] if extras else []
    fields += [f"source = {json.dumps(source)}"] if source else []
    return f"{json.dumps(name)} = {{ {', '.join(fields)} }}"


def _parts(wanted: str) -> tuple[str, list[str], str]:
    match = re.fullmatch(r"([A-Za-z0-9._-]+)(?:\[([^\]]*)\])?(.*)", wanted)
    if match is None:
        return wanted, [], ""
    version = match[3].strip().removeprefix("==")
    return match[1], [extra.strip() for extra in (match[2] or "").split(",") if extra.strip()], version


def _names(group: Group) -> list[str]:
    return [_parts(word)[0] for word in group.wanted]


def _default(choice: Choice) -> str:
    """The index in place of the default one, where the person has one or asked for a mirror."""
    mirror = mirrored(choice.wish.mirror, "pypi") if choice.wish.mirror else ""
    return mirror or choice.site.sources.index


def _is_bound_index(url: str, all_groups: list[Group]) -> bool:
    return any(group.only == url for group in all_groups)


def _index_names(all_groups: list[Group]) -> dict[str, str]:
    """A name for each index, no two the same."""
    names: dict[str, str] = {}
    for url in dict.fromkeys(url for group in all_groups for url in (group.only, *group.extra_indexes) if url):
        name = _index_name(url)
        names[url] = f"{name}-{len(names) + 1}" if name in names.values() else name
    return names


def _index_name(url: str) -> str:
    """A short name for an index: the last part of its address that is not generic."""
    parts = [part for part in url.rstrip("/").split("/") if part not in ("simple", "whl")]
    return re.sub(r"[^A-Za-z0-9.-]+", "-", parts[-1]).strip("-") or "index"
