"""The NVSwitch fabric is not set up: no (fitting) fabric manager."""

import re

from rigup.diagnosis.causes.places import inside
from rigup.diagnosis.rule import Every, Params, Verdict, every, mends, one, rule, seen, text_rule
from rigup.knowledge.driver_choice import tells_of_fabric
from rigup.machine.kinds import DeviceNode, Driver, Gpu, Service, Symptom, SystemPackage, Torch

_MANAGER = "nvidia-fabricmanager"
_MANAGER_RPM = "nvidia-fabric-manager"
_OF_A_DRIVER = ("nvidia-driver-", "nvidia-utils-", "libnvidia-compute-", "nvidia-kernel-common-")


def on_board(gpu: Gpu) -> bool:
    """Modules on a board, not cards in a slot."""
    return any(word in gpu.get("name", "") for word in ("SXM", "HBM3", "HGX", "B200", "B300", "H20"))


@rule("fabric-manager-not-running", "likely")
def system_not_ready(_error: Symptom = seen(tag="fabric-not-ready"), gpu: Gpu | None = one(vendor="nvidia")) -> Verdict:
    """CUDA waits for the fabric; on a card for desktops there is none."""
    return gpu is None or not gpu.knows("name") or on_board(gpu) or "GeForce" not in gpu.name


@rule("fabric-manager-not-running")
def system_not_ready_on_such_a_board(_error: Symptom = seen(tag="fabric-not-ready"), gpu: Gpu = one(vendor="nvidia")) -> Verdict:
    """As above, and the card is of a board with NVSwitch."""
    return on_board(gpu)


@rule("fabric-manager-not-running", "likely")
def ollama_waits_for_the_fabric(
    _error: Symptom = seen("ollama-driver-init-failed", code="802"), gpu: Gpu | None = one(vendor="nvidia")
) -> Verdict:
    """ollama prints the driver's number alone: 802 is "system not yet initialized"."""
    return gpu is None or not gpu.knows("name") or on_board(gpu) or "GeForce" not in gpu.name


@rule("fabric-manager-not-running", "likely")
def manager_fails_on_its_board(
    unit: Symptom = seen("fabric-manager-unit-failed", "fabric-manager-unit-inactive"),
    gpu: Gpu = one(vendor="nvidia"),
    idle: Symptom | None = seen("fabric-manager-nothing-to-do"),
    works: Torch | None = one(available=True),
) -> Verdict:
    """A board with NVSwitch, and the service that sets the switches up failed. Not started, it may not be needed."""
    if idle is not None or works is not None:
        return False
    return on_board(gpu) and unit.get("state", "failed") == "failed" and gpu.get("fabric") not in ("Completed", "N/A")


@rule("fabric-manager-not-running", "possible")
def manager_fails(
    unit: Symptom = seen("fabric-manager-unit-failed"),
    gpu: Gpu | None = one(vendor="nvidia"),
    idle: Symptom | None = seen("fabric-manager-nothing-to-do"),
) -> Verdict:
    """It also fails where there are no switches, and is then not needed; cards in slots have none."""
    return idle is None and (gpu is None or not gpu.knows("name")) and not inside(unit)


@rule("fabric-manager-not-running")
def switches_without_their_manager(
    _error: Symptom = seen("nvidia-smi-no-devices", tag="fabric-not-ready"),
    _unit: Symptom = seen("fabric-manager-unit-failed", "fabric-manager-unit-inactive"),
) -> Verdict:
    """The service is shown to be down, and CUDA does not start."""
    return True


@rule("fabric-manager-not-running")
def fabric_is_not_complete(
    gpu: Gpu = one(fabric=("In Progress", "Not Started", "Not Supported by fabric manager")),
    _unit: Symptom = seen("fabric-manager-unit-failed", "fabric-manager-unit-inactive"),
) -> Verdict:
    """The card itself says that it has not joined, and the service is down."""
    return gpu.knows("fabric")


@rule("fabric-manager-not-running", "likely")
def card_waits_for_the_fabric(gpu: Gpu = one(fabric=("In Progress", "Not Started"))) -> Verdict:
    """The card itself says that it has not joined."""
    return on_board(gpu)


@rule("fabric-manager-not-running")
def service_is_down(switch: DeviceNode, service: Service = one(name=_MANAGER)) -> Verdict:
    """The machine has switches, and the service that sets them up does not run."""
    return switch.path.startswith("/dev/nvidia-nvswitch") and service.running is False


@rule("fabric-manager-not-running", "likely")
def switches_whose_manager_is_not_started(
    switch: DeviceNode,
    unit: Symptom = seen("fabric-manager-unit-inactive", "fabric-manager-unit-failed"),
    ready: Gpu | None = one(fabric="Completed"),
) -> Verdict:
    """Whoever has the switches has to set them up; cards that joined before the service ended go on."""
    return switch.path.startswith("/dev/nvidia-nvswitch") and ready is None and not inside(unit)


@rule("fabric-manager-not-running")
def manager_of_another_version(
    switch: DeviceNode, package: SystemPackage = one(state="installed"), driver: Driver = one(vendor="nvidia")
) -> Verdict:
    """It works with exactly its own driver."""
    mine = switch.path.startswith("/dev/nvidia-nvswitch") and package.name.startswith((_MANAGER, _MANAGER_RPM))
    return mine and not package.version.rpartition(":")[2].startswith(driver.version)


def _upstream(version: str) -> str:
    """535.161.08 of 1:535.161.08-1."""
    return version.rpartition(":")[2].partition("-")[0]


@text_rule("fabric-manager-not-running", "likely")
def manager_in_the_list_is_of_another_version(
    package: SystemPackage = one(state="installed"),
    listed: Every[SystemPackage] = every(SystemPackage, state="installed"),
    driver: Driver | None = one(vendor="nvidia"),
    card: Gpu = one(vendor="nvidia"),
    joined: Gpu | None = one(fabric="Completed"),
    works: Torch | None = one(available=True),
) -> Verdict:
    """A board with NVSwitch, and a list of packages in which the manager is not of the driver's very version."""
    mine = package.name.startswith(("nvidia-fabricmanager", "nvidia-fabric-manager")) and "dev" not in package.name
    running = str(driver.get("version") or "") if driver is not None else ""
    wanted = running or next((_upstream(one_of.version) for one_of in listed if one_of.name.startswith(_OF_A_DRIVER)), "")
    other = re.fullmatch(r"\d{3}\.\d{1,3}(?:\.\d{1,3})?", wanted) and _upstream(package.version) != wanted
    return mine and bool(other) and on_board(card) and joined is None and works is None and {"version": wanted}


@mends("fabric-manager-not-running")
def version_of_the_driver(driver: Driver = one(vendor="nvidia")) -> Params:
    """The manager must be of exactly this version."""
    return {"version": driver.version}


@mends("fabric-manager-not-running")
def whether_the_version_is_known(
    knew: Params,
    stopped: Symptom | None = seen("fabric-manager-unit-inactive"),
    other: Symptom | None = seen("fabric-manager-other-version"),
) -> Params:
    """A service that is there and only stopped has to be started; of one that nobody shows the version has to be the driver's."""
    known = bool(knew.get("version")) or (stopped is not None and other is None)
    there = other is None and (stopped is not None or known)  # else the service alone would be the end of the other way
    return {"ask": None if known else "nvidia-smi", "service": "nvidia-fabricmanager" if there else None}


@mends("fabric-manager-not-running")
def whether_cards_tell_of_their_fabric(gpu: Gpu = one(vendor="nvidia")) -> Params:
    """Cards of newer generations say whether they have joined; those before them never do."""
    return {"joins": "Fabric"} if gpu.knows("fabric") or tells_of_fabric(str(gpu.get("isa"))) else {}
