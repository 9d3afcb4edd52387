"""Addresses of endpoints, as people write them."""

from urllib.parse import urlsplit

from rigup.language import _


class AddressError(ValueError):
    """What is no address of an endpoint, or holds what does not belong there.

    Attributes:
        kind: not-found, or key for a name with a password.

    """

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


def endpoint_address(api: str) -> str:
    """The endpoint's base, with /v1 where no path is named. Raises AddressError."""
    try:
        parts = urlsplit(api if "//" in api else "http://" + api)
        fits = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # a bracket without its other, a port that is none
        fits = None
    if not fits or not (api.isascii() and api.isprintable()) or " " in api:
        raise AddressError(
            "not-found", _("{api} is no address of an endpoint: write for instance http://127.0.0.1:8080/v1.").format(api=api[:200])
        )
    if parts.username or parts.password:
        raise AddressError("key", _("An address holds nobody's name and password here: name the variable that holds the key."))
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    return f"{parts.scheme}://{parts.netloc}{path or '/v1'}"
