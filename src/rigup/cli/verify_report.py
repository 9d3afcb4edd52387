"""The answer of `rigup verify` as a person reads it: verdict, each device, what it did not pass, and why."""

from collections.abc import Iterator

import click
from msgspec import UNSET, UnsetType

from rigup.cli.bench_report import seconds_text
from rigup.cli.guard import style
from rigup.cli.layout import columns, padded, wrapped
from rigup.language import _
from rigup.schemas.verify import Check, CheckedDevice, NotCovered, Verify

_COLORS = {"verified": "green", "failed": "red", "nothing-to-verify": "yellow"}
_SHOWN = 4  # of what was not covered, without `-v`
_MARKS: dict[bool | UnsetType, str] = {True: "green", False: "red", UNSET: "yellow"}


def text(answer: Verify, verbose: bool = False, color: bool = False) -> str:
    """The whole report."""
    parts = [
        _head(answer),
        _frameworks(answer),
        *[_device(device, verbose) for device in answer.devices],
        _missing(answer),
        _left_out(answer, verbose),
        _record(answer),
        _why(answer),
        _end(answer, verbose),
    ]
    report = "\n\n".join("\n".join(part) for part in parts if part)
    return report if color else click.unstyle(report)


def _head(answer: Verify) -> list[str]:
    meaning = {
        "verified": _("This environment computes right on every device that was asked."),
        "failed": _("This environment does not compute right, or not where it should."),
        "nothing-to-verify": _("There is no framework in this environment whose devices could be asked."),
    }[answer.verdict]
    name = {"verified": _("Verified"), "failed": _("Failed"), "nothing-to-verify": _("Nothing to verify")}[answer.verdict]
    if _unverified_devices(answer):
        name = _("Not verified")
        meaning = _("What was asked computes right, but not of every device can it be told whether it did the work.")
    marked = style(name, fg=_COLORS[answer.verdict], bold=True)
    return wrapped(_("{verdict}. {meaning}").format(verdict=marked, meaning=meaning))


def _unverified_devices(answer: Verify) -> bool:
    """Whether there are devices that compute, and nothing shows that they themselves do."""
    return answer.verdict == "nothing-to-verify" and any(device.checks for device in answer.devices)


def _frameworks(answer: Verify) -> list[str]:
    """What ran, and what could not be imported."""
    lines = wrapped(_("It ran with {python}.").format(python=answer.environment.interpreter))
    for framework in [*answer.frameworks, *answer.companions]:
        named = framework.name + (" " + framework.version if framework.version else "")
        if not framework.imported:
            named = _("{framework} could not be imported. {because}").format(framework=named, because=framework.because or "")
        elif framework.because is not UNSET:
            told_why = _("{framework} could not list its devices. {because}")
            named = told_why.format(framework=named, because=framework.because)
        lines += wrapped(named, "  - ", "    ")
        lines += wrapped(framework.said, "    ", "    ") if framework.said else []
    return lines


def _device(device: CheckedDevice, verbose: bool) -> list[str]:
    """A device, its state, and each check that it did not pass; all of them where asked for."""
    from rigup.cli.overview import state_names

    name = device.name or device.pci_id or device.vendor or "GPU"
    names = ", ".join(dict.fromkeys(check.device for check in device.checks if check.device is not UNSET))
    lines = [style(name, bold=True) + (f"  {names}" if names else "")]
    if device.state:
        sentence = _("{state}: {because}").format(state=state_names()[device.state], because=device.because)
        lines += wrapped(sentence, "  ", "  ")
    shown = [check for check in device.checks if verbose or check.passed is False]
    several = len({check.framework for check in device.checks} - {UNSET}) > 1
    called = [_called(check, several) for check in shown]
    room = max(map(columns, called), default=0)
    return lines + [line for check, name in zip(shown, called, strict=True) for line in _check(check, padded(name, room))]


def _called(check: Check, several: bool) -> str:
    """A check's name, with its framework's where there are several."""
    return " ".join(filter(None, [(check.framework or "") if several else "", check.name]))


def _check(check: Check, name: str) -> Iterator[str]:
    marks: dict[bool | UnsetType, str] = {True: _("passed"), False: _("failed"), UNSET: _("not judged")}
    detail = check.because or _measured(check)
    start = "  " + name + "  " + style(marks[check.passed], fg=_MARKS[check.passed])
    yield from wrapped(detail, start + "  ", "      ") if detail else [start]


def _measured(check: Check) -> str:
    """The measured value beside the expected one, where both are one number."""
    measured, expected = check.measured, check.expected
    if not isinstance(measured, dict) or not isinstance(measured.get("error"), float):
        return ""
    most = expected.get("error") if isinstance(expected, dict) else None
    return _("off by {error}, at most {most}").format(error=f"{measured['error']:.1e}", most=f"{most:.1e}")


def _missing(answer: Verify) -> list[str]:
    """What a person may have expected and was not asked."""
    if answer.verdict == "nothing-to-verify" and not _unverified_devices(answer):
        return wrapped(
            _(
                "It has neither torch, TensorFlow, JAX, NumPy, onnxruntime nor llama.cpp. `rigup apply torch` makes an environment that has torch."
            )
        )
    if answer.verdict == "verified" and all(device.index is UNSET for device in answer.devices):
        return wrapped(_("Only the processor was asked: this machine shows no GPU."))
    return []


def _left_out(answer: Verify, verbose: bool) -> list[str]:
    """What was not covered: all of it where asked for, else in one line."""
    if not answer.not_covered:
        return []
    lines = wrapped(_("Not covered:"))
    told_all = list(dict.fromkeys(map(_unasked, answer.not_covered)))
    for sentence in told_all if verbose else told_all[-_SHOWN:]:  # what concerns everybody stands last
        lines += wrapped(sentence, "  - ", "    ")
    if not verbose and len(told_all) > _SHOWN:
        lines += wrapped(_("and {count} more with -v").format(count=len(told_all) - _SHOWN), "  - ", "    ")
    return lines


def _unasked(part: NotCovered) -> str:
    """What was not covered, as a person reads it: a check by its name, what concerns all of it by a sentence."""
    if part.device is UNSET and part.framework is UNSET and part.what in ("distributed", "full"):
        return part.because
    named = " ".join(filter(None, [part.framework or "", part.device or "", part.what]))
    return _("{name}: {because}").format(name=named, because=part.because)


def _end(answer: Verify, verbose: bool) -> list[str]:
    """How long it took, and how to see more."""
    took = _("It took {seconds} s.").format(seconds=seconds_text(answer.seconds))
    more = "" if verbose or not any(device.checks for device in answer.devices) else _("`-v` shows every check.")
    return wrapped(_("{first} {second}").format(first=took, second=more).strip())


def _record(answer: Verify) -> list[str]:
    if not answer.record or answer.verdict != "verified":
        return []
    template = _("The proof is kept in {path}, and `rigup doctor` counts on it as long as its facts hold.")
    return wrapped(template.format(path=answer.record))


def _why(answer: Verify) -> list[str]:
    """What the doctor finds."""
    if not answer.diagnosis:
        return []
    from rigup.cli.report import finding, grouped, loud

    found = [shown for shown in grouped(answer.diagnosis.findings) if loud(shown)]
    if not found and (unexplained := answer.diagnosis.unexplained):
        unknown = _(
            "No cause that rigup knows accounts for what was heard: {names}. An environment that is broken is made anew by `rigup apply`; `rigup capture` gathers what others need to look at it."
        )
        return wrapped(unknown.format(names=", ".join(unexplained)))
    if not found:
        return wrapped(_("The doctor finds nothing that explains it: neither in what was printed nor on this machine."))
    return [line for number, shown in enumerate(found) for line in [*([""] if number else []), *finding(shown, 0, number == 0)]]
