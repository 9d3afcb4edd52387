"""The module for unified memory: its node is missing, it does not start, or it broke over a suspend."""

from rigup.diagnosis.rule import Every, Verdict, lacks, one, rule, seen
from rigup.diagnosis.rules.driver import NO_CUDA, SILENT
from rigup.diagnosis.rules.pasted.heard import CUDA_STARTS_NOT, CUDA_UNKNOWN
from rigup.knowledge.driver_faults import branch_has
from rigup.machine.kinds import DeviceNode, Driver, Gpu, KernelModule, Symptom, Torch

_UNKNOWN = ("cuda-999", "cuda-999-constant", "cuda-999-runtime", "cuinit-returns-999", "cuda-999-number", "ggml-cuda-unknown-error")  # fmt: skip
_UVM = "/dev/nvidia-uvm"


# -- uvm-device-missing
@rule("uvm-device-missing", "likely")
def sandbox_was_started_before_the_node_was_made(
    said: Symptom = seen(*CUDA_UNKNOWN), box: Symptom = seen("firejail-named", "flatpak-named"), slept: Symptom | None = seen("suspend-happened", "suspend-finished-systemd"),
) -> Verdict:  # fmt: skip
    """In a sandbox nothing can make the node of unified memory: it must be there before."""
    return slept is None and {"said": said.id, "where": box.id}


@rule("uvm-device-missing", "likely")
def unified_memory_is_not_given_to_a_linux_container(
    where: Symptom = seen("lxc-in-words", "lxc-in-capitals"), said: Symptom = seen("cuda-999-in-words", "cuda-999", "cuda-999-constant", "cuda-999-runtime"),
    slept: Symptom | None = seen("suspend-happened", "suspend-finished-systemd"),
) -> Verdict:  # fmt: skip
    """The host makes that node at its first use: what is handed on at boot comes without it, or with the number of another."""
    return slept is None and {"said": said.id, "where": where.id}


@rule("uvm-device-missing", "likely")
def nodes_were_passed_by_name_but_one(
    _passed: Symptom = seen("nvidia-nodes-passed-by-name"), uvm: Symptom | None = seen("nvidia-uvm-passed-by-name"),
    _error: Symptom = seen("cuda-999", "cuda-999-constant", "cuda-999-runtime", "cuinit-returns-999", *NO_CUDA, "cuda-999-number"),
) -> Verdict:  # fmt: skip
    """Somebody lists the driver's nodes for a container one by one, and left this one out."""
    return uvm is None


@rule("uvm-device-missing", "possible")
def listed_nodes_lack_it(
    card: DeviceNode = one(path="/dev/nvidia0"), _control: DeviceNode = one(path="/dev/nvidiactl"), nodes: Every[DeviceNode] = lacks(DeviceNode, path=_UVM),
    works: Gpu | None = one(vendor="nvidia", seen_by=("nvidia-smi", "torch", "cuda")), torch: Torch | None = one(available=True), loaded: KernelModule | None = one(name="nvidia_uvm"),
    silent: Symptom | None = seen(*SILENT),
) -> Verdict:  # fmt: skip
    """The driver's nodes are listed, and the one that CUDA needs is not among them."""
    open_ = not card.knows("mode") or card.mode[8:9] == "w"
    return not nodes and open_ and all(other is None for other in (works, torch, loaded, silent))


@rule("uvm-device-missing", "possible")
def listed_nodes_lack_it_and_torch_sees_none(
    _card: DeviceNode = one(path="/dev/nvidiactl"), nodes: Every[DeviceNode] = lacks(DeviceNode, path=_UVM), torch: Torch = one(available=False),
    _works: Gpu = one(vendor="nvidia", seen_by="nvidia-smi"),
) -> Verdict:  # fmt: skip
    """nvidia-smi needs no such node and lists the card; torch needs it. For what torch was built nobody tells."""
    return not nodes and not torch.knows("cuda") and "+cpu" not in str(torch.get("version"))


# -- uvm-hmm-init-failure
@rule("uvm-hmm-init-failure", "likely")
def start_fails_on_a_branch_known_for_it(
    _error: Symptom = seen("cuda-init-failed-no-gpu"), driver: Driver = one(vendor="nvidia"), split: Gpu | None = one(mig=True),
    silent: Symptom | None = seen(*SILENT),
) -> Verdict:  # fmt: skip
    """torch words the same number so."""
    return split is None and silent is None and branch_has("uvm-hmm", driver.version)


@rule("uvm-hmm-init-failure", "likely")
def start_fails_and_the_setting_is_named(
    _error: Symptom = seen(*CUDA_STARTS_NOT),
    _named: Symptom = seen("hmm-setting-named"),
    silent: Symptom | None = seen(*SILENT),
) -> Verdict:
    """CUDA is not initialised, and somebody looks at, or sets, the switch for it."""
    return silent is None


# -- uvm-broken-after-suspend
@rule("uvm-broken-after-suspend", "possible")
def machine_was_to_sleep_without_the_drivers_services(
    said: Symptom = seen("sleep-refused-without-its-services"), failed: Symptom = seen(*_UNKNOWN, *NO_CUDA)
) -> Verdict:
    """The driver refuses such a sleep and goes on; a program that CUDA fails tells that it did not."""
    return {**said.values(), "error": failed.id}


@rule("uvm-broken-after-suspend", "likely")
def cards_are_listed_after_sleep_and_torch_sees_none(
    torch: Torch = one(available=False), _slept: Symptom = seen("suspend-happened", "suspend-finished-systemd"), card: Gpu = one(vendor="nvidia", seen_by="nvidia-smi"),
) -> Verdict:  # fmt: skip
    """The machine slept; nvidia-smi lists the card, and torch sees none."""
    return torch.available is False and bool(card.seen_by) and torch.get("cuda", "?") is not None


@rule("uvm-broken-after-suspend", "likely")
def unknown_error_and_the_resume_failed(
    _error: Symptom = seen("cuda-999", "cuda-999-constant", "cuda-999-runtime", "cuinit-returns-999", "device-context-999"),
    _slept: Symptom = seen("nvidia-resume-failed", "suspend-happened", "suspend-finished-systemd"), silent: Symptom | None = seen(*SILENT),
) -> Verdict:  # fmt: skip
    """The driver's own service of waking failed, or the kernel slept, and CUDA does not start."""
    return silent is None


@rule("uvm-broken-after-suspend", "likely")
def memory_manager_was_to_be_unloaded_after_sleep(
    said: Symptom = seen("unified-memory-is-in-use"), _slept: Symptom = seen("suspend-happened", "suspend-finished-systemd"), silent: Symptom | None = seen(*SILENT),
) -> Verdict:  # fmt: skip
    """The machine slept, and somebody takes the usual way out; a program that still holds the module stands in it."""
    return silent is None and {"said": said.id}


@rule("uvm-broken-after-suspend", "likely")
def server_gets_no_context_for_an_unknown_error(
    said: Symptom = seen("ollama-context-by-number", code="999"),
) -> Verdict:
    """CUDA started once and can no more, as after a sleep of the machine; in a container its rules may be the reason."""
    return not said.place.world.startswith("container")
