"""The module for unified memory: its node is missing, it does not start, or it broke over a suspend."""

from rigup.diagnosis.rule import Every, Verdict, lacks, one, rule, seen
from rigup.machine.kinds import DeviceNode, Gpu, KernelModule, Symptom, Torch

_UVM = "/dev/nvidia-uvm"


@rule("uvm-device-missing", "possible")
def listed_nodes_lack_it(
    card: DeviceNode = one(path="/dev/nvidia0"), _control: DeviceNode = one(path="/dev/nvidiactl"), nodes: Every[DeviceNode] = lacks(DeviceNode, path=_UVM),
    works: Gpu | None = one(vendor="nvidia", seen_by=("nvidia-smi", "torch", "cuda")), torch: Torch | None = one(available=True), loaded: KernelModule | None = one(name="nvidia_uvm"),
    silent: Symptom | None = seen(tag="nvidia-driver-silent"),
) -> Verdict:  # fmt: skip
    """The driver's nodes are listed, and the one that CUDA needs is not among them."""
    open_ = not card.knows("mode") or card.mode[8:9] == "w"
    return not nodes and open_ and all(other is None for other in (works, torch, loaded, silent))


@rule("uvm-broken-after-suspend", "likely")
def cards_are_listed_after_sleep_and_torch_sees_none(
    torch: Torch = one(available=False), _slept: Symptom = seen("suspend-happened", "suspend-finished-systemd"), card: Gpu = one(vendor="nvidia", seen_by="nvidia-smi"),
) -> Verdict:  # fmt: skip
    """The machine slept; nvidia-smi lists the card, and torch sees none."""
    return torch.available is False and bool(card.seen_by) and torch.get("cuda", "?") is not None


@rule("uvm-broken-after-suspend", "likely")
def server_gets_no_context_for_an_unknown_error(
    symptom: Symptom = seen("ollama-context-by-number", code="999"),
) -> Verdict:
    """CUDA started once and can no more, as after a sleep of the machine; in a container its rules may be the reason."""
    return not symptom.place.world.startswith("container")
