"""Functions that rows of rules may use: what is worked out of fields by code or by tables."""

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any

FUNCTIONS = {
    "age": "rigup.diagnosis.rules.pasted.framework.chips:age",
    "age-of-code": "rigup.diagnosis.rules.pasted.reckoned:age_of_code",
    "apart": "rigup.diagnosis.rules.pasted.container.notebooks:apart",
    "beside": "rigup.diagnosis.rules.pasted.framework.chips:age_of_listed_code",
    "by-another-number": "rigup.diagnosis.rules.access:by_another_number",
    "closed": "rigup.diagnosis.rules.access:closed",
    "code-of": "rigup.diagnosis.rules.device_manager:code_of",
    "counts-none": "rigup.diagnosis.rules.pasted.program.devices:counts_none",
    "driver-branch-for": "rigup.knowledge.gpus:driver_branch_for",
    "driver-carries": "rigup.knowledge.cuda:driver_carries",
    "elsewhere": "rigup.diagnosis.rules.pasted.apple.metal:is_elsewhere",
    "fits": "rigup.diagnosis.rules.rocm:fits",
    "for-rocm": "rigup.diagnosis.rules.pasted.rocm.cuda_builds:for_rocm",
    "foreign": "rigup.diagnosis.rules.rocm:foreign",
    "gfx-base": "rigup.knowledge.chips:gfx_base",
    "gfx-of-decimal": "rigup.knowledge.chips:gfx_of_decimal",
    "harmful": "rigup.diagnosis.rules.pasted.rocm.overrides:harmful",
    "harms": "rigup.diagnosis.rules.rocm:harms",
    "helps": "rigup.diagnosis.rules.rocm:helps",
    "inside": "rigup.diagnosis.rules.access:inside",
    "inside-a-processor": "rigup.diagnosis.rules.rocm:inside_a_processor",
    "is-cupy": "rigup.diagnosis.rules.pasted.library.clashes:is_cupy",
    "is-gpu-package": "rigup.diagnosis.rules.pasted.framework.pythons:is_gpu_package",
    "is-named-after-cuda": "rigup.diagnosis.rules.pasted.framework.tensorflow:is_named_after_cuda",
    "is-no-first": "rigup.diagnosis.rules.pasted.program.devices:is_no_first",
    "is-of-another-system": "rigup.diagnosis.rules.pasted.unserved:is_of_another_system",
    "is-of-cuda": "rigup.diagnosis.rules.pasted.reckoned:is_of_cuda",
    "is-older": "rigup.knowledge.apple:is_older",
    "isa": "rigup.diagnosis.rules.pasted.framework.chips:isa_of_named_card",
    "left": "rigup.diagnosis.rules.rocm:left",
    "line": "rigup.diagnosis.rules.pasted.container.images:line_of",
    "missed-and-there": "rigup.diagnosis.rules.library:missed_and_there",
    "mps-minimum": "rigup.knowledge.apple:mps_minimum",
    "named-after-a-guest": "rigup.diagnosis.rules.pasted.driver.passthrough:named_after_a_guest",
    "newer-than-most": "rigup.diagnosis.rules.compiled_for:newer_than_most",
    "next-mps-minimum": "rigup.knowledge.apple:next_mps_minimum",
    "number": "rigup.diagnosis.rules.pasted.rocm.results:number_in",
    "numbered": "rigup.diagnosis.rules.rocm_stack:numbered",
    "of-a-night": "rigup.diagnosis.rules.library:of_a_night",
    "of-intels-mac": "rigup.diagnosis.rules.pasted.apple.processes:of_intels_mac",
    "of-its-own-release": "rigup.diagnosis.rules.rocm_stack:of_its_own_release",
    "of-the-library": "rigup.diagnosis.rules.pasted.driver.versions:of_the_library",
    "of-the-module": "rigup.diagnosis.rules.pasted.driver.versions:of_the_module",
    "offered-nothing": "rigup.diagnosis.rules.pasted.unserved:offered_nothing",
    "old-wheels": "rigup.diagnosis.rules.pasted.rocm.code_for_chip:old_wheels",
    "on-first-bus": "rigup.diagnosis.rules.driver_guest:on_first_bus",
    "open-module": "rigup.knowledge.gpus:open_module",
    "other-number": "rigup.diagnosis.rules.pasted.rocm.results:other_number",
    "override-for": "rigup.knowledge.rocm:override_for",
    "plain": "rigup.diagnosis.rules.pasted.container.notebooks:plain",
    "plain-tensorflow-for-processors": "rigup.knowledge.pythons:plain_tensorflow_for_processors",
    "pythons": "rigup.knowledge.pythons:pythons",
    "recent": "rigup.diagnosis.rules.pasted.container.found_none:recent",
    "refused": "rigup.diagnosis.rules.pasted.container.images:what_is_refused",
    "release": "rigup.diagnosis.rules.pasted.driver.versions:release_of_package",
    "runs-on": "rigup.knowledge.chips:runs_on",
    "same-address": "rigup.diagnosis.rules.pasted.reckoned:same_address",
    "same-version": "rigup.diagnosis.rules.driver:same_version",
    "taken": "rigup.diagnosis.rules.pasted.hardware.taken:is_mostly_taken",
    "tensorflow-on-windows": "rigup.knowledge.pythons:tensorflow_on_windows",
    "there": "builtins:bool",
    "told": "rigup.diagnosis.rules.pasted.driver.no_gpu:is_more_known",
    "unlike": "rigup.diagnosis.rules.pasted.rocm.overrides:unlike",
    "up-to-avx2": "rigup.diagnosis.rules.pasted.framework.systems:up_to_avx2",
    "wanted-by-what-was-compiled": "rigup.diagnosis.rules.library:wanted_by_what_was_compiled",
    "wants-atomics": "rigup.knowledge.lifecycle:wants_atomics",
    "wheels-have": "rigup.diagnosis.rules.rocm:wheels_have",
    "with-avx2": "rigup.diagnosis.rules.pasted.framework.systems:with_avx2",
    "worth-a-build": "rigup.diagnosis.rules.framework:worth_a_build",
}


@cache
def row_function(name: str) -> Callable[..., Any]:
    """A function by the name that rows know it by.

    Raises:
        ValueError: there is none.

    """
    if name not in FUNCTIONS:
        raise ValueError(f"no function of rules: {name!r}")
    module, _colon, function = FUNCTIONS[name].partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found
