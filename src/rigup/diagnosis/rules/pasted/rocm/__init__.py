"""ROCm's libraries, chips and masks."""

from rigup.diagnosis.rules.pasted.rocm import code_for_chip, cuda_builds, masks, overrides, results

__all__ = ["code_for_chip", "cuda_builds", "masks", "overrides", "results"]
