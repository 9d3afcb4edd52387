"""A plan for a terminal: what will be there, for which devices, what it costs, what must change, and each step."""

import re
import subprocess
from collections.abc import Sequence

from msgspec import structs

from rigup.cli.guard import style
from rigup.cli.layout import wrapped
from rigup.cli.report import aside
from rigup.cli.typed_commands import commands, place
from rigup.language import _, sentences
from rigup.schemas.plan import Change, Cost, Plan
from rigup.schemas.shared import Argv, Step
from rigup.sizes import duration, size
from rigup.stack.words import change_name

_PIN = re.compile(r"[A-Za-z0-9._-]+(?:\[[^\]]*\])?==\S+")
_MOST_PINS, _FIRST_PINS = 40, 6  # packages of a command that are shown, and those that stand for more
_MOST = 3  # builds that were turned down, where nobody asked for all


def text(plan: Plan, explained: bool = False) -> str:
    """The whole report."""
    parts = [
        _head(plan),
        _devices(plan),
        _system(plan),
        _steps(plan, explained),
        _mends(plan),
        _others(plan),
        _turned_down(plan, explained),
        _list_lines(_("Mind"), plan.warnings),
        _list_lines(_("Taken for granted"), plan.assumed),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


# -- what will be there, and what it costs -----------------------------------------------------------


def _head(plan: Plan) -> list[str]:
    if refused := plan.resolution and plan.resolution.refused:
        return _refusal(plan, refused)
    if plan.verdict == "impossible":
        sentence = _("Impossible. Nothing that was asked for ({wish}) can run there.").format(wish=", ".join(plan.wish))
        return wrapped(sentence) + _smallest(plan)
    lines = wrapped(_left_out(plan)) if _left_out(plan) else []
    if plan.verdict == "ready":
        stack = _("It is {stack}, with Python {python}.").format(stack=_stack(plan), python=plan.environment.python)
        return lines + wrapped(sentences(_("Ready. What was asked for is there already."), stack)) + _smallest(plan)
    sentence = _("This machine gets {stack}, with Python {python}.")
    lines += wrapped(sentence.format(stack=_stack(plan), python=plan.environment.python))
    return lines + _smallest(plan) + _cost(plan.cost) + _resolution(plan)


def _refusal(plan: Plan, words: str) -> list[str]:
    """No set of packages is what was asked for: the resolver's own words say why, or ours."""
    by = plan.resolution.by if plan.resolution else None
    if not by:
        sentence = _("Impossible. What was asked for ({wish}) cannot be had there.").format(wish=", ".join(plan.wish))
        return [*wrapped(sentence), *wrapped(words, "    ", "    "), *_smallest(plan)]
    sentence = _("Impossible. What was asked for ({wish}) cannot be had together. {resolver} says:")
    lines = wrapped(sentence.format(wish=", ".join(plan.wish), resolver=by))
    return [*lines, *wrapped(words, "    ", "    "), *_smallest(plan)]


def _resolution(plan: Plan) -> list[str]:
    """Who resolved it, or what of it is not, and why."""
    resolution = plan.resolution
    if not resolution or not any(step.kind.startswith("install-") and step.state == "needed" for step in plan.steps):
        return _counted_on(plan)
    if resolution.whole:
        sentence = _("Resolved as one set by {resolver}; packages that come, and no others: {count}.")
        return wrapped(sentence.format(resolver=resolution.by, count=len(resolution.packages)))
    return wrapped(sentences(*resolution.because)) + ([] if resolution.packages else _counted_on(plan))


def _smallest(plan: Plan) -> list[str]:
    return wrapped(plan.smallest_change) if plan.smallest_change else []


def _stack(plan: Plan) -> str:
    """Packages by their own names; one with an extra stands under its plain name too."""
    packages = [f"{name} {version}".strip() for name, version in plan.packages.items() if "[" not in name]
    return ", ".join(packages or plan.requirements)


def _counted_on(plan: Plan) -> list[str]:
    """Where the packages are to come from: nobody has asked yet whether it answers."""
    installs = [argv for step in plan.steps if step.state == "needed" for argv in step.commands if "install" in argv]
    own = any("pip" in argv and "--index-url" not in argv for argv in installs)
    places = [*plan.indexes, *([_("the default index")] if own else [])]
    if not installs or not places:
        return []
    sentence = _("It counts on {places}; whether they answer is tried when the steps are taken.")
    return wrapped(sentence.format(places=", ".join(places)))


def _left_out(plan: Plan) -> str:
    """A build that leaves the GPU idle says so before all else."""
    known = plan.packages or not plan.requirements
    if known and plan.devices and not any(device.served for device in plan.devices):
        return _("No GPU is served: this would run on the CPU alone.")
    return ""


def _cost(cost: Cost) -> list[str]:
    """Gigabytes, time, restarts, root: known before anything is begun."""
    lines = wrapped(sentences(_bytes(cost), _needs(cost)))
    if cost.not_counted and cost.download_bytes:
        names = ", ".join(cost.not_counted[:_MOST]) + (" …" if len(cost.not_counted) > _MOST else "")
        lines += wrapped(_("Not counted, for nobody has measured it: {names}.").format(names=names))
    return lines


def _bytes(cost: Cost) -> str:
    if not cost.download_bytes and (cost.not_counted or not cost.disk_bytes):
        return _("How much there is to download, nobody has measured.") if cost.not_counted else ""
    about = "" if cost.exact else _("about") + " "
    if not cost.download_bytes:
        sentence = _("It takes {about}{disk} on the disk, and nothing has to be downloaded.")
        return sentence.format(about=about, disk=size(cost.disk_bytes))
    sentence = _("It takes {about}{download} to download").format(about=about, download=size(cost.download_bytes))
    if cost.seconds is not None:
        sentence += _(" ({time} on this link)").format(time=duration(cost.seconds, 0))
    if cost.disk_bytes:
        sentence += _(" and {disk} on the disk").format(disk=size(cost.disk_bytes))
    return _("{sentence}.").format(sentence=sentence)


def _needs(cost: Cost) -> str:
    root = _("Some steps need root") if cost.root else _("Nothing needs root")
    restarts = cost.restarts
    if not restarts:
        return (_("{root}, and there is no restart.")).format(root=root)
    sentence = _("{root}, and there is one restart.") if restarts == 1 else _("{root}, and there are {count} restarts.")
    return sentence.format(root=root, count=restarts)


# -- devices and the system --------------------------------------------------------------------------


def _devices(plan: Plan) -> list[str]:
    if not plan.devices:
        return []
    lines, form = [style(_("Devices"), bold=True)], _("{name}: {state}. {because}")
    for device in plan.devices:
        name = device.name or device.pci_id or device.vendor
        state = {"expected": _("served"), "on-trial": _("served, on trial"), "no": _("left out")}[device.state]
        lines += wrapped(form.format(name=name, state=state, because=device.because), f"  {device.index}  ", "     ")
    return lines


def _system(plan: Plan) -> list[str]:
    lines = [style(_("What must change outside the environment"), bold=True)] if plan.system else []
    for change in plan.system:
        name = change_name(change.change)
        lines += wrapped(_template(change).format(change=name, have=change.from_, to=change.to, why=change.why), "  - ", "    ")
    return lines


def _template(change: Change) -> str:
    if not change.from_:
        return _("{change}: {to}. {why}")
    if change.from_ == change.to:
        return _("{change}: another build of {to}. {why}")
    return _("{change}: {to} in place of {have}. {why}")


# -- steps -------------------------------------------------------------------------------------------


def _steps(plan: Plan, explained: bool) -> list[str]:
    return steps_text(plan.steps, explained, plan.environment.system == "windows")


def steps_text(steps: list[Step], explained: bool = False, windows: bool = False) -> list[str]:
    """Each step with where it is done, what it needs, and its commands as a person types them on the system."""
    lines = [style(_("Steps"), bold=True)] if steps else []
    for number, step in enumerate(steps, 1):
        head = step.title + aside(mark for mark in _marks(step) if mark)
        lines += wrapped(head, f"{number:>3}. ", "     ")
        if step.because and (explained or step.state == "blocked" or not step.commands):
            lines += wrapped(step.because, "     ", "     ")
        typed = [subprocess.list2cmdline(argv) for argv in step.commands] if windows else commands(_in_short(step))
        if step.state != "satisfied":
            lines += ["     " + command.replace("'…'", "…") for command in typed]
            if any(len(_pins(argv)) > _MOST_PINS for argv in step.commands):
                lines += wrapped(_("`rigup plan --as script` writes the whole command."), "     ", "     ")
    return lines


def _in_short(step: Step) -> Step:
    """What nobody reads is left out of a command: a program that stands in it as text, and packages beyond some dozens.

    `--json`, `--dry-run` and `--as script` have all of it.
    """
    argvs = (_without_many(tuple("…" if "\n" in word else word for word in argv)) for argv in step.commands)
    return structs.replace(step, commands=tuple(argvs))


def _without_many(argv: Argv) -> Argv:
    """A command whose pins fill more than a screen, with the first of them alone."""
    pins = _pins(argv)
    if len(pins) <= _MOST_PINS:
        return argv
    gone = set(pins[_FIRST_PINS:])
    return tuple(
        "…" if place == pins[_FIRST_PINS] else word for place, word in enumerate(argv) if place not in gone or place == pins[_FIRST_PINS]
    )


def _pins(argv: Sequence[str]) -> list[int]:
    """Where exact versions stand in a command."""
    return [place for place, word in enumerate(argv) if _PIN.fullmatch(word)]


def _marks(step: Step) -> list[str]:
    """Where it is done, what it needs, whether it is done already."""
    restart = step.restart and step.kind != "restart-machine" and step.where != "here"
    return [
        {"satisfied": _("is there"), "blocked": _("blocked")}.get(step.state or "", ""),
        place(step) or (_("by hand") if step.where == "by-hand" else ""),
        _("needs root") if step.root and step.where != "windows-host" else "",
        _("then restart") if restart else "",
        _("removes what is there") if step.tag == "destructive" else "",
    ]


def _mends(plan: Plan) -> list[str]:
    """The doctor's findings that are gone afterwards."""
    titles = [_("{title} ({cause})").format(title=finding.title, cause=finding.cause) for finding in plan.mends]
    return _list_lines(_("What this mends"), titles)


# -- the rest ----------------------------------------------------------------------------------------


def _others(plan: Plan) -> list[str]:
    lines = []
    for other in plan.others:
        names = ", ".join(device.name or device.vendor or "" for device in other.devices if device.served)
        sentence = _("{devices} can have an environment of its own with {stack}.")
        lines += wrapped(sentence.format(devices=names, stack=_stack(other)))
    return lines


def _turned_down(plan: Plan, explained: bool) -> list[str]:
    listed = plan.turned_down if explained else plan.turned_down[:_MOST]
    lines = [style(_("Turned down"), bold=True)] if listed else []
    for candidate in listed:
        lines += wrapped(_("{candidate}: {because} ({source})").format(**structs.asdict(candidate)), "  - ", "    ")
    if len(listed) < len(plan.turned_down):
        lines += wrapped(_("… {count} more with --explain").format(count=len(plan.turned_down) - len(listed)), "    ")
    return lines


def _list_lines(title: str, items: list[str]) -> list[str]:
    lines = [style(title, bold=True)] if items else []
    return lines + [line for item in items for line in wrapped(item, "  - ", "    ")]
