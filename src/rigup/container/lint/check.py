"""Files that describe containers, read and judged; and mended where a change needs no judgement."""

import re
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import PurePosixPath

from msgspec import UNSET

from rigup.container.asked import ContainerError
from rigup.container.lint import of_builds, of_images, of_services
from rigup.container.lint.case import Built, Found
from rigup.container.lint.judged import Judged
from rigup.container.lint.of_services import by_others
from rigup.container.lint.recipe import Recipe, definition, dockerfile
from rigup.container.lint.services import Service, Unreadable, compose, devcontainer
from rigup.container.lint.texts import text_of
from rigup.language import _
from rigup.schemas.container import Edit, LintFinding, LintFix
from rigup.stack.site import Site

Read = Callable[[str], str]
"""The text of a file, by its path from the folder of the one that is judged; "" for none."""

_ORDER = {"error": 0, "warning": 1, "note": 2}


def lint(path: str, text: str, read: Read, site: Site | None) -> list[LintFinding]:
    """What is wrong with one file.

    Args:
        path: of the file, as it was given.
        text: of the file.
        read: of files beside it.
        site: the machine that it is for; None: rules of machines are silent.

    Raises:
        ContainerError: the file is none of those that are known, or cannot be read.
        KnowledgeError: a table is malformed.

    """
    try:
        found = list(_found(path, text, read, site))
    except Unreadable as error:
        raise ContainerError(_("{path} cannot be read: {error}.").format(path=path, error=error)) from error
    unique = {(finding.cause, finding.first, finding.last): finding for finding in found}
    ordered = sorted(unique.values(), key=lambda finding: (finding.first, _ORDER[finding.severity], finding.cause))
    return [lint_finding(path, finding, text) for finding in ordered]


def _found(path: str, text: str, read: Read, site: Site | None) -> Iterator[Found]:
    name = PurePosixPath(path.replace("\\", "/")).name.lower()
    if name.endswith((".yaml", ".yml")):
        yield from _of_compose(text, read, site)
    elif name.endswith(".json") or name == "devcontainer.json":
        service = devcontainer(text)
        built = _built(service, read, site, asks=False)
        yield from of_services.rules(Judged(service, built, site))
    elif (
        name.endswith((".def", ".sdef", ".singularity"))
        or name == "singularity"
        or re.match(r"\s*(?:#[^\n]*\n\s*)*bootstrap\s*:", text, re.IGNORECASE)
    ):
        yield from _of_recipe(definition(text), read, site)
    elif re.search(r"^\s*FROM\s+\S", text, re.MULTILINE | re.IGNORECASE):
        yield from _of_recipe(dockerfile(text), read, site)
    else:
        raise ContainerError(_("{path} is no Dockerfile, compose file, devcontainer.json or Apptainer definition.").format(path=path))


def _of_recipe(recipe: Recipe, read: Read, site: Site | None) -> Iterator[Found]:
    stage = recipe.target()
    if stage is not None:
        built = Built(recipe=recipe, stage=stage, read=read, site=site)
        yield from chain(of_images.rules(built), of_builds.rules(built))


def _of_compose(text: str, read: Read, site: Site | None) -> Iterator[Found]:
    whole, services = compose(text)
    if (stray := whole.get("deploy")) is not None:
        yield of_services.on(stray, "gpu-request-malformed", "error", "deploy")
    for service in services:
        asks = Judged(service, None, site).asks
        judged = Judged(service, _built(service, read, site, asks), site)
        for finding in of_services.rules(judged):
            if finding.cause != "gpu-not-requested" or not by_others(service, read, text):
                yield finding


def _built(service: Service, read: Read, site: Site | None, asks: bool) -> Built | None:
    """What a service is built from, where that lies beside."""
    if service.build is None:
        return None
    folder, file, target = service.build
    text = read(str(PurePosixPath(folder) / file)) or read(file)
    recipe = dockerfile(text) if text else None
    stage = recipe.target(target) if recipe else None
    return Built(recipe=recipe, stage=stage, read=read, site=site, asks_gpu=asks) if recipe and stage else None


def lint_finding(path: str, finding: Found, text: str) -> LintFinding:
    """A finding in words."""
    title, mend = text_of(finding.cause)
    edit = _exact(finding.edit, text) if finding.edit else None
    evidence = [finding.evidence, *([finding.source] if finding.source else [])]
    return LintFinding(
        cause=finding.cause,
        severity=finding.severity,
        file=path,
        line=[finding.first, finding.last],
        title=title,
        evidence=evidence,
        fixes=[LintFix(title=mend, edit=edit or UNSET)],
    )


def _exact(edit: Edit, text: str) -> Edit | None:
    """An edit whose text names what it replaces within a line, as the whole line."""
    if edit.text is None or not edit.text.startswith("\x00"):
        return edit
    _empty, old, new = edit.text.split("\x00")
    line = text.splitlines()[edit.line[0] - 1]
    return Edit(line=edit.line, text=line.replace(old, new, 1)) if line.count(old) == 1 else None


def mended(text: str, findings: list[LintFinding]) -> tuple[str, int]:
    """The text with the changes that need no judgement, and how many of them were made; of two on one line the first."""
    lines = text.splitlines()
    every = (fix.edit for finding in reversed(findings) for fix in finding.fixes)
    edits = {(edit.line[0], edit.line[1]): edit for edit in every if isinstance(edit, Edit)}
    done = 0
    for (first, last), edit in sorted(edits.items(), reverse=True):
        lines[first - 1 : last] = [] if edit.text is None else edit.text.split("\n")
        done += 1
    return "\n".join(lines) + ("\n" if text.endswith("\n") else ""), done
