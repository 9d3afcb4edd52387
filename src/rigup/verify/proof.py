"""What a proof holds for: the devices that passed, those that failed, and the facts under which they did."""

import os
from collections.abc import Iterator
from typing import Any

from rigup.machine.proof_records import Proven, record, withdraw
from rigup.machine.proofs import WHOLE, kernel_in, override_in
from rigup.machine.store import Facts

Answer = dict[str, Any]
_NAMED = 6  # checks that were not passed, in one record


def keep(told: Answer, facts: Facts) -> str | None:
    """Keep what was found of each device, in the place of an older record; the path of what was written.

    Of two cards one may be of no use: that takes nothing from the other. A failure is kept as well, so that the next
    doctor tells of it. The environment is named by the folder that it really is, and not by a link that may lead
    elsewhere tomorrow.
    """
    prefix = os.path.realpath(told["environment"]["prefix"])
    found = [*_of_devices(told, facts, prefix), *_of_environment(told, facts, prefix)]
    if found:
        return record(prefix, found, told["mode"])
    withdraw(prefix)
    return None


def _of_devices(told: Answer, facts: Facts, prefix: str) -> Iterator[Proven]:
    """Each device of the machine with each framework that was judged on it."""
    for device in told["devices"]:
        if "index" not in device:
            continue
        judged = [check for check in device["checks"] if "passed" in check]
        for framework in dict.fromkeys(check.get("framework", "") for check in judged):
            mine = [check for check in judged if check.get("framework", "") == framework]
            if not _beside(told, framework) or _failed(mine):
                yield _proven(told, facts, prefix, framework, mine, device)


def _of_environment(told: Answer, facts: Facts, prefix: str) -> Iterator[Proven]:
    """What failed and is of no device: a package that cannot be imported, or what the processor computed wrong."""
    for one in (*told["frameworks"], *told.get("companions", [])):
        checks = [
            check
            for device in told["devices"]
            if "index" not in device
            for check in device["checks"]
            if check.get("framework") == one["name"] and "passed" in check
        ]
        if not one["imported"] or "because" in one:
            checks = [{"name": "import", "passed": False}]
        if _failed(checks):
            yield _proven(told, facts, prefix, one["name"], checks, {"uuid": WHOLE})


def _beside(told: Answer, name: str) -> bool:
    """Whether it stands beside a framework: that it works proves nothing of a device."""
    return any(one["name"] == name for one in told.get("companions", []))


def _failed(checks: list[Answer]) -> str:
    """The names of checks that were not passed."""
    names = list(dict.fromkeys(check["name"] for check in checks if not check["passed"]))
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")


def _proven(told: Answer, facts: Facts, prefix: str, framework: str, checks: list[Answer], device: Answer) -> Proven:
    versions = {one["name"]: str(one.get("version", "")) for one in (*told["frameworks"], *told.get("companions", []))}
    named = {name: str(device.get(name) or "") for name in ("name", "isa", "pci_address", "uuid")}
    return Proven(
        env=prefix, framework=framework, build=versions.get(framework, ""), kernel=kernel_in(facts),
        override=override_in(facts), checks=sum(bool(check["passed"]) for check in checks), failed=_failed(checks),
        prefix=told["environment"]["prefix"],
        packages=[f"{name}=={version}" for name, version in sorted(told["packages"].items())],
        driver=str(device.get("driver", {}).get("version", "")), **named,
    )  # fmt: skip
