"""A plan for a terminal: what will be there, for which devices, what it costs, what must change, and each step."""

import subprocess
from typing import Any

import click

from rigup.cli.layout import wrapped
from rigup.cli.report import aside, commands, places
from rigup.language import _, sentences
from rigup.stack.words import change_name

Answer = dict[str, Any]
_MOST = 3  # builds that were turned down, where nobody asked for all
_GIGA = 10**9


def text(plan: Answer, explained: bool = False) -> str:
    """The whole report."""
    parts = [
        _head(plan), _devices(plan), _system(plan), _steps(plan, explained), _mends(plan), _others(plan),
        _turned_down(plan, explained),
        _listed(_("Mind"), plan.get("warnings", [])), _listed(_("Taken for granted"), plan["assumed"]),
    ]  # fmt: skip
    return "\n\n".join("\n".join(part) for part in parts if part)


# -- what will be there, and what it costs -----------------------------------------------------------


def _head(plan: Answer) -> list[str]:
    if plan["verdict"] == "impossible":
        told = _("Impossible. Nothing that was asked for ({wish}) can run there.").format(wish=", ".join(plan["wish"]))
        return wrapped(told) + _smallest(plan)
    lines = wrapped(_left_out(plan)) if _left_out(plan) else []
    if plan["verdict"] == "ready":
        there = _("It is {stack}, with Python {python}.").format(
            stack=_stack(plan), python=plan["environment"]["python"]
        )
        return lines + wrapped(sentences(_("Ready. What was asked for is there already."), there)) + _smallest(plan)
    told = _("This machine gets {stack}, with Python {python}.")
    lines += wrapped(told.format(stack=_stack(plan), python=plan["environment"]["python"]))
    return lines + _smallest(plan) + _cost(plan["cost"]) + _counted_on(plan)


def _smallest(plan: Answer) -> list[str]:
    return wrapped(plan["smallest_change"]) if plan["smallest_change"] else []


def _stack(plan: Answer) -> str:
    """Packages by their own names; one with an extra stands under its plain name too."""
    told = [f"{name} {version}".strip() for name, version in plan["packages"].items() if "[" not in name]
    return ", ".join(told or plan["requirements"])


def _counted_on(plan: Answer) -> list[str]:
    """Where the packages are to come from: nobody has asked yet whether it answers."""
    installs = [
        argv for step in plan["steps"] if step["state"] == "needed" for argv in step["commands"] if "install" in argv
    ]
    own = any("pip" in argv and "--index-url" not in argv for argv in installs)
    places = [*plan["indexes"], *([_("the default index")] if own else [])]
    if not installs or not places:
        return []
    told = _("It counts on {places}; whether they answer is tried when the steps are taken.")
    return wrapped(told.format(places=", ".join(places)))


def _left_out(plan: Answer) -> str:
    """A build that leaves the GPU idle says so before all else."""
    known = plan["packages"] or not plan["requirements"]
    if known and plan["devices"] and not any(device["served"] for device in plan["devices"]):
        return _("No GPU is served: this would run on the CPU alone.")
    return ""


def _cost(cost: Answer) -> list[str]:
    """Gigabytes, time, restarts, root: known before anything is begun."""
    lines = wrapped(sentences(_bytes(cost), _needs(cost)))
    if cost["not_counted"] and cost["download_bytes"]:
        names = ", ".join(cost["not_counted"][:_MOST]) + (" …" if len(cost["not_counted"]) > _MOST else "")
        lines += wrapped(_("Not counted, for nobody has measured it: {names}.").format(names=names))
    return lines


def _bytes(cost: Answer) -> str:
    if not cost["download_bytes"]:
        return _("How much there is to download, nobody has measured.") if cost["not_counted"] else ""
    about = "" if cost["exact"] else _("about") + " "
    told = _("It takes {about}{download} GB to download").format(
        about=about, download=_gigabytes(cost["download_bytes"])
    )
    if cost["seconds"] is not None:
        told += _(" ({time} on this link)").format(time=_time(cost["seconds"]))
    if cost["disk_bytes"]:
        told += _(" and {disk} GB on the disk").format(disk=_gigabytes(cost["disk_bytes"]))
    return _("{sentence}.").format(sentence=told)


def _needs(cost: Answer) -> str:
    root = _("Some steps need root") if cost["root"] else _("Nothing needs root")
    restarts = cost["restarts"]
    if not restarts:
        return (_("{root}, and there is no restart.")).format(root=root)
    again = _("one restart") if restarts == 1 else _("{count} restarts").format(count=restarts)
    return _("{root}, and there is {again}.").format(root=root, again=again)


def _gigabytes(size: int) -> str:
    return f"{size / _GIGA:.1f}" if size >= _GIGA / 10 else f"{size / _GIGA:.2f}"


def _time(seconds: int) -> str:
    if seconds < 90:
        return _("{count} s").format(count=seconds)
    minutes = round(seconds / 60)
    return _("{count} min").format(count=minutes) if minutes < 120 else _("{count} h").format(count=round(minutes / 60))


# -- devices and the system --------------------------------------------------------------------------


def _devices(plan: Answer) -> list[str]:
    if not plan["devices"]:
        return []
    lines, told = [click.style(_("Devices"), bold=True)], _("{name}: {state}. {because}")
    for device in plan["devices"]:
        name = device.get("name") or device.get("pci_id") or device["vendor"]
        state = {"expected": _("served"), "on-trial": _("served, on trial"), "no": _("left out")}[device["state"]]
        lines += wrapped(
            told.format(name=name, state=state, because=device["because"]), f"  {device['index']}  ", "     "
        )
    return lines


def _system(plan: Answer) -> list[str]:
    lines = [click.style(_("What must change outside the environment"), bold=True)] if plan["system"] else []
    for change in plan["system"]:
        name = change_name(change["change"])
        lines += wrapped(
            _said(change).format(change=name, have=change["from"], to=change["to"], why=change["why"]), "  - ", "    "
        )
    return lines


def _said(change: Answer) -> str:
    if not change["from"]:
        return _("{change}: {to}. {why}")
    if change["from"] == change["to"]:
        return _("{change}: another build of {to}. {why}")
    return _("{change}: {to} in place of {have}. {why}")


# -- steps -------------------------------------------------------------------------------------------


def _steps(plan: Answer, explained: bool) -> list[str]:
    return steps_text(plan["steps"], explained, plan["environment"]["system"] == "windows")


def steps_text(steps: list[Answer], explained: bool = False, windows: bool = False) -> list[str]:
    """Each step with where it is done, what it needs, and its commands as a person types them on the system."""
    lines = [click.style(_("Steps"), bold=True)] if steps else []
    for number, step in enumerate(steps, 1):
        told = step["title"] + aside(mark for mark in _marks(step) if mark)
        lines += wrapped(told, f"{number:>3}. ", "     ")
        if step["because"] and (explained or step["state"] == "blocked" or not step["commands"]):
            lines += wrapped(step["because"], "     ", "     ")
        typed = [subprocess.list2cmdline(argv) for argv in step["commands"]] if windows else commands(_in_short(step))
        lines += ["     " + command for command in typed if step["state"] != "satisfied"]
    return lines


def _in_short(step: Answer) -> Answer:
    """A program that stands in a command as text is not read by anybody; `--json` and `--dry-run` have it."""
    argvs = [["…" if "\n" in word else word for word in argv] for argv in step["commands"]]
    return {**step, "commands": argvs}


def _marks(step: Answer) -> list[str]:
    """Where it is done, what it needs, whether it is done already."""
    restart = step["restart"] and step["kind"] != "restart-machine" and step["where"] != "here"
    return [
        {"satisfied": _("is there"), "blocked": _("blocked")}.get(step["state"], ""),
        places().get(step["where"], "") or (_("by hand") if step["where"] == "by-hand" else ""),
        _("needs root") if step["root"] and step["where"] != "windows-host" else "",
        _("then restart") if restart else "",
        _("removes what is there") if step["tag"] == "destructive" else "",
    ]


def _mends(plan: Answer) -> list[str]:
    """The doctor's findings that are gone afterwards."""
    told = [_("{title} ({cause})").format(title=one["title"], cause=one["cause"]) for one in plan.get("mends", [])]
    return _listed(_("What this mends"), told)


# -- the rest ----------------------------------------------------------------------------------------


def _others(plan: Answer) -> list[str]:
    lines = []
    for other in plan["others"]:
        names = ", ".join(device.get("name") or device["vendor"] for device in other["devices"] if device["served"])
        told = _("{devices} can have an environment of its own with {stack}.")
        lines += wrapped(told.format(devices=names, stack=_stack(other)))
    return lines


def _turned_down(plan: Answer, explained: bool) -> list[str]:
    told = plan["turned_down"] if explained else plan["turned_down"][:_MOST]
    lines = [click.style(_("Turned down"), bold=True)] if told else []
    for one in told:
        lines += wrapped(_("{candidate}: {because} ({source})").format(**one), "  - ", "    ")
    if len(told) < len(plan["turned_down"]):
        lines += wrapped(_("… {count} more with --explain").format(count=len(plan["turned_down"]) - len(told)), "    ")
    return lines


def _listed(title: str, told: list[str]) -> list[str]:
    lines = [click.style(title, bold=True)] if told else []
    return lines + [line for one in told for line in wrapped(one, "  - ", "    ")]
