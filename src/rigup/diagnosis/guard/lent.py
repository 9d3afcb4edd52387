"""Steps at what belongs to a provider: the host of a rented container or notebook, the card of a cloud's machine."""

from rigup.diagnosis.guard.setting import Setting
from rigup.steps import Step, make, step_kinds

_OF_THE_HOST = ("kernel", "host-of-container", "every-node", "every-gpu-node")
_OF_THE_CARD = (
    "power-cycle",
    "other-slot",
    "check-supply",
    "separate-power-cables",
    "trial-power-limit",
    "cool-card",
    "cool-card-by-sensors",
    "cool-passive-card",
    "replace-card",
    "replace-card-later",
    "enlarge-bars",
    "change-firmware",
    "slot-of-processor",
    "slot-of-processor-is-taken",
    "newer-board",
    "slot-with-all-lanes",
    "slot-at-full-speed",
    "switch-secure-boot-off",
)
_CHOSEN_BY_WHO_RENTS = "image-"  # beginning of the kinds that choose or build the image
_INSTEAD = {"notebook": "new-session", "container": "rent-another-machine", "machine": "move-cloud-machine"}
_LEAVING = (*_INSTEAD.values(), "rent-machine-with-driver", "ask-for-option-when-renting")


def left_to_its_owner(steps: list[Step], setting: Setting) -> list[Step]:
    """A way in the provider's hands is told as what who rents can do; an image can be chosen by them."""
    if not any(_is_the_owners(step, setting) for step in steps):
        return steps
    driver = next((step.params for step in steps if step.kind == "install-driver"), None)
    if driver and setting.lent == "container":
        least = driver.get("least") or driver["branch"]
        return [make("rent-machine-with-driver", {"vendor": driver["vendor"], "branch": least})]
    option = next((step.params["option"] for step in steps if step.kind == "container-option"), "")
    if option and setting.lent == "container":
        return [make("ask-for-option-when-renting", {"option": option})]
    return [make(_INSTEAD[setting.lent], {})]


def is_left(steps: list[Step]) -> bool:
    """Whether a way leaves the machine, which comes after all that mends it in its place."""
    return any(step.kind in _LEAVING for step in steps)


def _is_the_owners(step: Step, setting: Setting) -> bool:
    if step.kind in _OF_THE_CARD:
        return bool(setting.lent)
    if setting.lent not in ("notebook", "container") or step.kind.startswith(_CHOSEN_BY_WHO_RENTS):
        return False
    return step_kinds()[step.kind].where in _OF_THE_HOST or step.restart
