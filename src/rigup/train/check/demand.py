"""Calls that need a GPU, and conditions that ask whether there is one."""

from rigup.train.check.python.program import Site
from rigup.train.check.python.values import AVAILABLE, COUNT


def demands(site: Site) -> bool:
    """Whether a call fails without a GPU."""
    if (site.last == "cuda" and site.name.startswith(".")) or site.name == "torch.cuda.set_device":
        return True
    if site.name.startswith("torch.cuda.") and site.last in ("Stream", "CUDAGraph", "reset_peak_memory_stats"):
        return True
    if site.last in ("to", "device") or site.expression("device") is not None:
        value = site.argument("device", 0)
        return value is not None and value.text is not None and value.text.startswith("cuda")
    if site.last == "Accelerator":
        value = site.argument("mixed_precision")
        return value is not None and value.const == "fp16"
    return False


def if_available(site: Site) -> bool:
    """It stands under a condition that asks whether there is a GPU, or under any that nobody can follow."""
    for parent, child in site.module.ancestors(site.node):
        test = getattr(parent, "test", None)
        if test is not None and child is not test:
            value = site.program.at(test, site.module)
            if AVAILABLE in value.marks or COUNT in value.marks or (not value.guard and not value.known and not value.marks):
                return True
    return False
