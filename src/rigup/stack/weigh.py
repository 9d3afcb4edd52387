"""One build on one machine, judged: which devices it serves, what must change, and how it ranks."""

from collections.abc import Iterator, Sequence

import msgspec
from packaging.utils import canonicalize_name

from rigup.knowledge.cuda import version_key
from rigup.stack.candidate import Candidate, Change, Served
from rigup.stack.limits import refusal
from rigup.stack.pythons import python_change, python_for
from rigup.stack.serving import served
from rigup.stack.site import Site, wanted
from rigup.stack.troubles import asks_for_another
from rigup.stack.wish import Wish

_ON_THE_CPU = ("cpu", "mps", "unknown")


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """A build as a machine would have it.

    Attributes:
        served: one for each device of the site.
        changes: what must change outside the environment, each once.
        refusal: why it cannot be installed at all, "" if it can.

    """

    build: Candidate
    served: tuple[Served, ...]
    changes: tuple[Change, ...]
    refusal: str
    python: str

    @property
    def weight(self) -> int:
        """How much it asks of a person."""
        return sum(change.weight for change in self.changes)


def judged(build: Candidate, site: Site, wish: Wish) -> Judged:
    """Judge a build for a machine.

    Raises:
        KnowledgeError: a table is malformed.

    """
    answers = tuple(_serve_devices(build, site))
    changes = {change.change: change for change in build.changes}
    changes |= {answer.change.change: answer.change for answer in answers if answer.change is not None}
    if another := python_change(build, site, wish):
        changes["python"] = another
    return Judged(
        build=build,
        served=answers,
        changes=tuple(changes.values()),
        refusal=refusal(build, site, wish),
        python=python_for(build, site, wish),
    )


def _serve_devices(build: Candidate, site: Site) -> Iterator[Served]:
    """Devices that are alike are judged once."""
    known: dict[tuple[object, ...], Served] = {}
    for device in site.gpus:
        key = device.vendor, device.isa, device.pci_id, device.name, device.architecture, device.integrated
        if key not in known:
            known[key] = served(build, device, site)
        yield known[key]


def served_count(option: Judged, site: Site, how: tuple[str, ...] = ("native", "trial")) -> int:
    """How many of the wanted devices a build serves."""
    return sum(answer.how in how for device, answer in zip(site.gpus, option.served, strict=True) if device in wanted(site))


def serves_all(taken: Sequence[Judged], site: Site) -> bool:
    """Every framework can be installed and serves every device that is wanted."""
    whole = len(wanted(site))
    return bool(taken) and all(usable(option, site) and served_count(option, site) == whole for option in taken)


def usable(option: Judged, site: Site) -> bool:
    """It can be installed, and does something there: it serves a device, or is made for the CPU."""
    return not option.refusal and (served_count(option, site) > 0 or option.build.kind in _ON_THE_CPU)


def renewed(build: Candidate, site: Site) -> int:
    """How many of its packages stand in the environment that is planned for in another version, where they are sound."""
    if asks_for_another(site.troubles):
        return 0
    present = {canonicalize_name(name): version for name, version in site.installed.items()}
    names = ((canonicalize_name(name.partition("[")[0]), version) for name, version in build.packages.items())
    return sum(name in present and not _is_same_release(present[name], version, build.variant) for name, version in names)


def _is_same_release(present: str, version: str, variant: str) -> bool:
    """The default index's wheel of a release is the one of its variant's own index."""
    return present in (version, version.partition("+")[0] + "+" + variant)


def rank(option: Judged, site: Site, wish: Wish) -> tuple[object, ...]:
    """Order of preference, the best highest: devices served, what is known, fewest changes, what stands there, newest; or newest first."""
    reach = served_count(option, site), served_count(option, site, ("native",))
    newest = version_key(option.build.version)
    order = (newest, -option.weight) if wish.prefer == "newest" else (-option.weight, -renewed(option.build, site), newest)
    toolkit = version_key(option.build.cuda or option.build.rocm)
    return (
        *reach,
        -len(option.build.open),
        *order,
        option.build.kind != "directml",
        bool(option.build.conda or option.build.image),
        not option.build.index,
        toolkit,
        option.build.label,
    )
