"""What ollama's service is given: wishes checked, what a file of another's would overrule, and the steps that bring it about."""

import ipaddress
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from rigup.language import N_, _
from rigup.llm.ollama.reading import RELEVANT, UNIT
from rigup.machine.host import Host
from rigup.machine.kinds import Gpu, Platform, Service, Variable
from rigup.machine.store import Facts
from rigup.schemas.shared import Step
from rigup.steps import make

DROP_IN = "/etc/systemd/system/ollama.service.d/rigup.conf"
_LINE = re.compile(r'^Environment="(?P<name>\w{1,80})=(?P<value>[^"\\%\s]{1,4000})"$', re.MULTILINE)
_VALUE = re.compile(r"[^\s\"\\%\x00-\x1f\x7f]{1,4000}")
_OVERRIDE = re.compile(r"\d{1,2}\.\d{1,2}\.\d{1,2}")
_TIME = re.compile(r"-1|0|(?:\d{1,6}(?:\.\d{1,3})?(?:ms|s|m|h))+|\d{1,9}")
_HOST = re.compile(r"(?:https?://)?(?P<host>\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9.-]{1,253})?(?::(?P<port>\d{1,5}))?/?")
_PROXY = re.compile(r"https?://(?P<who>[^@/\s]{1,500}@)?[A-Za-z0-9.\[\]:-]{1,300}/?")
_HTTPS_PROXY = "HTTPS_PROXY"


class SettingsError(ValueError):
    """A value that ollama or systemd would not take, or that rigup does not write; the text says which and why."""


class Wanted(NamedTuple):
    """What is to be in the drop-in.

    Attributes:
        variables: all of it, by name.
        same: whether it is there already.
        notes: what one should know of it, as sentences.

    """

    variables: dict[str, str]
    same: bool
    notes: list[str]


class Rule(NamedTuple):
    """Which values a variable takes, and how that is told."""

    takes: Callable[[str], object]
    form: str


def checked(name: str, value: str) -> str:
    """The value as ollama takes it. Raises SettingsError for one that it, or systemd, would not."""
    if not RELEVANT.fullmatch(name):
        template = _("{name} is no variable that ollama or a GPU's runtime reads.")
        raise SettingsError(template.format(name=name[:80]))
    rule = _RULES.get(name, _ANY)
    if not _VALUE.fullmatch(value) or not rule.takes(value):
        template = _("{name} is not given {value}: {form}.")
        raise SettingsError(template.format(name=name, value=_shown(name, value), form=_(rule.form)))
    return value


def _shown(name: str, value: str) -> str:
    """A value in words; a proxy's may hold a password."""
    return repr("…" if "PROXY" in name.upper() else value[:80])


def _is_host(value: str) -> bool:
    hit = _HOST.fullmatch(value)
    return bool(hit and (hit["host"] or hit["port"]) and (not hit["port"] or 0 < int(hit["port"]) < 1 << 16))


def _is_folder(value: str) -> bool:
    return value.startswith("/") and "/../" not in value + "/"


def _is_proxy(value: str) -> bool:
    hit = _PROXY.fullmatch(value)
    return bool(hit and not hit["who"])


def _count(least: int, most: int) -> Callable[[str], bool]:
    return lambda value: value.isascii() and value.isdecimal() and least <= int(value) <= most


_ANY = Rule(bool, N_("a value holds no blanks, quotes, backslashes or percent signs"))
_SWITCH = Rule(("0", "1", "true", "false").__contains__, N_("write 1 or 0"))
_RULES = {
    "HSA_OVERRIDE_GFX_VERSION": Rule(_OVERRIDE.fullmatch, N_("write three numbers, for instance 11.0.0")),
    "OLLAMA_MAX_LOADED_MODELS": Rule(_count(0, 64), N_("write a number up to 64")),
    "OLLAMA_NUM_PARALLEL": Rule(_count(1, 256), N_("write a number from 1 to 256")),
    "OLLAMA_CONTEXT_LENGTH": Rule(_count(256, 1 << 24), N_("write a number of tokens from 256")),
    "OLLAMA_MAX_QUEUE": Rule(_count(1, 1 << 20), N_("write a number")),
    "OLLAMA_HOST": Rule(_is_host, N_("write an address, a port, or both: 127.0.0.1:11434")),
    "OLLAMA_MODELS": Rule(_is_folder, N_("write the whole path of a folder, without blanks")),
    "OLLAMA_KEEP_ALIVE": Rule(_TIME.fullmatch, N_("write a time such as 10m or 24h, -1 for ever, 0 for not at all")),
    "OLLAMA_KV_CACHE_TYPE": Rule(("f16", "q8_0", "q4_0").__contains__, N_("write f16, q8_0 or q4_0")),
    **dict.fromkeys(("OLLAMA_FLASH_ATTENTION", "OLLAMA_VULKAN", "OLLAMA_SCHED_SPREAD", "OLLAMA_DEBUG"), _SWITCH),
    **dict.fromkeys(
        (_HTTPS_PROXY, "HTTP_PROXY", "https_proxy", "http_proxy"),
        Rule(
            _is_proxy,
            N_(
                "write http://HOST:PORT; a password would be readable there for every account, so give it by a file of your own (EnvironmentFile=)"
            ),
        ),
    ),
}


def override_for_this(facts: Facts) -> str:
    """The override that the tables know for this machine's AMD GPU. Raises SettingsError where they know none."""
    from rigup.knowledge.rocm import override_for

    isas = sorted({str(gpu.get("isa")) for gpu in facts.of(Gpu) if gpu.get("vendor") == "amd" and gpu.get("isa")})
    found = {isa: row.value for isa in isas if (row := override_for(isa)) is not None and row.value}
    if len(set(found.values())) == 1 and len(found) == len(isas):
        return next(iter(found.values()))
    if not isas:
        raise SettingsError(_("No AMD GPU is seen here, so there is no override to choose."))
    if not found:
        template = _("{isas} needs no override, or none that is known helps; `rigup knowledge {first}` tells more.")
        raise SettingsError(template.format(isas=", ".join(isas), first=isas[0]))
    template = _("{isas} do not all need the same override, and the variable holds for all of them: name the value yourself.")
    raise SettingsError(template.format(isas=", ".join(isas)))


def wanted(given: Mapping[str, str], unset: Iterable[str], facts: Facts, host: Host) -> Wanted:
    """The drop-in as it is to be: what stands there, with what is given and without what is unset.

    Raises:
        SettingsError: a value cannot be written, or would be overruled by a file that counts for more.

    """
    before = {hit["name"]: hit["value"] for hit in _LINE.finditer(host.read(DROP_IN).body or "")}
    new = {name: checked(name, value) for name, value in given.items()}
    if new.get("OLLAMA_KV_CACHE_TYPE", "f16") != "f16" and "OLLAMA_FLASH_ATTENTION" not in {**before, **new}:
        new["OLLAMA_FLASH_ATTENTION"] = "1"
    gone = set(unset)
    variables = {name: value for name, value in {**before, **new}.items() if name not in gone}
    _not_overruled(new, facts)
    notes = [note for name, value in new.items() for note in _notes(name, value, host)]
    if gone - before.keys():
        notes.append(_("Not in rigup's own file, so not taken back: {names}.").format(names=", ".join(sorted(gone - before.keys()))))
    return Wanted(dict(sorted(variables.items())), variables == before, notes)


def _not_overruled(new: Mapping[str, str], facts: Facts) -> None:
    """Raise SettingsError where a file that systemd reads later, or believes more, gives another value."""
    for variable in facts.of(Variable):
        name = variable.get("name")
        if variable.place.process != UNIT or name not in new or variable.get("value") == new[name]:
            continue
        path = variable.fields["value"].where.source
        later = path.rpartition("/")[2] > DROP_IN.rpartition("/")[2] and ".service.d/" in path
        if later or ".service" not in path:  # an EnvironmentFile counts for more than any Environment=
            template = _("{path} gives {name} another value and counts for more than what rigup writes: change or remove it there.")
            raise SettingsError(template.format(path=path, name=name))


def _notes(name: str, value: str, host: Host) -> list[str]:
    if name == "OLLAMA_HOST" and not _is_loopback(value):
        return [
            _("ollama knows no key: whoever reaches {value} can use, load and delete models. `rigup serve --share` asks for one.").format(
                value=value
            )
        ]
    if name == "OLLAMA_MODELS":
        notes = [
            _("Models that are there already are not moved; the service's user must own {path}: `sudo chown -R ollama: {quoted}`.").format(
                path=value, quoted=shlex.quote(value)
            )
        ]
        if not host.find(value):
            notes.insert(0, _("There is no folder {path} yet.").format(path=value))
        if value.startswith(("/home/", "/root/")):
            notes.append(_("Its user must also be allowed to enter every folder above it, which a home mostly refuses."))
        return notes
    if name == _HTTPS_PROXY:
        return [_("The proxy is for downloads of models; ollama speaks to its own engine without it.")]
    if name == "OLLAMA_NUM_PARALLEL" and int(value) > 1:
        return [
            _(
                "Each of {count} answers at once keeps a context of its own: `rigup fit MODEL --engine ollama --parallel {count}` reckons what that takes."
            ).format(count=value)
        ]
    return []


def _is_loopback(value: str) -> bool:
    hit = _HOST.fullmatch(value)
    name = (hit["host"] or "").strip("[]") if hit else ""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name in ("", "localhost")


# -- steps, or words ---------------------------------------------------------------------------------


def steps(variables: Mapping[str, str]) -> list[Step]:
    """The one step that makes the drop-in hold these variables, or takes it away where there are none."""
    because = _("The service never sees what your shell sets: it reads its unit and the files beside it.")
    if not variables:
        return [make("drop-service-variables", {"service": "ollama"}, because=because)]
    assignments = " ".join(f"{name}={value}" for name, value in variables.items())
    return [make("service-variables", {"service": "ollama", "assignments": assignments}, because=because)]


def by_hand(given: Mapping[str, str], facts: Facts) -> list[str]:
    """What to type where systemd does not start it; empty where it does."""
    system = next((platform.get("system", "") for platform in facts.of(Platform)), "")
    if any(service.get("name") == "ollama" for service in facts.of(Service)) and system in ("", "linux"):
        return []
    if system == "macos":
        lines = [f"launchctl setenv {name} {shlex.quote(value)}" for name, value in given.items()]
        return [*lines, _("Then quit Ollama from the menu bar and start it again. After a restart of the machine it must be typed again.")]
    if system == "windows":
        lines = [f'setx {name} "{value}"' for name, value in given.items()]
        return [*lines, _("Then quit Ollama from the tray and start it again: it sees new variables from its next start on.")]
    pairs = [f"{name}={shlex.quote(value)}" for name, value in given.items()]
    return [
        _("No service of systemd starts ollama here. Start it with the variables yourself, or hand them to its container:"),
        " ".join([*pairs, "ollama serve"]),
        " ".join(["docker run", *(f"-e {pair}" for pair in pairs), "… ollama/ollama"]),
    ]
