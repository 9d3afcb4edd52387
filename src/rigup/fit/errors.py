"""What a person reads of a model that cannot be judged."""


class FitError(Exception):
    """No answer: what is wrong, where, and what to do next, as sentences."""


class HeaderError(FitError):
    """A file whose header is none, or is broken."""
