"""Containers and wheels on a Jetson, whose driver is its own."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.pasted.heard import CONTAINERS_TOLD, JETSONS_IN_WORDS
from rigup.machine.kinds import Driver, Gpu, Jetson, Symptom, Torch

_CUDA_REFUSED = ("program-stops-without-cuda", "yolo-invalid-cuda", "torch-program-wants-cuda")
_JETSON = ("jetpack-of-an-image", "tegra-kernel-shown", "l4t-package-shown", "jetson-image-named")
_MODULES = (
    "jetson-in-words",
    "tegra-in-words",
    "orin-in-words",
    "jetpack-in-capitals",
    "xavier-in-words",
    "jetpack-of-an-image",
    "tegra-kernel-shown",
)
_MODULE = ("jetpack-of-an-image", "tegra-kernel-shown", "l4t-package-shown", "jetson-image-named")
_NO_LIBRARY = ("container-cli-no-driver-library", "container-cli-driver-error", "container-cli-no-nvml-library")


# -- jetson-generic-wheel
@rule("jetson-generic-wheel", strength="possible")
def somebody_on_a_jetson_has_no_cuda(
    _where: Symptom = seen("jetson-in-words", "tegra-in-words", "orin-in-words", "jetpack-in-capitals", "xavier-in-words"),
    _said: Symptom = seen("program-finds-no-cuda", "cuda-false-in-words", "cpu-build-in-chinese"),
    torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """In words alone; which build it is nobody tells."""
    return torch is None or (not torch.get("available") and ".nv" not in str(torch.get("version")))


@rule("jetson-generic-wheel", "possible")
def program_is_refused_cuda_on_a_module(
    _module: Symptom = seen("tegra-chip-as-a-device"), said: Symptom = seen(*_CUDA_REFUSED), torch: Torch | None = one(available=True)
) -> Verdict:  # fmt: skip
    """The samples of CUDA see the module's GPU, and torch does not: mostly its build is one for other machines."""
    return torch is None and {"said": said.id}


@rule("jetson-generic-wheel", "likely")
def torch_without_cuda_on_a_jetson(
    said: Symptom = seen("torch-not-compiled-with-cuda", "torch-not-linked-with-cuda"), where: Symptom = seen(*JETSONS_IN_WORDS),
    torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """torch says so itself; on a Jetson the build that has CUDA is NVIDIA's own."""
    ours = torch is not None and (torch.get("cuda") or ".nv" in str(torch.get("version")))
    return not ours and {"said": said.id, "where": where.id}


@rule("jetson-generic-wheel", "likely")
def build_for_the_processor_on_a_jetson(
    where: Symptom = seen(*JETSONS_IN_WORDS), torch: Torch = one(available=False), module: Jetson | None = None
) -> Verdict:
    """Its version says that it was built for the processor; a report that knows the module has rules of its own."""
    return module is None and "+cpu" in str(torch.get("version")) and {"where": where.id}


@rule("jetson-generic-wheel", "possible")
def torch_sees_nothing_on_a_jetson(
    where: Symptom = seen(*JETSONS_IN_WORDS), torch: Torch = one(available=False), driver: Driver | None = one(vendor="nvidia"),
    old: Symptom | None = seen("torch-driver-too-old"),
) -> Verdict:  # fmt: skip
    """Which build it is nobody tells; on a Jetson it is mostly this."""
    known = torch.get("cuda") or ".nv" in str(torch.get("version"))
    return not known and driver is None and old is None and {"where": where.id}


@rule("jetson-generic-wheel", "likely")
def detector_runs_on_the_processor_of_a_module(_jetson: Jetson, _shown: Symptom = seen("jetson-cpu-torch-shown")) -> Verdict:  # fmt: skip
    """The program's own line says that its torch uses the processor, on a Jetson."""
    return True


@rule("jetson-generic-wheel", "likely")
def detector_computes_on_the_processor_of_a_named_module(
    said: Symptom = seen("detector-computes-on-an-arm-processor"), where: Symptom | None = seen(*_MODULES), module: Jetson | None = None,
    meant: Symptom | None = seen("processor-asked-of-a-detector"), works: Torch | None = one(available=True),
) -> Verdict:  # fmt: skip
    """The head line is of a processor like a module's, and the text names the module."""
    return bool(where or module) and meant is None and works is None and {"said": said.id}


@rule("jetson-generic-wheel", "possible")
def server_counts_no_gpu_of_a_module(_jetson: Jetson, said: Symptom = seen("torchserve-counts-no-gpus"), torch: Torch | None = one(available=True)) -> Verdict:  # fmt: skip
    """Every module has a GPU; a torch that is not NVIDIA's own does not see it."""
    return torch is None and {"said": said.id}


@rule("jetson-generic-wheel", "likely")
def onnxruntime_of_a_module_offers_no_cuda(
    said: Symptom = seen("onnxruntime-offers-no-cuda"), jetson: Jetson | None = None, spoken: Symptom | None = seen("jetson-in-words", *_MODULE),
) -> Verdict:  # fmt: skip
    """Asked for CUDA on a Jetson, onnxruntime knows the processor alone: PyPI's file for arm has nothing else."""
    return bool(jetson or spoken) and {"said": said.id, "package": "onnxruntime"}


# -- container-runtime-without-jetson-support
@rule("container-runtime-without-jetson-support", "likely")
def mounting_fails_on_a_module(_jetson: Jetson, said: Symptom = seen("container-cli-mount-error")) -> Verdict:
    """A Jetson's kernel or release is shown, and the container tool cannot mount what it looks for."""
    return {"said": said.id}


@rule("container-runtime-without-jetson-support", "likely")
def container_tool_looks_for_a_desktop_driver(
    said: Symptom = seen(
        "container-cli-no-driver-library", "container-cli-driver-error", "container-cli-no-nvml-library"
    ),
    where: Symptom = seen(*JETSONS_IN_WORDS),
) -> Verdict:
    """On a Jetson the driver's libraries are handed on by a list of files; a tool that loads them by name is not set up for one."""
    return {"said": said.id, "where": where.id}


@rule("container-runtime-without-jetson-support", "possible")
def libraries_are_not_handed_on_to_a_container(
    said: Symptom = seen("not-mounted-in-words"),
    where: Symptom = seen(*JETSONS_IN_WORDS),
    engine: Symptom = seen(*CONTAINERS_TOLD),
) -> Verdict:
    """The person's words alone; that list is then mostly not there, or for another release."""
    return {"said": said.id, "where": where.id, "engine": engine.id}


@rule("container-runtime-without-jetson-support", "likely")
def desktop_libraries_are_looked_for_on_a_module(
    _jetson: Jetson, said: Symptom = seen("container-cli-no-driver-library", "container-cli-driver-error", "container-cli-no-nvml-library")
) -> Verdict:  # fmt: skip
    """A Jetson's release is shown, and the container tool looks for a desktop driver's libraries."""
    return {"said": said.id}


@rule("container-runtime-without-jetson-support", "likely")
def module_whose_container_got_nothing(
    _module: Symptom = seen(*_JETSON),
    said: Symptom = seen("apptainer-no-nv-files", "torch-found-no-driver", "cuda-library-not-found"),
) -> Verdict:
    """A Jetson's kernel, package or image is shown, and the container got none of its driver's files."""
    return {"said": said.id}


@rule("container-runtime-without-jetson-support", "likely")
def library_is_looked_for_by_a_modules_image(
    module: Symptom = seen(*_MODULE), said: Symptom = seen(*_NO_LIBRARY), card: Gpu | None = one(vendor="nvidia", integrated=False),
) -> Verdict:  # fmt: skip
    """A Jetson's kernel, package or image is shown, and the container tool loads a desktop driver's library."""
    return (card is None or not card.knows("driver")) and {"said": said.id, "where": module.id}


@rule("container-runtime-without-jetson-support", "likely")
def modules_of_a_desktop_are_loaded_on_a_jetson(
    _jetson: Jetson, said: Symptom = seen("container-cli-loads-desktop-modules")
) -> Verdict:  # fmt: skip
    """A Jetson's driver is a part of its kernel, with other names."""
    return {"said": said.id}


@rule("container-runtime-without-jetson-support", "likely")
def description_is_made_as_for_a_desktop(
    said: Symptom = seen("cdi-finds-no-library-of-the-driver"), _module: Symptom = seen("tegra-kernel-shown", "jetson-image-named", "l4t-package-shown"),
) -> Verdict:  # fmt: skip
    """A Jetson has no NVML by which the tool could find its GPU: it is described by lists of files."""
    return {"said": said.id}
