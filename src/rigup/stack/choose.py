"""Choose a stack: every build that a wish allows is judged, and the best one is taken."""

from collections.abc import Callable, Iterable, Mapping

import msgspec
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from rigup.knowledge.cuda import version_key
from rigup.language import _
from rigup.stack import frameworks
from rigup.stack.candidate import Candidate, Served
from rigup.stack.choice import Choice
from rigup.stack.explain import nothing_fits, turned_down
from rigup.stack.limits import python_for
from rigup.stack.serving import PARTNERS
from rigup.stack.site import Device, Site
from rigup.stack.variables import for_devices
from rigup.stack.weigh import Judged, judged, rank, served_count, usable, wanted
from rigup.stack.wish import Wish

Asked = Mapping[str, Requirement]


def choose(wish: Wish, site: Site) -> Choice:
    """The stack for a wish on a machine. Nothing is read or changed.

    Raises:
        KnowledgeError: a table is malformed.

    """
    site = site.but(root=False) if wish.no_root else site
    asked = wish.asked()
    taken: list[Judged] = []
    refused: list[Judged] = []
    for lead in frameworks.leads(asked):
        told = [judged(build, site, _with_python(wish, taken)) for build in lead.candidates(asked, site)]
        best = _best(told, site, wish)
        refused += _above(told, best, site)
        if best is None:
            return _impossible(wish, site, told, lead.candidates)
        taken.append(best)
    return _answer(wish, site, taken, refused, asked)


def _with_python(wish: Wish, taken: list[Judged]) -> Wish:
    """The next framework lives in the same environment."""
    if not taken or wish.python:
        return wish
    return msgspec.structs.replace(wish, python=taken[0].python)


def _best(told: Iterable[Judged], site: Site, wish: Wish) -> Judged | None:
    return max((one for one in told if usable(one, site)), key=lambda one: rank(one, site, wish), default=None)


def _above(told: list[Judged], best: Judged | None, site: Site) -> list[Judged]:
    """What somebody who wants the newest would ask about."""
    on_cpu = best is not None and bool(wanted(site)) and not served_count(best, site)
    floor = version_key(best.build.version) if best and not on_cpu else ()
    makers = {device.vendor for device in wanted(site)}
    told = [one for one in told if _made_for(one.build, makers)]
    return [
        one for one in told if version_key(one.build.version) > floor or (one is not best and _rival(one, best, site))
    ]


def _made_for(build: Candidate, makers: set[str]) -> bool:
    """Builds for other makers' devices need no word, nor those for the CPU beside a GPU."""
    kinds = {kind for maker in makers for kind in PARTNERS.get(maker, ())}
    return build.kind in kinds or not makers


def _rival(one: Judged, best: Judged | None, site: Site) -> bool:
    """A build of the same release that leaves a device out."""
    return best is None or (
        one.build.version == best.build.version and served_count(one, site) < served_count(best, site)
    )


def _impossible(
    wish: Wish, site: Site, told: list[Judged], offers: Callable[[Asked, Site], Iterable[Candidate]]
) -> Choice:
    return Choice(
        wish=wish, site=site, devices=tuple((device, _unserved(device, told)) for device in site.gpus),
        turned_down=turned_down(told, site), smallest_change=nothing_fits(wish, site, offers),
    )  # fmt: skip


def _unserved(device: Device, told: list[Judged]) -> Served:
    """Why the build that came nearest does not serve it."""
    reasons = [one.served[device.index] for one in told if not one.served[device.index].served]
    return reasons[0] if reasons else Served(how="no", because=_("Nothing that was asked for can be installed there."))


def _answer(wish: Wish, site: Site, taken: list[Judged], refused: list[Judged], asked: Asked) -> Choice:
    packages = {name: version for one in taken for name, version in (_with_extras(one) | one.build.beside).items()}
    beside = {name for one in taken for name in one.build.beside}
    known = {canonicalize_name(name.partition("[")[0]) for name in packages}
    devices = _devices(taken, refused, site)
    variables, devices = for_devices(devices)
    changes = {change.change: change for one in taken for change in one.changes}
    full = served_count(taken[0], site) == len(wanted(site))
    return Choice(
        wish=wish, site=site, chosen=tuple(taken), packages=packages,
        requirements=tuple(
            f"{name}=={packages[name]}" if name in beside else str(told)
            for name, told in asked.items() if name in beside or (name not in known and not frameworks.stands_for(name))
        ),
        indexes=tuple(dict.fromkeys(url for one in taken for url in (one.build.index, *one.build.extra_indexes) if url)),
        variables={name: value for one in taken for name, value in one.build.variables.items()} | variables,
        python=taken[0].python or python_for(taken[0].build, site, wish), changes=tuple(changes.values()),
        devices=devices, turned_down=turned_down(refused, site),
        smallest_change="" if full else nothing_fits(wish, site, frameworks.leads(asked)[0].candidates),
        others=() if full else _others(wish, site, taken[0]),
    )  # fmt: skip


def _devices(taken: list[Judged], refused: list[Judged], site: Site) -> tuple[tuple[Device, Served], ...]:
    """Each device with the word of the framework that serves it least; left to the CPU, with what kept a GPU build off."""
    order = ("no", "trial", "native")
    made: list[tuple[Device, Served]] = []
    for place, device in enumerate(site.gpus):
        least = min(taken, key=lambda one: order.index(one.served[place].how))
        nearer = [one for one in refused if _made_for(one.build, {device.vendor}) and not one.served[place].served]
        made.append((device, nearer[0].served[place] if least.build.kind == "cpu" and nearer else least.served[place]))
    return tuple(made)


def _others(wish: Wish, site: Site, taken: Judged) -> tuple[Choice, ...]:
    """An environment of its own for the wanted devices that are left out, where one is possible."""
    left = [device for device in wanted(site) if not taken.served[device.index].served]
    if not left or len(left) == len(wanted(site)):
        return ()
    alone = site.but(devices=tuple(_renumbered(left)))
    other = choose(wish, alone)
    return (other,) if any(told.served for _device, told in other.devices) else ()


def _renumbered(devices: list[Device]) -> Iterable[Device]:
    return (msgspec.structs.replace(device, index=number) for number, device in enumerate(devices))


def _with_extras(one: Judged) -> dict[str, str]:
    """Packages as pip takes them: where a device's code is an extra, it is asked for."""
    extras = sorted({told.extra for told in one.served if told.extra})
    if not extras:
        return one.build.packages
    return {
        f"{name}[{','.join(extras)}]" if name == one.build.package else name: version
        for name, version in one.build.packages.items()
    }
