"""The GPU's scheduler hangs: perhaps its firmware."""

from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge.driver_faults import firmware_fault
from rigup.machine.kinds import Gpu, Symptom, SystemPackage


@rule("amd-firmware-regression")
def firmware_known_bad(
    _hang: Symptom = seen(tag="amdgpu-scheduler-silent"),
    statement: Symptom = seen("amd-firmware-version"),
    gpu: Gpu | None = one(vendor="amd"),
) -> Verdict:
    """The scheduler of the card hangs, and its firmware is on the list."""
    component, version = statement.get("component", ""), statement.get("version", "")
    return firmware_fault(component, version, isa=gpu.get("isa") if gpu else None) and {"firmware": component + " " + version}


@rule("amd-firmware-regression", "likely")
def package_known_bad(
    _hang: Symptom = seen(tag="amdgpu-scheduler-silent"),
    package: SystemPackage = one(state="installed"),
    gpu: Gpu | None = one(vendor="amd"),
) -> Verdict:
    """The scheduler of the card hangs, and the package of firmware is on the list."""
    firmware = "firmware" in package.name
    return firmware and firmware_fault(package=package.version, isa=gpu.get("isa") if gpu else None) and {"firmware": package.version}


@rule("amd-firmware-regression", "likely")
def bad_firmware_is_loaded(
    statement: Symptom = seen("amd-firmware-version"),
    gpu: Gpu = one(vendor="amd"),
    hang: Symptom | None = seen(tag="amdgpu-scheduler-silent"),
) -> Verdict:
    """The firmware of this chip is on the list; nobody has shown a hang yet."""
    bad = firmware_fault(statement.get("component", ""), statement.get("version", ""), isa=gpu.isa)
    return hang is None and bad and {"firmware": statement.get("component", "") + " " + statement.get("version", ""), "severity": "warning"}


@rule("amd-firmware-regression", "possible")
def scheduler_hangs(_hang: Symptom = seen(tag="amdgpu-scheduler-silent")) -> Verdict:
    """The scheduler of the card does not answer: often its firmware, not always."""
    return True


@text_rule("amd-firmware-regression", "likely")
def faults_with_firmware_known_bad(
    shown: Symptom = seen("firmware-package-shown"),
    fault: Symptom = seen("gpu-memory-access-fault", "amdgpu-ring-timeout", "gpu-hang-told"),
    card: Gpu = one(vendor="amd"),
) -> Verdict:
    """The package that is asked for is on the list for this chip."""
    bad = firmware_fault(package=str(shown.get("version")), isa=card.isa)
    return bad and {"firmware": shown.get("version"), "said": fault.id}


@mends("amd-firmware-regression")
def firmware_in_force(package: SystemPackage = one(name=("linux-firmware", "amd-gpu-firmware", "linux-firmware-amdgpu"))) -> Params:
    """Which package to change."""
    return {"firmware": package.version}
