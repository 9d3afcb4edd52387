"""What a proof holds for: the devices that passed, with the facts under which they did."""

from typing import Any

from rigup.machine.proof_records import Proven, record, withdraw
from rigup.machine.proofs import kernel_in, override_in
from rigup.machine.store import Facts

Answer = dict[str, Any]


def keep(told: Answer, facts: Facts) -> str | None:
    """Keep the proof of each device that passed, in the place of an older one; the path of what was written.

    Of two cards one may be of no use: that takes nothing from the other.
    """
    prefix = told["environment"]["prefix"]
    versions = {one["name"]: str(one.get("version", "")) for one in told["frameworks"]}
    under = (prefix, kernel_in(facts), override_in(facts))
    proven = [_proven(*one, versions, under) for one in _passed(told["devices"])]
    if proven:
        return record(prefix, proven, told["mode"])
    withdraw(prefix)
    return None


def _passed(devices: list[Answer]) -> list[tuple[Answer, str]]:
    """Each device of the machine with each framework that it passed all checks of."""
    return [
        (device, framework)
        for device in devices
        if device.get("state") == "verified" and "index" in device
        for framework in dict.fromkeys(check["framework"] for check in device["checks"] if check.get("passed"))
    ]


def _proven(device: Answer, framework: str, versions: dict[str, str], under: tuple[str, str, str]) -> Proven:
    prefix, kernel, override = under
    passed = [check for check in device["checks"] if check.get("framework") == framework and check.get("passed")]
    named = {name: str(device.get(name) or "") for name in ("name", "isa", "pci_address", "uuid")}
    return Proven(
        env=prefix, framework=framework, build=versions.get(framework, ""), kernel=kernel, override=override,
        checks=len(passed), driver=str(device.get("driver", {}).get("version", "")), **named,
    )  # fmt: skip
