"""What `rigup verify` found, told by the doctor: which proof speaks of a device, and what failed and has not passed since."""

from typing import Any

from rigup.language import _
from rigup.machine.kinds import Proof, PythonEnv, TensorFlow, Torch
from rigup.machine.proofs import holds, of_environment, stands
from rigup.machine.store import Facts
from rigup.schemas.doctor import FailedVerification

Device = dict[str, Any]


def speaking(facts: Facts) -> list[Proof]:
    """The records that speak of what is asked about.

    Of an environment that is active its own alone: another one, however near, proves nothing of it. Where none is
    active, or the active one has no framework and no record, those of all.
    """
    records = list(facts.of(Proof))
    active = {str(one.get("prefix")) for one in facts.of(PythonEnv) if one.get("active")}
    mine = [one for one in records if {one.get("env"), one.get("prefix")} & active]
    frameworks = [one for kind in (Torch, TensorFlow) for one in facts.of(kind) if one.get("env") in active]
    return mine if mine or frameworks else records


def failed_on(device: Device, facts: Facts) -> Proof | None:
    """The failure on record that still stands for a device, unless another record says that it works."""
    records = [one for one in speaking(facts) if holds(one, device, facts)]
    bad = [one for one in records if one.get("failed")]
    good = {one.get("env") for one in records if not one.get("failed")}
    elsewhere = good - {one.get("env") for one in bad}
    return bad[0] if bad and not elsewhere else None


def proven_on(device: Device, facts: Facts) -> Proof | None:
    """The proof on record that still holds for a device, of an environment in which nothing failed on it."""
    records = [one for one in speaking(facts) if holds(one, device, facts)]
    bad = {one.get("env") for one in records if one.get("failed")}
    return next((one for one in records if not one.get("failed") and one.get("env") not in bad), None)


def failures(devices: list[Device], facts: Facts) -> list[FailedVerification]:
    """Each failure on record that still stands, those of devices that are not here left out."""
    asked = {id(one) for one in speaking(facts)}
    return [
        _told(one, id(one) in asked) for one in facts.of(Proof) if one.get("failed") and _stands(one, devices, facts)
    ]


def _stands(one: Proof, devices: list[Device], facts: Facts) -> bool:
    if of_environment(one):
        return stands(one, facts)
    return any(holds(one, device, facts) for device in devices)


def _told(one: Proof, asked: bool) -> FailedVerification:
    named = {name: one.get(name, "") for name in ("framework", "build", "failed")}
    shown = one.get("prefix") or one.get("env", "")
    device = "" if of_environment(one) else one.get("name") or one.get("pci_address") or one.get("uuid") or ""
    command = "rigup verify " + str(shown)
    return FailedVerification(
        environment=shown, device=device, **named, date=one.get("recorded_at", "")[:10], asked=asked, next=command
    )


def failure_said(one: FailedVerification) -> str:
    """A sentence for a person."""
    framework = " ".join(filter(None, [one.framework, one.build]))
    told = _("{framework} in {environment} failed `rigup verify` on {date}: {checks}")
    told = told if framework else _("{environment} failed `rigup verify` on {date}: {checks}")
    return told.format(framework=framework, environment=one.environment, date=one.date, checks=one.failed)


def said_of(proof: Proof) -> str:
    """The same of a record."""
    return failure_said(_told(proof, True))
