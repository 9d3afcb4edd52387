"""Build the answer of `rigup verify` (`rigup.schemas.verify`). Nothing is printed here."""

from collections.abc import Iterator
from typing import Literal

from msgspec import UNSET, structs

from rigup.language import _
from rigup.machine.store import Facts
from rigup.schemas.machine import Machine
from rigup.schemas.shared import Environment
from rigup.schemas.verify import Check, CheckedDevice, Framework, Verify
from rigup.verify.covered import left_out
from rigup.verify.judge import fallbacks, judge
from rigup.verify.matching import matched
from rigup.verify.observe import Death, Listed, Observed, Seen
from rigup.verify.words import died

FOR_CPUS = ("numpy",)  # frameworks of which nobody expects that they list a GPU
_OF_THIS_MACHINE = "of-this-machine"
_NEEDED = ("evidence", _OF_THIS_MACHINE)  # checks without whose answer nothing is proven
_NO_WORDS = ("rigup:", "warning:", 'File "', "Current thread 0x", "Thread 0x", "Extension modules:", "<no Python frame>")
_MASKS = {
    "nvidia": ("CUDA_VISIBLE_DEVICES",),
    "amd": ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"),
    "intel": ("ONEAPI_DEVICE_SELECTOR", "ZE_AFFINITY_MASK"),
}


def answer(observed: Observed, machine: Machine, facts: Facts, full: bool, wanted: list[str]) -> Verify:
    """The answer without its duration. `machine` comes from the doctor, with the state of each device."""
    devices = [CheckedDevice(**structs.asdict(device), checks=[]) for device in machine.accelerators or []]
    cpu = CheckedDevice(name=processor(machine), checks=[])
    for seen in (*observed.frameworks, *observed.companions):
        _add(seen, devices, cpu)
    if not wanted:
        _unlisted(observed, devices, facts)
    judged = [_state(device) for device in (*devices, *([cpu] if cpu.checks else []))]
    frameworks = [_framework(seen) for seen in observed.frameworks]
    companions = [_framework(seen) for seen in observed.companions]
    return Verify(
        verdict=_verdict(judged, [*frameworks, *companions]),
        mode="full" if full else "quick",
        environment=environment_of(observed),
        packages=observed.packages,
        frameworks=frameworks,
        companions=companions,
        devices=judged,
        not_covered=left_out(observed, judged, full),
        seconds=0.0,
    )


def environment_of(observed: Observed) -> Environment:
    """The environment in which it was measured."""
    return Environment(prefix=observed.prefix, interpreter=observed.python, python=observed.version)


def processor(machine: Machine) -> str:
    """The name of the machine's processor."""
    found = [cpu.get("model") or cpu.get("name") for cpu in machine.cpus or []]
    return str(next(filter(None, found), "CPU"))


def _framework(seen: Seen) -> Framework:
    """One framework: its version, and whether it could be imported."""
    about, failed = seen.about, not seen.listed or bool(seen.deaths and not seen.deaths[-1].device)
    return Framework(
        name=seen.name,
        imported=bool(about),
        listed=seen.listed,
        version=about.version if about else UNSET,
        import_seconds=round(about.seconds, 2) if about else UNSET,
        build=about.build or UNSET if about else UNSET,
        exit_status=seen.status if seen.done and seen.status else UNSET,
        because=(_ended(seen.deaths[-1]) if seen.deaths else "") if failed else UNSET,
        said=last_line(seen.stderr) if failed else UNSET,
    )


def _ended(last: Death) -> str:
    """How the child ended; status 1 is how Python exits after an exception."""
    if (last.why, last.number) == ("status", 1):
        return _("Python ended with an error.")
    return died(last.why, last.number)


def last_line(stderr: bytes) -> str:
    """The last line of standard error that is neither a progress mark of the probe nor part of a traceback."""
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines()]
    return next((line[:500] for line in reversed(lines) if line and not line.startswith(_NO_WORDS)), "")


def _add(seen: Seen, devices: list[CheckedDevice], cpu: CheckedDevice) -> None:
    """Add the checks of one framework to the devices on which they ran."""
    places = matched([listed for listed in seen.devices if listed.id != "cpu"], devices)
    for listed in seen.devices:
        checks = [structs.replace(check, framework=seen.name, device=listed.id) for check in _checks(seen, listed.id)]
        if listed.id == "cpu":
            cpu.checks.extend(checks)
        elif checks:
            if listed.id not in places:  # nobody else has seen it
                places[listed.id] = len(devices)
                devices.append(CheckedDevice(index=len(devices), checks=[]))
                because = _("This machine shows no such device: what it is cannot be told.")
                checks.append(Check(framework=seen.name, device=listed.id, name=_OF_THIS_MACHINE, seconds=0.0, because=because))
            devices[places[listed.id]] = _completed(devices[places[listed.id]], listed)
            devices[places[listed.id]].checks.extend(checks)


def _completed(target: CheckedDevice, listed: Listed) -> CheckedDevice:
    """The device, completed with what the framework reports and the machine's facts lack."""
    return structs.replace(
        target,
        vendor=target.vendor or listed.vendor or UNSET,
        name=target.name or listed.name or UNSET,
        isa=target.isa or listed.isa or UNSET,
        pci_address=target.pci_address or listed.pci_address or UNSET,
        properties=target.properties or listed.properties or UNSET,
    )


def _checks(seen: Seen, device: str) -> Iterator[Check]:
    """The checks of one device, in the order in which they ran."""
    mine = {name: record for (checked_device, name), record in seen.records.items() if checked_device == device}
    yield from (judge(name, record) for name, record in mine.items())
    if device != "cpu" and (fallback_check := fallbacks(mine)):
        yield fallback_check
    if device in seen.left:
        because = _("What comes after it was not tried: this device has ended the process.")
        yield Check(name="rest", seconds=0.0, because=because)


def _unlisted(observed: Observed, devices: list[CheckedDevice], facts: Facts) -> None:
    """Mark GPUs that no framework lists although a build here is for that vendor, or for no GPU at all."""
    from rigup.diagnosis.states import made_for
    from rigup.machine.kinds import Torch, Variable

    set_ = {variable.get("name") for variable in facts.of(Variable) if variable.get("value") is not None}
    builds = [torch for torch in facts.of(Torch) if torch.get("env") == observed.prefix]
    served = any(device.checks for device in devices)
    for place, device in enumerate(devices):
        vendor = device.vendor or ""
        hidden = [name for name in _MASKS.get(vendor, ()) if name in set_]
        ought = any(made_for(torch, vendor, facts) for torch in builds) or (not served and not device.integrated)
        if device.checks or not any(seen.listed for seen in observed.frameworks if seen.name not in FOR_CPUS):
            continue
        if hidden:
            because = _("{variable} hides it from this process.").format(variable=hidden[0])
            devices[place] = structs.replace(device, because=because)
        elif ought:
            because = _("No framework of this environment lists this GPU.")
            device.checks.append(Check(name="listed", passed=False, seconds=0.0, because=because))


def _undecided(device: CheckedDevice) -> list[Check]:
    """Checks of where the work was done that came to no verdict."""
    return [check for check in device.checks if check.name in _NEEDED and check.passed is UNSET]


def _state(device: CheckedDevice) -> CheckedDevice:
    """State "verified" where all judged checks passed; a device without judged checks keeps the doctor's state."""
    judged = [check for check in device.checks if check.passed is not UNSET]
    bad = [check for check in judged if not check.passed]
    if bad:
        because = _("it did not pass: {names}").format(names=", ".join(dict.fromkeys(check.name for check in bad)))
        return structs.replace(device, state="no", because=because, next="rigup doctor")
    if open_checks := _undecided(device):
        because = _("it computes right; whether the device did it cannot be told. {because}")
        return structs.replace(device, state="expected", because=because.format(because=open_checks[0].because or ""), next="")
    if judged:
        frameworks = ", ".join(dict.fromkeys(check.framework for check in judged if check.framework))
        because = _("all checks were passed ({count}, with {frameworks})").format(count=len(judged), frameworks=frameworks)
        return structs.replace(device, state="verified", because=because, next="")
    return device


def _verdict(devices: list[CheckedDevice], frameworks: list[Framework]) -> Literal["verified", "failed", "nothing-to-verify"]:
    """Verdict "verified" needs at least one passed check, no failed one, and no device without a verdict."""
    judged = [check.passed for device in devices for check in device.checks if check.passed is not UNSET]
    if not all(judged) or any(framework.because is not UNSET for framework in frameworks):
        return "failed"
    if any(map(_undecided, devices)):
        return "nothing-to-verify"  # something was asked whose part in it cannot be told
    return "verified" if judged else "nothing-to-verify"
