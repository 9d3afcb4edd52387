"""Build hook: where the files of src/rigup/torch lie in this distribution."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = "source"  # their folder in a source distribution


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Takes them from the repository, or from the source distribution that was made of it."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002  (hatchling calls it so)
        """Name each file's place; `rigup.plan.environments.rigup_torch` puts them at the same ones."""
        kept = Path(self.root, SOURCE)
        folder = kept if kept.is_dir() else Path(self.root).parents[1] / "src" / "rigup" / "torch"
        files = sorted(path for path in folder.iterdir() if path.suffix in (".py", ".typed"))
        for path in files:
            if self.target_name == "sdist":
                build_data["force_include"][str(path)] = f"{SOURCE}/{path.name}"
            elif path.name == "standalone.py":
                build_data["force_include"][str(path)] = "rigup/torch.py"
            else:
                build_data["force_include"][str(path)] = f"_rigup_torch/{path.name}"
        if self.target_name == "wheel":  # each of the two packages says that it is typed
            build_data["force_include"][str(Path(self.root, "py.typed"))] = "rigup/torch/py.typed"
