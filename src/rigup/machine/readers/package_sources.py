"""Where packages come from here: pip's, uv's and conda's own configuration, and the variables that go before it."""

import re
from collections.abc import Iterator
from typing import Any

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import PackageSource, Variable
from rigup.machine.reader import File, Statements, derives, reads
from rigup.machine.readers.values import Draft, says
from rigup.machine.texts import Text

_NAMES = (
    "index-url|extra-index-url|find-links|no-index|proxy|trusted-host|cert|client-cert|constraint|only-binary|no-binary|"
    "prefer-binary|require-virtualenv|break-system-packages|index-strategy|default-index|index|offline|torch-backend|"
    "native-tls|allow-insecure-host|exclude-newer|config-settings"
)
_NAME = lazy_regex(_NAMES)
_INI = (
    r"^(?P<name>[a-z]{2,10}(?:[-_][a-z]{2,10}){0,2})[ \t]{0,20}[=:][ \t]{0,20}"
    r"(?P<value>[^\n]{0,1000}(?:\n[ \t]{1,40}[^\s#;][^\n]{0,1000}){0,20})"
)
_SECRET = lazy_regex(r"(?<=://)[^/@\s]{1,400}@")
_MOST = 50  # indexes of one file


def toml(body: str) -> dict[str, Any]:
    """A table, empty where the text is none."""
    import tomllib  # most machines have no such file

    try:
        return tomllib.loads(body)
    except (ValueError, RecursionError):
        return {}


def _plain(value: str) -> str:
    """Without the name and password that an address may hold."""
    return _SECRET.sub("", value.strip().strip("\"'"))


@reads(
    PackageSource,
    inputs=[
        File("/etc/{pip.conf,xdg/pip/pip.conf}"),
        File("{HomeFolder.path}/{.pip,.config/pip,Library/Application Support/pip}/pip.conf"),
        File("{HomeFolder.path}/{pip/pip.ini,AppData/Roaming/pip/pip.ini}"),
        File("/Library/Application Support/pip/pip.conf"),
        File("/ProgramData/pip/pip.ini"),
        File("{PythonEnv.prefix}/{pip.conf,pip.ini}"),
    ],
    marks=("[global]\n", "[install]\n"),
)
def pip_configuration(text: Text) -> Statements:
    """`index-url = https://mirror.example/simple`; a value may go on in lines that are set in."""
    for hit in text.each(_INI):
        name = hit["name"].replace("_", "-")
        values = [value for word in hit["value"].split() if (value := _plain(word))]
        if _NAME.fullmatch(name) and values:
            yield hit.states(PackageSource, tool="pip", name=name, entries=values[:_MOST], path=text.source)


@reads(marks=("global.", "install.", ":env:."), adds=(PackageSource,))
def pip_config_list(text: Text) -> Statements:
    """`pip config list`: `global.index-url='https://mirror.example/simple'`."""
    form = r"^[> \t]{0,20}(?P<section>global|install|user|site|:env:|download|wheel)\.(?P<name>[a-z-]{2,30})='(?P<value>[^'\n]{1,1000})'"
    for hit in text.each(form):
        if _NAME.fullmatch(hit["name"]):
            values = [_plain(word) for word in hit["value"].replace("\\n", " ").split()]
            yield hit.states(PackageSource, tool="pip", name=hit["name"], entries=values, path="pip config list")


_INDEX_SHOWN = r"^[ \t]{0,8}\[\[tool\.uv\.index\]\][ \t]*\n(?:[ \t]{0,8}\w{3,20} ?= ?(?!['\"]https?:)[^\n]{1,120}\n){0,4}[ \t]{0,8}url ?= ?['\"](?P<url>https?://[^'\"\n]{4,200})['\"]"


@reads(
    PackageSource,
    inputs=[
        File("/etc/{uv/uv.toml,xdg/uv/uv.toml}"),
        File("{HomeFolder.path}/{uv.toml,pyproject.toml,.config/uv/uv.toml,AppData/Roaming/uv/uv.toml}"),
        File("/ProgramData/uv/uv.toml"),
    ],
    marks=("[tool.uv", "[[index]]"),
)
def uv_configuration(text: Text) -> Statements:
    """uv.toml, or the part of a pyproject.toml that is uv's."""
    settings = toml(text.body) if "[tool.uv" in text.body or not text.source.endswith("pyproject.toml") else {}
    inner = settings.get("tool", {}).get("uv") if isinstance(settings.get("tool"), dict) else None
    mine = inner if isinstance(inner, dict) else {} if text.source.endswith("pyproject.toml") else settings
    pip = mine.get("pip")
    for table in (mine, pip if isinstance(pip, dict) else {}):
        for name, value in table.items():
            values = _values(value)
            if _NAME.fullmatch(name) and values:
                at = max(text.body.find(name), 0)
                yield from says(text, PackageSource, at, tool="uv", name=name, entries=values, path=text.source)
    for hit in () if settings else text.each(_INDEX_SHOWN):  # among other lines of a terminal
        yield hit.states(PackageSource, tool="uv", name="index", entries=[_plain(hit["url"])], path=text.source)


def _values(value: Any) -> list[str]:
    """A word, a list of words, or a list of indexes with names."""
    entries = value if isinstance(value, list) else [value]
    words = [_plain(str(_address(entry))) for entry in entries[:_MOST]]
    return [word for word in words if word]


def _address(entry: Any) -> Any:
    return entry.get("url", "") if isinstance(entry, dict) else str(entry).lower() if isinstance(entry, bool) else entry


@reads(
    inputs=[
        File("{HomeFolder.path}/{.condarc,.mambarc,.config/conda/.condarc}"),
        File("/etc/conda/{.condarc,condarc}"),
        File("{PythonEnv.prefix}/.condarc"),
    ],
    marks=("channels:\n",),
    adds=(PackageSource,),
)
def conda_configuration(text: Text) -> Statements:
    """`channels:` and what is listed below it; the first goes before the others."""
    form = r"^(?P<name>channels|default_channels|proxy_servers|channel_alias):(?P<inline>[^\n]{0,500})(?P<items>(?:\n[ \t]{0,8}(?:-|\w{2,8}:)[ \t][^\n]{1,300}){0,50})"
    for hit in text.each(form):
        words = re.findall(r"(?:^|[\s,\[])(?:-|https?:(?!//))?[ \t]{0,4}([\w.:/@-]{2,300})", hit["inline"] + hit["items"])
        values = [_plain(word) for word in words if word not in ("http:", "https:")]
        if values:
            name = hit["name"].replace("_", "-")
            yield hit.states(PackageSource, tool="conda", name=name, entries=values[:_MOST], path=text.source)


_TOOLS = {"PIP": "pip", "UV": "uv"}


@derives(PackageSource)
def source_of_variable(variable: Variable) -> Iterator[PackageSource]:
    """PIP_INDEX_URL goes before every file, UV_INDEX_URL too."""
    tool, _, rest = str(variable.get("name")).partition("_")
    name = rest.lower().replace("_", "-")
    if tool in _TOOLS and _NAME.fullmatch(name) and variable.get("value"):
        reading = variable.fields["value"]
        values = [_plain(word) for word in str(reading.value).split()]
        fields = {"tool": _TOOLS[tool], "name": name, "entries": values, "path": "env " + variable.name}
        yield PackageSource(variable.place, {key: reading._replace(value=value) for key, value in fields.items()})


@reads(inputs=[File("/etc/apt/apt.conf"), File("/etc/apt/apt.conf.d/*proxy*")], adds=(PackageSource,))
def apt_proxy(text: Text) -> Statements:
    """`Acquire::http::Proxy "http://proxy.example:3128";`: what the distribution's packages go through."""
    for hit in text.each(r"^[ \t]{0,8}Acquire::https?::[Pp]roxy[ \t]{1,8}\"(?P<value>[^\"\n]{4,300})\""):
        draft = Draft(text, PackageSource, hit.start)
        for name, value in (("tool", "apt"), ("name", "proxy"), ("entries", [_plain(hit["value"])]), ("path", text.source)):
            draft.add(name, value)
        yield from draft.facts()
