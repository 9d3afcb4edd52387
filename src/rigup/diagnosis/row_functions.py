"""Functions that rows of rules may use: what is worked out of fields by code or by tables."""

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any

FUNCTIONS = {
    "age": "rigup.diagnosis.causes.framework.code_for_chip:age",
    "age-of-code": "rigup.diagnosis.causes.framework.code_for_chip:age_of_code",
    "apart": "rigup.diagnosis.causes.container.jupyter_kernel_other_env:apart",
    "beside": "rigup.diagnosis.causes.framework.gpu_arch_newer_than_wheel:age_of_listed_code",
    "by-another-number": "rigup.diagnosis.causes.access.device_nodes:by_another_number",
    "closed": "rigup.diagnosis.causes.access.device_nodes:closed",
    "code-of": "rigup.diagnosis.causes.device_manager:code_of",
    "counts-none": "rigup.diagnosis.causes.program.cuda_visible_devices_wrong:counts_none",
    "driver-branch-for": "rigup.knowledge.gpus:driver_branch_for",
    "driver-carries": "rigup.knowledge.cuda:driver_carries",
    "elsewhere": "rigup.diagnosis.causes.apple.mps_blocked_by_sandbox:is_elsewhere",
    "fits": "rigup.diagnosis.causes.rocm_overrides:fits",
    "for-rocm": "rigup.diagnosis.causes.rocm.cuda_torch_on_amd:for_rocm",
    "foreign": "rigup.diagnosis.causes.rocm.libraries:foreign",
    "gfx-base": "rigup.knowledge.chips:gfx_base",
    "gfx-of-decimal": "rigup.knowledge.chips:gfx_of_decimal",
    "harmful": "rigup.diagnosis.causes.rocm.wrong_hsa_override:harmful",
    "harms": "rigup.diagnosis.causes.rocm_overrides:harms",
    "helps": "rigup.diagnosis.causes.rocm_overrides:helps",
    "inside": "rigup.diagnosis.causes.places:inside",
    "inside-a-processor": "rigup.diagnosis.causes.rocm_chips:inside_a_processor",
    "is-cupy": "rigup.diagnosis.causes.library.pip_cuda_mix:is_cupy",
    "is-gpu-package": "rigup.diagnosis.causes.framework.python_version_without_wheels:is_gpu_package",
    "is-named-after-cuda": "rigup.diagnosis.causes.framework.tensorflow_cpu_build:is_named_after_cuda",
    "is-no-first": "rigup.diagnosis.causes.program.cuda_visible_devices_wrong:is_no_first",
    "is-of-another-system": "rigup.diagnosis.causes.framework.offered_packages:is_of_another_system",
    "is-of-cuda": "rigup.diagnosis.causes.framework.tensorflow_cpu_build:is_of_cuda",
    "is-older": "rigup.knowledge.apple:is_older",
    "isa": "rigup.diagnosis.causes.framework.code_for_chip:isa_of_named_card",
    "left": "rigup.diagnosis.causes.rocm_chips:left",
    "line": "rigup.diagnosis.causes.container.container_toolkit_missing:line_of",
    "missed-and-there": "rigup.diagnosis.causes.rocm.libraries:missed_and_there",
    "mps-minimum": "rigup.knowledge.apple:mps_minimum",
    "named-after-a-guest": "rigup.diagnosis.causes.driver.vm_passthrough_misconfigured:named_after_a_guest",
    "newer-than-most": "rigup.diagnosis.causes.framework.code_for_chip:newer_than_most",
    "next-mps-minimum": "rigup.knowledge.apple:next_mps_minimum",
    "number": "rigup.diagnosis.causes.rocm.garbage_output_on_gfx:number_in",
    "numbered": "rigup.diagnosis.causes.rocm.libraries:numbered",
    "of-a-night": "rigup.diagnosis.causes.library.cuda_packages:of_a_night",
    "of-intels-mac": "rigup.diagnosis.causes.apple.mps_x86_python_under_rosetta:of_intels_mac",
    "of-its-own-release": "rigup.diagnosis.causes.rocm.libraries:of_its_own_release",
    "of-the-library": "rigup.diagnosis.causes.driver.nvml_driver_library_mismatch:of_the_library",
    "of-the-module": "rigup.diagnosis.causes.driver.nvml_driver_library_mismatch:of_the_module",
    "offered-nothing": "rigup.diagnosis.causes.framework.offered_packages:offered_nothing",
    "old-wheels": "rigup.diagnosis.causes.rocm.gfx_not_in_torch_wheel:old_wheels",
    "on-first-bus": "rigup.diagnosis.causes.pci:on_first_bus",
    "open-module": "rigup.knowledge.gpus:open_module",
    "other-number": "rigup.diagnosis.causes.rocm.rocm_abi_mismatch:other_number",
    "override-for": "rigup.knowledge.rocm:override_for",
    "plain": "rigup.diagnosis.causes.container.jupyter_kernel_other_env:plain",
    "plain-tensorflow-for-processors": "rigup.knowledge.pythons:plain_tensorflow_for_processors",
    "pythons": "rigup.knowledge.pythons:pythons",
    "recent": "rigup.diagnosis.causes.container.container_without_gpu:recent",
    "refused": "rigup.diagnosis.causes.container.container_files_root_owned:what_is_refused",
    "release": "rigup.diagnosis.causes.driver.nvml_driver_library_mismatch:release_of_package",
    "runs-on": "rigup.knowledge.chips:runs_on",
    "same-address": "rigup.diagnosis.causes.pci:same_address",
    "same-version": "rigup.diagnosis.causes.driver.modules:same_version",
    "taken": "rigup.diagnosis.causes.hardware.memory_holders:is_mostly_taken",
    "tensorflow-on-windows": "rigup.knowledge.pythons:tensorflow_on_windows",
    "there": "builtins:bool",
    "told": "rigup.diagnosis.causes.driver.no_gpu_present:is_more_known",
    "unlike": "rigup.diagnosis.causes.rocm.mixed_gfx_single_override:unlike",
    "up-to-avx2": "rigup.diagnosis.causes.framework.cpu_instruction_set_missing:up_to_avx2",
    "wanted-by-what-was-compiled": "rigup.diagnosis.causes.library.cuda_packages:wanted_by_what_was_compiled",
    "wants-atomics": "rigup.knowledge.lifecycle:wants_atomics",
    "wheels-have": "rigup.diagnosis.causes.rocm_chips:wheels_have",
    "with-avx2": "rigup.diagnosis.causes.framework.cpu_instruction_set_missing:with_avx2",
    "worth-a-build": "rigup.diagnosis.causes.framework.torch_builds:worth_a_build",
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
