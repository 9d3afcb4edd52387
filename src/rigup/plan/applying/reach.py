"""Places of packages that cannot be reached are not asked, where others may have what is wanted.

An installer asks a dead address again and again for every package. So each address is tried once, for a moment, before
the steps are taken; one that is the only place stays, and the installer says what is wrong with it.
"""

import socket
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

Answer = dict[str, Any]
_OPTIONS = ("--index-url", "--extra-index-url", "--find-links")
_PORTS = {"http": 80, "https": 443}
_SECONDS = 4.0
_MOST = 32  # addresses that are tried


def without_dead_places(steps: list[Answer], variables: Mapping[str, str]) -> tuple[list[Answer], list[str]]:
    """The steps without addresses that nobody answers at, and those addresses."""
    urls = sorted({value for step in steps if step.get("state") == "needed" for value in _places(step)})[:_MOST]
    with ThreadPoolExecutor(max_workers=8) as pool:
        dead = {
            url
            for url, there in zip(urls, pool.map(lambda url: _answers(url, variables), urls), strict=True)
            if not there
        }
    left = [_without(step, dead) for step in steps] if dead else steps
    gone = dead - {value for step in left for value in _places(step)}
    return left, sorted(gone)


def _places(step: Answer) -> Iterable[str]:
    for argv in step["commands"]:
        for option, value in _pairs(argv):
            if option in _OPTIONS and urlsplit(value).scheme in _PORTS:
                yield value


def _pairs(argv: list[str]) -> Iterable[tuple[str, str]]:
    return zip(argv, [*argv[1:], ""], strict=True)


def _answers(url: str, variables: Mapping[str, str]) -> bool:
    """Whether somebody listens there, or at the proxy that leads there."""
    scheme = urlsplit(url).scheme
    proxy = next((told for name in (f"{scheme}_proxy", "all_proxy") for told in _either(name, variables)), "")
    try:
        where = urlsplit(proxy if "://" in proxy else "http://" + proxy) if proxy else urlsplit(url)
        port = where.port or _PORTS.get(where.scheme, 80)
        with socket.create_connection((where.hostname or "", port), _SECONDS):
            return True
    except (OSError, ValueError):
        return False


def _either(name: str, variables: Mapping[str, str]) -> Iterable[str]:
    yield from (variables[one] for one in (name, name.upper()) if variables.get(one))


def _without(step: Answer, dead: set[str]) -> Answer:
    """A step whose dead places are left out, if it has others."""
    cut = [_cut(argv, dead) for argv in step["commands"]]
    return (
        {**step, "commands": cut} if any(one != argv for one, argv in zip(cut, step["commands"], strict=True)) else step
    )


def _cut(argv: list[str], dead: set[str]) -> list[str]:
    drop = {place for place, (option, value) in enumerate(_pairs(argv)) if option in _OPTIONS and value in dead}
    others = [option for place, (option, _value) in enumerate(_pairs(argv)) if option in _OPTIONS and place not in drop]
    if not others:
        return argv
    return [word for place, word in enumerate(argv) if place not in drop and place - 1 not in drop]
