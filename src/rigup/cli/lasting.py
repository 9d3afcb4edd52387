"""Commands that last: what a short process leaves out is done again."""

import gc


def lasts() -> None:
    """Collect objects that refer to each other, which `__main__` has switched off; what stands by now is not looked through again."""
    gc.freeze()
    gc.enable()
