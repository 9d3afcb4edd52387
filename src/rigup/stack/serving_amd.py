"""Whether a ROCm build serves an AMD device."""

from rigup.knowledge.chips import runs_on
from rigup.knowledge.cuda import version_key
from rigup.knowledge.rocm import Override, driver_accepts, override_facts, rocblas_has
from rigup.knowledge.wsl import chip_without_wsl, rocm_supported, runtime_knows_wsl
from rigup.language import _
from rigup.stack.candidate import Candidate, Served, unserved
from rigup.stack.site import Device, Site


def served(build: Candidate, device: Device, site: Site) -> Served:
    """Whether a build serves a device: as it is, or under an override.

    Raises:
        KnowledgeError: a table is malformed.

    """
    isa = device.isa
    if not isa:
        return unserved(_("The catalogue does not tell the target of {device}.").format(device=device.label))
    if reason := _not_in_wsl(build, isa, site):
        return unserved(reason, "wsl")
    if site.amd_driver and driver_accepts(site.amd_driver, build.rocm, isa) is False:
        template = _("{build} holds ROCm {rocm}, which does not accept the kernel driver of ROCm {driver}.")
        return unserved(template.format(build=build.label, rocm=build.rocm, driver=site.amd_driver), "rocm_releases")
    if isa in build.extra_isas:
        return _as_extra(build, isa)
    if runs_on(isa, build.code):
        return _with_blas(build, isa)
    return _overridden(build, isa, site)


def _not_in_wsl(build: Candidate, isa: str, site: Site) -> str:
    """Inside WSL only some chips are driven, and only by some releases of ROCm."""
    if not site.wsl:
        return ""
    if chip_without_wsl(isa):
        return _("ROCm inside WSL does not drive {isa}; on Linux itself it may.").format(isa=isa)
    if rocm_supported(build.rocm) or runtime_knows_wsl(build.rocm):
        return ""
    template = _("{build} holds ROCm {rocm}, whose runtime does not know WSL's device.")
    return template.format(build=build.label, rocm=build.rocm)


def _as_extra(build: Candidate, isa: str) -> Served:
    if isa in build.untested:
        template = _("{build} has code for {isa} as an extra, which its makers build and do not test.")
    else:
        template = _("{build} has code for {isa} as an extra.")
    how = "trial" if isa in build.untested else "native"
    because = template.format(build=build.label, isa=isa)
    return Served(how=how, because=because, source=build.source, extra=build.extra_isas[isa])


def _with_blas(build: Candidate, isa: str) -> Served:
    if build.own_blas and rocblas_has(build.rocm, isa) is False:
        message = _("The rocBLAS inside {build} has no kernels for {isa}: matrix products fail.")
        return unserved(message.format(build=build.label, isa=isa), "gfx_targets")
    message = _("{build} holds code for {isa}.").format(build=build.label, isa=isa)
    return Served(how="native", because=message, source=build.source)


def _overridden(build: Candidate, isa: str, site: Site) -> Served:
    """On trial as a sibling whose code is there."""
    row = override_facts(isa)
    missing = _("{build} has no code for {isa}.").format(build=build.label, isa=isa)
    if row is None or not row.value or not row.sibling or site.system == "windows":
        return unserved(missing, build.source)
    if not runs_on(row.sibling, build.code) or rocblas_has(build.rocm, row.sibling) is False or _too_new(row, build):
        template = _("{missing} As {sibling} it would run, whose code is not in this build either.")
        return unserved(template.format(missing=missing, sibling=row.sibling), "gfx_overrides")
    template = _("{isa} runs the code of {sibling} under HSA_OVERRIDE_GFX_VERSION={value}; AMD does not list it.")
    because = template.format(isa=isa, sibling=row.sibling, value=row.value)
    return Served(how="trial", because=because, source="gfx_overrides", override=row.value)


def _too_new(row: Override, build: Candidate) -> bool:
    return bool(row.last_rocm) and version_key(build.rocm)[:2] > version_key(row.last_rocm)[:2]
