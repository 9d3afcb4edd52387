"""Each device's honest state: verified, expected to work, on trial, will not work; why, and what next."""

from typing import Any

from rigup.diagnosis.findings import Finding
from rigup.knowledge.chips import runs_on
from rigup.language import _
from rigup.machine.kinds import Gpu, Torch, Variable
from rigup.machine.store import Facts

OVERRIDE = "HSA_OVERRIDE_GFX_VERSION"


def device_states(devices: list[dict[str, Any]], findings: list[Finding], facts: Facts) -> None:
    """Add `state`, `because` and `next` to each device of the inventory."""
    for device in devices:
        state, because, following = _state(device, findings, facts)
        device.update(state=state, because=because, next=following)


def _state(device: dict[str, Any], findings: list[Finding], facts: Facts) -> tuple[str, str, str]:
    if fault := _fault(device, findings):
        return "no", fault.cause, _("mend {cause}: rigup explain {cause}").format(cause=fault.cause)
    builds = [torch for torch in facts.of(Torch) if torch.get("code")]
    isa = device.get("isa")
    if isa and builds and not any(runs_on(isa, torch.code) for torch in builds):
        if _overridden(facts):
            return "on-trial", _("it works by way of an override"), _("prove it: rigup verify")
        return "no", _("no torch here has code for {isa}").format(isa=isa), _("choose a build: rigup plan torch")
    if device.get("vendor") == "amd" and _overridden(facts):
        return "on-trial", _("an override is set"), _("prove it: rigup verify")
    if any(torch.get("available") for torch in facts.of(Torch)):
        return "expected", _("torch says that it can use a GPU"), _("prove it: rigup verify")
    return "expected", _("nothing speaks against it"), _("choose a build: rigup plan torch")


def _fault(device: dict[str, Any], findings: list[Finding]) -> Finding | None:
    """A grounded error about this device, or about the whole machine."""
    mine = {str(device.get(key)) for key in ("pci_address", "name", "uuid") if device.get(key)}
    for finding in findings:
        about = finding.subject.kind != "Gpu" or finding.subject.name in mine
        if finding.severity == "error" and finding.confidence != "possible" and about and _reaches(finding, device):
            return finding
    return None


def _reaches(finding: Finding, device: dict[str, Any]) -> bool:
    """A fault of one maker's driver does not stop another maker's card."""
    vendor = finding.params.get("vendor") or getattr(finding.params.get("gpu"), "fields", {}).get("vendor")
    told = vendor if isinstance(vendor, str) else getattr(vendor, "value", None)
    named = "nvidia" if "nvidia" in finding.cause or "nvml" in finding.cause else None
    return (told or named or device.get("vendor")) == device.get("vendor")


def _overridden(facts: Facts) -> bool:
    return any(v.get("name", "").startswith(OVERRIDE) and v.get("value") for v in facts.of(Variable))


def gpu_of(device: dict[str, Any], facts: Facts) -> Gpu | None:
    """The fact behind a device of the inventory."""
    return next((gpu for gpu in facts.of(Gpu) if gpu.get("pci_address") == device.get("pci_address")), None)
