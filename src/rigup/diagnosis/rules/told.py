"""Fields that a rule wants by a test instead of a list, `one(name=Passes(is_of_nvidia))`, and what people say."""

from collections.abc import Callable
from typing import Any, Self

from rigup.diagnosis.rule import wordings


class Passes(tuple[Any, ...]):
    """Stands for all values that pass a test; a table behind it is read when there is a fact to be tested."""

    test: Callable[[Any], bool]

    def __new__(cls, test: Callable[[Any], bool]) -> Self:
        """Of the test's name only, so that it can be shown."""
        condition = super().__new__(cls, (test.__name__,))
        condition.test = test
        return condition

    def __contains__(self, value: object) -> bool:
        return value is not None and bool(self.test(value))


WORKS_INSIDE = wordings(tag="works-inside")
RIGHT = "collectives-run-right"  # a test of several cards that ended well
CPU_ONLY = wordings(tag="no-gpu-told")
CONTAINERS = wordings(tag="container-spoken-of")
NOT_THE_MACHINES = wordings(tag="not-the-machines")
OTHER_ACCELERATORS = wordings(tag="other-accelerators")
ON_THE_PROCESSOR = "vllm-on-the-processor"  # a build of vLLM for it
NO_SUCH_CARD = wordings(tag="no-such-card")
# A framework's own list of the GPUs that it has started; a program's own words that it computes on one, which may be too little of it.
LISTED = wordings("jax-lists-gpus", "tensorflow-lists-a-gpu", "lightning-uses-the-gpu", tag="gpu-at-work")
AT_WORK = (*LISTED, "tf-device-created", "ollama-computes-on-rocm")
SHARED_ON_PURPOSE = wordings(tag="shared-on-purpose")
MACS = wordings(tag="macs")
