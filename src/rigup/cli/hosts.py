"""`rigup doctor --host`: other machines, asked side by side over ssh; the answer, or why there is none."""

import sys
from collections.abc import Iterable

import click

from rigup.cli.guard import style
from rigup.cli.layout import columns, padded, width, wrapped
from rigup.language import _
from rigup.machine.collect.ssh import Failure
from rigup.schemas.doctor import Doctor, NotAsked
from rigup.workflows.diagnosing import HERE, Asked, of_hosts

_SHOWN_NAME = 30  # columns


def answers(hosts: Iterable[str], wake: bool = False) -> dict[str, Asked]:
    """The doctor's answer for each host, or an error as a value, in the order in which they are named."""
    return of_hosts(hosts, wake, error, can_ask=sys.stdin.isatty(), asking=_progress)


def _progress(host: str) -> None:
    if sys.stderr.isatty():
        click.echo(_("Asking {host} …").format(host=host), err=True)


# -- errors ------------------------------------------------------------------------------------------


def error(failure: Failure) -> NotAsked:
    """A failure as a value: a word for programs, what happened, what to do, and ssh's own words."""
    because, todo = {**_on_the_way(), **_at_the_door(), **_on_the_host()}[failure.kind]
    return NotAsked(error=failure.kind, because=because, next=todo, said=failure.said)


def _on_the_way() -> dict[str, tuple[str, str]]:
    trial = _("Try `ssh HOST true`; what it says there tells more.")
    checked = _("Check that it is up and that its ssh server answers: `ssh HOST true`.")
    hanging = _("Try `ssh HOST true`; where it hangs, look at the network or at a hanging disk over there.")
    return {
        "no-ssh": (_("There is no ssh program here."), _("Install OpenSSH's client.")),
        "configuration": (_("ssh does not understand its own configuration."), _("Mend what `ssh -G HOST` tells.")),
        "name": (_("ssh knows no machine of this name."), _("Check how it is written, and ~/.ssh/config.")),
        "unreachable": (_("The machine could not be reached."), checked),
        "time-out": (_("The machine did not answer in time."), hanging),
        "ssh": (_("ssh failed."), trial),
    }


def _at_the_door() -> dict[str, tuple[str, str]]:
    user = _("Try `ssh HOST true`; give ssh the right user and key, or load the key with ssh-add.")
    key = _("Connect once by `ssh HOST` and compare the key's fingerprint with what its administrator tells you.")
    return {
        "refused": (_("The machine did not let you in."), user),
        "host-key": (_("The machine's key is not known, or has changed."), key),
    }


def _on_the_host() -> dict[str, tuple[str, str]]:
    windows = _("On Windows run the script of `rigup capture --script powershell` there, then `rigup doctor --from` here.")
    login = _("Look at what its shell prints at login: `ssh HOST true` should print nothing.")
    return {
        "no-shell": (_("There is no POSIX shell on the other side."), windows),
        "cut-off": (_("The connection ended in the middle of the answer."), _("Ask again.")),
        "too-much": (_("The machine answered without end."), login),
    }


# -- what is printed ---------------------------------------------------------------------------------


def status(hosts: dict[str, Asked]) -> int:
    """2 where somebody could not be asked, 1 where something is wrong."""
    if any(isinstance(answer, NotAsked) for answer in hosts.values()):
        return 2
    return int(any(isinstance(answer, Doctor) and answer.verdict in ("broken", "degraded") for answer in hosts.values()))


def text(hosts: dict[str, Asked], verbose: int, color: bool) -> str:
    """One host's report, or a table of all and then each."""
    if len(hosts) == 1:
        return "\n".join(_host_lines(*next(iter(hosts.items())), verbose, color))
    parts = [_table(hosts)]
    parts += [[_heading(name), "", *_host_lines(name, answer, verbose, color)] for name, answer in hosts.items()]
    report_text = "\n\n".join("\n".join(part) for part in parts)
    return report_text if color else click.unstyle(report_text)


def _host_lines(name: str, answer: Asked, verbose: int, color: bool) -> list[str]:
    from rigup.cli import report

    if isinstance(answer, NotAsked):
        return _error(name, answer)
    return [report.text(answer, verbose, color=color, here=name == HERE)]


def _error(name: str, answer: NotAsked) -> list[str]:
    lines = wrapped(_("{host} could not be asked: {because}").format(host=name, because=answer.because))
    lines += wrapped(answer.next, "  ", "  ")
    return lines + [line for message in answer.said.splitlines()[-5:] for line in wrapped("ssh: " + message, "  ", "    ")]


def _heading(name: str) -> str:
    return style("── " + name + " " + "─" * max(0, width() - columns(name) - 4), bold=True)


def _table(hosts: dict[str, Asked]) -> list[str]:
    room = min(max(map(columns, hosts)), _SHOWN_NAME)
    lines = []
    for name, answer in hosts.items():
        verdict = padded(_("not asked") if isinstance(answer, NotAsked) else _(answer.verdict), 10)
        lines += wrapped(_gist(answer), padded(name, room) + "  " + verdict + "  ")
    return lines


def _gist(answer: Asked) -> str:
    """The root cause, or what is there."""
    if isinstance(answer, NotAsked):
        return str(answer.because)
    loud = [finding for finding in answer.findings if finding.severity != "note"]
    if loud:
        return str(loud[0].title)
    names = [str(device.name or device.pci_id or "GPU") for device in answer.machine.accelerators or []]
    counted = [(names.count(name), name) for name in dict.fromkeys(names)]
    return ", ".join(f"{count} x {name}" if count > 1 else name for count, name in counted) or _("no GPU")
