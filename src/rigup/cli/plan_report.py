"""A plan for a terminal: what will be there, for which devices, what must change, and each step."""

from typing import Any

from rigup.cli.layout import wrapped
from rigup.cli.report import commands
from rigup.language import _

Answer = dict[str, Any]
_MOST = 3  # builds that were turned down, where nobody asked for all


def text(plan: Answer, explained: bool = False) -> str:
    """The whole report."""
    parts = [
        _head(plan), _devices(plan), _system(plan), _steps(plan), _others(plan), _turned_down(plan, explained), _assumed(plan),
    ]  # fmt: skip
    return "\n\n".join("\n".join(part) for part in parts if part)


def _head(plan: Answer) -> list[str]:
    if plan["verdict"] == "impossible":
        told = _("Impossible. Nothing that was asked for ({wish}) can run there.").format(wish=", ".join(plan["wish"]))
        return wrapped(told) + (wrapped(plan["smallest_change"]) if plan["smallest_change"] else [])
    lines = wrapped(_left_out(plan)) if _left_out(plan) else []
    if plan["verdict"] == "ready":
        return lines + wrapped(_("Ready. What was asked for is there already."))
    stack = ", ".join(name + " " + version for name, version in plan["packages"].items() if "[" not in name)
    told = _("This machine gets {stack}, with Python {python}.")
    lines += wrapped(told.format(stack=stack, python=plan["environment"]["python"]))
    return lines + (wrapped(plan["smallest_change"]) if plan["smallest_change"] else [])


def _left_out(plan: Answer) -> str:
    """A build that leaves the GPU idle says so before all else."""
    if plan["devices"] and not any(device["served"] for device in plan["devices"]):
        return _("No GPU is served: this would run on the CPU alone.")
    return ""


def _devices(plan: Answer) -> list[str]:
    if not plan["devices"]:
        return []
    lines = [_("Devices")]
    for device in plan["devices"]:
        name = device.get("name") or device.get("pci_id") or device["vendor"]
        state = {"expected": _("served"), "on-trial": _("served, on trial"), "no": _("left out")}[device["state"]]
        lines += wrapped(f"{device['index']}  {name}: {state}. {device['because']}", "  ", "     ")
    return lines


def _system(plan: Answer) -> list[str]:
    lines = [_("What must change outside the environment")] if plan["system"] else []
    for change in plan["system"]:
        told = _("{change}: from {have} to {to}. {why}")
        said = told.format(
            change=change["change"], have=change["from"] or _("none"), to=change["to"], why=change["why"]
        )
        lines += wrapped(said, "  - ", "    ")
    return lines


def _steps(plan: Answer) -> list[str]:
    lines = [_("Steps")] if plan["steps"] else []
    for number, step in enumerate(plan["steps"], 1):
        marks = [
            _("needs root") if step["root"] else "",
            _("then restart") if step["restart"] else "",
            _state(step["state"]),
        ]
        told = ", ".join(mark for mark in marks if mark)
        lines += wrapped(f"{number}. {step['title']}" + (f" ({told})" if told else ""), "  ", "     ")
        lines += ["     " + command for command in commands(step)]
    return lines


def _state(state: str) -> str:
    return {"satisfied": _("is there"), "blocked": _("blocked")}.get(state, "")


def _others(plan: Answer) -> list[str]:
    lines = []
    for other in plan["others"]:
        names = ", ".join(device.get("name") or device["vendor"] for device in other["devices"] if device["served"])
        stack = ", ".join(f"{name} {version}" for name, version in other["packages"].items())
        told = _("{devices} can have an environment of its own with {stack}.")
        lines += wrapped(told.format(devices=names, stack=stack))
    return lines


def _turned_down(plan: Answer, explained: bool) -> list[str]:
    told = plan["turned_down"] if explained else plan["turned_down"][:_MOST]
    lines = [_("Turned down")] if told else []
    for one in told:
        lines += wrapped(f"{one['candidate']}: {one['because']} ({one['source']})", "  - ", "    ")
    if len(told) < len(plan["turned_down"]):
        lines += wrapped(_("… {count} more with --explain").format(count=len(plan["turned_down"]) - len(told)), "    ")
    return lines


def _assumed(plan: Answer) -> list[str]:
    lines = [_("Taken for granted")] if plan["assumed"] else []
    return lines + [line for told in plan["assumed"] for line in wrapped(told, "  - ", "    ")]
