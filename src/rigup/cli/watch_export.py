"""`rigup watch --exporter`: series for Prometheus, in the foreground or as a service of systemd."""

import contextlib
import ipaddress
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import click

from rigup.cli.layout import wrapped
from rigup.language import _

NAME = "rigup-watch"


def address_of(listen: str) -> tuple[str, int]:
    """HOST:PORT, :PORT or a port. Raises click.UsageError."""
    host, _colon, port = listen.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not port.isdecimal() or not port.isascii() or not int(port[:6]) < 65536:
        raise click.UsageError(
            _("{listen} is no address to listen on: say HOST:PORT.").format(listen=repr(listen)[:80])
        )
    return host, int(port)


def export(listen: str, interval: float, per_process: bool, token_file: str | None) -> int:
    """Serve until somebody ends it."""
    from rigup.watch.exporter import Exporter, Server
    from rigup.watch.watcher import Watcher

    host, port = address_of(listen)
    token = token_in(token_file)
    if not token and not is_loopback(host):
        raise click.UsageError(_("Other machines are let in with a token alone: name its file with --token-file."))
    watcher = Watcher(anonymous=True)
    exporter = Exporter(watcher.sample, interval, per_process)
    with contextlib.closing(watcher), Server(exporter, host, port, token) as serving:
        bound = serving.server_address[1]
        shown = f"[{host}]" if ":" in host else host
        click.echo(
            "\n".join(
                wrapped(
                    _("Prometheus can scrape http://{host}:{port}/metrics. Ctrl-C ends it.").format(
                        host=shown, port=bound
                    )
                )
            ),
            err=True,
        )
        signal.signal(
            signal.SIGTERM, lambda _number, _frame: threading.Thread(target=serving.shutdown, daemon=True).start()
        )
        exporter.start()
        with contextlib.suppress(KeyboardInterrupt):
            serving.serve_forever()
        exporter.stop()
    return 0


def token_in(path: str | None) -> str:
    """What a file holds, "" for none. Raises click.ClickException where that is no token."""
    if not path:
        return ""
    content = Path(path).read_text(encoding="utf-8")[:4096].strip()
    if not content.isascii() or not content.isprintable() or len(content) < 16:
        raise click.ClickException(_("{path} holds no token of at least 16 letters and digits.").format(path=path))
    return content


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine comes there."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def service(words: dict[str, Any], remove: bool, yes: bool) -> int:
    """Make the exporter a service of the person's systemd, or take it away; by steps that undo takes back."""
    from rigup.cli.run import unit_text
    from rigup.cli.taking import RunOptions, go
    from rigup.llm.server.service import has_systemd, unit_file
    from rigup.plan.applying.journal import Intent
    from rigup.steps import KINDS, make
    from rigup.workflows.environments import surroundings_of

    if not has_systemd():
        click.echo("\n".join(wrapped(_("No systemd runs this machine, so nothing was changed."))))
        return 1
    place = {"service": NAME, "folder": str(unit_file(os.environ).parent)}
    if remove:
        steps = [make("drop-user-service", place, KINDS)]
    else:
        address_of(words["listen"])
        argv = [
            sys.executable,
            "-m",
            "rigup",
            "watch",
            "--exporter",
            "--listen",
            words["listen"],
            "--interval",
            str(words["interval"]),
        ]
        argv += ["--per-process"] if words["per_process"] else []
        argv += ["--token-file", os.path.abspath(words["token_file"])] if words["token_file"] else []
        text = unit_text(NAME, surroundings_of(None), {}, tuple(argv), os.path.expanduser("~"))
        because = _("Prometheus scrapes it; systemd starts it again where it fails.")
        steps = [make("user-service", {**place, "text": text}, KINDS, because=because)]
    run = RunOptions(yes=yes, dry_run=not yes, quiet=False, as_json=False, schema="rigup.apply/1")
    status = go(Intent(title=_("service of rigup watch"), steps=steps), run)
    if not yes and not status:
        click.echo(_("With --yes it is done."))
    return status
