"""CUDA does not start: the driver's memory manager is in a bad state, mostly after a suspend."""

from rigup.diagnosis.causes.places import inside
from rigup.diagnosis.rule import Verdict, one, rule, seen, text_rule
from rigup.knowledge.driver_faults import branch_has
from rigup.machine.kinds import Driver, Gpu, Platform, Symptom, Torch


@rule("uvm-broken-after-suspend", "likely")
def unknown_error_after_sleep(
    _error: Symptom = seen(tag="cuda-unknown-error"),
    _slept: Symptom = seen("suspend-happened", "suspend-finished-systemd"),
    silent: Symptom | None = seen(tag="nvidia-driver-silent"),
) -> Verdict:
    """The machine slept, the driver answers, and CUDA does not start."""
    return silent is None


@rule("uvm-broken-after-suspend", "possible")
def unknown_error_and_no_word_of_why(
    error: Symptom = seen(tag="cuda-unknown-error"),
    silent: Symptom | None = seen("nvidia-smi-of-another-driver", tag="nvidia-driver-silent"),
    platform: Platform | None = None,
) -> Verdict:
    """CUDA does not start, and nobody says that the driver is away, or of two releases: mostly after a suspend."""
    elsewhere = platform and (platform.get("wsl") or platform.get("system") in ("windows", "macos"))
    return silent is None and not inside(error) and not elsewhere


@rule("uvm-broken-after-suspend", "possible")
def ollama_cannot_start_cuda(failed: Symptom = seen("ollama-driver-init-failed"), driver: Driver | None = one(vendor="nvidia")) -> Verdict:
    """ollama prints the driver's own number: 3 and 999 are what a broken memory manager gives."""
    broken = failed.get("code") in ("3", "999")
    return broken and not (driver and driver.knows("version") and branch_has("uvm-hmm", driver.version))


@rule("uvm-broken-after-suspend", "possible")
def compute_is_lost_after_sleep_as_people_say(
    symptom: Symptom = seen(tag="resumed-without-gpu"),
    gsp: Symptom | None = seen("xid-119", "xid-119-told", "gsp-rpc-timeout", "gsp-silent", "gpu-fallen-off", "xid-79"),
    silent: Symptom | None = seen(tag="nvidia-driver-silent"),
    card: Gpu | None = one(vendor="amd"),
    platform: Platform | None = one(system=("windows", "macos")),
) -> Verdict:
    """Programs compute on the processor after the machine slept, and nobody says that the driver is gone."""
    return gsp is None and silent is None and card is None and platform is None and {"said": symptom.id}


@text_rule("uvm-broken-after-suspend", "likely")
def cards_are_listed_after_sleep_and_torch_sees_none(
    torch: Torch = one(available=False),
    _slept: Symptom = seen("suspend-happened", "suspend-finished-systemd"),
    card: Gpu = one(vendor="nvidia", seen_by="nvidia-smi"),
) -> Verdict:
    """The machine slept; nvidia-smi lists the card, and torch sees none."""
    return torch.available is False and bool(card.seen_by) and torch.get("cuda", "?") is not None


@text_rule("uvm-broken-after-suspend", "likely")
def server_gets_no_context_for_an_unknown_error(symptom: Symptom = seen("ollama-context-by-number", code="999")) -> Verdict:
    """CUDA started once and can no more, as after a sleep of the machine; in a container its rules may be the reason."""
    return not symptom.place.world.startswith("container")
