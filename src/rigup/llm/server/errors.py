"""What a client reads where its request fails: OpenAI's form of an error, or ollama's, as data the same in every language."""

import msgspec

_KINDS = {401: "authentication_error", 404: "not_found_error", 503: "server_error", 502: "server_error", 500: "server_error"}


class Refused(Exception):
    """A request that is answered with an error.

    Attributes:
        status: of HTTP.
        code: for programs.

    """

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


def body_of(error: Refused, plain: bool = False) -> bytes:
    """The error as JSON; `plain` is the form of ollama's interface."""
    if plain:
        return msgspec.json.encode({"error": str(error)})
    kind = _KINDS.get(error.status, "invalid_request_error")
    fields = {"message": str(error), "type": kind, "param": None, "code": error.code}
    return msgspec.json.encode({"error": fields})
