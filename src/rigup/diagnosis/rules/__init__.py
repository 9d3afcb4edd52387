"""One file a family. Causes that a message decides alone have no rule here: their signature row names them."""

from rigup.diagnosis.rules import access

__all__ = ["access"]
