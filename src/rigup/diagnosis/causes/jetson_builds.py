"""Where a build of torch for a Jetson lies, and what it wants beside it."""

from rigup.diagnosis.rule import Params
from rigup.knowledge.jetson import JetsonWheel


def where_it_lies(wheels: list[JetsonWheel]) -> Params:
    """Of the first that can be had: in an index, in a folder of files, or at one address alone."""
    for row in wheels:
        before = ",".join(row.before) or None
        if row.index:
            beside = {"library": row.library or None, "keyring": row.keyring or None}
            return {"torch": row.torch, "torchvision": row.torchvision, "index": row.index, **beside}
        if row.links:
            return {"file": row.torch, "links": row.links, "before": before}
        if row.file:
            return {"address": row.file, "before": before}
    return {}
