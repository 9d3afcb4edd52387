"""Whether a CUDA build serves an NVIDIA device, and what the driver must be for it."""

from collections.abc import Iterator

from rigup.knowledge import tables
from rigup.knowledge.chips import WhyNot, isa_order, runs_on, why_not
from rigup.knowledge.cuda import branch_of, driver_minimum, reaches, toolkit_isas, toolkit_knows, version_key
from rigup.knowledge.driver_choice import branch_left_for, first_branch, stable_branch
from rigup.knowledge.driver_recipes import for_servers
from rigup.knowledge.forward import forward_package
from rigup.knowledge.gpus import driver_branch_for, open_module
from rigup.knowledge.jetson import jetpack
from rigup.language import _, sentences
from rigup.stack.candidate import Candidate, Change, Served, unserved
from rigup.stack.site import NONE, Device, Site


def served(build: Candidate, device: Device, site: Site) -> Served:
    """Whether a build serves a device, once the driver is changed where it must be.

    Raises:
        KnowledgeError: a table is malformed.

    """
    if not device.isa:
        return unserved(_("The catalogue does not tell the architecture of {device}.").format(device=device.label))
    for reason, source in _against(build, device, device.isa, site):
        if reason:
            return unserved(reason, source)
    change = driver_change(build, site)
    if reason := _refused(build, device, change, site):
        return unserved(reason, "cuda_driver")
    if _only_translated(build, device.isa) and not toolkit_knows(_libraries(build), device.isa):
        message = _("{build} holds no machine code for {isa}; the driver translates what it has, which nobody has tried.")
        return Served(how="trial", because=message.format(build=build.label, isa=device.isa), source=build.source, change=change)
    message = _("{build} holds code that runs on {isa}.").format(build=build.label, isa=device.isa)
    return Served(how="native", because=message, source=build.source, change=change)


def _against(build: Candidate, device: Device, isa: str, site: Site) -> Iterator[tuple[str, str]]:
    """What speaks against a build whatever driver is installed, with the table that says so; "" where nothing does."""
    yield undriven(device, site), "cuda_driver"
    yield _no_code(build, isa), build.source
    yield _beyond_jetpack(build, site), "torch_jetson"


def _no_code(build: Candidate, isa: str) -> str:
    if not build.code and not build.isa_min:
        return _("Nobody has seen what {build} is compiled for.").format(build=build.label)
    if isa in build.failing:
        return _("{build} is known to fail on {isa}.").format(build=build.label, isa=isa)
    if build.isa_min and isa_order(isa) < isa_order(build.isa_min):
        template = _("{build} starts at {oldest}; this is {isa}.")
        return template.format(build=build.label, oldest=build.isa_min, isa=isa)
    if build.code and (reason := _why_not(isa, build.code, build.cuda)):
        return _not_compiled(build, reason)
    if (_only_translated(build, isa) or not build.code) and build.cuda and _libraries_fail(_libraries(build), isa):
        template = _("{build} comes with libraries of CUDA {cuda}, which know no {isa}.")
        return template.format(build=build.label, cuda=_libraries(build), isa=isa)
    return ""


def _libraries(build: Candidate) -> str:
    return build.libraries or build.cuda


@tables.remembered
def _libraries_fail(cuda: str, isa: str) -> bool:
    """The libraries of a CUDA release hold no code that runs on a chip: neither its own nor that of an older one of its kind."""
    return toolkit_knows(cuda, isa) is False and not runs_on(isa, toolkit_isas(cuda))


def _not_compiled(build: Candidate, reason: WhyNot) -> str:
    texts = {
        "older-chip": _("{build} was compiled for {oldest} and newer chips; this is {isa}."),
        "newer-chip": _("{build} was compiled for chips up to {newest}; this is {isa}."),
        "not-compiled": _("{build} was compiled for other chips ({oldest} to {newest}), not for {isa}."),
    }
    template = texts.get(reason.kind, _("{build} holds no code for {isa}."))
    return template.format(build=build.label, oldest=reason.oldest, newest=reason.newest, isa=reason.isa)


def _only_translated(build: Candidate, isa: str) -> bool:
    """Only what the driver can compile for the chip is in it, no machine code."""
    return bool(build.code) and not _has_machine_code(isa, build.code, build.cuda)


# Releases share their lists of architectures: each is asked once.
@tables.remembered
def _why_not(isa: str, code: tuple[str, ...], cuda: str) -> WhyNot | None:
    return why_not(isa, code, cuda or None)


@tables.remembered
def _has_machine_code(isa: str, code: tuple[str, ...], cuda: str) -> bool:
    return runs_on(isa, [target for target in code if target.startswith("sm_")], cuda or None)


def _beyond_jetpack(build: Candidate, site: Site) -> str:
    if not site.jetpack:
        return ""
    known = jetpack(site.jetpack)
    if known is None:
        return _("Which JetPack this is, nobody told: name it in --for, such as jetpack 6.2.")
    if version_key(build.cuda)[:1] <= version_key(known.cuda)[:1]:
        return ""
    template = _("{build} needs CUDA {cuda}; the driver of JetPack {release} runs CUDA {newest} at most.")
    return template.format(build=build.label, cuda=build.cuda, release=site.jetpack, newest=known.cuda)


def _refused(build: Candidate, device: Device, change: Change | None, site: Site) -> str:
    """Why the driver that the build would run on cannot be had, or does not drive the device."""
    if change is not None and change.root and site.root is False:
        return change.why
    driver = change.to if change and change.change != "toolkit" else site.nvidia_driver
    if driver and _beyond(device.isa or "", driver):
        template = _("{device} is driven up to branch {last} only, and {build} would run on {driver}.")
        last = driver_branch_for(device.isa or "") or ""
        return template.format(device=device.label, last=last, build=build.label, driver=driver)
    if change is None and site.open_module is not None and _wrong_module(device.isa or "", site.open_module):
        return _("The kernel module that is loaded does not drive {device}.").format(device=device.label)
    return ""


def undriven(device: Device, site: Site) -> str:
    """Why no driver drives a card beside the others of its machine, whatever is installed, with what to do; "" if one does.

    Raises:
        KnowledgeError: a table is malformed.

    """
    last = branch_left_for(device.isa or "") or ""
    if reason := _driven_by_another(device, site) or _without_a_branch(device, last, site):
        advice = _("It works in a machine of its own, or when {newest} is taken out.")
        other = _of_other_module(device, site) or _beyond_branch(last, site)
        return sentences(reason, advice.format(newest=other.label if other else ""))
    if older := _held_by_older(device, site):
        reason = _("{device} needs a driver of branch {first} or newer; {have} is loaded, and {older} is driven up to {last} only.")
        advice = _("It works in a machine of its own, or when {newest} is taken out.")
        first, past = first_branch(device.isa or "") or "", driver_branch_for(older.isa or "") or ""
        return sentences(
            reason.format(device=device.label, first=first, have=site.nvidia_driver, older=older.label, last=past),
            advice.format(newest=older.label),
        )
    return ""


def _held_by_older(device: Device, site: Site) -> Device | None:
    """An old card that works with the driver that is loaded, and would not with one that knows this card."""
    first, have = first_branch(device.isa or "") or "", site.nvidia_driver
    if not have or not first or version_key(have)[:1] >= version_key(first)[:1]:
        return None
    cards = (card for card in site.gpus if card.vendor == "nvidia" and card.isa and _works(card.isa, have, site))
    lasting = ((card, driver_branch_for(card.isa or "")) for card in cards)
    return next((card for card, last in lasting if last and version_key(last) < version_key(first)), None)


def _works(isa: str, driver: str, site: Site) -> bool:
    """With the driver and, where it is known, the kernel module that are loaded."""
    wrong = site.open_module is not None and _wrong_module(isa, site.open_module)
    return not wrong and not _beyond(isa, driver)


def _driven_by_another(device: Device, site: Site) -> str:
    """One kernel module is loaded at a time: where the newest cards allow the open one alone, old ones are not driven."""
    other = _of_other_module(device, site)
    if other is None:
        return ""
    if open_module(device.isa or "") == "only":
        template = _("{oldest} runs with the proprietary kernel module alone, which is loaded and does not drive {device}.")
        return template.format(oldest=other.label, device=device.label)
    template = _("{newest} runs with the open kernel module alone, which does not drive {device}.")
    return template.format(newest=other.label, device=device.label)


def _of_other_module(device: Device, site: Site) -> Device | None:
    """The card beside this one that keeps the machine on a kernel module which does not drive this one.

    The module that is loaded stays, for a card works with it; where it is unknown, it is that of the newest cards,
    unless the driver does not know these yet.
    """
    newest = newest_of_two_modules(site)
    if newest is None:
        return None
    loaded = site.open_module
    opened = loaded if loaded is not None else _held_by_older(newest, site) is None
    if not _wrong_module(device.isa or "", opened):
        return None
    cards = (card for card in site.gpus if card.vendor == "nvidia" and card.isa)
    return next((card for card in cards if _wrong_module(card.isa or "", not opened)), None)


def _without_a_branch(device: Device, last: str, site: Site) -> str:
    """One driver is loaded at a time: where the last branch of an old card is before the first of a new one."""
    newest = _beyond_branch(last, site)
    if newest is None or (site.nvidia_driver and not _beyond(device.isa or "", site.nvidia_driver)):
        return ""
    template = _("{newest} needs a driver of branch {first} or newer, and {device} is driven up to {last} only.")
    first = first_branch(newest.isa or "") or ""
    return template.format(newest=newest.label, first=first, device=device.label, last=last)


def _beyond_branch(last: str, site: Site) -> Device | None:
    """A card that the last branch of another one does not know yet."""
    cards = (device for device in site.gpus if last and device.vendor == "nvidia" and device.isa)
    return next((card for card in cards if version_key(first_branch(card.isa or "") or "") > version_key(last)), None)


def newest_of_two_modules(site: Site) -> Device | None:
    """A card that only the open kernel module drives, beside one that it does not; None where one module drives all.

    Windows has one driver for both.
    """
    if side_of_driver(site) == "windows":
        return None
    cards = [(device, open_module(device.isa)) for device in site.gpus if device.vendor == "nvidia" and device.isa]
    if not any(module == "impossible" for _device, module in cards):
        return None
    return next((device for device, module in cards if module == "only"), None)


def _beyond(isa: str, driver: str) -> bool:
    """A driver that no longer drives the chip."""
    last, branch = driver_branch_for(isa), branch_of(driver)
    return bool(last and branch) and version_key(branch or "") > version_key(last or "")


def _wrong_module(isa: str, opened: bool) -> bool:
    return open_module(isa) == ("impossible" if opened else "only")


def driver_change(build: Candidate, site: Site) -> Change | None:
    """What must happen to the NVIDIA driver before a build runs on the machine's cards; None for nothing."""
    if site.jetpack or site.nvidia_driver is None:
        return None
    cards = [device.isa for device in site.gpus if device.vendor == "nvidia" and device.isa]
    usable = [isa for isa in cards if not _no_code(build, isa)] or cards
    least, have = _least_driver(build, usable, site), site.nvidia_driver
    if have == NONE:
        return _change(site, least, usable, _("No NVIDIA driver is installed."))
    if not reaches(have, least):
        if above := _forward(build, site, usable):
            return above
        template = _("{build} needs driver {least} or newer; {have} is loaded.")
        return _change(site, least, usable, template.format(build=build.label, least=least, have=have))
    if any(_beyond(isa, have) for isa in usable):
        last = min((driver_branch_for(isa) for isa in usable if driver_branch_for(isa)), key=lambda branch: version_key(branch or ""))
        template = _("Driver {have} no longer drives all of these cards; the last branch that does is {last}.")
        return _change(site, least, usable, template.format(have=have, last=last))
    return _module_change(site, usable)


def _forward(build: Candidate, site: Site, isas: list[str]) -> Change | None:
    """CUDA's user space of a newer major, which conda-forge has: where the driver itself cannot be renewed."""
    names = [device.name for device in site.gpus if device.vendor == "nvidia"]
    if site.holder != "conda" or site.root is not False or side_of_driver(site) != "linux" or not all(map(for_servers, names)):
        return None
    have, package = site.nvidia_driver or "", forward_package(build.cuda, site.nvidia_driver or "")
    if not package or any(not reaches(have, first_branch(isa) or "") for isa in isas):
        return None
    template = _("{build} needs driver {least} or newer; data-centre cards run it above {have} with NVIDIA's cuda-compat.")
    why = template.format(build=build.label, least=driver_minimum(build.cuda, "linux") or build.driver, have=have)
    return Change(change="toolkit", have=None, to="cuda-compat " + package, why=why, source="cuda_driver", root=False, weight=2)


def _module_change(site: Site, isas: list[str]) -> Change | None:
    """The open kernel module does not drive old cards, and nothing else drives the newest."""
    if site.open_module is None or not isas or not all(_wrong_module(isa, site.open_module) for isa in isas):
        return None
    if newest_of_two_modules(site) is not None:
        return None  # a card beside these works with the module that is loaded, and with no other
    if site.open_module:
        template = _("The open kernel module does not drive these cards; the proprietary one does.")
    else:
        template = _("Only the open kernel module drives these cards; the proprietary one is loaded.")
    return _change(site, site.nvidia_driver or "", isas, template)


def _least_driver(build: Candidate, isas: list[str], site: Site) -> str:
    """The lowest driver that carries the build's CUDA and knows the cards."""
    known = [driver_minimum(build.cuda, side_of_driver(site)) or "" if build.cuda else "", build.driver]
    known += [first_branch(isa) or "" for isa in isas]
    return max(known, key=version_key)


def side_of_driver(site: Site) -> str:
    """Whose driver counts: inside WSL it is that of Windows."""
    return "windows" if site.system == "windows" or site.wsl else "linux"


def _change(site: Site, least: str, isas: list[str], why: str) -> Change:
    windows = side_of_driver(site) == "windows"
    to = stable_branch(least, isas) or stable_branch(least, ()) or least
    return Change(
        change="windows-driver" if windows else "nvidia-driver",
        have=site.nvidia_driver or None,
        to=to,
        why=why,
        source="cuda_driver",
        root=True,
        weight=10,
    )
