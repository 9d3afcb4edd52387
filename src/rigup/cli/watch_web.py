"""`rigup watch --web` and `rigup watch cluster`: machines in a browser, and nodes by their exporters in a table."""

import contextlib
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import click
from msgspec import UNSET

from rigup.cli.failing import WrongRequest
from rigup.cli.lasting import lasts
from rigup.cli.layout import wrapped
from rigup.cli.watch_export import address_of as listening_at
from rigup.cli.watch_export import is_loopback, token_in
from rigup.language import _, current
from rigup.schemas.watch import Watch
from rigup.visible import visible
from rigup.watch.nodes import Node, Replayed
from rigup.watch.scrape import NoAnswer, address_of, scrape

_MOST_NODES = 256


def serve(options: dict[str, Any]) -> int:
    """Serve the page until somebody ends it."""
    try:
        import uvicorn

        from rigup.watch.web.app import Page
    except ImportError as error:
        raise WrongRequest(_("The page needs Starlette and uvicorn: pip install 'rigup[web]'.")) from error

    lasts()
    host, port = listening_at(options["listen"] or "127.0.0.1:0")
    token = token_in(options["token_file"]) or secrets.token_urlsafe(24)
    if not is_loopback(host) and not options["token_file"]:
        raise click.UsageError(_("Other machines are let in with a token alone: name its file with --token-file."))
    nodes = _nodes(options)
    page = Page(nodes, token, page_words(), current().replace("_", "-"))
    config = uvicorn.Config(
        page.app,
        log_level="error",
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=2,
        server_header=False,
        limit_concurrency=64,
    )
    try:
        bound = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise click.ClickException(
            _("{address} cannot be listened on: {why}.").format(address=options["listen"], why=error.strerror)
        ) from error
    server = uvicorn.Server(config)
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{bound.getsockname()[1]}/" + ("" if options["token_file"] else f"?token={token}")
    click.echo(_("Open {address} in a browser. Ctrl-C ends it.").format(address=address))
    sys.stdout.flush()
    for node in nodes:
        node.start()
    ended = threading.Thread(target=_close_with, args=(server, page), daemon=True)
    ended.start()
    try:
        server.run(sockets=[bound])
    except KeyboardInterrupt:  # uvicorn raises what ended it once more
        pass
    finally:
        for node in nodes:
            node.stop()
        bound.close()
    return 0


def _nodes(options: dict[str, Any]) -> list[Node]:
    """This machine or a recording, then others by ssh, then others by their exporters."""
    from rigup.cli.watch_record import recording_errors
    from rigup.watch.remote import NoSample, Remote
    from rigup.watch.watcher import Watcher

    if options["replay"]:
        with recording_errors():
            nodes: list[Node] = [Replayed(options["replay"])]
    else:
        name = _("this machine") if options["anonymous"] else socket.gethostname()
        nodes = [Node(name, Watcher(anonymous=options["anonymous"]).sample, options["interval"], judges=False)]
    slow = max(options["interval"], 1.0)
    if len(options["hosts"]) + len(options["nodes"]) > _MOST_NODES:
        raise click.UsageError(
            _("There are {count} nodes; {most} can be watched at once.").format(
                count=len(options["hosts"]) + len(options["nodes"]), most=_MOST_NODES
            )
        )
    for host in options["hosts"]:
        try:
            remote = Remote(host, slow)
        except NoSample as error:
            raise click.UsageError(_("{why}.").format(why=error)) from error
        nodes.append(Node(host, remote.sample, slow, judges=False, end=remote.stop))
    token = token_in(options["node_token_file"])
    return nodes + [Node(word, partial(scrape, address_of(word), token), slow) for word in options["nodes"]]


def _close_with(server: Any, page: Any) -> None:
    """Streams of events end when the server shall."""
    while not server.should_exit:
        time.sleep(0.1)
    page.closing = True


def page_words() -> dict[str, str]:
    """The words of the page."""
    return {
        "gpu": _("Use"),
        "memory": _("Memory"),
        "power": _("Power"),
        "temperature": _("Temp"),
        "user": _("User"),
        "job": _("Job"),
        "command": _("Command"),
        "asleep": _("asleep"),
        "lost": _("lost"),
        "error": _("error"),
        "slowed": _("Slowed by"),
        "graph": _("Graph"),
        "range": _("Time"),
        "live": _("live"),
        "broken": _("The connection is lost; it is tried again."),
        "none": _("There is no GPU here that can be watched."),
        "all": _("all"),
        "load": _("load"),
        "refused": _("Open the address that `rigup watch --web` printed: it holds a token."),
    }


Asked = tuple[str, Watch | None, str]


def rounds(words: Sequence[str], token: str, interval: float, count: int | None) -> Generator[list[Asked], None, None]:
    """All nodes, asked at the same time, again and again: name, sample, and why there is none."""
    asks: list[Callable[[], Watch]] = [partial(scrape, address_of(word), token) for word in words]
    with ThreadPoolExecutor(min(len(words), 32), "rigup scrape") as pool:
        taken = 0
        while True:
            began = time.monotonic()
            yield [(word, *answer) for word, answer in zip(words, pool.map(_answer, asks), strict=True)]
            taken += 1
            if count is not None and taken >= count:
                return
            time.sleep(max(interval - (time.monotonic() - began), 0.0))


def cluster(words: tuple[str, ...], token_file: str | None, interval: float, count: int | None, as_json: bool) -> int:
    """Print what the nodes tell, until there is enough or somebody ends it; 1 where the last round lacked one."""
    from rigup.cli.data import json_line
    from rigup.cli.guard import unguarded
    from rigup.schemas.watch_cluster import WatchCluster, WatchedNode

    if len(words) > _MOST_NODES:
        raise click.UsageError(_("There are {count} nodes; {most} can be watched at once.").format(count=len(words), most=_MOST_NODES))
    lasts()
    drawn_over, missing = not as_json and count != 1 and sys.stdout.isatty(), 0
    with contextlib.suppress(KeyboardInterrupt):
        for answers in rounds(words, token_in(token_file), interval, count):
            missing = sum(1 for _word, sample, _why in answers if sample is None)
            if as_json:
                nodes = [WatchedNode(name=word, sample=sample or UNSET, because=why or UNSET) for word, sample, why in answers]
                click.echo(json_line(WatchCluster(time=time.time(), nodes=nodes)))
            else:
                if drawn_over:
                    unguarded(sys.stdout).write("\x1b[H\x1b[J")
                click.echo(cluster_text(answers))
            sys.stdout.flush()
    return int(missing > 0)


def _answer(ask: Callable[[], Watch]) -> tuple[Watch | None, str]:
    try:
        return ask(), ""
    except NoAnswer as error:
        return None, str(error)


def cluster_text(answers: list[Asked]) -> str:
    """A row for each GPU of each node, and what does not answer."""
    from rigup.cli.watch_table import aligned, gpu_cells, gpu_heads

    rows = [[word, *gpu_cells(gpu)] for word, sample, _why in answers if sample for gpu in sample.gpus]
    lines = aligned([[_("Node"), *gpu_heads()], *rows], shrink=2, right=(3, 4, 5, 6, 7)) if rows else []
    gpus = [gpu for _word, sample, _why in answers if sample for gpu in sample.gpus]
    shares = [gpu.utilisation.gpu for gpu in gpus if gpu.utilisation.gpu is not UNSET]
    draws = [gpu.power.draw for gpu in gpus if gpu.power.draw is not UNSET]
    if gpus:
        mean = f"{sum(shares) / len(shares):.0%}" if shares else "–"
        lines += [
            "",
            *wrapped(
                _("{gpus} GPUs on {nodes} nodes; mean use {use}, power {watts} W.").format(
                    gpus=len(gpus), nodes=sum(1 for _word, sample, _why in answers if sample), use=mean, watts=round(sum(draws))
                )
            ),
        ]
    for word, sample, why in answers:
        if sample is None:
            lines += wrapped(_("{node} does not answer: {why}.").format(node=visible(word), why=visible(why).rstrip(".")))
    return "\n".join(lines)
