"""What `rigup verify` found, as the doctor reports it: which proof is about a device, and what failed and has not passed since."""

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
    active = {str(env.get("prefix")) for env in facts.of(PythonEnv) if env.get("active")}
    mine = [proof for proof in records if {proof.get("env"), proof.get("prefix")} & active]
    frameworks = [fact for kind in (Torch, TensorFlow) for fact in facts.of(kind) if fact.get("env") in active]
    return mine if mine or frameworks else records


def failed_on(device: Device, facts: Facts) -> Proof | None:
    """The failure on record that still stands for a device, unless another record says that it works."""
    records = [proof for proof in speaking(facts) if holds(proof, device, facts)]
    bad = [proof for proof in records if proof.get("failed")]
    good = {proof.get("env") for proof in records if not proof.get("failed")}
    elsewhere = good - {proof.get("env") for proof in bad}
    return bad[0] if bad and not elsewhere else None


def proven_on(device: Device, facts: Facts) -> Proof | None:
    """The proof on record that still holds for a device, of an environment in which nothing failed on it."""
    records = [proof for proof in speaking(facts) if holds(proof, device, facts)]
    bad = {proof.get("env") for proof in records if proof.get("failed")}
    return next((proof for proof in records if not proof.get("failed") and proof.get("env") not in bad), None)


def failures(devices: list[Device], facts: Facts) -> list[FailedVerification]:
    """Each failure on record that still stands, those of devices that are not here left out."""
    asked = {id(record) for record in speaking(facts)}
    return [
        _as_answer(record, id(record) in asked) for record in facts.of(Proof) if record.get("failed") and _stands(record, devices, facts)
    ]


def _stands(record: Proof, devices: list[Device], facts: Facts) -> bool:
    if of_environment(record):
        return stands(record, facts)
    return any(holds(record, device, facts) for device in devices)


def _as_answer(proof: Proof, asked: bool) -> FailedVerification:
    named = {name: proof.get(name, "") for name in ("framework", "build", "failed")}
    shown = proof.get("prefix") or proof.get("env", "")
    device = "" if of_environment(proof) else proof.get("name") or proof.get("pci_address") or proof.get("uuid") or ""
    command = "rigup verify " + str(shown)
    return FailedVerification(environment=shown, device=device, **named, date=proof.get("recorded_at", "")[:10], asked=asked, next=command)


def failure_text(record: FailedVerification) -> str:
    """A sentence for a person."""
    framework = " ".join(filter(None, [record.framework, record.build]))
    sentence = _("{framework} in {environment} failed `rigup verify` on {date}: {checks}")
    sentence = sentence if framework else _("{environment} failed `rigup verify` on {date}: {checks}")
    return sentence.format(framework=framework, environment=record.environment, date=record.date, checks=record.failed)


def proof_text(proof: Proof) -> str:
    """The same of a record."""
    return failure_text(_as_answer(proof, True))
