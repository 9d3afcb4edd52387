"""What a person reads where models on disk cannot be had, found or removed."""


class ModelError(Exception):
    """The request is right; the work failed, or there is nothing to work on. The text says what, where, and what to do next."""


class WrongNameError(ModelError):
    """What was asked for cannot be understood, or names what is not there."""
