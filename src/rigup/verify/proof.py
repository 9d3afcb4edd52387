"""What a proof holds for: the devices that passed, those that failed, and the facts under which they did."""

import os
from collections.abc import Iterator

from msgspec import UNSET

from rigup.machine.proof_records import Proven, record, withdraw
from rigup.machine.proofs import WHOLE, kernel_in, override_in
from rigup.machine.store import Facts
from rigup.schemas.shared import SeenDevice
from rigup.schemas.verify import Check, Verify

_NAMED = 6  # checks that were not passed, in one record


def keep(told: Verify, facts: Facts) -> str | None:
    """Keep what was found of each device, in the place of an older record; the path of what was written.

    Of two cards one may be of no use: that takes nothing from the other. A failure is kept as well, so that the next
    doctor tells of it. The environment is named by the folder that it really is, and not by a link that may lead
    elsewhere tomorrow.
    """
    prefix = os.path.realpath(told.environment.prefix)
    found = [*_of_devices(told, facts, prefix), *_of_environment(told, facts, prefix)]
    if found:
        return record(prefix, found, told.mode)
    withdraw(prefix)
    return None


def _of_devices(told: Verify, facts: Facts, prefix: str) -> Iterator[Proven]:
    """Each device of the machine with each framework that was judged on it."""
    for device in told.devices:
        if device.index is UNSET:
            continue
        judged = [check for check in device.checks if check.passed is not UNSET]
        for framework in dict.fromkeys(check.framework or "" for check in judged):
            mine = [check for check in judged if (check.framework or "") == framework]
            if not _beside(told, framework) or _failed(mine):
                yield _proven(told, facts, prefix, framework, mine, device)


def _of_environment(told: Verify, facts: Facts, prefix: str) -> Iterator[Proven]:
    """What failed and is of no device: a package that cannot be imported, or what the processor computed wrong."""
    for one in (*told.frameworks, *told.companions):
        checks = [
            check
            for device in told.devices
            if device.index is UNSET
            for check in device.checks
            if check.framework == one.name and check.passed is not UNSET
        ]
        if not one.imported or one.because is not UNSET:
            checks = [Check(name="import", passed=False, seconds=0.0)]
        if _failed(checks):
            yield _proven(told, facts, prefix, one.name, checks, SeenDevice(uuid=WHOLE))


def _beside(told: Verify, name: str) -> bool:
    """Whether it stands beside a framework: that it works proves nothing of a device."""
    return any(one.name == name for one in told.companions)


def _failed(checks: list[Check]) -> str:
    """The names of checks that were not passed."""
    names = list(dict.fromkeys(check.name for check in checks if not check.passed))
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")


def _proven(told: Verify, facts: Facts, prefix: str, framework: str, checks: list[Check], device: SeenDevice) -> Proven:
    versions = {one.name: one.version or "" for one in (*told.frameworks, *told.companions)}
    return Proven(
        env=prefix, framework=framework, build=versions.get(framework, ""), kernel=kernel_in(facts),
        override=override_in(facts), checks=sum(bool(check.passed) for check in checks), failed=_failed(checks),
        prefix=told.environment.prefix, packages=[f"{name}=={version}" for name, version in sorted(told.packages.items())],
        name=device.name or "", isa=device.isa or "", pci_address=device.pci_address or "", uuid=device.uuid or "",
        driver=(device.driver and device.driver.version) or "",
    )  # fmt: skip
