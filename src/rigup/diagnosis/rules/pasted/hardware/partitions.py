"""Cards in parts or in a mode of their own, and the fabric that joins cards."""

import re

from rigup.diagnosis.rule import Every, Verdict, every, one, rule, seen
from rigup.diagnosis.rules.hardware import on_board
from rigup.diagnosis.rules.program import CUDA_MASK, chosen
from rigup.machine.kinds import CardCount, Driver, Gpu, Symptom, SystemPackage, Torch, Variable

_OF_A_DRIVER = ("nvidia-driver-", "nvidia-utils-", "libnvidia-compute-", "nvidia-kernel-common-")


@rule("mig-device-misaddressed", "likely")
def parts_are_numbered_through(
    mask: Variable = one(name=CUDA_MASK), card: Gpu = one(vendor="nvidia", mig=True), cards: CardCount = one(vendor="nvidia", mig=True),
    torch: Torch | None = one(available=True),
) -> Verdict:  # fmt: skip
    """Numbers count cards; where these are cut into parts, one beyond the last card is no part of any."""
    beyond = [part for part in chosen(mask.value or "") if part.isdigit() and int(part) >= cards.count]
    return torch is None and bool(beyond) and bool(card.get("partitions")) and {"named": beyond[0]}


@rule("mig-device-misaddressed", "likely")
def part_is_named_as_the_container_tools_name_it(
    mask: Variable = one(name="CUDA_VISIBLE_DEVICES"), card: Gpu = one(vendor="nvidia", mig=True), torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """`0:1`, card and part, is understood by the container toolkit; CUDA wants a part's own UUID."""
    pair = re.fullmatch(r"[\"']?(\d{1,2}:\d{1,2})(?:,\d{1,2}:\d{1,2}){0,15}[\"']?", mask.value or "")
    works = torch is not None and torch.get("available") is True
    return not works and pair is not None and bool(card.get("partitions")) and {"named": pair[1]}


@rule("mig-device-misaddressed", "likely")
def one_part_is_given_and_a_second_asked_for(
    mask: Variable = one(name=(CUDA_MASK, "NVIDIA_VISIBLE_DEVICES")), symptom: Symptom = seen("cuda-invalid-ordinal", "torch-device-beyond-count", "lightning-devices-missing")
) -> Verdict:  # fmt: skip
    """A process is given a part of a card, the only one that it can see, and asks for a device that is beyond it."""
    part = (mask.value or "").strip("\"'")
    return part.upper().startswith("MIG") and {"named": part, "said": symptom.id}


@rule("fabric-manager-not-running", "likely")
def manager_in_the_list_is_of_another_version(
    package: SystemPackage = one(state="installed"), listed: Every[SystemPackage] = every(SystemPackage, state="installed"), driver: Driver | None = one(vendor="nvidia"),
    card: Gpu = one(vendor="nvidia"), joined: Gpu | None = one(fabric="Completed"), works: Torch | None = one(available=True),
) -> Verdict:  # fmt: skip
    """A board with NVSwitch, and a list of packages in which the manager is not of the driver's very version."""
    mine = package.name.startswith(("nvidia-fabricmanager", "nvidia-fabric-manager")) and "dev" not in package.name
    running = str(driver.get("version") or "") if driver is not None else ""
    wanted = running or next(
        (_upstream(one_of.version) for one_of in listed if one_of.name.startswith(_OF_A_DRIVER)), ""
    )
    other = re.fullmatch(r"\d{3}\.\d{1,3}(?:\.\d{1,3})?", wanted) and _upstream(package.version) != wanted
    return mine and bool(other) and on_board(card) and joined is None and works is None and {"version": wanted}


def _upstream(version: str) -> str:
    """535.161.08 of 1:535.161.08-1."""
    return version.rpartition(":")[2].partition("-")[0]
