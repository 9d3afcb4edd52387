"""Choose a stack: every build that a wish allows is judged, and the best one is taken."""

from collections.abc import Iterable, Iterator

import msgspec
from packaging.utils import canonicalize_name

from rigup.knowledge.chips import isa_order
from rigup.knowledge.cuda import version_key
from rigup.knowledge.cudnn import cudnn_pin
from rigup.knowledge.mirrors import mirror_names
from rigup.knowledge.numpy_ceilings import numpy_below
from rigup.knowledge.wheels import words_for
from rigup.language import _
from rigup.stack import frameworks
from rigup.stack.candidate import Change, Served, unserved
from rigup.stack.choice import Choice, TurnedDown
from rigup.stack.decide import Decision, decide, made_for, solved
from rigup.stack.explain import instead, translations, turned_down, unheard
from rigup.stack.inside import inside
from rigup.stack.notes import note
from rigup.stack.programs import words_of
from rigup.stack.pythons import python_for
from rigup.stack.remedies import smallest
from rigup.stack.serving_nvidia import undriven
from rigup.stack.site import Device, Site, wanted
from rigup.stack.soft_bounds import bounded, contradictions, may_be_below
from rigup.stack.split_environments import split
from rigup.stack.variables import for_devices, of_driver
from rigup.stack.weigh import Judged, served_count, serves_all
from rigup.stack.wish import Wish, WishError

ServedDevices = tuple[tuple[Device, Served], ...]
_LANGUAGE_MODELS = "llama-cpp-python"


def choose(wish: Wish, site: Site) -> Choice:
    """The stack for a wish on a machine. Nothing is read or changed.

    Raises:
        WishError: a mirror that nobody knows was asked for.
        KnowledgeError: a table is malformed.

    """
    _check_mirror(wish.mirror)
    site = site.but(root=False) if wish.no_root else site
    whole_wish = _with_installed(wish, site)
    wish = whole_wish if whole_wish is not wish and not decide(whole_wish, site).stuck else wish
    decision = decide(wish, inside(wish, site))
    whole = serves_all(decision.taken, site) and not decision.stuck
    choice = Choice(
        wish=wish,
        site=site,
        remedy=None if whole else smallest(wish, site, solved),
        turned_down=(
            *turned_down(decision.refused, site),
            *_translations(decision, site),
            *_without_gpu(decision, site),
            *(unheard(wish, site) if decision.stuck else ()),
            *(() if whole else instead(wish, site)),
        ),
    )
    if decision.conflict:
        choice = split(choice, decision.conflict, choose)
    return _without_a_stack(choice, decision) if decision.stuck else _with_a_stack(choice, decision)


def _check_mirror(name: str) -> None:
    """Raise WishError for a mirror that the tables do not know, naming those that they do."""
    known = mirror_names() if name else []
    if name and name.lower() not in {mirror.lower() for mirror in known}:
        template = _("{name} is no mirror that the tables know. Known are: {names}.")
        raise WishError(template.format(name=name[:60], names=", ".join(known)))


def _with_installed(wish: Wish, site: Site) -> Wish:
    """Who asks for something beside keeps the framework of the environment: nothing is renewed that nobody named."""
    present = {} if frameworks.called(wish.asked()) else frameworks.frameworks_in(site.installed)
    pinned = tuple(f"{name}=={version.partition('+')[0]}" for name, version in present.items())
    return msgspec.structs.replace(wish, packages=(*wish.packages, *pinned)) if pinned else wish


def _translations(decision: Decision, site: Site) -> tuple[TurnedDown, ...]:
    """Where a device is left out for which no build was made at all."""
    idle = {device.vendor for device in wanted(site)} - {
        device.vendor for judged in decision.looked_at for device, served in _pairs(judged, site) if served.served
    }
    return translations(idle, {judged.build.kind for judged in decision.looked_at})


def _without_gpu(decision: Decision, site: Site) -> Iterator[TurnedDown]:
    """Where there is no device, and nothing of what was asked for runs without one."""
    able = [judged.build for judged in decision.looked_at if not judged.refusal and judged.build.kind != "cpu"]
    if decision.stuck and able and not site.gpus:
        newest = max(able, key=lambda build: version_key(build.version))
        because = _("{build} needs a GPU, and none is known there.").format(build=newest.label)
        yield TurnedDown(candidate=newest.label, because=because, source=newest.source)


def _pairs(judged: Judged, site: Site) -> Iterable[tuple[Device, Served]]:
    return zip(site.gpus, judged.served, strict=True)


def _without_a_stack(choice: Choice, decision: Decision) -> Choice:
    """Each device with why the build that came nearest does not serve it."""
    nothing = unserved(_("Nothing that was asked for can be installed there."))
    devices = tuple(
        (device, next((judged.served[place] for judged in decision.looked_at if not judged.served[place].served), nothing))
        for place, device in enumerate(choice.site.gpus)
    )
    return msgspec.structs.replace(choice, devices=devices)


def _with_a_stack(choice: Choice, decision: Decision) -> Choice:
    wish, site = choice.wish, choice.site
    taken = decision.taken
    variables, devices = for_devices(tuple(_devices(taken, decision, site)))
    variables = variables | of_driver(devices, inside(wish, site))
    packages = {
        name: version for judged in taken for name, version in (_with_extras(judged) | judged.build.beside | pins(judged, site)).items()
    }
    packages |= _numpy(wish, taken, site)
    return msgspec.structs.replace(
        choice,
        chosen=taken,
        packages=packages,
        requirements=tuple(_requirements(wish, taken, packages)),
        indexes=tuple(dict.fromkeys(url for judged in taken for url in _places(judged) if url)),
        devices=devices,
        variables={name: value for judged in taken for name, value in judged.build.variables.items()} | variables,
        python=taken[0].python or python_for(taken[0].build, inside(wish, site), wish),
        changes=tuple(_changes(taken)),
        others=choice.others or _others(wish, site, taken[0]),
        warnings=(*_warnings(wish, taken, devices, site), *_instead(choice, taken, devices)),
    )


def _warnings(wish: Wish, taken: tuple[Judged, ...], devices: ServedDevices, site: Site) -> Iterator[str]:
    """What a person has to see to: of the builds, and of packages with a warning in the tables."""
    idle = {device.vendor for device, served in devices if not served.served}
    yield from words_of(wish.asked())
    yield from (note(word) for word in words_for(wish.asked(), idle))
    yield from (judged.build.mind for judged in taken if judged.build.mind)
    yield from contradictions(wish.asked(), {name: release for judged in taken for name, release in judged.build.packages.items()})
    numpy = wish.asked().get("numpy")
    limits = [(judged.build.label, below) for judged in taken for below in _too_new(judged, site)]
    for label, below in limits if numpy and numpy.specifier else ():
        if numpy and not may_be_below(numpy, below):
            template = _("{build} was compiled for NumPy below {below}: with the NumPy that was asked for it cannot take arrays.")
            yield template.format(build=label, below=below)


def _instead(choice: Choice, taken: Iterable[Judged], devices: ServedDevices) -> Iterator[str]:
    """What the devices can still be used for, where nothing that was asked for reaches any of them."""
    site, instead = choice.site, Wish(packages=(_LANGUAGE_MODELS,))
    idle = [device for device, served in devices if device in wanted(site) and not served.served]
    if choice.remedy or not idle or len(idle) < len(wanted(site)) or any(_is(judged, _LANGUAGE_MODELS) for judged in taken):
        return
    for judged in solved(instead, site):
        if served_count(judged, site):
            template = _("No build of it reaches {device}. Language models do, by {build}: `rigup plan llama.cpp` plans it.")
            yield template.format(device=idle[0].label, build=judged.build.label)


def _is(judged: Judged, name: str) -> bool:
    return judged.build.package == name


def _places(judged: Judged) -> tuple[str, ...]:
    return (judged.build.index, *judged.build.extra_indexes, *judged.build.links)


def _changes(taken: Iterable[Judged]) -> Iterable[Change]:
    return {change.change: change for judged in taken for change in judged.changes}.values()


def _numpy(wish: Wish, taken: Iterable[Judged], site: Site) -> dict[str, str]:
    """NumPy below the first release that code of the builds does not fit, where the wish leaves it open.

    Wheels of old releases do not say so themselves, and conda's do.
    """
    requirement = wish.asked().get("numpy")
    limits = [below for judged in taken for below in _too_new(judged, site)]
    return {"numpy": "<" + min(limits, key=version_key)} if limits and not (requirement and requirement.specifier) else {}


def _too_new(judged: Judged, site: Site) -> Iterator[str]:
    """The first NumPy that a build does not fit; what stands in an image fits what is there."""
    if not judged.build.conda and not judged.build.image:
        bounds = (numpy_below(name.partition("[")[0], version, site.system) for name, version in judged.build.packages.items())
        yield from filter(None, bounds)


def _requirements(wish: Wish, taken: Iterable[Judged], packages: dict[str, str]) -> Iterator[str]:
    """What comes after the frameworks: packages that stand on them, and what the tables do not know."""
    companions = {name for judged in taken for name in judged.build.beside} | ({"numpy"} & packages.keys())
    known = {canonicalize_name(name.partition("[")[0]) for name in packages}
    origins = {name: origin for judged in taken for name, origin in judged.build.origins.items()}
    for name, requirement in wish.asked().items():
        if name in companions:
            yield name + (packages[name] if not packages[name][:1].isdigit() else "==" + packages[name])
        elif name not in known and not frameworks.stands_for(name, requirement):
            yield origins.get(name) or bounded(requirement, packages)
    if "numpy" in packages and "numpy" not in wish.asked():
        yield "numpy" + packages["numpy"]


def _devices(taken: tuple[Judged, ...], decision: Decision, site: Site) -> Iterator[tuple[Device, Served]]:
    """Each device with the word of the framework that serves it least; left to the CPU, with what kept a GPU build off."""
    order = ("no", "trial", "native")
    for place, device in enumerate(site.gpus):
        least = min(taken, key=lambda judged: order.index(judged.served[place].how))
        refused = [judged for judged in decision.refused if made_for(judged.build, {device.vendor})]
        nearer = [judged.served[place] for judged in refused if not judged.served[place].served]
        why = [unserved(decision.conflict, "torch_releases")] if decision.conflict else nearer
        yield device, why[0] if least.build.kind == "cpu" and why else least.served[place]


def _others(wish: Wish, site: Site, taken: Judged) -> tuple[Choice, ...]:
    """An environment of its own for the wanted devices that are left out, where one is possible."""
    left = [
        device
        for device, served in _pairs(taken, site)
        if device in wanted(site) and not served.served and not (device.vendor == "nvidia" and undriven(device, site))
    ]
    if not left or len(left) == len(wanted(site)):
        return ()
    other = choose(wish, site.but(devices=tuple(left)))
    return (other,) if other.chosen and served_count(other.chosen[0], other.site) else ()


def pins(judged: Judged, site: Site) -> dict[str, str]:
    """The cuDNN that the served chips still have, where the newest would be taken. Raises KnowledgeError."""
    pin = cudnn_pin(judged.build.cuda) if judged.build.any_cudnn and not judged.build.conda else None
    chips = [device.isa for device, served in _pairs(judged, site) if served.served and device.isa]
    old = pin is not None and any(isa_order(isa) < isa_order(pin.below) for isa in chips)
    return {pin.package: pin.version} if pin and old else {}


def _with_extras(judged: Judged) -> dict[str, str]:
    """Packages as pip takes them: where a device's code is an extra, it is asked for."""
    extras = sorted({served.extra for served in judged.served if served.extra})
    if not extras:
        return judged.build.packages
    owner = judged.build.extra_of or judged.build.package
    owners = (owner, "torchvision") if owner == "torch" else (owner,)
    return {
        _extended(name, extras) if name.partition("[")[0] in owners else name: version for name, version in judged.build.packages.items()
    }


def _extended(name: str, extras: list[str]) -> str:
    plain, _bracket, known = name.rstrip("]").partition("[")
    return f"{plain}[{','.join([*filter(None, [known]), *extras])}]"
