"""Kernel modules that were not built for this kernel, or not loaded."""

from rigup.diagnosis.rule import Every, Verdict, every, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.driver import NVIDIA
from rigup.machine.kinds import (
    KernelModule,
    KfdNode,
    PciDevice,
    Platform,
    Symptom,
    UnloadedModule,
)


@rule("kernel-module-not-built", "likely")
def dkms_has_amdgpu_for_other_kernels(
    module: KernelModule = one(name="amdgpu"), platform: Platform = one(wsl=None), symptom: Symptom = seen(tag="rocm-finds-none"),
    denied: Symptom | None = seen(tag="kfd-denied"), node: KfdNode | None = None,
) -> Verdict:  # fmt: skip
    """AMD's module was built for kernels of which none runs, and ROCm finds nothing with the kernel's own."""
    other = bool(module.built_for) and platform.release not in module.built_for
    return other and denied is None and node is None and not inside(symptom) and {"kernel": platform.release}


@rule("nvidia-module-not-loaded", "likely")
def module_was_built_and_nobody_loaded_it(
    _card: PciDevice = one(vendor_id=NVIDIA, driver=None), module: KernelModule = one(name="nvidia", loaded=False), _gone: UnloadedModule = one(name="nvidia"),
    platform: Platform | None = None, others: Every[KernelModule] = every(KernelModule, loaded=True),
) -> Verdict:  # fmt: skip
    """No driver has the card, the list of modules has no nvidia, and modinfo finds its file; of which kernel, nobody says."""
    known = platform is not None and platform.knows("release")
    foreign = any(other.name in ("nouveau", "vfio_pci") for other in others)
    return not known and not foreign and bool(module.built_for)
