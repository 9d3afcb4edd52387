"""The answer of `rigup verify`, as data in the shape of `rigup.schemas.verify`. Nothing is printed here."""

from collections.abc import Iterator
from typing import Any

from rigup.language import _
from rigup.machine.store import Facts
from rigup.verify.covered import left_out
from rigup.verify.judge import fallbacks, judge
from rigup.verify.matching import matched
from rigup.verify.observe import Death, Observed, Seen
from rigup.verify.words import died

Answer = dict[str, Any]
SCHEMA = "rigup.verify/1"
FOR_CPUS = ("numpy",)  # frameworks of which nobody expects that they list a GPU
_OF_THIS_MACHINE = "of-this-machine"
_NEEDED = ("evidence", _OF_THIS_MACHINE)  # checks without whose answer nothing is proven
_NO_WORDS = (
    "rigup:",
    "warning:",
    'File "',
    "Current thread 0x",
    "Thread 0x",
    "Extension modules:",
    "<no Python frame>",
)
_MASKS = {"nvidia": ("CUDA_VISIBLE_DEVICES",), "amd": ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"),
          "intel": ("ONEAPI_DEVICE_SELECTOR", "ZE_AFFINITY_MASK")}  # fmt: skip


def answer(observed: Observed, machine: Answer, facts: Facts, full: bool, wanted: list[str]) -> Answer:
    """The contract's object. `machine` is the doctor's, with the state of each of its devices."""
    devices = [{**device, "checks": []} for device in machine.get("accelerators") or []]
    cpu = {"name": _cpu(machine), "checks": []}
    for seen in (*observed.frameworks, *observed.companions):
        _add(seen, devices, cpu)
    if not wanted:
        _unlisted(observed, devices, facts)
    judged = [*devices, cpu] if cpu["checks"] else devices
    frameworks = [_framework(seen) for seen in observed.frameworks]
    companions = [_framework(seen) for seen in observed.companions]
    for device in judged:
        _state(device)
    return {
        "schema": SCHEMA, "verdict": _verdict(judged, [*frameworks, *companions]), "mode": "full" if full else "quick",
        "environment": {"prefix": observed.prefix, "interpreter": observed.python, "python": observed.version},
        "packages": observed.packages, "frameworks": frameworks, "companions": companions, "devices": judged,
        "not_covered": left_out(observed, judged, full),
    }  # fmt: skip


def _cpu(machine: Answer) -> str:
    found = [cpu.get("model") or cpu.get("name") for cpu in machine.get("cpus") or []]
    return str(next(filter(None, found), "CPU"))


def _framework(seen: Seen) -> Answer:
    """What was seen of a framework as a whole: its version, and whether it could be imported at all."""
    told: Answer = {"name": seen.name, "imported": bool(seen.about), "listed": seen.listed}
    told |= {"version": seen.about["version"], "import_seconds": round(seen.about["seconds"], 2)} if seen.about else {}
    told |= {"build": seen.about["build"]} if seen.about.get("build") else {}
    told |= {"exit_status": seen.status} if seen.done and seen.status else {}
    if not seen.listed or (seen.deaths and not seen.deaths[-1].device):
        last = seen.deaths[-1] if seen.deaths else None
        told["because"] = _ended(last) if last else ""
        told["said"] = last_line(seen.said)
    return told


def _ended(last: Death) -> str:
    """How it ended; status 1 is how Python ends after an error."""
    if (last.why, last.number) == ("status", 1):
        return _("Python ended with an error.")
    return died({"died": last.why, "number": last.number})


def last_line(said: bytes) -> str:
    """What it said last that is no mark of ours, nor of a stack's."""
    lines = [line.strip() for line in said.decode("utf-8", "replace").splitlines()]
    return next((line[:500] for line in reversed(lines) if line and not line.startswith(_NO_WORDS)), "")


def _add(seen: Seen, devices: list[Answer], cpu: Answer) -> None:
    """The checks of one framework, each at the device that it was made on."""
    places = matched([one for one in seen.devices if one["id"] != "cpu"], devices)
    for one in seen.devices:
        checks = [{"framework": seen.name, "device": one["id"], **check} for check in _checks(seen, one["id"])]
        if one["id"] == "cpu":
            cpu["checks"] += checks
        elif checks:
            target = devices[places[one["id"]]] if one["id"] in places else _new(devices)
            _complete(target, one)
            target["checks"] += checks
            if one["id"] not in places:
                told = _("This machine shows no such device: what it is cannot be told.")
                target["checks"].append(
                    {
                        "framework": seen.name,
                        "device": one["id"],
                        "name": _OF_THIS_MACHINE,
                        "seconds": 0.0,
                        "because": told,
                    }
                )


def _new(devices: list[Answer]) -> Answer:
    """A device that the framework lists and nobody else has seen."""
    made: Answer = {"index": len(devices), "checks": []}
    devices.append(made)
    return made


def _complete(target: Answer, one: Answer) -> None:
    """What the framework knows of a device and the machine's facts do not."""
    for key in ("vendor", "name", "isa", "pci_address"):
        if one.get(key) and not target.get(key):
            target[key] = one[key]
    if one.get("properties"):
        target.setdefault("properties", one["properties"])


def _checks(seen: Seen, device: str) -> Iterator[Answer]:
    """All of one device, in the order in which they were made."""
    mine = {name: record for (one, name), record in seen.records.items() if one == device}
    yield from (judge(name, record) for name, record in mine.items())
    if device != "cpu" and (told := fallbacks(mine)):
        yield told
    if device in seen.left:
        told = {"name": "rest", "seconds": 0.0}
        yield told | {"because": _("What comes after it was not tried: this device has ended the process.")}


def _unlisted(observed: Observed, devices: list[Answer], facts: Facts) -> None:
    """A GPU that no framework lists, where one ought to: its build is for this maker, or it serves no GPU at all."""
    from rigup.diagnosis.states import made_for
    from rigup.machine.kinds import Torch, Variable

    set_ = {variable.get("name") for variable in facts.of(Variable) if variable.get("value") is not None}
    builds = [torch for torch in facts.of(Torch) if torch.get("env") == observed.prefix]
    served = any(device["checks"] for device in devices)
    for device in devices:
        vendor = str(device.get("vendor"))
        hidden = [name for name in _MASKS.get(vendor, ()) if name in set_]
        ought = any(made_for(torch, vendor, facts) for torch in builds) or (not served and not device.get("integrated"))
        if device["checks"] or not any(seen.listed for seen in observed.frameworks if seen.name not in FOR_CPUS):
            continue
        if hidden:
            device["because"] = _("{variable} hides it from this process.").format(variable=hidden[0])
        elif ought:
            told = _("No framework of this environment lists this GPU.")
            device["checks"].append({"name": "listed", "passed": False, "seconds": 0.0, "because": told})


def _untold(device: Answer) -> list[Answer]:
    """Checks that were to show whether the device itself did the work, and do not."""
    return [check for check in device["checks"] if check["name"] in _NEEDED and "passed" not in check]


def _state(device: Answer) -> None:
    """Verified where all was passed; what was not judged keeps the doctor's word."""
    judged = [check for check in device["checks"] if "passed" in check]
    bad = [check for check in judged if not check["passed"]]
    if bad:
        told = _("it did not pass: {names}").format(names=", ".join(dict.fromkeys(check["name"] for check in bad)))
        device.update(state="no", because=told, next="rigup doctor")
    elif untold := _untold(device):
        told = _("it computes right; whether the device did it cannot be told. {because}")
        device.update(state="expected", because=told.format(because=untold[0].get("because", "")), next="")
    elif judged:
        frameworks = ", ".join(dict.fromkeys(check["framework"] for check in judged))
        told = _("all checks were passed ({count}, with {frameworks})").format(count=len(judged), frameworks=frameworks)
        device.update(state="verified", because=told, next="")


def _verdict(devices: list[Answer], frameworks: list[Answer]) -> str:
    """Verified needs something that was proven, nothing that failed, and no device of which it cannot be told."""
    judged = [check["passed"] for device in devices for check in device["checks"] if "passed" in check]
    if not all(judged) or any("because" in one for one in frameworks):
        return "failed"
    if any(map(_untold, devices)):
        return "nothing-to-verify"  # something was asked whose part in it cannot be told
    return "verified" if judged else "nothing-to-verify"
