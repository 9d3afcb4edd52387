"""In which files something is set that a fix takes away or changes: then the machine can do it, and nobody searches."""

from rigup.diagnosis.findings import Finding
from rigup.machine.facts import Fact
from rigup.machine.kinds import SearchPath, Variable
from rigup.machine.store import Facts
from rigup.steps import Step, StepError, make

_AGAIN = "log-in-again"
_OF_A_SCRIPT = "take-out-of-script"
IN_A_SCRIPT = {"set-variable": "set-in-script", "set-variable-of-ranks": "set-in-script", "set-variable-on-nodes": "set-in-script-on-nodes"}


def taken_out(step: Step, finding: Finding, facts: Facts) -> list[Step]:
    """The steps that take away, or change, file by file, what `step` tells a person to; none where no file is known."""
    steps: list[Step] = []
    if step.kind == "unset-variable":
        steps = [_variable(step.params["name"], file) for file in _files(step.params["name"], finding, facts)]
        steps += [make(_AGAIN, {})] if any(kept.kind != _OF_A_SCRIPT for kept in steps) else []
    elif step.kind == "take-off-loader-path":
        steps = [_folder(step.params["path"], file) for file in _lists(step.params["path"], finding, facts)]
    elif step.kind in IN_A_SCRIPT:
        scripts = (file for file in _files(step.params["name"], finding, facts) if not file.startswith("/"))
        steps = [kept for script in scripts for kept in _set_anew(step, script)]
    return steps


def _variable(name: str, file: str) -> Step:
    if not file.startswith("/"):
        return make(_OF_A_SCRIPT, {"name": name, "script": file})
    kind = "take-out-variable-as-root" if file.startswith("/etc/") else "take-out-variable"
    return make(kind, {"name": name, "file": file})


def _set_anew(step: Step, script: str) -> list[Step]:
    """None for a value that no command may be made of."""
    try:
        return [make(IN_A_SCRIPT[step.kind], {**step.params, "script": script})]
    except StepError:
        return []


def _folder(path: str, file: str) -> Step:
    return make("take-out-loader-path", {"path": path, "file": file})


def _files(name: str, finding: Finding, facts: Facts) -> list[str]:
    variables = [fact for fact in facts.of(Variable) if fact.get("name") == name and _same(fact, finding)]
    read = [reading for fact in variables for reading in (fact.fields.get("file"), *fact.others.get("file", ())) if reading]
    return _fit({str(reading.value) for reading in read})


def _lists(path: str, finding: Finding, facts: Facts) -> list[str]:
    search_paths = [fact for fact in facts.of(SearchPath) if fact.get("path") == path and _same(fact, finding)]
    return _fit({fact.fields["path"].where.source for fact in search_paths if fact.get("variable") == "ld.so.conf"})


def _same(fact: Fact, finding: Finding) -> bool:
    """On the machine, and in the world, that the finding speaks of."""
    ours, theirs = fact.place, finding.place
    return ours.node in ("", theirs.node) and (ours.world or "host") == (theirs.world or "host")


def _fit(files: set[str]) -> list[str]:
    """Those whose names a command may be made of."""
    return sorted(file for file in files if _makes(file))


def _makes(file: str) -> bool:
    try:
        return bool(_folder("/x", file) if file.startswith("/") else _variable("X", file))
    except StepError:
        return False
