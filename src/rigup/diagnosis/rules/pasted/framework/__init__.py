"""What frameworks and their wheels were built for."""

from rigup.diagnosis.rules.pasted.framework import (
    chips,
    code_for_chip,
    cpu_only,
    downloads,
    extensions,
    pythons,
    systems,
    tensorflow,
)

__all__ = ["chips", "code_for_chip", "cpu_only", "downloads", "extensions", "pythons", "systems", "tensorflow"]
