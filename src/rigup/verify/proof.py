"""Record a verification: devices that passed or failed, and the facts for which that holds."""

import os
from collections.abc import Iterator

from msgspec import UNSET

from rigup.machine.proof_records import Proven, record, withdraw
from rigup.machine.proofs import WHOLE, kernel_in, override_in
from rigup.machine.store import Facts
from rigup.schemas.shared import SeenDevice
from rigup.schemas.verify import Check, Verify

_NAMED = 6  # checks that were not passed, in one record


def keep(answer: Verify, facts: Facts) -> str | None:
    """Store the result of each device in place of an older record; the path of the written file.

    Of two cards one may be of no use: that takes nothing from the other. A failure is kept as well, so that the next
    doctor tells of it. The environment is named by the folder that it really is, and not by a link that may lead
    elsewhere tomorrow.
    """
    prefix = os.path.realpath(answer.environment.prefix)
    found = [*_of_devices(answer, facts, prefix), *_of_environment(answer, facts, prefix)]
    if found:
        return record(prefix, found, answer.mode)
    withdraw(prefix)
    return None


def _of_devices(answer: Verify, facts: Facts, prefix: str) -> Iterator[Proven]:
    """A record for each machine device and each framework judged on it."""
    for device in answer.devices:
        if device.index is UNSET:
            continue
        judged = [check for check in device.checks if check.passed is not UNSET]
        for framework in dict.fromkeys(check.framework or "" for check in judged):
            mine = [check for check in judged if (check.framework or "") == framework]
            if not _is_companion(answer, framework) or _failed(mine):
                yield _proven(answer, facts, prefix, framework, mine, device)


def _of_environment(answer: Verify, facts: Facts, prefix: str) -> Iterator[Proven]:
    """Records of failures without a device: packages that cannot be imported, wrong results of the CPU."""
    for framework in (*answer.frameworks, *answer.companions):
        checks = [
            check
            for device in answer.devices
            if device.index is UNSET
            for check in device.checks
            if check.framework == framework.name and check.passed is not UNSET
        ]
        if not framework.imported or framework.because is not UNSET:
            checks = [Check(name="import", passed=False, seconds=0.0)]
        if _failed(checks):
            yield _proven(answer, facts, prefix, framework.name, checks, SeenDevice(uuid=WHOLE))


def _is_companion(answer: Verify, name: str) -> bool:
    """Whether it is a companion package: its success proves nothing about a device."""
    return any(companion.name == name for companion in answer.companions)


def _failed(checks: list[Check]) -> str:
    """Names of the failed checks, comma-separated."""
    names = list(dict.fromkeys(check.name for check in checks if not check.passed))
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")


def _proven(answer: Verify, facts: Facts, prefix: str, framework: str, checks: list[Check], device: SeenDevice) -> Proven:
    versions = {framework_.name: framework_.version or "" for framework_ in (*answer.frameworks, *answer.companions)}
    return Proven(
        env=prefix,
        framework=framework,
        build=versions.get(framework, ""),
        kernel=kernel_in(facts),
        override=override_in(facts),
        checks=sum(bool(check.passed) for check in checks),
        failed=_failed(checks),
        prefix=answer.environment.prefix,
        packages=[f"{name}=={version}" for name, version in sorted(answer.packages.items())],
        name=device.name or "",
        isa=device.isa or "",
        pci_address=device.pci_address or "",
        uuid=device.uuid or "",
        driver=(device.driver and device.driver.version) or "",
    )
