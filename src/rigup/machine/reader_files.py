"""The files of readers and derivations, by name."""

PACKAGE = "rigup.machine.readers"
SHARED = "rigup.machine.derive"
"""Derivations that belong to no reader."""

MODULES = (
    "amd", "rocm_smi", "amd_bare", "amd_lists", "amd_partial", "amd_stated", "apple", "packages", "asked_versions",
    "bare_rows", "batch", "job_variables", "boot_lists", "torch_build", "build_answers", "build_lines", "builds", "bus", "bus_paths",
    "catalogue", "package_sources", "container_setup", "containers", "intel", "nvidia_smi", "counted_cards",
    "desktops", "directml_lists", "disks", "executables", "fact_lists", "firmware", "forms", "framework_lists",
    "gpu_processes", "grepped", "immutable", "in_words", "inspected", "installed", "interpreters", "job_resources", "jupyter",
    "kernel", "loader", "macs", "misc_reports", "module_packages", "modules", "python", "more_environments",
    "more_lists", "network", "next_boot", "notes", "nvidia", "nvidia_query", "ollama", "oneapi_lists",
    "package_plans", "printed_together", "process", "program_heads", "programs", "proofs", "reports_cut",
    "rocm_kernels", "rocm_tools", "rpm_packages", "services", "sessions", "shared_memory", "slurm_setup",
    "switching", "system", "system_reports", "told_orders", "toolkits", "tools_cut", "torch_report", "traced",
    "typed", "unit_files", "windows", "windows_live",
)  # fmt: skip
"""All files, in the order in which what they state is merged."""

OF_TEXTS = (
    "amd_bare", "amd_lists", "amd_partial", "amd_stated", "packages", "asked_versions", "bare_rows", "boot_lists",
    "build_answers", "build_lines", "counted_cards", "desktops", "directml_lists", "executables", "fact_lists",
    "forms", "framework_lists", "gpu_processes", "grepped", "in_words", "inspected", "job_resources", "macs", "misc_reports",
    "module_packages", "more_lists", "notes", "ollama", "oneapi_lists", "package_plans", "printed_together",
    "program_heads", "reports_cut", "sessions", "shared_memory", "system_reports", "told_orders", "tools_cut",
    "torch_report", "traced", "typed",
)  # fmt: skip
"""Those of them by which no machine is asked."""
