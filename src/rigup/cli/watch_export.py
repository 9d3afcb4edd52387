"""`rigup watch --exporter`: series for Prometheus, in the foreground or as a service of systemd."""

import contextlib
import ipaddress
import os
import signal
import socket
import sys
import threading
from pathlib import Path
from typing import Any

import click

from rigup.cli.lasting import lasts
from rigup.cli.layout import wrapped
from rigup.language import _


def address_of(listen: str) -> tuple[str, int]:
    """HOST:PORT, :PORT or a port. Raises click.UsageError."""
    host, _colon, port = listen.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not port.isdecimal() or not port.isascii() or not int(port[:6]) < 65536:
        raise click.UsageError(_("{listen} is no address to listen on: say HOST:PORT.").format(listen=repr(listen)[:80]))
    return host, int(port)


def export(words: dict[str, Any]) -> int:
    """Serve until somebody ends it."""
    from rigup.watch.exporter import Exporter, Server
    from rigup.watch.sampler import Sampler

    lasts()
    host, port = address_of(words["listen"])
    token = token_in(words["token_file"])
    if not token and not is_loopback(host):
        raise click.UsageError(_("Other machines are let in with a token alone: name its file with --token-file."))
    sampler = Sampler(anonymous=True)
    name = None if words["names"] != "dcgm" else "" if words["anonymous"] else socket.gethostname()
    exporter = Exporter(sampler.sample, words["interval"], words["per_process"], name)
    with contextlib.closing(sampler), Server(exporter, host, port, token) as serving:
        bound = serving.server_address[1]
        shown = f"[{host}]" if ":" in host else host
        click.echo(
            "\n".join(wrapped(_("Prometheus can scrape http://{host}:{port}/metrics. Ctrl-C ends it.").format(host=shown, port=bound))),
            err=True,
        )
        signal.signal(signal.SIGTERM, lambda _number, _frame: threading.Thread(target=serving.shutdown, daemon=True).start())
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
    from rigup.cli.user_service import Service
    from rigup.cli.user_service import service as user_service

    if not remove:
        address_of(words["listen"])
    wanted = Service(
        command="watch",
        title=_("service of rigup watch"),
        words=lambda _key: _argv(words),
        key=False,
        notes=lambda _key: [_("Prometheus scrapes it at {address}.").format(address=words["listen"])],
        kept="",
    )
    return user_service(wanted, removal=remove, yes=yes, as_json=False)


def _argv(words: dict[str, Any]) -> tuple[str, ...]:
    """The exporter's command line, with whole paths."""
    argv = [sys.executable, "-m", "rigup", "watch", "--exporter", "--listen", words["listen"], "--interval", str(words["interval"])]
    argv += ["--per-process"] if words["per_process"] else []
    argv += ["--names", words["names"]] if words["names"] != "rigup" else []
    argv += ["--anonymous"] if words["anonymous"] else []
    return (*argv, *(["--token-file", os.path.abspath(words["token_file"])] if words["token_file"] else []))
