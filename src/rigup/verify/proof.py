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


def keep(answer: Verify, facts: Facts) -> str | None:
    """Keep what was found of each device, in the place of an older record; the path of what was written.

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
    """Each device of the machine with each framework that was judged on it."""
    for device in answer.devices:
        if device.index is UNSET:
            continue
        judged = [check for check in device.checks if check.passed is not UNSET]
        for framework in dict.fromkeys(check.framework or "" for check in judged):
            mine = [check for check in judged if (check.framework or "") == framework]
            if not _is_companion(answer, framework) or _failed(mine):
                yield _proven(answer, facts, prefix, framework, mine, device)


def _of_environment(answer: Verify, facts: Facts, prefix: str) -> Iterator[Proven]:
    """What failed and is of no device: a package that cannot be imported, or what the processor computed wrong."""
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
    """Whether it stands beside a framework: that it works proves nothing of a device."""
    return any(companion.name == name for companion in answer.companions)


def _failed(checks: list[Check]) -> str:
    """The names of checks that were not passed."""
    names = list(dict.fromkeys(check.name for check in checks if not check.passed))
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")


def _proven(
    answer: Verify, facts: Facts, prefix: str, framework: str, checks: list[Check], device: SeenDevice
) -> Proven:
    versions = {framework_.name: framework_.version or "" for framework_ in (*answer.frameworks, *answer.companions)}
    return Proven(
        env=prefix, framework=framework, build=versions.get(framework, ""), kernel=kernel_in(facts),
        override=override_in(facts), checks=sum(bool(check.passed) for check in checks), failed=_failed(checks),
        prefix=answer.environment.prefix, packages=[f"{name}=={version}" for name, version in sorted(answer.packages.items())],
        name=device.name or "", isa=device.isa or "", pci_address=device.pci_address or "", uuid=device.uuid or "",
        driver=(device.driver and device.driver.version) or "",
    )  # fmt: skip
