"""Whether a plan is what a pair expects of it: the keys of an expectation, one function each."""

import fnmatch
import json
import re


def faults(plan, expect):
    """One line for each thing that is not as expected."""
    return [line for key, want in expect.items() for line in _KEYS[key](plan, want)]


def occurs(token, text):
    """Any of the words that stand between bars, whatever their case."""
    return any(word in str(text).lower() for word in token.lower().split("|"))


def among(patterns, value):
    return any(fnmatch.fnmatchcase(str(value), one) for one in ([patterns] if isinstance(patterns, str) else patterns))


def fits(version, want):
    """A version is the one that is wanted, or within its bounds; True is any, None is absence."""
    if version is None or want in (None, True):
        return (version is None) == (want is None)
    low, high = (want.get("min", "0"), want.get("max", "9999")) if isinstance(want, dict) else (want, want)
    return _numbers(low) <= _numbers(version) <= _numbers(high)


def _numbers(version):
    return [int(number) for number in re.findall(r"\d+", version.split("+")[0])]


def _torch(plan):
    return str(plan["packages"].get("torch"))


def _commands(plan):
    return "\n".join(" ".join(map(str, argv)) for step in plan["steps"] for argv in step.get("commands") or [])


def _shown(plan):
    return _commands(plan) + json.dumps([plan["packages"], plan["indexes"], plan["variables"]])


def _reasons(plan):
    told = [plan["turned_down"], plan["smallest_change"], [change["why"] for change in plan["system"]]]
    return json.dumps([*told, [one["because"] for one in (*plan["devices"], *plan["steps"])]], ensure_ascii=False)


def _drivers(plan):
    return [change for change in plan["system"] if "driver" in change["change"]]


def _verdict(plan, want):
    return [] if among(want, plan["verdict"]) else [f"verdict {plan['verdict']}, wanted {want}"]


def _variant(plan, want):
    right = "torch" in plan["packages"] and among(want, _torch(plan).partition("+")[2] or "none")
    return [] if right else [f"torch {_torch(plan)}, wanted one of {want}"]


def _packages(plan, want):
    have = plan["packages"]
    return [f"{name} {have.get(name)}, wanted {one}" for name, one in want.items() if not fits(have.get(name), one)]


def _python(plan, want):
    python = re.sub(r"^(\d+\.\d+)[\d.]*(t?).*", r"\1\2", str(plan["environment"]["python"]))
    return [] if python in want else [f"Python {python}, wanted one of {want}"]


def _variables(plan, want):
    have = plan["variables"]
    return [f"{name}={have.get(name)}" for name, one in want.items() if not among(one, have.get(name))]


def _system(plan, want):
    return [f"driver {_drivers(plan)}"] if want != "either" and bool(_drivers(plan)) != bool(want) else []


def _system_to(plan, want):
    return [] if any(occurs(want, change["to"]) for change in _drivers(plan)) else [f"driver {_drivers(plan)}"]


def _served(plan, want):
    wrong = []
    for token, right in want.items():
        have = [d["served"] for d in plan["devices"] if occurs(token, f"{d.get('name')} {d.get('isa')} {d.get('pci_id')}")]
        excused = right is False and not have and plan["verdict"] == "impossible"
        wrong += [] if right in have or excused else [f"{token}: served {have}"]
    return wrong


def _needs(plan, need):
    return [f"needs {need}: {step['title']}" for step in plan["steps"] if step[need] and step["state"] == "needed"]


def _any_of(plan, want):
    tried = [faults(plan, one) for one in want]
    return [] if not all(tried) else [f"none of {tried}"]


_KEYS = {
    "verdict": _verdict,
    "torch_variant": _variant,
    "packages": _packages,
    "python_in": _python,
    "variables": _variables,
    "torch_version": lambda plan, want: _packages(plan, {"torch": want}),
    "no_variables": lambda plan, want: [f"{name} is set" for name in plan["variables"] if among(want, name)],
    "system_change": _system,
    "system_to": _system_to,
    "served": _served,
    "any_of": _any_of,
    "has": lambda plan, want: [f"{one} is missing" for one in want if not occurs(one, _shown(plan))],
    "forbidden": lambda plan, want: [f"{one} in the commands" for one in want if occurs(one, _commands(plan))],
    "turned_down_mentions": lambda plan, want: [f"{one} is not said" for one in want if not occurs(one, _reasons(plan))],
    "no_root_steps": lambda plan, _want: _needs(plan, "root"),
    "network_blocked": lambda plan, _want: _needs(plan, "network"),
}
