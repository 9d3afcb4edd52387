"""What a person asks for, as data."""

import re
from collections.abc import Iterable

import msgspec
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from rigup.knowledge.meant import other_names
from rigup.language import _
from rigup.stack.site import Site
from rigup.stack.terms import Terms, WishError

__all__ = ["DEFAULT", "FILES", "Wish", "WishError", "marker_environment", "read_wishes"]

DEFAULT = "torch"
FILES = (".txt", ".toml", ".in")
"""How files end that hold wishes."""

_MOST = 300  # requirements of one wish
_LONGEST = 999  # letters of one requirement: what a command takes (`steps.forms`)


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """Packages and how they are to come.

    Attributes:
        packages: what was asked for, in order; PEP 508 requirements without markers.
        python: "3.11" where a certain one is asked for.
        manager: "venv", "conda", "docker" or "apptainer".
        prefer: "least-change" or "newest".
        no_root: nothing that needs root may be planned.
        mirror: name of a mirror of the tables, "" none.
        with_rigup: `rigup.torch` is put into the environment, for programs that use it.
        terms: options and bounds from files of requirements.

    """

    packages: tuple[str, ...] = (DEFAULT,)
    python: str = ""
    manager: str = "venv"
    prefer: str = "least-change"
    no_root: bool = False
    mirror: str = ""
    with_rigup: bool = False
    terms: Terms = Terms()

    def asked(self) -> dict[str, Requirement]:
        """Requirements by canonical name."""
        return {canonicalize_name(requirement.name): requirement for requirement in map(Requirement, self.packages)}


def _twice(name: str, first: str, second: str) -> WishError:
    template = _("{package} is asked for twice: as {first} and as {second}. Give one of them.")
    return WishError(template.format(package=name, first=first, second=second))


def read_wishes(words: Iterable[str], site: Site | None = None) -> tuple[str, ...]:
    """Requirements as a person types them: "torch==2.6", "torch>=2.4,<2.8"; those meant for other systems are left out.

    Args:
        words: the requirements.
        site: the machine that markers are asked of; by default this one.

    Raises:
        WishError: one is no requirement, two contradict, or all are meant for other systems.
        KnowledgeError: the table of names is malformed.

    """
    wishes: dict[str, str] = {}
    marked = marker_environment(site) if site else None
    word = ""
    for word in words:
        requirement = _requirement(word)
        if requirement.marker and not requirement.marker.evaluate(marked):
            continue
        requirement.marker = None
        requirement.name = other_names().get(canonicalize_name(requirement.name), requirement.name)
        name = canonicalize_name(requirement.name)
        if wishes.setdefault(name, str(requirement)) != str(requirement):
            raise _twice(name, wishes[name], str(requirement))
    if len(wishes) > _MOST:
        raise WishError(_("{count} packages are more than one wish may hold.").format(count=len(wishes)))
    if word and not wishes:
        raise WishError(_("{word} is meant for another system than this.").format(word=word[:200]))
    return tuple(wishes.values()) or (DEFAULT,)


def marker_environment(site: Site) -> dict[str, str]:
    """What PEP 508 calls a machine."""
    system = {"linux": ("linux", "Linux", "posix"), "windows": ("win32", "Windows", "nt"), "macos": ("darwin", "Darwin", "posix")}
    names = dict(zip(("sys_platform", "platform_system", "os_name"), system.get(site.system, system["linux"]), strict=True))
    machine = "AMD64" if site.system == "windows" and site.machine == "x86_64" else site.machine
    python = (site.python or "").rstrip("t")
    return {**names, "platform_machine": machine, **({"python_version": python} if python else {})}


def _requirement(word: str) -> Requirement:
    """One requirement; a lone version behind "=" is what conda users write."""
    text = re.sub(r"(?<![=<>!~])=(?!=)", "==", word.strip())
    try:
        requirement = Requirement(text)
    except InvalidRequirement as error:
        if "://" in text:
            raise WishError(installed_by_hand(word)) from error
        wrong = _('{word} is no package: write a name with a version, such as torch==2.6 or "torch>=2.4,<2.8".')
        raise WishError(wrong.format(word=word[:200])) from error
    if len(text) > _LONGEST:
        raise WishError(_("{word}… is longer than any package is written.").format(word=word[:60]))
    if requirement.url:
        raise WishError(installed_by_hand(word))
    return requirement


def installed_by_hand(word: str) -> str:
    """The sentence for a word that names no release: an address, a repository, a folder, a file of a package."""
    template = _(
        "{word} names an address or a folder, and rigup chooses by name and version. Take it out, and when the rest is installed, "
        "install it by: rigup run -- python -m pip install …"
    )
    return template.format(word=word[:200])
