"""Build hook: compile the knowledge tables, so that the wheel needs not parse them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KNOWLEDGE = Path("src", "rigup", "knowledge")


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Writes ``compiled.msgpack`` beside the tables and adds it to the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002  (hatchling calls it so)
        """Compile before the files are collected; a malformed table stops the build."""
        if self.target_name != "wheel":
            return
        compiling = _load(Path(self.root) / KNOWLEDGE / "compile.py")
        compiling.compile_tables()
        build_data["artifacts"].append((KNOWLEDGE / "compiled.msgpack").as_posix())


def _load(path: Path) -> ModuleType:
    # By path: the package itself may need things that a build environment lacks.
    spec = importlib.util.spec_from_file_location("rigup_knowledge_compile", path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
