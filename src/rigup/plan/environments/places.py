"""Places of packages: whether anybody answers there."""

import socket
from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

PORTS = {"http": 80, "https": 443}
_SECONDS = 4.0
_MOST = 32  # addresses that are tried


def silent(urls: Collection[str], variables: Mapping[str, str]) -> list[str]:
    """Addresses at which nobody answers; each is tried once, for a moment, all side by side.

    Args:
        urls: those that are no address of the network are left out.
        variables: of the person, which may name a proxy.

    """
    addresses = sorted({url for url in urls if url.startswith(tuple(scheme + "://" for scheme in PORTS))})[:_MOST]
    if not addresses:
        return []
    with ThreadPoolExecutor(max_workers=8) as pool:
        reached = pool.map(lambda url: _answers(url, variables), addresses)
        return [url for url, answers in zip(addresses, reached, strict=True) if not answers]


def _answers(url: str, variables: Mapping[str, str]) -> bool:
    """Whether somebody listens there, or at the proxy that leads there."""
    scheme = urlsplit(url).scheme
    proxy = next((value for name in (f"{scheme}_proxy", "all_proxy") for value in _values_of(name, variables)), "")
    try:
        where = urlsplit(proxy if "://" in proxy else "http://" + proxy) if proxy else urlsplit(url)
        port = where.port or PORTS.get(where.scheme, 80)
        with socket.create_connection((where.hostname or "", port), _SECONDS):
            return True
    except (OSError, ValueError):
        return False


def _values_of(name: str, variables: Mapping[str, str]) -> Iterable[str]:
    yield from (variables[spelling] for spelling in (name, name.upper()) if variables.get(spelling))
