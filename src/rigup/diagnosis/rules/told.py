"""Fields that a rule wants by a test instead of a list, `one(name=Told(is_of_nvidia))`, and what people say."""

from collections.abc import Callable
from typing import Any, Self


class Told(tuple[Any, ...]):
    """Stands for all values that pass a test; a table behind it is read when there is a fact to be tested."""

    test: Callable[[Any], bool]

    def __new__(cls, test: Callable[[Any], bool]) -> Self:
        """Of the test's name only, so that it can be shown."""
        made = super().__new__(cls, (test.__name__,))
        made.test = test
        return made

    def __contains__(self, value: object) -> bool:
        return value is not None and bool(self.test(value))


GPU_NOT_USED = ("gpu-not-used-told", "gpu-not-used-told-in-small-letters")  # what people say of a card that they have
NOTEBOOKS = (
    "colab-in-words",
    "collab-in-words",
    "colab-path",
    "kaggle-in-words",
)  # hosted ones, that have a GPU where it is asked for
WORKS_INSIDE = (
    "gpu-works-inside-told",
    "table-from-a-container-with-gpus",
    "radeon-listed-inside",
)  # of a container whose GPUs are there
RIGHT = "collectives-run-right"  # a test of several cards that ended well
CPU_ONLY = ("cpu-only-machine-told", "cpu-only-machine-told-with-a-dash")
CONTAINERS = (
    "compose-services-shown", "compose-file-named", "compose-log", "docker-in-words", "container-in-words", "container-commands-shown",
    "speaks-of-a-container", "in-a-container-told",
)  # fmt: skip  # spoken of: what programs miss is then mostly missing there alone
BUILDS_OF_A_NIGHT = ("build-of-a-night-named", "nightly-torch-asked")
NOT_THE_MACHINES = (
    "test-caps-its-own-memory",
    "numbers-of-two-types-mixed",
    "shapes-do-not-fit",
    "torch-took-the-other-blas",
)  # the program's own, on any device
WITHOUT_GPU = ("has-no-gpu-in-words", "has-no-card-in-words", "runs-on-the-processor-in-words", *CPU_ONLY)  # fmt: skip
OTHER_ACCELERATORS = (
    "ascend-torch-package", "ascend-torch-module", "ascend-tool", "ascend-platform-of-vllm", "neuron-torch-package", "xla-torch-package",
    "xla-torch-module", "gaudi-torch-module", "vllm-platform-of-no-gpu",
)  # fmt: skip  # what computes there is no GPU of CUDA or ROCm, and its torch a build for the processor
ON_THE_PROCESSOR = "vllm-on-the-processor"  # a build of vLLM for it
NO_SUCH_CARD = ("no-nvidia-card-told", "no-nvidia-card-told-in-capitals")
NO_DEDICATED = (
    "no-dedicated-graphics-listed",
    "no-discrete-graphics-listed",
    "no-card-of-its-own-in-chinese",
)  # a list of what a machine has, or has not
LISTS_WITHOUT = (
    "displays-listed-without-nvidia",
    "lshw-lists-no-card",
    "display-adapters-without-a-card",
    "display-of-a-server-alone",
)  # a tool's whole list of displays
LISTED = "jax-lists-gpus"  # a framework's own list of the GPUs that it has started
SHARED_ON_PURPOSE = ("gpus-oversubscribed-told", "gpu-shared-by-tasks-told", "gpu-sharing-daemon-started")
MACS = (
    "mac-in-words", "mac-in-small-letters", "mac-named", "macos-named", "apple-chip-named", "apple-silicon-in-words",
    "apple-chip-in-words",
)  # fmt: skip
INTEL_FINDS_NONE = (
    "xpu-none", "xpu-none-in-small-letters", "sycl-finds-no-device", "sycl-error-device-not-found", "llama-finds-no-sycl-device",
    "xpu-smi-finds-none", "openvino-finds-no-gpu",
    "openvino-finds-no-platform", "intel-gpu-top-finds-none", "sycl-lists-processors-alone", "sycl-list-is-empty", "dpcpp-counts-none",
)  # fmt: skip
