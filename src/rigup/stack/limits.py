"""What a build asks of the system and of Python, whatever the devices are."""

from rigup.knowledge.apple import is_older
from rigup.knowledge.cuda import version_key
from rigup.knowledge.package_sizes import weight
from rigup.language import _, sentences
from rigup.stack.candidate import Candidate
from rigup.stack.site import NONE, Site
from rigup.stack.wish import Wish
from rigup.stack.words import change_name


def refusal(build: Candidate, site: Site, wish: Wish) -> str:
    """Why a build cannot be installed there at all, as a sentence; "" if it can."""
    return (
        _of_library(build, site)
        or _of_macos(build, site)
        or _of_processor(build, site)
        or _of_disk(build, site)
        or _of_python(build, wish)
        or _of_system(build, site)
    )


def _of_library(build: Candidate, site: Site) -> str:
    if site.system != "linux" or not build.glibc or site.glibc is None:
        return ""
    if site.glibc == NONE:
        template = _("{build} needs glibc, and this system has musl: no wheel of it is made for musl.")
        return template.format(build=build.label)
    if version_key(site.glibc) < version_key(build.glibc):
        template = _("{build} needs glibc {least}; this system has {have}.")
        return template.format(build=build.label, least=build.glibc, have=site.glibc)
    return ""


def _of_macos(build: Candidate, site: Site) -> str:
    if site.system != "macos" or not build.macos or not site.macos or not is_older(site.macos, build.macos):
        return ""
    template = _("{build} needs macOS {least}; this is {macos}.")
    return template.format(build=build.label, least=build.macos, macos=site.macos)


def _of_processor(build: Candidate, site: Site) -> str:
    if not build.lowest_cpu or build.lowest_cpu not in site.lacks:
        return ""
    template = _("{build} needs a processor with {name}.")
    return template.format(build=build.label, name=build.lowest_cpu.upper())


def _of_disk(build: Candidate, site: Site) -> str:
    need = room(build, site) if site.disk is not None else 0
    if site.disk is None or need <= site.disk:
        return ""
    template = _("{build} needs {need:.1f} GB of room on the disk; {have:.1f} GB are free.")
    return template.format(build=build.label, need=need / 1e9, have=site.disk / 1e9)


def room(build: Candidate, site: Site) -> int:
    """Bytes that a build keeps on the disk with all that it pulls in; 0 where nobody measured.

    Raises:
        KnowledgeError: the table is malformed.

    """
    name, version = next(iter(build.packages.items()), ("", ""))
    known = weight(name, version, build.variant, site.system) or weight(name.partition("[")[0], version, "", site.system)
    return known.kept if known else 0


def _of_python(build: Candidate, wish: Wish) -> str:
    if not build.python or not wish.python or wish.python in build.python:
        return ""
    template = _("{build} has no wheel for Python {python}; it has for {pythons}.")
    return template.format(build=build.label, python=wish.python, pythons=", ".join(build.python))


def _of_system(build: Candidate, site: Site) -> str:
    """A build that takes parts of the system: only root can add them, and to an image nobody does."""
    root_change = next((change for change in build.changes if change.root), None)
    if root_change is None or (site.root is not False and site.holder not in ("docker", "apptainer")):
        return ""
    addition = f"{change_name(root_change.change)} {root_change.to}" if root_change.to[:1].isdigit() else root_change.to
    if site.root is False and site.holder == "venv":
        return sentences(root_change.why, _("Only root can add {what}.").format(what=addition))
    return sentences(root_change.why, _("Nothing adds {what} there.").format(what=addition))
