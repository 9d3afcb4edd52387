"""Containers that the engine gave nothing of the driver, or a part of it."""

from rigup.diagnosis.rule import Every, Verdict, every, lacks, one, rule, seen
from rigup.machine.kinds import DeviceNode, Driver, PciDevice, Symptom, Torch, World


@rule("container-without-gpu", strength="likely")
def tool_is_not_in_the_image(
    _error: Symptom = seen("engine-finds-no-nvidia-smi"), asked: World | None = one(at="container", gpu_requested=True),
    none: Symptom | None = seen(tag="display-list-without-nvidia"),
) -> Verdict:  # fmt: skip
    """Where GPUs are asked for the engine lays nvidia-smi into the image; unless the machine has none at all."""
    return asked is None and none is None and {"vendor": "nvidia"}


@rule("container-without-gpu", strength="possible")
def image_asks_for_none_itself(
    _error: Symptom = seen("engine-finds-no-nvidia-smi"), asked: World = one(at="container", gpu_requested=True)
) -> Verdict:
    """NVIDIA's runtime alone does nothing: the image, or the command, has to name the GPUs as well."""
    return bool(asked.get("container")) and {"vendor": "nvidia"}


@rule("container-without-gpu")
def render_nodes_were_forgotten(
    _kfd: DeviceNode = one(path="/dev/kfd", at="container"), _first: Every[DeviceNode] = lacks(DeviceNode, at="container", path="/dev/dri/renderD128"),
    nodes: Every[DeviceNode] = every(DeviceNode, at="container"), torch: Torch = one(at="container"), _card: PciDevice = one(driver="amdgpu"),
) -> Verdict:  # fmt: skip
    """ROCm opens a node of the graphics driver beside its own; the container has the one and none of the others."""
    shut = not any(node.path.startswith("/dev/dri/renderD") for node in nodes)
    return shut and bool(torch.get("hip")) and {"vendor": "amd", "option": "--device=/dev/dri"}


@rule("container-without-gpu", strength="likely")
def asked_for_without_compute(
    _error: Symptom = seen("libcuda-not-found", "cuda-driver-library-not-found"),
    _asked: Symptom = seen(tag="starters-no-compute"),
) -> Verdict:
    """nvidia-smi comes with `utility`, and libcuda with `compute` alone."""
    return {"vendor": "nvidia"}


@rule("container-without-gpu", strength="possible")
def somebody_tells_of_a_container(
    error: Symptom = seen("torch-found-no-driver", "ollama-no-nvidia-devices", "libcuda-not-found"),
    _told: Symptom = seen("speaks-of-a-container"),
    driver: Driver | None = one(vendor="nvidia"),
    bus: PciDevice | None = None,
    plain: Symptom | None = seen(tag="no-gpu-told"),
) -> Verdict:
    """The program says that there is no driver, and the person that it runs in a container, and not that no GPU is there."""
    return plain is None and driver is None and bus is None and error.place.world != "host" and {"vendor": "nvidia"}


@rule("container-without-gpu", strength="possible")
def nvidia_smi_was_tried_inside(
    _error: Symptom = seen("nvidia-smi-not-installed", "nvidia-nodes-not-there", at="container"),
    asked: World | None = one(gpu_requested=True),
    driver: Driver | None = one(vendor="nvidia"),
    bus: PciDevice | None = None,
) -> Verdict:
    """All that is shown is somebody who looks for the GPU in a container; the engine brings the tool with it."""
    return asked is None and driver is None and bus is None and {"vendor": "nvidia"}
