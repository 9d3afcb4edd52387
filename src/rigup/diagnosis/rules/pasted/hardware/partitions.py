"""Cards in parts or in a mode of their own, and the fabric that joins cards."""

import re

from rigup.diagnosis.rule import Every, Verdict, every, one, rule, seen
from rigup.diagnosis.rules.driver import NO_CUDA
from rigup.diagnosis.rules.hardware import on_board
from rigup.diagnosis.rules.pasted.heard import CUDA_PROGRAMS_FIND_NONE
from rigup.diagnosis.rules.program import CUDA_MASK, NO_DEVICE, chosen
from rigup.machine.kinds import CardCount, Driver, Gpu, Symptom, SystemPackage, Torch, Variable

_OF_A_DRIVER = ("nvidia-driver-", "nvidia-utils-", "libnvidia-compute-", "nvidia-kernel-common-")


# -- compute-mode-exclusive
@rule("compute-mode-exclusive", "likely")
def mode_lets_nobody_in(
    gpu: Gpu = one(compute_mode="Prohibited"), _said: Symptom = seen(*CUDA_PROGRAMS_FIND_NONE, *NO_CUDA)
) -> Verdict:
    """The card's mode forbids every program, and a program finds no card."""
    return {"barred": gpu.get("name") or "NVIDIA"}


@rule("compute-mode-exclusive", "likely")
def mode_lets_one_in_and_a_program_finds_none(
    gpu: Gpu = one(vendor="nvidia", compute_mode=("Exclusive_Process", "Exclusive_Thread")), _said: Symptom = seen("kaldi-no-unused-gpus", "context-of-an-invalid-device", "runtime-returns-46")
) -> Verdict:  # fmt: skip
    """The card's mode lets one process in, and another gets no context."""
    return bool(gpu.compute_mode)


@rule("compute-mode-exclusive", "likely")
def kaldi_finds_every_card_taken(
    _said: Symptom = seen("kaldi-no-more-unused-gpus"), busy: Symptom | None = seen("cuda-46", "cuda-46-constant"), shared: Gpu | None = one(compute_mode="Default"),
) -> Verdict:  # fmt: skip
    """Kaldi counts on cards that one process has at a time, and every one is taken."""
    return shared is None and busy is not None


@rule("compute-mode-exclusive", "likely")
def kaldi_waits_for_a_card_of_one_process(
    _waits: Symptom = seen("kaldi-waits-for-a-card"), _gpu: Gpu = one(compute_mode=("Exclusive_Process", "Exclusive_Thread"))
) -> Verdict:  # fmt: skip
    """Kaldi waits until another process leaves a card that serves one."""
    return True


@rule("compute-mode-exclusive", "possible")
def kaldi_waits_for_a_card(
    _waits: Symptom = seen("kaldi-waits-for-a-card"), shown: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi")
) -> Verdict:
    """Kaldi waits for a card to become free, which it does where cards serve one process; nobody shows the mode."""
    return shown is None or not shown.get("compute_mode")


@rule("compute-mode-exclusive", "likely")
def card_lets_no_second_program_in(said: Symptom = seen("ollama-context-by-number", code="46")) -> Verdict:
    """46: the card is taken, and its mode lets one program in."""
    return {"said": said.id}


# -- mig-device-misaddressed
@rule("mig-device-misaddressed", "likely")
def one_process_is_to_see_several(
    _named: Symptom = seen("several-mig-names"),
    _said: Symptom = seen("counts-one-device", "cuda-invalid-ordinal", "torch-device-beyond-count"),
) -> Verdict:
    """Several parts are named for one process, which sees the first one only."""
    return True


@rule("mig-device-misaddressed", "likely")
def parts_are_counted_as_cards(
    said: Symptom = seen("torch-device-beyond-count"), _parts: Symptom = seen("report-lists-parts-of-a-card")
) -> Verdict:
    """A process sees one part at most, the first that it is given; torch is asked for a second device."""
    return {"said": said.id}


@rule("mig-device-misaddressed", "likely")
def number_is_none_of_a_card(
    mask: Variable = one(name=CUDA_MASK), card: Gpu = one(vendor="nvidia", mig=True), cards: CardCount = one(vendor="nvidia"), _said: Symptom = seen(*NO_DEVICE),
) -> Verdict:  # fmt: skip
    """The card is cut into parts, and the mask counts them like cards: a number names the card's first part only."""
    numbers = [part for part in chosen(mask.value or "") if part.isdigit()]
    return bool(numbers) and len(card.partitions) > 1 and int(numbers[0]) >= cards.count and {"named": numbers[0]}


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
    mask: Variable = one(name=(CUDA_MASK, "NVIDIA_VISIBLE_DEVICES")), said: Symptom = seen("cuda-invalid-ordinal", "torch-device-beyond-count", "lightning-devices-missing")
) -> Verdict:  # fmt: skip
    """A process is given a part of a card, the only one that it can see, and asks for a device that is beyond it."""
    part = (mask.value or "").strip("\"'")
    return part.upper().startswith("MIG") and {"named": part, "said": said.id}


# -- mig-enabled-without-instance
@rule("mig-enabled-without-instance", "possible")
def mode_is_on_that_should_be_off(
    said: Symptom = seen("mig-parted-finds-the-mode-on"), _failed: Symptom = seen(*NO_CUDA)
) -> Verdict:
    """A tool compares the mode with what was asked for; that programs find no device tells that no part was made."""
    return said.values()


@rule("mig-enabled-without-instance", "likely")
def gpu_instance_without_a_compute_instance(
    _made: Symptom = seen("mig-gpu-instance-made"), whole: Symptom | None = seen("mig-compute-instance-made"), torch: Torch | None = one(available=True)
) -> Verdict:  # fmt: skip
    """Instances of the first kind were made, and none of the second in them."""
    return whole is None and torch is None


# -- fabric-manager-not-running
@rule("fabric-manager-not-running", "likely")
def block_of_the_fabric_without_its_card(
    _said: Symptom = seen("fabric-state-waits"), told: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi")
) -> Verdict:
    """As above: the card has not joined the fabric."""
    return told is None


@rule("fabric-manager-not-running", "likely")
def manager_is_asked_and_is_not_active(
    _asked: Symptom = seen("fabric-manager-asked-inactive"), gpu: Gpu = one(vendor="nvidia", seen_by="nvidia-smi"), torch: Torch = one(available=False)
) -> Verdict:  # fmt: skip
    """Modules on a board, the service that joins them not active, and CUDA that does not start."""
    return any(word in gpu.name for word in ("SXM", "HGX", "B200", "B300")) and torch.available is False


# -- fabric-manager-not-running
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
