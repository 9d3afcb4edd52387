"""Which image serves a wish best on a machine. Read only where a wish was typed: all frameworks' tables stand behind it."""

from collections.abc import Iterator

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from rigup.container.images import Image, fallback, image, newest_ngc
from rigup.container.serving import judge, refused
from rigup.knowledge.cuda import version_key
from rigup.knowledge.rocm import override_facts
from rigup.stack import frameworks
from rigup.stack.frameworks.images import candidates
from rigup.stack.inside import inside
from rigup.stack.site import Device, Site
from rigup.stack.weigh import Judged, judged, rank
from rigup.stack.wish import Wish, read_wishes

_KIND_OF = {"nvidia": "cuda", "amd": "rocm", "intel": "xpu"}


def as_wish(word: str, site: Site) -> Wish | None:
    """A word as a wish of which the tables know images; None where it is none."""
    try:
        packages = read_wishes((word,), site)
        name = canonicalize_name(Requirement(packages[0]).name)
    except (InvalidRequirement, ValueError):
        return None
    known = bool(frameworks.called({name: Requirement(packages[0])})) or bool(fallback(name, "cpu", site))
    return Wish(packages=packages, manager="docker") if known else None


def for_wish(wish: Wish, site: Site, devices: tuple[Device, ...]) -> Image | None:
    """The image for a wish: the architecture first, then the newest that the driver accepts; None where none is known."""
    place = inside(wish, site).but(devices=devices)
    best = max(_judged(wish, place), key=lambda choice: _order(choice, place, wish), default=None)
    if best is not None and (any(outcome.served for outcome in best.served) or not devices):
        return image(best.build.image, place.machine) if devices else _without_gpu(wish, place)
    name = canonicalize_name(Requirement(wish.packages[0]).name)
    for vendor in dict.fromkeys(device.vendor for device in devices):
        if vendor == "nvidia" and name == "torch" and place.machine == "aarch64" and not site.jetpack:
            every = (image(newest, place.machine) for newest in newest_ngc())
            fits = (candidate for candidate in every if all(judge(candidate, card, site).served.served for card in devices))
            if found := next(fits, None):
                return found
        if reference := fallback(name, _KIND_OF.get(vendor, "cpu"), site):
            return image(reference, place.machine)
    return _without_gpu(wish, place)


def _without_gpu(wish: Wish, site: Site) -> Image | None:
    name = canonicalize_name(Requirement(wish.packages[0]).name)
    reference = fallback(name, "cpu", site)
    return image(reference, site.machine) if reference else None


def _judged(wish: Wish, site: Site) -> Iterator[Judged]:
    from rigup.stack import frameworks

    asked = wish.asked()
    for name in frameworks.called(asked):
        yield from (judged(build, site, wish) for build in candidates(name, (name,), asked, site) if build.image)


def _order(choice: Judged, site: Site, wish: Wish) -> tuple[object, ...]:
    """As wheels are ranked, but under an override nothing newer than was tried, and nothing that the driver refuses."""
    tested = True
    for device, outcome in zip(site.gpus, choice.served, strict=True):
        row = override_facts(device.isa or "") if outcome.override else None
        if row and row.tried_rocm and version_key(choice.build.rocm)[:2] > version_key(row.tried_rocm)[:2]:
            tested = False
    found = image(choice.build.image, site.machine)
    return (not choice.refusal, tested, not refused(found, site.gpus, site), *rank(choice, site, wish))
