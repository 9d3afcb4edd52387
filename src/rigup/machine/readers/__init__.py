"""One function a form of text; families of texts have a file each. Importing registers them."""

from rigup.machine.readers import kernel, process

__all__ = ["kernel", "process"]
