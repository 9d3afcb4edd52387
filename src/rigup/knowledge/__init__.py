"""What is known: tables with a source for each row, and typed look-ups on them.

Importing this package reads nothing; each look-up decodes its own table when it is called.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rigup.knowledge.chips import (
        WhyNot,
        gfx_base,
        gfx_of_decimal,
        gfx_of_target_version,
        isa_of_capability,
        isa_order,
        runs_on,
        vendor_of,
        why_not,
    )
    from rigup.knowledge.compile import KnowledgeError
    from rigup.knowledge.cuda import cuda_of_driver, driver_carries, driver_minimum, version_key
    from rigup.knowledge.doctor_tables import causes, layers, signatures, speakers, texts
    from rigup.knowledge.gpus import Gpu, driver_branch_for, gpu_by_name, gpu_by_pci, is_display_only, one_gpu, open_module
    from rigup.knowledge.lookup import Hit, search
    from rigup.knowledge.rocm import Override, Target, driver_accepts, gfx_family, last_rocm_with, override_facts, override_for, rocblas_has
    from rigup.knowledge.tables import names, problems, rows, table, table_date
    from rigup.knowledge.torch_builds import (
        Companions,
        TorchBuild,
        build,
        builds,
        companions,
        index_url,
        newest_build,
        variant_for_pypi,
        variants_of,
    )

_MODULES = ("chips", "gpus", "cuda", "rocm", "torch_builds", "doctor_tables", "tables", "lookup", "compile")

__all__ = [
    "Companions",
    "Gpu",
    "Hit",
    "KnowledgeError",
    "Override",
    "Target",
    "TorchBuild",
    "WhyNot",
    "build",
    "builds",
    "causes",
    "companions",
    "cuda_of_driver",
    "driver_accepts",
    "driver_branch_for",
    "driver_carries",
    "driver_minimum",
    "gfx_base",
    "gfx_family",
    "gfx_of_decimal",
    "gfx_of_target_version",
    "gpu_by_name",
    "gpu_by_pci",
    "index_url",
    "is_display_only",
    "isa_of_capability",
    "isa_order",
    "last_rocm_with",
    "layers",
    "names",
    "newest_build",
    "one_gpu",
    "open_module",
    "override_facts",
    "override_for",
    "problems",
    "rocblas_has",
    "rows",
    "runs_on",
    "search",
    "signatures",
    "speakers",
    "table",
    "table_date",
    "texts",
    "variant_for_pypi",
    "variants_of",
    "vendor_of",
    "version_key",
    "why_not",
]


def __getattr__(name: str) -> Any:
    """Load a look-up's module when the look-up is first asked for."""
    if name in __all__:
        for module in _MODULES:
            home = import_module(f"{__name__}.{module}")
            if hasattr(home, name):
                return getattr(home, name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
