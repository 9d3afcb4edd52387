"""A MIG device is named in a form that is not known here."""

import re

from rigup.diagnosis.causes.masks import CUDA_MASK, chosen
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.machine.kinds import CardCount, Driver, Gpu, Symptom, Torch, Variable

_MASKS = ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")


@rule("mig-device-misaddressed", "likely")
def parts_are_counted_like_cards(
    error: Symptom = seen("cuda-invalid-ordinal", "lightning-devices-missing"), statement: Symptom = seen("mig-told")
) -> Verdict:
    """A process sees one part only, so that numbers above 0 lead nowhere."""
    return {"said": error.id, "told": statement.id}


def uuids_of_parts(gpu: Gpu) -> list[str]:
    """Of the devices that MIG cuts a card into."""
    uuids = [str(part.get("uuid", "")) for part in gpu.get("partitions") or ()]
    return [uuid for uuid in uuids if uuid.startswith("MIG-")]


@rule("mig-device-misaddressed", "likely")
def named_in_the_old_form(mask: Variable = one(name=_MASKS), gpu: Gpu = one(vendor="nvidia")) -> Verdict:
    """Parts have UUIDs of their own here, and the variable names one by its card and number."""
    old = [name for name in (mask.value or "").split(",") if name.startswith("MIG-GPU-")]
    return bool(old and uuids_of_parts(gpu)) and {"named": old[0]}


@rule("mig-device-misaddressed", "possible")
def old_form_finds_nothing(
    symptom: Symptom = seen("mig-mask-in-the-old-form"),
    error: Symptom = seen(tag="mig-finds-none"),
    driver: Driver | None = one(vendor="nvidia"),
    gpu: Gpu | None = one(vendor="nvidia"),
) -> Verdict:
    """Drivers of before parts had UUIDs of their own took this form; whose version nobody shows is mostly younger."""
    return driver is None and gpu is None and {"named": symptom.named, "said": error.id}


@text_rule("mig-device-misaddressed", "likely")
def parts_are_numbered_through(
    mask: Variable = one(name=CUDA_MASK),
    card: Gpu = one(vendor="nvidia", mig=True),
    cards: CardCount = one(vendor="nvidia", mig=True),
    torch: Torch | None = one(available=True),
) -> Verdict:
    """Numbers count cards; where these are cut into parts, one beyond the last card is no part of any."""
    beyond = [part for part in chosen(mask.value or "") if part.isdigit() and int(part) >= cards.count]
    return torch is None and bool(beyond) and bool(card.get("partitions")) and {"named": beyond[0]}


@text_rule("mig-device-misaddressed", "likely")
def part_is_named_as_the_container_tools_name_it(
    mask: Variable = one(name="CUDA_VISIBLE_DEVICES"), card: Gpu = one(vendor="nvidia"), torch: Torch | None = None
) -> Verdict:
    """`0:1`, card and part, is understood by the container toolkit, and `MIG-0:1` by nobody; CUDA wants a part's own UUID."""
    pair = re.fullmatch(r"[\"']?((?:MIG-)?\d{1,2}[:/.]\d{1,2})(?:,(?:MIG-)?\d{1,2}[:/.]\d{1,2}){0,15}[\"']?", mask.value or "")
    works = torch is not None and torch.get("available") is True
    return not works and pair is not None and bool(card.get("partitions")) and {"named": pair[1]}


@text_rule("mig-device-misaddressed", "likely")
def one_part_is_given_and_a_second_asked_for(
    mask: Variable = one(name=(CUDA_MASK, "NVIDIA_VISIBLE_DEVICES")),
    symptom: Symptom = seen("cuda-invalid-ordinal", "torch-device-beyond-count", "lightning-devices-missing"),
) -> Verdict:
    """A process is given a part of a card, the only one that it can see, and asks for a device that is beyond it."""
    part = (mask.value or "").strip("\"'")
    return part.upper().startswith("MIG") and {"named": part, "said": symptom.id}


@mends("mig-device-misaddressed")
def uuid_of_a_part(gpu: Gpu = one(vendor="nvidia"), lxd: Symptom | None = seen(tag="lxd-spoken-of")) -> Params:
    """UUIDs that nvidia-smi -L has listed already; LXD makes the name of keys of its own."""
    uuids = uuids_of_parts(gpu)
    return {"uuid" if lxd is None else "of_lxd": uuids[0], "list": ", ".join(uuids)} if uuids else {}
