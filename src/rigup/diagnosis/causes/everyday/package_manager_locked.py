"""Another process works with the package manager and holds its lock."""

from rigup.diagnosis.rule import Params, mends


@mends("package-manager-locked")
def process_with_the_lock(knew: Params) -> Params:
    """Whichever wording was printed."""
    return {"pid": knew.get("pid") or knew.get("pid2") or knew.get("pid3")}
