"""An environment is changed beside the one that is there, and takes its place when all of it is done.

So whoever uses the environment meanwhile notices nothing, and a run that is killed leaves it whole. Environments of
conda know their own place and cannot be moved: they are made and changed in place, by conda's own revisions.
"""

import contextlib
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import msgspec

from rigup.plan.applying import holdings, put_aside
from rigup.plan.applying.journal import Intent, Record
from rigup.plan.applying.state import swapped
from rigup.plan.environments import record as environment_record
from rigup.plan.environments import registry, settings, staged_swap
from rigup.plan.environments.cloning import unshare
from rigup.plan.environments.relocating import relocate
from rigup.schemas.shared import Step

Argv = tuple[str, ...]
_LOADS = ".rigup-loads"
_MAKES = ("make-environment", "make-environment-windows", "make-environment-with-uv")
_CHANGES = (
    "install-into-environment",
    "install-with-uv",
    "set-environment-variable",
    "install-packages",
    "install-requirement",
    "remove-packages",
    "install-version",
    "install-without-pin",
    "rebuild-package-for-numpy",
    "upgrade-package",
    "upgrade-extension",
    "rebuild-package",
    "rebuild-for-cards-here",
    "renew-torch-on-windows",
    "rebuild-extension",
    "compile-package",
    "install-torch",
    "install-torch-with-audio",
    "install-from-index",
    "get-jetson-torch",
    "get-jetson-file",
    "install-again",
    "install-package-again",
    "install-in-two-steps",
    "install-without-isolation",
    "install-wheel-of-abi",
    "install-wheel-of-index",
    "remove-compiled-for-torch",
    "remove-extension-of-intel",
)


class Stage:
    """The environment of a record: where it is made, and how it takes its place."""

    def __init__(self, record: Record, intent: Intent) -> None:
        self._record, self._intent = record, intent
        self._told = _as_written(intent.steps)
        self.path = Path(intent.environment) if intent.environment else None
        self.numbers = _numbers(intent.steps) if self.path else []

    def holds(self, number: int) -> bool:
        """Whether a step is taken in the environment beside."""
        return number in self.numbers

    def is_in_place(self) -> bool:
        """Whether the changed environment lies where it should."""
        return swapped(self._record) is not None

    @property
    def folder(self) -> Path:
        """Where it is made. It keeps its name while it is made; nothing else lies there."""
        if self.path is None:
            raise ValueError(self._intent.title)
        return staged_swap.staging(self.path)

    def open(self) -> None:
        """An empty place, or a copy of the environment that is to be changed. What an earlier try left is removed."""
        if self.path is None:
            return
        staged_swap.sweep(self.path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._record.write("stage", folder=str(self.folder), path=str(self.path))
        if self.path.is_dir() and not self._is_made_anew():
            holdings.keep(self.path, self._at_first(), digests=False)  # what changes from now on is noticed
            staged_swap.clone(self.path, self.folder)

    def loads(self) -> str:
        """Where downloads lie while they come: on the disk that has to hold them anyway, for /tmp may be small."""
        if not self.folder.is_dir():
            return ""  # what makes it wants to find nothing there
        (self.folder / _LOADS).mkdir(exist_ok=True)
        return str(self.folder / _LOADS)

    def argv(self, argv: Argv) -> Argv:
        """The command as it is run for the environment beside: its folder, and its Python for a bare `python`."""
        words = tuple(self._moved(word) for word in argv)
        return tuple(self._own_python(word, words[:place]) for place, word in enumerate(words))

    def close(self) -> None:
        """Tell the environment what it is, and give it its place."""
        if self.path is None:
            return
        shutil.rmtree(self.folder / _LOADS, ignore_errors=True)
        environment_record.write(self.folder, self._what_it_is(self.folder))
        relocate(self.folder, self.folder, staged_swap.real(self.path))
        self._carry_over()
        self._for_all_to_read()
        if self.path.is_dir():  # it is kept, and an installer may have linked both to one cache
            unshare(self.folder)
        holdings.keep(self.folder, what_it_held(self._record))
        self._record.write("swap", ident=self._record.ident, path=str(self.path))
        old = staged_swap.swap(self.folder, self.path, self._record.ident)
        self._swapped(old)
        with contextlib.suppress(OSError):  # the journal names it too
            registry.add(self.path)

    def tell_of_conda(self) -> None:
        """An environment of conda that was made in its place has a record too."""
        if self.path is not None and (self.path / "conda-meta").is_dir():
            environment_record.write(self.path, msgspec.structs.replace(self._what_it_is(self.path), manager="conda"))

    def drop(self) -> None:
        """Nothing that was half made is left; the environment that was there was never touched."""
        if self.path is not None:
            staged_swap.sweep(self.path)

    def _for_all_to_read(self) -> None:
        """Under a prefix that all share only its owner changes an environment. Raises OSError."""
        if self.path is not None and settings.is_shared(self.path, settings.settings()):
            settings.read_only_for_others(self.folder)

    def _carry_over(self) -> None:
        """What a person put into the environment while the run was under way is in the new one too. Raises OSError.

        A file that the run changed as well is put aside.
        """
        if self.path is None or not self.path.is_dir():
            return
        names = holdings.theirs(self.path, self._at_first()) or []
        untouched = holdings.is_as_left(self.folder, self._at_first(), names)
        for name in names:
            old, new = self.path / name, self.folder / name
            if os.path.lexists(new) and not untouched[name]:
                new = put_aside.place_of(self._record, str(old))
                self._record.write("put-aside", path=str(old), to=str(new))
            new.parent.mkdir(parents=True, exist_ok=True)
            new.unlink(missing_ok=True)
            shutil.copy2(old, new, follow_symlinks=False)

    def _at_first(self) -> Path:
        """Where it is written down what the environment held that is changed."""
        return self._record.folder / "environment.before"

    def settle(self) -> None:
        """After a run that was killed: end or forget its swap, so that the journal says what the disk does."""
        if self.path is None or not self._record.of("swap"):
            return
        last = self._record.of("swap")[-1].told
        old = staged_swap.recover(self.path)
        if self.is_in_place():
            return
        if is_made_by(self.path, self._record):
            held = old or staged_swap.aside(self.path, last["ident"])
            self._swapped(held if held.is_dir() else None)

    def _swapped(self, old: Path | None) -> None:
        if self.path is not None:
            self._record.write("swapped", path=str(self.path), old=str(old or ""))

    def _is_made_anew(self) -> bool:
        """A step that makes it stands in the plan and is not satisfied: an old one is replaced, not copied."""
        return any(step.kind in _MAKES and step.state != "satisfied" for step in self._intent.steps)

    def _moved(self, word: str) -> str:
        for path in self._told:
            if word == path or word.startswith((path + "/", path + "\\")):
                return str(self.folder) + word[len(path) :]
        return word

    def _own_python(self, word: str, before: Argv) -> str:
        first = all(part == "env" or "=" in part for part in before)
        return str(self.folder / "bin" / "python") if word == "python" and first else word

    def _what_it_is(self, folder: Path) -> environment_record.Record:
        plan = self._intent.told
        before = environment_record.read(folder) or environment_record.Record()
        return environment_record.Record(
            wish=tuple(plan.wish) or before.wish,
            packages={**before.packages, **plan.packages},
            indexes=tuple(plan.indexes) or before.indexes,
            python=plan.python or before.python,
            variables=environment_record.allowed_variables({**before.variables, **plan.variables}),
            plan=self._record.ident,
            facts=plan.facts,
        )


def is_made_by(environment: Path, record: Record) -> bool:
    """Whether an environment says that this run made it."""
    record_there = environment_record.read(environment)
    return record_there is not None and record_there.plan == record.ident


def what_it_held(record: Record) -> Path:
    """Where it is written down what the environment held when it took its place."""
    return record.folder / "environment.held"


def of_environment(step: Step) -> bool:
    """Whether a step makes or changes an environment that can be made beside."""
    return step.kind in _MAKES + _CHANGES and not _by_conda(step)


def _by_conda(step: Step) -> bool:
    return any("conda" in [word for word in argv if word != "env" and "=" not in word][:1] for argv in step.commands)


def _numbers(steps: Iterable[Step]) -> list[int]:
    every = list(steps)
    if any(step.kind == "make-conda-environment" for step in every):
        return []
    return [
        number
        for number, step in enumerate(every)
        if of_environment(step) and step.commands and step.where == "here" and step.state == "needed"
    ]


def _as_written(steps: Iterable[Step]) -> list[str]:
    """The environment's folder as the steps name it, the longest first."""
    folders = {step.params.get("environment", "").rstrip("/\\") for step in steps}
    pythons = (step.params.get("python", "") for step in steps if step.kind in _CHANGES)
    folders |= {os.path.dirname(os.path.dirname(python)) for python in pythons if "/" in python}
    return sorted((folder for folder in folders if folder), key=len, reverse=True)
