"""`rigup verify` in this process with a few checks alone: what all of them find is for the tests of the checks."""

import functools

from rigup.verify.observe import observe


def few_checks(monkeypatch, *only, frameworks=()):
    """Have `verify` make these checks of these frameworks (() for all) and no others."""
    monkeypatch.setattr(
        "rigup.verify.verify.observe",
        functools.partial(observe, only=("small-tensors", *only), frameworks=frameworks, more={"budget": 1e6}),
    )
