"""Build hook: compile the knowledge tables and the message catalogues, so that nothing is parsed at the start."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KNOWLEDGE = Path("src", "rigup", "knowledge")
LOCALES = Path("src", "rigup", "locales")


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Writes ``compiled.msgpack`` and the catalogues beside their sources, and adds them to the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002  (hatchling calls it so)
        """Compile before the files are collected; a malformed table stops the build."""
        if self.target_name != "wheel":
            return
        compiling = _load(Path(self.root) / KNOWLEDGE / "compile.py")
        compiling.compile_tables()
        build_data["artifacts"].append((KNOWLEDGE / "compiled.msgpack").as_posix())
        for catalogue in sorted((Path(self.root) / LOCALES).glob("*/LC_MESSAGES/*.po")):
            compiled = _catalogue(catalogue)
            build_data["artifacts"].append(compiled.relative_to(self.root).as_posix())


def _catalogue(path: Path) -> Path:
    """Compile one catalogue, beside its source."""
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    with path.open("rb") as source, path.with_suffix(".mo").open("wb") as target:
        write_mo(target, read_po(source))
    return path.with_suffix(".mo")


def _load(path: Path) -> ModuleType:
    # By path: the package itself may need things that a build environment lacks.
    spec = importlib.util.spec_from_file_location("rigup_knowledge_compile", path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
