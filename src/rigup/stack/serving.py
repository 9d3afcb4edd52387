"""Whether a build serves a device of a machine, and what must change for it."""

from rigup.knowledge.apple import is_older, mps_minimum
from rigup.knowledge.chips import isa_order, runs_on, why_not
from rigup.knowledge.cuda import driver_minimum, toolkit_knows, version_key
from rigup.knowledge.driver_choice import first_branch, stable_branch
from rigup.knowledge.gpus import driver_branch_for, open_module
from rigup.knowledge.intel import validated
from rigup.knowledge.rocm import Override, driver_accepts, override_facts, rocblas_has
from rigup.language import _
from rigup.stack.candidate import Candidate, Change, Served
from rigup.stack.site import NONE, Device, Site

# How a build may reach the devices of a maker.
PARTNERS = {"nvidia": ("cuda",), "amd": ("rocm", "directml"), "intel": ("xpu", "directml"), "apple": ("mps",)}


def served(build: Candidate, device: Device, site: Site) -> Served:
    """Whether a build serves a device.

    Raises:
        KnowledgeError: a table is malformed.

    """
    if build.kind == "directml":
        return _directml(build)
    if build.kind not in PARTNERS.get(device.vendor, ()):
        return _other_maker(build, device)
    judge = {"cuda": _nvidia, "rocm": _amd, "xpu": _intel, "mps": _apple}[build.kind]
    return judge(build, device, site)


def _no(because: str, source: str = "") -> Served:
    return Served(how="no", because=because, source=source)


def _other_maker(build: Candidate, device: Device) -> Served:
    if build.kind == "cpu":
        return _no(_("{build} runs on the CPU alone.").format(build=build.label), build.source)
    return _no(_("{build} is not made for {device}.").format(build=build.label, device=device.label), build.source)


# -- NVIDIA ------------------------------------------------------------------------------------------


def _nvidia(build: Candidate, device: Device, site: Site) -> Served:
    if not device.isa:
        return _no(_("The catalogue does not tell the architecture of {device}.").format(device=device.label))
    if reason := _no_code(build, device.isa):
        return _no(reason, build.source)
    change = driver_change(build, site)
    if change is not None and _refused(change, site):
        return _no(change.why, change.source)
    if change is not None and _beyond(device.isa, change.to):
        told = _("{device} is driven up to branch {last} only, and {build} needs {to}.")
        last = driver_branch_for(device.isa) or ""
        return _no(told.format(device=device.label, last=last, build=build.label, to=change.to), "cuda_driver")
    if _translated(build, device.isa):
        told = _("{build} holds no machine code for {isa}; the driver translates what it has, which nobody has tried.")
        return Served(
            how="trial", because=told.format(build=build.label, isa=device.isa), source=build.source, change=change
        )
    told = _("{build} holds code that runs on {isa}.").format(build=build.label, isa=device.isa)
    return Served(how="native", because=told, source=build.source, change=change)


def _no_code(build: Candidate, isa: str) -> str:
    if not build.code and not build.isa_min:
        return _("Nobody has seen what {build} is compiled for.").format(build=build.label)
    if isa in build.failing:
        return _("{build} is known to fail on {isa}.").format(build=build.label, isa=isa)
    if build.isa_min and isa_order(isa) < isa_order(build.isa_min):
        told = _("{build} starts at {oldest}; this is {isa}.")
        return told.format(build=build.label, oldest=build.isa_min, isa=isa)
    if build.code and (reason := why_not(isa, build.code, build.cuda or None)):
        return _("{build}: {reason}.").format(build=build.label, reason=str(reason))
    if _translated(build, isa) and toolkit_knows(build.cuda, isa) is False:
        told = _("{build} comes with libraries of CUDA {cuda}, which is older than {isa}.")
        return told.format(build=build.label, cuda=build.cuda, isa=isa)
    return ""


def _translated(build: Candidate, isa: str) -> bool:
    """Only what the driver can compile for the chip is in it, no machine code."""
    return bool(build.code) and not runs_on(
        isa, [code for code in build.code if code.startswith("sm_")], build.cuda or None
    )


def _beyond(isa: str, driver: str) -> bool:
    """A driver that no longer drives the chip."""
    last = driver_branch_for(isa)
    return bool(last) and version_key(driver)[:1] > version_key(last or "")


def _refused(change: Change, site: Site) -> bool:
    return change.root and site.root is False


def driver_change(build: Candidate, site: Site) -> Change | None:
    """What must happen to the NVIDIA driver before a build runs on the machine's cards; None for nothing."""
    if site.jetpack or site.nvidia_driver is None:
        return None
    cards = [device.isa for device in site.gpus if device.vendor == "nvidia" and device.isa]
    usable = [isa for isa in cards if not _no_code(build, isa)] or cards
    least = _least_driver(build, usable, site)
    have = site.nvidia_driver
    if have == NONE:
        return _change(site, least, usable, _("No NVIDIA driver is installed."))
    if version_key(have) < version_key(least):
        told = _("{build} needs driver {least} or newer; {have} is loaded.")
        return _change(site, least, usable, told.format(build=build.label, least=least, have=have))
    if all(_beyond(isa, have) for isa in usable):
        told = _("Driver {have} no longer drives these cards; the last branch that does is {last}.")
        last = min((driver_branch_for(isa) or "" for isa in usable), key=version_key)
        return _change(site, least, usable, told.format(have=have, last=last))
    return _module_change(site, usable)


def _module_change(site: Site, isas: list[str]) -> Change | None:
    """The open kernel module does not drive old cards, and nothing else drives the newest."""
    if site.open_module is True and isas and all(open_module(isa) == "impossible" for isa in isas):
        told = _("The open kernel module does not drive these cards; the proprietary one does.")
    elif site.open_module is False and any(open_module(isa) == "only" for isa in isas):
        told = _("Only the open kernel module drives these cards; the proprietary one is loaded.")
    else:
        return None
    return _change(site, site.nvidia_driver or "", isas, told)


def _least_driver(build: Candidate, isas: list[str], site: Site) -> str:
    """The lowest driver that carries the build's CUDA and knows the cards."""
    windows = "windows" if site.system == "windows" or site.wsl else "linux"
    known = [driver_minimum(build.cuda, windows) or "" if build.cuda else "", build.driver]
    known += [first_branch(isa) or "" for isa in isas]
    return max(known, key=version_key)


def _change(site: Site, least: str, isas: list[str], why: str) -> Change:
    windows = site.system == "windows" or site.wsl
    to = stable_branch(least, isas) or least
    return Change(
        change="windows-driver" if windows else "nvidia-driver", have=site.nvidia_driver or None, to=to, why=why,
        source="cuda_driver", root=True, weight=10,
    )  # fmt: skip


# -- AMD ---------------------------------------------------------------------------------------------


def _amd(build: Candidate, device: Device, site: Site) -> Served:
    isa = device.isa
    if not isa:
        return _no(_("The catalogue does not tell the target of {device}.").format(device=device.label))
    if site.amd_driver and driver_accepts(site.amd_driver, build.rocm) is False:
        told = _("{build} holds ROCm {rocm}, which does not accept the kernel driver of ROCm {driver}.")
        return _no(told.format(build=build.label, rocm=build.rocm, driver=site.amd_driver), "rocm_releases")
    if isa in build.extra_isas:
        told = _("{build} has code for {isa} as an extra.").format(build=build.label, isa=isa)
        return Served(how="native", because=told, source=build.source, extra=build.extra_isas[isa])
    if runs_on(isa, build.code):
        return _with_blas(build, isa)
    return _overridden(build, isa, site)


def _with_blas(build: Candidate, isa: str) -> Served:
    if build.own_blas and rocblas_has(build.rocm, isa) is False:
        told = _("The rocBLAS inside {build} has no kernels for {isa}: matrix products fail.")
        return _no(told.format(build=build.label, isa=isa), "gfx_targets")
    told = _("{build} holds code for {isa}.").format(build=build.label, isa=isa)
    return Served(how="native", because=told, source=build.source)


def _overridden(build: Candidate, isa: str, site: Site) -> Served:
    """On trial as a sibling whose code is there."""
    row = override_facts(isa)
    missing = _("{build} has no code for {isa}.").format(build=build.label, isa=isa)
    if row is None or not row.value or not row.sibling or site.system == "windows":
        return _no(missing, build.source)
    if not runs_on(row.sibling, build.code) or rocblas_has(build.rocm, row.sibling) is False or _too_new(row, build):
        told = _("{missing} As {sibling} it would run, whose code is not in this build either.")
        return _no(told.format(missing=missing, sibling=row.sibling), "gfx_overrides")
    told = _("{isa} runs the code of {sibling} under HSA_OVERRIDE_GFX_VERSION={value}; AMD does not list it.")
    because = told.format(isa=isa, sibling=row.sibling, value=row.value)
    return Served(how="trial", because=because, source="gfx_overrides", override=row.value)


def _too_new(row: Override, build: Candidate) -> bool:
    return bool(row.last_rocm) and version_key(build.rocm)[:2] > version_key(row.last_rocm)[:2]


# -- Intel, Apple, DirectML --------------------------------------------------------------------------


def _intel(build: Candidate, device: Device, _site: Site) -> Served:
    known = validated(device.pci_id.partition(":")[2], device.architecture)
    if known is False:
        told = _("{device} is not among the GPUs for which PyTorch's XPU builds are made.")
        return _no(told.format(device=device.label), "pci_intel")
    if known is None:
        told = _("Nobody has said whether XPU builds run on {device}.").format(device=device.label)
        return Served(how="trial", because=told, source="pci_intel")
    told = _("{device} is among the GPUs for which XPU builds such as {build} are validated.")
    return Served(how="native", because=told.format(device=device.label, build=build.label), source="pci_intel")


def _apple(build: Candidate, device: Device, site: Site) -> Served:
    if site.rosetta:
        return _no(_("This Python is translated by Rosetta and sees no GPU: use one built for arm64."), "apple")
    if site.virtual or site.container:
        return _no(_("Metal does not reach into a virtual machine or a container."), "apple")
    least = mps_minimum(build.version) if build.package == "torch" else None
    if least and site.macos and is_older(site.macos, least):
        told = _("MPS of {build} needs macOS {least}; this is {macos}.")
        return _no(told.format(build=build.label, least=least, macos=site.macos), "apple")
    told = _("{build} reaches {device} by MPS.").format(build=build.label, device=device.label)
    return Served(how="native", because=told, source="apple")


def _directml(build: Candidate) -> Served:
    told = _("DirectML drives any DirectX 12 GPU; it is no longer developed, and many operations run on the CPU.")
    return Served(how="trial", because=told, source=build.source)
